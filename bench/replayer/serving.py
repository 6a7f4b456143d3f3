"""The child's side of a replay: somebody's own code in its slots, one call after the other.

A call comes as data: a slot, its values, and the messages that are new. So does its answer go.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import msgspec

from ..model import Counting, Message
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

Number = Annotated[int, msgspec.Meta(ge=0)]
_encoded = json.JSONEncoder(check_circular=False).encode


class Address(NamedTuple):
    """The code that is called: what fills a slot, at its place there, and its instance.

    A compactor has an instance for each thread, a router and an evaluator one for each side.
    """

    slot: str
    place: int = 0
    instance: str = ""


class MessageTable:
    """The messages that have crossed, by numbers that are the same on both sides."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._numbers: dict[Message, int] = {}
        self._sent = 0  # the messages at the start that the other side has

    def numbers(self, messages: Sequence[Message]) -> list[int]:
        """The numbers of some messages, which join where they are new."""
        for message in messages:
            if message not in self._numbers:
                self._numbers[message] = len(self._messages)
                self._messages.append(message)
        return [self._numbers[message] for message in messages]

    def messages(self, numbers: Iterable[int]) -> list[Message]:
        """The messages of some numbers. Raises IndexError for one that does not exist."""
        return [self._messages[number] for number in numbers]

    def unsent(self) -> list[Message]:
        """The messages that the other side is to be handed now."""
        unsent, self._sent = self._messages[self._sent :], len(self._messages)
        return unsent

    def take(self, messages: Sequence[Message]) -> None:
        """Let the other side's new messages join."""
        self.numbers(messages)
        self._sent = len(self._messages)


def crossing(given: Any, change: Callable[[Any], Any], **of_window: Any) -> Any:
    """The value of a slot with its messages changed: to their numbers, or back."""
    if isinstance(given, Window):
        messages, added = change(given.messages), change(given.added)
        return replace(given, messages=messages, added=added, **of_window)
    if isinstance(given, dict) and "prompt" in given:
        return {**given, "prompt": change(given["prompt"])}
    return given


class EditsByNumber(msgspec.Struct):
    """A compactor's `Edits`, its messages by number."""

    messages: list[Number]
    written: list[tuple[list[Number], str]]
    parts: dict[str, int]


class CallAnswer(msgspec.Struct):
    """The answer to one call: a value or an error, and all that the code did beside it.

    `written` are its messages that are new, `model_calls` the tokens that its own calls of
    models read and wrote, `offloaded` the values behind the names that it shows.
    """

    value: Any = None
    written: list[Message] = []
    model_calls: list[tuple[Amount, Amount, str | None]] = []
    offloaded: dict[str, Any] = {}
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
        self._table = MessageTable()
        self._tokens: dict[Message, int] = {}
        self._out = CallAnswer()

    def charge(self, read: int, written: int, model: str | None) -> None:
        """A model of the code's own has read and written so many tokens."""
        self._out.model_calls.append((read, written, model))

    def answer(self, request: bytes) -> bytes:
        """The answer to one call, as JSON."""
        self._out = out = CallAnswer()
        try:
            with offloaded_to(self._offload):
                out.value = plain_data(self._called(*pickle.loads(request)))
            out.written = plain_data(self._table.unsent())
        except (KeyboardInterrupt, MemoryError):
            raise
        except BaseException as error:
            out.error = reason_of(error)
        out.error = refused() or out.error  # also where the code went on without an answer
        return _encoded(msgspec.to_builtins(out)).encode("ascii")

    def _called(
        self, address: Address, new: Sequence[tuple[Message, int]], first: Any, *rest: Any
    ) -> Any:
        self._table.take([message for message, _ in new])
        self._tokens.update(new)
        if address not in self._code:
            self._code[address] = started(self._strategy.plugins[address.slot][address.place])
        first = crossing(first, self._table.messages, count=self._count)
        answer = self._code[address](first, *rest)
        return self._by_number(answer, first) if isinstance(first, Window) and answer else answer

    def _offload(self, name: str, value: Any) -> None:
        self._out.offloaded[name] = plain_data(value)

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
        return self._table.numbers(messages)
