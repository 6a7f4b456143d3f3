"""loss.* and needed.* the slow way: (numerator, denominator) by result or turn."""

from __future__ import annotations

from typing import Any

from bench.model import Run, ToolResult, Trace, as_text, compact_json

from . import rebuilt
from .facts import facts_of
from .reading import Nothing, decoded, inside, some
from .uses import uses

Pair = tuple[float, float]


def facts(trace: Trace, run: Run, place: str) -> dict[int, Pair]:
    """Facts of each result that has any: kept, all."""
    if place == "stored":
        found = {}
        for outcome in run.results:
            result = next(item for item in trace.results if item.index == outcome.step)
            text = as_text(outcome.stored)
            same = text in (result.text, as_text(result.value))
            found[result.index] = _facts(result, [text], same)
    else:
        found = {
            result.index: _facts(result, rebuilt.texts(messages), rebuilt.shows_whole(messages, result))
            for at, result, messages in rebuilt.places(trace, run)
            if at == place
        }
    return {step: pair for step, pair in found.items() if pair[1]}


def _facts(result: ToolResult, texts: list[str], whole: bool) -> Pair:
    facts = facts_of(result.text)
    return sum(whole or rebuilt.present(fact, texts) for fact in facts), len(facts)


def needs(trace: Trace, run: Run, first: bool) -> dict[int, Pair]:
    """Uses of each turn that has any: served, all."""
    found: dict[int, Pair] = {}
    everything = uses(trace)
    results = {result.index: result for result in trace.results}
    for prompt, messages, _ in rebuilt.prompts(run):
        of_turn = [use for use in everything if use.turn == prompt.step and use.first is first]
        judged = [
            rebuilt.shows_whole(messages, results[use.source]) or rebuilt.present(use.fact, rebuilt.texts(messages))
            for use in of_turn
            if not use.recorded_only
        ]
        if judged:
            found[prompt.step] = (sum(judged), len(judged))
    return found


# ---------------------------------------------------------------- leaves


def leaves(trace: Trace, run: Run, place: str) -> dict[int, tuple[float, float, bool]]:
    """Leaves of each structured result: kept, all, and whether whole tokens were looked for."""
    structured = {result.index: result for result in trace.results if isinstance(result.data, dict | list)}
    found = {}
    if place == "stored":
        for outcome in run.results:
            if outcome.step in structured:
                result, stored = structured[outcome.step], outcome.stored
                values = [stored] if isinstance(stored, dict | list) else _parsed([as_text(stored)])
                whole = stored == result.text if isinstance(stored, str) else False
                text = "" if stored is None else as_text(stored)
                found[outcome.step] = _leaves(result, values, [text], whole)
        return found
    for at, result, messages in rebuilt.places(trace, run):
        if at == place and result.index in structured:
            values = _parsed([item.text for item in messages if item.step == result.index])
            whole = rebuilt.shows_whole(messages, result)
            found[result.index] = _leaves(result, values, rebuilt.texts(messages), whole)
    return found


def _parsed(texts: list[str]) -> list[Any]:
    values = []
    for text in texts:
        try:
            values.append(some(text))
        except Nothing:
            continue
    return values


def _leaves(result: ToolResult, values: list[Any], texts: list[str], whole: bool) -> tuple[float, float, bool]:
    rows, others = taken_apart(result.data)
    total = len(others) + sum(map(len, rows))
    if whole:
        return total, total, False
    if values:
        held_rows: list[list[Any]] = []
        held_others: list[Any] = []
        for value in values:
            more_rows, more_others = taken_apart(value)
            held_rows += more_rows
            held_others += more_others
        return kept(rows, others, held_rows, held_others), total, False
    pools: dict[str, int] = {}
    count = 0
    for _, value in [*others, *(leaf for row in rows for leaf in row)]:
        for token in spellings(value):
            pools.setdefault(token, sum(occurrences(text, token) for text in texts))
            if pools[token]:
                pools[token] -= 1
                count += 1
                break
    return count, total, True


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
    """How many leaves are held: rows by equality, then by overlap; others by the longest common end of their paths."""
    count = 0
    rows, held_rows = [list(row) for row in rows], [list(row) for row in held_rows]
    row_lost: list[Any] = []
    row_left: list[Any] = []
    for row in list(rows):
        same = next((other for other in held_rows if sorted(map(str, other)) == sorted(map(str, row))), None)
        if same is not None:
            count += len(row)
            rows.remove(row)
            held_rows.remove(same)
    pairs = [
        (-len(row) + len(_minus(row, other)), i, j)
        for i, row in enumerate(rows)
        for j, other in enumerate(held_rows)
        if len(_minus(row, other)) < len(row)
    ]
    done_i, done_j = set(), set()
    for overlap, i, j in sorted(pairs):
        if i not in done_i and j not in done_j:
            done_i.add(i)
            done_j.add(j)
            count += -overlap
            row_lost += _minus(rows[i], held_rows[j])
            row_left += _minus(held_rows[j], rows[i])
    row_lost += [leaf for i, row in enumerate(rows) if i not in done_i for leaf in row]
    row_left += [leaf for j, row in enumerate(held_rows) if j not in done_j for leaf in row]
    others, held_others = list(others), list(held_others)
    for pool in (held_others, row_left):
        for common in range(20, -1, -1):
            for leaf in list(others):
                served = next((item for item in pool if _serves(leaf, item, common)), None)
                if served is not None:
                    count += 1
                    others.remove(leaf)
                    pool.remove(served)
    for common in range(20, 0, -1):
        for leaf in [item for item in row_lost if len(item[0]) == common]:
            served = next(
                (item for item in held_others if item[0][-common:] == leaf[0] and item[1] == leaf[1]),
                None,
            )
            if served is not None:
                count += 1
                held_others.remove(served)
    return count


def _minus(row: list[Any], other: list[Any]) -> list[Any]:
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
    if not any(char.isalnum() or char == "_" for char in token):
        return text.count(token)
    plain = decoded(text)
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
