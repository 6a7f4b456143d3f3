"""Tables in a text that may be a rendering of data, for `renderings`: records in rows below a header,
and records in columns behind their keys. `tables` reads tables without knowing the data."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

from .keys import words_of_key
from .rendered_words import Differs, RenderedWords, is_nothing, letters
from .table_cells import SEPARATORS, cells_of, framed_cells, with_breaks
from .vocabulary import in_vocabulary

Path = tuple[str, ...]
"""The keys that lead to a value of a record."""

IsValue = Callable[[str, Any], bool]
"""True if a cell is a rendering of a value."""

MOST_MOVED = 300
"""The most records among which the next one is sought; those of a longer list keep their order."""

ROW_KEY = ""
"""The key of a record under which the key that it has in a mapping is put."""

_RULE = " |-=+:\t─━┼┃│"
_NAMES_OF_KEY = ("", "key", "id", "name")
_EMPTY = frozenset({"", "-", "–", "—", "null", "none", "nan", "n/a", "~", "empty"})


class _Header(NamedTuple):
    """The columns of a table: the path of each (None for numbers of rows), the sign between cells (""
    for blanks), and the line."""

    columns: list[Path | None]
    sign: str
    line: int


class _Numbered(NamedTuple):
    """A record, and the numbers of the items that it is in, from the outermost list on."""

    record: Mapping[str, Any]
    places: tuple[int, ...]


def _numbered_records(items: Iterable[Any], places: tuple[int, ...] = ()) -> list[_Numbered]:
    """The records in a list, also those in its lists; `[]` if it has anything else."""
    records: list[_Numbered] = []
    for number, item in enumerate(items):
        here = (*places, number)
        found = _numbered_records(item, here) if isinstance(item, list) else [_Numbered(item, here)]
        if not found or not all(isinstance(it.record, dict) for it in found):
            return []
        records += found
    return records


class RecordTable:
    """The search of a text for the records of a list as a table.

    `size` is the number of items in the list, of which each may have several records.
    """

    def __init__(self, items: Sequence[Any], is_value: IsValue) -> None:
        self.size, self._is_value = len(items), is_value
        self.records = _numbered_records(items)

    @cached_property
    def _paths(self) -> dict[str, Path]:
        """The paths to the values of the records, by the letters of their keys, joined or the last."""
        paths: dict[str, Path] = {}
        for record, _ in self.records:
            if ROW_KEY in record:
                paths |= dict.fromkeys(_NAMES_OF_KEY, (ROW_KEY,))
            for path in _paths(record):
                for length in range(len(path)):
                    paths.setdefault("".join(map(letters, path[length:])), path)
        return paths

    @cached_property
    def _beginnings(self) -> set[str]:
        """The first words of these keys, and those that may name the keys or numbers of rows."""
        keys = {path[start] for path in self._paths.values() for start in range(len(path))}
        return {*_NAMES_OF_KEY, "#"}.union(
            *(map(str.casefold, words_of_key(key)[:1]) for key in keys)
        )

    @cached_property
    def _keys(self) -> dict[str, str]:
        """The keys with a value in any record, by their letters."""
        items = (item for record, _ in self.records for item in record.items())
        return {letters(str(key)): str(key) for key, value in items if not is_nothing(value)}

    def rows_end(self, words: RenderedWords, at: int, *, is_reversed: bool) -> int | None:
        """The place behind a table whose rows are the records, in any order unless this should be
        reversed; None if no header stands at a place. Raises `Differs` for other rows."""
        is_name = words.text_at(at).casefold() in self._beginnings or words.is_numbering(at)
        header = _header(words, at, self._paths) if is_name else None
        if header is None:
            return None
        columns = {column for column in header.columns if column}
        if not all(_covers(it.record, columns) for it in self.records):
            raise Differs
        remaining = dict(enumerate(self.records[::-1] if is_reversed else self.records))
        most = 1 if is_reversed or len(remaining) > MOST_MOVED else MOST_MOVED
        number = header.line + 1
        while remaining and number < len(words.lines):
            line = words.lines[number]
            if line.strip(_RULE):
                cells = _cells(line, header.sign)
                few = islice(remaining, most)
                row = next((it for it in few if self._is_row(cells, header, remaining[it])), None)
                if row is None:
                    raise Differs
                del remaining[row]
            number += 1
        if remaining:
            raise Differs
        return words.first_of_line(number)

    def _is_row(self, cells: Sequence[str], header: _Header, row: _Numbered) -> bool:
        """True if the cells of a line are the values of a record, and numbers of its places."""
        if len(cells) != len(header.columns):
            return False
        numbers = {str(place + more) for place in row.places for more in (0, 1)}
        return all(
            cell.strip(" .#") in numbers
            if column is None
            else self._is_cell(cell, _value_at(row.record, column))
            for cell, column in zip(cells, header.columns, strict=True)
        )

    def columns_end(self, words: RenderedWords, at: int) -> int:
        """The place behind lines that each have a key and its value in every record, in their order.
        Raises `Differs` if something else stands at a place."""
        keys = dict(self._keys)
        while keys:
            while words.is_filler(at):
                at += 1
            found = words.key_at(at, keys)
            if found is None:
                raise Differs
            key, behind = found
            last = words.words[behind - 1]
            rest = words.lines[last.line][last.start + len(last.text) :].lstrip(" :=")
            values = [record.get(key) for record, _ in self.records]
            if not any(self._are_cells(rest, sign, values) for sign in SEPARATORS):
                raise Differs
            del keys[letters(key)]
            at = words.first_of_line(last.line + 1)
        return at

    def _are_cells(self, text: str, sign: str, values: Sequence[Any]) -> bool:
        cells = _cells(text.removeprefix(sign), sign)
        return len(cells) == len(values) and all(map(self._is_cell, cells, values))

    def _is_cell(self, cell: str, value: Any) -> bool:
        if is_nothing(value):
            return cell.strip(" \"'").casefold() in _EMPTY
        return self._is_value(with_breaks(cell), value)


def _header(words: RenderedWords, at: int, paths: Mapping[str, Path]) -> _Header | None:
    """The header that a place and the rest of its line are; None for any other line."""
    word = words.words[at]
    line = words.lines[word.line]
    framed = max(line.rfind(sign, 0, word.start) for sign in '|[("')
    is_framed = framed >= 0 and not line[framed + 1 : word.start].strip()
    text = line[framed if is_framed else word.start :].strip()
    text = text[1:-1] if text[:1] + text[-1:] in ("[]", "()") else text.lstrip("[(")
    for sign in (*filter(text.__contains__, SEPARATORS), ""):
        names = _cells(text, sign)
        columns = [paths.get(letters(name)) for name in names]
        known = [column for column in columns if column is not None]
        others = [name for name, column in zip(names, columns, strict=True) if column is None]
        if known and len({*known}) == len(known) and all(map(_is_number_name, others)):
            return _Header(columns, sign, word.line)
    return None


def _is_number_name(name: str) -> bool:
    return name in ("", "#") or in_vocabulary(name.casefold(), "units", "numbered")


def _cells(line: str, sign: str) -> list[str]:
    """The cells of a line; without a sign the words between two blanks or more."""
    line = line.strip(" ")
    line = line[1:-1] if line[:1] + line[-1:] == "[]" else line
    if not sign:
        return re.split(r"\s{2,}", line.strip())
    return framed_cells(line, sign) if sign == "|" and line[:1] == "|" else cells_of(line, sign)


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    if path:
        yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _paths(item, (*path, str(key)))


def _covers(value: Any, columns: Collection[Path], path: Path = ()) -> bool:
    """True if some columns have all values of a record."""
    if path in columns or is_nothing(value):
        return True
    items = value.items() if isinstance(value, dict) else ()
    return bool(items) and all(_covers(item, columns, (*path, str(key))) for key, item in items)


def _value_at(record: Any, path: Path) -> Any:
    for key in path:
        record = record.get(key) if isinstance(record, dict) else None
    return record
