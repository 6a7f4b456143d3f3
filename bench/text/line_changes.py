"""Detection of altered lines: lines of a text result with another number, unit or name, or with a
negation more or less.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from html import unescape

from ..model import grouped
from .dates import with_plain_moments
from .omissions import omission_in
from .quantities import kind_of, same_value

_TOKEN = re.compile(
    r"(?:(?<![\w.)\]])[-+\u2212]?[$€£¥]?)?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+\b|[%‰°]|(?=[A-Za-z]{1,3}\b))"
    r"|(?:(?<![\w.)\]}\"'*-])[-\u2212](?=\d))?[$€£¥]?\w+(?:[-.:/@'’]\w+)*|[<>≤≥≠=]|[✓✔✗✘✅❌]"
)
_NUMBER = re.compile(r"\W?\d[\d.,]*[%‰°]?")
_MARK = re.compile(r"\[[^\[\],\"']{1,80}\]\W*$")
"""Matches words in brackets at the end of a line."""

_FRONT = re.compile(r"^\s*(?:\d+\s*[:|│→\t]\s*|\d+\s{2,}|[-*•>]+\s+)?")
_LABEL = re.compile(r"^\s*\[[^\[\]\n]{1,60}\]\s+(?=\S)")
"""Matches words in brackets at the beginning of a line."""

_DENIALS = frozenset(
    [
        "not",
        "no",
        "never",
        "cannot",
        "without",
        "un",
        "isn't",
        "don't",
        "doesn't",
        "didn't",
        "won't",
        "can't",
    ],
)
_LONG_CHARS = 800
_CLAUSE_END = re.compile(r"(?<=[,;.!?])\s+")
_SAME = 0.6
"""The share of a line's words that an altered line keeps in their places."""

_FEWEST_CHARS, _FEWEST_WORDS, _MOST_TOKENS, _MOST_LINES, _CANDIDATES = 2, 3, 200, 200, 5


class ResultLines:
    """The lines of a text result, to find the ones that another text alters. Linear in the result.

    >>> lines = ResultLines(["wall W1 is 12.5 mm thick and not painted", "check stock PASSED in 3 s"])
    >>> shown = "wall W1 is 12.5 m thick and not painted", "wall W1 is 12.50 mm thick", "check stock FAILED in 3 s"
    >>> [lines.altered(text) for text in shown]
    ['wall W1 is 12.5 mm thick and not painted', '', 'check stock PASSED in 3 s']
    >>> [lines.altered(f"wall W1 is 12.5 mm thick and {words}") for words in ("painted", "painted not", "not pai")]
    ['wall W1 is 12.5 mm thick and not painted', 'wall W1 is 12.5 mm thick and not painted', '']
    >>> genes = ResultLines(["gene SG0077 has p 9.970981e-07 here"])
    >>> [genes.altered(f"gene SG0077 has p {number} here") for number in ("1.0e-06", "3.0e-06")]
    ['', 'gene SG0077 has p 9.970981e-07 here']
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._known = dict.fromkeys(lines)
        self._altered: dict[str, str] = {}

    def __contains__(self, line: str) -> bool:
        return line in self._known

    @cached_property
    def _text(self) -> str:
        return "\n".join(self._known)

    @cached_property
    def _lines(self) -> list[tuple[str, list[str]]]:
        """The lines, long ones in pieces, each with its words."""
        pieces = dict.fromkeys(piece for line in self._known for piece in _pieces(line))
        return [(piece, _words(piece)) for piece in pieces]

    @cached_property
    def _by_word(self) -> dict[str, list[int]]:
        """The numbers of the lines that have a word."""
        return grouped(
            (word, number) for number, (_, words) in enumerate(self._lines) for word in set(words)
        )

    def altered(self, line: str) -> str:
        """The line of the result that a line shows with another word in it; "" without one.

        Words left out at an end, fewer digits and a truncated word there are not an alteration, nor
        is a line of other words, or one after its number or a dash.
        """
        if line not in self._altered:
            plain = unescape(line) if "&" in line else line
            is_known = line in self._known or plain in self._known
            pieces = [] if is_known else _pieces(plain)
            found = (
                was for piece in pieces if (was := self._find(piece)) and not _ends(was, piece)
            )
            self._altered[line] = next(found, "")
        return self._altered[line]

    def _find(self, line: str) -> str:
        """The line of the result of which a line is an alteration; "" if the result has that line,
        or none like it.
        """
        without_label = _LABEL.sub("", line, count=1)
        readings = [
            _words(text)
            for text in dict.fromkeys((line, _FRONT.sub("", line, count=1), without_label))
        ]
        if any(
            len(words) > _MOST_TOKENS or sum(word[-1].isalnum() for word in words) < _FEWEST_WORDS
            for words in readings
        ):
            return ""
        mark = _MARK.search(line)
        if omission_in(line, self._text) or (mark and mark[0] not in self._text):
            return ""
        altered = []
        for words in readings:
            for original, original_words in map(self._lines.__getitem__, self._candidates(words)):
                is_altered = _is_altered(words, original_words)
                if is_altered is False:
                    return ""  # it is that line
                if is_altered:
                    altered.append(original)
        return next(iter(altered), "")

    def _candidates(self, words: Sequence[str]) -> list[int]:
        """The numbers of the lines that share most words with some words: a few, and all that share
        as many as the first. Very frequent words do not count.
        """
        votes: Counter[int] = Counter()
        for word in dict.fromkeys(words):
            numbers = self._by_word.get(word, ())
            if len(numbers) <= _MOST_LINES:
                votes.update(numbers)
        by_votes, most = votes.most_common(), max(votes.values(), default=0)
        first = [number for number, _ in by_votes[:_CANDIDATES]]
        return first + [number for number, count in by_votes[_CANDIDATES:] if count == most]


def _ends(original: str, shown: str) -> bool:
    """True if a line is the end of another one that was cut within a word.

    >>> [_ends("-rw-r--r-- 1 root", text) for text in ("r--r-- 1 root", "1 root", "r--r-- 1 home")]
    [True, False, False]
    """
    place = original.rfind(shown.strip())
    return place > 0 and not original[place - 1].isspace()


def _pieces(line: str) -> list[str]:
    """A line in pieces to compare; a long line is split at the ends of clauses."""
    pieces = [line] if len(line) <= _LONG_CHARS else _CLAUSE_END.split(line)
    return [piece for piece in pieces if piece.strip()]


def _words(line: str) -> list[str]:
    """The words of a line in small letters, with names split; a colon after a key counts as an
    equals sign.
    """
    plain = with_plain_moments(line.casefold()).replace("_", " ").replace(": ", " = ")
    return _TOKEN.findall(plain)[: _MOST_TOKENS + 1]


def _without_denials(words: Sequence[str]) -> list[str]:
    return [word for word in words if word not in _DENIALS]


def _is_altered(shown: Sequence[str], original: Sequence[str]) -> bool | None:
    """True if words differ from the original's in some places, False if they are the same, None if
    they are another line.

    >>> original = "the stock fell by 40% and not more".split()
    >>> texts = "the stock fell by 41% and not more", "stock fell by 40%", "the stock fell by 40% and more", "it rose"
    >>> [_is_altered(text.split(), original) for text in texts]
    [True, None, True, None]
    """
    if len(original) > _MOST_TOKENS:
        return None
    if len(shown) == len(original) and Counter(shown) == Counter(original):
        return list(shown) != list(original)  # the same words in another order
    if _without_denials(shown) == _without_denials(original):
        return True
    if len(shown) > len(original):  # a label in front, a word behind it, or numbers between
        others = (Counter(shown) - Counter(original)).elements()
        rest = iter(shown)
        has_original = original in _ends_of(shown, len(original)) or (
            all(map(_NUMBER.fullmatch, others)) and all(word in rest for word in original)
        )
        return False if has_original else None
    verdicts = [
        _differs(shown, part, fewest=_SAME * len(original))
        for at, part in enumerate(_ends_of(original, len(shown)))
        if not at or same_value(shown[0], part[0]) or _is_cut(shown[0], part[0])
    ]
    if False in verdicts:
        return False
    return True if True in verdicts else None


def _ends_of(words: Sequence[str], size: int) -> list[Sequence[str]]:
    """The first `size` and the last `size` words."""
    return [words[:size], words[len(words) - size :]]


def _differs(shown: Sequence[str], original: Sequence[str], fewest: float) -> bool | None:
    """True if some of equally many words differ, False if none does, None if fewer than `fewest`
    are the same, or all that differ are of another kind, such as an alias for a path; the words at
    both ends may be truncated.
    """
    differing = [
        at
        for at, (new, old) in enumerate(zip(shown, original, strict=True))
        if not same_value(new, old)
    ]
    ends = 0, len(shown) - 1
    if all(at in ends and _is_cut(shown[at], original[at]) for at in differing):
        return False
    is_like = any(kind_of(shown[at]) == kind_of(original[at]) for at in differing)
    return True if is_like and len(shown) - len(differing) >= fewest else None


def _is_cut(new: str, old: str) -> bool:
    """True if a word is another one truncated. The beginning of a number is another number."""
    is_part = old.startswith(new) or old.endswith(new)
    return is_part and len(new) >= _FEWEST_CHARS and not _NUMBER.fullmatch(old)
