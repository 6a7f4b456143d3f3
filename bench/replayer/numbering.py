"""Messages by number: the recorded ones as they come, then those of a strategy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..model import AnyStep, Message, ModelTurn, Record, RouteDecision, compact_json

Count = Callable[[Message | str], int]
_BLOCK = 256


class Asked(NamedTuple):
    """A model turn or a routing decision before it has an answer, and the tools of that turn."""

    step: ModelTurn | RouteDecision
    tools_tokens: int = 0
    tools_changed: bool = False


class Recorded(NamedTuple):
    """A step of the recording as it comes, with all that a replay must know of it.

    `full` and `seen` are its messages (untruncated, and as the recorded model saw it) with their
    numbers and tokens; None for a step that no prompt holds. `record` is the untruncated one of a
    result.
    """

    step: AnyStep
    full: tuple[Message, int, int] | None = None
    seen: tuple[Message, int, int] | None = None
    record: Record | None = None

    @property
    def messages(self) -> tuple[Message, Message]:
        """The untruncated message of a result, and the one that the recorded model saw."""
        if self.full is None or self.seen is None:
            raise ValueError(f"step {self.step.index} has no message")
        return self.full[0], self.seen[0]


Event = Asked | Recorded | None
"""An event of a recording: a step that waits for its answer, a step, or None at the end."""


class Numbers:
    """The number of each message of one replay. Written ones are numbered from `first` on.

    A message that says what another one does has its number.
    """

    def __init__(self, first: int, count: Count) -> None:
        self.first, self.written = first, list[Message]()
        self._count = count
        self._by_message: dict[Message, int] = {}
        self._by_content: dict[Any, int] = {}
        self._unread: list[tuple[Message, int]] = []
        self._tokens: dict[int, int] = {}

    def know(self, message: Message, number: int, tokens: int) -> None:
        """A message of the recording has come."""
        self._by_message[message] = number
        self._tokens[number] = tokens
        self._unread.append((message, number))

    def of(self, message: Message) -> int:
        """The number of a message, a new one where nothing before says the same."""
        at = self._by_message.get(message)
        if at is None:
            for known, number in self._unread:
                self._by_content.setdefault(_content(known), number)
            self._unread.clear()
            new = self.first + len(self.written)
            at = self._by_content.setdefault(_content(message), new)
            if at == new:
                self.written.append(message)
            self._by_message[message] = at
        return at

    def tokens(self, number: int) -> int:
        """The tokens of a numbered message, framing included."""
        size = self._tokens.get(number)
        if size is None:
            size = self._tokens[number] = self._count(self.written[number - self.first])
        return size

    def count(self, item: Message | str) -> int:
        """The tokens of a text or a message, which need not stand in any prompt."""
        known = self._by_message.get(item) if isinstance(item, Message) else None
        return self._count(item) if known is None else self.tokens(known)


def _content(message: Message) -> Any:
    calls = message.tool_calls and compact_json(
        [(c.id, c.name, c.arguments) for c in message.tool_calls]
    )
    about = message.step, message.kind, message.role, message.call_id, message.non_text
    return *about, message.reasoning_tokens, calls, message.text


def alike(one: Sequence[Any], other: Sequence[Any]) -> int:
    """The number of items that two lists share at their start; messages are compared by identity.

    >>> alike([1, 2, 3], [1, 2, 4]), alike([], [1])
    (2, 0)
    """
    most, keep = min(len(one), len(other)), 0
    while keep < most and one[keep : keep + _BLOCK] == other[keep : keep + _BLOCK]:
        keep += _BLOCK
    return next((at for at in range(min(keep, most), most) if one[at] != other[at]), most)
