"""The messages between the process that measures and the child in which somebody else's code runs.

A request is one call of a plug-in with its input, and nothing else of the recording. An answer is
plain data. Messages of prompts cross once, and then by number: those that were sent and those that
came back are numbered in the order in which they crossed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from ..model import Message
from ..model.errors import StrategyError
from ..model.outcome import Amount


class Crossed:
    """The messages that crossed, on one side of the boundary, by number."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._numbers: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._messages)

    def number(self, message: Message) -> int | None:
        """The number of a message; None for one that has not crossed."""
        return self._numbers.get(id(message))

    def add(self, message: Message) -> int:
        """The number of a message from now on."""
        if id(message) not in self._numbers:
            self._numbers[id(message)] = len(self._messages)
            self._messages.append(message)
        return self._numbers[id(message)]

    def at(self, numbers: Sequence[int]) -> list[Message]:
        """The messages of some numbers. Raises StrategyError for one that never crossed."""
        if not all(0 <= number < len(self._messages) for number in numbers):
            raise StrategyError("its answer holds messages that do not exist")
        return [self._messages[number] for number in numbers]


class Change(NamedTuple):
    """A list of messages, by what it keeps of the one that crossed before, and what follows."""

    keep: int
    tail: tuple[int, ...]
    new: tuple[tuple[Message, int | None], ...] = ()
    """The messages not sent before, each with its tokens where a compactor may ask for them."""


class Request(NamedTuple):
    """One call of the plug-in at a place of a slot, in its instance `number`.

    With `handle` it is a call of a store's `resolve`.
    """

    number: int
    slot: str
    place: int
    given: tuple[Any, ...] = ()
    messages: Change | None = None
    handle: str | None = None


class Charge(msgspec.Struct, frozen=True, array_like=True):
    """A model's call by that code: the tokens read and written."""

    read: Amount
    written: Amount
    model: str | None = None


class Answer(msgspec.Struct, omit_defaults=True):
    """The answer to a request: a value or an error, and what the code did besides."""

    value: Any = None
    error: str = ""
    messages: list[Message] = []
    handles: list[tuple[str, Any]] = []
    charges: list[Charge] = []


class NumberedHistory(msgspec.Struct, omit_defaults=True):
    """A compactor's answer: what the new history keeps of the one that it was given, and what
    follows, by number; with what its summaries read.
    """

    keep: int
    tail: list[int]
    written: list[tuple[list[int], str]] = []
    parts: dict[str, int] = {}
