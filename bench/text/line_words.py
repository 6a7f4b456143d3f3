"""Lines as words: in one spelling, without their denials."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape
from itertools import islice

from .dates import with_plain_moments
from .decode import without_colours
from .quantities import plain_value
from .separators import FORMATTING_TAG

_TOKEN = re.compile(
    r"(?:(?<![\w.)\]])[-+\u2212]?[$€£¥]?)?(?:\d{1,3}(?:,\d{3})++(?![\d,])|\d{1,99}+)(?:\.\d{1,99}+)?(?:[eE][-+]?\d+\b|[%‰°]|(?=[A-Za-z]{1,3}\b))"
    r"|(?:(?<![\w.)\]}\"'*-])[-\u2212](?=\d))?[$€£¥]?\w+(?:[-.:/@'’]\w+)*|[<>=!]=|(?<=\s)(?:&&|\|\|)(?=\s)|[<>≤≥≠=\u2713-\u2718✅❌]|!(?=[\w(])"
)
DENIAL = re.compile(r"!|not?|never|cannot|without|un|\w+n['’]t")
"""Matches a word that denies."""

_AUXILIARY = "do", "does", "did"
_FEWEST_WORDS, MOST_WORDS, LONG_CHARS = 3, 200, 800
"""The fewest words of a line that tell it from others, the most that are read of one, and the
characters from which a line is long.
"""


def words_of_line(line: str) -> list[str]:
    """The words of a line in small letters, with names split and numbers in one spelling; a colon
    after a key counts as an equals sign.
    """
    line = without_colours(unescape(line) if "&" in line else line)
    line = FORMATTING_TAG.sub(" ", line) if "<" in line else line
    plain = with_plain_moments(line.casefold()).replace("_", " ").replace(": ", " = ")
    plain = plain.replace(" %", "%")
    if len(plain) > LONG_CHARS:
        words = [match[0] for match in islice(_TOKEN.finditer(plain), MOST_WORDS + 1)]
    else:  # faster
        words = _TOKEN.findall(plain)[: MOST_WORDS + 1]
    return [plain_value(word) if word[0].isdigit() else word for word in words]


def undenied(line: str) -> str:
    """The words of a line without those of a denial.

    >>> undenied("- Trains do not run"), undenied("trains run")
    ('trains run', 'trains run')
    """
    words = (word for word in words_of_line(line) if word[-1].isalnum() and word not in _AUXILIARY)
    return " ".join(word for word in words if not DENIAL.fullmatch(word))


def is_short(words: Sequence[str]) -> bool:
    """True for so few words that a line with most of them may be another one."""
    return sum(word[-1].isalnum() for word in words) < _FEWEST_WORDS
