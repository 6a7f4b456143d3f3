"""What the slots of a strategy are handed and what they answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..evidence.oracle import Future
from ..model import AnyStep, ContextReset, Message, Record, ToolResult


@dataclass(frozen=True)
class Summary:
    """What the model sees of one result, with what the summarizer wants on record (a rule that fell through, say)."""

    shown: Any
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Written:
    """One summary that a writer made: the messages it read and the text it produced, both of which cost tokens."""

    read: Sequence[Message]
    text: str


@dataclass(frozen=True)
class Edits:
    """A compactor's answer. Either `messages`, the whole new history, or `replace` (message → new one, or None to remove); then `append`.

    Old messages are recognised by identity. `written` are the summaries made on the way; `parts` token counts to keep by name.
    """

    messages: Sequence[Message] | None = None
    replace: Mapping[Message, Message | None] = field(default_factory=dict)
    append: Sequence[Message] = ()
    written: Sequence[Written] = ()
    notes: Sequence[str] = ()
    parts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Execution:
    """What a consumer is given: the untruncated result, and the summarizer's value (None: no summary)."""

    result: ToolResult
    summary: Any


@dataclass(frozen=True)
class Seen:
    """What a replay knows where a router decides: `bench.strategies.routing.state_of` makes the router's state of it.

    `step` is decided on (None: the run is over), `recorded` the state that the trace recorded last, `meta` what the trace says of itself. `results`
    came so far, with their `records` and `evaluations` (None: no evaluator); `summary` and `output` are of the last one. `prompt` is the
    thread's history as the strategy shows it.
    """

    step: AnyStep | None
    recorded: Mapping[str, Any]
    meta: Mapping[str, Any]
    results: int
    records: Sequence[Record]
    evaluations: Sequence[Mapping[str, Any]] | None
    summary: Any
    output: Any
    prompt: Sequence[Message]


@dataclass(frozen=True)
class Reply:
    """What the agent says after an execution: its text, which rule made it (`path`), the task state it leaves behind, and where the run goes."""

    text: str
    path: str
    state: Mapping[str, Any] = field(default_factory=dict)
    route: str = "END"


@dataclass(frozen=True)
class Window:
    """What a compactor is given before a model call: the thread's history and what it costs; with `mode="per_call"` the full one.

    `added` joined since the last prompt; `tokens` is the whole prompt, framing and tool definitions included; `max_tokens` the model's
    window (128,000 where unknown); `count` gives the tokens of a message or text; `resets` are the recorder's own compactions since the
    last prompt, `recorded_summary` is the summary of its latest one so far. `future` is what the whole recording shows, given only to a
    compactor that declares `needs_future`.
    """

    step: int
    thread: str
    messages: Sequence[Message]
    added: Sequence[Message]
    tokens: int
    max_tokens: int
    count: Callable[[Message | str], int]
    resets: Sequence[ContextReset] = ()
    future: Future | None = None
    recorded_summary: str | None = None


class Summarizer(Protocol):
    """Decides what the model sees of one tool result; it is always given the untruncated one."""

    def summarize(self, result: ToolResult) -> Any: ...


class Compactor(Protocol):
    """Turns a thread's history into the prompt; what it returns is the history from then on, or with `mode="per_call"` that prompt alone."""

    def compact(self, window: Window) -> Edits | Sequence[Message] | None: ...


class Store(Protocol):
    """Keeps a record of a tool result for later steps."""

    def put(self, result: ToolResult) -> Record: ...


class Evaluator(Protocol):
    """Judges one stored record; `history` are its own earlier judgements of this case."""

    def evaluate(self, record: Record, history: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None: ...


class Router(Protocol):
    """Decides where the run goes next, on the recorded state with the strategy's own records in it."""

    at: str

    def decide(self, state: Mapping[str, Any]) -> str | tuple[str, Mapping[str, Any]]: ...


class Consumer(Protocol):
    """Turns the outcome of one execution into the agent's next reply."""

    def consume(self, execution: Execution) -> Reply: ...


def untruncated_record(result: ToolResult) -> Record:
    """The record an empty store slot keeps: the value itself, structured where it is a mapping or a list."""
    value = result.value
    return Record(
        step=result.index,
        call_id=result.call_id,
        function=result.function,
        success=result.success,
        value=value,
        result_type="structured" if isinstance(value, dict | list) else "text",
        error=result.error,
        arguments=result.arguments,
        t=result.t,
    )
