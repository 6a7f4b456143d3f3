"""The border between a replay and user code: the values of slots go over as data, and answers come
back as data, which is checked."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ..model import MAX_DEPTH, Message, Record, Reply, too_deep
from ..model.errors import StrategyError, one_line
from ..model.messages import shared_length
from ..model.outcome import Amount
from ..strategies import NewHistory, Strategy, Window, Written
from ..strategies.offloading import offload, offloaded_to
from ..strategies.user_code.functions import Route, SlotFunction
from ..strategies.user_code.plain import encoded, plain_data
from .cassettes import CHARGED, REFUSED, go_offline as go_offline

if TYPE_CHECKING:
    from .state import Ledger


# ---------------------------------------------------------------- what both sides have


class Tail(NamedTuple):
    """A list as it is sent: the first `keep` items of an earlier one, by its number, then others."""

    base: int
    keep: int
    items: Sequence[Any]


class Lists:
    """The lists that one instance of a plug-in is given: histories, which grow or are rewritten.

    Each crosses as its difference from the one before or, for messages, from the answer to that.
    Messages are known by their identity; other items are copied for each reader.

    >>> here, there = Lists(), Lists()
    >>> entry = {"success": True}
    >>> there.received("history", here.sent("history", (entry,)))[0].clear()
    >>> tail = here.sent("history", (entry, {"success": False}))
    >>> tail.items, there.received("history", tail)
    ([{'success': False}], [{'success': True}, {'success': False}])
    """

    def __init__(self) -> None:
        self._known: dict[str, list[list[Any]]] = {"messages": [[]]}

    def sent(self, name: str, part: Any) -> Any:
        """A part of a value to send: a list of messages or a tuple of mappings as its tail."""
        is_history = isinstance(part, list) and bool(part) and isinstance(part[0], Message)
        if not is_history and not isinstance(part, tuple):
            return part
        items, known = list(part), self._known.get(name, [[]])
        kept = [shared_length(one, items) for one in known]
        base = kept.index(max(kept))
        self._known[name] = [items]
        return Tail(base, kept[base], items[kept[base] :])

    def received(self, name: str, sent: Any) -> Any:
        """The part that was sent."""
        if not isinstance(sent, Tail):
            return sent
        items = [*self._known.get(name, [[]])[sent.base][: sent.keep], *sent.items]
        self._known[name] = [items]
        return [*map(_copied, items)]

    @property
    def messages(self) -> list[Message]:
        """The history that was sent last."""
        return self._known["messages"][0]

    def answered(self, messages: list[Message]) -> None:
        """Know the history that the plug-in made of the last one."""
        self._known["messages"].append(messages)


def _copied(item: Any) -> Any:
    if isinstance(item, dict):
        return {key: _copied(value) for key, value in item.items()}
    return [*map(_copied, item)] if isinstance(item, list) else item


def by_parts(value: Any, change: Callable[[str, Any], Any], count: Callable[[Any], int]) -> Any:
    """A value with `change(name, part)` for each part that may be a history: the messages of a
    window, the values of a router's state, the earlier evaluations of an evaluator."""
    if isinstance(value, Window):
        return msgspec.structs.replace(
            value, messages=change("messages", value.messages), count=count
        )
    if type(value) is dict:
        return {key: change(key, part) for key, part in value.items()}
    return change("history", value)


TEXT = b"="
"""The start of an answer that is a text alone, as most are; JSON cannot start like this."""


class HistoryAnswer(msgspec.Struct):
    """A compactor's answer, with the places of messages that it was given; `written` are the
    messages that each summary was written from, and its text."""

    messages: list[int | Message]
    written: list[tuple[list[int | Message], str]]
    commands: int | None


class Answered(msgspec.Struct):
    """The answer to a request: its value, the values offloaded, and the model calls to charge."""

    value: Any = None
    offloaded: list[tuple[str, Any]] = []
    charged: list[tuple[Amount, Amount, str | None]] = []


_TYPES: dict[str, tuple[Any, str]] = {
    "summarizer": (Any, ""),
    "store": (Record, "its answer cannot be read as a record"),
    "consumer": (Reply, "a consumer gives a Reply, or its text, state and route"),
    "evaluator": (dict[str, Any] | None, "an evaluator gives a mapping of findings, or None"),
    "routers": (Route | None, "a router gives a route's name or (name, detail), a mapping"),
    "compactor": (HistoryAnswer | None, "its answer cannot be read as messages"),
}
"""The type of an answer for each slot, and the clause on any other."""


# ---------------------------------------------------------------- the side of the replay


class Border:
    """The plug-ins of a strategy with user code, during one replay. `ask(*request, count=)` gives
    the answer of `Plugins`, in a child process or in this one."""

    _instances = itertools.count()

    def __init__(self, ask: Callable[..., bytes], ledger: Ledger) -> None:
        self._ask, self._ledger = ask, ledger

    def start(self, slot: str, place: int) -> Callable[..., Any]:
        """A function from the values of a slot to the answer of a new instance of a plug-in.

        It raises BenchError where there is no answer, or one that cannot be read.
        """
        return functools.partial(self._call, (slot, place, next(self._instances)), Lists())

    def _call(self, about: tuple[str, int, int], lists: Lists, *given: Any) -> Any:
        """The answer of one instance."""
        wanted, slot = _TYPES[about[0]], about[0]
        sent = [by_parts(item, lists.sent, len) for item in given]
        body = self._ask(*about, sent, count=self._count)
        if body.startswith(TEXT):
            return _read(body, *wanted)
        answer = _read(body, Answered, "its answer cannot be read")
        if too_deep([answer.value, answer.offloaded]):
            what = f"its answer is nested more than {MAX_DEPTH} levels deep"
            raise StrategyError(f"{what} — flatten it")
        for handle, value in answer.offloaded:
            offload(handle, value)
        for read, written, model in answer.charged:
            self._ledger.charge(read, written, model)
        value = _read(answer.value, *wanted)
        return _new_history(value, lists) if slot == "compactor" and value else value

    def _count(self, body: bytes) -> int:
        """The tokens of a text or a message."""
        return self._ledger.numbers.count(_read(body, str | Message, "its count cannot be read"))


def _new_history(answer: HistoryAnswer, lists: Lists) -> NewHistory:
    """A compactor's answer with the messages of this side. Raises StrategyError for the place of
    none."""
    given = lists.messages

    def message(place: int | Message) -> Message:
        if isinstance(place, Message):
            return place
        if not 0 <= place < len(given):
            raise StrategyError("its answer holds messages that do not exist")
        return given[place]

    messages = [*map(message, answer.messages)]
    lists.answered(messages)
    written = [Written([*map(message, read)], text) for read, text in answer.written]
    return NewHistory(messages, written, answer.commands)


def _read(data: Any, wanted: Any, what: str) -> Any:
    """Data from user code, or its bytes, as a value of a type. Raises StrategyError."""
    try:
        if isinstance(data, bytes):
            is_text = data.startswith(TEXT)
            data = data[1:].decode("utf-8", "surrogatepass") if is_text else json.loads(data)
        return msgspec.convert(data, wanted)
    except (ValueError, RecursionError) as error:
        raise StrategyError(f"{what}: {one_line(error)}") from None


# ---------------------------------------------------------------- the side of user code


class Plugins:
    """The plug-ins of a strategy during one replay."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy
        self._started: dict[int, tuple[SlotFunction, Lists]] = {}
        self._counts: dict[Message | str, int] = {}

    def answer(
        self,
        ask_count: Callable[[bytes], int],
        slot: str,
        place: int,
        instance: int,
        sent: Sequence[Any],
    ) -> bytes:
        """The answer to a request: TEXT and a text, or `Answered` as JSON.

        A request is the slot and the place of a plug-in, the number of its instance (each has a
        state of its own), and the values. `ask_count` counts in the process that measures.
        """

        def count(item: Message | str) -> int:
            if item not in self._counts:
                self._counts[item] = ask_count(encoded(item))
            return self._counts[item]

        if not self._started:  # what was refused as the code was imported is no fault of a replay
            REFUSED.clear()
        if instance not in self._started:
            started = SlotFunction(self._strategy.plugins[slot][place])
            self._started[instance] = started, Lists()
        call, lists = self._started[instance]
        CHARGED.clear()
        out = Answered(charged=CHARGED)
        given = [by_parts(item, lists.received, count) for item in sent]
        with offloaded_to(lambda name, value: out.offloaded.append((name, plain_data(value)))):
            try:
                value = call(*given)
            finally:
                if REFUSED:
                    raise StrategyError(REFUSED[0])
        out.value = _history_answer(value, lists) if isinstance(value, NewHistory) else value
        if type(out.value) is str and not (out.offloaded or out.charged):
            return TEXT + out.value.encode("utf-8", "surrogatepass")
        return encoded(out)


def _history_answer(answer: NewHistory, lists: Lists) -> HistoryAnswer:
    """A compactor's answer as data. Raises StrategyError for what is no message."""
    places = {id(message): place for place, message in enumerate(lists.messages)}

    def place_of(message: Any) -> int | Message:
        if not isinstance(message, Message):
            what = "a compactor's messages must be Message values"
            raise StrategyError(f"{what}, got {type(message).__name__}")
        return places.get(id(message), message)

    made = [*answer.messages]
    lists.answered(made)
    messages = [*map(place_of, made)]
    written = [([*map(place_of, each.read)], each.text) for each in answer.written]
    return HistoryAnswer(messages, written, answer.commands)
