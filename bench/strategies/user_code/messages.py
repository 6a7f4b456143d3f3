"""Histories as messages of the interfaces that a user's function may ask for: OpenAI's, Anthropic's,
LangChain's; and answers back as messages of the history."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ...model import Message, ToolCall, as_text
from ...model.errors import SpecError, StrategyError
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


def arguments_mapping(call: ToolCall) -> dict[str, Any]:
    """A call's arguments as the mapping that most interfaces ask for."""
    if isinstance(call.arguments, dict):
        return call.arguments
    return {} if call.arguments is None else {"arguments": call.arguments}


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


# ---------------------------------------------------------------- interfaces


class OpenAIMessages:
    """Mappings of `role` and `content` (text, `""` for none), with `tool_calls` or `tool_call_id`.

    An object of this class shows the histories of one function, one after another, and reads each
    answer, once. What it wrote and read is kept, since doing so at every prompt would take
    quadratic time. `beside` are the roles that an interface keeps outside the list.

    A message that comes back unchanged is the same object as in the history. A rewritten one keeps
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

    def __init__(self, *beside: str) -> None:
        self.beside = beside
        self._written: dict[tuple[Message, ...], tuple[int, Any, Any]] = {}
        self._read: dict[str, list[Message]] = {}

    # ------------------------------------------------------------ what an interface may change

    def joins(self, last: Message, message: Message) -> bool:
        """True if a message is written as one with the message before it."""
        return False

    def write(self, group: Sequence[Message], number: int) -> Any:
        """One message of the interface, the `number`-th of a list; a new object at every call."""
        (one,) = group
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

    def items_in(self, answer: Any, given: Sequence[Any]) -> Any:
        """The list of messages in an answer: the list itself, or `{"messages": […]}`."""
        has_messages = isinstance(answer, Mapping) and "messages" in answer
        return answer["messages"] if has_messages else answer

    # ------------------------------------------------------------ histories

    def show(self, history: Sequence[Message]) -> list[Any]:
        """The messages of a history to hand out."""
        self._history: list[Message] = []
        self._beside: list[tuple[int, Message]] = []  # outside the list, after so many messages
        self._groups: list[list[int]] = []  # the places in the history that each item shows
        for one in history:
            if role_of(one) in self.beside:
                self._beside.append((len(self._history), one))
                continue
            if self._history and self.joins(self._history[-1], one):
                self._groups[-1].append(len(self._history))
            else:
                self._groups.append([len(self._history)])
            self._history.append(one)
        shown = [self._item_for(group) for group in self._groups]
        self._items, self._unchanged = [item for item, _ in shown], [same for _, same in shown]
        self._used: set[int] = set()  # the places that came back
        self._next = 0  # the place behind the last one that came back
        self._given = list(self._items)  # which the function may empty
        return self._given

    def _item_for(self, places: Sequence[int]) -> tuple[Any, Any]:
        """The item to hand out for some messages, and an equal one to compare it with.

        It is the same item as before, unless the function changed that.
        """
        group = tuple(self._history[place] for place in places)
        number, item, same = self._written.get(group) or (len(self._written), None, None)
        if same is None:
            same = self.write(group, number)
        if item != same:
            item = self.write(group, number)
        self._written[group] = number, item, same
        return item, same

    def back(self, answer: Any) -> list[Message]:
        """The messages of an answer; None or a truth value means the list that was handed out.

        Raises StrategyError for anything but a list of messages.
        """
        left_as_it_is = answer is None or isinstance(answer, bool)
        items = self.items_in(self._given if left_as_it_is else answer, self._items)
        if isinstance(items, str | bytes | Mapping) or not isinstance(items, Sequence):
            what = "a compactor that is given a list of messages gives one back, or None"
            hint = "return the list, or {'messages': the list}"
            raise StrategyError(f"{what}; got {type(items).__name__} — {hint}")
        messages: list[Message] = []
        beside = list(self._beside)
        for place, one in self._placed(items):
            while beside and beside[0][0] <= (place or 0):
                messages.append(beside.pop(0)[1])
            messages.append(one)
        return [*messages, *(one for _, one in beside)]

    def _placed(self, items: Sequence[Any]) -> Iterator[tuple[int | None, Message]]:
        """Yield each message of an answer with its place in the history; the place of a new one is
        None.

        An item that was handed out belongs to its places, and so does a copy, in an answer as long
        as the history, to the places where it is.
        """
        numbers = {id(item): number for number, item in enumerate(self._items)}
        is_same_length = len(items) == len(self._groups)
        for at, item in enumerate(items):
            number = numbers.get(id(item), at if is_same_length else None)
            group: Sequence[int] = ()
            if number is not None:
                group = self._groups[number]
                if item == self._unchanged[number] and self._used.isdisjoint(group):
                    self._used.update(group)
                    self._next = group[-1] + 1
                    yield from ((place, self._history[place]) for place in group)
                    continue
            for one in self._messages_of(item, at):
                place = self._place_of(one, group)
                yield place, one if place is None else self._rewritten(place, one)

    def _messages_of(self, item: Any, at: int) -> list[Message]:
        """The messages in an item of an answer, as new objects. Raises StrategyError."""
        text = repr(item)
        try:
            if text not in self._read:
                self._read[text] = messages_in(item)
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            what = f"messages[{at}] of the answer cannot be read: {error or type(error).__name__}"
            raise StrategyError(f"{what} — give messages like those it was given") from error
        return [msgspec.structs.replace(one) for one in self._read[text]]

    def _place_of(self, one: Message, group: Sequence[int]) -> int | None:
        """The place in the history of a message that came back; None for a new one.

        The message there has the same role; it is shown alike, else has one of the calls, else is
        in the group. Of several it is one in the group, else the next one, else an earlier one.
        """
        calls, history = _call_ids(one), self._history

        def is_alike(place: int) -> bool:
            is_same_text = history[place].text == one.text
            return is_same_text and _values(self._as_read(place)) == _values(one)

        def has_call(place: int) -> bool:
            return not calls.isdisjoint(_call_ids(history[place]))

        for fits in (is_alike, has_call, lambda place: place in group):
            later, earlier = range(self._next, len(history)), range(self._next)
            for place in itertools.chain(group, later, earlier):
                is_free = place not in self._used and role_of(history[place]) == one.role
                if is_free and fits(place):
                    self._used.add(place)
                    self._next = place + 1
                    return place
        return None

    def _as_read(self, place: int) -> Message:
        """The message at a place in the history as it is read from an answer that leaves it
        unchanged."""
        (read,) = self._messages_of(self.write([self._history[place]], 0), place)
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


def _call_ids(message: Message) -> set[str]:
    """The ids of the calls of a message that are not in its text, and that of the answered call."""
    answered = {message.call_id} if message.call_id else set()
    return {call.id for call in own_calls(message)} | answered


def _json_text(call: ToolCall) -> str:
    return "{}" if call.arguments is None else as_text(call.arguments)


class AnthropicMessages(OpenAIMessages):
    """User and assistant messages with `text`, `tool_use` and `tool_result` blocks.

    The system prompt is kept outside the list.

    Source: Anthropic API reference, "Messages" (content blocks, tool use)
    """

    def __init__(self) -> None:
        super().__init__("system")

    def joins(self, last: Message, message: Message) -> bool:
        return role_of(last) == role_of(message) == "tool"

    def write(self, group: Sequence[Message], number: int) -> Any:
        """One message of the interface: results as blocks of one user message."""
        first = group[0]
        role, calls = role_of(first), own_calls(first)
        if role == "tool":
            blocks = [
                {"type": "tool_result", "tool_use_id": one.call_id, "content": one.text}
                for one in group
            ]
            return {"role": "user", "content": blocks}
        if not calls:
            return {"role": role, "content": first.text}
        text = [{"type": "text", "text": first.text}] if first.text else []
        used = [
            {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments_mapping(call)}
            for call in calls
        ]
        return {"role": "assistant", "content": [*text, *used]}


class LangChainMessages(OpenAIMessages):
    """LangChain's messages, by its own converters; each has an id that is unique within the call.

    An answer may be a list of messages, or the update of a LangGraph state: `{"messages": […]}`,
    with `RemoveMessage` in it or not, merged by id as `add_messages` does.

    Source: LangChain reference, `convert_to_messages`, `convert_to_openai_messages`; LangGraph
    reference, `langgraph.graph.message.add_messages`
    """

    def __init__(self, *beside: str) -> None:
        super().__init__(*beside)
        try:
            self._library = importlib.import_module("langchain_core.messages")
        except ImportError as error:
            raise SpecError(
                "a function that asks for LangChain messages needs langchain-core — pip install langchain-core"
            ) from error

    def write(self, group: Sequence[Message], number: int) -> Any:
        """One message of LangChain, with an id."""
        (one,) = group
        calls = tuple(
            msgspec.structs.replace(call, arguments=arguments_mapping(call))
            for call in own_calls(one)
        )
        written = super().write([msgspec.structs.replace(one, tool_calls=calls)], number)
        (message,) = self._library.convert_to_messages([written])
        message.id = f"message-{number}"
        return message

    def items_in(self, answer: Any, given: Sequence[Any]) -> Any:
        """The list of messages in an answer, after removals and replacements by id."""
        is_update = isinstance(answer, Mapping)
        items = answer.get("messages", ()) if is_update else answer
        if not isinstance(items, list | tuple):
            return items
        if not is_update and not any(_removes(item) for item in items):
            return items
        removals = [number for number, item in enumerate(items) if item.id == "__remove_all__"]
        start = removals[-1] + 1 if removals else 0
        merged = {} if removals else {item.id: item for item in given}
        for number, item in enumerate(items[start:]):
            if _removes(item):
                merged.pop(item.id, None)
            else:
                merged[item.id or f"new-{number}"] = item
        return list(merged.values())


def _removes(item: Any) -> bool:
    """True for a `RemoveMessage` of LangChain."""
    return getattr(item, "type", "") == "remove"
