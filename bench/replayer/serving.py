"""The child's side of a replay: somebody's own code in its slots, one call after the other.

A call comes as data: a slot, its values, and the messages that are new. So does its answer go.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import msgspec

from ..model import Counting, Message, as_text
from ..model.errors import StrategyError
from ..model.outcome import Amount
from ..plugins import worker
from ..strategies import Edits, Strategy, Window
from ..strategies.offloading import offloaded_to
from ..tokens.counting import TokenCounter
from .answers import reason_of, started
from .cassettes import go_offline, refused
from .plain import plain_data

if TYPE_CHECKING:
    from ..plugins.child import Link
    from ..strategies.sandboxed import Ready

WRITTEN = 1 << 40
"""The number of the first message that a strategy writes; those that it is given count from 0."""

Number = Annotated[int, msgspec.Meta(ge=0)]
_encoded = json.JSONEncoder(check_circular=False).encode


class Address(NamedTuple):
    """The code that is called: what fills a slot, at its place there, and its instance.

    A compactor has an instance for each thread, a router and an evaluator one for each side.
    """

    slot: str
    place: int = 0
    instance: str = ""


class EditsByNumber(msgspec.Struct):
    """A compactor's `Edits`, its messages by number."""

    messages: list[Number]
    written: list[tuple[list[Number], str]]
    parts: dict[str, int]


class CallAnswer(msgspec.Struct):
    """The answer to one call: a value or an error, and all that the code did beside it.

    `written` are its messages that are new, `asked` the tokens that models of its own read and
    wrote, `offloaded` the texts behind the names that it shows.
    """

    value: Any = None
    written: list[Message] = []
    asked: list[tuple[Amount, Amount, str | None]] = []
    offloaded: dict[str, str] = {}
    error: str = ""


def open_code(
    link: Link, ready: Ready, number: int, encoding: str, counting: Counting
) -> worker.Answer:
    """A function that answers the calls of one replay."""
    counter = TokenCounter(encoding, counting, elsewhere=link.count)
    served = ServedCode(ready.strategy(number), counter)
    go_offline(ready.place.base, served.charge)
    return served.answer


class ServedCode:
    """The code of one strategy during one replay. Each instance starts with its first call."""

    def __init__(self, strategy: Strategy, counter: TokenCounter) -> None:
        self._strategy, self._counter = strategy, counter
        self._code: dict[Address, Callable[..., Any]] = {}
        self._given: list[Message] = []
        self._written: list[Message] = []
        self._numbers: dict[Message, int] = {}
        self._tokens: dict[Message, int] = {}
        self._out = CallAnswer()

    def charge(self, read: int, written: int, model: str | None) -> None:
        """A model of the code's own has read and written so many tokens."""
        self._out.asked.append((read, written, model))

    def answer(self, request: bytes) -> bytes:
        """The answer to one call, as JSON."""
        sent = len(self._written)
        self._out = out = CallAnswer()
        try:
            with offloaded_to(self._offload):
                out.value = plain_data(self._called(*pickle.loads(request)))
            out.written = plain_data(self._written[sent:])
        except (KeyboardInterrupt, MemoryError):
            raise
        except BaseException as error:
            out.error = reason_of(error)
        out.error = refused() or out.error  # also where the code went on without an answer
        return _encoded(msgspec.to_builtins(out)).encode("ascii")

    def _called(
        self, address: Address, new: Sequence[tuple[Message, int]], first: Any, *rest: Any
    ) -> Any:
        for message, tokens in new:
            self._numbers[message], self._tokens[message] = len(self._given), tokens
            self._given.append(message)
        if address not in self._code:
            self._code[address] = started(self._strategy.plugins[address.slot][address.place])
        first = self._with_messages(first)
        answer = self._code[address](first, *rest)
        return self._by_number(answer, first) if isinstance(first, Window) and answer else answer

    def _offload(self, name: str, value: Any) -> None:
        self._out.offloaded[name] = as_text(plain_data(value))

    # ------------------------------------------------------------ messages by number

    def _with_messages(self, given: Any) -> Any:
        """The value of a slot with the messages themselves instead of their numbers."""
        if isinstance(given, Window):
            messages, added = map(self._messages, (given.messages, given.added))
            return replace(given, messages=messages, added=added, count=self._count)
        if isinstance(given, dict) and "prompt" in given:
            return {**given, "prompt": self._messages(given["prompt"])}
        return given

    def _messages(self, numbers: Any) -> list[Message]:
        written = self._written
        return [self._given[n] if n < WRITTEN else written[n - WRITTEN] for n in numbers]

    def _count(self, item: Message | str) -> int:
        known = self._tokens.get(item) if isinstance(item, Message) else None
        return self._counter.of(item) if known is None else known

    def _by_number(self, edits: Edits, window: Window) -> EditsByNumber:
        """The edits of a compactor. Raises StrategyError for what is no message."""
        written = [(self._numbered(one.read), one.text) for one in edits.written]
        messages = self._numbered(edits.applied(window.messages))
        return EditsByNumber(messages, written, dict(edits.parts))

    def _numbered(self, messages: Sequence[Any]) -> list[int]:
        for message in messages:
            if not isinstance(message, Message):
                kind = type(message).__name__
                raise StrategyError(f"a compactor's messages must be Message values, got {kind}")
            if message not in self._numbers:
                self._numbers[message] = WRITTEN + len(self._written)
                self._written.append(message)
        return [self._numbers[message] for message in messages]
