"""Histories as messages of an interface that a user's function may ask for, OpenAI's above all, and
answers back as messages of the history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ...model import Message, ToolCall, as_text
from ...model.base import grouped
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


def openai_message(one: Message) -> dict[str, Any]:
    """A message as a mapping of OpenAI's interface; a new one at every call."""
    role, calls = role_of(one), own_calls(one)
    written: dict[str, Any] = {"role": role, "content": one.text}
    if calls:
        written["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": _json_text(call)},
            }
            for call in calls
        ]
    return {**written, "tool_call_id": one.call_id} if role == "tool" else written


def _json_text(call: ToolCall) -> str:
    return "{}" if call.arguments is None else as_text(call.arguments)


def messages_in(item: Any) -> list[Message]:
    """The messages in an item of any interface: results one by one, then the rest.

    Raises TypeError or ValueError for an item that is no message.

    >>> [(one.role, one.text) for one in messages_in({"role": "user", "content": [{"text": "Go."}]})]
    [('user', 'Go.')]
    """
    given = item.model_dump() if hasattr(item, "model_dump") else item
    if not isinstance(given, Mapping):
        raise TypeError(f"expected a message with role and content, got {type(item).__name__}")
    content = given.get("content")
    if content is not None and not isinstance(content, str | list):
        kind = type(content).__name__
        raise TypeError(f"its content is {kind}, expected text or a list of parts")
    read = message(dict(given), Unread())
    if not read:
        known = "system, developer, user, assistant, tool or function"
        raise ValueError(f"its role is {given.get('role')!r}, expected {known}")
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
    """The histories of one function, one after another, as mappings of `role` and `content` (text,
    `""` for none), with `tool_calls` or `tool_call_id`; and each of its answers, read once.

    What was written and read is kept, since doing so at every prompt would take quadratic time. A
    message that comes back unchanged is the same object as in the history. A rewritten one keeps
    its step: it is recognised by its text, by the id of its call, or by its place.

    Source: OpenAI API reference, "Create chat completion" (messages, tool_calls)

    >>> history = [Message(role="user", text=text, kind="user") for text in ("first", "second")]
    >>> chat = OpenAIMessages()
    >>> given = chat.show(history)
    >>> given
    [{'role': 'user', 'content': 'first'}, {'role': 'user', 'content': 'second'}]
    >>> chat.back(given[1:])[0] is history[1]
    True
    """

    def __init__(self) -> None:
        self._written: dict[Message, tuple[Any, Any]] = {}  # an item, and what it was
        self._read: dict[str, list[Message]] = {}

    def write(self, message: Message) -> Any:
        """A message as an item of the interface; a new one at every call."""
        return openai_message(message)

    def read(self, item: Any) -> list[Message]:
        """The messages in an item of an answer."""
        return messages_in(item)

    def show(self, history: Sequence[Message]) -> list[Any]:
        """The messages of a history to hand out."""
        self._history = history
        shown = [*map(self._item_for, history)]
        self._items, self._unchanged = [item for item, _ in shown], [same for _, same in shown]
        self._places: dict[Any, list[int]] = {}  # by what their messages are recognised by
        self._used: set[int] = set()  # the places that came back
        self._next = 0  # the place behind the last one that came back
        self._given = list(self._items)  # which the function may empty
        return self._given

    def _item_for(self, message: Message) -> tuple[Any, Any]:
        """The item to hand out for a message, and an equal one to compare it with.

        It is the same item as before, unless the function changed that.
        """
        item, same = self._written.get(message) or (None, self.write(message))
        if item != same:
            item = self.write(message)
        self._written[message] = item, same
        return item, same

    def back(self, answer: Any) -> list[Message]:
        """The messages of an answer; None or a truth value means the list that was handed out.

        Raises StrategyError for anything but a list of messages.
        """
        items = self._given if answer is None or isinstance(answer, bool) else answer
        if isinstance(items, str | bytes) or not isinstance(items, Sequence):
            what = "a compactor that is given a list of messages gives one back, or None"
            raise StrategyError(f"{what}; got {type(items).__name__} — return the list")
        return [*self._placed(items)]

    def _placed(self, items: Sequence[Any]) -> Iterator[Message]:
        """Yield the messages of an answer.

        An item that was handed out belongs to its place, and so does a copy, in an answer as long
        as the history, to the place where it is.
        """
        places = {id(item): place for place, item in enumerate(self._items)}
        is_same_length = len(items) == len(self._items)
        for at, item in enumerate(items):
            own = places.get(id(item), at if is_same_length else None)
            if own is not None and own not in self._used and item == self._unchanged[own]:
                self._use(own)
                yield self._history[own]
                continue
            for one in self._messages_of(item, at):
                place = self._place_of(one, own)
                yield one if place is None else self._rewritten(place, one)

    def _use(self, place: int) -> int:
        self._used.add(place)
        self._next = place + 1
        return place

    def _messages_of(self, item: Any, at: int) -> list[Message]:
        """The messages in an item of an answer, as new objects. Raises StrategyError."""
        text = repr(item)
        try:
            if text not in self._read:
                self._read[text] = self.read(item)
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            what = f"messages[{at}] of the answer cannot be read: {one_line(error) or type(error).__name__}"
            raise StrategyError(f"{what} — give messages like those it was given") from error
        return [msgspec.structs.replace(one) for one in self._read[text]]

    def _place_of(self, one: Message, own: int | None) -> int | None:
        """The place in the history of a message that came back; None for a new one.

        The message there has the same role, and the same text and calls, else one of the calls, else
        is the item's `own` one. Of several it is that one, else the next one, else an earlier one.
        """
        if not self._places:
            each = enumerate(self._history)
            self._places = grouped((key, at) for at, it in each for key in _keys(role_of(it), it))
        for key in _keys(one.role, one):
            if free := [at for at in self._places.get(key, ()) if at not in self._used]:
                nearest = (
                    own if own in free else next((at for at in free if at >= self._next), free[0])
                )
                return self._use(nearest)
        if own is None or own in self._used or role_of(self._history[own]) != one.role:
            return None
        return self._use(own)

    def _as_read(self, place: int) -> Message:
        """The message at a place in the history as it is read from an answer that leaves it
        unchanged."""
        (read,) = self._messages_of(self._unchanged[place], place)
        return read

    def _rewritten(self, place: int, one: Message) -> Message:
        """The message of the history at a place, with the text and the calls that came back; calls
        in the text stay."""
        original, unchanged = self._history[place], self._as_read(place)
        if _values(one) == _values(unchanged):
            return original
        calls = original.tool_calls
        if one.tool_calls != unchanged.tool_calls:
            calls = (*(call for call in calls if call.in_text), *one.tool_calls)
        call_id = original.call_id if one.call_id is None else one.call_id
        return msgspec.structs.replace(original, text=one.text, tool_calls=calls, call_id=call_id)


_values = msgspec.structs.astuple  # messages are compared by identity


def _keys(role: str, message: Message) -> Iterator[Any]:
    """Yield what a message is recognised by: its text with its calls, then each of its calls, or
    the one that it answers."""
    calls = [call.id for call in own_calls(message)]
    calls += [message.call_id] if message.call_id else []
    yield role, message.text, *calls
    yield from ((role, call) for call in calls)
