"""The values that plug-ins get from their slots, and those that they return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from ..model import Message, Record, Reply as Reply, ToolResult, as_text


class WrittenSummary(msgspec.Struct, frozen=True):
    """One summary by a writer: the messages it read and its text, both of which cost tokens."""

    read: Sequence[Message]
    text: str


class NewHistory(msgspec.Struct, frozen=True):
    """A compactor's answer: the new history, where kept messages are the same objects.

    `written` are the summaries that were written for it, `commands` the tokens of a history of
    commands that it keeps beside the messages.
    """

    messages: Sequence[Message]
    written: Sequence[WrittenSummary] = ()
    commands: int | None = None


class Execution(msgspec.Struct, frozen=True):
    """One execution for a consumer: the untruncated result, and the summarizer's value or None."""

    result: ToolResult
    summary: Any


class Window(msgspec.Struct, frozen=True):
    """The prompt before a model call, for a compactor: the thread's history and its tokens.

    With `mode="per_call"` it is the full history. `added` are the messages since the last prompt;
    `tokens` is the whole prompt, framing and tool definitions included; `max_tokens` the model's
    window (128,000 where unknown).
    """

    step: int
    thread: str
    messages: Sequence[Message]
    added: Sequence[Message]
    tokens: int
    max_tokens: int
    count: Callable[[Message | str], int]


def untruncated_record(result: ToolResult) -> Record:
    """The record of a result where the store slot is empty: its whole value."""
    value = result.value
    return Record(
        step=result.index,
        call_id=result.call_id,
        function=result.function,
        success=result.success,
        value=value,
        result_type="structured" if isinstance(value, dict | list) else "text",
        error=result.error,
        arguments=result.arguments,
        t=result.t,
    )


def read_back(record: Record, stored: Any) -> Record:
    """A record as a later step reads it, with the value behind its handle."""
    if record.handle is None:
        return record
    result_type = "structured" if isinstance(stored, dict | list) else record.result_type
    return msgspec.structs.replace(record, value=stored, result_type=result_type)


def is_written_alike(value: Any, other: Any) -> bool:
    """True if two values have the same text, so the same types and the same order of keys.

    >>> is_written_alike({"a": 1}, {"a": 1}), is_written_alike({"a": 1}, {"a": True})
    (True, False)
    """
    return value is other or as_text(value) == as_text(other)
