"""A replay of one trace through one strategy: its prompts as numbered messages, and its
outcomes."""

from __future__ import annotations

import msgspec

from .base import Value
from .outcome import Decision, Failure, Message, Record, Reply, Resolved, WriterCall


class Call(Value, frozen=True, array_like=True):
    """One model call. Its prompt is the first `keep` messages of its thread's previous prompt, then
    `tail`.

    So `keep` is the edit and the cached prefix in one. Messages below the length of
    `TraceIndex.tokens` are the recording's; the next are `Replay.written`, in order. `commands`
    are the tokens of a command history that the compactor keeps separate; None for none.
    """

    step: int
    thread: str
    keep: int
    tail: tuple[int, ...]
    tools_tokens: int = 0
    tools_changed: bool = False
    commands: int | None = None


class StepOutcome(Value, frozen=True, kw_only=True):
    """The outcome of one tool result: the message that first showed it, the stored record, the
    findings.

    `stored` is the value that a later step can read back, with its handle resolved. Findings are
    those of the evaluator, on the stored and on the untruncated record.
    """

    step: int
    message: int
    record: Record
    stored: object = None
    evaluation: dict[str, object] | None = None
    evaluation_untruncated: dict[str, object] | None = None
    reply: Reply | None = None


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    """One trace under one strategy: everything that metrics measure. The same input gives the same
    bytes.

    `written` are the strategy's messages, numbered after the recorded ones. A strategy that raised
    has a `failure`; `unstable_at` is the step at which a second replay differed. `says` are the
    sentences that the strategy declares as its own. One that `reads_future` is only a bound, which
    no agent can run, so its texts are not checked.
    """

    strategy: str
    spec: str
    says: tuple[str, ...] = ()
    written: tuple[Message, ...] = ()
    calls: tuple[Call, ...] = ()
    results: tuple[StepOutcome, ...] = ()
    has_routers: bool = False
    decisions: tuple[Decision, ...] = ()
    own_calls: tuple[WriterCall, ...] = ()
    handles: tuple[Resolved, ...] = ()
    failure: Failure | None = None
    unstable_at: int | None = None
    reads_future: bool = False
