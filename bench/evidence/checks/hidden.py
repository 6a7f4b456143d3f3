"""Hidden: a failed result shown as if it had succeeded, or shown in part without its failure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from ...model import ToolResult, as_text, lines_of
from ...model.scores import Check, Finding
from ...text.exit_codes import exit_codes
from ..failures import FAILURE, SUCCESS
from ..of_replay import ReplayEvidence
from .findings import check_of
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
    is no placeholder. A history hides the failed result that alone is dropped from it.

    Source: https://arxiv.org/abs/2508.21433 (what masking may leave out: a placeholder)
    """
    findings = [
        Finding(own.step, "", own.result.text[:200]) for own in evidence.emptied if own.failed
    ]
    for step in evidence.picked_out:
        result = evidence.messages.contents.results.get(step)
        if result is not None and evidence.session.failed(result):
            findings.append(Finding(step, "", result.text[:200]))
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
        claims = bool(SUCCESS.search(" ".join(own.new_lines)))
        empty = not own.result.text.strip()  # it tells no failure itself
        if claims or (not empty and (own.shows_line or not is_placeholder)):
            findings.append(Finding(own.step, own.text[:200], own.result.text[:200]))
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


def _tells(text: str, result: ToolResult) -> bool:
    """True if a text tells a failure: its words, a failing exit code, the error of the result, or
    how the result begins where that has none of these, and claims no success beside it.

    >>> result = ToolResult(index=0, call_id="a", function="f", seen="Malformed\\ncall", success=False)
    >>> [_tells(text, result) for text in ("1: Malformed", "call", "OK\\nMalformed\\ncall")]
    [True, False, False]
    """
    if any(exit_codes(text)) or (result.error and result.error[:80] in text):
        return True
    if FAILURE.search(text):
        return True
    if FAILURE.search(result.text) or any(exit_codes(result.text)):
        return False
    first = next(iter(lines_of(result.text)), "").strip()
    return bool(first) and first in text and not SUCCESS.search(text)
