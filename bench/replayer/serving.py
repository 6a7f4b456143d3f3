"""The other side of the border: calls of user code come in as data, answers go out as data."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ..model import Message
from ..model.errors import StrategyError
from ..model.outcome import Amount
from ..strategies import NewHistory, Strategy, Window
from ..strategies.offloading import offloaded_to
from ..strategies.user_code.functions import slot_function
from ..strategies.user_code.plain import encoded, plain_data
from .cassettes import go_offline, require_answered

if TYPE_CHECKING:
    from ..plugins.child import Link
    from ..strategies.user_code.loaded import LoadedStrategies

Count = Callable[[bytes], int]
"""The tokens of something, as the process that measures counts them."""


SAME: Any = ...
"""A part of an argument that is what it was at the call before."""


class Edit(NamedTuple):
    """A list as a change of what it was at the call before: its first `keep` items, then `tail`.

    Messages in it are numbers.
    """

    keep: int
    tail: list[Any]
    has_messages: bool


def by_parts(
    argument: Any, name: str, change: Callable[[str, Any], Any], count: Callable[[Any], int]
) -> Any:
    """An argument with `change(name, part)` for each part: the lists of a window, the values of a
    router's state; any other argument is one part, called `name`."""
    if isinstance(argument, Window):
        messages, added = change("messages", argument.messages), change("added", argument.added)
        return replace(argument, messages=messages, added=added, count=count)
    if type(argument) is dict:
        return {key: change(key, value) for key, value in argument.items()}
    return change(name, argument)


class HistoryAnswer(msgspec.Struct):
    """A compactor's answer: messages by number where both sides have them, new ones as data.

    `written` are the messages that each summary was written from, and its text.
    """

    messages: list[int | Message]
    written: list[tuple[list[int | Message], str]]
    parts: dict[str, int]


class Answered(msgspec.Struct):
    """The answer to a request: its value, the values offloaded, and the model calls to charge."""

    value: Any = None
    offloaded: list[tuple[str, Any]] = []
    charged: list[tuple[Amount, Amount, str | None]] = []


class Messages:
    """The messages that both sides of a replay have, numbered in the order of their crossing."""

    def __init__(self) -> None:
        self.all: list[Message] = []
        self._numbers: dict[Message, int] = {}

    def add(self, message: Message) -> int:
        """The number of a message, which is given one if it has none."""
        number = self._numbers.get(message)
        if number is None:
            number = self._numbers[message] = len(self.all)
            self.all.append(message)
        return number

    def reference(self, message: Message) -> int | Message:
        """The number of a message that both sides have, else the message."""
        return self._numbers.get(message, message)


class Plugins:
    """The plug-ins of a strategy during one replay, and the parts that they were given last."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy
        self._started: dict[int, Callable[..., Any]] = {}
        self._messages = Messages()
        self._given: dict[tuple[int, str], Any] = {}
        self._counts: dict[Any, int] = {}
        self._out = Answered()

    def answer(self, request: bytes, count: Count) -> bytes:
        """The answer to a request, as JSON.

        A request is the slot and the place of a plug-in, the number of its instance (each has a
        state of its own), the messages that are new here, and the arguments.
        """
        slot, place, instance, messages, given = pickle.loads(request)
        for message in messages:
            self._messages.add(message)
        if instance not in self._started:
            self._started[instance] = slot_function(self._strategy.plugins[slot][place])
        out = self._out = Answered()
        part, tokens = (
            functools.partial(self._part, instance),
            functools.partial(self._tokens, count),
        )
        arguments = [by_parts(item, str(at), part, tokens) for at, item in enumerate(given)]
        try:
            with offloaded_to(lambda name, value: out.offloaded.append((name, plain_data(value)))):
                value = self._started[instance](*arguments)
        finally:
            require_answered()
        out.value = self._history(value) if isinstance(value, NewHistory) else value
        return encoded(out)

    def charge(self, read: int, written: int, model: str | None) -> None:
        """Charge a model call to the request that is being answered."""
        self._out.charged.append((read, written, model))

    def _part(self, instance: int, name: str, part: Any) -> Any:
        """The part with a name, where it is sent as a change of the one before."""
        before = self._given.get((instance, name), ())
        if part is SAME:
            return before
        if isinstance(part, Edit):
            known = self._messages.all
            tail = [known[number] for number in part.tail] if part.has_messages else part.tail
            part = [*before[: part.keep], *tail]
        self._given[instance, name] = part
        return list(part) if isinstance(part, list) else part  # the code may change what it gets

    def _tokens(self, count: Count, item: Message | str) -> int:
        """The tokens of a text or a message; each is counted once."""
        if item not in self._counts:
            known = self._messages.reference(item) if isinstance(item, Message) else item
            self._counts[item] = count(encoded(known))
        return self._counts[item]

    def _history(self, answer: NewHistory) -> HistoryAnswer:
        """A compactor's answer as data; from here on both sides have its messages."""

        def sent(messages: Iterable[Any]) -> list[int | Message]:
            references: list[int | Message] = []
            for message in messages:
                if not isinstance(message, Message):
                    what = "a compactor's messages must be Message values"
                    raise StrategyError(f"{what}, got {type(message).__name__}")
                references.append(self._messages.reference(message))
                self._messages.add(message)
            return references

        messages = sent(answer.messages)
        written = [(sent(each.read), each.text) for each in answer.written]
        return HistoryAnswer(messages, written, dict(answer.parts))


def answer_call(link: Link, ready: LoadedStrategies, number: int, request: bytes) -> bytes:
    """The answer of a strategy's plug-in in the process of a session, which is one replay."""
    return _plugins(ready, number).answer(request, link.count)


@functools.cache
def _plugins(ready: LoadedStrategies, number: int) -> Plugins:
    """The plug-ins of a strategy, from here on without a network."""
    plugins = Plugins(ready.strategy(number))
    go_offline(ready.place.base, plugins.charge)
    return plugins
