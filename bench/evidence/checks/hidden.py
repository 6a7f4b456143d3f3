"""Hidden: a text shows a failed result as a success, or shows parts of it without the failure.

Parts that a text leaves out without a notice are found here too, and reported as not checked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from itertools import chain

from ...model import SystemTurn, ToolResult, as_text, lines_of, memo
from ...model.scores import Check, Finding
from ...text.exit_codes import exit_codes
from ...text.instructions import keeps_words, sentences_of
from ...text.notices import WORD
from ...text.omissions import omission_in, says_omission
from ...text.wording import quoted
from ..dropped import gaps_between_results, selectively_dropped
from ..failures import FAILURE, SUCCESS, reports_failure
from ..generated_text import GeneratedText, RewrittenResult
from ..of_replay import ReplayEvidence
from ..repeated import claims_repetition
from ..result_diff import added_lines, diff_of
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

    A result failed if its flag or exit code says so, or a short text begins so. A text shows the
    result if it claims a success, has a line of the result, or has no notice of an omission and
    another form than the texts of all successful results. A placeholder without content hides
    nothing, nor does a text with all words of the result and no claim of success; an empty text is
    not a placeholder. A history hides a failed result if it drops only this one.

    A text that leaves out a fact, a field or a line of its result without a notice is not checked: no
    reader could know what is missing, or the text is written in an unknown way. Neither are a system
    message that lacks sentences, and a history that lacks results in several places.

    Source: https://arxiv.org/abs/2508.21433 (what masking may leave out: a placeholder)
    """
    findings = [Finding(own.step, "", own.result.text) for own in evidence.emptied if own.failed]
    for step in selectively_dropped(evidence):
        result = evidence.messages.contents.results.get(step)
        if result is not None and result.failed:
            findings.append(Finding(step, "", result.text))
    failed = [own for own in evidence.rewritten if own.failed]
    rewritten = len(findings) + len(failed)
    silent = [own for own in failed if not _reports_failure(unescape(own.text), own.result)]
    success_forms = {
        _VARIES.sub("0", own.text) for own in evidence.rewritten if silent and not own.failed
    }
    for own in silent:
        has_success_form = _VARIES.sub("0", own.text) in success_forms
        is_placeholder = has_success_form or own.says_omission or claims_repetition(own)
        words = " ".join(added_lines(own)) if own.gaps is None else own.added
        claims_success = SUCCESS.search(words) or (not own.handles and _SAVED.search(words))
        is_result_empty = not own.result.text.strip()  # so that it tells no failure itself
        shows_result = own.shows_line or not is_placeholder
        if claims_success or (shows_result and not is_result_empty):
            findings.append(Finding(own.step, own.text, own.result.text))
    findings += _hidden_in_stores(evidence)
    missing = [
        *map(missing_without_notice, evidence.rewritten),
        *map(_missing_sentence, evidence.generated_texts),
        *(f"the result of step {step} left out" for step in gaps_between_results(evidence)),
    ]
    return check_of(findings, rewritten, unchecked=[words for words in missing if words])


@memo
def missing_without_notice(own: RewrittenResult) -> str:
    """A clause on the first fact, field or line of a result that its text leaves out without a
    notice; "" without one. `statements` checks what a notice says.

    The metric `loss.silent_truncation` counts results instead: what another message of a prompt has
    is not lost there, and a message that is gone without a word is.
    """
    if own.shows_all or own.is_encoded or own.handles:
        return ""
    if own.says_omission and _has_notice(own):
        return ""
    missing = _first_missing(own)
    parts = "fields" if own.table.fields else "lines"
    return f"{quoted(missing)} {_WITHOUT_NOTICE.format(parts)}" if missing else ""


def _has_notice(own: RewrittenResult) -> bool:
    """True if a line or field of a text says in words that something is left out."""
    lines = filter(WORD.search, diff_of(own).added)
    return any(omission_in(line, own.result.text) for line in lines)


def _missing_sentence(own: GeneratedText) -> str:
    """A clause on the first sentence that a text leaves out of a system message without a notice; ""
    without one."""
    if own.message.role != "system" or not own.text.strip():
        return ""
    systems = (turn.content for turn in own.session.trace.steps if isinstance(turn, SystemTurn))
    for text in systems:
        if text != own.text and keeps_words(text, own.text) and not says_omission(own.text, text):
            for sentence in sentences_of(text):
                if sentence not in own.text:
                    return f"{quoted(sentence)} {_WITHOUT_NOTICE.format('lines')}"
    return ""


def _first_missing(own: RewrittenResult) -> str:
    """The first part of a result that its text leaves out; "" without one."""
    if own.gaps is not None:
        silent = (gap.missing for gap in own.gaps if not gap.words.strip())
        return next((missing for missing in silent if any(map(str.isalnum, missing))), "")
    if own.table.fields:
        comments = own.contents.comments
        missing_comment = next((words for words in comments if words not in own.text), "")
        return _missing_field(own) or _missing_prose(own) or missing_comment
    missing = [
        line
        for line in chain.from_iterable(own.lines_shown.gaps)
        if WORD.search(line) or _DIGIT.search(line)
    ]
    if not missing:
        return ""
    tables, rest = own.contents.tables
    outside_tables = {" ".join(line.split()) for line in rest}
    lines = (line for line in missing if not tables or line in outside_tables)
    return _missing_field(own) or next(lines, "")


def _missing_field(own: RewrittenResult) -> str:
    """The first field of a result that its text leaves out. Of equal fields one is enough, except in
    rows without keys."""
    pairs = {number: (key, text) for key, text, number in own.columns.fields.pairs()}
    kept = own.kept_fields if pairs else ()
    has_keyless_rows = own.columns.keyless_rows.read(own.text) is not None
    kept_pairs = set() if has_keyless_rows else {pairs[number] for number in kept}
    for number, (key, text) in pairs.items():
        is_kept = number in kept or (key, text) in kept_pairs
        if not is_kept and any(map(str.isalnum, text)):
            return f"{key}: {text}"
    return ""


def _missing_prose(own: RewrittenResult) -> str:
    """The first longer value of a result that its text leaves out. A value that is shortened with a
    notice has its first words in the text."""
    text = _words_of(own.session.messages.texts.plain(own.text))
    for value in own.table.fields.prose:
        words = _words_of(value)
        if words.strip() and words not in text:
            beginning = " ".join(words.split(" ")[: _FIRST_WORDS + 1])
            if not (own.says_omission and beginning in text):
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


def _reports_failure(text: str, result: ToolResult) -> bool:
    """True if a text reports the failure of a result: in words, by a failing exit code, or with the
    error; of a result without these, if it begins like the result and claims no success.

    >>> result = ToolResult(index=0, call_id="a", function="f", seen="Malformed\\ncall", success=False)
    >>> [_reports_failure(text, result) for text in ("1: Malformed", "call", "OK\\nMalformed\\ncall")]
    [True, False, False]
    """
    if any(exit_codes(text)) or (result.error and result.error[:80] in text):
        return True
    if reports_failure(text):
        return True
    if FAILURE.search(result.text) or any(exit_codes(result.text)):
        return False
    first = next(iter(lines_of(result.text)), "").strip()
    return bool(first) and first in text and not SUCCESS.search(text)
