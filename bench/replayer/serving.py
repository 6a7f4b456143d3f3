"""The other side of the border: calls of user code come in as data, answers go out as data."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from ..model import Message
from ..model.outcome import Amount
from ..strategies import NewHistory, Strategy, Window
from ..strategies.offloading import offloaded_to
from ..strategies.user_code.functions import SlotFunction
from ..strategies.user_code.plain import encoded, plain_data
from .cassettes import go_offline, require_answered
from .shared import References, Shared

if TYPE_CHECKING:
    from ..plugins.child import Link
    from ..strategies.user_code.loaded import LoadedStrategies

CountTokens = Callable[[bytes], int]
"""The tokens of something, as the process that measures counts them."""


def by_parts(argument: Any, change: Callable[[Any], Any], count: Callable[[Any], int]) -> Any:
    """An argument with `change(part)` for each part that may hold messages or a history: the lists
    of a window, the values of a router's state, the earlier evaluations of an evaluator."""
    if isinstance(argument, Window):
        messages, added = change(argument.messages), change(argument.added)
        return replace(argument, messages=messages, added=added, count=count)
    if type(argument) is dict:
        return {key: change(value) for key, value in argument.items()}
    return change(argument) if type(argument) in (tuple, References) else argument


class HistoryAnswer(msgspec.Struct):
    """A compactor's answer; `written` are the messages that each summary was written from, and its
    text."""

    messages: list[int | Message]
    written: list[tuple[list[int | Message], str]]
    parts: dict[str, int]


class Answered(msgspec.Struct):
    """The answer to a request: its value, the values offloaded, and the model calls to charge."""

    value: Any = None
    offloaded: list[tuple[str, Any]] = []
    charged: list[tuple[Amount, Amount, str | None]] = []


class Plugins:
    """The plug-ins of a strategy during one replay."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy
        self._started: dict[int, SlotFunction] = {}
        self._shared = Shared()
        self._counts: dict[Any, int] = {}
        self._out = Answered()

    def answer(self, request: bytes, count: CountTokens) -> bytes:
        """The answer to a request, as JSON.

        A request is the slot and the place of a plug-in, the number of its instance (each has a
        state of its own), and the arguments. An empty request ends the replay.
        """
        if not request:
            for function in self._started.values():
                function.finish()
            return b""
        slot, place, instance, given = pickle.loads(request)
        if instance not in self._started:
            self._started[instance] = SlotFunction(self._strategy.plugins[slot][place])
        out = self._out = Answered()
        tokens = functools.partial(self._tokens, count)
        arguments = [by_parts(item, self._shared.received, tokens) for item in given]
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

    def _tokens(self, count: CountTokens, item: Message | str) -> int:
        """The tokens of a text or a message; each is counted once."""
        if item not in self._counts:
            known = self._shared.reference(item) if isinstance(item, Message) else item
            self._counts[item] = count(encoded(known))
        return self._counts[item]

    def _history(self, answer: NewHistory) -> HistoryAnswer:
        """A compactor's answer as data."""
        reference = self._shared.reference
        messages = [*map(reference, answer.messages)]
        written = [([*map(reference, each.read)], each.text) for each in answer.written]
        return HistoryAnswer(messages, written, dict(answer.parts))


def answer_call(number: int, link: Link, ready: LoadedStrategies, request: bytes) -> bytes:
    """The answer of a strategy's plug-in in the process of a session, which is one replay."""
    return _plugins(number, ready).answer(request, link.count)


@functools.cache
def _plugins(number: int, ready: LoadedStrategies) -> Plugins:
    """The plug-ins of a strategy, from here on without a network."""
    plugins = Plugins(ready.strategy(number))
    go_offline(ready.place.base, plugins.charge)
    return plugins
