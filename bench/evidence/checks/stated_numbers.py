"""Numbers that an own text states, checked as what the text calls them: a count, a statistic, a
number computed from others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ...text.excerpts import NOTICE_CHARS
from ...text.facts import flat
from ...text.instructions import sentences_of
from ...text.numbers import number_value
from ...text.omissions import says_omission
from ...text.text_records import plain_key
from ...text.worked_out import worked_out
from ..column_statistics import STATISTICS
from ..of_replay import ReplayEvidence
from ..own_text import OwnText, RewrittenResult
from .counts import ShownCounts, SummaryCounts

_NUMBER = re.compile(
    r"(?<![\w.@])(?:(?<!\d,)\d{1,3}(?:,\d{3})+(?!,?\d)|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w]|\.\d)(\s?%)?"
)
_COUNTED = re.compile(
    r" ?(?:(?:more|other|further|remaining|additional) )?"
    r"(?:rows?|lines?|results?|items?|records?|entry|entries|(?P<chars>characters?))\b",
    re.IGNORECASE,
)
_ROWS = re.compile(r"(?<![\w.,])(\d{1,9}) (?:rows|records)\b", re.IGNORECASE)
_STATISTIC = re.compile(
    rf"\b({'|'.join(STATISTICS)})s?\b[^\d\n\\,;|{{}}\[\]]{{0,60}}?(?<![\w.])(\d[\d,]*(?:\.\d+)?)(?![\w.])",
    re.IGNORECASE,
)
_PLACES = re.compile(r"(?:^\W{0,20}|\b(?:lines?|rows?) )(\d+(?:(?:, ?| and | to |[-–])\d+)*)\b")
_FEWEST_DIGITS = 2


class StatedNumbers:
    """The numbers that one own text states."""

    def __init__(self, evidence: ReplayEvidence, own: OwnText) -> None:
        self._session = own.session
        self._result = _OfResult(evidence, own) if isinstance(own, RewrittenResult) else None
        self._summary = SummaryCounts(evidence, own)

    def unsupported(
        self, text: str, sentence: str, near: Sequence[str], states_all: bool
    ) -> Iterator[str]:
        """Yield the numbers in a sentence's own words that are unknown, count nothing, and cannot
        be computed from others in it, in the lines `near` it, or in a record that these name.

        In a text that shows a result, a count of rows must be that of all rows if the sentence
        `states_all`.
        """
        matches = [*_NUMBER.finditer(text)]
        values = [number_value(match[0].rstrip("%, ")) for match in matches]
        terms = [*values, *_numbers_of(near)]
        for match, value in zip(matches, values, strict=True):
            words = text[match.start() : match.end() + NOTICE_CHARS]
            stated = _Stated(value, match[0].rstrip("%, "), words, sentence)
            is_right = self._result.is_right(stated, states_all) if self._result else None
            if is_right is None:
                is_right = (
                    self._counts(stated)
                    or worked_out(value, terms, percent=bool(match[1]))
                    or (
                        not (self._result and self._result.is_count(stated))
                        and self._is_known(stated)
                    )
                    or self._is_of_record(value, near)
                )
            if not is_right:
                yield value

    def _is_known(self, stated: _Stated) -> bool:
        """True if a number is small, or some message has it or each part of it."""
        says = self._session.mentions.number
        parts = map(number_value, stated.written.split(","))
        has_one_digit = len(stated.value.replace(".", "")) < _FEWEST_DIGITS
        return has_one_digit or says(stated.value) or all(map(says, parts))

    def _counts(self, stated: _Stated) -> bool:
        """True if a number counts something of the text, or is a statistic of its result."""
        if self._result:
            return self._result.counts(stated)
        left_out = bool(says_omission(stated.sentence, ""))
        summary = self._summary
        return summary.has(stated.value) or (left_out and summary.may_be_left_out(stated.value))

    def _is_of_record(self, value: str, near: Sequence[str]) -> bool:
        """True if a number can be computed from those of a record that a paragraph names."""
        of_records = self._session.records.numbers_near("\n".join(near))
        return any(worked_out(value, numbers) for numbers in of_records)


def _numbers_of(near: Sequence[str]) -> Iterator[str]:
    """Yield the numbers of a paragraph, the last line first."""
    for line in reversed(near):
        yield from (number_value(match[0].rstrip("%, ")) for match in _NUMBER.finditer(line))


class _Stated(NamedTuple):
    """A stated number by value and as written, the words from it on, and its sentence."""

    value: str
    written: str
    words: str
    sentence: str

    @property
    def after(self) -> str:
        """The words after the number."""
        return self.words[len(self.written) :]


class _OfResult:
    """The numbers that a text may state about the result that it shows."""

    def __init__(self, evidence: ReplayEvidence, own: RewrittenResult) -> None:
        self._own, self._shown = own, ShownCounts(evidence, own)
        self._full = own.session.result_counts(own.result)

    def is_right(self, stated: _Stated, states_all: bool) -> bool | None:
        """True or False for a count of all rows, True for a rounded number of the result;
        None for any other.
        """
        counted = _COUNTED.match(stated.after)
        if counted and self.is_count(stated):
            of_rows = not counted["chars"] and states_all
            is_all = of_rows and not says_omission(stated.sentence, "")
            return self._full.is_all(stated.value) if is_all else None
        return True if self._full.is_rounded(stated.value) else None

    def is_count(self, stated: _Stated) -> bool:
        """True if a number counts rows, lines or characters, in words that the result does not
        have."""
        counted = _COUNTED.match(stated.after)
        if counted is None:
            return False
        return stated.words[: len(stated.written) + counted.end()] not in self._own.result.text

    def counts(self, stated: _Stated) -> bool:
        """True if a number is a count of what is shown or left out, or a statistic."""
        return (
            self._is_place(stated)
            or self._is_length(stated)
            or self._shown.has(stated.value)
            or (
                self.is_count(stated)
                and self._full.groups.is_size_in(stated.value, stated.sentence)
            )
            or self._full.is_statistic(stated.value, stated.sentence)
        )

    def _is_place(self, stated: _Stated) -> bool:
        """True if a number, in front of a line or behind a word for lines, may be that of a row or
        line of the result.
        """
        is_place = stated.value in _places_in(stated.sentence)
        return is_place and int(stated.value[:18]) <= max(self._full.rows, default=0)

    def _is_length(self, stated: _Stated) -> bool:
        """True if a number is that of the characters of a text or line of the result."""
        counted = _COUNTED.match(stated.after)
        return bool(counted and counted["chars"]) and stated.value in self._full.lengths


@lru_cache(maxsize=64)
def _places_in(sentence: str) -> frozenset[str]:
    """The numbers in a sentence that may be those of lines."""
    return frozenset(re.findall(r"\d+", " ".join(_PLACES.findall(sentence))))


def statistics_of_none(own: RewrittenResult, line: str) -> Iterator[str]:
    """Yield the wrong statistics in a line of an own text: of columns, and of groups of rows."""
    counts = own.session.result_counts(own.result)
    yield from filter(counts.groups.are_wrong_in, sentences_of(line))
    new = (counted for counted in _ROWS.finditer(line) if counted[0] not in own.result.text)
    for counted in () if own.says_omission else new:
        shown = len(own.session.messages.reading(own.text).records)
        if not counts.may_count_rows(int(counted[1]), shown):
            yield counted[0]
    for stated in _STATISTIC.finditer(line):
        value = number_value(stated[2])
        key = set(plain_key(own.table.key_of(value)).split())
        if not (
            flat(stated[0]).rstrip() in own.session.messages.texts.flat(own.result.text)
            or STATISTICS.keys() & key
            or counts.is_statistic(value, line, stated[1])
            or counts.is_all(value)
        ):
            yield stated[0]
