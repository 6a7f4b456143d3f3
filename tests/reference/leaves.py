"""Structured values leaf by leaf, every leaf tried against every other, and leaves looked for in text."""

from __future__ import annotations

from typing import Any

from bench.model import compact_json

from .reading import decoded, inside

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
    rows, held_rows = [list(row) for row in rows], [list(row) for row in held_rows]
    row_lost: list[Any] = []
    row_left: list[Any] = []
    for row in list(rows):
        same = next((other for other in held_rows if sorted(map(str, other)) == sorted(map(str, row))), None)
        if same is not None:
            rows.remove(row)
            held_rows.remove(same)
    pairs = [
        (-len(row) + len(minus(row, other)), i, j)
        for i, row in enumerate(rows)
        for j, other in enumerate(held_rows)
        if len(minus(row, other)) < len(row)
    ]
    done_i, done_j = set(), set()
    for _, i, j in sorted(pairs):
        if i not in done_i and j not in done_j:
            done_i.add(i)
            done_j.add(j)
            row_lost += minus(rows[i], held_rows[j])
            row_left += minus(held_rows[j], rows[i])
    row_lost += [leaf for i, row in enumerate(rows) if i not in done_i for leaf in row]
    row_left += [leaf for j, row in enumerate(held_rows) if j not in done_j for leaf in row]
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


def occurrences(text: str, token: str) -> int:
    """How often a token stands in a text, not inside a longer word or number, no overlaps."""
    return (
        text.count(token) if not any(char.isalnum() or char == "_" for char in token) else _count(decoded(text), token)
    )


def _count(plain: str, token: str) -> int:
    if not any(char.isalnum() or char == "_" for char in token):
        return plain.count(token)
    count = start = 0
    while start <= len(plain) - len(token):
        end = start + len(token)
        whole = _edge(plain[:start][::-1], token[0]) and _edge(plain[end:], token[-1])
        if plain[start:end] == token and whole:
            count += 1
            start = end
        else:
            start += 1
    return count


def _edge(beyond: str, edge: str) -> bool:
    if not beyond or not (edge.isalnum() or edge == "_"):
        return True
    if beyond[0].isalnum() or beyond[0] == "_":
        return False
    return not (edge.isdigit() and beyond[0] == "." and beyond[1:2].isdigit())


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


def occurrences_on(line: str, token: str) -> int:
    """How often a token stands on a decoded line."""
    return _count(line, token)


def _stands(key: str, line: str) -> bool:
    """Whether a key stands on a line, each of its words whole."""
    words = "".join(char if char.isalnum() or char == "_" else " " for char in line).split()
    parts = "".join(char if char.isalnum() or char == "_" else " " for char in key).split()
    return bool(key) and (key in words or (len(parts) != 1 and key in line and all(part in words for part in parts)))
