"""A history as the messages of an interface or a library, and an answer in them as our messages again.

A message that comes back as it was given is the very message of the history; one that was rewritten keeps its step; any other is new.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from ..model import Message, ToolCall
from ..model.errors import StrategyError


class NeutralMessage(msgspec.Struct, frozen=True):
    """One message in no dialect's words. `role` is system, user, assistant or tool; `call_id` and `tool` are those of a result."""

    role: str
    text: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None
    id: str = ""
    tool: str = ""


Neutrals = Sequence[NeutralMessage]


class Dialect(ABC):
    """The messages of one interface. `beside` are the roles that it keeps beside the list, as the system prompt in some."""

    beside: tuple[str, ...] = ()

    def joins(self, last: NeutralMessage, message: NeutralMessage) -> bool:
        """True if a message is one with the message before it."""
        return False

    @abstractmethod
    def write(self, group: Neutrals) -> Any:
        """One message of the interface, made anew at every call; a tuple where it is several items of the list."""

    @abstractmethod
    def read(self, item: Any) -> list[NeutralMessage]:
        """The messages in one. Raises TypeError or ValueError for what is no message."""

    def units(self, items: Sequence[Any], place: Callable[[Any], int | None]) -> list[Any]:
        """The messages in a list, as `write` gives them; `place` is that of an item which was handed out."""
        return list(items)

    def ready(self, items: list[Any]) -> None:  # noqa: B027 - most need nothing
        """Prepare the list that is handed out, as the library does before it calls anybody."""

    def answer(self, answer: Any, given: Sequence[Any]) -> Any:
        """The list of messages in what a function returned: the list itself, or `{"messages": […]}`."""
        return answer["messages"] if isinstance(answer, Mapping) and "messages" in answer else answer


class Bridge:
    """One history in a dialect. `given` is the list to hand out; `back` reads the answer against it.

    >>> from bench.strategies.dialects import OpenAIMessages
    >>> told = [Message(role="user", text=text, kind="user") for text in ("first", "second")]
    >>> bridge = Bridge(OpenAIMessages(), told)
    >>> bridge.given
    [{'role': 'user', 'content': 'first'}, {'role': 'user', 'content': 'second'}]
    >>> bridge.back(bridge.given[1:])[0] is told[1]
    True
    """

    def __init__(self, dialect: Dialect, messages: Sequence[Message]) -> None:
        self._dialect = dialect
        self._groups: list[list[Message]] = []
        self._told: list[list[NeutralMessage]] = []
        self._beside: list[tuple[int, Message]] = []  # messages in no group, behind so many groups
        tools = {call.id: call.name for message in messages for call in message.tool_calls}
        for number, message in enumerate(messages):
            calls, tool = tuple(own_calls(message)), tools.get(message.call_id or "", "")
            one = NeutralMessage(role_of(message), message.text, calls, message.call_id, f"message-{number}", tool)
            if one.role in dialect.beside:
                self._beside.append((len(self._groups), message))
            elif self._told and dialect.joins(self._told[-1][-1], one):
                self._groups[-1].append(message)
                self._told[-1].append(one)
            else:
                self._groups.append([message])
                self._told.append([one])
        self._held = [dialect.write(group) for group in self._told]
        self.given = [item for unit in self._held for item in _items(unit)]
        dialect.ready(self.given)
        self._kept = list(self.given)  # the function may empty the list that it was handed
        self._place = {id(item): place for place, unit in enumerate(self._held) for item in _items(unit)}
        self._used: set[Message] = set()

    def back(self, answer: Any) -> list[Message]:
        """The messages of an answer; None, or True or False, stands for the list that was handed out, as the function left it.

        Raises StrategyError.
        """
        left = answer is None or isinstance(answer, bool)
        found = self._dialect.answer(self.given if left else answer, self._kept)
        if isinstance(found, str | bytes | Mapping) or not isinstance(found, Sequence):
            what = f"a compactor that is given a list of messages gives one back, or None; got {type(found).__name__}"
            raise StrategyError(f"{what} — return the list, or {{'messages': the list}}")
        units = self._dialect.units(found, lambda item: self._place.get(id(item)))
        same_length = len(units) == len(self._held)
        messages: list[Message] = []
        beside, cursor = list(self._beside), 0
        for number, unit in enumerate(units):
            place = self._unchanged(unit, cursor)
            while beside and beside[0][0] <= (0 if place is None else place):
                messages.append(beside.pop(0)[1])
            if place is not None:
                cursor = place + 1
                messages += self._groups[place]
                self._used.update(self._groups[place])
            elif isinstance(unit, Message):
                messages.append(unit)
            else:
                handed = self._place.get(id(_items(unit)[0]), number if same_length else -1)
                messages += self._rewritten(number, unit, () if handed < 0 else self._groups[handed])
        return [*messages, *(message for _, message in beside)]

    def _unchanged(self, unit: Any, cursor: int) -> int | None:
        """The place of the message that this one is: the very one, or a copy of it, looked for from the last one found on."""
        place = self._place.get(id(_items(unit)[0]))
        if place is not None:
            return place if unit == self._dialect.write(self._told[place]) else None
        order = (*range(cursor, len(self._held)), *range(cursor))
        same = (n for n in order if unit == self._held[n] and unit == self._dialect.write(self._told[n]))
        return next((n for n in same if not self._used.intersection(self._groups[n])), None)

    def _rewritten(self, number: int, unit: Any, group: Sequence[Message]) -> list[Message]:
        try:
            return [self._message(told, group) for told in self._dialect.read(unit)]
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            what = f"messages[{number}] of the answer cannot be read: {error or type(error).__name__}"
            raise StrategyError(f"{what} — give messages like those it was given") from error

    def _message(self, told: NeutralMessage, group: Sequence[Message]) -> Message:
        original = self._original(told, group)
        if original is None:
            return Message(role=told.role, kind="made", text=told.text, tool_calls=told.calls, call_id=told.call_id)
        self._used.add(original)
        known = {call.id: call for call in original.tool_calls}
        calls = tuple(known[call.id] if _same(known.get(call.id), call) else call for call in told.calls)
        calls = (*(call for call in original.tool_calls if call.in_text), *calls)
        call_id = original.call_id if told.call_id is None else told.call_id
        if (told.text, calls, call_id) == (original.text, original.tool_calls, original.call_id):
            return original
        return msgspec.structs.replace(original, text=told.text, tool_calls=calls, call_id=call_id)

    def _original(self, told: NeutralMessage, group: Sequence[Message]) -> Message | None:
        """The message of the history that was rewritten: by the id of its call, by its place, or the one that differs in ids alone."""
        ids = {call.id for call in told.calls}
        if told.call_id is None and not ids:
            return next((message for message in group if role_of(message) == told.role), None)
        everyone = [message for other in self._groups for message in other if message not in self._used]
        for message in (*group, *everyone):
            if told.call_id is not None and message.kind == "result" and message.call_id == told.call_id:
                return message
            if ids and ids & {call.id for call in message.tool_calls}:
                return message
        renamed = [message for message in everyone if _renamed(message, told)]
        own = next((message for message in renamed if message in group), None)
        return own or (renamed[0] if len(renamed) == 1 else None)


def _items(unit: Any) -> tuple[Any, ...]:
    return unit if type(unit) is tuple and unit else (unit,)


def _renamed(message: Message, told: NeutralMessage) -> bool:
    """True if a message differs from one of ours in the ids of its calls alone."""
    calls = own_calls(message)
    alike = role_of(message) == told.role and message.text == told.text and len(calls) == len(told.calls)
    return alike and all(map(_same, calls, told.calls))


def _same(original: ToolCall | None, told: ToolCall) -> bool:
    """True if a call came back as it was handed out: a dialect has no word for no arguments, or for those that are no mapping."""
    if original is None or original.name != told.name:
        return False
    given = original.arguments
    return told.arguments in (given, {"arguments": given}) or (given is None and told.arguments == {})


def role_of(message: Message) -> str:
    """The role of a message among system, user, assistant and tool. A result that was recorded as a user's message is one."""
    if message.kind == "result":
        return "tool" if message.role in ("tool", "function") and message.call_id else "user"
    if message.kind == "made":
        return message.role if message.role in ("system", "assistant", "tool") else "user"
    return {"model": "assistant"}.get(message.kind, message.kind)


def own_calls(message: Message) -> list[ToolCall]:
    """The calls of a message that do not stand in its text."""
    return [call for call in message.tool_calls if not call.in_text]


def arguments_mapping(call: ToolCall) -> dict[str, Any]:
    """A call's arguments as the mapping that most interfaces ask for."""
    if isinstance(call.arguments, dict):
        return call.arguments
    return {} if call.arguments is None else {"arguments": call.arguments}


def decoded(arguments: Any) -> Any:
    """A call's arguments: the value of JSON text, or the text where it is none."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def text_in(content: Any) -> str:
    """The text of a message's content: a string, None, or parts with text; TypeError for anything else."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, Sequence):
        raise TypeError(f"its content is {type(content).__name__}, expected text or a list of parts")
    parts = [part if isinstance(part, str) else part.get("text") for part in content]
    return "\n".join(part for part in parts if isinstance(part, str))
