"""The border between a replay and user code: `Border` sends the values of a slot as data to
`Plugins`, most often in a child process, and checks the answer, which comes back as data."""

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
from ..strategies import NewHistory, Strategy, Window, WrittenSummary
from ..strategies.offloading import offload, offloaded_to
from ..strategies.user_code.functions import Route, SlotFunction
from ..strategies.user_code.plain import encoded, plain_data
from .cassettes import CHARGED, REFUSED, go_offline as go_offline

if TYPE_CHECKING:
    from .state import Ledger


# ---------------------------------------------------------------- both sides


class Tail(NamedTuple):
    """A list as it is sent: the first `keep` items of known list `base`, then `items`."""

    base: int
    keep: int
    items: Sequence[Any]


class Lists:
    """The histories that one instance of a plug-in is given, each sent as a `Tail`.

    A list is sent as its difference from the one before it with the same name; a list of messages
    from the compactor's answer to that, if more of it is the same. Messages are compared by
    identity. Other items are copied for the plug-in, so that it cannot change later ones.

    >>> here, there = Lists(), Lists()
    >>> entry = {"success": True}
    >>> there.restored("history", here.shortened("history", (entry,)))[0].clear()
    >>> tail = here.shortened("history", (entry, {"success": False}))
    >>> tail.items, there.restored("history", tail)
    ([{'success': False}], [{'success': True}, {'success': False}])
    """

    def __init__(self) -> None:
        self._known: dict[str, list[list[Any]]] = {"messages": [[]]}

    def shortened(self, name: str, part: Any) -> Any:
        """A list of messages or a tuple of mappings as a `Tail`; any other value as it is."""
        has_messages = isinstance(part, list) and bool(part) and isinstance(part[0], Message)
        if not has_messages and not isinstance(part, tuple):
            return part
        items = list(part)
        kept = [shared_length(known, items) for known in self._known.get(name, [[]])]
        base = kept.index(max(kept))
        self._known[name] = [items]
        return Tail(base, kept[base], items[kept[base] :])

    def restored(self, name: str, part: Any) -> Any:
        """The list that was sent as a `Tail`; any other value as it is."""
        if not isinstance(part, Tail):
            return part
        items = [*self._known.get(name, [[]])[part.base][: part.keep], *part.items]
        self._known[name] = [items]
        return [*map(_copied, items)]

    @property
    def messages(self) -> list[Message]:
        """The history that was sent last."""
        return self._known["messages"][0]

    def add_answer(self, messages: list[Message]) -> None:
        """Remember the history with which the compactor answered the last one."""
        self._known["messages"].append(messages)


def _copied(item: Any) -> Any:
    if isinstance(item, dict):
        return {key: _copied(value) for key, value in item.items()}
    return [*map(_copied, item)] if isinstance(item, list) else item


def map_parts(value: Any, change: Callable[[str, Any], Any], count: Callable[[Any], int]) -> Any:
    """A slot's value with `change(name, part)` in place of each part that may be a history: the
    messages of a window, each value of a router's state, an evaluator's earlier evaluations."""
    if isinstance(value, Window):
        return msgspec.structs.replace(
            value, messages=change("messages", value.messages), count=count
        )
    if type(value) is dict:
        return {key: change(key, part) for key, part in value.items()}
    return change("history", value)


TEXT = b"="
"""The start of an answer that is only a text, as most are; no JSON starts like this."""


class HistoryAnswer(msgspec.Struct):
    """A compactor's answer; a number is the place of a message in the history that it was given.
    `written` has for each summary the messages that it was written from, and its text."""

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
"""For each slot the type of its answer, and the error about an answer of another type."""


# ---------------------------------------------------------------- the side of the replay


class Border:
    """The plug-ins of a strategy with user code, during one replay. `ask(*request, count=)` returns
    the answer of `Plugins`, in a child process or in this one."""

    _instances = itertools.count()

    def __init__(self, ask: Callable[..., bytes], ledger: Ledger) -> None:
        self._ask, self._ledger = ask, ledger

    def start(self, slot: str, place: int) -> Callable[..., Any]:
        """A function that passes the values of a slot to a new instance of a plug-in, and returns
        its answer. It raises BenchError for a missing answer and for one that cannot be read."""
        return functools.partial(self._call, (slot, place, next(self._instances)), Lists())

    def _call(self, instance: tuple[str, int, int], lists: Lists, *values: Any) -> Any:
        """The answer of one instance: its slot, the place of its plug-in there, and its number."""
        slot, _, _ = instance
        sent = [map_parts(value, lists.shortened, len) for value in values]
        body = self._ask(*instance, sent, count=self._count)
        if body.startswith(TEXT):
            return _read(body, *_TYPES[slot])
        answer = _read(body, Answered, "its answer cannot be read")
        if too_deep([answer.value, answer.offloaded]):
            what = f"its answer is nested more than {MAX_DEPTH} levels deep"
            raise StrategyError(f"{what} — flatten it")
        for handle, value in answer.offloaded:
            offload(handle, value)
        for read, written, model in answer.charged:
            self._ledger.charge(read, written, model)
        value = _read(answer.value, *_TYPES[slot])
        return _new_history(value, lists) if slot == "compactor" and value else value

    def _count(self, body: bytes) -> int:
        """The tokens of a text or a message."""
        return self._ledger.numbers.count(_read(body, str | Message, "its count cannot be read"))


def _new_history(answer: HistoryAnswer, lists: Lists) -> NewHistory:
    """A compactor's answer, with the messages of the history at the places that it has. Raises
    StrategyError for a place where there is none."""
    history = lists.messages

    def message(place: int | Message) -> Message:
        if isinstance(place, Message):
            return place
        if not 0 <= place < len(history):
            raise StrategyError("its answer holds messages that do not exist")
        return history[place]

    messages = [*map(message, answer.messages)]
    lists.add_answer(messages)
    written = [WrittenSummary([*map(message, read)], text) for read, text in answer.written]
    return NewHistory(messages, written, answer.commands)


def _read(data: Any, wanted: Any, what: str) -> Any:
    """Data from user code, or its bytes, as a value of the type `wanted`. Raises StrategyError that
    starts with `what`."""
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

        A request names the slot, the place of the plug-in there and its instance (each has its own
        state), and has the values `sent`. `ask_count` counts tokens in the process that measures.
        """

        def count(item: Message | str) -> int:
            if item not in self._counts:
                self._counts[item] = ask_count(encoded(item))
            return self._counts[item]

        if not self._started:  # requests that were refused while the code was imported do not count
            REFUSED.clear()
        if instance not in self._started:
            started = SlotFunction(self._strategy.plugins[slot][place])
            self._started[instance] = started, Lists()
        call, lists = self._started[instance]
        CHARGED.clear()
        answer = Answered(charged=CHARGED)
        values = [map_parts(value, lists.restored, count) for value in sent]
        with offloaded_to(lambda name, value: answer.offloaded.append((name, plain_data(value)))):
            try:
                value = call(*values)
            finally:
                if REFUSED:
                    raise StrategyError(REFUSED[0])
        answer.value = _history_answer(value, lists) if isinstance(value, NewHistory) else value
        if type(answer.value) is str and not (answer.offloaded or answer.charged):
            return TEXT + answer.value.encode("utf-8", "surrogatepass")
        return encoded(answer)


def _history_answer(answer: NewHistory, lists: Lists) -> HistoryAnswer:
    """A compactor's answer as data. Raises StrategyError for an item that is not a message."""
    places = {id(message): place for place, message in enumerate(lists.messages)}

    def place_of(message: Any) -> int | Message:
        if not isinstance(message, Message):
            what = "a compactor's messages must be Message values"
            raise StrategyError(f"{what}, got {type(message).__name__}")
        return places.get(id(message), message)

    messages = [*answer.messages]
    lists.add_answer(messages)
    places_or_new = [*map(place_of, messages)]
    written = [([*map(place_of, summary.read)], summary.text) for summary in answer.written]
    return HistoryAnswer(places_or_new, written, answer.commands)
