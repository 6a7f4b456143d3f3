"""The answer of each slot, read: the types that a slot allows, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from ..model import Record, Reply, ToolResult
from ..model.errors import StrategyError
from ..strategies import Edits, untruncated_record
from ..strategies.routing import route_of
from .plain import plain_data, plain_struct

Decision = tuple[str, dict[str, Any]]
"""A route, and its detail."""


def record_of(answer: Any, given: ToolResult) -> Record:
    """A store's answer as a record: itself, or one that holds the value it gave."""
    if isinstance(answer, Record):
        return plain_struct(Record, answer)
    value = plain_data(answer)
    result_type = "structured" if isinstance(value, dict | list) else "text"
    record = untruncated_record(given)
    return msgspec.structs.replace(record, value=value, result_type=result_type)


def reply_of(answer: Any) -> Reply:
    """A consumer's answer. Raises StrategyError for anything but a Reply."""
    if not isinstance(answer, Reply):
        what = f"a consumer gives a Reply, got {type(answer).__name__}"
        raise StrategyError(f"{what} — or return a mapping with text, state and route")
    return plain_struct(Reply, answer)


def findings_of(answer: Any) -> dict[str, Any] | None:
    """An evaluator's answer: a mapping of findings, or None."""
    findings = plain_data(dict(answer) if isinstance(answer, Mapping) else answer)
    if findings is not None and not isinstance(findings, dict):
        what = "an evaluator gives a mapping of findings, or None"
        raise StrategyError(f"{what}, got {type(answer).__name__}")
    return findings


def decision_of(answer: Any) -> Decision | None:
    """A router's answer; None where the decision is another router's."""
    if answer is None:
        return None
    route, detail = route_of(answer)
    return plain_data(route), plain_data(dict(detail))


def edits_of(answer: Any) -> Edits | None:
    """A compactor's answer: a list of messages, Edits or None. Raises StrategyError for others."""
    edits = Edits(messages=answer) if isinstance(answer, list | tuple) else answer
    if edits is not None and not isinstance(edits, Edits):
        what = "a compactor gives a list of messages, Edits or None"
        raise StrategyError(f"{what}, got {type(edits).__name__}")
    return edits


class Kind(NamedTuple):
    """The answer of a slot: its type, and what makes that of a function's answer and its input."""

    type: Any
    read: Callable[[Any, Any], Any]


KINDS: dict[str, Kind] = {
    "summarizer": Kind(Any, lambda answer, given: plain_data(answer)),
    "store": Kind(Record, record_of),
    "consumer": Kind(Reply, lambda answer, given: reply_of(answer)),
    "evaluator": Kind(dict[str, Any] | None, lambda answer, given: findings_of(answer)),
    "router": Kind(Decision | None, lambda answer, given: decision_of(answer)),
    "compactor": Kind(Edits | None, lambda answer, given: edits_of(answer)),
}
"""The values that come back, by kind of plug-in."""
