"""A history as the messages of an interface, and an answer in them as our messages again."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ..model import Message, ToolCall, as_text
from ..model.errors import SpecError, StrategyError


def role_of(message: Message) -> str:
    """The role of a message: system, user, assistant or tool; user for a result sent as one."""
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
    try:
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return arguments


def text_in(content: Any) -> str:
    """The text of a content that is a string, None, or parts with text. Raises TypeError."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, Sequence):
        raise TypeError(f"its content is {type(content).__name__}, expected text or a list of parts")
    parts = [part if isinstance(part, str) else part.get("text") for part in content]
    return "\n".join(part for part in parts if isinstance(part, str))


# ---------------------------------------------------------------- interfaces


class OpenAIMessages:
    """Mappings of `role` and `content` (text, `""` for none), with `tool_calls` or `tool_call_id`.

    `beside` are the roles that an interface keeps beside the list of messages.

    Source: OpenAI API reference, "Create chat completion" (messages, tool_calls)
    """

    beside: tuple[str, ...] = ()

    def joins(self, last: Message, message: Message) -> bool:
        """True if a message is one with the message before it."""
        return False

    def write(self, group: Sequence[Message], number: int) -> Any:
        """One message of the interface, the `number`-th of a list, built anew at every call."""
        (one,) = group
        role, calls = role_of(one), own_calls(one)
        written: dict[str, Any] = {"role": role, "content": one.text}
        if calls:
            written["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": _json_text(call)}}
                for call in calls
            ]
        return {**written, "tool_call_id": one.call_id} if role == "tool" else written

    def read(self, item: Any) -> list[Message]:
        """The messages in an item, as new ones. Raises TypeError, ValueError or KeyError."""
        given = _mapping(item)
        role = {"developer": "system", "function": "tool"}.get(given.get("role", ""), given.get("role"))
        if role not in ("system", "user", "assistant", "tool"):
            raise ValueError(
                f"its role is {given.get('role')!r}, expected system, developer, user, assistant, tool or function"
            )
        calls = tuple(
            ToolCall(id=call["id"], name=call["function"]["name"], arguments=decoded(call["function"].get("arguments")))
            for call in given.get("tool_calls") or ()
        )
        return [_written(role, text_in(given.get("content")), calls, given.get("tool_call_id"))]

    def answer(self, answer: Any, given: Sequence[Any]) -> Any:
        """The list of messages in an answer: the list itself, or `{"messages": […]}`."""
        return answer["messages"] if isinstance(answer, Mapping) and "messages" in answer else answer


def _written(role: str, text: str, calls: tuple[ToolCall, ...] = (), call_id: str | None = None) -> Message:
    return Message(role=role, kind="made", text=text, tool_calls=calls, call_id=call_id)


def _mapping(item: Any) -> Mapping[str, Any]:
    given = item.model_dump() if hasattr(item, "model_dump") else item
    if not isinstance(given, Mapping):
        raise TypeError(f"expected a mapping with role and content, got {type(item).__name__}")
    return given


def _json_text(call: ToolCall) -> str:
    return "{}" if call.arguments is None else as_text(call.arguments)


class AnthropicMessages(OpenAIMessages):
    """User and assistant messages with `text`, `tool_use` and `tool_result` blocks.

    The system prompt stands beside them.

    Source: Anthropic API reference, "Messages" (content blocks, tool use)
    """

    beside = ("system",)

    def joins(self, last: Message, message: Message) -> bool:
        return role_of(last) == role_of(message) == "tool"

    def write(self, group: Sequence[Message], number: int) -> Any:
        """One message of the interface: results as blocks of one user message."""
        first = group[0]
        role, calls = role_of(first), own_calls(first)
        if role == "tool":
            blocks = [{"type": "tool_result", "tool_use_id": one.call_id, "content": one.text} for one in group]
            return {"role": "user", "content": blocks}
        if not calls:
            return {"role": role, "content": first.text}
        text = [{"type": "text", "text": first.text}] if first.text else []
        used = [
            {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments_mapping(call)} for call in calls
        ]
        return {"role": "assistant", "content": [*text, *used]}

    def read(self, item: Any) -> list[Message]:
        """The messages in an item: its results one by one, then its text and calls."""
        given = _mapping(item)
        role, content = given.get("role"), given.get("content")
        if role not in ("user", "assistant"):
            raise ValueError(
                f"its role is {role!r}, expected user or assistant: the system prompt stands beside the messages"
            )
        if content is None or isinstance(content, str):
            return [_written(role, content or "")]
        results, used, texts = (
            [block for block in content if block["type"] == kind] for kind in ("tool_result", "tool_use", "text")
        )
        messages = [_written("tool", text_in(one.get("content")), (), one["tool_use_id"]) for one in results]
        calls = tuple(ToolCall(id=one["id"], name=one["name"], arguments=one.get("input")) for one in used)
        return messages if messages and not (calls or texts) else [*messages, _written(role, text_in(texts), calls)]


class LangChainMessages(OpenAIMessages):
    """LangChain's messages, by its own converters, each with an id of its own within the call.

    An answer may be a list of messages, or the update of a LangGraph state: `{"messages": […]}`,
    with `RemoveMessage` in it or not, merged by id as `add_messages` does; `{"llm_input_messages":
    […]}` is the whole list.

    Source: LangChain reference, `convert_to_messages`, `convert_to_openai_messages`; LangGraph
    reference, `langgraph.graph.message.add_messages`
    """

    def __init__(self) -> None:
        try:
            self._library = importlib.import_module("langchain_core.messages")
        except ImportError as error:
            raise SpecError(
                "a function that asks for LangChain messages needs langchain-core — pip install langchain-core"
            ) from error

    def write(self, group: Sequence[Message], number: int) -> Any:
        (one,) = group
        calls = tuple(msgspec.structs.replace(call, arguments=arguments_mapping(call)) for call in own_calls(one))
        written = super().write([msgspec.structs.replace(one, tool_calls=calls)], number)
        (message,) = self._library.convert_to_messages([written])
        message.id = f"message-{number}"
        return message

    def read(self, item: Any) -> list[Message]:
        if not isinstance(item, self._library.BaseMessage):
            raise TypeError(f"expected a LangChain message, got {type(item).__name__}")
        return super().read(self._library.convert_to_openai_messages([item])[0])

    def answer(self, answer: Any, given: Sequence[Any]) -> Any:
        """The list of messages in an answer, removals and replacements by id applied."""
        update = isinstance(answer, Mapping)
        if update and "llm_input_messages" in answer:
            return answer["llm_input_messages"]
        items = answer.get("messages", ()) if update else answer
        if not isinstance(items, list | tuple):
            return items
        if not update and not any(getattr(item, "type", "") == "remove" for item in items):
            return items
        wiped = max((n + 1 for n, item in enumerate(items) if getattr(item, "id", "") == "__remove_all__"), default=0)
        merged = {} if wiped else {item.id: item for item in given}
        for number, item in enumerate(items[wiped:]):
            if getattr(item, "type", "") == "remove":
                merged.pop(item.id, None)
            else:
                merged[item.id or f"new-{number}"] = item
        return list(merged.values())


class LangChainState(LangChainMessages):
    """The `messages` of an agent's state since LangChain 1.0: the system prompt stands beside them.

    Source: LangChain reference, `langchain.agents.create_agent` (system_prompt)
    """

    beside = ("system",)


# ---------------------------------------------------------------- there and back


class Bridge:
    """One history in an interface: `given` is the list to hand out, `back` reads the answer.

    A message that comes back as it was given is the very one of the history. One that was rewritten
    keeps its step: it is known by the id of its call, or by its place.

    >>> history = [Message(role="user", text=text, kind="user") for text in ("first", "second")]
    >>> bridge = Bridge(OpenAIMessages(), history)
    >>> bridge.given
    [{'role': 'user', 'content': 'first'}, {'role': 'user', 'content': 'second'}]
    >>> bridge.back(bridge.given[1:])[0] is history[1]
    True
    """

    def __init__(self, dialect: OpenAIMessages, messages: Sequence[Message]) -> None:
        self._dialect = dialect
        self._groups: list[list[Message]] = []
        # messages that the interface keeps apart, each with the number of groups before it
        self._beside: list[tuple[int, Message]] = []
        for message in messages:
            if role_of(message) in dialect.beside:
                self._beside.append((len(self._groups), message))
            elif self._groups and dialect.joins(self._groups[-1][-1], message):
                self._groups[-1].append(message)
            else:
                self._groups.append([message])
        self.given = list(map(self._as_given, range(len(self._groups))))
        self._kept = list(self.given)  # the function may empty the list that it was handed
        self._place = {id(item): place for place, item in enumerate(self._kept)}
        self._used: set[Message] = set()

    def _as_given(self, place: int) -> Any:
        return self._dialect.write(self._groups[place], place)

    def back(self, answer: Any) -> list[Message]:
        """The messages of an answer; None or a truth value stands for the list that was handed out.

        Raises StrategyError for what is no list of messages.
        """
        items = self._dialect.answer(self.given if answer is None or isinstance(answer, bool) else answer, self._kept)
        if isinstance(items, str | bytes | Mapping) or not isinstance(items, Sequence):
            what = f"a compactor that is given a list of messages gives one back, or None; got {type(items).__name__}"
            raise StrategyError(f"{what} — return the list, or {{'messages': the list}}")
        messages: list[Message] = []
        beside, next_place = list(self._beside), 0
        for number, item in enumerate(items):
            place = self._unchanged(item, next_place)
            while beside and beside[0][0] <= (place or 0):  # what stood before this one comes first
                messages.append(beside.pop(0)[1])
            if place is not None:
                next_place = place + 1
                messages += self._groups[place]
                self._used.update(self._groups[place])
            elif isinstance(item, Message):
                messages.append(item)
            else:
                messages += self._rewritten(number, item, len(items))
        return [*messages, *(message for _, message in beside)]

    def _unchanged(self, item: Any, next_place: int) -> int | None:
        """The place of an item that is as it was given; None for one that was rewritten or is new.

        Of a copy that is the first free place with the same contents, from `next_place` on.
        """
        place = self._place.get(id(item))
        if place is not None:
            return place if item == self._as_given(place) else None
        others: list[int] = [*range(next_place, len(self._kept)), *range(next_place)]
        for other in others:
            is_free = self._used.isdisjoint(self._groups[other])
            if is_free and item == self._kept[other] and item == self._as_given(other):
                return other
        return None

    def _rewritten(self, number: int, item: Any, length: int) -> list[Message]:
        """The messages of an item that was rewritten or is new, the `number`-th of an answer.

        It belongs to the place at which it was given; in an answer as long as the list that was
        handed out a new item belongs to the place where it stands.
        """
        place = self._place.get(id(item), number if length == len(self._kept) else None)
        group = [] if place is None else self._groups[place]
        try:
            return [self._joined(one, group) for one in self._dialect.read(item)]
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            what = f"messages[{number}] of the answer cannot be read: {error or type(error).__name__}"
            raise StrategyError(f"{what} — give messages like those it was given") from error

    def _joined(self, one: Message, group: Sequence[Message]) -> Message:
        """The message of the history that one from an answer rewrites, with the new text and calls.

        A message that rewrites none is the answer's own.
        """
        original = self._original(one, group)
        if original is None:
            return one
        self._used.add(original)
        known = {call.id: call for call in original.tool_calls}
        calls = tuple(known[call.id] if _same(known.get(call.id), call) else call for call in one.tool_calls)
        calls = (*(call for call in original.tool_calls if call.in_text), *calls)
        call_id = original.call_id if one.call_id is None else one.call_id
        if (one.text, calls, call_id) == (original.text, original.tool_calls, original.call_id):
            return original
        return msgspec.structs.replace(original, text=one.text, tool_calls=calls, call_id=call_id)

    def _original(self, one: Message, group: Sequence[Message]) -> Message | None:
        """The message of the history with the same call, else of the same role in its group."""
        unused = (message for other in self._groups for message in other if message not in self._used)
        ids = _call_ids(one)
        for message in (*group, *unused) if ids else ():
            if ids & _call_ids(message):
                return message
        return next((message for message in group if role_of(message) == one.role), None)


def _call_ids(message: Message) -> set[str]:
    """The ids of the calls that a message makes, and of the one that it answers."""
    answered = {message.call_id} if message.call_id else set()
    return answered | {call.id for call in message.tool_calls}


def _same(original: ToolCall | None, call: ToolCall) -> bool:
    """True if a call came back as it was given: interfaces take no arguments but a mapping."""
    if original is None or original.name != call.name:
        return False
    given = original.arguments
    return call.arguments in (given, {"arguments": given}) or (given is None and call.arguments == {})
