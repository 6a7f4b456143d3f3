"""Counts that a summary may state: of the characters, words, lines and messages that it shows or
leaves out.
"""

from __future__ import annotations

from functools import cached_property

from ..of_replay import ReplayEvidence
from ..own_text import OwnText
from ..row_counts import line_counts

NEAR = 2
"""The lines or items by which a count of what is left out may be wrong."""


class SummaryCounts:
    """The counts that a text about no single result may state."""

    def __init__(self, evidence: ReplayEvidence, own: OwnText) -> None:
        self._evidence, self._own = evidence, own

    def has(self, number: str) -> bool:
        """True if a number is the size of the text or of a recorded message, or roughly a number of
        messages that it may replace.
        """
        if not number.isdigit():
            return False
        value = int(number[:18])
        known = value in self._sizes or value in counts_of(self._own.text)
        return known or any(abs(value - count) <= NEAR for count in self._messages)

    def may_be_left_out(self, number: str) -> bool:
        """True if a number is the size of some message that it may replace."""
        return number.isdigit() and int(number[:18]) <= max(self._sizes)

    @cached_property
    def _sizes(self) -> frozenset[int]:
        messages = self._evidence.messages
        return frozenset(len(message.text) for message in messages.messages[: messages.recorded])

    @cached_property
    def _messages(self) -> tuple[int, int, int]:
        """The numbers of messages that it may replace: all of its thread before its first prompt,
        those missing there, and those dropped with it.
        """
        evidence = self._evidence
        first = evidence.first_call(self._own.number)
        call = evidence.walked.calls[first]
        steps = {
            s.index for s in evidence.trace.steps if s.thread == call.thread and s.index < call.step
        }
        recorded = [n for step, n in evidence.index.full.items() if step in steps]
        still_there = sum(evidence.is_in_prompt(number, first) for number in recorded)
        return len(recorded), len(recorded) - still_there, len(evidence.walked.left[first])


def counts_of(text: str) -> frozenset[int]:
    """The characters, bytes and words of a text, and its lines with and without blank ones.

    >>> sorted(counts_of("one two\\n\\né"))
    [2, 3, 10, 11]
    """
    return frozenset(
        (len(text), len(text.encode("utf-8", "replace")), len(text.split()), *line_counts(text))
    )
