"""A proof that a text writes a structured value in another layout, with nothing changed, left out or added.

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
from functools import lru_cache
from typing import Any, NamedTuple

from ..model import nested
from .text_records import plain_key

_PARTS = frozenset(
    re.findall(
        r"\w+",
        "column data dict element entry field item json key list main map name object record result root row string "
        "struct table value dd dl dt li ol p span tbody td th thead tr ul",
    )
)
"""The words by which layouts call their own parts."""

_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_EMPTY = re.compile(r"[\"'`*]*[:=>|\s]*(?:\"\"|''|\[\]|\{\})?")
_NONE = re.compile(r"null\b|none\b|nil\b", re.IGNORECASE)
_TRUE, _FALSE = re.compile(r"true\b|yes\b", re.IGNORECASE), re.compile(r"false\b|no\b", re.IGNORECASE)
_SEPARATORS = frozenset("{}[]()\"'`,:;=|/\\–—*#•_ \t&→-+.<>")
_MOST_TRIED, _MOST_WORDS, _MOST_STARTS, _MOST_BETWEEN = 24, 8, 3, 60

Words = tuple[str, ...]


class Proof(NamedTuple):
    """The words of a text before and after the value that it writes."""

    before: str
    after: str


class _Node:
    """A mapping, list or scalar of the value: its place in the one around it, and how much of it is still to come."""

    __slots__ = "children", "key", "left", "parent", "place", "size", "value"

    def __init__(self, value: Any, parent: _Node | None = None, key: Words = (), place: int = -1) -> None:
        self.value, self.parent, self.key, self.place = value, parent, key, place
        items: list[_Node] = []
        if isinstance(value, dict):
            items = [_Node(item, self, words_of_key(str(name))) for name, item in value.items()]
        elif isinstance(value, list | tuple):
            items = [_Node(item, self, (), at) for at, item in enumerate(value)]
        self.children = items
        self.size: int
        self.left: int
        self.size = self.left = sum(child.size for child in items) or 1

    @property
    def path(self) -> list[_Node]:
        """The nodes from the whole value down to this one."""
        return [*(self.parent.path if self.parent else ()), self]

    @property
    def name(self) -> Words:
        """The words of its key; of what stands in a list those of the list."""
        return self.key if self.key or self.parent is None else self.parent.name

    def leaves(self) -> Iterator[_Node]:
        """Yield its scalars in order; an empty mapping or list is one."""
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()

    def written(self) -> None:
        """Count that this scalar was written."""
        for node in self.path:
            node.left -= 1

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers that may stand beside it: its place in a list from 0 or 1, and the length of a list."""
        places = (self.place, self.place + 1) if self.place >= 0 else ()
        return (*places, len(self.children)) if isinstance(self.value, list) else places

    def follows_unwritten(self) -> bool:
        """True for a scalar of a list the one before which is still to come: such texts keep their order."""
        is_next = self.parent is None or self.place < 1 or bool(self.children)
        return not is_next and self.parent is not None and self.parent.children[self.place - 1].left > 0


@lru_cache(maxsize=65536)
def words_of_key(key: str) -> Words:
    """The words of a key in small letters.

    >>> words_of_key("payment_id"), words_of_key("giftCard8"), words_of_key("#")
    (('payment', 'id'), ('gift', 'card', '8'), ())
    """
    return tuple(re.findall(r"[^\W\d_]+|\d+", plain_key(key)))


def proof_of(text: str, value: Any) -> Proof | None:
    """The words around a value that a text writes in some layout; None where that cannot be proved.

    Records may stand in reversed order and keys in any; an empty value has no proof. Linear in the
    text, but for values with many equal records.

    >>> value = {"id": 7, "tags": ["a", "b"], "seat": {"row": 3, "price": -4.5}}
    >>> proof_of("id=7 tags[0]=a tags[1]=b seat.price=-4.50 seat.row=3", value)
    Proof(before='', after='')
    >>> proof_of('Order:\\n<id>7</id><seat row="3" price="-4.5"/><tags><t>a</t></tags>', value)
    >>> rows = [{"id": 1, "ok": True}, {"id": 2, "ok": False}]
    >>> [proof_of(text, rows) for text in ("All rows:\\nid|ok\\n1|true\\n2|false", "(id 2) (ok no); (id 1) (ok yes) of 3")]
    [Proof(before='All rows:', after=''), Proof(before='', after='of 3')]
    >>> altered = "ok|id\\n1|true\\n2|false", "id 1 ok true; id 2", "id 1 not ok true id 2 ok false", "id 1 ok no id 2 ok yes"
    >>> [proof_of(text, rows) for text in altered]
    [None, None, None, None]
    """
    return Scalars(value).proof(text)


class Scalars:
    """The scalars of a value, which most texts that do not write it lack in part."""

    def __init__(self, value: Any) -> None:
        self._value = value if isinstance(value, dict | list) else None
        scalars = [item for item in nested(self._value) if isinstance(item, str | int | float)]
        middle = len(scalars) // 2  # what stands there is what a cut leaves out
        self._texts = [*dict.fromkeys(item for item in scalars[middle:] + scalars[:middle] if isinstance(item, str))]
        self._least = sum(len(item) if isinstance(item, str) else 1 for item in scalars)

    def proof(self, text: str) -> Proof | None:
        """The words of a text around the value that it writes, as `proof_of` gives them."""
        if not self._value or self._least > len(text):
            return None
        folded = " ".join(text.split())
        if not all(any(form in folded for form in _forms(item)) for item in self._texts):
            return None
        lines = text.split("\n")
        for at in range(min(_MOST_STARTS, len(lines))):
            rest = " ".join("\n".join(lines[at:]).split())
            for backwards in (False, True):
                end = _Walk(rest, self._value, backwards=backwards).end()
                if end is not None:
                    return Proof("\n".join(lines[:at]), rest[end:].strip())
        return None


class _Walk:
    """One walk over a text, whose blanks are single; `backwards`: the last records come first."""

    def __init__(self, text: str, value: Any, *, backwards: bool) -> None:
        self._text = text
        self._root = _Node(value)
        leaves = list(self._root.leaves())
        self._by_name: dict[Words, list[_Node]] = {}
        for node in reversed(leaves) if not backwards else leaves:
            for name in {node.name, _singular(node.name)}:
                self._by_name.setdefault(name, []).append(node)
        self._backwards = backwards
        self._keys = {word for node in _nodes(self._root) for word in node.key}
        self._tables = _tables(self._root)
        self._most_words = max(map(len, self._tables), default=0) + _MOST_BETWEEN
        self._header_sizes = sorted({len(words) for words in self._tables}, reverse=True)
        self._before: _Node | None = None  # the scalar that was written last
        self._words: list[str] = []  # since then
        self._at = 0

    def end(self) -> int | None:
        """The place behind the value; None where something else stands in it."""
        while self._root.left:
            if not (self._value() or self._table() or self._word() or self._separator()):
                return None
        while self._word(closing=True) or (self._text[self._at : self._at + 1] not in "[({" and self._separator()):
            pass
        return self._at

    def _value(self) -> bool:
        """Go behind a value that is due here."""
        for node in self._due():
            end = _end_of(self._text, self._at, node.value)
            if end is not None:
                node.written()
                self._before, self._at, self._words = node, end, []
                return True
        return False

    def _due(self) -> Iterator[_Node]:
        """Yield the scalars whose key was named last, those first that go on with the open record."""
        bare = list(self._words)
        names = dict.fromkeys(_ends_of(bare))
        while bare and (bare[-1].isdigit() or _is_part(bare[-1])):
            bare.pop()
            names.update(dict.fromkeys(_ends_of(bare)))
        before = self._before
        if not bare and (before is None or before.place >= 0):
            names[before.name if before else ()] = None
        for name in names:
            waiting = self._by_name.get(name, [])
            while waiting and not waiting[-1].left:
                waiting.pop()
            yield from (
                node for node in waiting[: -_MOST_TRIED - 1 : -1] if node.left and self._may_follow(node, self._words)
            )

    def _may_follow(self, node: _Node, words: Sequence[str]) -> bool:
        """True if a part of the value may come now, behind some words.

        What is left is complete, what is entered is new, its keys are among the words, and these
        say nothing else.
        """
        before = self._before.path if self._before else [self._root]
        path = node.path
        shared = next((at for at, (a, b) in enumerate(zip(before, path, strict=False)) if a is not b), len(before))
        entered = path[shared:]
        if any(other.left for other in before[shared:]) or any(new.left < new.size for new in entered):
            return False
        if entered and entered[0].follows_unwritten():
            return False
        named = entered if node.children else entered[:-1]
        if not all(word in words or word.removesuffix("s") in words for new in named for word in new.key):
            return False
        known = {word for other in (*before, *path) for word in other.key}
        numbers = {str(number) for other in (*before, *path) for number in other.numbers}
        return all(_is_known(word, known) or word in numbers for word in words)

    def _table(self) -> bool:
        """Go behind a table whose columns were named last: a value for each column, row by row."""
        words = self._words
        for size in self._header_sizes if words else ():
            for table in self._tables.get(tuple(sorted(words[-size:])), ()) if size <= len(words) else ():
                columns = _in_order(table[0], words[-size:])
                if columns and self._may_follow(table[1], words[:-size]) and self._rows(table[1], columns):
                    return True
        return False

    def _rows(self, node: _Node, columns: list[int]) -> bool:
        """Go behind the rows of a table; False if one of its values does not stand where it is due."""
        rows = node.children if isinstance(node.value, list) else [node]
        start = self._at
        for row in reversed(rows) if self._backwards else rows:
            leaves = list(row.leaves())
            for column in columns:
                end = self._cell(leaves[column].value, row if column == columns[0] else None)
                if end is None:
                    self._at = start
                    return False
                self._at = end
        for row in rows:
            for leaf in row.leaves():
                leaf.written()
        self._before, self._words = leaves[columns[-1]], []
        return True

    def _cell(self, value: Any, row: _Node | None) -> int | None:
        """The place behind the next value of a row, at the start of which its number may stand."""
        while True:
            end = _end_of(self._text, self._at, value)
            if end is not None and end > self._at:
                return end
            number = _WORD.match(self._text, self._at) if row else None
            if number and number[0] in map(str, row.numbers if row else ()):
                self._at, row = number.end(), None
            elif not self._separator():
                return None

    def _word(self, *, closing: bool = False) -> bool:
        """Go behind a word that may stand between values: it is judged with the value that follows."""
        match = _WORD.match(self._text, self._at)
        if match is None or len(self._words) > self._most_words:
            return False
        words = words_of_key(match[0])
        known = {word for node in self._before.path for word in node.key} if closing and self._before else self._keys
        if not all((word.isdigit() and not closing) or _is_known(word, known) for word in words):
            return False
        self._words += words
        self._at = match.end()
        return True

    def _separator(self) -> bool:
        """Go behind a sign that separates and says nothing: no sign of a number, comparison or omission."""
        text, at = self._text, self._at
        sign, following, behind = text[at : at + 1], text[at + 1 : at + 2], text[at - 1 : at] if at else ""
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


def _nodes(node: _Node) -> Iterator[_Node]:
    yield node
    for child in node.children:
        yield from _nodes(child)


def _tables(root: _Node) -> dict[Words, list[tuple[list[Words], _Node]]]:
    """By the words of their columns, in order of the alphabet, the lists of rows with the same columns, and the whole as a row."""
    tables: dict[Words, list[tuple[list[Words], _Node]]] = {}
    for node in _nodes(root):
        rows = node.children if isinstance(node.value, list) else [node] * (node is root)
        columns = {tuple(_columns(row)) for row in rows if row.children}
        if len(columns) == 1 and all(isinstance(row.value, dict) for row in rows):
            of_rows = list(next(iter(columns)))
            words = tuple(sorted(word for column in of_rows for word in column))
            tables.setdefault(words, []).append((of_rows, node))
    return tables


def _columns(row: _Node) -> Iterator[Words]:
    """Yield the words of the path of each scalar of a row, within the row."""
    depth = len(row.path)
    for leaf in row.leaves():
        inner = leaf.path[depth:]
        yield tuple(word for node in inner for word in (node.key or (str(node.place),)))


def _in_order(columns: list[Words], header: Sequence[str]) -> list[int] | None:
    """The columns as a header names them, by number; None where it does not name each once."""
    order: list[int] = []
    at = 0
    while at < len(header):
        left = [number for number in range(len(columns)) if number not in order]
        named = [number for number in left if columns[number] == tuple(header[at : at + len(columns[number])])]
        if not named:
            return None
        order.append(max(named, key=lambda number: len(columns[number])))
        at += len(columns[order[-1]])
    return order if len(order) == len(columns) else None


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
    return not (after[:1].isalnum() or after[:1] in ("_", "%", "°") or (after[:1] in ".," and after[1:].isdigit()))


@lru_cache(maxsize=65536)
def _forms(value: str) -> tuple[str, ...]:
    """A text as layouts write it, its blanks single: as it is, and with the escapes of JSON, Python or XML."""
    plain = " ".join(value.split())
    written = (json.dumps(value, ensure_ascii=False)[1:-1], json.dumps(value)[1:-1], repr(value)[1:-1])
    marked = (html.escape(plain), html.escape(plain, quote=False))
    return tuple(dict.fromkeys((plain, *(" ".join(form.split()) for form in written), *marked)))
