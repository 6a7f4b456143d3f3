"""Counts that a text may state: of the characters, words, lines, rows and messages that it shows or
leaves out.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property
from itertools import chain, takewhile

from ...text.containers import containers_in
from ...text.decode import decode_strings
from ...text.excerpts import NOTICE_CHARS
from ..of_replay import ReplayEvidence
from ..own_text import OwnText, RewrittenResult
from ..result_counts import counts_of, texts_in

_NEAR = 2
"""The lines by which a count of what is left out may be wrong."""

_DIGITS = re.compile(r"\d+")


class ShownCounts:
    """The counts that a text about a result may state."""

    def __init__(self, evidence: ReplayEvidence, own: RewrittenResult) -> None:
        self._evidence, self._own = evidence, own
        self._counts = own.session.result_counts(own.result)

    def has(self, number: str) -> bool:
        """True if a number is one of the counts."""
        if not number.isdigit():
            return False
        value = int(number[:18])
        return (
            self._counts.has(value)
            or self._is_missing(number, value)
            or value in self._exact
            or any(low <= value <= high for low, high in self._between)
            or value == self._evidence.messages.count.text(self._own.result.text)
        )

    @cached_property
    def _exact(self) -> frozenset[int]:
        """The exact counts that it may state, besides those of its result."""
        text = self._own.text
        texts, counts = self._texts
        shown = sum(1 for _ in containers_in(text))
        exact = counts_of(text) | counts | self._rows_missing()
        exact |= {total - shown for total in self._counts.rows if total > shown}
        pieces_of = self._own.notices.pieces_of
        for piece in chain.from_iterable(map(pieces_of, (text, *texts))):
            exact |= counts_of(piece.strip("\n"))
            exact |= {piece.strip("\n").count("\n") + 2}  # the number of the next line
            exact |= {len(piece.rstrip("]}\"' \n"))}  # brackets were closed
        exact |= self._rests_of_lines()
        for number in self._evidence.own_by_step.get(self._own.step, ()):  # a text that it replaces
            exact |= counts_of(self._evidence.messages.messages[number].text)
        return exact

    def _rests_of_lines(self) -> set[int]:
        """The characters of lines of the result beyond what a line shows, most of which they have."""
        full = sorted(line for text in self._counts.texts for line in text.split("\n"))
        rests: set[int] = set()
        texts = (self._own.text, *self._texts[0])
        shown = {line for text in texts for line in text.split("\n")}
        for line in shown.difference(full):
            at = bisect_left(full, line)
            for near in full[max(at - 1, 0) : at + 1]:
                pairs = zip(near, line, strict=False)
                shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
                rests |= {len(near) - shared} if 2 * shared > len(line) else set()
        return rests

    def _rows_missing(self) -> set[int]:
        """For each list of records the number of those without a distinctive word in the text."""
        lists = self._own.table.lists
        words = self._own.session.messages.reading(self._own.text).words
        return {
            sum(lists.distinctive[row].isdisjoint(words) for row in rows) for rows in lists.lists
        }

    @cached_property
    def _between(self) -> list[tuple[int, int]]:
        """The bounds of the counts that it may state roughly."""
        between: list[tuple[int, int]] = []
        texts, _ = self._texts
        for full, lines in self._counts.texts.items():
            between.append((lines - _NEAR, lines))
            for part in (self._own.text, *texts):
                chars, left = len(full) - len(part), lines - part.count("\n") - 1
                between += [(chars, chars + NOTICE_CHARS)] * (chars > 0)
                filled = _filled_lines(full) - _filled_lines(part)
                between += [(some - _NEAR, some + _NEAR) for some in (left, filled) if some > 0]
        return between

    @cached_property
    def _texts(self) -> tuple[list[str], frozenset[int]]:
        """The long texts in the data of its text, and the lengths of its containers."""
        return texts_in(decode_strings(self._own.text))

    def _is_missing(self, number: str, value: int) -> bool:
        """True if a number is the size of what is missing at each notice: exactly, or up to the
        length of a notice or two lines.
        """
        gaps = self._own.gaps or ()
        beside = [gap.missing for gap in gaps if number in _DIGITS.findall(gap.words)]
        return bool(beside) and all(
            0 <= value - len(text) <= NOTICE_CHARS
            or abs(value - text.count("\n") - 1) <= _NEAR
            or value in counts_of(text)
            for text in beside
        )


def _filled_lines(text: str) -> int:
    """The number of lines that are not blank."""
    return sum(map(bool, map(str.strip, text.split("\n"))))


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
        return known or any(abs(value - count) <= _NEAR for count in self._messages)

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
