"""The way to somebody's own code during one replay: calls go out as data, answers come as data."""

from __future__ import annotations

import contextlib
import functools
import json
import pickle
from collections.abc import Callable
from typing import Any

import msgspec

from ..model import Record, Reply
from ..model.errors import StrategyError, one_line
from ..plugins.worker import NoAnswer
from ..strategies import Edits, Strategy, Written
from ..strategies.functions import error_line
from ..strategies.offloading import Keep
from ..tokens.counting import TokenCounter
from .answers import Decision
from .numbering import Count
from .serving import (
    Address,
    CallAnswer,
    EditsByNumber,
    MessageTable,
    ServedCode,
    crossing,
    open_code,
)

_TIMES, _MORE = 100, 10_000_000
"""A strategy may answer so many times the bytes that it was given, and so many more."""

_ANSWERS: dict[str, Any] = {
    "summarizer": Any,
    "store": Record,
    "consumer": Reply,
    "evaluator": dict[str, Any] | None,
    "routers": Decision | None,
    "compactor": EditsByNumber | None,
}
"""By slot the type of what comes back."""


class Border:
    """The calls of one strategy's own code, answered by a session of its child, which ends with the
    block. Code that cannot be sent to a child is called here, in the same way.

    `count` gives the tokens of a message that the code is handed, `charge` and `offload` take what
    the code does beside its answers.
    """

    def __init__(
        self,
        strategy: Strategy,
        counter: TokenCounter,
        count: Count,
        charge: Callable[[int, int, str | None], None],
        offload: Keep,
    ) -> None:
        self._strategy, self._counter, self._count = strategy, counter, count
        self._charge, self._offload = charge, offload
        self._open = contextlib.ExitStack()
        self._table = MessageTable()
        self._room = _MORE

    def __enter__(self) -> None:
        pass

    def __exit__(self, *raised: object) -> None:
        self._open.close()
        vars(self).pop("_answer", None)  # with what answered here the programs end that it started

    def code(self, *address: Any) -> Callable[..., Any]:
        """The code at an address, as what takes and gives the values of its slot.

        It raises StrategyError for an error of the code, and for an answer that is none.
        """
        return functools.partial(self._called, Address(*address))

    def _called(self, address: Address, *given: Any) -> Any:
        """Ask the other side for one answer, and take over what the code wrote, offloaded and asked."""
        first = crossing(given[0], self._table.numbers, count=None, future=None)
        new = [(message, self._count(message)) for message in self._table.unsent()]
        sent = pickle.dumps((address, new, first, *given[1:]), pickle.HIGHEST_PROTOCOL)
        answer = self._asked(sent)
        for used in answer.model_calls:
            self._charge(*used)
        for name, value in answer.offloaded.items():
            self._offload(name, value)
        if answer.error:
            raise StrategyError(one_line(answer.error))
        self._table.take(answer.written)
        value = _read(answer.value, _ANSWERS[address.slot])
        return self._edits(value) if isinstance(value, EditsByNumber) else value

    def _asked(self, sent: bytes) -> CallAnswer:
        """The answer to a call. Raises StrategyError for none that can be read."""
        try:
            body = self._answer(sent)
        except NoAnswer as why:
            text = f"{why} — a strategy returns or raises" if why.ended else str(why)
            raise StrategyError(text) from None
        except MemoryError as error:  # of code that runs here
            raise StrategyError(error_line(error)) from error
        self._room += _TIMES * len(sent) - len(body)
        if self._room < 0:
            what = f"it answers more than {_TIMES} times as much as it was given"
            raise StrategyError(f"{what}, and {_MORE:,} bytes")
        answer: CallAnswer = _read(body, CallAnswer)
        return answer

    @functools.cached_property
    def _answer(self) -> Callable[[bytes], bytes]:
        """The function that answers calls: a new session of the child, or this process without one."""
        strategy, counter = self._strategy, self._counter
        if strategy.sandbox is None:
            return ServedCode(strategy, counter).answer
        child, number = strategy.sandbox.child, strategy.sandbox.number
        given = number, counter.encoding, counter.counting
        session = child.session(open_code, *given, count=counter.encoded)
        ask: Callable[[bytes], bytes] = self._open.enter_context(session).ask
        return ask

    def _edits(self, given: EditsByNumber) -> Edits:
        """The edits of a compactor. Raises StrategyError for messages that do not exist."""
        table = self._table
        try:
            written = [Written(table.messages(read), text) for read, text in given.written]
            return Edits(table.messages(given.messages), written=written, parts=given.parts)
        except IndexError:
            raise StrategyError("its answer holds messages that do not exist") from None


def _read(given: Any, kind: Any) -> Any:
    """A value, or the JSON of one, as a value of a type. Raises StrategyError where it is none."""
    try:
        return msgspec.convert(json.loads(given) if isinstance(given, bytes) else given, kind)
    except (ValueError, RecursionError) as error:
        raise StrategyError(f"its answer cannot be read: {one_line(error)}") from None
