"""The other side of the border: calls of user code come in as data, answers go out as data."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import msgspec

from ..model import Message
from ..model.errors import StrategyError
from ..model.outcome import Amount
from ..strategies import NewHistory, Strategy, Window
from ..strategies.offloading import offloaded_to
from ..strategies.user_code.functions import SlotFunction
from ..strategies.user_code.plain import encoded, plain_data
from .cassettes import CHARGED, REFUSED, go_offline as go_offline

CountTokens = Callable[[bytes], int]
"""The tokens of something, as the process that measures counts them."""


# ---------------------------------------------------------------- what both sides have


class References(NamedTuple):
    """A list as it is sent: each item as its number, or itself the first time."""

    items: list[Any]


class Shared:
    """The messages and the entries of histories that both sides of a replay have, numbered in the
    order of their crossing.

    An item is known by its identity, and a history is a tuple of mappings, which grows.

    >>> here, there = Shared(), Shared()
    >>> message = Message(role="user", text="go", kind="user")
    >>> first, again = here.sent([message]), here.sent([message])
    >>> again.items, there.received(first) == there.received(again)
    ([0], True)
    >>> entry = {"success": True}
    >>> there.received(here.sent((entry,)))[0].clear()
    >>> again = here.sent((entry, entry))
    >>> again.items, there.received(again)
    ([1, 1], [{'success': True}, {'success': True}])
    """

    def __init__(self) -> None:
        self._items: list[Any] = []
        self._numbers: dict[int, int] = {}  # by the identity of an item

    def reference(self, message: Message) -> int | Message:
        """The number of a message that both sides have; else the message, which they have from here
        on. Raises StrategyError for anything else."""
        if not isinstance(message, Message):
            what = "a compactor's messages must be Message values"
            raise StrategyError(f"{what}, got {type(message).__name__}")
        known: int | Message = self._reference(message)
        return known

    def message(self, reference: int | Message) -> Message:
        """The message of a reference. Raises StrategyError for the number of none."""
        if isinstance(reference, Message):
            self._added(reference)
            return reference
        known = self._items[reference] if 0 <= reference < len(self._items) else None
        if not isinstance(known, Message):
            raise StrategyError("its answer holds messages that do not exist")
        return known

    def _reference(self, item: Any) -> Any:
        number = self._numbers.get(id(item))
        return self._added(item) if number is None else number

    def _added(self, item: Any) -> Any:
        self._numbers[id(item)] = len(self._items)
        self._items.append(item)
        return item

    def sent(self, part: Any) -> Any:
        """A part of an argument to send: a history, or a list of messages, as references, anything
        else as it is."""
        is_list = isinstance(part, list) and bool(part) and isinstance(part[0], Message)
        is_shared = is_list or isinstance(part, tuple)
        return References([*map(self._reference, part)]) if is_shared else part

    def received(self, sent: Any) -> Any:
        """The part that was sent, a history as a list of copies, which its reader may change."""
        if not isinstance(sent, References):
            return sent
        items = (self._items[it] if type(it) is int else self._added(it) for it in sent.items)
        return [*map(_copied, items)]


def _copied(item: Any) -> Any:
    if isinstance(item, dict):
        return {key: _copied(value) for key, value in item.items()}
    return [*map(_copied, item)] if isinstance(item, list) else item


def by_parts(argument: Any, change: Callable[[Any], Any], count: Callable[[Any], int]) -> Any:
    """An argument with `change(part)` for each part that may hold messages or a history: the lists
    of a window, the values of a router's state, the earlier evaluations of an evaluator."""
    if isinstance(argument, Window):
        messages, added = change(argument.messages), change(argument.added)
        return replace(argument, messages=messages, added=added, count=count)
    if type(argument) is dict:
        return {key: change(value) for key, value in argument.items()}
    return change(argument) if type(argument) in (tuple, References) else argument


# ---------------------------------------------------------------- answers


TEXT = b"="
"""The start of an answer that is a text alone, as most are; JSON cannot start like this."""


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

    def answer(self, count: CountTokens, *request: Any) -> bytes:
        """The answer to a request: TEXT and a text, or `Answered` as JSON.

        A request is the slot and the place of a plug-in, the number of its instance (each has a
        state of its own), and the arguments.
        """
        slot, place, instance, given = request
        if not self._started:  # what was refused as the code was imported is no fault of a replay
            REFUSED.clear()
        if instance not in self._started:
            self._started[instance] = SlotFunction(self._strategy.plugins[slot][place])
        CHARGED.clear()
        out = Answered(charged=CHARGED)
        tokens = functools.partial(self._tokens, count)
        arguments = [by_parts(item, self._shared.received, tokens) for item in given]
        with offloaded_to(lambda name, value: out.offloaded.append((name, plain_data(value)))):
            try:
                value = self._started[instance](*arguments)
            finally:
                if REFUSED:
                    raise StrategyError(REFUSED[0])
        out.value = self._history(value) if isinstance(value, NewHistory) else value
        if type(out.value) is str and not (out.offloaded or out.charged):
            return TEXT + out.value.encode("utf-8", "surrogatepass")
        return encoded(out)

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
