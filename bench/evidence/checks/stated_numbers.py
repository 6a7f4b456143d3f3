"""Numbers that an own text states, checked as what the text calls them: a count, or a number
computed from others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...text.excerpts import NOTICE_CHARS
from ...text.numbers import number_value
from ...text.omissions import says_omission
from ...text.worked_out import worked_out
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
_FEWEST_DIGITS = 2


class StatedNumbers:
    """The numbers that one own text states."""

    def __init__(self, evidence: ReplayEvidence, own: OwnText) -> None:
        self._session = own.session
        self._result = _OfResult(evidence, own) if isinstance(own, RewrittenResult) else None
        self._summary = SummaryCounts(evidence, own)

    def unsupported(
        self, text: str, sentence: str, near: Sequence[str], states_all: bool
    ) -> Iterator[tuple[str, bool]]:
        """Yield the numbers in a sentence's own words that are unknown, count nothing, and cannot
        be computed from others in it or in the lines `near` it.

        In a text that shows a result, a count of rows must be that of all rows if the sentence
        `states_all`; any other number there may count or compute anything, and comes with False.
        """
        matches = [*_NUMBER.finditer(text)]
        values = [number_value(match[0].rstrip("%, ")) for match in matches]
        terms = [*values, *_numbers_of(near)]
        for match, value in zip(matches, values, strict=True):
            words = text[match.start() : match.end() + NOTICE_CHARS]
            stated = _Stated(value, match[0].rstrip("%, "), words, sentence)
            is_right = self._result.is_right(stated, states_all) if self._result else None
            is_wrong = self._result is None or is_right is False
            if is_right is None:
                is_right = (
                    self._counts(stated)
                    or worked_out(value, terms, percent=bool(match[1]))
                    or (
                        not (self._result and self._result.is_count(stated))
                        and self._is_known(stated)
                    )
                )
            if not is_right:
                yield value, is_wrong

    def _is_known(self, stated: _Stated) -> bool:
        """True if a number is small, or some message has it or each part of it."""
        says = self._session.mentions.number
        parts = map(number_value, stated.written.split(","))
        has_one_digit = len(stated.value.replace(".", "")) < _FEWEST_DIGITS
        return has_one_digit or says(stated.value) or all(map(says, parts))

    def _counts(self, stated: _Stated) -> bool:
        """True if a number counts something of the text."""
        if self._result:
            return self._result.has(stated)
        left_out = bool(says_omission(stated.sentence, ""))
        summary = self._summary
        return summary.has(stated.value) or (left_out and summary.may_be_left_out(stated.value))


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
        """True or False for a count of all rows, None for any other number."""
        counted = _COUNTED.match(stated.after)
        if not (counted and self.is_count(stated)):
            return None
        is_all = not counted["chars"] and states_all and not says_omission(stated.sentence, "")
        return self._full.is_all(stated.value) if is_all else None

    def is_count(self, stated: _Stated) -> bool:
        """True if a number counts rows, lines or characters, in words that the result does not
        have."""
        counted = _COUNTED.match(stated.after)
        if counted is None:
            return False
        return stated.words[: len(stated.written) + counted.end()] not in self._own.result.text

    def has(self, stated: _Stated) -> bool:
        """True if a number is a count of what is shown or left out."""
        return self._shown.has(stated.value)
