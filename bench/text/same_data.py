"""A proof that a text writes a structured value in another layout, with nothing changed, left out
or added.

No layout is known here. The text is walked from left to right: words of keys, then the value that
stands under these keys, and so on, until every scalar of the value was written once. Between two
values there is nothing but the keys that lead to the next one (or close the one before), numbers of
rows, signs that separate, and words by which layouts call their parts. What is proved can be read
as the value itself; what is not proved may be lossless all the same.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from ..model import nested
from .value_tree import Node, Words, in_order, nodes_of, rows_of, tables_of, words_of_key

_PARTS = frozenset(
    re.findall(
        r"\w+",
        "array column data dict element entry field insert into item json key list main map name object record result "
        "root row string struct table value dd dl dt li ol p span tbody td th thead tr ul",
    )
)
"""The words by which layouts call their own parts."""

_OF_TABLES = frozenset({"table", "tbody", "td", "th", "thead", "tr"})

_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_EMPTY = re.compile(r"[\"'`*]*[:=>|\s]*(?:\"\"|''|\[\]|\{\})?")
_NONE = re.compile(r"null\b|none\b|nil\b", re.IGNORECASE)
_TRUE = re.compile(r"true\b|yes\b", re.IGNORECASE)
_FALSE = re.compile(r"false\b|no\b", re.IGNORECASE)
_SEPARATORS = frozenset("{}[]()\"'`,:;=|/\\–—*#•_ \t&→-+.<>")
_LEADER = re.compile(r"\.{4,}|[\u2500-\u257f]+")
"""Dots or lines that lead from a key to its value."""

_ADDED = re.compile(r"^[^\w\n]*[\w .-]{1,40}[\"'`*]*\s*[:=]\s*\S", re.MULTILINE)
"""The beginning of a line that gives a key and its value."""

_MOST_TRIED, _MOST_WORDS, _MOST_STARTS, _MOST_BETWEEN = 24, 8, 3, 60


class Proof(NamedTuple):
    """The words of a text before and after the value that it writes."""

    before: str
    after: str


class Scalars:
    """The scalars of a value, which most texts that do not write it lack in part."""

    def __init__(self, value: Any) -> None:
        self._value = value if isinstance(value, dict | list) else None
        self._leaves = [
            item
            for item in nested(self._value)
            if not (item and isinstance(item, dict | list | tuple))
        ]
        middle = len(self._leaves) // 2  # what stands there is what a cut leaves out
        from_middle = self._leaves[middle:] + self._leaves[:middle]
        self._texts = [*dict.fromkeys(item for item in from_middle if isinstance(item, str))]

    @cached_property
    def least(self) -> int:
        """The fewest characters that write them."""
        return sum(
            len(item) if isinstance(item, str) else isinstance(item, int | float)
            for item in self._leaves
        )

    def proof(self, text: str) -> Proof | None:
        """The words around a value that a text writes in some layout; None where that cannot be
        proved.

        Records may stand in reversed order and keys in any; an empty value has no proof. Linear in
        the text, but for values with many equal records.

        >>> value = {"id": 7, "tags": ["a", "b"], "seat": {"row": 3, "price": -4.5}}
        >>> Scalars(value).proof("id=7 tags[0]=a tags[1]=b seat.price=-4.50 seat.row=3")
        Proof(before='', after='')
        >>> Scalars(value).proof('Order:\\n<id>7</id><seat row="3" price="-4.5"/><tags><t>a</t></tags>')
        >>> rows = [{"id": 1, "ok": True}, {"id": 2, "ok": False}]
        >>> [Scalars(rows).proof(text) for text in ("All rows:\\nid|ok\\n1|true\\n2|false", "(id 2) (ok no); (id 1) (ok yes) of 3")]
        [Proof(before='All rows:', after=''), Proof(before='', after='of 3')]
        >>> altered = "ok|id\\n1|true\\n2|false", "id 1 ok true; id 2", "id 1 not ok true id 2 ok false", "id 1 ok no id 2 ok yes"
        >>> [Scalars(rows).proof(text) for text in altered]
        [None, None, None, None]
        """
        if not self._value or self.least > len(text):
            return None
        folded = " ".join(text.split())
        if not all(any(form in folded for form in _forms(item)) for item in self._texts):
            return None
        lines = text.split("\n")
        for at in range(min(_MOST_STARTS, len(lines))):
            rest = " ".join("\n".join(lines[at:]).split())
            for backwards in (False, True)[: 1 + (len(self._leaves) > _MOST_TRIED)]:
                walk = _Walk(rest, self._value, backwards=backwards)
                end = walk.end()
                if end is not None:
                    proof = Proof("\n".join(lines[:at]), rest[end:].strip())
                    return None if _adds_data(proof) else proof
            if walk.has_begun:
                return None
        return None


def _adds_data(proof: Proof) -> bool:
    """True if the words around a value are more data: a key with its value, or the end of what
    holds it.
    """
    after = proof.after
    closes = any(after.count(end) > after.count(start) for start, end in ("{}", "[]", "()"))
    return closes or bool(_ADDED.search(proof.before) or _ADDED.match(after))


class _Walk:
    """One walk over a text, whose blanks are single; `backwards`: the last records come first."""

    def __init__(self, text: str, value: Any, *, backwards: bool) -> None:
        self._text = text
        self._root = Node(value)
        leaves = list(self._root.leaves())
        self._by_name: dict[Words, list[Node]] = {}
        for node in reversed(leaves) if not backwards else leaves:
            for name in {node.name, _singular(node.name)}:
                self._by_name.setdefault(name, []).append(node)
        self._backwards = backwards
        self._keys = {word for node in nodes_of(self._root) for word in node.key}
        self._tables = tables_of(self._root)
        self._most_words = max(map(len, self._tables), default=0) + _MOST_BETWEEN
        self._uprights: dict[Words, list[tuple[list[Words], Node]]] = {}
        for table in (
            table
            for tables in self._tables.values()
            for table in tables
            if len(rows_of(table[1])) > 1
        ):
            for column in table[0]:
                self._uprights.setdefault(column, []).append(table)
        self._header_sizes = sorted({len(words) for words in self._tables}, reverse=True)
        self._before: Node | None = None  # the scalar that was written last
        self._words: list[str] = []  # since then
        self._names: list[Words] | None = None  # that they may end with
        self._has_new_word = False
        self._at = 0

    @property
    def has_begun(self) -> bool:
        """True if a part of the value was recognised."""
        return self._root.left < self._root.size

    def end(self) -> int | None:
        """The place behind the value; None where something else stands in it."""
        while self._root.left:
            if not self._goes_on():
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

    def _goes_on(self) -> bool:
        """Go behind the next value or table, and the words before it; False if something else
        stands there.
        """
        while True:
            if self._has_new_word and (self._table() or self._upright()):
                return True
            self._has_new_word = False
            if self._value():
                return True
            if not (self._word() or self._separator()):
                return False

    def _value(self) -> bool:
        """Go behind a value that is due here."""
        for node in self._due():
            end = _end_of(self._text, self._at, node.value)
            if end is not None:
                node.tick_off()
                self._at = end
                self._begin_behind(node)
                return True
        return False

    def _begin_behind(self, node: Node) -> None:
        """Forget the words that led to the scalar that was written last."""
        self._before, self._words, self._names = node, [], None

    def _due(self) -> Iterator[Node]:
        """Yield the scalars whose key was named last, those first that go on with the open record."""
        names = self._names
        if names is None:
            names = self._names = self._named_last()
        for name in names:
            waiting = self._by_name.get(name, [])
            while waiting and not waiting[-1].left:
                waiting.pop()
            near = [node for node in waiting[: -_MOST_TRIED - 1 : -1] if node.left]
            yield from (node for node in near if self._may_follow(node, self._words))

    def _named_last(self) -> list[Words]:
        """The names that the last words may be, but for numbers and words of layouts behind them."""
        names: dict[Words, None] = {}
        words = self._words
        for size in range(len(words), -1, -1):
            names.update(
                dict.fromkeys(name for name in _ends_of(words[:size]) if name in self._by_name)
            )
            if size and not words[size - 1].isdigit() and not _is_part(words[size - 1]):
                return list(names)
        before = self._before
        return (
            [*names, before.name if before else ()]
            if before is None or before.place >= 0
            else list(names)
        )

    def _may_follow(self, node: Node, words: Sequence[str]) -> bool:
        """True if a part of the value may come now, behind some words.

        What is left is complete, what is entered is new, its keys are among the words, and these
        say nothing else.
        """
        before = self._before.path if self._before else [self._root]
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
        if entered and entered[0].follows_unwritten():
            return False
        named = entered if node.children else entered[: -2 if node.is_key else -1]
        if not all(
            word in words or word.removesuffix("s") in words for new in named for word in new.key
        ):
            return False
        known = {word for other in (*before, *path) for word in other.key}
        numbers = {str(number) for other in (*before, *path) for number in other.numbers}
        return all(_is_known(word, known) or word in numbers for word in words)

    def _table(self) -> bool:
        """Go behind a table whose columns were named last: a value for each column, row by row."""
        for words in (self._words, [word for word in self._words if word not in _OF_TABLES]):
            for size in self._header_sizes if words else ():
                for table in (
                    self._tables.get(tuple(sorted(words[-size:])), ()) if size <= len(words) else ()
                ):
                    columns = in_order(table[0], words[-size:])
                    if (
                        columns
                        and self._may_follow(table[1], words[:-size])
                        and self._rows(table[1], columns)
                    ):
                        return True
        return False

    def _upright(self) -> bool:
        """Go behind a table that has a line for each column: its name, then the value of each row."""
        for name in _ends_of(self._words):
            for columns, node in self._uprights.get(name, ()):
                if self._may_follow(node, self._words[: -len(name)]) and self._lines(
                    columns, node, name
                ):
                    return True
        return False

    def _lines(self, columns: list[Words], node: Node, name: Words) -> bool:
        """Go behind the lines of an upright table, the first of which was named."""
        rows = [list(row.leaves()) for row in rows_of(node)]
        start, words, left = self._at, self._words, list(range(len(columns)))
        while left:
            column = next((number for number in left if columns[number] == name), None)
            if column is None or not all(self._go_behind(row[column].value) for row in rows):
                self._at, self._words = start, words
                return False
            left.remove(column)
            name = self._next_name([columns[number] for number in left])
        for leaf in node.leaves():
            leaf.tick_off()
        self._begin_behind(rows[-1][-1])
        return True

    def _next_name(self, names: list[Words]) -> Words:
        """Go behind the words of one of some names; they are `()` where others stand here."""
        self._words = []
        while names and tuple(self._words) not in names:
            if not (self._separator() or self._word()):
                return ()
        return tuple(self._words)

    def _rows(self, node: Node, columns: list[int]) -> bool:
        """Go behind the rows of a table; False if one of its values does not stand where it is due."""
        rows = rows_of(node) or [node]
        start = self._at
        for row in reversed(rows) if self._backwards else rows:
            leaves = list(row.leaves())
            for column in columns:
                if not self._go_behind(leaves[column].value, row if column == columns[0] else None):
                    self._at = start
                    return False
        for row in rows:
            for leaf in row.leaves():
                leaf.tick_off()
        self._begin_behind(leaves[columns[-1]])
        return True

    def _go_behind(self, value: Any, row: Node | None = None) -> bool:
        """Go behind the next cell of a table; at the start of a row its number may stand."""
        while True:
            end = _end_of(self._text, self._at, value)
            if end is not None and end > self._at:
                self._at = end
                return True
            word = _WORD.match(self._text, self._at)
            if word and row and word[0] in map(str, row.numbers):
                self._at, row = word.end(), None
            elif word and word[0].casefold() in _OF_TABLES:
                self._at = word.end()
            elif not self._separator():
                return False

    def _word(self, *, closing: bool = False) -> bool:
        """Go behind a word that may stand between values: it is judged with the value that follows."""
        match = _WORD.match(self._text, self._at)
        if match is None or len(self._words) > self._most_words:
            return False
        words = words_of_key(match[0])
        known = (
            {word for node in self._before.path for word in node.key}
            if closing and self._before
            else self._keys
        )
        if not all((word.isdigit() and not closing) or _is_known(word, known) for word in words):
            return False
        self._words += words
        self._names, self._has_new_word = None, True
        self._at = match.end()
        return True

    def _separator(self) -> bool:
        """Go behind a sign that separates and says nothing: no sign of a number, comparison or
        omission.
        """
        text, at = self._text, self._at
        sign = text[at : at + 1]
        following = text[at + 1 : at + 2]
        behind = text[at - 1 : at] if at else ""
        if leader := _LEADER.match(text, at):
            self._at = leader.end()
            return True
        if sign not in _SEPARATORS or not sign:
            return False
        if sign in "-+." and following.isdigit() and not (behind.isalnum() and sign != "+"):
            return False
        if sign == "." and following == ".":
            return False
        if sign == "+" and behind not in "-=+ \n" and following not in "-=+":
            return False
        if sign == "<" and not (following.isalpha() or following in "/_!?"):
            return False
        if sign == ">" and behind not in "-=" and text.rfind("<", 0, at) <= text.rfind(">", 0, at):
            return False
        self._at += 1
        return True


def _singular(name: Words) -> Words:
    """The name of one thing in a list, as XML and classes write it."""
    return (*name[:-1], name[-1].removesuffix("s")) if name else name


def _ends_of(words: Sequence[str]) -> Iterator[Words]:
    """Yield the last words, the most first."""
    return (tuple(words[-count:]) for count in range(min(_MOST_WORDS, len(words)), 0, -1))


def _is_part(word: str) -> bool:
    return word in _PARTS or word.removesuffix("s") in _PARTS


def _is_known(word: str, keys: set[str]) -> bool:
    """True for a word of some keys, or of a layout."""
    return word in keys or f"{word}s" in keys or _is_part(word)


def _end_of(text: str, at: int, value: Any) -> int | None:
    """The place behind a scalar that stands at a place of a text; None where it does not."""
    if value is None or value == [] or value == {} or value == "":
        match = _NONE.match(text, at) if value is None else None
        match = match or _EMPTY.match(text, at)
        return match.end() if match else None
    if isinstance(value, bool):
        match = (_TRUE if value else _FALSE).match(text, at)
        return match.end() if match else None
    if isinstance(value, int | float):
        match = _NUMBER.match(text, at)
        while match and match[0].endswith("."):
            match = _NUMBER.fullmatch(text, at, match.end() - 1)
        is_same = match is not None and Decimal(match[0]) == Decimal(str(value))
        return match.end() if match and is_same and _is_end(text, match.end()) else None
    for form in _forms(value):
        if text.startswith(form, at) and (not form[-1:].isalnum() or _is_end(text, at + len(form))):
            return at + len(form)
    return None


def _is_end(text: str, at: int) -> bool:
    """True if no word, number or unit goes on at a place."""
    after = text[at : at + 2]
    return not (
        after[:1].isalnum()
        or after[:1] in ("_", "%", "°")
        or (after[:1] in ".," and after[1:].isdigit())
    )


@lru_cache(maxsize=65536)
def _forms(value: str) -> tuple[str, ...]:
    """A text as layouts write it, its blanks single: as it is, and with the escapes of JSON, Python
    or XML.
    """
    plain = " ".join(value.split())
    written = (
        json.dumps(value, ensure_ascii=False)[1:-1],
        json.dumps(value)[1:-1],
        repr(value)[1:-1],
    )
    marked = (html.escape(plain), html.escape(plain, quote=False))
    return tuple(dict.fromkeys((plain, *(" ".join(form.split()) for form in written), *marked)))
