"""Hidden: a failed result shown as if it had succeeded, or shown in part without its failure; and
parts left out without a notice, which are not checked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from itertools import chain

from ...model import SystemTurn, ToolResult, as_text, lines_of
from ...model.scores import Check, Finding
from ...text.exit_codes import exit_codes
from ...text.instructions import keeps_words, sentences_of
from ...text.notices import WORD
from ...text.omissions import omission_in, says_omission
from ...text.wording import quoted
from ..failures import FAILURE, SUCCESS, reports_failure
from ..lost import gaps_between_results
from ..of_replay import ReplayEvidence
from ..own_text import OwnText, RewrittenResult
from ..repeated import claims_repetition
from ..shown import own_lines, shown_of
from .findings import check_of

_DIGIT, _ANY_WORD = re.compile(r"\d"), re.compile(r"\w+")
_BEGUN_WORDS = 3
"""So many words of a longer value show where it begins."""

_IN_SILENCE = "left out without a notice such as [12 lines left out]"

_SAVED = re.compile(r"\b(?:saved|stored)\b", re.IGNORECASE)
"""Matches a claim of success, except beside a handle."""

_VARIES = re.compile(r"[\w:/=+.-]*\d[\w:/=+.-]*")
"""Matches the numbers and handles in which texts of one form differ."""


def hidden(evidence: ReplayEvidence) -> Check:
    """The check of failed results that a message shows without their failure, over the failed
    results that the strategy rewrote.

    A result failed if its flag or exit code says so, or a short text begins so. A text shows the
    result if it claims a success, has a line of the result, or has a form that no successful result
    has and no notice of an omission. A placeholder without content hides nothing, nor does a text
    with all words of the result and no claim of success; an empty text is not a placeholder. A
    history hides a failed result if only that is dropped.

    A text that lacks a fact, a field or a line of its result, and does not say that it leaves out
    anything but equal, empty or named parts, is not checked: no reader could know what is missing, or
    it is written in an unknown way. So is a system message without some of its
    sentences, and a history that lacks results in several places.

    Source: https://arxiv.org/abs/2508.21433 (what masking may leave out: a placeholder)
    """
    findings = [Finding(own.step, "", own.result.text) for own in evidence.emptied if own.failed]
    for step in evidence.picked_out:
        result = evidence.messages.contents.results.get(step)
        if result is not None and evidence.session.failed(result):
            findings.append(Finding(step, "", result.text))
    failed = [own for own in evidence.rewritten if own.failed]
    rewritten = len(findings) + len(failed)
    silent = [own for own in failed if not _tells(unescape(own.text), own.result)]
    of_success = {
        _VARIES.sub("0", own.text) for own in evidence.rewritten if silent and not own.failed
    }
    for own in silent:
        is_placeholder = (
            _VARIES.sub("0", own.text) in of_success or own.says_omission or claims_repetition(own)
        )
        words = " ".join(own_lines(own)) if own.gaps is None else own.added
        claims = bool(SUCCESS.search(words)) or (not own.handles and bool(_SAVED.search(words)))
        empty = not own.result.text.strip()  # it tells no failure itself
        if claims or (not empty and (own.shows_line or not is_placeholder)):
            findings.append(Finding(own.step, own.text, own.result.text))
    findings += _stored(evidence)
    missing = [
        *map(missing_in_silence, evidence.rewritten),
        *map(_lacks_sentences, evidence.own_texts),
        *(f"the result of step {step} left out" for step in gaps_between_results(evidence)),
    ]
    unchecked = [words for words in missing if words]
    return check_of(findings, rewritten, unchecked=unchecked)


def missing_in_silence(own: RewrittenResult) -> str:
    """The first fact, field or line of a result that its text lacks without a notice, in words; ""
    without one. What a notice says is checked as a statement.

    The metric `loss.silent_truncation` counts results instead: what another message of a prompt has
    is not lost there, and a message that is gone without a word is.
    """
    if own.shows_all or own.is_encoded or own.handles:
        return ""
    if own.says_omission and _has_notice(own):
        return ""
    return own.once("silent", lambda: _missing_in_silence(own))


def _has_notice(own: RewrittenResult) -> bool:
    """True if a line or field of a text says that something is left out, not only a mark in one."""
    said = filter(WORD.search, shown_of(own).own)
    return any(omission_in(line, own.result.text) for line in said)


def _lacks_sentences(own: OwnText) -> str:
    """The first sentence that a text leaves out of a system message without a notice, in words; ""
    without one."""
    systems = (turn.content for turn in own.session.trace.steps if isinstance(turn, SystemTurn))
    cut = (text for text in systems if text != own.text and keeps_words(text, own.text))
    for text in cut if own.message.role == "system" and own.text.strip() else ():
        lost = next((words for words in sentences_of(text) if words not in own.text), "")
        if lost and not says_omission(own.text, text):
            return f"{quoted(lost)} {_IN_SILENCE}"
    return ""


def _missing_in_silence(own: RewrittenResult) -> str:
    if own.gaps is not None:
        silent = (gap.missing for gap in own.gaps if not gap.words.strip())
        lost = next((missing for missing in silent if any(map(str.isalnum, missing))), "")
    elif own.table.fields:
        comments = own.session.contents.comments(own.result.index)
        lost_comment = next((words for words in comments if words not in own.text), "")
        lost = _lost_field(own) or _lost_prose(own) or lost_comment
    elif missing := _missing_lines(own):
        tables, rest = own.session.contents.tables(own.result.index)
        beside = {" ".join(line.split()) for line in rest}
        around = [line for line in missing if not tables or line in beside]
        lost = _lost_field(own) or next(iter(around), "")
    else:
        lost = ""
    return f"{quoted(lost)} {_IN_SILENCE}" if lost else ""


def _missing_lines(own: RewrittenResult) -> list[str]:
    """The lines of a text result that a text does not show."""
    missing = chain.from_iterable(own.lines_shown.gaps)
    return [line for line in missing if WORD.search(line) or _DIGIT.search(line)]


def _lost_field(own: RewrittenResult) -> str:
    pairs = {at: (key, text) for key, text, at in own.columns.fields.pairs()}
    numbers = own.session.messages.fields_of(own.number, own.result.index) if pairs else ()
    rows = own.columns.keyless_rows.read(own.text)
    shown = {pairs[at] for at in numbers} if rows is None else set()  # of equal ones one
    gone = (pair for at, pair in pairs.items() if at not in numbers and pair not in shown)
    return next((": ".join(pair) for pair in gone if any(map(str.isalnum, pair[1]))), "")


def _lost_prose(own: RewrittenResult) -> str:
    """The first longer value of a result whose words a text lacks; a value that it shortens with a
    mark begins in it."""
    text = _words_of(own.session.messages.texts.plain(own.text))
    for value in own.table.prose:
        words = _words_of(value)
        if words.strip() and words not in text:
            begin = " ".join(words.split(" ")[: _BEGUN_WORDS + 1])
            if not (own.says_omission and begin in text):
                return value
    return ""


def _words_of(text: str) -> str:
    return f" {' '.join(_ANY_WORD.findall(text))} "


def _stored(evidence: ReplayEvidence) -> Iterator[Finding]:
    """Yield the failed results whose stored form claims a success and no failure."""
    for result in evidence.trace.results:
        outcome = evidence.outcomes.get(result.index)
        if outcome is None or outcome.stored is None or not evidence.session.failed(result):
            continue
        text = as_text(outcome.stored)
        if outcome.stored is result.value or not SUCCESS.search(text) or _tells(text, result):
            continue
        if text != as_text(result.value):
            yield Finding(result.index, text, result.text)


def _tells(text: str, result: ToolResult) -> bool:
    """True if a text reports a failure and claims no success: by words, a failing exit code, the
    error of the result, or else the beginning of the result.

    >>> result = ToolResult(index=0, call_id="a", function="f", seen="Malformed\\ncall", success=False)
    >>> [_tells(text, result) for text in ("1: Malformed", "call", "OK\\nMalformed\\ncall")]
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
