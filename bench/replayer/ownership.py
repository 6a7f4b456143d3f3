"""What belongs to one replay alone: copies of what plug-ins are handed, and the two sides that are judged alike."""

from __future__ import annotations

from typing import Any

import msgspec

from ..model import Record, ToolResult
from .prompts import fresh


class Side:
    """One of the two sides that are judged alike: the stored records and the untruncated ones."""

    def __init__(self, evaluate: Any) -> None:
        self.evaluate = evaluate
        self.results = 0
        self.records: list[Record] = []
        self.evaluations: list[dict[str, Any]] = []


def own_result(step: ToolResult) -> ToolResult:
    """A result whose mutable parts belong to one replay."""
    if not isinstance(step.data, dict | list) and not isinstance(step.arguments, dict | list):
        return step
    return msgspec.structs.replace(step, data=fresh(step.data), arguments=fresh(step.arguments))


def own_record(record: Record) -> Record:
    """A record for one plug-in alone: what it does to it, nobody else sees."""
    parts = {"value": record.value, "arguments": record.arguments, "metadata": record.metadata}
    mutable = {name: fresh(part) for name, part in parts.items() if isinstance(part, dict | list)}
    return msgspec.structs.replace(record, **mutable) if mutable else record


def as_in_trace(record: Record, own: ToolResult, step: ToolResult) -> Record:
    """A record with the trace's own data in place of the copy that the strategy was handed: many runs then hold it once."""
    if own is step:
        return record
    value = step.data if record.value is own.data else record.value
    arguments = step.arguments if record.arguments is own.arguments else record.arguments
    return msgspec.structs.replace(record, value=value, arguments=arguments)
