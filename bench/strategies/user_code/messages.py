"""Conversion of a history to OpenAI's messages for a user's function, and of its answer back to
messages of the history. `libraries` has the other interfaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ...model import Message, ToolCall, as_text
from ...model.errors import StrategyError, one_line
from ...traces.intakes.messages import message
from ...traces.values import Unread


def role_of(message: Message) -> str:
    """The role of a message: system, user, assistant or tool; user for a result sent as one."""
    if message.kind == "result":
        return "tool" if message.role in ("tool", "function") and message.call_id else "user"
    if message.kind == "made":
        return message.role if message.role in ("system", "assistant", "tool") else "user"
    return {"model": "assistant"}.get(message.kind, message.kind)


def own_calls(message: Message) -> list[ToolCall]:
    """The calls of a message that are not written in its text."""
    return [call for call in message.tool_calls if not call.in_text]


def openai_message(message: Message) -> dict[str, Any]:
    """A message as a new mapping of OpenAI's interface."""
    role, calls = role_of(message), own_calls(message)
    item: dict[str, Any] = {"role": role, "content": message.text}
    if calls:
        item["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": _json_text(call)},
            }
            for call in calls
        ]
    return {**item, "tool_call_id": message.call_id} if role == "tool" else item


def _json_text(call: ToolCall) -> str:
    return "{}" if call.arguments is None else as_text(call.arguments)


def messages_in(item: Any) -> list[Message]:
    """The messages in an item of any interface: first each tool result, then the rest.

    Raises TypeError or ValueError for an item that is no message.

    >>> [(one.role, one.text) for one in messages_in({"role": "user", "content": [{"text": "Go."}]})]
    [('user', 'Go.')]
    """
    data = item.model_dump() if hasattr(item, "model_dump") else item
    if not isinstance(data, Mapping):
        raise TypeError(f"expected a message with role and content, got {type(item).__name__}")
    content = data.get("content")
    if content is not None and not isinstance(content, str | list):
        kind = type(content).__name__
        raise TypeError(f"its content is {kind}, expected text or a list of parts")
    read = message(dict(data), Unread())
    if not read:
        known = "system, developer, user, assistant, tool or function"
        raise ValueError(f"its role is {data.get('role')!r}, expected {known}")
    if not all(call.id for one in read for call in one.calls):
        raise ValueError("it has a call without an id")
    return [
        Message(
            role=one.role,
            kind="made",
            text=one.content,
            tool_calls=one.calls,
            call_id=one.call_id or None,
        )
        for one in read
    ]


# ---------------------------------------------------------------- histories


class OpenAIMessages:
    """Converts the histories that one function is given, one after another, and its answers.

    An item is a mapping of `role` and `content` (text, `""` for none), with `tool_calls` or
    `tool_call_id`. Items are written and read once, since doing so at every prompt would take
    quadratic time. A message that comes back unchanged is the same object as in the history. A
    rewritten one keeps its step: it is recognised by its text, its calls, or its place.

    Source: OpenAI API reference, "Create chat completion" (messages, tool_calls)

    >>> history = [Message(role="user", text=text, kind="user") for text in ("first", "second")]
    >>> chat = OpenAIMessages()
    >>> items = chat.show(history)
    >>> items
    [{'role': 'user', 'content': 'first'}, {'role': 'user', 'content': 'second'}]
    >>> chat.back(items[1:])[0] is history[1]
    True
    """

    def __init__(self) -> None:
        self._written: dict[Message, tuple[Any, Any]] = {}  # its item, and an equal one
        self._read: dict[str, list[Message]] = {}  # the messages of an item, by its repr

    def write(self, message: Message) -> Any:
        """A message as a new item of the interface."""
        return openai_message(message)

    def read(self, item: Any) -> list[Message]:
        """The messages in an item of an answer."""
        return messages_in(item)

    def show(self, history: Sequence[Message]) -> list[Any]:
        """The items of a history, for the function."""
        self._history = history
        pairs = [*map(self._item_for, history)]
        self._items, self._unchanged = [item for item, _ in pairs], [equal for _, equal in pairs]
        self._places: dict[Any, list[int]] = {}  # the places in the history by `_keys`
        self._used: set[int] = set()  # the places whose messages came back
        self._next = 0  # the place behind the last one that came back
        self._given = list(self._items)  # the list that the function gets and may change
        return self._given

    def _item_for(self, message: Message) -> tuple[Any, Any]:
        """The item for a message, the same at every call unless the function changed it; and an
        equal one that the function never sees, to notice a change."""
        item, unchanged = self._written.get(message) or (None, self.write(message))
        if item != unchanged:
            item = self.write(message)
        self._written[message] = item, unchanged
        return item, unchanged

    def back(self, answer: Any) -> list[Message]:
        """The messages of an answer; None, True or False stand for the list that was given.

        Raises StrategyError for anything but a list of messages.
        """
        items = self._given if answer is None or isinstance(answer, bool) else answer
        if isinstance(items, str | bytes) or not isinstance(items, Sequence):
            what = "a compactor that is given a list of messages gives one back, or None"
            raise StrategyError(f"{what}; got {type(items).__name__} — return the list")
        return [*self._messages_of_answer(items)]

    def _messages_of_answer(self, items: Sequence[Any]) -> Iterator[Message]:
        """Yield the messages of an answer.

        Each item is likely to stand for the message at one place of the history: an item that was
        given for its own, any other, in an answer as long as the history, for the one at its index.
        """
        places = {id(item): place for place, item in enumerate(self._items)}
        is_same_length = len(items) == len(self._items)
        for index, item in enumerate(items):
            likely = places.get(id(item), index if is_same_length else None)
            is_free = likely is not None and likely not in self._used
            if likely is not None and is_free and item == self._unchanged[likely]:
                yield self._history[self._use(likely)]
                continue
            for new in self._messages_of(item, index):
                place = self._place_of(new, likely)
                yield new if place is None else self._rewritten(place, new)

    def _use(self, place: int) -> int:
        """Mark a place whose message came back; returns the place."""
        self._used.add(place)
        self._next = place + 1
        return place

    def _messages_of(self, item: Any, index: int) -> list[Message]:
        """The messages in an item of an answer, as new objects. Raises StrategyError."""
        text = repr(item)
        try:
            if text not in self._read:
                self._read[text] = self.read(item)
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            problem = one_line(error) or type(error).__name__
            what = f"messages[{index}] of the answer cannot be read: {problem}"
            raise StrategyError(f"{what} — give messages like those it was given") from error
        return [msgspec.structs.replace(message) for message in self._read[text]]

    def _place_of(self, message: Message, likely: int | None) -> int | None:
        """The place in the history of a message that came back; None for a new one.

        The message there has the same role, and the same text and calls, or one of the calls, or it
        is the `likely` one. Of several it is the likely one, else the next one, else the first.
        """
        if not self._places:
            for place, recorded in enumerate(self._history):
                for key in _keys(role_of(recorded), recorded):
                    self._places.setdefault(key, []).append(place)
        for key in _keys(message.role, message):
            free = [place for place in self._places.get(key, ()) if place not in self._used]
            if likely in free:
                return self._use(likely)
            if free:
                return self._use(min(free, key=lambda place: (place < self._next, place)))
        if likely is None or likely in self._used:
            return None
        return self._use(likely) if role_of(self._history[likely]) == message.role else None

    def _as_read(self, place: int) -> Message:
        """The message at a place in the history as it is read from an answer that leaves it
        unchanged."""
        (read,) = self._messages_of(self._unchanged[place], place)
        return read

    def _rewritten(self, place: int, new: Message) -> Message:
        """The message at a place of the history, with the text and the calls that came back; calls
        in the text stay."""
        original, unchanged = self._history[place], self._as_read(place)
        if _values(new) == _values(unchanged):
            return original
        calls = original.tool_calls
        if new.tool_calls != unchanged.tool_calls:
            calls = (*(call for call in calls if call.in_text), *new.tool_calls)
        call_id = original.call_id if new.call_id is None else new.call_id
        return msgspec.structs.replace(original, text=new.text, tool_calls=calls, call_id=call_id)


_values = msgspec.structs.astuple  # since == compares messages by identity


def _keys(role: str, message: Message) -> Iterator[Any]:
    """Yield the keys by which a message is recognised: its text with its calls, then each of its
    calls, or the call that it answers."""
    calls = [call.id for call in own_calls(message)]
    calls += [message.call_id] if message.call_id else []
    yield role, message.text, *calls
    yield from ((role, call) for call in calls)
