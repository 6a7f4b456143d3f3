"""The messages between the process that measures and the child in which somebody else's code runs.

A request is one call of a plug-in with its input, and nothing else of the recording. An answer is
plain data. Messages of prompts cross once, and then by number: those that were sent and those that
came back are numbered in the order in which they crossed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from ..model import Message, Record, Reply
from ..model.outcome import Amount
from ..strategies import Edits, Summary, Written
from .answers import decision_of, edits_of, findings_of, record_of, reply_of, summary_of
from .plain import plain_data


class Change(NamedTuple):
    """A list of messages, by what it keeps of the one that crossed before, and what follows by number."""

    keep: int
    tail: tuple[int, ...]
    new: tuple[tuple[Message, int | None], ...] = ()
    """The messages that were not sent before, each with its tokens where a compactor may ask for them."""


class Request(NamedTuple):
    """One call: of the plug-in at a place of a slot, in its instance `number`; with `handle` of a store's `resolve`."""

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


class NumberedEdits(msgspec.Struct, omit_defaults=True):
    """A compactor's answer by the numbers of its messages."""

    messages: list[int] | None = None
    replace: list[tuple[int, int | None]] = []
    append: list[int] = []
    written: list[tuple[list[int], str]] = []
    parts: dict[str, int] = {}


def numbered(edits: Edits, number: Callable[[Any], int]) -> NumberedEdits:
    """Edits by number. Raises StrategyError for what is no message."""
    return NumberedEdits(
        messages=None if edits.messages is None else [*map(number, edits.messages)],
        replace=[(number(old), None if new is None else number(new)) for old, new in edits.replace.items()],
        append=[*map(number, edits.append)],
        written=[([*map(number, item.read)], plain_data(item.text)) for item in edits.written],
        parts=plain_data(dict(edits.parts)),
    )


def edits_from(given: NumberedEdits, messages: Sequence[Message]) -> Edits:
    """Edits by number as edits of these messages."""

    def several(numbers: Sequence[int]) -> list[Message]:
        return [messages[number] for number in numbers]

    return Edits(
        messages=None if given.messages is None else several(given.messages),
        replace={messages[old]: None if new is None else messages[new] for old, new in given.replace},
        append=several(given.append),
        written=[Written(several(read), text) for read, text in given.written],
        parts=given.parts,
    )


Decision = tuple[str, dict[str, Any]]


class Kind(NamedTuple):
    """The answer of a slot: its type as it comes back, and what makes that of a function's answer and its input."""

    type: Any
    plain: Callable[[Any, Any], Any]


def _summary(answer: Any, given: Any) -> Summary:
    value, _, notes = summary_of(answer)
    return Summary(value, notes)


KINDS: dict[str, Kind] = {
    "summarizer": Kind(Summary, _summary),
    "store": Kind(Record, record_of),
    "consumer": Kind(Reply, lambda answer, given: reply_of(answer)),
    "evaluator": Kind(dict[str, Any] | None, lambda answer, given: findings_of(answer)),
    "router": Kind(Decision | None, lambda answer, given: None if answer is None else decision_of(answer)),
    "compactor": Kind(NumberedEdits | None, lambda answer, given: edits_of(answer)),
}
"""The values that come back, by kind of plug-in."""
