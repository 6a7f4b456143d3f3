"""loss.* and needed.* the slow way: (numerator, denominator) by result or turn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from bench.model import Run, ToolResult, Trace, as_text

from . import rebuilt, tables
from .facts import facts_of
from .leaves import lost, taken_apart, with_key_beside
from .needs import lower_of

Pair = tuple[float, float]


def facts(trace: Trace, run: Run, place: str) -> dict[int, Pair]:
    """Facts of each result that has any: kept, all."""
    lower = lower_of(trace)
    if place == "stored":
        found = {}
        for outcome in run.results:
            result = next(item for item in trace.results if item.index == outcome.step)
            text = as_text(outcome.stored)
            same = text in (result.text, as_text(result.value))
            found[result.index] = _facts(result, [text], same, lower)
    else:
        found = {
            result.index: _facts(result, rebuilt.texts(messages, trace), rebuilt.shows_whole(messages, result), lower)
            for at, result, messages in rebuilt.places(trace, run)
            if at == place
        }
    return {step: pair for step, pair in found.items() if pair[1]}


def _facts(result: ToolResult, texts: list[str], whole: bool, lower: frozenset[str]) -> Pair:
    facts = facts_of(result.text, lower)
    return sum(whole or rebuilt.present(fact, texts) for fact in facts), len(facts)


def needs(trace: Trace, run: Run, wanted: Sequence[Any]) -> dict[int, Pair]:
    """Dependencies of each turn that has any: held by its prompt, all. `wanted` are those that `reference.dependencies` finds."""
    found: dict[int, Pair] = {}
    for prompt, messages, _ in rebuilt.prompts(run):
        held = [
            rebuilt.present(item.fact, rebuilt.texts(messages, trace)) for item in wanted if item.turn == prompt.step
        ]
        if held:
            found[prompt.step] = (sum(held), len(held))
    return found


# ---------------------------------------------------------------- leaves


def leaves(trace: Trace, run: Run, place: str) -> dict[int, tuple[float, float, bool]]:
    """Leaves of each structured result: kept, all, and whether any was looked for as a whole token."""
    structured = {result.index: result for result in trace.results if isinstance(result.data, dict | list)}
    found = {}
    if place == "stored":
        for outcome in run.results:
            if outcome.step in structured:
                result, stored = structured[outcome.step], outcome.stored
                texts = ["" if stored is None else as_text(stored)]
                if isinstance(stored, dict | list):
                    parts = lost_of(result.data, taken_apart(stored))
                    found[outcome.step] = (total_of(result.data) - len(parts), total_of(result.data), False)
                else:
                    found[outcome.step] = held(result, texts, texts, whole=stored == result.text)
        return found
    for at, result, messages in rebuilt.places(trace, run):
        if at == place and result.index in structured:
            shown, whole = rebuilt.shown(messages, result, trace), rebuilt.shows_whole(messages, result)
            found[result.index] = held(result, shown, rebuilt.texts(messages, trace), whole=whole)
    return found


def held(result: ToolResult, shown: list[str], everything: list[str], *, whole: bool) -> tuple[int, int, bool]:
    """How many leaves of a result are held: what is read back of the texts that show it, and what stands beside its key on any line."""
    total = total_of(result.data)
    if whole:
        return total, total, False
    read = [item for item in (tables.read(text, tables.names_of(result.data)) for text in shown) if item is not None]
    gone = lost_of(result.data, joined(value for values, _ in read for value in values))
    rows, others = taken_apart(result.data)
    beside = with_key_beside([leaf for row in rows for leaf in row] + others, gone, everything)
    return total - len(gone) + beside, total, beside > 0


def total_of(data: Any) -> int:
    """How many leaves a value has."""
    rows, others = taken_apart(data)
    return sum(map(len, rows)) + len(others)


def lost_of(data: Any, given: tuple[list[Any], list[Any]]) -> list[Any]:
    """The leaves of a value that are not among given ones."""
    return lost(*taken_apart(data), *given)


def joined(values: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    """The leaves of several values as one."""
    rows: list[Any] = []
    others: list[Any] = []
    for value in values:
        more_rows, more_others = taken_apart(value)
        rows, others = rows + more_rows, others + more_others
    return rows, others
