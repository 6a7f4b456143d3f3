"""The losses of one result in words: which rows and columns are gone, which values changed, which are absent.

Tables are compared row by row where a column names them, everything else leaf by leaf.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..model import as_text, compact_json, lines_of
from ..text.decode import as_data, decoded
from ..text.found_leaves import TokensOf
from ..text.leaves import flatten, tokens_of, typed
from ..text.texts import Texts
from ..text.wording import counted, cut, listed, quantity

MAX_NAMED = 4  # the most rows, columns, values or facts that one sentence names
MAX_RECORDS = 40  # the most changed records that are told of
VALUE_CHARS = 60
ABSENT = "absent"

FlatRow = dict[str, Any]


@dataclass
class _Parts:
    """A value taken apart: its tables (lists of mappings), its lists of scalars, and its other leaves, by path."""

    tables: dict[str, list[FlatRow]] = field(default_factory=dict)
    lists: dict[str, list[Any]] = field(default_factory=dict)
    leaves: dict[str, Any] = field(default_factory=dict)


def explain(untruncated: Any, held: Any) -> list[str]:
    """Say what is missing or changed in `held` against `untruncated`, a sentence each; one that says so where nothing is.

    Either may be a value or a text; JSON inside strings is decoded, and a text that was cut is read as far as it goes. A held text that is no
    data is searched for values as whole tokens: an upper bound of what it holds.

    >>> table = [{"Name": f"Wall_{n}", "Type": "Basic", "Area": n} for n in range(36)]
    >>> held = {"rows": [{"Name": row["Name"], "Type": "Basic"} for row in table[:24]], "kegg": {}}
    >>> for sentence in explain({"table": table, "kegg": {"total_significant": 47}}, held):
    ...     print(sentence)
    12 of 36 rows of `table` gone (Name "Wall_24", "Wall_25", "Wall_26", "Wall_27" and 8 more).
    Of `table`, column Area gone; columns Name and Type kept.
    `kegg.total_significant` 47 → absent.
    """
    ours, theirs = as_data(untruncated), as_data(held)
    if isinstance(ours, dict | list) and isinstance(theirs, dict | list):
        sentences = _data(ours, theirs)
    elif isinstance(untruncated, dict | list):
        sentences = _tokens(ours, as_text(held))
    else:
        sentences = _text(as_text(untruncated), as_text(held))
    return list(sentences) or ["Nothing is missing or changed."]


def _data(ours: Any, theirs: Any) -> Iterator[str]:
    mine, other = _apart(ours), _apart(theirs)
    for path, rows, held in _paired(mine.tables, other.tables, lambda one, two: len(_names(one).keys() & _names(two))):
        yield from _table(path, rows, held)
    for path, items, kept in _paired(mine.lists, other.lists, lambda one, two: len(one) - len(_without(one, two))):
        if gone := _without(items, kept):
            first = _some([_shown(item) for item in gone[:MAX_NAMED]], len(gone))
            yield f"{quantity(len(gone), 'count')} of {counted(len(items), 'item')} of {_named(path)} gone ({first})."
    moved = [(path, item) for path, items in other.lists.items() if path not in mine.lists for item in items]
    yield from _leaves(mine.leaves, other.leaves, moved)


def _apart(value: Any) -> _Parts:
    parts = _Parts()
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        path, node = waiting.pop()
        if isinstance(node, list) and node and all(isinstance(item, dict) and not _holds_rows(item) for item in node):
            parts.tables[path] = [dict(_flat(row)) for row in node]
        elif isinstance(node, list) and node and not any(isinstance(item, dict | list) for item in node):
            parts.lists[path] = node
        elif isinstance(node, dict | list) and node:
            waiting.extend(reversed(_below(path, node)))
        else:
            parts.leaves[path] = node
    return parts


def _below(path: str, node: dict[Any, Any] | list[Any]) -> list[tuple[str, Any]]:
    """The members of a mapping or list, each with its path."""
    if isinstance(node, list):
        return [(f"{path}[{number}]", item) for number, item in enumerate(node)]
    return [(f"{path}.{key}" if path else str(key), item) for key, item in node.items()]


def _holds_rows(node: Any) -> bool:
    """True if a value has a list of mappings in it: then the tables are further inside."""
    if isinstance(node, list):
        return any(isinstance(item, dict) or _holds_rows(item) for item in node)
    return isinstance(node, dict) and any(_holds_rows(item) for item in node.values())


def _flat(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of a row by path, positions in lists included: a record that DeepDiff compares by key alone."""
    if not isinstance(node, dict | list) or not node:
        yield path, node
        return
    for below, item in _below(path, node):
        yield from _flat(item, below)


def _paired(
    mine: Mapping[str, Any], other: Mapping[str, Any], likeness: Callable[[Any, Any], int]
) -> Iterator[tuple[str, Any, Any]]:
    """Each of ours with the one it became: at the same path, else of the same last key, else the most alike; `[]` for none. Each serves once."""
    left = dict(other)
    found: dict[str, Any] = {path: left.pop(path) for path in mine if path in left}
    for path in mine:
        if path in found:
            continue
        same = [name for name in left if _last(name) == _last(path)]
        candidates = (same or list(left))[:MAX_RECORDS]
        alike = min(((-likeness(mine[path], left[name]), name) for name in candidates), default=(0, ""))
        if alike[0] < 0:
            found[path] = left.pop(alike[1])
    for path, value in mine.items():
        yield path, value, found.get(path, [])


_POSITION = re.compile(r"\[\d+\]")


def _last(path: str) -> str:
    """The last key of a path, without positions in lists.

    >>> [_last(path) for path in ("a", "rows[3].id", "a.b[0]")]
    ['a', 'id', 'b']
    """
    return _POSITION.sub("", path).rpartition(".")[2]


def _names(rows: Sequence[FlatRow]) -> dict[str, None]:
    return dict.fromkeys(key for row in rows for key in row)


def _table(path: str, rows: list[FlatRow], held: list[FlatRow]) -> Iterator[str]:
    """Rows gone, columns gone, values changed."""
    name = _named(path) if path else "the table"
    if not held:
        yield f"All {counted(len(rows), 'row')} of {name} gone." if len(rows) > 1 else f"The one row of {name} gone."
        return
    columns, kept = _names(rows), _names(held)
    lost, left = ([name for name in columns if (name in kept) is there] for there in (False, True))
    key = _key(rows, held)
    gone, pairs = _match(rows, held, key, left)
    if gone:
        names = [_shown(row[key]) for row in gone[:MAX_NAMED]] if key else []
        which = f" ({key} {_some(names, len(gone))})" if key else ""
        yield f"{quantity(len(gone), 'count')} of {counted(len(rows), 'row')} of {name} gone{which}."
    if lost:
        yield f"Of {name}, {_columns(lost)} gone{f'; {_columns(left)} kept' if left else ''}."
    yield from _changes(name, key, pairs, kept)


def _columns(names: list[str]) -> str:
    return f"column{'s' if len(names) > 1 else ''} {_some(names, len(names))}"


def _key(rows: Sequence[FlatRow], held: Sequence[FlatRow]) -> str | None:
    """The first column that names every row, of both sides, and has a value that both have; None where none does."""
    for column in rows[0]:
        ours, theirs = ([_typed(row[column]) for row in side if column in row] for side in (rows, held))
        distinct = len(set(ours)) == len(rows) and len(set(theirs)) == len(theirs)
        if distinct and len(theirs) == len(held) and set(ours) & set(theirs):
            return column
    return None


def _match(
    rows: list[FlatRow], held: list[FlatRow], key: str | None, columns: Sequence[str]
) -> tuple[list[FlatRow], list[tuple[FlatRow, FlatRow]]]:
    """The rows that are gone, and the pairs that a key makes; without a key, rows are the same whose kept columns are."""
    if key is not None:
        known = {_typed(row[key]): row for row in held}
        pairs = [(row, known[_typed(row[key])]) for row in rows if _typed(row[key]) in known]
        return [row for row in rows if _typed(row[key]) not in known], pairs
    return _without(rows, held, lambda row: tuple(_typed(row.get(column, ABSENT)) for column in columns)), []


def _typed(value: Any) -> Hashable:
    """A value, containers included, that is equal to another only if its type is."""
    return (type(value).__name__, compact_json(value)) if isinstance(value, dict | list) else typed(value)


def _changes(
    name: str, key: str | None, pairs: Sequence[tuple[FlatRow, FlatRow]], kept: Collection[str]
) -> Iterator[str]:
    """The changes within rows that both have, as sentences."""
    records: dict[str, tuple[FlatRow, FlatRow]] = {}
    for ours, theirs in pairs:
        short = {column: value for column, value in ours.items() if column in kept}
        if {k: _typed(v) for k, v in short.items()} != {k: _typed(v) for k, v in theirs.items()}:
            records[f"Row {key} {_shown(ours[str(key)])} of {name}"] = short, theirs
    said = [
        sentence
        for record, (ours, theirs) in list(records.items())[:MAX_RECORDS]
        for sentence in _compared(record, ours, theirs)
    ]
    yield from said[:MAX_NAMED]
    if len(records) > 1 and (len(said) > MAX_NAMED or len(records) > MAX_RECORDS):
        yield f"In all, {quantity(len(records), 'count')} of {counted(len(pairs), 'row')} that {name} still has are changed."


def _compared(record: str, ours: FlatRow, theirs: FlatRow) -> Iterator[str]:
    """The changes of one flat record, as sentences: values, then types, then what is absent."""
    found = []
    for column, before in ours.items():
        after, absent = theirs.get(column), column not in theirs
        if absent or _typed(before) != _typed(after):
            kind = 2 if absent else int(_scalar_type(before) is not _scalar_type(after))
            place = f"`{column}`" if not record else f"{record}: `{column}`"
            found.append((kind, str([column]), f"{place} {_arrow(before, after, absent=absent)}."))
    yield from (sentence for _, _, sentence in sorted(found))


def _scalar_type(value: Any) -> type:
    """The type of a value; an empty mapping or list counts as the text that shows it."""
    return str if isinstance(value, dict | list) else type(value)


def _leaves(mine: Mapping[str, Any], other: Mapping[str, Any], items: Sequence[tuple[str, Any]]) -> Iterator[str]:
    """Single values: those that changed, then those that are absent. One that moved is found by the end of its path and its value."""
    both = [path for path in mine if path in other and _typed(mine[path]) != _typed(other[path])]
    some = both[:MAX_RECORDS]
    changed = list(_compared("", {path: mine[path] for path in some}, {path: other[path] for path in some}))
    elsewhere = [*((path, value) for path, value in other.items() if path not in mine), *items]
    alone = [(path, value) for path, value in mine.items() if path not in other]
    absent = [path for path, _ in _without(alone, elsewhere, lambda leaf: (_last(leaf[0]), _typed(leaf[1])))]
    absent.sort(key=lambda path: mine[path] in ("", None, [], {}))  # what says something first
    yield from changed[:MAX_NAMED]
    if len(both) > MAX_NAMED:
        yield f"{counted(len(both) - MAX_NAMED, 'more value')} changed."
    for path in absent[:MAX_NAMED]:
        yield f"{_named(path)} {_arrow(mine[path], None, absent=True)}."
    if len(absent) > MAX_NAMED:
        yield f"{counted(len(absent) - MAX_NAMED, 'more value')} absent."


def _tokens(ours: Any, text: str) -> Iterator[str]:
    """Data of which only text is left: every value is looked for as a whole token."""
    if not text.strip():
        yield f"Nothing of it is left: {counted(flatten(ours).total, 'value')} gone."
        return
    leaves = list(flatten(ours))
    here = set(TokensOf(token for _, typed in leaves for token in tokens_of(typed))(text))
    gone = [leaf for leaf in leaves if here.isdisjoint(tokens_of(leaf[1]))]
    total = len(leaves)
    if gone:
        named = [f"{'.'.join(path) or 'value'} {tokens_of(typed)[0][:VALUE_CHARS]}" for path, typed in gone[:MAX_NAMED]]
        yield f"No longer data: at least {quantity(len(gone), 'count')} of {counted(total, 'value')} gone ({_some(named, len(gone))})."
    else:
        yield f"No longer data: all {counted(total, 'value')} occur as words, without what they belong to."


def _text(whole: str, held: str) -> Iterator[str]:
    if not held.strip() and whole.strip():
        yield f"Nothing of it is left: {counted(len(whole), 'character')} gone."
        return
    lines, plain = lines_of(decoded(whole)), decoded(held)
    gone = _without(lines, lines_of(plain))
    if plain != held:  # lines inside data: several may stand in one
        gone = [line for line in gone if line.strip() not in plain]
    if gone:
        first = f", the first: {_shown(gone[0].strip())}" if len(gone) < len(lines) else ""
        yield f"{quantity(len(gone), 'count')} of {counted(len(lines), 'line')} gone{first}."
    texts = Texts()
    facts = texts.facts(whole)
    lost = texts.missing(held, facts)
    if lost:
        yield f"{quantity(len(lost), 'count')} of {counted(len(facts), 'fact')} gone ({_some(lost[:MAX_NAMED], len(lost))})."


def _without(items: Sequence[Any], kept: Sequence[Any], shape: Callable[[Any], Hashable] = _typed) -> list[Any]:
    """The items that the kept ones do not account for, each of which accounts for one of the same shape."""
    left = Counter(map(shape, kept))
    gone = []
    for item in items:
        if left[shape(item)]:
            left[shape(item)] -= 1
        else:
            gone.append(item)
    return gone


def _named(path: str) -> str:
    return f"`{path}`" if path else "the value"


def _shown(value: Any) -> str:
    text = compact_json(value)
    return text if len(text) <= VALUE_CHARS else f"{cut(text, VALUE_CHARS)} ({counted(len(text), 'character')})"


def _some(names: Sequence[str], total: int) -> str:
    """The first of some names, and how many more there are.

    >>> _some(["a", "b", "c", "d", "e"], 6), [_some(["x" * length], 1)[-1] for length in (120, 121)]
    ('a, b, c, d and 2 more', ['x', '…'])
    """
    shown = [cut(name, VALUE_CHARS * 2) for name in names[:MAX_NAMED]]
    more = total - len(shown)
    return f"{', '.join(shown)} and {more} more" if more else listed(shown)


def _arrow(before: Any, after: Any, *, absent: bool) -> str:
    """A value and what became of it; the types are said where the values look alike."""
    if absent:
        return f"{_shown(before)} → {ABSENT}"
    if isinstance(before, str) and isinstance(after, str) and len(after) > 3 and before.startswith(after[:-3]):
        return f"cut from {quantity(len(before), 'count')} to {counted(len(after), 'character')}"
    types = "" if type(before) is type(after) else f" ({_kind(before)} → {_kind(after)})"
    return f"{_shown(before)} → {_shown(after)}{types}"


def _kind(value: Any) -> str:
    names = {"NoneType": "null", "bool": "true/false", "int": "whole number", "float": "decimal number", "str": "text"}
    return names.get(type(value).__name__, "empty " + ("mapping" if isinstance(value, dict) else "list"))
