"""Calls of user code during a replay: each is sent as data, and its answer is checked."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable
from typing import Any

import msgspec

from ..model import MAX_DEPTH, Message, Record, Reply, too_deep
from ..model.errors import StrategyError, one_line
from ..strategies import NewHistory, Written
from ..strategies.offloading import offload
from ..strategies.user_code.functions import Route
from .serving import TEXT, Answered, HistoryAnswer, Shared, by_parts
from .state import Ledger

_TYPES: dict[str, tuple[Any, str]] = {
    "summarizer": (Any, ""),
    "store": (Record, "its answer cannot be read as a record"),
    "consumer": (Reply, "a consumer gives a Reply, or its text, state and route"),
    "evaluator": (dict[str, Any] | None, "an evaluator gives a mapping of findings, or None"),
    "routers": (Route | None, "a router gives a route's name or (name, detail), a mapping"),
    "compactor": (HistoryAnswer | None, "its answer cannot be read as messages"),
}
"""The type of an answer for each slot, and the clause on any other."""


Ask = Callable[..., bytes]
"""`ask(*request, count=)`: the answer of `serving.Plugins`, in a child process or in this one."""


class Border:
    """The plug-ins of a strategy with user code, during one replay."""

    def __init__(self, ask: Ask, ledger: Ledger) -> None:
        self._ask, self._ledger = ask, ledger
        self._shared = Shared()
        self._instances = itertools.count()

    def start(self, slot: str, place: int) -> Callable[..., Any]:
        """A function from the values of a slot to the answer of a new instance of a plug-in.

        It raises BenchError where there is no answer, or one that cannot be read.
        """
        return functools.partial(self._call, slot, place, next(self._instances))

    def _call(self, slot: str, place: int, instance: int, *given: Any) -> Any:
        """The answer of one instance."""
        sent = [by_parts(item, self._shared.sent, len) for item in given]
        body = self._ask(slot, place, instance, sent, count=self._count)
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
        return self._new_history(value) if isinstance(value, HistoryAnswer) else value

    def _count(self, body: bytes) -> int:
        """The tokens of a text, or of a message or its number."""
        item: Any = _read(body, int | str | Message, "its count cannot be read")
        counted = item if isinstance(item, str) else self._shared.message(item)
        return self._ledger.numbers.count(counted)

    def _new_history(self, answer: HistoryAnswer) -> NewHistory:
        """A compactor's answer with the messages of this side."""
        messages = [*map(self._shared.message, answer.messages)]
        written = [
            Written([*map(self._shared.message, read)], text) for read, text in answer.written
        ]
        return NewHistory(messages, written, answer.parts)


def _read(data: Any, wanted: Any, what: str) -> Any:
    """Data from user code, or its bytes, as a value of a type. Raises StrategyError."""
    try:
        if isinstance(data, bytes):
            is_text = data.startswith(TEXT)
            data = data[1:].decode("utf-8", "surrogatepass") if is_text else json.loads(data)
        return msgspec.convert(data, wanted)
    except (ValueError, RecursionError) as error:
        raise StrategyError(f"{what}: {one_line(error)}") from None
