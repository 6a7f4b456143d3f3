"""Hidden: a failed result shown as if it had succeeded, or shown in part without its failure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from itertools import islice

from ...model import ToolResult, as_text, lines_of
from ...model.scores import Check, Finding
from ...text.exit_codes import exit_codes
from ..failures import FAILURE
from ..of_replay import ReplayEvidence
from .claims import SUCCESS, false_claims
from .own import OwnText, check_of, new_lines, own_texts, shows_line
from .repeated import claims_repetition

_VARIES = re.compile(r"[\w:/=+.-]*\d[\w:/=+.-]*")
"""A number, or a handle, which differ between the texts of one form."""


def hidden(evidence: ReplayEvidence) -> Check:
    """Failed results that a message of the strategy shows without their failure, over the failed
    results that it rewrote.

    A result failed where its flag or exit code says so, or a short text begins so. Shown means that
    the text claims a success, holds a line of the result, or stands for no result that succeeded
    and does not say that something is left out. A placeholder that shows nothing hides nothing,
    nor does a text that says everything that the result says and claims no success; nothing at all
    is no placeholder. Of any result its lines that tell a failure may not be all that is left out.
    A summary hides a failure where it has a recorded line that tells one, with a success in its
    place, or claims that what failed succeeded; so does a history from which it alone is dropped.

    Source: https://arxiv.org/abs/2508.21433 (what masking may leave out: a placeholder)
    """
    texts = list(own_texts(evidence))
    findings = [*_turned(evidence, [own for own in texts if own.result is None])]
    rewritten = len(findings)
    of_results = [own for own in texts if own.result is not None]
    for own in own_texts(evidence, blank=True):
        if (
            own.result is not None
            and own.result.text.strip()
            and evidence.session.failed(own.result)
        ):
            rewritten += 1
            findings.append(Finding(own.message.step, "", own.result.text[:200]))
    for step in evidence.picked_out:
        result = evidence.messages.contents.results.get(step)
        if result is not None and evidence.session.failed(result):
            rewritten += 1
            findings.append(Finding(step, "", result.text[:200]))
    failed = {
        own.number: own.result
        for own in of_results
        if own.result and evidence.session.failed(own.result)
    }
    silent = {
        own.number
        for own in of_results
        if own.number in failed and not _tells(unescape(own.text), failed[own.number])
    }
    of_success = {
        _VARIES.sub("0", own.text) for own in of_results if silent and own.number not in failed
    }
    for own in of_results:
        if own.result is None or own.number not in failed:
            findings += _filtered(evidence, own) or _failed_instead(evidence, own)
            continue
        rewritten += 1
        if own.number not in silent:
            continue
        placeholder = (
            _VARIES.sub("0", own.text) in of_success
            or evidence.session.says_omission(own.result, own.text)
            or claims_repetition(own)
        )
        claims = bool(SUCCESS.search(" ".join(new_lines(evidence, own))))
        empty = not own.result.text.strip()  # it tells no failure itself
        if claims or (not empty and (shows_line(evidence, own) or not placeholder)):
            findings.append(Finding(own.message.step, own.text[:200], own.result.text[:200]))
    findings += _stored(evidence)
    return check_of(findings, rewritten)


def _stored(evidence: ReplayEvidence) -> Iterator[Finding]:
    """Yield the failed results that the store holds as something which tells no failure and says a
    success.
    """
    for result in evidence.trace.results:
        outcome = evidence.outcomes.get(result.index)
        if outcome is None or outcome.stored is None or outcome.stored is result.value:
            continue
        text = as_text(outcome.stored)
        if not SUCCESS.search(text) or not evidence.session.failed(result) or _tells(text, result):
            continue
        if text != as_text(result.value):
            yield Finding(result.index, text[:200], result.text[:200])


def _turned(evidence: ReplayEvidence, summaries: list[OwnText]) -> Iterator[Finding]:
    """Yield the summaries with a line that claims a success where the recorded line, or the result,
    tells a failure.
    """
    for own in summaries:
        for line in new_lines(evidence, own):
            if not SUCCESS.search(line) or FAILURE.search(line):
                continue
            was = evidence.session.lines_with(FAILURE).altered(line, cut=True, begun=True)
            if FAILURE.search(was):
                yield Finding(own.message.step, line.strip()[:200], was.strip()[:200])
                break
        else:
            yield from islice(false_claims(evidence, own), 1)


def _filtered(evidence: ReplayEvidence, own: OwnText) -> list[Finding]:
    """The first line of a result that tells a failure, where all such lines and no others are left
    out without a word.
    """
    if own.result is None:
        return []
    kept = set(own.text.split("\n"))
    left_out = [line for line in own.result.text.splitlines() if line not in kept and line.strip()]
    if not all(map(evidence.session.tells_failure, left_out)):
        return []
    if (
        not left_out
        or FAILURE.search(own.text)
        or evidence.session.says_omission(own.result, own.text)
    ):
        return []
    return [Finding(own.message.step, own.text[:200], left_out[0][:200])]


def _failed_instead(evidence: ReplayEvidence, own: OwnText) -> list[Finding]:
    """A text that tells a failure, and nothing of a result that tells none."""
    result, facts, tells = own.result, evidence.session.facts, evidence.session.tells_failure
    if result is None or not facts.of(result) or evidence.session.says_omission(result, own.text):
        return []
    if not any(map(tells, new_lines(evidence, own))) or any(map(tells, lines_of(result.text))):
        return []
    is_lost = len(facts.lost_in_text(result, own.text)) == len(facts.of(result))
    return [Finding(own.message.step, own.text[:200], result.text[:200])] if is_lost else []


def _tells(text: str, result: ToolResult) -> bool:
    """True if a text tells a failure: its words, a failing exit code, the error of the result, or
    all of the result.

    >>> result = ToolResult(index=0, call_id="a", function="f", seen="Malformed\\ncall", success=False)
    >>> _tells("1: Malformed\\n2: call", result), _tells("1: Malformed", result), _tells("OK\\nMalformed\\ncall", result)
    (True, False, False)
    """
    if any(exit_codes(text)) or (result.error and result.error[:80] in text):
        return True
    if FAILURE.search(text):
        return True
    rest = text
    for line in lines_of(result.text):
        before, same_line, after = rest.partition(line.strip())
        if not same_line:
            return False
        rest = f"{before}\n{after}"
    return bool(lines_of(result.text)) and not SUCCESS.search(rest)
