"""The words of a line in one spelling, with or without its negation, for comparing two lines."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import unescape

from .dates import with_plain_moments
from .decode import without_colours
from .layout_words import FORMATTING_TAG
from .quantities import plain_value

_TOKEN = re.compile(
    r"(?:(?<![\w.)\]])[-+\u2212]?[$€£¥]?)?(?:\d{1,3}(?:,\d{3})++(?![\d,])|\d{1,99}+)(?:\.\d{1,99}+)?(?:[eE][-+]?\d+\b|[%‰°]|(?=[A-Za-z]{1,3}\b))"
    r"|(?:(?<![\w.)\]}\"'*-])[-\u2212](?=\d))?[$€£¥]?\w+(?:[-.:/@'’]\w+)*|[<>=!]=|(?<=\s)(?:&&|\|\|)(?=\s)|[<>≤≥≠=\u2713-\u2718✅❌]|!(?=[\w(])"
)
_DENIAL = re.compile(r"!|not?|never|cannot|without|un|\w+n['’]t")
"""Matches a word that negates a statement."""

_AUXILIARY = "do", "does", "did"
_MOST_CHARS = 800
"""The most characters of a line to read."""


def words_of_line(line: str) -> list[str]:
    """The words of a line in small letters. Numbers and dates have one spelling, names are split at
    underscores, and the colon after a key is an equals sign."""
    line = without_colours(unescape(line) if "&" in line else line)
    line = FORMATTING_TAG.sub(" ", line) if "<" in line else line
    plain = with_plain_moments(line.casefold()).replace("_", " ").replace(": ", " = ")
    plain = plain.replace(" %", "%")
    words: list[str] = _TOKEN.findall(plain[:_MOST_CHARS])
    return [plain_value(it) if it[0].isdigit() and "e+" not in it else it for it in words]


def denies(words: Iterable[str]) -> bool:
    """True if one of the words is a negation."""
    return any(map(_DENIAL.fullmatch, words))


def undenied(words: Iterable[str]) -> list[str]:
    """The words without those of a negation, and without signs.

    >>> undenied(words_of_line("- Trains do not run")), undenied(words_of_line("trains run"))
    (['trains', 'run'], ['trains', 'run'])
    """
    others = (word for word in words if word[-1].isalnum() and word not in _AUXILIARY)
    return [word for word in others if not _DENIAL.fullmatch(word)]
