"""The state of a replay: numbered messages, threads of them, and the ledger of model calls and
offloaded values."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..model import ContextEdit, ContextReset, Message, Resolved, WriterCall, as_text, compact_json
from ..model.base import grouped
from ..model.errors import StrategyError, one_line, own_error
from ..model.messages import after_change, shared_length
from ..model.replay import Call
from ..plugins.worker import NoAnswer
from ..strategies import NewHistory, Window, WrittenSummary

CountTokens = Callable[[Message | str], int]
Compact = Callable[[Window], NewHistory | None]

Start = Callable[[str, int], Callable[..., Any]]
"""`start(slot, place)` makes a new instance of a plug-in: a function from the values of its slot to
its answer."""


_TIMES = 10  # a history has at most so many times the messages of the recording


class Numbers:
    """The number of each message of one replay.

    The messages of the recording, `recorded`, have the first numbers, and `tokens` are their sizes.
    Messages that a strategy writes, `written`, follow. Those with the same content share a number.
    """

    def __init__(
        self, count: CountTokens, recorded: Sequence[Message] = (), tokens: Sequence[int] = ()
    ) -> None:
        self.written: list[Message] = []
        self._count, self._recorded = count, recorded
        self._by_message = dict(zip(recorded, range(len(recorded)), strict=True))
        self._by_content: dict[Any, int] = {}
        self._tokens = dict(enumerate(tokens))

    def of(self, message: Message) -> int:
        """The number of a message; a new one unless an earlier message has the same content."""
        number = self._by_message.get(message)
        if number is None:
            content = _content(message)
            for candidate in self._by_step.get(message.step, ()):
                if _content(self._recorded[candidate]) == content:
                    number = candidate
                    break
            else:
                new = len(self._recorded) + len(self.written)
                number = self._by_content.setdefault(content, new)
                if number == new:
                    self.written.append(message)
            self._by_message[message] = number
        return number

    @functools.cached_property
    def _by_step(self) -> dict[int | None, list[int]]:
        """The numbers of the recorded messages, by step."""
        return grouped((message.step, number) for number, message in enumerate(self._recorded))

    def tokens(self, number: int) -> int:
        """The tokens of the message with a number, framing included."""
        size = self._tokens.get(number)
        if size is None:
            size = self._tokens[number] = self._count(self.written[number - len(self._recorded)])
        return size

    def count(self, item: Message | str) -> int:
        """The tokens of a text or a message, which may have no number."""
        number = self._by_message.get(item) if isinstance(item, Message) else None
        return self._count(item) if number is None else self.tokens(number)


def _content(message: Message) -> Any:
    """The fields of a message by which two messages count as the same."""
    calls = [(call.id, call.name, call.arguments) for call in message.tool_calls]
    origin = message.step, message.kind, message.role, message.call_id, message.non_text
    return *origin, message.reasoning_tokens, compact_json(calls), message.text


class History:
    """Messages with their numbers."""

    def __init__(self, numbers: Numbers) -> None:
        self.messages: list[Message] = []
        self.ids: list[int] = []
        self._numbers = numbers
        self._sizes: list[int] = []  # the tokens of the first messages, up to the last one counted

    def join(self, message: Message) -> int:
        """Append a message; returns its number."""
        number = self._numbers.of(message)
        self.messages.append(message)
        self.ids.append(number)
        return number

    def replace_with(self, messages: list[Message]) -> None:
        """Replace the messages; what was counted of the unchanged first ones stays."""
        unchanged = shared_length(self.messages, messages)
        del self._sizes[unchanged:]
        self.ids[unchanged:] = map(self._numbers.of, messages[unchanged:])
        self.messages = messages

    def tokens(self) -> int:
        """The tokens of the messages together."""
        self._sizes += map(self._numbers.tokens, self.ids[len(self._sizes) :])
        return sum(self._sizes)


class Thread:
    """One thread of a conversation: the history that the model sees, which the compactor rewrites
    before each call, and `recording`, the untruncated history.

    With `per_call` the compactor gets the full history, and its answer is only the next prompt.
    Without a compactor the recorded resets are repeated. `framing` are the tokens of an empty
    prompt, `max_tokens` those of the model's window.
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
    ) -> None:
        self._name, self._numbers, self._compact = name, numbers, compact
        self._framing, self._max_tokens = framing, max_tokens
        self._shown = History(numbers)
        self._full = History(numbers) if per_call else self._shown  # what the compactor gets
        self._known = 0  # how many messages the compactor got at the last call
        self._last_prompt: list[int] = []
        self._tools, self._tools_changed = 0, False
        self.recording: list[Message] = []
        self.changes: list[ContextReset | ContextEdit] = []  # those recorded since the last prompt

    @property
    def messages(self) -> list[Message]:
        """The history that the model sees."""
        return self._shown.messages

    def join(self, message: Message, recorded: Message) -> int:
        """Append a message; returns its number. `recorded` is the untruncated message."""
        self.recording.append(recorded)
        if self._full is not self._shown:
            self._full.join(message)
        return self._shown.join(message)

    def change_tools(self, tokens: int) -> None:
        """Put new tool definitions with this number of tokens into all later prompts."""
        self._tools, self._tools_changed = tokens, True

    def call(self, step: int) -> tuple[Call, NewHistory | None]:
        """The prompt of a model turn, and the compactor's answer (None: it changed nothing). Raises
        StrategyError for one that repeats its messages at every call."""
        answer = None if self._compact is None else self._compact(self._window(step))
        if answer is not None:
            if (size := len(answer.messages)) > _TIMES * (len(self.recording) + _TIMES):
                what = f"its history has {size:,} messages for {len(self.recording)} recorded ones"
                raise StrategyError(f"{what} — return each once: the next call starts from them")
            self._shown.replace_with(list(answer.messages))
        elif self._full is not self._shown:
            self._shown.replace_with(list(self._full.messages))
        elif self._compact is None and self.changes:
            history = functools.reduce(after_change, self.changes, self._shown.messages)
            self._shown.replace_with(history)
        prompt = [*self._shown.ids]
        keep = shared_length(self._last_prompt, prompt)
        tail, commands = tuple(prompt[keep:]), answer.commands if answer else None
        call = Call(step, self._name, keep, tail, self._tools, self._tools_changed, commands)
        self._last_prompt, self._known = prompt, len(self._full.messages)
        self._tools_changed = False
        self.changes.clear()
        return call, answer

    def _window(self, step: int) -> Window:
        """The window that the compactor gets before a turn."""
        history = self._full
        return Window(
            step=step,
            thread=self._name,
            messages=list(history.messages),
            added=history.messages[self._known :],
            tokens=self._framing + self._tools + history.tokens(),
            max_tokens=self._max_tokens,
            count=self._numbers.count,
        )


class Threads(dict[str, Thread]):
    """The threads of a replay by name; each begins at its first use."""

    def __init__(self, begin: Callable[[str], Thread]) -> None:
        self._begin = begin

    def __missing__(self, name: str) -> Thread:
        thread = self[name] = self._begin(name)
        return thread


# ---------------------------------------------------------------- costs and failures


class Ledger:
    """The model calls and the offloaded values of a strategy during one replay.

    `step` is the index of the last replayed step, -1 before the first. While `is_free`, nothing is
    entered: the untruncated side is being judged, which no agent would pay for.
    """

    def __init__(self, numbers: Numbers) -> None:
        self.numbers = numbers
        self.step, self.is_free = -1, False
        self.calls: list[WriterCall] = []
        self.handles: list[Resolved] = []
        self._offloaded: dict[str, tuple[str, Any]] = {}  # the text and the value of each handle

    def charge(self, read: int, written: int, model: str | None) -> None:
        """Charge a model call that the strategy itself made."""
        if not self.is_free:
            call = WriterCall(
                step=self.step, consumed_tokens=read, produced_tokens=written, model=model
            )
            self.calls.append(call)

    def charge_summaries(self, summaries: Iterable[WrittenSummary]) -> None:
        """Charge summaries as if the run's model wrote them, unless the strategy made a call."""
        if self.calls and self.calls[-1].step == self.step:
            return
        count = self.numbers.count
        for summary in summaries:  # a model is not sent its own reasoning
            read = sum(count(message) - message.reasoning_tokens for message in summary.read)
            self.charge(read, count(summary.text), None)

    def offload(self, handle: str, value: Any) -> None:
        """Let a handle stand for a value from this step on."""
        text = as_text(value)
        known, _ = self._offloaded.get(handle, (None, None))
        if not self.is_free and known != text:
            self._offloaded[handle] = text, value
            self.handles.append(Resolved(handle=handle, step=self.step, text=text))

    def offloaded(self, handle: str) -> Any:
        """The value that a handle stands for; None for an unknown one."""
        _, value = self._offloaded.get(handle, ("", None))
        return value


class Broken(Exception):
    """A strategy raised, or returned a value that its slot does not allow."""

    def __init__(self, slot: str, error: BaseException) -> None:
        self.slot = slot
        # The child of user code has printed the traceback of its error.
        self.text = one_line(error) if isinstance(error, NoAnswer) else own_error(error)


class in_slot:  # noqa: N801 - as contextlib's are named
    """A context in which an error is raised as Broken, with the name of a slot.

    A class, since every value passes through several, and a generator takes four times as long.
    """

    def __init__(self, slot: str) -> None:
        self._slot = slot

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None and not isinstance(error, KeyboardInterrupt | MemoryError):
            raise Broken(self._slot, error) from error
