"""What plug-ins are handed: their own copies of everything that can be changed, so that nobody else sees what one of them does to it."""

from __future__ import annotations

import copy
from typing import Any

import msgspec

from ..model import AnyStep, Message, ModelTurn, Record, RouteDecision, ToolCall, ToolResult, ToolsChanged

_NEVER_CHANGED = str | int | float | bytes | None


def fresh(value: Any) -> Any:
    """A copy of a value that shares nothing with it that can be changed.

    >>> given = {"rows": [1, 2]}
    >>> fresh(given) == given, fresh(given)["rows"] is given["rows"]
    (True, False)
    """
    if isinstance(value, dict):
        return {key: fresh(item) for key, item in value.items()}
    if isinstance(value, list):
        return [fresh(item) for item in value]
    if isinstance(value, tuple):
        return tuple(map(fresh, value))
    return value if isinstance(value, _NEVER_CHANGED) else copy.deepcopy(value)


def own_step(step: AnyStep) -> AnyStep:
    """A step with copies of what can be changed in it; itself where nothing can.

    >>> step = ModelTurn(index=0, tool_calls=(ToolCall(id="c", name="get", arguments={"id": 3}),))
    >>> own_step(step) == step, own_step(step).tool_calls[0].arguments is step.tool_calls[0].arguments
    (True, False)
    """
    if isinstance(step, ToolResult):
        return own_result(step)
    if isinstance(step, ModelTurn):
        calls = own_calls(step.tool_calls)
        return step if calls is step.tool_calls else msgspec.structs.replace(step, tool_calls=calls)
    if isinstance(step, RouteDecision):
        return msgspec.structs.replace(step, state=fresh(step.state))
    if isinstance(step, ToolsChanged):
        return msgspec.structs.replace(step, tools=fresh(step.tools))
    return step


def own_result(step: ToolResult) -> ToolResult:
    """A result with copies of what can be changed in it; itself where nothing can."""
    if isinstance(step.data, _NEVER_CHANGED) and isinstance(step.arguments, _NEVER_CHANGED):
        return step
    return msgspec.structs.replace(step, data=fresh(step.data), arguments=fresh(step.arguments))


def own_calls(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    """Calls with copies of their arguments; themselves where no argument can be changed."""
    if all(isinstance(call.arguments, _NEVER_CHANGED) for call in calls):
        return calls
    return tuple(msgspec.structs.replace(call, arguments=fresh(call.arguments)) for call in calls)


def own_message(message: Message) -> Message:
    """A message whose calls have arguments of their own; itself where nothing in it can be changed."""
    calls = own_calls(message.tool_calls)
    return message if calls is message.tool_calls else msgspec.structs.replace(message, tool_calls=calls)


def own_record(record: Record) -> Record:
    """A record with copies of what can be changed in it; itself where nothing can."""
    parts = {"value": record.value, "arguments": record.arguments, "metadata": record.metadata}
    mutable = {name: fresh(part) for name, part in parts.items() if not isinstance(part, _NEVER_CHANGED)}
    return msgspec.structs.replace(record, **mutable) if mutable else record


def of_trace(record: Record, own: ToolResult, step: ToolResult) -> Record:
    """A record with the trace's own data in place of the copy that the strategy was handed: many runs then hold it once."""
    if own is step:
        return record
    value = step.data if record.value is own.data else record.value
    arguments = step.arguments if record.arguments is own.arguments else record.arguments
    return msgspec.structs.replace(record, value=value, arguments=arguments)
