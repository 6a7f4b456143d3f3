"""Hidden: a failed result shown as if it had succeeded, or shown in part without its failure; and
parts left out without a notice, which are not checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from ...model import SystemTurn, ToolResult, as_text, lines_of
from ...model.scores import Check, Finding
from ...text.exit_codes import exit_codes
from ...text.instructions import keeps_words, sentences_of
from ...text.line_losses import lost_indentation
from ...text.line_places import is_altered
from ...text.omissions import omission_in, says_omission
from ...text.quantities import kind_of
from ...text.small_words import WORD
from ...text.wording import quoted
from ..failures import FAILURE, SUCCESS, reports_failure
from ..lost import gaps_between_results
from ..of_replay import ReplayEvidence
from ..own_text import OwnText, RewrittenResult, lines_shown
from ..repeated import claims_repetition
from .findings import check_of
from .left_out import wrong_notice

_NOTHING_NEW = re.compile(
    r"\b(?:blank|duplicates?|empty|identical|null|repeated|same|whitespace)\b", re.IGNORECASE
)
"""The words by which a notice says that what is left out tells nothing new."""

_FLAG = re.compile(r"\b(?:true|false)\b", re.IGNORECASE)
"""Matches the value by which a notice may say what all fields that are left out have."""

_IN_SILENCE = "left out without a notice such as [12 lines left out]"

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

    A text that lacks a fact, a field, a line or indentation of its result, and does not say that it
    leaves out anything but equal, empty or named parts, is not checked: no reader could know what is
    missing, or it is written in an unknown way. So is a system message without some of its
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
        words = " ".join(own.new_lines) if own.gaps is None else own.added
        claims = bool(SUCCESS.search(words))
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
    """The first fact, field, line or indentation of a result that its text lacks without a notice,
    shows elsewhere or alters, or the first notice of other parts, in words; "" without one.

    The metric `loss.silent_truncation` counts results instead: what another message of a prompt has
    is not lost there, and a message that is gone without a word is.
    """
    if own.shows_all or own.is_encoded or own.handles:
        return ""
    if (
        not own.table.fields
        and own.gaps is None
        and (line := own.once("order", lambda: _moved(own)))
    ):
        return f"{quoted(line)} stands in another place"
    if pair := own.once("altered", lambda: _altered(own)):
        return "{} stands in place of {}".format(*map(quoted, pair))
    if not _admits_a_gap(own):
        return own.once("silent", lambda: _missing_in_silence(own))
    if not own.table.fields and (line := own.once("kind", lambda: wrong_notice(own))):
        return f"{quoted(line)}: not what the notice says is left out"
    return ""


def _altered(own: RewrittenResult) -> tuple[str, str] | None:
    """The first line of a text that stands in place of another line and alters it, with that."""
    may_lack = own.says_omission
    return next((it for it in own.replaced_lines if is_altered(*it, may_lack_words=may_lack)), None)


def _moved(own: RewrittenResult) -> str:
    """The first line of a text with nothing but lines of its result that stands elsewhere."""
    places, text = own.outside_tables
    return places.out_of_order(text)


def _plain(own: RewrittenResult) -> str:
    return own.session.messages.texts.plain(own.text)


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


def _admits_a_gap(own: RewrittenResult) -> bool:
    """True if a text says that something is left out, and not only equal, empty or named parts."""
    if not own.says_omission or claims_repetition(own):
        return own.says_omission
    notices = _notices(own)
    return not notices or not all(_says_which(own, line) for line in notices)


def _notices(own: RewrittenResult) -> list[str]:
    """The lines of a text that say that something is left out."""
    lines = lines_shown(own.added, keys=True)
    return [line for line in lines if omission_in(line, own.result.text)]


def _says_which(own: RewrittenResult, notice: str) -> bool:
    """True if a notice says that only equal, empty or false parts are left out; records with a false
    field are not such parts.
    """
    if _NOTHING_NEW.search(notice):
        return True
    names_key = any(map(own.table.has_key, WORD.findall(notice)))
    return _FLAG.search(notice) is not None and not names_key


def _missing_in_silence(own: RewrittenResult) -> str:
    messages, step = own.session.messages, own.result.index
    kept = messages.facts_in(own.number)
    facts = (fact for fact in own.session.facts.of(own.result) if fact not in kept)
    lost = next((fact for fact in facts if not _is_header(own, fact)), "")
    named = " ".join(line for line in _notices(own) if _says_which(own, line)).casefold().split()
    if not lost and (named or messages.contents.field_counts.get(step) or own.shows_cells):
        pairs = {at: (key, text) for key, text, at in own.columns.fields.pairs()}
        shown = {pairs[at] for at in messages.fields_of(own.number, step)}  # of equal ones one
        gone = (pair for pair in pairs.values() if pair not in shown)
        untold = (
            ": ".join(pair)
            for pair in gone
            if kind_of(pair[1]) != "nothing" and pair[1].casefold() not in named
            if any(map(str.isalnum, pair[1]))
        )
        lost = next(untold, "")
    text, places = _plain(own), own.session.line_places(step)
    lost = lost or messages.contents.lost_comment(text, step) or places.left_out(text)
    lost = lost or next(filter(None, _shortened(own, text.split("\n"))), "")
    if lost:
        return f"{quoted(lost)} {_IN_SILENCE}"
    line = lost_indentation(text, messages.texts.plain(own.result.text))
    return f"the indentation of {quoted(line)} left out" if line else ""


def _is_header(own: RewrittenResult, fact: str) -> bool:
    """True if all words of a fact of several are names of columns, which a layout may part."""
    words = fact.casefold().split()
    return len(words) > 1 and {*words} <= {*" ".join(own.columns.names).casefold().split()}


def _shortened(own: RewrittenResult, lines: list[str]) -> Iterator[str]:
    """Yield the lines of a text result of which some lines lack words."""
    original = own.session.result_lines(own.result.index)
    is_text = not (own.table.fields or own.shows_cells)
    heading = ""
    for at, line in enumerate(lines if is_text else ()):
        if line not in original and line.rstrip().endswith(":"):
            heading = line
        yield original.shortened(line, heading, is_outer=at in (0, len(lines) - 1))


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
