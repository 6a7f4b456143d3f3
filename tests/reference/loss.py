"""loss.* and needed.* the slow way: (numerator, denominator) by result or turn."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bench.model import Run, ToolResult, Trace, as_text

from . import rebuilt, tables
from .facts import facts_of
from .leaves import as_tokens, lost, taken_apart
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
            shown = [item.text for item in messages if item.step == result.index]
            whole = rebuilt.shows_whole(messages, result)
            found[result.index] = held(result, shown, rebuilt.texts(messages), whole=whole)
    return found


def held(result: ToolResult, shown: list[str], everything: list[str], *, whole: bool) -> tuple[int, int, bool]:
    """How many leaves of a result are held: what is read back of the texts that show it, and beside it, or else anywhere, whole tokens."""
    total = total_of(result.data)
    if whole:
        return total, total, False
    read = [item for item in (tables.read(text, tables.names_of(result.data)) for text in shown) if item is not None]
    if not read:
        rows, others = taken_apart(result.data)
        return as_tokens([leaf for row in rows for leaf in row] + others, everything), total, True
    gone = lost_of(result.data, joined(value for values, _ in read for value in values))
    beside = as_tokens(gone, [rest for _, rest in read if rest.strip()])
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
