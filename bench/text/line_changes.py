"""Lines of a text result shown with another word in them: another number, unit or name, a denial
less or more.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from functools import cached_property
from html import unescape

from ..model import grouped, memo
from .dates import with_plain_dates
from .quantities import same_value

_TOKEN = re.compile(
    r"(?:(?<![\w.)\]])[-+\u2212])?\d[\d,]*(?:\.\d+)?(?=%|[A-Za-z]{1,3}\b)"
    r"|(?:(?<![\w.)\]}\"'*-])[-\u2212](?=\d))?\w+(?:[-.,:/@'’]\w+)*|[%°$€£¥<>≤≥≠=]|[✓✔✗✘✅❌]"
)
_NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
_DECIMAL = re.compile(r"[-+]?\d+\.\d*0")
_FRONT = re.compile(r"^\s*(?:\d+\s*[:|│→\t]\s*|\d+\s{2,}|[-*•>]+\s+)?")
_DENIALS = frozenset(
    {
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
    }
)
_PAIR = re.compile(
    r"(?:\s*\d+[\t:|→]\s*)?\s*[\"']?([A-Za-z_][\w.-]{2,40})[\"']?\s*[:=]\s*[\"']?(\S*\w\S*?)[\"']?[,;]?\s*"
)
_UNITS = frozenset("%‰°$€£¥")
_CONDITIONS = frozenset(
    {"if", "unless", "when", "only", "except", "until", "without", "before", "after"}
)
_LEFT_OUT = re.compile(
    r"\b(?:omitted|truncated|char\w*|lines?|more|left|removed|cut|elided|bytes|tokens)\b",
    re.IGNORECASE,
)
_LONG_CHARS = 800
_CLAUSE_END = re.compile(r"(?<=[,;.!?])\s+")
_SAME = 0.6
"""The share of words, in order, by which a line is taken for one of the result."""

_FEWEST_CHARS = 3
_FEW_QUESTIONS = 30
"""So many lines are looked for by searching; who asks more often is worth an index."""
_FEWEST_WORDS, _MOST_TOKENS, _MOST_LINES, _CANDIDATES = 3, 200, 200, 5


class ResultLines:
    """The lines of a text result, to find the ones that another text alters. Linear in the result.

    >>> lines = ResultLines(["wall W1 is 12.5 mm thick and not painted", "check stock PASSED in 3 s"])
    >>> shown = "wall W1 is 12.5 m thick and not painted", "wall W1 is 12.50 mm thick", "check stock FAILED in 3 s"
    >>> [lines.altered(text) for text in shown]
    ['wall W1 is 12.5 mm thick and not painted', '', 'check stock PASSED in 3 s']
    >>> lines.altered("wall W1 is 12.5 mm thick and not painted".replace("not painted", "painted not"))
    'wall W1 is 12.5 mm thick and not painted'
    >>> lines.altered("ll W1 is 12.5 mm thick", begun=True), lines.altered("wall W1 is 12.5 mm thi", cut=True)
    ('', '')
    >>> rules = ResultLines(["never delete the users of W1", "the order of W1 has a total of 1259"])
    >>> rules.altered("delete the users of W1"), rules.altered("the order of W1 has a total of 12")
    ('never delete the users of W1', 'the order of W1 has a total of 1259')
    >>> lines.altered("wall W1 is 12.5 mm thick and painted"), lines.altered("the stock is fine")
    ('wall W1 is 12.5 mm thick and not painted', '')
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._known = dict.fromkeys(lines)
        self._altered: dict[tuple[str, bool, bool], str] = {}
        self._asked = 0

    def __contains__(self, line: str) -> bool:
        return line in self._known

    @cached_property
    def _lines(self) -> list[str]:
        return [part for line in self._known for part in _pieces(line) if part.strip()]

    @cached_property
    def _text(self) -> str:
        """The lines in small letters, between line breaks."""
        return "".join(f"\n{line.strip().casefold()}" for line in self._lines) + "\n"

    @cached_property
    def _starts(self) -> list[int]:
        return [match.start() for match in re.finditer("\n", self._text)][:-1]

    @memo
    def _tokens(self, number: int) -> list[str]:
        return _tokens(self._lines[number])

    @cached_property
    def _by_token(self) -> dict[str, list[int]]:
        return grouped(
            (token, number)
            for number in range(len(self._lines))
            for token in set(self._tokens(number))
        )

    def altered(self, line: str, *, cut: bool = False, begun: bool = False) -> str:
        """The line of the result that a line shows with another word in it; "" for none.

        Fewer words, fewer digits and words cut short are no alteration, nor is a line of other
        words, or one behind its number or a dash. `cut`: the text ends here, in the middle of a
        word perhaps; `begun`: it begins here so.
        """
        key = line, cut, begun
        if key not in self._altered:
            ways = dict.fromkeys((line, unescape(line) if "&" in line else line))
            found = [self._in_pieces(way, cut, begun) for way in ways]
            self._altered[key] = "" if "" in found else found[0]
        return self._altered[key]

    def _in_pieces(self, line: str, cut: bool, begun: bool) -> str:
        pieces = _pieces(line)
        last = len(pieces) - 1
        found = (
            self._find(piece, cut and at == last, begun and not at)
            for at, piece in enumerate(pieces)
        )
        return next(filter(None, found), "")

    def _find(self, line: str, cut: bool, begun: bool) -> str:
        if _has_mark(line):
            return ""
        found = ""
        texts = dict.fromkeys((line, _FRONT.sub("", line, count=1)))
        readings = [*map(_tokens, texts)]
        if not begun and (was := self._altered_pair(line, cut)):
            return was
        if any(
            len(tokens) > _MOST_TOKENS or sum(t[0].isalnum() for t in tokens) < _FEWEST_WORDS
            for tokens in readings
        ):
            return ""
        if any(f"\n{text.strip().casefold()}\n" in self._text for text in texts):
            return ""
        for tokens in readings:
            for number in self._candidates(tokens):
                verdict = _alters(tokens, self._tokens(number), cut, begun)
                if verdict is False:
                    return ""
                if verdict and not found:
                    found = self._lines[number]
        return found

    def _altered_pair(self, line: str, cut: bool) -> str:
        """The line with the same key of a short `key: value` line, where none has its value; "" for
        none.
        """
        pair = _PAIR.fullmatch(line)
        known = self._pairs.get(pair[1].casefold(), []) if pair else []
        goes_on = line.count('"') % 2 == 1  # in the next line
        if not pair or not known or len(known) > _MOST_LINES or goes_on:
            return ""
        value = pair[2]
        if any(same_value(value, other) or (cut and other.startswith(value)) for other, _ in known):
            return ""
        return known[0][1]

    @cached_property
    def _pairs(self) -> dict[str, list[tuple[str, str]]]:
        found: dict[str, list[tuple[str, str]]] = {}
        for line in self._lines:
            if pair := _PAIR.fullmatch(line):
                found.setdefault(pair[1].casefold(), []).append((pair[2], line))
        return found

    def _candidates(self, tokens: list[str]) -> Iterator[int]:
        """The numbers of the lines that share most words with others; words of very many lines do
        not count.
        """
        self._asked += 1
        find = self._by_token.get if self._asked > _FEW_QUESTIONS else self._search
        votes: Counter[int] = Counter()
        for token in dict.fromkeys(tokens):
            numbers = find(token) or ()
            if len(numbers) <= _MOST_LINES:
                votes.update(numbers)
        return (number for number, _ in votes.most_common(_CANDIDATES))

    def _search(self, token: str) -> list[int]:
        """The numbers of the lines that have a word: cheaper than an index for a few words."""
        numbers: list[int] = []
        place = self._text.find(token)
        while place >= 0 and len(numbers) <= _MOST_LINES:
            number = bisect_right(self._starts, place) - 1
            numbers.append(number)
            place = (
                self._text.find(token, self._starts[number + 1])
                if number + 1 < len(self._starts)
                else -1
            )
        return (
            [number for number in numbers if token in self._tokens(number)]
            if place < 0
            else numbers
        )


def _has_mark(line: str) -> bool:
    """True if a line has an ellipsis, or says in brackets that something is left out."""
    if "…" in line or "..." in line:
        return True
    bracketed = (part.partition("[")[2] for part in line.split("]")[:-1])
    return any(map(_LEFT_OUT.search, bracketed))


def _pieces(line: str) -> list[str]:
    """A line in pieces that are compared; a long one is parted where a clause ends."""
    return [line] if len(line) <= _LONG_CHARS else _CLAUSE_END.split(line)


def _tokens(line: str) -> list[str]:
    """The words of a line in small letters; a number without the zeros at its end."""
    words = _TOKEN.findall(with_plain_dates(line.casefold()))[: _MOST_TOKENS + 1]
    return [_without_zeros(word) if word[-1] == "0" else word for word in words]


def _without_zeros(word: str) -> str:
    return word.rstrip("0").rstrip(".") if _DECIMAL.fullmatch(word) else word


def _alters(shown: list[str], original: list[str], cut: bool, begun: bool) -> bool | None:
    """True if one line is the other with another word in it, False if with none, None if they are
    different lines.
    """
    if len(original) > _MOST_TOKENS:
        return None
    blocks = SequenceMatcher(None, original, shown, autojunk=False).get_opcodes()
    same = sum(end - start for kind, start, end, _, _ in blocks if kind == "equal")
    other = [block for block in blocks if block[0] != "equal"]
    if same < _SAME * max(len(shown), 1):
        return None
    if sorted(shown) == sorted(original):
        return bool(other)  # the same words in another order
    replaced = denied = False
    for kind, start, end, begin, stop in other:
        old, new = original[start:end], shown[begin:stop]
        if kind == "replace":
            if len(old) != len(new) and stop != len(shown):
                return None
            at_end = stop == len(shown) or begin == 0
            at_cut = (cut and stop == len(shown)) or (begun and begin == 0)
            fewest = 0 if at_cut else _FEWEST_CHARS if at_end else None
            replaced = replaced or not all(
                _same(*pair, fewest) for pair in zip(old, new, strict=False)
            )
        elif (
            kind == "delete"
            and not (cut and begin == len(shown))
            and (_UNITS.issuperset(old) or _is_condition(old))
        ):
            replaced = True
        elif _DENIALS.intersection(old if kind == "delete" else new) and len(original) - len(
            shown
        ) in (-1, 1):
            denied = True
        elif kind == "insert" and stop != len(shown) and begin != 0:
            return None
    if replaced and same < _SAME * len(original):
        return None
    return replaced or denied


def _is_condition(words: list[str]) -> bool:
    """True if some words that were left out are a condition."""
    return len(words) > 1 and words[0] in _CONDITIONS


def _same(old: str, new: str, fewest: int | None) -> bool:
    """True if a word is the original, or what a cut left of it: so many characters at least (None:
    no cut).
    """
    if same_value(new, old):
        return True
    if fewest and _NUMBER.fullmatch(old):
        return False  # the beginning of a number is another one
    return fewest is not None and len(new) >= fewest and (old.startswith(new) or old.endswith(new))
