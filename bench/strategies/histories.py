"""Parts of a history, and new messages, for compactors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from ..model import Message


def older(items: list[Any], keep_last: int) -> list[Any]:
    """All items of a list except the last ones.

    >>> older([1, 2, 3], 1), older([1, 2, 3], 9)
    ([1, 2], [])
    """
    return items[: max(0, len(items) - keep_last)]


def system_count(messages: Sequence[Message]) -> int:
    """The number of system messages at the start of a history."""
    for place, message in enumerate(messages):
        if message.kind != "system":
            return place
    return len(messages)


def split_old(
    messages: Sequence[Message], keep_last: int
) -> tuple[list[Message], list[Message], list[Message]]:
    """A history as (system messages at its start, old messages, the last `keep_last`).

    The second part can end with a call whose result is in the third.

    >>> history = [Message(role="user", text=text, kind="user") for text in "abc"]
    >>> [len(part) for part in split_old(history, 2)]
    [0, 1, 2]
    """
    start = system_count(messages)
    cut = max(start, len(messages) - keep_last)
    return list(messages[:start]), list(messages[start:cut]), list(messages[cut:])


def worth_summarising(old: Sequence[Message]) -> bool:
    """True if the old messages are more than an earlier summary."""
    return any(message.kind != "made" for message in old)


def safe_cut(messages: Sequence[Message], cut: int) -> int:
    """The last place, at most `cut`, where a history can be cut without separating a result from
    its call."""
    call_places: dict[str | None, int] = {}
    answers: list[tuple[int, int]] = []  # the places of a result and of its call
    for place, message in enumerate(messages):
        call_places.update((call.id, place) for call in message.tool_calls)
        if message.kind == "result" and message.call_id in call_places:
            answers.append((place, call_places[message.call_id]))
    for result_place, call_place in reversed(answers):
        if result_place >= cut:
            cut = min(cut, call_place)
    return cut


def total(count: Callable[[Message], int], messages: Iterable[Message]) -> int:
    """The tokens of some messages together."""
    return sum(map(count, messages))


def with_text(message: Message, text: str) -> Message:
    """A copy of a message with another text."""
    return msgspec.structs.replace(message, text=text)


def summary_message(text: str) -> Message:
    """A user message with a summary of older messages."""
    return Message(role="user", kind="made", text=text)


def assistant_message(text: str) -> Message:
    """An assistant message written by the strategy."""
    return Message(role="assistant", kind="made", text=text)
