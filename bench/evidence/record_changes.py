"""The changes of the records between two texts of one result, by DeepDiff: for readers of a report.
What decides is measured by `checks/changed`, which also knows notices and legends."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Any

from ..model import as_text, grouped, nested
from ..model.detail import Kind, RecordChange
from ..text.decode import decode_strings
from ..text.layouts import values_of

_MOST_VALUES, _MOST_CHARS = 3000, 120
_KINDS: dict[str, Kind] = {
    "dictionary_item_removed": "removed",
    "iterable_item_removed": "removed",
    "values_changed": "changed",
    "type_changes": "changed",
    "dictionary_item_added": "added",
    "iterable_item_added": "added",
}
"""The kinds of changes of DeepDiff that are reported."""


def record_changes(before: str, after: str) -> tuple[RecordChange, ...]:
    """The changes from the records of one text to those of another, the most frequent first; the
    order of rows and the spelling of numbers do not count.

    Two lists or mappings are compared as they are if they have keys in common, else their longest
    lists of records. Nothing if a text cannot be read as data, or has more than 3,000 values.

    >>> rows = '[{"id": "W1", "size": {"m": 5}}, {"id": "W2", "size": {"m": 7}}]'
    >>> [(change.kind, change.where, change.count) for change in record_changes(rows, '[{"id": "W2", "size": {"m": "7"}}]')]
    [('removed', 'rows', 1)]
    >>> record_changes(rows, rows.replace("5", "6"))[0]
    RecordChange(kind='changed', where='size.m', count=1, before='5', after='6')
    >>> record_changes(rows, '{"first": [{"id": "W1", "size": {"m": 5}}]}')[0].count
    1
    >>> record_changes(rows, "two rows")
    ()
    """
    old = _records(before)
    if old is None:
        return ()
    names = {key for item in nested(old) if isinstance(item, dict) for key in item}
    new = _records(after, names)
    if new is None:
        return ()
    from deepdiff import DeepDiff  # loads pandas

    old, new = map(_as_texts, _alike(old, new))
    identity = _identity(old, new)
    if identity:
        old, new = ({record[identity]: record for record in rows} for rows in (old, new))
    tree: Mapping[str, Any] = {}
    if old and new:
        tree = DeepDiff(old, new, ignore_order=True, threshold_to_diff_deeper=0, view="tree")
    changes = grouped(
        ((kind, _where(item.path(output_format="list"), bool(identity))), (item.t1, item.t2))
        for name, kind in _KINDS.items()
        for item in tree.get(name, ())
        if item.path() != "root"  # nothing in common
    )
    ordered = sorted(changes.items(), key=lambda change: -len(change[1]))
    return tuple(
        RecordChange(
            kind=kind,
            where=where,
            count=len(items),
            before="" if kind == "added" else _brief(items[0][0]),
            after="" if kind == "removed" else _brief(items[0][1]),
        )
        for (kind, where), items in ordered
    )


def _identity(old: Any, new: Any) -> str | None:
    """The first key by which the records of two lists can be paired: all have it, and no two of a
    list have the same text under it."""
    lists = [rows for rows in (old, new) if isinstance(rows, list) and rows]
    if len(lists) < 2 or not all(isinstance(row, dict) for rows in lists for row in rows):
        return None
    for key in old[0]:
        texts = [[row.get(key) for row in rows] for rows in lists]
        if all(isinstance(text, str) for text in chain(*texts)) and all(
            len({*each}) == len(each) for each in texts
        ):
            return str(key)
    return None


def _records(text: str, names: Collection[str] = ()) -> Any:
    """The data of a text as records; None if there are none, or too many."""
    values = values_of(text, names)[0]
    if len(values) != 1 or sum(1 for _ in nested(values[0])) > _MOST_VALUES:
        return None
    return decode_strings(values[0])


def _alike(old: Any, new: Any) -> tuple[Any, Any]:
    """Two values as they are if they are both lists or have keys in common, else their longest lists
    of mappings; empty lists without such lists."""
    if isinstance(old, list) and isinstance(new, list):
        return old, new
    if (
        isinstance(old, dict)
        and isinstance(new, dict)
        and 2 * len(old.keys() & new.keys()) >= len(new)
    ):
        return old, new
    return _longest_list(old), _longest_list(new)


def _longest_list(value: Any) -> list[Any]:
    """The longest list of mappings in a value; `[]` if there is none."""
    lists = (item for item in nested(value) if isinstance(item, list) and item)
    of_mappings = (item for item in lists if all(isinstance(record, dict) for record in item))
    return max(of_mappings, key=len, default=[])


def _as_texts(value: Any) -> Any:
    """A value with texts in place of scalars, without keys that have no value."""
    if isinstance(value, dict):
        items = {str(key): _as_texts(item) for key, item in value.items()}
        return {key: item for key, item in items.items() if item != ""}
    if isinstance(value, list):
        return [*map(_as_texts, value)]
    return "" if value is None else as_text(value)


def _where(path: Sequence[Any], is_keyed: bool) -> str:
    """A path without the numbers of items, or the first key if it is that of a record.

    >>> _where([3, "size", "m"], False), _where(["W1", "size", 0], True), _where([3], False)
    ('size.m', 'size[]', 'rows')
    """
    parts = [0, *path[1:]] if is_keyed else path
    texts = ("[]" if isinstance(part, int) else f".{part}" for part in parts)
    return "".join(texts).removeprefix("[]").removeprefix(".") or "rows"


def _brief(value: Any) -> str:
    text = as_text(value)
    return text if len(text) <= _MOST_CHARS else f"{text[:_MOST_CHARS]}…"
