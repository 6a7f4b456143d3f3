"""The history rules of today's agents and libraries: each policy by its own rule, under its own name, with its own way of counting tokens.

A *view* is computed from the full history at every call; every other policy rewrites the history. A parameter `every` above 1 moves the boundary at
every `every`-th prompt only, which no original offers. Where a project does not document the text around a summary or of a placeholder, that text
is ours, and the policy says so. This file holds what several policies share. Families of one library share a file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from ...model import Message, ToolCall
from ..messages import arguments_mapping, own_calls

NOTED = "Noted."
"""The fixed answer after a summary, where a project adds one that it does not document."""


# ---------------------------------------------------------------- calls and results


def callers(messages: Iterable[Message]) -> dict[str, tuple[Message, ToolCall]]:
    """Return each call by its id, with the message that makes it. An id that comes again is the later one."""
    return {call.id: (message, call) for message in messages for call in message.tool_calls}


def tool_name(message: Message, made: Mapping[str, tuple[Message, ToolCall]]) -> str | None:
    """Return the tool that gave a result; None where its call is not known."""
    found = made.get(message.call_id or "")
    return None if found is None else found[1].name


def results_of(messages: Iterable[Message]) -> dict[str | None, Message]:
    """Return each tool result by the id of its call; the last one of an id."""
    return {message.call_id: message for message in messages if message.kind == "result"}


def path_of(call: ToolCall) -> str | None:
    """Return the file that a call names, as `file_path` or `path`; None where it names none."""
    arguments = arguments_mapping(call)
    path = arguments.get("file_path") or arguments.get("path")
    return path if isinstance(path, str) else None


def without_inputs(message: Message, cleared: Collection[str]) -> Message:
    """Return a model's message with empty arguments in these calls; a call that is written in its text stays."""
    calls = (
        msgspec.structs.replace(call, arguments={}) if call.id in cleared and not call.in_text else call
        for call in message.tool_calls
    )
    return msgspec.structs.replace(message, tool_calls=tuple(calls))


def cleared_inputs(results: Iterable[Message], made: Mapping[str, tuple[Message, ToolCall]]) -> dict[Message, Message]:
    """Return for each message that makes the calls of some results the message without their arguments."""
    ids = [message.call_id for message in results if message.call_id in made and message.call_id]
    return {made[call_id][0]: without_inputs(made[call_id][0], ids) for call_id in ids}


def older(found: list[Any], keep_last: int) -> list[Any]:
    """Return all items of a list but the last ones.

    >>> older([1, 2, 3], 1), older([1, 2, 3], 9)
    ([1, 2], [])
    """
    return found[: max(0, len(found) - keep_last)]


def exchanged(messages: Iterable[Message], instead: Mapping[Message, Message]) -> list[Message]:
    """Return a history with some messages exchanged for others."""
    return [instead.get(message, message) for message in messages]


# ---------------------------------------------------------------- counting


def rounded_up(chars: float, per_token: float = 4) -> int:
    """Return tokens as many projects estimate them: characters (or bytes) by a constant, rounded up."""
    return math.ceil(chars / per_token)


def dense_json(value: Any) -> str:
    """Return a value as JSON without blanks, as JavaScript writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


_LANGCHAIN_ROLES = {"system": "system", "model": "assistant", "result": "tool"}


def langchain_tokens(message: Message, chars_per_token: float = 4) -> int:
    """Return a message's tokens as langchain-core's `count_tokens_approximately` counts them: text, role, calls and call id, and 3 more.

    >>> langchain_tokens(Message(role="user", text="12345", kind="user"))
    6
    """
    calls = [
        {"name": call.name, "args": call.arguments, "id": call.id, "type": "tool_call"} for call in own_calls(message)
    ]
    chars = len(message.text) + (len(repr(calls)) if calls else 0) + len(_LANGCHAIN_ROLES.get(message.kind, "user"))
    return rounded_up(chars + (len(message.call_id or "") if message.kind == "result" else 0), chars_per_token) + 3


# ---------------------------------------------------------------- cutting


def within(messages: Sequence[Message], budget: int, tokens: Callable[[Message], int], *, least: int = 1) -> int:
    """Return where the longest end of a history within a budget begins; at least the last message is in it.

    >>> told = [Message(role="user", text=text, kind="user") for text in "abc"]
    >>> within(told, 2, lambda message: 1), within(told, 0, lambda message: 1), within(told, 0, lambda message: 1, least=0)
    (1, 2, 3)
    """
    cut = len(messages)
    while cut and tokens(messages[cut - 1]) <= budget:
        cut -= 1
        budget -= tokens(messages[cut])
    return min(cut, max(0, len(messages) - least))


def with_call(messages: Sequence[Message], cut: int) -> int:
    """Return the cut moved back to the call of the results that it would begin with; behind them where no message makes it."""
    if not 0 <= cut < len(messages) or messages[cut].kind != "result":
        return cut
    behind = next((place for place in range(cut, len(messages)) if messages[place].kind != "result"), len(messages))
    ids = {message.call_id for message in messages[cut:behind]}
    called = (place for place in range(cut - 1, -1, -1) if ids & {call.id for call in messages[place].tool_calls})
    return next(called, behind)


def answered(messages: Sequence[Message], none: int = 0) -> int:
    """Return the place behind the model's last message: what follows waits to be sent. `none` where the model said nothing."""
    return max((place + 1 for place, message in enumerate(messages) if message.kind == "model"), default=none)


def results_together(messages: Iterable[Message]) -> list[list[Message]]:
    """Return a history as lists of one message each; tool results that follow each other are one list."""
    groups: list[list[Message]] = []
    for message in messages:
        if message.kind == "result" and groups and groups[-1][0].kind == "result":
            groups[-1].append(message)
        else:
            groups.append([message])
    return groups


def joined(groups: Iterable[Sequence[Message]]) -> list[Message]:
    """Return the messages of some groups, in order."""
    return [message for group in groups for message in group]
