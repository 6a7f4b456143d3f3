"""All of some data in a text, in whatever layout, with the data at hand.

A rendering has each value once, behind its key or below its column, and no other word that states
anything. So its reader finds the same data, whatever signs and lines stand between the values. The
other readers of this room do not know the data; they also read texts that show a part of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ..model import as_text, nested
from .keys import words_of_key
from .layout_words import is_layout_word
from .line_words import denies
from .rendered_tables import MOST_MOVED, ROW_KEY, RecordTable
from .rendered_words import NO_KEYS, Differs, RenderedWords, is_nothing, letters, words_of
from .vocabulary import in_vocabulary

_ENDINGS = frozenset({"id", "ids", "number", "at"})
"""The last words that a key may lack: `order` for `order_id`."""

_REVERSED = frozenset(["reverse", "reversed", "order", "last", "first"])
_MOST_DEPTH, _MOST_STEPS, _MOST_TITLES = 30, 40, 3
"""The deepest nesting, the most steps for each word of a text, and the most lines above the data."""

_NO_NUMBER, _BEHIND_NUMBER = frozenset(["=", "_", "-", ""]), frozenset([".", ")", ":"])
"""The signs behind a number that is none of a record, and those behind the number of a scalar."""

_MOST_CHARS = 500_000
"""The most characters of a text that is searched: each word takes some memory."""

Path = Mapping[str, str]
"""The keys that lead to a place of the data, by their letters."""


def lines_beside(text: str, value: Any, names: Collection[str] = ()) -> list[str] | None:
    """The lines of a text above and below all of a value in some layout; None if the text does not
    have all of it. `names` are other words that its title may have, in small letters.

    >>> rows = [{"id": "W1", "size": {"m": 5}, "by": None}, {"id": "W2", "size": {"m": 7}, "by": "Al"}]
    >>> table = "Doors:\\nid|size.m|by\\nW2|7|Al\\nW1|5|\\n(both)"
    >>> lines_beside(table, rows), lines_beside("1. id is W1, size (m 5)\\n2. id W2, m 7, by Al", rows)
    (['Doors:', '(both)'], [])
    >>> wrong = "id|size.m|by\\nW2|5|Al\\nW1|7|", "id|size.m\\nW2|7\\nW1|5", "id|by|size.m\\nW2|Al|7\\nW1|5|"
    >>> [lines_beside(text, rows) for text in wrong], lines_beside("[1, 5, 2, 7]", [5, 7])
    ([None, None, None], None)
    """
    if not isinstance(value, dict | list) or is_nothing(value) or len(text) > _MOST_CHARS:
        return None
    words = RenderedWords(text, names)
    words.read_legends(value)
    reader = _Reader(words)
    if not words.may_have(value):
        return None
    for first in range(min(_MOST_TITLES + 1, len(words.lines))):
        with suppress(Differs, RecursionError):
            last = reader.read(value, words.first_of_line(first))
            return [line for line in (*words.lines[:first], *words.lines[last:]) if line.strip()]
    return None


def _needs_no_key(item: Any, kinds: Mapping[type, int]) -> bool:
    """True for an item of a mapping that says what it is without its key: a text with a word, and the
    only list or mapping. Beside another one, or as a bare number, it could be anything."""
    if isinstance(item, dict | list):
        return kinds[type(item)] == 1
    return isinstance(item, str) and any(map(str.isalpha, item))


class _Reader:
    """The search of a text for a value. Its methods take a place in the text and return the place
    behind what they found; they raise `Differs` if it is not there."""

    def __init__(self, words: RenderedWords) -> None:
        self._words = words
        self._steps = _MOST_STEPS * len(words.words) + 1000
        self._places: list[set[int]] = []  # of the items around the place, by list
        self._kept: list[Any] = []  # so that no two values have the same `id`
        self._ends: dict[tuple[int, int], int | None] = {}
        self._tables: dict[int, RecordTable] = {}
        self._beginnings: dict[int, set[str]] = {}

    def read(self, value: Any, at: int = 0) -> int:
        """Find a value from a place on; the number of the line below it."""
        end = at = self._value(value, at, NO_KEYS)
        with suppress(Differs):
            while True:
                at = self._filler(at, NO_KEYS)
        if at == len(self._words.words):
            return len(self._words.lines)
        line = self._words.words[at].line
        if self._words.first_of_line(line) < end:
            raise Differs
        return line

    def _value(self, value: Any, at: int, path: Path) -> int:
        """Find a value; a container perhaps behind the number of its items."""
        if not isinstance(value, dict | list):
            return self._scalar(value, at, path)
        known = self._ends.get((id(value), at), -1)
        if known == -1:
            known = self._ends[id(value), at] = self._container(value, at, path)
        if known is None:
            raise Differs
        return known

    def _container(self, value: Any, at: int, path: Path) -> int | None:
        if len(path) > _MOST_DEPTH:
            return None
        read = self._mapping if isinstance(value, dict) else self._list
        with suppress(Differs):
            return read(value, at, path)
        while self._words.text_at(at) in (*":([",):
            at += 1
        is_framed = self._words.text_at(at - 1) in ("(", "[")
        is_counted = is_framed or is_layout_word(self._words.text_at(at + 1).casefold())
        with suppress(Differs):
            if is_counted and self._words.text_at(at) == str(len(value)):
                return read(value, at + 1, path)
        return None

    def _filler(self, at: int, path: Path) -> int:
        """The place behind a word that states nothing, or the number of an item around the place in
        brackets."""
        self._steps -= 1
        if self._steps < 0:
            raise Differs
        text_at = self._words.text_at
        is_framed = text_at(at - 1) == "[" and text_at(at + 1) == "]"
        is_number = is_framed and text_at(at) in self._numbers()
        return at + 1 if is_number else self._words.filler_end(at, path)

    def _numbers(self) -> set[str]:
        """The numbers that the items around the place may have."""
        return {str(place + more) for places in self._places for place in places for more in (0, 1)}

    def _scalar(self, value: Any, at: int, path: Path) -> int:
        """Find a scalar; one that is nothing may be left out."""
        if is_nothing(value):
            behind = at
            while self._words.text_at(behind) in (*"\"':=|,>",):
                behind += 1
            end = self._words.scalar_end(behind, value)
            return at if end is None else end
        while (end := self._words.scalar_end(at, value)) is None:
            at = self._filler(at, path)
        return end

    # ------------------------------------------------------------ mappings

    def _mapping(self, mapping: Mapping[str, Any], at: int, path: Path) -> int:
        """Find the items of a mapping: each behind its key, in any order, or without keys in that of
        the mapping. Of a mapping of records the keys may be left out if these have them too."""
        records = all(isinstance(item, dict) for item in mapping.values())
        are_ids = records and all(key in item.values() for key, item in mapping.items())
        if records and mapping:
            rows = [item if are_ids else {ROW_KEY: key, **item} for key, item in mapping.items()]
            with suppress(Differs):
                return self._table(mapping, rows, at, path)
        if are_ids:
            with suppress(Differs):
                return self._items(mapping, at, path)
            return self._list_items([*mapping.values()], at, path)
        return self._items(mapping, at, path)

    def _items(self, mapping: Mapping[str, Any], at: int, path: Path) -> int:
        remaining = dict(mapping)
        keys = {letters(str(key)): str(key) for key in mapping}
        short = {
            "".join(words[:-1]): key
            for key in mapping
            if len(words := words_of_key(key)) > 1 and words[-1] in _ENDINGS
        }
        kinds = Counter(map(type, mapping.values()))
        filled = ((key, item) for key, item in mapping.items() if not is_nothing(item))
        bare = [key for key, item in filled if _needs_no_key(item, kinds)]
        while remaining:
            found = self._words.key_at(at, keys)
            if found is None and self._words.key_at(at, path) is None:
                found = self._words.key_at(at, short)
            if found and found[0] in remaining:
                key, behind = found
                at = self._value(remaining.pop(key), behind, {**path, letters(key): key})
            elif self._words.key_at(at, path):
                at = self._filler(at, path)
            elif (found := self._bare_at(at, bare, remaining, path)) is not None:
                key, at = found
                del remaining[key]
                bare = bare[bare.index(key) + 1 :]
            elif self._is_count(at, keys, remaining):
                at += 1
            else:
                try:
                    at = self._filler(at, path)
                except Differs:
                    if not is_nothing(remaining):
                        raise
                    break
        return at

    def _bare_at(
        self, at: int, keys: Sequence[str], mapping: Mapping[str, Any], path: Path
    ) -> tuple[str, int] | None:
        """The first of some items that stands at a place without its key, and the place behind it. No
        word may stand before it that could be taken for its key, and it may not be a negation."""
        words = self._words
        before = at - 1
        while before >= 0 and not words.text_at(before).isalnum():
            before -= 1
        word = words.text_at(before).casefold()
        if at >= len(words.words) or is_layout_word(word) or word in words.names:
            return None
        for key in filter(mapping.__contains__, keys):
            if isinstance(mapping[key], dict | list):
                if not self._may_begin(mapping[key], at):
                    continue
                with suppress(Differs):
                    return key, self._value(mapping[key], at, {**path, letters(key): key})
            elif (end := words.scalar_end(at, mapping[key])) is not None:
                return None if denies([words.text_at(at).casefold()]) else (key, end)
        return None

    def _may_begin(self, value: Any, at: int) -> bool:
        """True if a key or scalar of a container begins with the word at a place, or if this is the number
        of its items. Only a quick check."""
        known = self._beginnings.get(id(value))
        if known is None:
            keys = (str(key) for it in nested(value) if isinstance(it, dict) for key in it)
            scalars = (as_text(it) for it in nested(value) if not isinstance(it, dict | list))
            first = (words_of(text)[:1] for text in (*keys, *scalars))
            known = {word.text.casefold() for it in first for word in it} | {str(len(value))}
            self._beginnings[id(value)] = known
        return self._words.text_at(at).casefold() in known

    def _is_count(self, at: int, keys: Path, mapping: Mapping[str, Any]) -> bool:
        """True for the number of items of a container before its key: `3 rows`."""
        text = self._words.text_at(at)
        found = self._words.key_at(at + 1, keys) if text.isdecimal() else None
        item = mapping.get(found[0]) if found else None
        return isinstance(item, dict | list) and str(len(item)) == text

    # ------------------------------------------------------------ lists

    def _list(self, items: Sequence[Any], at: int, path: Path) -> int:
        """Find the items of a list: records and lists in any order, scalars in that of the list. What
        all records have may be said once before them."""
        common, at = self._common(items, at, path)
        if common:
            items = [{**item, **common} for item in items]
            self._kept.append(items)
            return self._list_items(items, at, path)
        return self._list_items(items, at, path)

    def _list_items(self, items: Sequence[Any], at: int, path: Path) -> int:
        with suppress(Differs):
            return self._table(items, items, at, path)
        remaining = dict(enumerate(items))
        while remaining:
            at = self._item(remaining, len(items), at, path)
        return at

    def _item(self, remaining: dict[int, Any], size: int, at: int, path: Path) -> int:
        """Find one of the items that remain, the first one if it stands here."""
        place = size - len(remaining)
        few = [*remaining][: MOST_MOVED if size <= MOST_MOVED else 1]
        for number in few if isinstance(remaining[few[0]], dict | list) else few[:1]:
            self._places.append({number, place})
            try:
                item = remaining[number]
                is_record = isinstance(item, dict | list)
                end = self._value(item, self._numbered(at, size, path, is_record=is_record), path)
                del remaining[number]
                return end
            except Differs:
                continue
            finally:
                self._places.pop()
        raise Differs

    def _numbered(self, at: int, size: int, path: Path, *, is_record: bool) -> int:
        """The place behind the number of an item, perhaps with that of all: `2 of 4`; without one the
        place itself. Among scalars, which may be numbers too, a sign such as a dot stands behind it."""
        numbers = self._numbers()
        start, words = at, self._words
        with suppress(Differs):
            while not words.text_at(at).isdecimal():
                at = at + 1 if words.is_numbering(at) else self._filler(at, path)
            behind = words.text_at(at + 1)
            is_number = behind not in _NO_NUMBER if is_record else behind in _BEHIND_NUMBER
            if words.text_at(at) in numbers and is_number:
                is_of_all = words.text_at(at + 1).casefold() == "of"
                return at + 3 if is_of_all and words.text_at(at + 2) == str(size) else at + 1
        return start

    def _common(self, items: Sequence[Any], at: int, path: Path) -> tuple[dict[str, None], int]:
        """The keys whose values the text states of all items, and the place behind them."""
        common: dict[str, None] = {}
        if len(items) < 2 or not all(isinstance(item, dict) for item in items):
            return common, at
        same = (key for key, it in items[0].items() if all(o.get(key) == it for o in items[1:]))
        keys = {letters(str(key)): str(key) for key in same}
        end, is_of_all = at, False
        with suppress(Differs):
            while True:
                is_of_all = is_of_all or in_vocabulary(self._words.text_at(end).casefold(), "every")
                found = self._words.key_at(end, keys) if is_of_all else None
                if found:
                    end = at = self._value(items[0][found[0]], found[1], path)
                    common[found[0]] = None
                else:
                    end = end + 1 if self._is_intro(end, {len(items)}) else self._filler(end, path)
        return common, at

    def _is_intro(self, at: int, sizes: Collection[int]) -> bool:
        """True for a word that may stand before items: `each`, `option`, or their number."""
        word = self._words.text_at(at).casefold()
        is_number = word in map(str, sizes) or (
            word.isdecimal() and self._words.text_at(at - 1) == "#"
        )
        return is_number or in_vocabulary(word, "every") or self._words.is_numbering(at)

    def _table(self, value: Any, items: Sequence[Any], at: int, path: Path) -> int:
        """Find the items of a value as a table: in rows, or in columns behind their keys."""
        table = self._tables.get(id(value)) or RecordTable(items, self._is_value)
        self._tables[id(value)] = table
        words, is_reversed = self._words, False
        while table.records and at < len(words.words):
            if (end := table.rows_end(words, at, is_reversed=is_reversed)) is not None:
                return end
            with suppress(Differs):
                return table.columns_end(words, at)
            word = words.text_at(at).casefold()
            is_reversed = is_reversed or word.startswith("reverse")
            sizes = {len(items), len(table.records)}
            is_intro = self._is_intro(at, sizes) or (is_reversed and word in _REVERSED)
            at = at + 1 if is_intro else self._filler(at, path)
        raise Differs

    def _is_value(self, cell: str, value: Any) -> bool:
        """True if a cell is a rendering of a value."""
        with suppress(Differs):
            words = RenderedWords(cell)
            return _Reader(words).read(value) == len(words.lines)
        return False
