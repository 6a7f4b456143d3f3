"""Rows, columns and keys held, the slow way: every row tried against every other, every line looked through for every leaf."""

from __future__ import annotations

from bench.model import Run, Trace

from . import rebuilt, tables
from .leaves import paired, taken_apart
from .loss import joined

Pairs = dict[int, tuple[float, float]]


def parts(trace: Trace, run: Run, place: str) -> dict[str, Pairs]:
    """Every part at one place: by result, kept and all; a result without any of a part is left out."""
    found: dict[str, Pairs] = {name: {} for name in ("rows_kept", "columns_kept", "schema_kept")}
    for at, result, messages in rebuilt.places(trace, run):
        if at != place or not isinstance(result.data, dict | list):
            continue
        rows, others = taken_apart(result.data)
        shown, names = rebuilt.shown(messages, result, trace), tables.names_of(result.data)
        read = [item for item in (tables.read(text, names) for text in shown) if item is not None]
        held_rows, held_others = joined(value for values, _ in read for value in values)
        if rebuilt.shows_whole(messages, result):
            held_rows, held_others = rows, others
        pairs = paired(rows, held_rows)
        columns = {path for row in rows for path, _ in row}
        paths = columns | {path for path, _ in others if path}
        held_paths = {path for leaves in (*held_rows, held_others) for path, _ in leaves if path}
        for name, count, of in (
            ("rows_kept", len(pairs), len(rows)),
            ("columns_kept", len(columns & {path for row in held_rows for path, _ in row}), len(columns)),
            ("schema_kept", sum(any(_ends(path, other) for other in held_paths) for path in paths), len(paths)),
        ):
            if of:
                found[name][result.index] = (count, of)
    return found


def _ends(path: tuple[str, ...], other: tuple[str, ...]) -> bool:
    shorter = min(len(path), len(other))
    return path[-shorter:] == other[-shorter:]
