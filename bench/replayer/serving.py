"""The child's side of a replay: calls of plug-ins come in as data, answers go out as data."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ..model import Message
from ..model.outcome import Amount
from ..plugins.frames import Answer
from ..strategies import NewHistory, Strategy, Window
from ..strategies.offloading import offloaded_to
from .answers import slot_function
from .cassettes import go_offline
from .plain import encoded, plain_data

if TYPE_CHECKING:
    from ..plugins.child import Link
    from ..strategies.loaded import LoadedStrategies


class Edit(NamedTuple):
    """A list as a change of the last one with its name: the first `keep` items, then `tail`.

    Messages in it are numbers.
    """

    name: str
    keep: int
    tail: list[Any]
    has_messages: bool


class Plan(NamedTuple):
    """The name of a part of the frame's plans, which is sent once."""

    name: str


class Request(NamedTuple):
    """One call of a plug-in, the one at a `place` of a slot.

    Each `instance` of it has a state of its own. `messages` are those that the child does not have
    yet, numbered after the others; `given` are the arguments.
    """

    slot: str
    place: int
    instance: int
    messages: list[Message]
    given: tuple[Any, ...]


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
    """The plug-ins of a strategy during one replay, and the lists that they were given last."""

    def __init__(self, link: Link, strategy: Strategy, plans: Mapping[str, Any]) -> None:
        self._link, self._strategy, self._plans = link, strategy, plans
        self._started: dict[int, Callable[..., Any]] = {}
        self._messages = Messages()
        self._lists: dict[tuple[int, str], list[Any]] = {}
        self._counts: dict[Any, int] = {}
        self._out = Answered()

    def answer(self, request: bytes) -> bytes:
        """The answer to a request, as JSON."""
        slot, place, instance, messages, given = pickle.loads(request)
        for message in messages:
            self._messages.add(message)
        self._out = Answered()
        if instance not in self._started:
            self._started[instance] = slot_function(self._strategy.plugins[slot][place])
        arguments = [self._argument(instance, part) for part in given]
        with offloaded_to(self._offload):
            value = self._started[instance](*arguments)
        self._out.value = self._history(value) if isinstance(value, NewHistory) else value
        return encoded(self._out)

    def charge(self, read: int, written: int, model: str | None) -> None:
        """Charge a model call to the request that is being answered."""
        self._out.charged.append((read, written, model))

    def _offload(self, handle: str, value: Any) -> None:
        self._out.offloaded.append((handle, plain_data(value)))

    def _argument(self, instance: int, part: Any) -> Any:
        """An argument with its lists, messages and plans in their places."""
        if isinstance(part, Window):
            messages, added = (self._part(instance, each) for each in (part.messages, part.added))
            return replace(part, messages=messages, added=added, count=self._count)
        if type(part) is dict:
            return {key: self._part(instance, value) for key, value in part.items()}
        return self._part(instance, part)

    def _part(self, instance: int, part: Any) -> Any:
        """The list of an edit, or the plan with a name; any other value as it is."""
        if isinstance(part, Edit):
            items = self._lists.setdefault((instance, part.name), [])
            known = self._messages.all
            tail = [known[number] for number in part.tail] if part.has_messages else part.tail
            items[part.keep :] = tail
            return list(items)
        return self._plans[part.name] if isinstance(part, Plan) else part

    def _count(self, item: Message | str) -> int:
        """The tokens of a text or a message, as the process that measures counts them."""
        if item not in self._counts:
            known = self._messages.reference(item) if isinstance(item, Message) else item
            self._counts[item] = self._link.count(encoded(known))
        return self._counts[item]

    def _history(self, answer: NewHistory) -> HistoryAnswer:
        """A compactor's answer as data; from here on both sides have its messages."""

        def sent(messages: Iterable[Message]) -> list[int | Message]:
            references: list[int | Message] = []
            for message in messages:
                references.append(self._messages.reference(message))
                self._messages.add(message)
            return references

        messages = sent(answer.messages)
        written = [(sent(each.read), each.text) for each in answer.written]
        return HistoryAnswer(messages, written, dict(answer.parts))


def open_replay(
    link: Link, ready: LoadedStrategies, number: int, plans: Mapping[str, Any]
) -> Answer:
    """A function that answers the calls of a strategy's plug-ins during one replay."""
    plugins = Plugins(link, ready.strategy(number), plans)
    go_offline(ready.place.base, plugins.charge)
    return plugins.answer
