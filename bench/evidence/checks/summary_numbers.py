"""Numbers that a summary states: counts, and numbers computed from others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, islice

from ...text.numbers import number_value
from ...text.omissions import says_omission
from ...text.worked_out import worked_out
from ..of_replay import ReplayEvidence
from ..own_text import OwnText
from ..row_counts import NEAR, counts_of, line_counts

_NUMBER = re.compile(
    r"(?<![\w.@])(?:(?<!\d,)\d{1,3}(?:,\d{3})+(?!,?\d)|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w]|\.\d)(\s?%)?"
)
_FEWEST_DIGITS = 2
_MOST_TERMS = 500


class SummaryNumbers:
    """The numbers that a text about no single result states."""

    def __init__(self, evidence: ReplayEvidence, own: OwnText) -> None:
        self._evidence, self._own, self._session = evidence, own, own.session

    def unsupported(self, text: str, sentence: str, near: Sequence[str]) -> Iterator[str]:
        """Yield the numbers in a sentence's own words that are unknown, count nothing, and cannot
        be computed from others in it or in the lines `near` it."""
        matches = [*_NUMBER.finditer(text)]
        values = [number_value(match[0].rstrip("%, ")) for match in matches]
        for match, value in zip(matches, values, strict=True):
            if not (
                self._counts(value, sentence)
                or self._is_known(value, match[0].rstrip("%, "))
                or worked_out(value, _terms(values, near), percent=bool(match[1]))
            ):
                yield value

    def _is_known(self, value: str, written: str) -> bool:
        """True if a number is small, or some message has it or each part of it."""
        known = self._session.mentions.numbers
        parts = map(number_value, written.split(","))
        has_one_digit = len(value.replace(".", "")) < _FEWEST_DIGITS
        return has_one_digit or value in known or known.issuperset(parts)

    def _counts(self, value: str, sentence: str) -> bool:
        """True if a number counts something of a summary."""
        if not value.isdigit():
            return False
        count, left_out = int(value[:18]), bool(says_omission(sentence, ""))
        return (
            count in self._sizes
            or (f"{value} lines" in sentence and count in self._line_counts)
            or count in self._own_size
            or any(abs(count - other) <= NEAR for other in self._replaced)
            or (left_out and count <= self._largest)
        )

    @cached_property
    def _own_size(self) -> frozenset[int]:
        return counts_of(self._own.text)

    @cached_property
    def _sizes(self) -> frozenset[int]:
        """The sizes of the recorded messages."""
        messages = self._evidence.messages
        return frozenset(len(message.text) for message in messages.messages[: messages.recorded])

    @cached_property
    def _largest(self) -> int:
        return max(self._sizes)

    @cached_property
    def _line_counts(self) -> frozenset[int]:
        """The numbers of lines of the recorded messages."""
        messages = self._evidence.messages
        texts = (message.text for message in messages.messages[: messages.recorded])
        return frozenset(count for text in texts for count in line_counts(text))

    @cached_property
    def _replaced(self) -> tuple[int, int, int]:
        """The numbers of messages that a summary may replace: all of its thread before its first
        prompt, those missing there, and those dropped with it."""
        evidence = self._evidence
        first = evidence.first_call(self._own.number)
        call = evidence.walked.calls[first]
        steps = {
            s.index for s in evidence.trace.steps if s.thread == call.thread and s.index < call.step
        }
        recorded = [n for step, n in evidence.index.full.items() if step in steps]
        still_there = sum(evidence.is_in_prompt(number, first) for number in recorded)
        return len(recorded), len(recorded) - still_there, len(evidence.walked.left[first])


def _terms(values: Sequence[str], near: Sequence[str]) -> list[str]:
    """The numbers that another in the same sentence may be computed from: the first ones in it and
    in the lines near it."""
    return [*islice(chain(values, _numbers_of(near)), _MOST_TERMS)]


def _numbers_of(near: Sequence[str]) -> Iterator[str]:
    """Yield the numbers of a paragraph, the last line first."""
    for line in reversed(near):
        yield from (number_value(match[0].rstrip("%, ")) for match in _NUMBER.finditer(line))
