"""JSON that writes a value in another form: records by columns, common fields once, under labels of
its own, or with references to parts that stand below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ..model import as_text


class Form(NamedTuple):
    """How data write a value: the keys that label parts of it, and the references in place of other
    parts, each with its part and the key that leads to it.
    """

    labels: tuple[str, ...] = ()
    references: tuple[tuple[str, str, Any], ...] = ()


def form_of(shown: Any, value: Any, key: str = "") -> Form | None:
    """The form in which JSON data write a value, to which a key leads; None if they write another
    one.

    >>> rows = [{"id": 1, "ok": True}, {"id": 2, "ok": True}]
    >>> form_of({"by column": {"id": [1, 2], "ok": [True, True]}}, rows).labels
    ('by column',)
    >>> form_of({"in all": {"ok": True}, "each": [{"id": 1}, {"id": 2}]}, rows).labels
    ('in all', 'each')
    >>> form_of({"rows": "<table 1>", "of": 2}, {"rows": [{"id": 1}], "of": 2}).references
    (('<table 1>', 'rows', [{'id': 1}]),)
    >>> form_of(rows, rows), form_of({"id": [1, 2], "ok": [True, False]}, rows)
    (Form(labels=(), references=()), None)
    """
    if isinstance(shown, dict) and isinstance(value, dict) and shown.keys() == value.keys():
        return _together(form_of(shown[inner], value[inner], inner) for inner in value)
    if isinstance(shown, list) and isinstance(value, list) and len(shown) == len(value):
        return _together(map(form_of, shown, value))
    if isinstance(value, list | dict) and value:
        forms = (
            _together([Form(labels), form_of(data, value, key)]) for labels, data in _ways(shown)
        )
        return next((form for form in forms if form is not None), None) or _referred(
            shown, value, key
        )
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
    """Yield what a mapping may write, with its labels each time."""
    if not isinstance(shown, dict):
        return
    if len(shown) == 1:
        yield from (((label,), data) for label, data in shown.items())
    columns = [*shown.values()]
    if all(isinstance(column, list) and len(column) == len(columns[0]) for column in columns):
        rows = [dict(zip(shown, row, strict=True)) for row in zip(*columns, strict=True)]
        yield (), rows
    if len(shown) == 2:
        for common, rest in (columns, columns[::-1]):
            if isinstance(common, dict) and isinstance(rest, list):
                yield tuple(shown), [_with(row, common) for row in rest]
            elif isinstance(common, dict) and isinstance(rest, dict):
                yield tuple(shown), {key: _with(row, common) for key, row in rest.items()}


def _with(row: Any, common: dict[str, Any]) -> Any:
    """A record with the fields that it has in common with others, unless it has one of them."""
    is_apart = isinstance(row, dict) and common.keys().isdisjoint(row)
    return {**common, **row} if is_apart else row
