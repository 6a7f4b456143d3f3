"""The history of one thread: steps are added, and before each model call the compactor rewrites
it."""

from __future__ import annotations

from collections.abc import Callable

from ..model import ContextEdit, ContextReset, Message
from ..model.replay import Call
from ..strategies import NewHistory, Window
from .numbering import Numbers, shared_length
from .recording import Frame, Moment

Compact = Callable[[Window], NewHistory | None]


class History:
    """Messages with their numbers."""

    def __init__(self, numbers: Numbers) -> None:
        self.messages: list[Message] = []
        self.ids: list[int] = []
        self._numbers = numbers
        self._counted, self._total = 0, 0  # the first messages, and their tokens

    def join(self, message: Message) -> int:
        """Append a message; returns its number."""
        number = self._numbers.of(message)
        self.messages.append(message)
        self.ids.append(number)
        return number

    def replace_with(self, messages: list[Message]) -> None:
        """Replace the messages by others."""
        same = shared_length(self.messages, messages)
        if same < self._counted:
            self._total -= sum(map(self._numbers.tokens, self.ids[same : self._counted]))
            self._counted = same
        self.ids[same:] = map(self._numbers.of, messages[same:])
        self.messages = messages

    def tokens(self) -> int:
        """The tokens of the messages together."""
        self._total += sum(map(self._numbers.tokens, self.ids[self._counted :]))
        self._counted = len(self.ids)
        return self._total


class Thread:
    """One thread: its history as the model sees it, and `recording`, the untruncated one.

    With `per_call` the compactor gets the full history, and its answer is only the next prompt.
    Without a compactor the recorded resets are repeated by `recorded`.
    """

    def __init__(
        self,
        numbers: Numbers,
        compact: Compact | None,
        recorded: Compact,
        frame: Frame,
        *,
        per_call: bool = False,
    ) -> None:
        self._numbers, self._frame = numbers, frame
        self._compact, self._recorded = compact, recorded
        self._shown = History(numbers)
        self._given = History(numbers) if per_call else self._shown  # to the compactor
        self._seen = 0  # the messages that the compactor was given before
        self._last: list[int] = []  # the prompt before
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

    def call(self, turn: Moment) -> tuple[Call, NewHistory | None]:
        """The prompt of a model turn, and the compactor's answer (None: it changed nothing)."""
        answer = self._reworked(turn)
        keep, prompt = shared_length(self._last, self._shown.ids), [*self._shown.ids]
        about, parts = (turn.step.index, turn.step.thread), dict(answer.parts) if answer else {}
        tools = turn.tools_tokens, turn.tools_changed
        call = Call(*about, keep, tuple(prompt[keep:]), *tools, parts)
        self._last = prompt
        self._seen = len(self._given.messages)
        self.resets.clear()
        return call, answer

    def _reworked(self, turn: Moment) -> NewHistory | None:
        """The compactor's answer, which becomes the history."""
        compact = self._compact or (self._recorded if self.resets else None)
        if compact is None:
            return None
        answer = compact(self._window(turn))
        if answer is not None:
            self._shown.replace_with(list(answer.messages))
        elif self._given is not self._shown:
            self._shown.replace_with(list(self._given.messages))
        return answer

    def _window(self, turn: Moment) -> Window:
        """The window to give the compactor before a turn."""
        history, frame = self._given, self._frame
        return Window(
            step=turn.step.index,
            thread=turn.step.thread,
            messages=list(history.messages),
            added=history.messages[self._seen :],
            tokens=frame.framing + turn.tools_tokens + history.tokens(),
            max_tokens=frame.window_tokens,
            count=self._numbers.count,
            resets=tuple(self.resets),
            future=frame.future,
        )
