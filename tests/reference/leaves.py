"""Structured values leaf by leaf, every leaf tried against every other, and leaves looked for in text."""

from __future__ import annotations

from typing import Any

from bench.model import compact_json

from .reading import decoded, inside, is_word, stands_free

Leaf = tuple[tuple[str, ...], str]
"""A path of keys, and a value written so that types differ."""


def taken_apart(value: Any) -> tuple[list[list[Any]], list[Any]]:
    """Rows and other leaves of a value, each leaf as [path, value written so that types differ]."""
    rows: list[list[Any]] = []
    others: list[Any] = []

    def walk(node: Any, path: tuple[str, ...], into: list[Any]) -> None:
        if isinstance(node, dict) and node:
            for key, item in node.items():
                walk(item, (*path, str(key)), into)
        elif isinstance(node, list) and node:
            for item in node:
                if isinstance(item, dict) and item:
                    rows.append([])
                    walk(item, (), rows[-1])
                else:
                    walk(item, path, into)
        else:
            node = 0.0 if isinstance(node, float) and node == 0 else node  # -0.0 is 0.0
            into.append((path, f"{type(node).__name__} {node!r}"))

    walk(inside(value), (), others)
    return [row for row in rows if row], others


def kept(rows: list[Any], others: list[Any], held_rows: list[Any], held_others: list[Any]) -> int:
    """How many leaves are held."""
    return sum(map(len, rows)) + len(others) - len(lost(rows, others, held_rows, held_others))


def lost(rows: list[Any], others: list[Any], held_rows: list[Any], held_others: list[Any]) -> list[Any]:
    """The leaves that are not held: rows by equality, then by overlap; others by the longest common end of their paths."""
    pairs = paired(rows, held_rows)
    row_lost = [leaf for row, other in pairs for leaf in minus(row, other)]
    row_left = [leaf for row, other in pairs for leaf in minus(other, row)]
    row_lost += [leaf for row in minus(rows, [row for row, _ in pairs]) for leaf in row]
    row_left += [leaf for row in minus(held_rows, [other for _, other in pairs]) for leaf in row]
    others, held_others = list(others), list(held_others)
    for pool in (held_others, row_left):
        for common in range(20, -1, -1):
            for leaf in list(others):
                served = next((item for item in pool if _serves(leaf, item, common)), None)
                if served is not None:
                    others.remove(leaf)
                    pool.remove(served)
    for common in range(20, 0, -1):
        for leaf in [item for item in row_lost if len(item[0]) == common]:
            served = next(
                (item for item in held_others if item[0][-common:] == leaf[0] and item[1] == leaf[1]),
                None,
            )
            if served is not None:
                row_lost.remove(leaf)
                held_others.remove(served)
    return row_lost + others


def paired(rows: list[Any], held: list[Any]) -> list[tuple[Any, Any]]:
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
        (len(minus(row, other)) - len(row), i, j) for i, row in enumerate(rows) for j, other in enumerate(held)
    )
    taken: tuple[set[int], set[int]] = (set(), set())
    for shared, i, j in ranked:
        if shared < 0 and i not in taken[0] and j not in taken[1]:
            taken[0].add(i)
            taken[1].add(j)
            pairs.append((rows[i], held[j]))
    return pairs


def minus(row: list[Any], other: list[Any]) -> list[Any]:
    left = list(row)
    for leaf in other:
        if leaf in left:
            left.remove(leaf)
    return left


def _serves(leaf: Any, held: Any, common: int) -> bool:
    (path, value), (held_path, held_value) = leaf, held
    if value != held_value:
        return False
    if not common:
        return not path
    return path == held_path or (len(path) >= common <= len(held_path) and path[-common:] == held_path[-common:])


def spellings(written: str) -> list[str]:
    """How a value may stand in a text."""
    kind, _, text = written.partition(" ")
    if kind == "str":
        value = eval(text)
        return [value] if value else ['""', "''"]
    if kind in ("dict", "list"):
        return [text]
    if text == "nan":
        return ["NaN", "nan", "null"]
    value = eval(text, {"inf": float("inf")})
    return list(dict.fromkeys([compact_json(value), str(value)])) if kind in ("bool", "float", "NoneType") else [text]


def occurrences_on(line: str, token: str) -> int:
    """How often a token stands on a decoded line, not inside a longer word or number, no overlaps."""
    if not any(map(is_word, token)):
        return line.count(token)
    count = at = 0
    while at <= len(line) - len(token):
        whole = line.startswith(token, at) and stands_free(line, at, at + len(token))
        count += whole
        at += len(token) if whole else 1
    return count


def with_key_beside(leaves: list[Any], gone: list[Any], texts: list[str]) -> int:
    """How many of the leaves that are gone stand on a line with their key: equal ones as often as there are such lines, read back or not."""
    lines = [line for text in texts for line in decoded(text).split("\n")]
    left: dict[str, int] = {}
    count = 0
    for leaf in gone:
        path, value = leaf
        name = str(leaf)
        if name not in left:
            standing = sum(
                occurrences_on(line, token)
                for line in lines
                if path and _stands(path[-1], line)
                for token in spellings(value)
            )
            size = sum(str(other) == name for other in leaves)
            left[name] = min(size, standing) - (size - sum(str(other) == name for other in gone))
        if left[name] > 0:
            left[name] -= 1
            count += 1
    return count


def _stands(key: str, line: str) -> bool:
    """Whether a key stands on a line, each of its words whole."""
    words = "".join(char if char.isalnum() or char == "_" else " " for char in line).split()
    parts = "".join(char if char.isalnum() or char == "_" else " " for char in key).split()
    return bool(key) and (key in words or (len(parts) != 1 and key in line and all(part in words for part in parts)))
