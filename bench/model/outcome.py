"""Answers of a strategy: messages, records, replies, decisions, notes, failures."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from .base import Value
from .trace import ToolCall

Amount = Annotated[int, msgspec.Meta(ge=0)]
"""A number of tokens or parts; never negative, so that a strategy cannot lower its price with
it."""


class Message(msgspec.Struct, frozen=True, kw_only=True, eq=False, omit_defaults=True):
    """One message of a prompt, compared by identity, so that a compactor's answer can be matched
    with the history.

    `kind` is system, user, model, result, or made (written by a strategy); `step` the index of its
    step, None for a made one. A rewritten message (such as a placeholder for a result) keeps its
    `step`, so that losses are counted for the right result. `reasoning_tokens` is the size of the
    reasoning resent with a model turn; its text is not part of `text`, since providers return most
    of it encrypted or not at all.
    """

    role: str
    text: str
    kind: Literal["system", "user", "model", "result", "made"]
    step: int | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None
    non_text: Amount = 0
    reasoning_tokens: Amount = 0


class Record(Value, frozen=True, kw_only=True):
    """The record that a store keeps of one tool result, for evaluators and routers.

    `value` is the stored representation, `result_type` structured, text or visualization; `handle`
    names a value kept outside.
    """

    step: int
    call_id: str
    function: str
    success: bool
    value: Any = None
    result_type: str = "text"
    summary: str = ""
    error: str | None = None
    arguments: Any = None
    handle: str | None = None
    t: float | None = None


SELECTED = "selected_script"
PARAMETERS = "script_parameters"
OUTPUT = "raw_output"
SUMMARY = "execution_summary"

TASK_STATE = (SELECTED, PARAMETERS, OUTPUT, SUMMARY)
"""The keys of a task's state (documents 000, 001, 003), which an agent must clear after its reply.
"""


class Reply(Value, frozen=True):
    """A consumer's answer: its text, the remaining task state, and the route.

    `path` names the rule behind the answer.
    """

    text: str
    path: str
    state: dict[str, Any] = {}
    route: str = "END"


class Decision(Value, frozen=True, kw_only=True):
    """One routing decision under a strategy, and the route on untruncated records.

    `loop` is the route by which this router reports a loop; None for a router that does not detect
    loops.
    """

    step: int
    router: str
    at: str
    route: str
    untruncated: str
    loop: str | None = None
    detail: dict[str, Any] = {}


class WriterCall(Value, frozen=True, kw_only=True):
    """One model call that a strategy made itself: the tokens that it read and produced.

    `model` is the model that was called; None if the run's model would have been called.
    """

    step: int
    consumed_tokens: Amount
    produced_tokens: Amount
    model: str | None = None


class Resolved(Value, frozen=True, kw_only=True):
    """The text behind a handle from a step on, outside of prompts and records."""

    handle: str
    step: int
    text: str


class Failure(Value, frozen=True, kw_only=True):
    """The error of a strategy that raised; it makes the run fail, not the comparison."""

    step: int
    slot: str
    error: str

    @property
    def text(self) -> str:
        """The failure in words: its slot, its step and the error.

        >>> Failure(step=3, slot="store", error="ValueError: no").text
        'store at step 3: ValueError: no'
        """
        return f"{self.slot} at step {self.step}: {self.error}"


class Counting(Value, frozen=True, kw_only=True):
    """The rule by which the tokens of one trace are counted, and the use of its provider's prompt
    cache.

    The defaults are the plain rule; with `calibrated` they were fitted on the usage that this trace
    recorded.

    A prompt costs `prompt_tokens` beyond its messages and tool definitions, a message
    `message_tokens` beyond its text, calls and reasoning. `factor` converts tokens of our
    vocabulary to the provider's. `cache_share` is the share that was really read of the tokens that
    the cache rule allows (1: all of them); `cache_used` is False if the recorded usage shows no
    cache at all.
    """

    prompt_tokens: int = 3
    message_tokens: float = 3.0
    factor: float = 1.0
    cache_used: bool = True
    cache_share: float = 1.0
    calibrated: bool = False
