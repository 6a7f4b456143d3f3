"""Detection of altered lines: lines of a text result with another number, unit or name, or with a
negation more or less.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from html import unescape

from ..model import grouped
from .instructions import is_rank
from .line_words import (
    DENIAL,
    LONG_CHARS,
    MOST_WORDS,
    is_short,
    pieces_of_line,
    undenied,
    words_of_line,
)
from .omissions import omission_in
from .quantities import kind_of, same_value

_PATH = re.compile(r"^(?:[^\W\d][\w-]*[./])+")
"""Matches the names of sections before a key."""

_NUMBER = re.compile(r"\W?\d[\d.,]*[%‰°]?")
_SIGN = re.compile(r"[^\w\s\x00-\x7f\u2010-\u2027\u2212€£¥‰°≤≥≠\u2713-\u2718✅❌]")
"""Matches a sign outside ASCII that is no punctuation and states nothing itself."""

_TICKS = frozenset("✅❌").union(map(chr, range(0x2713, 0x2719)))
"""The signs for right and wrong."""

_OTHER_SIGN = {"+": "-", "-": "+"}
"""The signs of added and removed lines."""

_COMMENTS = "#", "# ", ";", "; ", "//", "// ", "--", "-- "
_CODE = re.compile(r"[=(){}*;]")

_LAYOUT_SIGN = re.compile(r"[,;:|=(){}\[\]<>\"'`\t]")
_IN_NUMBER = re.compile(r"(?<=\d)[,.:](?=\d)")
_UNSPACED = re.compile(r"(?<=\d),(?=\d)")
_DENIAL_WORDS = 2
"""The most words of a denial: `not yet`."""

_DENIES = re.compile(r"\b(?:cannot|never|not?|un|without)\b|n['’]t\b|!(?=[\w(])", re.IGNORECASE)
_NOTE = re.compile(r"\[[^\[\],\"']{1,80}\]\W*$")
"""Matches words in brackets at the end of a line, which may say that it was cut."""

_SAME = 0.6
"""The share of a line's words that an altered line keeps in their order."""

_FEWEST_CHARS, _MOST_LINES, _CANDIDATES = 2, 200, 5


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
    def _stripped(self) -> frozenset[str]:
        return frozenset(map(str.strip, self._known))

    @cached_property
    def _text(self) -> str:
        return "\n".join(self._known)

    @cached_property
    def _lines(self) -> list[tuple[str, list[str]]]:
        """The lines that are not short, long ones in pieces, each with its words."""
        pieces = dict.fromkeys(piece for line in self._known for piece in pieces_of_line(line))
        with_words = ((piece, words_of_line(piece)) for piece in pieces)
        return [(piece, words) for piece, words in with_words if not is_short(words)]

    @cached_property
    def _by_word(self) -> dict[str, list[int]]:
        """The numbers of the lines that have a word."""
        return grouped(
            (word, number) for number, (_, words) in enumerate(self._lines) for word in set(words)
        )

    def is_coded(self, text: str) -> bool:
        """True if a text has a sign of a notation that no line has.

        >>> [ResultLines(["a → b"]).is_coded(text) for text in ("b → a", "〃 b", "b (a)")]
        [False, True, False]
        """
        return any(sign not in self._text for sign in _SIGN.findall(text))

    def altered(self, line: str) -> str:
        """The line of the result that a line shows with another word in it; "" without one.

        It shows the one with which it shares most words in a row, rare ones above all. Words left
        out or added, fewer digits and a truncated word at an end are not an alteration, nor is a
        line of other words.
        """
        if line not in self._altered:
            plain = unescape(line) if "&" in line else line
            without_path = _PATH.sub("", plain.strip())
            is_known = not self._stripped.isdisjoint((line.strip(), plain.strip(), without_path))
            found = (was for piece in pieces_of_line(plain) if (was := self._find(piece)))
            was = self._with_other_sign(plain) or self._denied(plain) or next(found, "")
            self._altered[line] = "" if is_known else was
            if self._altered[line] and _UNSPACED.search(plain):  # no thousands, but cells of a row
                self._altered[line] = self.altered(_UNSPACED.sub(", ", plain))
        return self._altered[line]

    def _with_other_sign(self, line: str) -> str:
        """The line of the result that has the other sign of a change, or that is a comment there
        and no heading; "" without one.

        >>> lines = ResultLines(["+size = 2", "#43 2 * * * sync", "# Sizes"])
        >>> [lines.altered(text) for text in ("-size = 2", "43 2 * * * sync", "Sizes")]
        ['+size = 2', '#43 2 * * * sync', '']
        """
        words = line.strip()
        signed = [_OTHER_SIGN[line[0]] + line[1:]] if line[:1] in _OTHER_SIGN else []
        signed += [f"> {words}"]  # what somebody else wrote
        if _CODE.search(words):
            signed += (f"{sign}{words}" for sign in _COMMENTS)
        return next((other for other in signed if other.strip() in self._stripped), "")

    def _denied(self, line: str) -> str:
        """The line of the result that denies what a line states, or states what it denies; ""
        without one.

        >>> ResultLines(["Trains do not run", "it ran"]).altered("- Trains run")
        'Trains do not run'
        """
        own = undenied(line)
        is_denied = _DENIES.search(line) is not None
        found = (self._statements if is_denied else self._denials).get(own, "") if own else ""
        is_known = found and own in (self._denials if is_denied else self._statements)
        return "" if is_known else found

    @cached_property
    def _denials(self) -> dict[str, str]:
        """The lines with a denial, by their words without it."""
        text = f"{self._text}\n"
        spans = (
            (text.rfind("\n", 0, match.start()) + 1, text.index("\n", match.end()))
            for match in _DENIES.finditer(text)
        )
        lines = (text[start:end] for start, end in dict.fromkeys(spans))
        return {undenied(line): line for line in lines if len(line) <= LONG_CHARS}

    @cached_property
    def _statements(self) -> dict[str, str]:
        """The lines without a denial, by their words."""
        lines = (line for line in self._known if not _DENIES.search(line))
        return {undenied(line): line for line in lines if len(line) <= LONG_CHARS}

    def shortened(self, line: str, heading: str = "", *, is_outer: bool = False) -> str:
        """The line of the result of which a line lacks some words, which its heading lacks too, and
        has no other; "" without one, and for the beginning or end of a line where a text may be cut.

        >>> lines = ResultLines(["34' goal by A. Ito (own goal) for Bern", "all rows of the report"])
        >>> [lines.shortened(text) for text in ("34' goal by A. Ito for Bern", "all rows of it")]
        ["34' goal by A. Ito (own goal) for Bern", '']
        >>> lines.shortened("34' goal by A. Ito for Bern", "Own goals (own goal):")
        ''
        """
        words = words_of_line(line)
        if self.altered(line) or line in self._known or is_short(words):
            return ""
        for text, its_words in map(self._lines.__getitem__, self._candidates(words)):
            rest = iter(its_words)
            is_part = all(word in rest for word in words) and len(words) >= _SAME * len(its_words)
            lost = Counter(its_words) - Counter(words) - Counter(words_of_line(heading))
            is_cut = is_outer and _is_end_of(line.strip(), text.strip())
            if is_part and any(map(str.isalpha, lost)) and not is_cut:
                return text
        return ""

    def _find(self, line: str) -> str:
        """The line of the result of which a line is an alteration; "" if the result has that line,
        or none like it.
        """
        words = words_of_line(line)
        note = _NOTE.search(line)
        is_cut = omission_in(line, self._text) or (note and note[0] not in self._text)
        if is_cut or is_short(words) or len(words) > MOST_WORDS:
            return ""
        best: list[tuple[str, list[str]]] = []
        most = 0.0
        for original in map(self._lines.__getitem__, self._candidates(words)):
            weight = self._weight(_in_order(original[1], words))
            if weight >= most:
                best, most = [*(best if weight == most else ()), original], weight
        is_altered = all(
            _is_altered(words, its_words) and not _is_end_of(line.strip(), text.strip())
            for text, its_words in best
        )
        return best[0][0] if best and is_altered else ""

    def _weight(self, words: Iterable[str]) -> float:
        """The weight of some words: one for a word of a single line, less for frequent ones."""
        return round(sum(1 / len(self._by_word[word]) for word in words), 6)

    def _candidates(self, words: Sequence[str]) -> list[int]:
        """The numbers of the lines that share words of most weight with some words: a few, and all
        that share as much as the first. Very frequent words do not count.
        """
        votes: Counter[int] = Counter()
        for word in dict.fromkeys(words):
            numbers = self._by_word.get(word, ())
            if len(numbers) <= _MOST_LINES:
                votes.update(dict.fromkeys(numbers, _MOST_LINES // max(1, len(numbers))))
        by_votes, most = votes.most_common(), max(votes.values(), default=0)
        first = [number for number, _ in by_votes[:_CANDIDATES]]
        return first + [number for number, count in by_votes[_CANDIDATES:] if count == most]


def is_same_form(shown: str, original: str) -> bool:
    """True if a line has no sign of a layout that another line lacks; else the other one may be
    written in another way, such as cells of a row in a sentence.

    >>> row = "6320  VAT payable   52,567.80"
    >>> [is_same_form(text, row) for text in ("6320 VAT payable 52,568.80", "6320,VAT payable,-52567.80")]
    [True, False]
    """
    signs, known = ({*_LAYOUT_SIGN.findall(_IN_NUMBER.sub("", line))} for line in (shown, original))
    return signs <= known


def _matcher(original: Sequence[str], shown: Sequence[str]) -> SequenceMatcher[str]:
    return SequenceMatcher(None, original, shown, autojunk=False)


def _in_order(original: Sequence[str], shown: Sequence[str]) -> Iterator[str]:
    """Yield the words that two lines share in the same order."""
    for at, _, size in _matcher(original, shown).get_matching_blocks():
        yield from original[at : at + size]


def _is_altered(shown: Sequence[str], original: Sequence[str]) -> bool:
    """True if words differ from the original's in some places, or in their order.

    >>> original = "the stock fell by 40% and not more".split()
    >>> texts = "the stock fell by 41% and not more", "stock fell by 40%", "the stock fell by 40% and more", "it rose"
    >>> [_is_altered(text.split(), original) for text in texts]
    [True, False, True, False]
    """
    if len(shown) == len(original) and Counter(shown) == Counter(original):
        return list(shown) != list(original)
    if _keeps_all(shown, original):
        return False
    changes = [change for change in _matcher(original, shown).get_opcodes() if change[0] != "equal"]
    kept = len(original) - sum(end - begin for _, begin, end, _, _ in changes)
    differs = False
    for _, begin, end, start, stop in changes:
        old, new = original[begin:end], shown[start:stop]
        at_end = stop == len(shown)
        if max(len(old), len(new)) <= _DENIAL_WORDS:
            denied = (any(map(DENIAL.fullmatch, words)) for words in (old, new))
            differs = differs or next(denied) != next(denied)
        if not (old and new):
            continue
        if len(new) > len(old) or all(map(is_rank, new)):
            continue  # other words, or rows in another order
        if start == 0:  # the words before may be left out
            old = old[len(old) - len(new) :]
        pairs = [*zip(new, old, strict=False)]
        pairs = [(one, other) for one, other in pairs if not _is_same(one, other)]
        kept += len(new) - len(pairs)
        is_cut = len(pairs) == 1 and (at_end or start == 0) and _is_cut(*pairs[0])
        is_like = any(
            kind_of(one) == kind_of(other) or {one, other} <= _TICKS for one, other in pairs
        )
        differs = differs or (is_like and not is_cut)
    return differs and kept >= _SAME * len(original)


def _is_same(one: str, other: str) -> bool:
    """True if two words or signs are the same; signs such as `<` and `<=` are not."""
    return one == other or (one[-1].isalnum() and same_value(one, other))


def _keeps_all(shown: Sequence[str], original: Sequence[str]) -> bool:
    """True if all words of a line are shown in their order, with others between that deny nothing."""
    rest = iter(shown)
    is_kept = all(word in rest for word in original)
    added = Counter(shown) - Counter(original)
    return is_kept and not any(map(DENIAL.fullmatch, added))


def _is_end_of(line: str, original: str) -> bool:
    """True if a line is the beginning or the end of another one, without half a number.

    >>> [_is_end_of(line, "def rows_of(self, 120)") for line in ("def rows_of(s", "self, 120)", "def rows_of(self, 12")]
    [True, True, False]
    """
    return original.endswith(line) or (original.startswith(line) and not line[-1:].isdigit())


def _is_cut(new: str, old: str) -> bool:
    """True if a word is another one truncated. The beginning of a number is another number."""
    is_part = old.startswith(new) or old.endswith(new)
    return is_part and len(new) >= _FEWEST_CHARS and not _NUMBER.fullmatch(old)
