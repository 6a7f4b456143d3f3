"""The answer of each slot, read: the types that a slot allows, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from ..model import Message, Record, Reply, ToolResult, as_text, compact_json
from ..model.errors import StrategyError
from ..strategies import Edits, Summary, untruncated_record
from ..strategies.routing import route_of
from .plain import plain_data, plain_struct


def summary_of(answer: Any) -> tuple[Any, str | None, tuple[str, ...]]:
    """A summarizer's value, its text (None: as stored) and its notes."""
    notes: tuple[str, ...] = ()
    if isinstance(answer, Summary):
        notes, answer = texts(answer.notes), answer.value
    value = plain_data(answer)
    return value, None if value is None else as_text(value), notes


def texts(given: Iterable[Any]) -> tuple[str, ...]:
    """Notes: a sequence of texts. Raises StrategyError for anything else."""
    values: tuple[str, ...] = plain_data(tuple(given))
    if not all(isinstance(text, str) for text in values):
        raise StrategyError("notes must be texts — write notes=('what happened',)")
    return values


def record_of(answer: Any, given: ToolResult) -> Record:
    """A store's answer as a record: itself, or one that holds the value it gave."""
    if isinstance(answer, Record):
        return plain_struct(Record, answer)
    value = plain_data(answer)
    result_type = "structured" if isinstance(value, dict | list) else "text"
    return msgspec.structs.replace(untruncated_record(given), value=value, result_type=result_type)


def reply_of(answer: Any) -> Reply:
    """A consumer's answer. Raises StrategyError for anything but a Reply."""
    if not isinstance(answer, Reply):
        what = f"a consumer gives a Reply, got {type(answer).__name__}"
        raise StrategyError(f"{what} — or return a mapping with text, state and route")
    reply = plain_struct(Reply, answer)
    compact_json(reply.state)
    return reply


def findings_of(answer: Any) -> dict[str, Any] | None:
    """An evaluator's answer: a mapping of findings, or None."""
    if answer is None:
        return None
    findings = plain_data(dict(answer) if isinstance(answer, Mapping) else answer)
    if not isinstance(findings, dict):
        what = f"an evaluator gives a mapping of findings, or None, got {type(answer).__name__}"
        raise StrategyError(what)
    compact_json(findings)
    return findings


def decision_of(answer: Any) -> tuple[str, dict[str, Any]]:
    """A router's answer: the route, and its detail."""
    route, detail = route_of(answer)
    decision = plain_data(dict(detail))
    compact_json(decision)
    return plain_data(route), decision


def edits_of(answer: Any) -> Edits | None:
    """A compactor's answer: a list of messages, Edits or None. Raises StrategyError for any other."""
    edits = Edits(messages=answer) if isinstance(answer, list | tuple) else answer
    if edits is not None and not isinstance(edits, Edits):
        what = f"a compactor gives a list of messages, Edits or None, got {type(edits).__name__}"
        raise StrategyError(what)
    return edits


def applied(edits: Edits, history: list[Message]) -> list[Message]:
    """A history after edits; it stays as it is. Raises StrategyError for a message that is not in it.

    Replaced messages are looked for from the newest on, where compaction works.
    """
    if edits.messages is not None:
        return [*edits.messages, *edits.append]
    messages, wanted = list(history), dict(edits.replace)
    for place in range(len(messages) - 1, -1, -1):
        if not wanted:
            break
        if messages[place] in wanted:
            instead = wanted.pop(messages[place])
            messages[place : place + 1] = [] if instead is None else [instead]
    if wanted:
        raise StrategyError("a compactor replaced a message that is not in the history")
    return [*messages, *edits.append]
