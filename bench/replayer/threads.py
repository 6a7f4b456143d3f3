"""The threads of a replay: steps are added to each, and before each model call the compactor
rewrites its history."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..evidence.future import Future
from ..model import ContextEdit, ContextReset, Message
from ..model.messages import Running, shared_length
from ..model.replay import Call
from ..plugins.registry import build
from ..strategies import NewHistory, Strategy, Window
from ..strategies.user_code.functions import SlotFunction
from .numbering import Numbers
from .recording import Recording

Compact = Callable[[Window], NewHistory | None]

Start = Callable[[str, int], Callable[..., Any]]
"""`start(slot, place)`: a new instance of a plug-in, as a function from the values of its slot to
its answer."""


class History:
    """Messages with their numbers."""

    def __init__(self, numbers: Numbers) -> None:
        self.messages: list[Message] = []
        self.ids: list[int] = []
        self._numbers = numbers
        self._total = Running(0, lambda total, number: total + numbers.tokens(number))
        self._counted = 0  # the first messages, which are in it

    def join(self, message: Message) -> int:
        """Append a message; returns its number."""
        number = self._numbers.of(message)
        self.messages.append(message)
        self.ids.append(number)
        return number

    def replace_with(self, messages: list[Message]) -> None:
        """Replace the messages by others."""
        same = shared_length(self.messages, messages)
        self._counted = min(self._counted, same)
        self.ids[same:] = map(self._numbers.of, messages[same:])
        self.messages = messages

    def tokens(self) -> int:
        """The tokens of the messages together."""
        total = self._total.change(self._counted, self.ids[self._counted :])
        self._counted = len(self.ids)
        return total


class Thread:
    """One thread: its history as the model sees it, and `recording`, the untruncated one.

    With `per_call` the compactor gets the full history, and its answer is only the next prompt.
    Without a compactor the recorded resets are repeated. `framing` are the tokens of
    an empty prompt, `max_tokens` those of the model's window; `future` is for a compactor that
    reads it.
    """

    def __init__(
        self,
        name: str,
        numbers: Numbers,
        compact: Compact | None,
        *,
        framing: int,
        max_tokens: int,
        per_call: bool = False,
        future: Future | None = None,
    ) -> None:
        self._name, self._numbers, self._compact = name, numbers, compact
        self._framing, self._max_tokens, self._future = framing, max_tokens, future
        self._shown = History(numbers)
        self._given = History(numbers) if per_call else self._shown  # to the compactor
        self._seen = 0  # the messages that the compactor was given before
        self._last: list[int] = []  # the prompt before
        self._tools, self._tools_changed = 0, False
        self.recording: list[Message] = []
        self.resets: list[ContextReset | ContextEdit] = []  # recorded since the last prompt

    @property
    def messages(self) -> list[Message]:
        """The history as the model sees it."""
        return self._shown.messages

    def join(self, message: Message, recorded: Message) -> int:
        """Append a message; returns its number. `recorded` is the untruncated message."""
        self.recording.append(recorded)
        if self._given is not self._shown:
            self._given.join(message)
        return self._shown.join(message)

    def change_tools(self, tokens: int) -> None:
        """Put other tool definitions, of some tokens, into the prompts from here on."""
        self._tools, self._tools_changed = tokens, True

    def call(self, step: int) -> tuple[Call, NewHistory | None]:
        """The prompt of a model turn, and the compactor's answer (None: it changed nothing)."""
        compact = self._compact or (_recorded_history() if self.resets else None)
        answer = None if compact is None else compact(self._window(step))
        if answer is not None:
            self._shown.replace_with(list(answer.messages))
        elif compact is not None and self._given is not self._shown:
            self._shown.replace_with(list(self._given.messages))
        keep, prompt = shared_length(self._last, self._shown.ids), [*self._shown.ids]
        parts = dict(answer.parts) if answer else {}
        tail = tuple(prompt[keep:])
        call = Call(step, self._name, keep, tail, self._tools, self._tools_changed, parts)
        self._last, self._seen = prompt, len(self._given.messages)
        self._tools_changed = False
        self.resets.clear()
        return call, answer

    def _window(self, step: int) -> Window:
        """The window to give the compactor before a turn."""
        history = self._given
        return Window(
            step=step,
            thread=self._name,
            messages=list(history.messages),
            added=history.messages[self._seen :],
            tokens=self._framing + self._tools + history.tokens(),
            max_tokens=self._max_tokens,
            count=self._numbers.count,
            resets=tuple(self.resets),
            future=self._future,
        )


def _recorded_history() -> Compact:
    """The compactor that leaves the history as the recorded harness did."""
    return SlotFunction(build("compactor", "recorded"))


class Threads(dict[str, Thread]):
    """The threads of a replay by name; each has a compactor of its own."""

    def __init__(
        self, strategy: Strategy, recording: Recording, numbers: Numbers, start: Start
    ) -> None:
        self._strategy, self._recording = strategy, recording
        self._numbers, self._start = numbers, start

    def __missing__(self, name: str) -> Thread:
        compactors, recording = self._strategy.plugins.get("compactor", ()), self._recording
        thread = self[name] = Thread(
            name,
            self._numbers,
            self._start("compactor", 0) if compactors else None,
            framing=recording.index.counting.prompt_tokens,
            max_tokens=recording.max_tokens,
            per_call=any(one.attribute("mode") == "per_call" for one in compactors),
            future=recording.future if self._strategy.reads_future else None,
        )
        return thread
