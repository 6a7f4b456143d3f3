"""Rows, columns, values, keys and labels held, the slow way: every row tried against every other, every line looked through for every leaf."""

from __future__ import annotations

from typing import Any

from bench.evidence.held import names_of, read_held
from bench.model import Run, Trace
from bench.text.decode import decoded
from bench.text.leaves import flatten

from . import loss, rebuilt

Pairs = dict[int, tuple[float, float]]


def parts(trace: Trace, run: Run, place: str) -> dict[str, Pairs]:
    """Every part at one place: by result, kept and all; a result without any of a part is left out."""
    found: dict[str, Pairs] = {
        name: {} for name in ("rows_kept", "columns_kept", "values_changed", "schema_kept", "labelled_recall")
    }
    for at, result, messages in rebuilt.places(trace, run):
        if at != place or not isinstance(result.data, dict | list):
            continue
        rows, others = loss.taken_apart(result.data)
        if rebuilt.shows_whole(messages, result):
            held_rows, held_others, read = rows, others, True
        else:
            held_rows, held_others, read = _read(
                result.data, [item.text for item in messages if item.step == result.index]
            )
        pairs = _paired(rows, held_rows)
        columns = {path for row in rows for path, _ in row}
        paths = columns | {path for path, _ in others if path}
        held_paths = {path for leaves in (*held_rows, held_others) for path, _ in leaves if path}
        compared = [(mine, [path for path, _ in other]) for mine, other in pairs]
        cells = sum(_common(mine, their_paths) for mine, their_paths in compared)
        changed = cells - sum(len(mine) - len(loss._minus(mine, other)) for mine, other in pairs)
        total = len(others) + sum(map(len, rows))
        if read:
            labelled = loss.kept(rows, others, held_rows, held_others)
        else:
            labelled = _labelled([*(leaf for row in rows for leaf in row), *others], rebuilt.texts(messages))
        for name, kept, of in (
            ("rows_kept", len(pairs), len(rows)),
            ("columns_kept", len(columns & {path for row in held_rows for path, _ in row}), len(columns)),
            ("values_changed", changed, cells),
            ("schema_kept", sum(any(_ends(path, other) for other in held_paths) for path in paths), len(paths)),
            ("labelled_recall", labelled, total),
        ):
            if of:
                found[name][result.index] = (kept, of)
    return found


def _read(data: Any, texts: list[str]) -> tuple[list[Any], list[Any], bool]:
    """What the texts give, written as the reference writes leaves."""
    read = [read_held(text, names_of(flatten(data))).leaves for text in texts]
    rows = [[_written(leaf) for leaf in row] for leaves in read if leaves is not None for row in leaves.rows]
    others = [_written(leaf) for leaves in read if leaves is not None for leaf in leaves.others]
    return rows, others, any(leaves is not None for leaves in read)


def _written(leaf: Any) -> tuple[tuple[str, ...], str]:
    path, (kind, value) = leaf
    if kind in (dict, list):
        return path, f"{kind.__name__} {'{}' if kind is dict else '[]'}"
    if kind is float and value == "NaN":
        return path, "float nan"
    value = 0.0 if kind is float and value == 0 else value
    return path, f"{kind.__name__} {value!r}"


def _paired(rows: list[Any], held: list[Any]) -> list[tuple[Any, Any]]:
    """Rows of both sides that are the same: equal ones, then those equal in all columns that every held row has, then those that share most."""
    rows, held = list(rows), list(held)
    pairs = []
    for row in list(rows):
        same = next((other for other in held if sorted(map(str, other)) == sorted(map(str, row))), None)
        if same is not None:
            pairs.append((row, same))
            rows.remove(row)
            held.remove(same)
    shapes = {frozenset((path, [p for p, _ in other].count(path)) for path, _ in other) for other in held}
    if len(shapes) == 1:
        columns = {path for path, _ in held[0]}
        for row in list(rows):
            cut = [leaf for leaf in row if leaf[0] in columns]
            same = next((other for other in held if sorted(map(str, other)) == sorted(map(str, cut))), None)
            if same is not None:
                pairs.append((row, same))
                rows.remove(row)
                held.remove(same)
    ranked = sorted(
        (len(loss._minus(row, other)) - len(row), i, j) for i, row in enumerate(rows) for j, other in enumerate(held)
    )
    taken: tuple[set[int], set[int]] = (set(), set())
    for shared, i, j in ranked:
        if shared < 0 and i not in taken[0] and j not in taken[1]:
            taken[0].add(i)
            taken[1].add(j)
            pairs.append((rows[i], held[j]))
    return pairs


def _common(row: list[Any], their_paths: list[Any]) -> int:
    left = list(their_paths)
    count = 0
    for path, _ in row:
        if path in left:
            left.remove(path)
            count += 1
    return count


def _ends(path: tuple[str, ...], other: tuple[str, ...]) -> bool:
    shorter = min(len(path), len(other))
    return path[-shorter:] == other[-shorter:]


def _labelled(leaves: list[Any], texts: list[str]) -> int:
    """Leaves that stand on a line with their key; a pair serves as often as it stands on lines."""
    lines = [line for text in texts for line in decoded(text).split("\n")]
    left: dict[tuple[str, str], int] = {}
    count = 0
    for path, value in leaves:
        key = path[-1] if path else ""
        for token in loss.spellings(value):
            if (key, token) not in left:
                left[key, token] = sum(
                    loss.occurrences(line, token) for line in lines if not key or loss.occurrences(line, key)
                )
            if left[key, token]:
                left[key, token] -= 1
                count += 1
                break
    return count
