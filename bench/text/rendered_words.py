"""The words of a text that may be a rendering of data, for `renderings`: keys, values, and the signs
and words between them that state nothing."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from html import escape
from typing import Any, NamedTuple

from ..model import as_text, nested
from .keys import words_of_key
from .layout_words import is_filler_word
from .table_cells import with_separators
from .vocabulary import in_vocabulary

_WORD = re.compile(r"[^\W_]+|_|[^\w\s]")
_SIGNS = frozenset("\"'`,;:|{}[]()<>=*#_/→⇒•·&")
_LOOSE_SIGNS = frozenset("-–—.\\+─━│┃")
"""Signs that may stand between values; those of a number or name only apart from what follows."""

NO_KEYS: Mapping[str, str] = {}
_MOST_KEY_WORDS = 30
_IN_KEYS = frozenset("_-./ ()%#")
_NOTHING = ("null", "none", "nan", "-", "–", "—", "n/a", "~", "empty")
_NUMBER = re.compile(r"-?\d{1,40}(?:\.\d{1,40})?(?:[eE][-+]?\d{1,3})?(?![\w.]*\w)")
_TRUTH = {True: ("true", "yes"), False: ("false", "no")}
_ALIASES = [
    re.compile(
        rf"(?<![\w.])([\w.]+)[\"']?\s?(?:{sign})\s?[\"']?([\w.]+)(?=[\"']?(?:[\s,;)\]}}]|$))"
    )
    for sign in ("=|→|->", ":| is | for ")
]
"""Match a name and its meaning in a legend."""


class Differs(Exception):
    """A text is no rendering of the data."""


class Word(NamedTuple):
    """A word or sign of a text: its place in its line, the line, and True if it begins the line or a
    blank stands before it."""

    text: str
    start: int
    line: int
    is_apart: bool


class RenderedWords:
    """The words of a text. Places are numbers of words.

    `names` are words in small letters, beside the keys, that the text may have as a title.
    """

    def __init__(self, text: str, names: Collection[str] = ()) -> None:
        self._text = text
        self.lines = with_separators(text.replace("\r\n", "\n")).split("\n")
        self.names = names
        self._aliases: list[tuple[list[Word], str]] = []
        self.words = [
            Word(it[0], it.start(), number, it.start() == 0 or line[it.start() - 1].isspace())
            for number, line in enumerate(self.lines)
            for it in _WORD.finditer(line)
        ]

    def text_at(self, at: int) -> str:
        """The word at a place; "" before the first and behind the last."""
        return self.words[at].text if 0 <= at < len(self.words) else ""

    def first_of_line(self, number: int) -> int:
        """The place of the first word in a line, or in the next one that has a word."""
        return bisect_left(self.words, number, key=lambda word: word.line)

    def may_have(self, value: Any) -> bool:
        """False if the text lacks a word of some value. A quick check of texts that show a part."""
        words = {word.text for word in self.words}
        texts = (item for item in nested(value) if isinstance(item, str))
        return "\\u" in self._text or all(
            word in words for text in texts for word in re.findall(r"[^\W_]+", text)
        )

    # ------------------------------------------------------------ keys and values

    def read_legends(self, value: Any) -> None:
        """Take the lines that only give short names for keys of the data out of the words.

        >>> words = RenderedWords("keys: a=size, b=price\\na: 5, b: 7")
        >>> words.read_legends({"size": 5, "price": 7})
        >>> [it.text for it in words.words], words.key_at(0, {"size": "size"})
        (['a', ':', '5', ',', 'b', ':', '7'], ('size', 1))
        """
        every = [*nested(value)]
        keys = {letters(key) for item in every if isinstance(item, dict) for key in item}
        scalars = (item for item in every if not isinstance(item, dict | list))
        known = keys.union(letters(as_text(item)) for item in scalars)
        aliases: list[tuple[str, str]] = []
        legends: set[int] = set()
        for number, line in enumerate(self.lines):
            pattern = next((it for it in _ALIASES if it.search(line)), None)
            pairs = [_alias(pair, keys) for pair in pattern.findall(line)] if pattern else []
            if not pattern or any(key not in keys or letters(name) in known for name, key in pairs):
                continue
            beside = RenderedWords(pattern.sub(" ", line), self.names)
            if all(map(beside.is_filler, range(len(beside.words)))):
                aliases += pairs
                legends.add(number)
        others = [word for word in self.words if word.line not in legends]
        used = {word.text for word in others}
        are_used = all(words_of(name)[0].text in used for name, _ in aliases)
        if are_used and len(dict(aliases)) == len(aliases) == len({key for _, key in aliases}):
            self._aliases = [(words_of(name), key) for name, key in aliases]
            self.words = others

    def key_at(self, at: int, keys: Mapping[str, str]) -> tuple[str, int] | None:
        """The longest of some keys, given by their letters, that stands at a place, or its short name,
        and the place behind it; None without one."""
        found, longest = "", None
        for end in range(at, min(at + _MOST_KEY_WORDS, len(self.words))):
            text = self.words[end].text
            if text.isalnum() or (not found and text in "#%"):
                found += text.casefold()
                if found in keys:
                    longest = keys[found], end + 1
            elif not found or text not in _IN_KEYS:
                break
        if longest is None and self._aliases:
            for alias, key in self._aliases:
                if key in keys and self._has(at, alias):
                    return keys[key], at + len(alias)
        return longest

    def scalar_end(self, at: int, value: Any) -> int | None:
        """The place behind a scalar in any of its spellings; None if it does not stand at a place. A
        text of several lines stands there as it is, since their indentation may matter."""
        lines = isinstance(value, str) and "\n" in value
        if lines and not any(it in self._text for it in _ways_to_write(value, is_bool=False)):
            return None
        if isinstance(value, int | float) and not isinstance(value, bool):
            return self._number_end(at, value)
        spellings = _spellings(as_text(value), isinstance(value, bool))
        ends = [at + len(form) for form in spellings if self._has(at, form)]
        return max(ends, default=None)

    def _number_end(self, at: int, value: float) -> int | None:
        """The place behind a number, perhaps in another spelling, such as 7.0; None without it."""
        if at >= len(self.words):
            return None
        word = self.words[at]
        number = _NUMBER.match(self.lines[word.line], word.start)
        if number is None or Decimal(number[0]) != Decimal(str(value)):
            return None
        end = at
        while end < len(self.words) and self.words[end].line == word.line:
            if self.words[end].start >= number.end():
                break
            end += 1
        return end

    def _has(self, at: int, form: Sequence[Word]) -> bool:
        """True if the words at a place are some words, and no letter or digit follows them."""
        there, behind = (
            self.words[at : at + len(form)],
            self.words[at + len(form) : at + len(form) + 1],
        )
        if len(there) < len(form) or any(it.text.isalnum() and not it.is_apart for it in behind):
            return False
        return there[0].text == form[0].text and all(
            (one.text, one.is_apart) == (other.text, other.is_apart)
            for one, other in zip(there[1:], form[1:], strict=True)
        )

    # ------------------------------------------------------------ what states nothing

    def filler_end(self, at: int, path: Mapping[str, str] = NO_KEYS) -> int:
        """The place behind a sign, a word that states nothing, a tag that closes an element, or one of
        the keys that lead to this place. Raises `Differs` for any other word."""
        if self.is_filler(at):
            is_closing = self.text_at(at) == "<" and self.text_at(at + 1) == "/"
            return at + 1 if not is_closing else self._tag_end(at)
        if (found := self.key_at(at, path)) is None:
            raise Differs
        return found[1]

    def is_filler(self, at: int) -> bool:
        """True for a sign or word that states nothing; in the first line also for one of the names."""
        if at >= len(self.words):
            return False
        text, behind = self.words[at].text, self.words[at + 1 : at + 2]
        if text in _SIGNS:
            return True
        if text in _LOOSE_SIGNS:
            is_loose = not behind or behind[0].is_apart or not behind[0].text.isalnum()
            return is_loose or (text in "-." and behind[0].text.isalpha())
        word = text.casefold()
        is_tag = len(text) == 1 and self.text_at(at - 1) == "<"
        is_name = word in self.names and self.words[at].line == 0
        return text.isalpha() and (is_tag or is_name or is_filler_word(word))

    def _tag_end(self, at: int) -> int:
        """The place behind the name in a tag that closes an element."""
        at += 2
        while at < len(self.words) and self.words[at].text != ">" and not self.words[at].is_apart:
            at += 1
        return at

    def is_numbering(self, at: int) -> bool:
        """True for a word such as `option`, behind which a number stands."""
        word = self.text_at(at).casefold()
        return word != "no" and in_vocabulary(word, "numbered", "units")


def _alias(pair: tuple[str, str], keys: Collection[str]) -> tuple[str, str]:
    """A name and the letters of its key, in whichever order they stand."""
    one, other = pair
    return (one, letters(other)) if letters(other) in keys else (other, letters(one))


@lru_cache(maxsize=16384)
def letters(key: str) -> str:
    """The letters and digits of a key in small letters, by which keys are compared."""
    return "".join(words_of_key(key)) or key


@lru_cache(maxsize=16384)
def words_of(text: str) -> list[Word]:
    """The words of a short text."""
    return RenderedWords(text).words


@lru_cache(maxsize=16384)
def _spellings(text: str, is_bool: bool) -> list[list[Word]]:
    return [words_of(spelling) for spelling in dict.fromkeys(_ways_to_write(text, is_bool))]


def _ways_to_write(text: str, is_bool: bool) -> Iterator[str]:
    """Yield the ways to write a scalar."""
    if is_bool:
        text_of = _TRUTH[text == "true"]
        yield from (form for word in text_of for form in (word, word.title()))
    elif text in ("", "null"):
        yield from (form for word in _NOTHING for form in (word, word.title(), word.upper()))
    else:
        unquoted = escape(text, quote=False)
        yield from (text, unquoted, escape(text), unquoted.replace('"', "&quot;"))
        yield json.dumps(text)[1:-1]
        yield json.dumps(text, ensure_ascii=False)[1:-1]


def is_nothing(value: Any) -> bool:
    """True for no value: None, an empty text, and a container without values."""
    if isinstance(value, dict):
        return all(map(is_nothing, value.values()))
    return all(map(is_nothing, value)) if isinstance(value, list) else value is None or value == ""
