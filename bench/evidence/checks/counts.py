"""Counts that a text may state of what it shows and of what it leaves out: characters, words,
lines, rows, messages.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Sequence
from functools import cached_property

from ...text.decode import containers_in, decode_strings
from ...text.excerpts import NOTICE_CHARS
from ..of_replay import ReplayEvidence
from ..result_counts import counts_of, texts_in
from .own import OwnText, gaps_shown, notices_of

_NEAR = 2
"""What is left out is known to so many lines, and to the characters of a notice."""

_DIGITS = re.compile(r"\d+")
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")


class Counts:
    """The counts of one own text."""

    def __init__(self, evidence: ReplayEvidence, own: OwnText) -> None:
        self._evidence, self._own = evidence, own

    @cached_property
    def _exact(self) -> frozenset[int]:
        """What it may state exactly, beside the counts of its result."""
        text, result = self._own.text, self._own.result
        if result is None:
            messages = self._evidence.messages
            recorded = messages.messages[: messages.recorded]
            return counts_of(text) | {len(message.text) for message in recorded}
        rows = self._evidence.session.result_counts(result).rows
        shown = sum(1 for _ in containers_in(text))
        exact = counts_of(text) | self._texts[1]
        exact |= {total - shown for total in rows if total > shown}
        for piece in notices_of(self._evidence, result).pieces_of(text):
            exact |= counts_of(piece.strip("\n"))
            exact |= {len(piece.rstrip("]}\"' \n"))}  # brackets were closed
        return exact

    @cached_property
    def _between(self) -> list[tuple[int, int]]:
        """The bounds of what it may state roughly."""
        if self._own.result is None:
            return [(count - _NEAR, count + _NEAR) for count in self._messages()]
        between: list[tuple[int, int]] = []
        for full, lines in self._evidence.session.result_counts(self._own.result).texts.items():
            between.append((lines - _NEAR, lines))
            for part in (self._own.text, *self._texts[0]):
                chars, left = len(full) - len(part), lines - part.count("\n") - 1
                between += [(chars, chars + NOTICE_CHARS)] * (chars > 0)
                between += [(left - _NEAR, left + _NEAR)] * (left > 0)
        return between

    @cached_property
    def _texts(self) -> tuple[list[str], frozenset[int]]:
        return texts_in(decode_strings(self._own.text))

    def has(self, number: str) -> bool:
        """True if a number is one of the counts."""
        if not number.isdigit():
            return False
        value, result = int(number[:18]), self._own.result
        if result is not None and self._evidence.session.result_counts(result).has(value):
            return True
        known = value in self._exact or any(low <= value <= high for low, high in self._between)
        known = known or value == self._result_tokens or value in self._sizes_of_others
        return known or self._is_missing(number, value)

    def _is_missing(self, number: str, value: int) -> bool:
        """True if so much is missing wherever a notice has a number: exactly, or up to the length
        of a notice or to two lines.
        """
        gaps = gaps_shown(self._evidence, self._own) or ()
        beside = [gap.missing for gap in gaps if number in _DIGITS.findall(gap.words)]
        return bool(beside) and all(
            0 <= value - len(text) <= NOTICE_CHARS
            or abs(value - text.count("\n") - 1) <= _NEAR
            or value in counts_of(text)
            for text in beside
        )

    def may_be_left_out(self, number: str) -> bool:
        """True if some message that a summary may stand for is as long."""
        return number.isdigit() and int(number[:18]) <= self._longest

    @cached_property
    def _longest(self) -> int:
        messages = self._evidence.messages
        return max(len(message.text) for message in messages.messages[: messages.recorded])

    def is_all(self, number: str) -> bool:
        """True if a number counts all rows or lines of the result, or of a list in it."""
        result = self._own.result
        rows = self._evidence.session.result_counts(result).rows if result else ()
        return number.isdigit() and int(number[:18]) in rows

    def is_worked_out(self, number: str) -> bool:
        """True if a number is the sum of a column, or the number of its rows or lines."""
        sums = map(math.fsum, self._columns)
        return self.is_all(number) or any(is_rounded(number, value) for value in sums)

    def is_statistic(self, number: str) -> bool:
        """True if a number is the sum, range, mean, deviation or a quartile of a column of the result."""
        return any(is_rounded(number, value) for value in self._statistics)

    @cached_property
    def _statistics(self) -> list[float]:
        return [value for column in self._columns for value in statistics_of(column)]

    @cached_property
    def _columns(self) -> list[list[float]]:
        """The numbers of each key of the result that stands there several times."""
        if self._own.result is None:
            return []
        table = self._evidence.messages.table(self._own.message.step or 0)
        columns = (
            [float(text) for text in table.column(name).elements() if _NUMBER.fullmatch(text)]
            for name in table.names
        )
        return [column for column in columns if len(column) > 1]

    @cached_property
    def _sizes_of_others(self) -> frozenset[int]:
        """The sizes of the strategy's other texts of the result: one that a prompt showed may be
        counted.
        """
        others = (
            self._evidence.messages.messages[n] for n in self._evidence.own if n != self._own.number
        )
        step = self._own.message.step
        return frozenset().union(
            *(counts_of(other.text) for other in others if other.step == step is not None)
        )

    @cached_property
    def _result_tokens(self) -> int:
        return self._evidence.messages.count.text(self._own.result.text) if self._own.result else 0

    def _messages(self) -> tuple[int, int, int]:
        """The numbers of messages that a summary may stand for: all of its thread before its first
        prompt, those that are missing there, and those that left with it.
        """
        evidence = self._evidence
        first = min(stay.first for stay in evidence.walked.stays[self._own.number])
        call = evidence.walked.calls[first]
        steps = {
            s.index for s in evidence.trace.steps if s.thread == call.thread and s.index < call.step
        }
        recorded = [n for step, n in evidence.index.full.items() if step in steps]
        standing = sum(evidence.stands(number, first) for number in recorded)
        left = sum(
            stay.after == first for stays in evidence.walked.stays.values() for stay in stays
        )
        return len(recorded), len(recorded) - standing, left


def is_rounded(number: str, value: float) -> bool:
    """True if a number as it is written is a value, rounded.

    >>> is_rounded("2.5", 2.54), is_rounded("2.6", 2.54), is_rounded("1e3", 1000)
    (True, False, False)
    """
    half = 0.5 * 10 ** -len(number.partition(".")[2])
    return _NUMBER.fullmatch(number) is not None and abs(value - float(number)) <= half


def statistics_of(column: Sequence[float]) -> tuple[float, ...]:
    """The sum, range, mean, both deviations and the quartiles of two or more numbers.

    >>> statistics_of([1, 2, 3, 10])
    (16.0, 9, 4.0, 4.08248290463863, 3.5355339059327378, 1.75, 2.5, 4.75)
    """
    total, size = math.fsum(column), len(column)
    mean = total / size
    squares = math.fsum((value - mean) ** 2 for value in column)
    deviations = math.sqrt(squares / (size - 1)), math.sqrt(squares / size)
    return (
        total,
        max(column) - min(column),
        mean,
        *deviations,
        *statistics.quantiles(column, n=4, method="inclusive"),
    )
