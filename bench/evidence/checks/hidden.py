"""Hidden: a text shows a failed result as a success, or shows parts of it without the failure.

Parts that a text leaves out without a notice are found here too, and reported as not checked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from html import unescape
from itertools import chain

from ...model import SystemTurn, ToolResult, as_text, lines_of, memo
from ...model.scores import Check, Finding
from ...text.exit_codes import exit_codes, only_exit_code
from ...text.instructions import keeps_words, sentences_of
from ...text.notices import WORD
from ...text.omissions import omission_in, says_omission
from ...text.wording import quoted
from ..dropped import gaps_between_results, selectively_dropped
from ..failures import FAILURE, SUCCESS, failing_fields, reports_failure
from ..generated_text import TAG_LINE, GeneratedText, RewrittenResult
from ..of_replay import ReplayEvidence
from ..repeated import claims_repetition
from ..result_diff import diff_of
from .findings import check_of

_DIGIT, _ANY_WORD = re.compile(r"\d"), re.compile(r"\w+")
_FIRST_WORDS = 3
"""The words of a longer value by which its beginning is recognised."""

_WITHOUT_NOTICE = "left out without a notice such as [12 {} left out]"

_SAVED = re.compile(r"\b(?:saved|stored)\b", re.IGNORECASE)
"""Matches a claim of success, except beside a handle."""

_VARIES = re.compile(r"[\w:/=+.-]*\d[\w:/=+.-]*")
"""Matches the numbers and handles in which texts of one form differ."""


def hidden(evidence: ReplayEvidence) -> Check:
    """The check of failed results that a message shows without their failure, over the failed
    results that the strategy rewrote.

    A result failed if its flag, exit code or a field of its data says so, or a short text begins so.
    A text shows the result if it claims a success, has a line of the result, or has no notice of an
    omission and another form than the texts of all successful results. A placeholder without
    content hides nothing, nor does a text with all words of the result and no claim of success; an
    empty text is not a placeholder. A history hides a failed result if it drops only this one.

    A text that leaves out a fact, a field or a line of its result without a notice is not checked: no
    reader could know what is missing, or the text is written in an unknown way. Only the exit code of
    a success may be missing. Not checked either are a system message that lacks sentences, and a
    history that lacks results in several places.

    Source: https://arxiv.org/abs/2508.21433 (what masking may leave out: a placeholder)
    """
    findings = [Finding(it.step, "", it.result.text) for it in evidence.emptied if it.failed]
    for step in selectively_dropped(evidence):
        result = evidence.messages.contents.results.get(step)
        if result is not None and result.failed:
            findings.append(Finding(step, "", result.text))
    failed = [it for it in evidence.rewritten if it.failed]
    looked_at = len(findings) + len(failed)
    silent = [
        it
        for it in failed
        if not (_keeps_failure(it) or _reports_failure(unescape(it.text), it.result))
    ]
    success_forms = {
        _VARIES.sub("0", it.text) for it in evidence.rewritten if silent and not it.failed
    }
    for rewritten in silent:
        has_success_form = _VARIES.sub("0", rewritten.text) in success_forms
        is_placeholder = has_success_form or rewritten.says_omission or claims_repetition(rewritten)
        words = "\n".join(diff_of(rewritten).added)
        claims_success = SUCCESS.search(words) or (not rewritten.handles and _SAVED.search(words))
        is_result_empty = not rewritten.result.text.strip()  # so that it tells no failure itself
        shows_result = rewritten.shows_line or not is_placeholder
        if claims_success or (shows_result and not is_result_empty):
            findings.append(Finding(rewritten.step, rewritten.text, rewritten.result.text))
    findings += _hidden_in_stores(evidence)
    missing = [
        *map(missing_without_notice, evidence.rewritten),
        *map(_missing_sentence, evidence.generated_texts),
        *(f"the result of step {step} left out" for step in gaps_between_results(evidence)),
    ]
    return check_of(findings, looked_at, unchecked=[words for words in missing if words])


@memo
def missing_without_notice(rewritten: RewrittenResult) -> str:
    """A clause on the first fact, field or line of a result that its text leaves out without a
    notice; "" without one. `statements` checks what a notice says.

    The metric `loss.silent_truncation` counts results instead: what another message of a prompt has
    is not lost there, and a message that is gone without a word is.
    """
    if rewritten.shows_all or rewritten.is_encoded or rewritten.handles:
        return ""
    if rewritten.says_omission and _has_notice(rewritten):
        return ""
    missing = _first_missing(rewritten)
    parts = "fields" if rewritten.table.fields else "lines"
    return f"{quoted(missing)} {_WITHOUT_NOTICE.format(parts)}" if missing else ""


def _has_notice(rewritten: RewrittenResult) -> bool:
    """True if a line or field of a text says in words that something is left out."""
    lines = filter(WORD.search, diff_of(rewritten).added)
    return any(omission_in(line, rewritten.result.text) for line in lines)


def _missing_sentence(generated: GeneratedText) -> str:
    """A clause on the first sentence that a text leaves out of a system message without a notice; ""
    without one."""
    if generated.message.role != "system" or not generated.text.strip():
        return ""
    systems = (
        turn.content for turn in generated.session.trace.steps if isinstance(turn, SystemTurn)
    )
    for text in systems:
        if (
            text != generated.text
            and keeps_words(text, generated.text)
            and not says_omission(generated.text, text)
        ):
            for sentence in sentences_of(text):
                if sentence not in generated.text:
                    return f"{quoted(sentence)} {_WITHOUT_NOTICE.format('lines')}"
    return ""


def _first_missing(rewritten: RewrittenResult) -> str:
    """The first part of a result that its text leaves out; "" without one."""
    if rewritten.gaps is not None:
        silent = (gap.missing.split("\n") for gap in rewritten.gaps if not gap.words.strip())
        parts = ("\n".join(filter(partial(_is_needed, rewritten), lines)) for lines in silent)
        return next((part for part in parts if any(map(str.isalnum, part))), "")
    if rewritten.table.fields:
        comments = rewritten.contents.comments
        missing_comment = next((words for words in comments if words not in rewritten.text), "")
        return _missing_field(rewritten) or _missing_prose(rewritten) or missing_comment
    missing = [
        line
        for line in chain.from_iterable(rewritten.lines_shown.gaps)
        if (WORD.search(line) or _DIGIT.search(line)) and _is_needed(rewritten, line)
    ]
    if not missing:
        return ""
    tables, rest = rewritten.contents.tables
    outside_tables = {" ".join(line.split()) for line in rest}
    lines = (line for line in missing if not tables or line in outside_tables)
    return _missing_field(rewritten) or next(lines, "")


def _missing_field(rewritten: RewrittenResult) -> str:
    """The first field of a result that its text leaves out. Of equal fields one is enough."""
    pairs = {number: (key, text) for key, text, number in rewritten.columns.fields.pairs()}
    own_lines = diff_of(rewritten).added if pairs else ()
    kept = frozenset[int]().union(*map(rewritten.contents.exit_code_field, own_lines))
    kept |= rewritten.kept_fields if pairs else frozenset()
    kept_pairs = {pairs[number] for number in kept}
    for number, (key, text) in pairs.items():
        is_kept = number in kept or (key, text) in kept_pairs
        if not is_kept and any(map(str.isalnum, text)):
            words = f"{key}: {text}"
            if only_exit_code(words) != 0:
                return words
    return ""


def _is_needed(rewritten: RewrittenResult, line: str) -> bool:
    """False for a line of a result that its text may leave out: a tag, the key of the only longer
    text, the exit code of a success, and that of the result if the text states it in other words."""
    code = only_exit_code(line)
    if code is not None:
        stated = chain.from_iterable(map(exit_codes, diff_of(rewritten).added))
        of_result = exit_codes(rewritten.result.text)[:1]
        return code != 0 and not (code in of_result and code in stated)
    if line.endswith(":"):
        return [f"{key}:" for key, _ in rewritten.table.fields.blocks()] != [line]
    return not TAG_LINE.fullmatch(line)


def _missing_prose(rewritten: RewrittenResult) -> str:
    """The first longer value of a result that its text leaves out. A value that is shortened with a
    notice has its first words in the text."""
    text = _words_of(rewritten.session.messages.texts.plain(rewritten.text))
    for value in rewritten.table.fields.prose:
        words = _words_of(value)
        if words.strip() and words not in text:
            beginning = " ".join(words.split(" ")[: _FIRST_WORDS + 1])
            if not (rewritten.says_omission and beginning in text):
                return value
    return ""


def _words_of(text: str) -> str:
    return f" {' '.join(_ANY_WORD.findall(text))} "


def _hidden_in_stores(evidence: ReplayEvidence) -> Iterator[Finding]:
    """Yield the failed results whose stored form claims a success and no failure."""
    for step, contents in evidence.session.contents.results.items():
        result, outcome = contents.result, evidence.outcomes.get(step)
        if outcome is None or outcome.stored is None or not contents.failed:
            continue
        text = as_text(outcome.stored)
        if outcome.stored is result.value or not SUCCESS.search(text):
            continue
        if not _reports_failure(text, result) and text != as_text(result.value):
            yield Finding(result.index, text, result.text)


def _keeps_failure(rewritten: RewrittenResult) -> bool:
    """True if a text has a field with which data report their failure, or a sentence in one."""
    failing, kept = failing_fields(rewritten.contents.value), rewritten.kept_fields
    pairs = rewritten.table.fields.pairs() if failing else ()
    shown = {(key, text) for key, text, number in pairs if number in kept}
    return any(it in shown or (" " in it[1] and it[1][:80] in rewritten.text) for it in failing)


def _reports_failure(text: str, result: ToolResult) -> bool:
    """True if a text reports the failure of a result: in words, by a failing exit code, or with the
    error; of a result without these, if it begins like the result and claims no success.

    >>> result = ToolResult(index=0, call_id="a", function="f", seen="Malformed\\ncall", success=False)
    >>> [_reports_failure(text, result) for text in ("1: Malformed", "call", "OK\\nMalformed\\ncall")]
    [True, False, False]
    """
    codes = chain.from_iterable(map(exit_codes, text.split("\n")))
    if any(codes) or (result.error and result.error[:80] in text):
        return True
    if reports_failure(text):
        return True
    if FAILURE.search(result.text) or any(exit_codes(result.text)):
        return False
    first = next(iter(lines_of(result.text)), "").strip()
    return bool(first) and first in text and not SUCCESS.search(text)
