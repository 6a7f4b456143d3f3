"""JSON that writes a value in another form: records by columns, common fields once, short names,
under labels of its own, or with references to parts that stand below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ..model import as_text


class Form(NamedTuple):
    """How data write a value: the keys that label parts of it, and the references in place of other
    parts, each with its part and the keys that lead to it.
    """

    labels: tuple[str, ...] = ()
    references: tuple[tuple[str, str, Any], ...] = ()


_MOST_LEVELS = 3
"""The most levels of labels one inside another: each may be read in several ways."""


def form_of(shown: Any, value: Any, key: str = "", levels: int = _MOST_LEVELS) -> Form | None:
    """The form in which JSON data write a value, to which some keys lead; None if they write
    another one, or have more `levels` of labels.

    >>> rows = [{"id": 1, "ok": True}, {"id": 2, "ok": True}]
    >>> form_of({"by column": {"id": [1, 2], "ok": [True, True]}}, rows).labels
    ('by column',)
    >>> form_of({"in all": {"ok": True}, "each": [{"id": 1}, {"id": 2}]}, rows).labels
    ('in all', 'each')
    >>> short = {"keys": {"i": "id", "o": "ok"}, "rows": [{"i": 1, "o": True}, {"i": 2, "o": True}]}
    >>> form_of(short, rows).labels, form_of({"columns": ["id", "ok"], "data": [[1, True], [2, True]]}, rows).labels
    (('keys', 'rows'), ('columns', 'data'))
    >>> form_of([["id", "ok"], [1, True], [2, True]], rows)
    Form(labels=(), references=())
    >>> form_of({"rows": "<table 1>", "of": 2}, {"rows": [{"id": 1}], "of": 2}).references
    (('<table 1>', 'rows', [{'id': 1}]),)
    >>> form_of(rows, rows), form_of({"id": [1, 2], "ok": [True, False]}, rows)
    (Form(labels=(), references=()), None)
    >>> form_of({"a": {"b": {"c": rows}}}, rows).labels, form_of({"a": {"b": {"c": {"d": rows}}}}, rows)
    (('a', 'b', 'c'), None)
    """
    if isinstance(shown, dict) and isinstance(value, dict) and shown.keys() == value.keys():
        inner = ((shown[name], item, f"{key} {name}".strip()) for name, item in value.items())
        return _together(form_of(*each, levels) for each in inner)
    if isinstance(shown, list) and isinstance(value, list) and len(shown) == len(value):
        pairs = zip(shown, value, strict=True)
        return _together(form_of(*pair, levels=levels) for pair in pairs)
    if isinstance(value, list | dict) and value:
        forms = (
            _together([Form(labels), form_of(data, value, key, levels - 1)])
            for labels, data in _ways(shown)
            if levels
        )
        found = next((form for form in forms if form is not None), None)
        return found or _referred(shown, value, key)
    return Form() if type(shown) is type(value) and shown == value else None


def _together(forms: Iterable[Form | None]) -> Form | None:
    """The forms of several parts as one; None if a part has none."""
    labels: list[str] = []
    references: list[tuple[str, str, Any]] = []
    for form in forms:
        if form is None:
            return None
        labels += form.labels
        references += form.references
    return Form(tuple(labels), tuple(references))


def _referred(shown: Any, value: Any, key: str) -> Form | None:
    """The form of a text, or of a mapping with a single scalar, in place of a container."""
    if isinstance(shown, dict) and len(shown) == 1:
        ((word, shown),) = shown.items()
        shown = None if isinstance(shown, dict | list) else f"{word} {as_text(shown)}"
    return Form((), ((shown, key, value),)) if isinstance(shown, str) else None


def _ways(shown: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield what a mapping, or rows below a header, may write, with the labels each time."""
    if isinstance(shown, list) and shown[1:] and isinstance(shown[0], list):
        yield from (((), rows) for rows in _parted(shown[0], shown[1:]))
    if not isinstance(shown, dict):
        return
    if len(shown) == 1:
        yield from (((label,), data) for label, data in shown.items())
    columns = [*shown.values()]
    if all(isinstance(column, list) and len(column) == len(columns[0]) for column in columns):
        rows = [dict(zip(shown, row, strict=True)) for row in zip(*columns, strict=True)]
        yield (), rows
    for one, rest in (columns, columns[::-1]) if len(shown) == 2 else ():
        yield from ((tuple(shown), data) for data in _parted(one, rest))


def _parted(one: Any, rest: Any) -> Iterator[Any]:
    """Yield what two members of a mapping may write together: records and their common fields,
    rows and the names of their columns, data and the meanings of short names in them.
    """
    if isinstance(one, dict) and isinstance(rest, list):
        yield [_with(row, one) for row in rest]
    if isinstance(one, dict) and isinstance(rest, dict):
        yield {key: _with(row, one) for key, row in rest.items()}
    if isinstance(one, list) and all(isinstance(name, str) for name in one):
        if isinstance(rest, list):
            yield [_named(row, one) for row in rest]
        if isinstance(rest, dict):
            yield {key: _named(row, one) for key, row in rest.items()}
    if isinstance(one, dict) and all(isinstance(meaning, str) for meaning in one.values()):
        yield _spelt_out(rest, one)


def _named(row: Any, columns: list[str]) -> Any:
    """The cells of a row with the names of their columns, if there are as many."""
    is_row = isinstance(row, list) and len(row) == len(columns)
    return dict(zip(columns, row, strict=True)) if is_row else row


def _spelt_out(value: Any, meanings: dict[str, str]) -> Any:
    """A value with the meanings of short names in place of these, in keys and in texts."""
    if isinstance(value, dict):
        return {meanings.get(key, key): _spelt_out(item, meanings) for key, item in value.items()}
    if isinstance(value, list):
        return [_spelt_out(item, meanings) for item in value]
    return meanings.get(value, value) if isinstance(value, str) else value


def _with(row: Any, common: dict[str, Any]) -> Any:
    """A record with the fields that it has in common with others, unless it has one of them."""
    is_apart = isinstance(row, dict) and common.keys().isdisjoint(row)
    return {**common, **row} if is_apart else row
