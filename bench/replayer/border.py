"""Plug-ins of user code during a replay: each call is sent to the child, and its answer checked."""

from __future__ import annotations

import functools
import itertools
import json
import pickle
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from ..model import Message, Record, Reply, too_deep
from ..model.errors import StrategyError, one_line
from ..plugins.worker import NoAnswer, Session
from ..strategies import NewHistory, SandboxedPlugin, Window, Written
from ..strategies.offloading import offload
from .answers import Decision
from .loop import Loop, Start
from .numbering import shared_length
from .serving import Answered, Edit, HistoryAnswer, Messages, Plan, Request

_TYPES: dict[str, Any] = {
    "store": Record,
    "consumer": Reply,
    "evaluator": dict[str, Any] | None,
    "router": Decision | None,
    "compactor": HistoryAnswer | None,
}
"""The type of an answer for each kind of plug-in; a summarizer may give any value."""


class SandboxedPlugins:
    """The plug-ins of a strategy in its child process, during one replay by a loop."""

    def __init__(self, session: Session, plans: Mapping[str, Any], loop: Loop) -> None:
        self._session, self._plans, self._loop = session, plans, loop
        self._messages = Messages()
        self._lists: dict[tuple[int, str], list[Any]] = {}
        self._instances = itertools.count()

    def start(self, plugin: SandboxedPlugin) -> Callable[..., Any]:
        """A function from the values of a slot to the answer of a new instance of a plug-in.

        It raises StrategyError where the child gives no answer, or one that cannot be read.
        """
        return functools.partial(self._call, plugin, next(self._instances))

    def _call(self, plugin: SandboxedPlugin, instance: int, *given: Any) -> Any:
        """The answer of one instance."""
        known = len(self._messages.all)
        parts = tuple(self._argument(instance, part) for part in given)
        new = self._messages.all[known:]
        request = Request(plugin.slot, plugin.place, instance, new, parts)
        try:
            body = self._session.ask(pickle.dumps(request, pickle.HIGHEST_PROTOCOL), self._count)
        except NoAnswer as why:
            hint = " — a strategy returns or raises" if why.ended else ""
            raise StrategyError(f"{why}{hint}") from None
        answer: Answered = _read(json.loads, body, Answered)
        for handle, value in answer.offloaded:
            offload(handle, value)
        for read, written, model in answer.charged:
            self._loop.charge(read, written, model)
        if too_deep(answer.value):
            raise StrategyError("its answer cannot be read: it is nested too deep")
        value = _read(lambda data: data, answer.value, _TYPES.get(plugin.kind, Any))
        return self._new_history(value) if isinstance(value, HistoryAnswer) else value

    # ------------------------------------------------------------ to the child

    def _argument(self, instance: int, part: Any) -> Any:
        """An argument as it is sent: its lists as edits, and plans by name."""
        if isinstance(part, Window):
            changed: dict[str, Any] = {"count": len}  # the child has a function of its own
            for name in ("messages", "added"):
                changed[name] = self._part(instance, name, getattr(part, name))
            return replace(part, **changed)
        if type(part) is dict:  # a router's state
            return {key: self._part(instance, key, value) for key, value in part.items()}
        return self._part(instance, "", part)

    def _part(self, instance: int, name: str, value: Any) -> Any:
        """A list as a change of the last one with its name, a plan as its name; else the value."""
        if value is self._plans.get(name, self):
            return Plan(name)
        if not isinstance(value, list | tuple):
            return value
        items = list(value)
        keep = shared_length(self._lists.get((instance, name), []), items)
        self._lists[instance, name] = items
        if items and isinstance(items[0], Message):
            return Edit(name, keep, [*map(self._messages.add, items[keep:])], has_messages=True)
        return Edit(name, keep, items[keep:], has_messages=False)

    # ------------------------------------------------------------ from the child

    def _count(self, body: bytes) -> int:
        """The tokens of a text, or of a message or its number, that the child asks for."""
        item: Any = _read(json.loads, body, int | str | Message)
        return self._loop.count(self._message(item) if isinstance(item, int) else item)

    def _message(self, number: int) -> Message:
        """The message with a number. Raises StrategyError for one that does not exist."""
        if not 0 <= number < len(self._messages.all):
            raise StrategyError("its answer holds messages that do not exist")
        return self._messages.all[number]

    def _new_history(self, answer: HistoryAnswer) -> NewHistory:
        """A compactor's answer with the messages of this side; new ones get their numbers."""

        def received(items: Iterable[int | Message]) -> list[Message]:
            messages: list[Message] = []
            for item in items:
                number = item if isinstance(item, int) else self._messages.add(item)
                messages.append(self._message(number))
            return messages

        messages = received(answer.messages)
        written = [Written(received(read), text) for read, text in answer.written]
        return NewHistory(messages, written, answer.parts)


def starts_in_child(session: Session, plans: Mapping[str, Any], loop: Loop) -> Start:
    """The function that starts the plug-ins of a loop in the child process of a session."""
    return SandboxedPlugins(session, plans, loop).start


def _read(decode: Callable[[Any], Any], data: Any, wanted: Any) -> Any:
    """Data from the child as a value of a type. Raises StrategyError."""
    try:
        return msgspec.convert(decode(data), wanted)
    except (ValueError, RecursionError) as error:
        raise StrategyError(f"its answer cannot be read: {one_line(error)}") from None
