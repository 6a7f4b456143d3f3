"""A walk over a text that writes a structured value in an unknown layout.

The text is read from left to right: words of keys, then the value under these keys, and so on,
until every scalar of the value was written once. Between two values there may only be the keys that
lead to the next one (or close the one before), numbers of rows, separators, words for parts of a
layout, and perhaps whole lines without a value, which are collected.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence

from .exit_codes import exit_codes
from .layouts import Layouts
from .separators import LINKS, behind_separator, is_part
from .value_tree import Node, Words, words_of_key
from .written_values import end_of

_WORD = re.compile(r"\w+")
_CLOSING_TAG = re.compile(r"</([\w.:-]{1,80})>")
_SHORT_TAG = re.compile(r"<([a-z])(?=[\s/>])", re.IGNORECASE)
"""Matches the beginning of a tag too short to say anything, unless it is a key."""

_GOES_ON = re.compile(r",\d")
"""Matches the rest of a number."""

_MOST_TRIED, _MOST_WORDS, _MOST_BETWEEN, _MOST_OWN_LINES = 24, 8, 60, 12


class Walk:
    """One walk over a folded text. With `backwards` the last records come first. Lines begin at
    `starts`; lines without a value may be between others. A value can have only one walk at a time,
    which ticks off its scalars.
    """

    def __init__(
        self,
        text: str,
        value: Layouts,
        at: int = 0,
        *,
        starts: Sequence[int] = (),
        backwards: bool = False,
    ) -> None:
        self._text, self._value = text, value
        self._starts = starts
        self.own_lines: list[str] = []
        """The lines between values that are none of the value."""

        for node in value.nodes:
            node.reset()
        self._root = value.root
        order = 1 if backwards else -1  # the last one is due first
        self._by_name = {name: nodes[::order] for name, nodes in value.by_name.items()}
        self._backwards = backwards
        self._before: Node | None = None  # the scalar that was written last
        self._words: list[str] = []  # since then
        self._names: list[Words] | None = None  # that they may end with
        self._at = self._begin = at  # here, and behind the scalar that was written last
        self._own_until = at  # the end of the last line of its own

    def end(self) -> int | None:
        """The place after the value and its closing signs; None if something else is in between."""
        if self.end_of_value() is None:
            return None
        if _GOES_ON.match(self._text, self._at):
            return None
        end = self._at
        while self._goes_on():  # what need not come
            end = self._at
        self._at = end
        while self._word(closing=True) or (
            self._text[self._at : self._at + 1] not in "[({" and self._separator()
        ):
            pass
        return self._at

    def end_of_value(self) -> int | None:
        """The place after the last scalar; None if something else is before it."""
        while self._root.left:
            if not self._goes_on():
                return None
        return self._at

    def _goes_on(self) -> bool:
        """Move past the next value, and the words before it; False if something else is
        there.
        """
        while True:
            if self._scalar():
                return True
            if not (self._word() or self._separator() or self._own_line()):
                return False

    def _own_line(self) -> bool:
        """Move past a line that does not belong to the value; False for a line with a value in it."""
        number = bisect_right(self._starts, self._at) - 1
        is_inside = number >= 0 and self._at < len(self._text) and self._root.left > 0
        if not is_inside or len(self.own_lines) == _MOST_OWN_LINES:
            return False
        start, end = self._starts[number], next(iter(self._starts[number + 1 :]), len(self._text))
        if self._begin > start:
            return False
        self._at, self._words = self._begin, []
        while self._at < start and (self._word() or self._separator()):
            pass
        line = self._text[start:end].rstrip()
        for node in self._value.exit_codes:
            if node.left and node.value in exit_codes(line):
                node.tick_off()
        self.own_lines.append(line)
        self._at = self._own_until = end
        self._names = None
        return True

    def _scalar(self) -> bool:
        """Move past a value that is due here."""
        for node in self._named():
            end = end_of(self._text, self._at, node.value)
            if end is None or not self._may_be_empty(node):
                continue
            if self._may_follow(node, self._words):
                for record in self._unnamed(node, self._words):
                    record.await_key()
                node.tick_off()
                self._at = end
                self._begin_behind(node)
                return True
        return False

    def _may_be_empty(self, node: Node) -> bool:
        """False for an empty value whose key was not named, or with a number behind its key, since
        it may be written as nothing."""
        if node.place >= 0 or node.value not in (None, "", [], {}):
            return True
        has_number = self._words[-1:] != [*node.name[-1:]] and "".join(self._words[-1:]).isdigit()
        return _names(self._words, node.name) and not has_number

    def _begin_behind(self, node: Node) -> None:
        """Clear the words that led to the scalar that was written last."""
        self._before, self._words, self._names, self._begin = node, [], None, self._at

    def _named(self) -> Iterator[Node]:
        """Yield the scalars whose key was named last, first those that are due first."""
        names = self._names
        if names is None:
            names = self._names = self._named_last()
        for name in names:
            waiting = self._by_name.get(name, [])
            while waiting and not waiting[-1].left:
                waiting.pop()
            yield from (node for node in waiting[: -_MOST_TRIED - 1 : -1] if node.left)
        for node, beginnings in self._value.prose:
            if node.left and self._text.startswith(beginnings, self._at):
                yield node  # a long text says itself which one it is

    def _named_last(self) -> list[Words]:
        """The keys that the last words may name, ignoring numbers and layout words after them."""
        names: dict[Words, None] = {}
        words = self._words
        behind = [word for word in words[:1] if word in LINKS]
        starts = _ends_of(words[len(behind) :][:_MOST_WORDS], of_start=True)
        for size in range(len(words), -1, -1):
            ends = (*_ends_of(words[:size]), *starts)
            names.update(dict.fromkeys(name for name in ends if name in self._by_name))
            last = words[size - 1] if size else ""
            if last and not (last.isdigit() or last in LINKS or is_part(last)):
                return list(names)
        before = self._before
        if before is None:
            return [*names, ()]
        return [*names, before.name] if before.place >= 0 else list(names)

    def _may_follow(self, node: Node, words: Sequence[str]) -> bool:
        """True if a part of the value may come now, after some words.

        The parts left are complete, the parts entered are new, their keys are among the words, and
        there are no other words.
        """
        before = self._before.path if self._before else (self._root,)
        path = node.path
        shared = next(
            (at for at, (a, b) in enumerate(zip(before, path, strict=False)) if a is not b),
            len(before),
        )
        entered = path[shared:]
        if any(other.left for other in before[shared:]) or any(
            new.left < new.size for new in entered
        ):
            return False
        if any(new.follows_unwritten() for new in entered):
            return False
        if not all(record.own_key for record in self._unnamed(node, words)):
            return False
        known = {word for other in (*before, *path) for word in other.key}
        known |= self._value.of_headings
        numbers = {str(it) for other in (*before, *path) for it in (*other.numbers, *other.lengths)}
        return all(_is_known(word, known) or word in numbers or word in LINKS for word in words)

    def _unnamed(self, node: Node, words: Sequence[str]) -> list[Node]:
        """The parts that begin with a part of the value and whose keys are not among the words."""
        before = self._before.path if self._before else (self._root,)
        entered = [new for new in node.path if new not in before]
        named = entered if node.children else entered[: -2 if node.is_key else -1]
        return [new for new in named if not _names(words, new.key)]

    def _word(self, *, closing: bool = False) -> bool:
        """Move past a word that may be between values; it is checked with the value that
        follows."""
        match = _WORD.match(self._text, self._at)
        if match is None or len(self._words) > _MOST_BETWEEN:
            return False
        words = words_of_key(match[0])
        known = (
            {word for node in self._before.path for word in node.key}
            if closing and self._before
            else self._value.keys
        )
        if not all(
            _is_known(word, known) or (not closing and (word.isdigit() or word in LINKS))
            for word in words
        ):
            return False
        self._words += words
        self._names = None
        self._at = match.end()
        return True

    def _separator(self) -> bool:
        """Move past a separator or a closing tag."""
        keys = self._value.keys
        tag = _CLOSING_TAG.match(self._text, self._at)
        short = _SHORT_TAG.match(self._text, self._at)
        if tag and all(len(it) == 1 or _is_known(it, keys) for it in words_of_key(tag[1])):
            end: int | None = tag.end()
        elif short and short[1].casefold() not in keys:
            end = short.end()
        else:
            end = behind_separator(self._text, self._at)
        self._at = end or self._at
        return end is not None


def _ends_of(words: Sequence[str], *, of_start: bool = False) -> Iterator[Words]:
    """Yield the last words, most words first; with `of_start` the first words."""
    counts = range(min(_MOST_WORDS, len(words)), 0, -1)
    return (tuple(words[:count] if of_start else words[-count:]) for count in counts)


def _names(words: Sequence[str], key: Words) -> bool:
    """True if some words have all words of a key, perhaps in the singular."""
    return all(word in words or word.removesuffix("s") in words for word in key)


def _is_known(word: str, keys: Collection[str]) -> bool:
    """True for a word of some keys, or of a layout."""
    return word in keys or f"{word}s" in keys or is_part(word)
