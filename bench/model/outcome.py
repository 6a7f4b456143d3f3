"""Answers of a strategy: messages, records, replies, decisions, notes, failures."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from .base import Value
from .trace import ToolCall

Amount = Annotated[int, msgspec.Meta(ge=0)]
"""A number of tokens or parts, which a strategy may not take away from the price by one below 0."""


class Message(msgspec.Struct, frozen=True, kw_only=True, eq=False, omit_defaults=True):
    """One message of a prompt, compared by identity: so a compactor's answer meets the history.

    `kind` is system, user, model, result, or made (written by a strategy); `step` the index of the
    step it shows, None for a made one. A rewritten message (a placeholder for a result, say) keeps
    its `step`, so that loss is charged to the right result. `reasoning_tokens` is the size of the
    reasoning that is sent back with a model turn; its text is not part of `text`, as providers hand
    most of it over encrypted or not at all.
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
    """The record that a store keeps of one tool result; evaluators and routers are given it.

    `value` is the stored representation, `result_type` structured, text or visualization; `handle`
    names a value kept elsewhere.
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
"""The keys of one task's state (documents 000, 001, 003), which an agent must clear when it has
replied.
"""


class Reply(Value, frozen=True):
    """A consumer's answer: its text, the task state that is left, and the route.

    `path` names the rule that made it.
    """

    text: str
    path: str
    state: dict[str, Any] = {}
    route: str = "END"


class Decision(Value, frozen=True, kw_only=True):
    """One routing decision under a strategy, and those that it is compared with.

    `loop` is the route by which this router says that the run goes in circles; None for one that
    does not look for that.
    """

    step: int
    router: str
    at: str
    route: str
    untruncated: str
    recorded: str | None = None
    labelled: str | None = None
    loop: str | None = None
    detail: dict[str, Any] = {}

    @property
    def expected(self) -> str:
        """The route to compare with: labelled, else recorded, else that on untruncated records."""
        return self.labelled or self.recorded or self.untruncated


class WriterCall(Value, frozen=True, kw_only=True):
    """One model call that a strategy made itself: the tokens that it read and produced.

    `model` is the model that was really asked; None: the run's own model would have been.
    """

    step: int
    consumed_tokens: Amount
    produced_tokens: Amount
    model: str | None = None


class Resolved(Value, frozen=True, kw_only=True):
    """The text that a handle stands for from a step on, outside of prompts and records."""

    handle: str
    step: int
    text: str


class Failure(Value, frozen=True, kw_only=True):
    """A strategy that raised: recorded as the failure of that run, not the end of the comparison."""

    step: int
    slot: str
    error: str

    @property
    def text(self) -> str:
        """The place of the failure and its text.

        >>> Failure(step=3, slot="store", error="ValueError: no").text
        'store at step 3: ValueError: no'
        """
        return f"{self.slot} at step {self.step}: {self.error}"


class Counting(Value, frozen=True, kw_only=True):
    """The way tokens of one trace are counted, and the use of its provider's prompt cache.

    The defaults are the plain rule; with `calibrated` they were fitted on the usage that this trace
    recorded.

    A prompt costs `prompt_tokens` beyond its messages and tool definitions, a message
    `message_tokens` beyond its text, calls and reasoning. `factor` turns tokens of the vocabulary
    counted with into the provider's. `cache_share` is the share of what the provider's cache rule
    would serve that was served (1: all of it), `cache_used` False where the recording's usage shows
    no use of a cache at all.
    """

    prompt_tokens: int = 3
    message_tokens: float = 3.0
    factor: float = 1.0
    cache_used: bool = True
    cache_share: float = 1.0
    calibrated: bool = False
