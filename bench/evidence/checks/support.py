"""Support for sentences of a strategy: quotations, labels, names of calls."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from ...text.facts import flat
from ...text.instructions import is_consent, quantifiers
from ...text.small_words import WORD, is_small
from ..failures import FAILURE, SUCCESS
from ..own_text import OwnText
from .speakers import SPEAKERS

LABEL = re.compile(r"[^:\]\n{\"]{1,60}[:\]]\W{0,2}? (?=\S)")
"""Matches a label before words: up to a colon or bracket."""

TAG = re.compile(r"</?[A-Za-z_][\w-]*(?:\s+[\w-]*=\"[^\"<>]{0,60}\")*\s*/?>")
"""Matches a tag of markup."""

MARK = re.compile(r"\[?(?:…|\.{3,})\]?")
"""Matches a mark of omission."""

FEWEST_WORDS = 4
"""The fewest words in a row that count as a quotation."""

_SUCCEEDED = re.compile(r"success\w*|succeeded|ok(?:ay)?")
_NAMES = frozenset(name for names in SPEAKERS.values() for name in names)


def on_purpose(text: str, says: Sequence[str]) -> tuple[str, ...]:
    """The sentences in a text that the strategy declares in its `says`."""
    return tuple(words for words in says if _pattern_of(words).search(text))


def without(text: str, purpose: Sequence[str]) -> str:
    """A text without the declared sentences and handles. A `{}` in a declared sentence matches any
    number, which stays.

    >>> without("[12 older results were dropped] ok", ["[{} older results were dropped]"]).split()
    ['12', 'ok']
    """
    for words in purpose:
        text = _pattern_of(words).sub(lambda match: f" {' '.join(match.groups())} ", text)
    return text


@lru_cache(1 << 10)
def _pattern_of(words: str) -> re.Pattern[str]:
    return re.compile(re.escape(words).replace(r"\{\}", r"(\d(?:[\d,.]*\d)?)"))


def outcome_words(is_failed: bool) -> re.Pattern[str]:
    """The words that say how a call ended."""
    return FAILURE if is_failed else _SUCCEEDED


def is_quoted(own: OwnText, text: str, before: int) -> bool:
    """True if a message before a step has the words of a text in a row."""
    step = own.session.mentions.first_step_with(text)
    return step is not None and step < before


def claims_nothing(heading: str) -> bool:
    """True if a heading or label claims no success, failure or consent, and does not speak of all,
    none or the latest.
    """
    claims = (quantifiers, SUCCESS.search, FAILURE.search, is_consent)
    return not any(claim(heading) for claim in claims)


def is_of_run(own: OwnText, label: str) -> bool:
    """True if a label only names a speaker or a function."""
    return all(
        is_small(word) or word in _NAMES or word in own.session.functions
        for word in flat(label).split()
    )


def core_of(sentence: str) -> str:
    """A sentence without insignificant words at both ends."""
    words = flat(sentence).split()
    states = [
        bool(WORD.search(word)) and not is_small(word) and word not in _NAMES for word in words
    ]
    if not any(states):
        return ""
    return " ".join(words[states.index(True) : len(words) - states[::-1].index(True)])


def without_halves(parts: list[str]) -> Iterator[str]:
    """Yield the parts of a sentence between its marks of omission, without words that a mark may
    have truncated.
    """
    for number, part in enumerate(parts):
        words = part.split()
        if number and part[:1].strip():
            words = words[1:]
        if number < len(parts) - 1 and part[-1:].strip():
            words = words[:-1]
        if words:
            yield " ".join(words)
