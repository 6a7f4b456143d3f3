"""The history of one thread: steps join it, and before each model call the compactor reworks it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..model import ContextEdit, ContextReset, Message, ModelTurn
from ..model.replay import Call
from ..strategies import Edits, Window
from .answers import edits_of
from .numbering import Numbers

_BLOCK = 256

Compact = Callable[[Window], Any]


class Thread:
    """One thread. `messages` is its history as the model sees it, `recording` the untruncated one.

    With `per_call` the compactor is given all that ever joined, and its answer is that prompt
    alone. Without a compactor the recorded harness' own resets are repeated by `recorded`.
    """

    def __init__(
        self,
        numbers: Numbers,
        compact: Compact | None,
        recorded: Compact,
        about: dict[str, Any],
        *,
        per_call: bool = False,
    ) -> None:
        self.messages: list[Message] = []
        self.recording: list[Message] = []
        self.resets: list[ContextReset | ContextEdit] = []
        self.tools_tokens, self._tools_changed = 0, False
        self._numbers, self._compact, self._recorded, self._about = (
            numbers,
            compact,
            recorded,
            about,
        )
        self._joined: list[Message] | None = [] if per_call else None
        self._ids: list[int] = []
        self._prompt: list[int] = []
        self._seen = 0
        self._tokens = self._joined_tokens = 0
        self._counted = 0
        self._summary: str | None = None

    def join(self, message: Message, recorded: Message) -> int:
        """Let a message join; its number. `recorded` is the untruncated one."""
        number = self._numbers.of(message)
        self.messages.append(message)
        self.recording.append(recorded)
        self._ids.append(number)
        if self._joined is not None:
            self._joined.append(message)
            self._joined_tokens += self._numbers.tokens(number)
        return number

    def change_tools(self, tokens: int) -> None:
        """Other tools are defined from here on."""
        self.tools_tokens, self._tools_changed = tokens, True

    def call(self, turn: ModelTurn) -> tuple[Call, Edits | None]:
        """The prompt of a model turn, and the compactor's edits (None: it changed nothing)."""
        for reset in self.resets:
            if isinstance(reset, ContextReset) and reset.summary is not None:
                self._summary = reset.summary
        compact = self._compact or (self._recorded if self.resets else None)
        edits = None
        if compact is not None:
            edits = edits_of(compact(self._window(turn)))
            self._rework(edits)
        keep = alike(self._prompt, self._ids)
        tail = self._ids[keep:]
        self._prompt[keep:] = tail
        call = Call(
            step=turn.index,
            thread=turn.thread,
            keep=keep,
            tail=tuple(tail),
            tools_tokens=self.tools_tokens,
            tools_changed=self._tools_changed,
            parts=dict(edits.parts) if edits else {},
        )
        self._seen = len(self.messages if self._joined is None else self._joined)
        self._tools_changed = False
        self.resets.clear()
        return call, edits

    def _window(self, turn: ModelTurn) -> Window:
        """The window that the compactor is given before a turn."""
        history = self.messages if self._joined is None else self._joined
        tokens = self._size() if self._joined is None else self._joined_tokens
        about = dict(self._about)
        return Window(
            step=turn.index,
            thread=turn.thread,
            messages=list(history),
            added=history[self._seen :],
            tokens=about.pop("framing") + self.tools_tokens + tokens,
            count=self._numbers.count,
            resets=tuple(self.resets),
            recorded_summary=self._summary,
            **about,
        )

    def _size(self) -> int:
        """The tokens of the history. Those before `_counted` are in the sum already."""
        self._tokens += sum(map(self._numbers.tokens, self._ids[self._counted :]))
        self._counted = len(self._ids)
        return self._tokens

    def _rework(self, edits: Edits | None) -> None:
        """Take the compactor's answer as the history."""
        history = self.messages if self._joined is None else self._joined
        if edits is None and self._joined is None:
            return
        new = list(history) if edits is None else edits.applied(history)
        same = alike(self.messages, new)
        dropped = self._ids[same : self._counted]
        self._tokens -= sum(map(self._numbers.tokens, dropped))
        self._counted = min(self._counted, same)
        self.messages = new
        self._ids[same:] = map(self._numbers.of, new[same:])


def alike(one: Sequence[Any], other: Sequence[Any]) -> int:
    """The number of items that two lists share at their start; messages are compared by identity.

    >>> alike([1, 2, 3], [1, 2, 4]), alike([], [1])
    (2, 0)
    """
    most, keep = min(len(one), len(other)), 0
    while keep < most and one[keep : keep + _BLOCK] == other[keep : keep + _BLOCK]:
        keep += _BLOCK
    return next((at for at in range(min(keep, most), most) if one[at] != other[at]), most)
