"""Numbers that an own text states, checked as what the text calls them: a count, or a number
computed from others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, islice

from ...text.excerpts import NOTICE_CHARS
from ...text.instructions import is_unit
from ...text.numbers import number_value
from ...text.omissions import says_omission
from ...text.worked_out import worked_out
from ..of_replay import ReplayEvidence
from ..own_text import OwnText, RewrittenResult
from ..row_counts import NEAR, counts_of, line_counts
from .unsupported import is_about_itself

_NUMBER = re.compile(
    r"(?<![\w.@])(?:(?<!\d,)\d{1,3}(?:,\d{3})+(?!,?\d)|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w]|\.\d)(\s?%)?"
)
_COUNTED = re.compile(
    r" ?(?:\w+ )?(?:rows?|results?|items?|records?|entry|entries|(?P<lines>lines?)|(?P<chars>char(?:acter)?s?))\b",
    re.IGNORECASE,
)
_FEWEST_DIGITS = 2
_MOST_TERMS = 500
_BEFORE_A_COUNT = re.compile(
    r"(?:^|\b(?:of|to|and|through|by|than)|[-\u2013/,\[(+~])\s?$", re.IGNORECASE
)
"""Matches what stands before a number that counts or numbers parts of a text (`3 of 9`)."""

_LAST_WORD = re.compile(r"([^\W\d_]+)[\s\"'#:=]*$")


class StatedNumbers:
    """The numbers that one own text states."""

    def __init__(self, evidence: ReplayEvidence, own: OwnText) -> None:
        self._evidence, self._own, self._session = evidence, own, own.session
        self._is_doubtful = False  # a number came with False, and one is enough
        self._line, self._is_right = "", False  # the last line whose sums were looked at

    def unsupported(
        self, text: str, sentence: str, near: Sequence[str], states_all: bool
    ) -> Iterator[tuple[str, bool]]:
        """Yield the numbers in a sentence's own words that are unknown, count nothing, and cannot
        be computed from others in it or in the lines `near` it.

        In a text that shows a result, a count of rows must be that of all rows if the sentence
        `states_all`. A sentence there about the text itself may count anything else; any other
        unknown number comes with False, since it may be computed; only the first one does.
        """
        shown = self._own if isinstance(self._own, RewrittenResult) else None
        matches = [*_NUMBER.finditer(text)]
        if matches and shown and self._has_right_sums(shown, near[-1]):
            return
        values = [number_value(match[0].rstrip("%, ")) for match in matches]
        counts_itself = bool(matches) and shown is not None and is_about_itself(shown, sentence)
        for match, value in zip(matches, values, strict=True):
            written = match[0].rstrip("%, ")
            after = text[match.start() + len(written) : match.end() + NOTICE_CHARS]
            if shown and states_all and self._is_wrong(shown, value, written, after, sentence):
                yield value, True
            elif self._is_doubtful:
                continue
            elif shown and _is_too_small(shown, written, after) and not self._counts_own(value):
                self._is_doubtful = True
                yield value, False
            elif not (
                (counts_itself and self._may_count(match, value))
                or (shown is None and self._counts(value, sentence))
                or self._is_known(value, written)
                or worked_out(value, _terms(values, near), percent=bool(match[1]))
            ):
                self._is_doubtful = shown is not None
                yield value, shown is None

    def _is_wrong(
        self, own: RewrittenResult, value: str, written: str, after: str, sentence: str
    ) -> bool:
        """True if a number counts rows or lines, in words that the result does not have, and is not
        the number of all of a result that leaves out nothing."""
        counted = _COUNTED.match(after)
        if counted is None or counted["chars"] or says_omission(sentence, ""):
            return False
        if written + counted[0] in own.result.text:
            return False
        return not value.isdigit() or int(value[:18]) not in self._rows

    @cached_property
    def _rows(self) -> frozenset[int]:
        """The numbers of rows and lines of the result that a text shows."""
        own = self._own
        return own.row_counts if isinstance(own, RewrittenResult) else frozenset()

    def _has_right_sums(self, shown: RewrittenResult, line: str) -> bool:
        """True if a line rightly states sums or extremes of columns; a line is read once."""
        if line != self._line:
            self._line, self._is_right = line, shown.is_right_line(line)
        return self._is_right

    def _may_count(self, match: re.Match[str], value: str) -> bool:
        """True if a number in a sentence about its text can count parts or be the number of one: a
        word follows, or its place says so; after a colon it is one of the text's counts.
        """
        before, after = match.string[: match.start()], match.string[match.end() :]
        if not value.isdigit() or match[1]:
            return False
        if re.match(r"[\s-]?[^\W\d_]", after) or _BEFORE_A_COUNT.search(before):
            return True
        word = _LAST_WORD.search(before)
        if word is None or not word[0].rstrip().endswith((":", "=")):
            return word is not None and is_unit(word[1].casefold())
        return bool(says_omission(before, "")) or int(value[:18]) in self._own_counts

    @cached_property
    def _own_counts(self) -> frozenset[int]:
        """The rows, lines, words and characters of the result that a text shows."""
        own = self._own
        return (
            self._rows | counts_of(own.result.text)
            if isinstance(own, RewrittenResult)
            else frozenset()
        )

    def _is_known(self, value: str, written: str) -> bool:
        """True if a number is small, or some message has it or each part of it."""
        known = self._session.mentions.numbers
        parts = map(number_value, written.split(","))
        has_one_digit = len(value.replace(".", "")) < _FEWEST_DIGITS
        return has_one_digit or value in known or known.issuperset(parts)

    def _counts_own(self, value: str) -> bool:
        """True if a number counts another text about the same result, of the strategy or recorded,
        which this one may replace."""
        return value.isdigit() and int(value[:18]) in self._counts_of_others

    @cached_property
    def _counts_of_others(self) -> frozenset[int]:
        step, evidence = self._own.step, self._evidence
        numbers = *evidence.own_by_step.get(step, ()), evidence.index.seen.get(step or 0, 0)
        texts = (evidence.messages.messages[number].text for number in numbers)
        return frozenset().union(*map(counts_of, texts))

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
        prompt, those missing there, and those dropped with it.
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


def _terms(values: Sequence[str], near: Sequence[str]) -> list[str]:
    """The numbers that another in the same sentence may be computed from: the first ones in it and
    in the lines near it."""
    return [*islice(chain(values, _numbers_of(near)), _MOST_TERMS)]


def _numbers_of(near: Sequence[str]) -> Iterator[str]:
    """Yield the numbers of a paragraph, the last line first."""
    for line in reversed(near):
        yield from (number_value(match[0].rstrip("%, ")) for match in _NUMBER.finditer(line))


def _is_too_small(own: RewrittenResult, written: str, after: str) -> bool:
    """True if a number counts the lines or characters of a gap, where far more are missing than any
    number there says."""
    counted = _COUNTED.match(after)
    if counted is None or not (counted["lines"] or counted["chars"]):
        return False
    for gap in own.gaps or ():
        size = len(gap.missing) - NOTICE_CHARS
        size = size if counted["chars"] else line_counts(gap.missing)[1] - NEAR
        if written + counted[0] in gap.words:
            return max(map(float, _numbers_of([gap.words])), default=size) < size
    return False
