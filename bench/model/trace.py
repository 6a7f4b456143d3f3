"""A recorded run: its steps, their contents, and the conversion of values to text."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import msgspec

from .base import Value, plain

# ---------------------------------------------------------------- trace: steps


class ToolCall(Value, frozen=True, kw_only=True):
    """A model's request to run a tool. `arguments` is the decoded JSON, or the recorded string
    where it is not JSON.

    `in_text` is True if the call is written in the turn's text (a fenced command, `execute: …`), so
    its tokens are already counted there.
    """

    id: str
    name: str
    arguments: Any = None
    in_text: bool = False

    @property
    def command(self) -> str:
        """The call as one command: its `command` argument if that is the only one, else its name
        and arguments.

        >>> ToolCall(id="c", name="get", arguments={"id": 3}).command
        'get {"id":3}'
        """
        arguments = self.arguments
        if (
            isinstance(arguments, dict)
            and len(arguments) == 1
            and isinstance(arguments.get("command"), str)
        ):
            return str(arguments["command"])
        return self.name if arguments is None else f"{self.name} {compact_json(arguments)}"


class Usage(Value, frozen=True, kw_only=True):
    """The usage that the provider reported for one call.

    `prompt_tokens` is the total, cached ones included; `cache_write_1h_tokens` is the part of
    `cache_write_tokens` that is cached for an hour.
    """

    prompt_tokens: int
    completion_tokens: int = 0
    cached_prompt_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_write_1h_tokens: int | None = None
    reasoning_tokens: int | None = None


_ENCODER = msgspec.json.Encoder()


class Step(Value, frozen=True, kw_only=True, tag_field="kind"):
    """One step of a run. `index` is its position in the source, `t` the time in seconds since the
    epoch, if recorded."""

    index: int
    thread: str = "main"
    t: float | None = None


class SystemTurn(Step, frozen=True, kw_only=True, tag="system"):
    """Instructions to the model. `non_text` counts the parts of the message that are not text."""

    content: str
    non_text: int = 0


class UserTurn(Step, frozen=True, kw_only=True, tag="user"):
    """A message of a person, or of a harness that speaks as one. `non_text` counts its parts that
    are not text (pictures, files): they are reported, never turned into tokens."""

    content: str
    non_text: int = 0


class ModelTurn(Step, frozen=True, kw_only=True, tag="model"):
    """One answer of the model. `reasoning` is priced as output, and resent with later prompts only
    if `reasoning_resent`. `answer_id` is the provider's id of the answer, which it bills once."""

    content: str = ""
    non_text: int = 0
    tool_calls: tuple[ToolCall, ...] = ()
    model: str | None = None
    reasoning: str | None = None
    reasoning_resent: bool = False
    usage: Usage | None = None
    answer_id: str | None = None


class ToolResult(Step, frozen=True, kw_only=True, tag="result"):
    """The result of a tool call.

    `seen` is the text that the recorded model got (None: not recorded), `full` the untruncated text
    in the same envelope if that was truncated, `data` the structured value if there is one, `role`
    the recorded message's role.
    """

    call_id: str
    function: str
    arguments: Any = None
    success: bool = True
    role: str = "tool"
    seen: str | None = None
    full: str | None = None
    data: Any = None
    error: str | None = None
    truncated_at_source: bool = False
    non_text: int = 0

    @property
    def text(self) -> str:
        """The untruncated text: `full`, else `seen`, else `data` as compact JSON; `""` for an empty
        result."""
        if self.full is not None:
            return self.full
        if self.seen is not None:
            return self.seen
        return "" if self.data is None else as_text(self.data)

    @property
    def value(self) -> Any:
        """The untruncated value: `data` if there is one, else `text`."""
        return self.text if self.data is None else self.data

    @property
    def as_script(self) -> dict[str, Any]:
        """The untruncated text as a script's result (document 000): the mapping that functions get
        for a result without data."""
        return {
            "is_success": self.success,
            "output": self.text,
            "error_message": self.error or "",
            "error_details": [],
            "structured_output": [],
        }

    @property
    def recorded_text(self) -> str:
        """The text that the recorded model saw: `seen`, or the untruncated text if that is not
        recorded."""
        return self.text if self.seen is None else self.seen


class RouteDecision(Step, frozen=True, kw_only=True, tag="route"):
    """A recorded choice of where the run goes next: the decision point, the route and its state."""

    at: str
    taken: str
    router: str | None = None
    state: dict[str, Any] = {}


class Approval(Step, frozen=True, kw_only=True, tag="approval"):
    """A person's yes or no to a pending call."""

    call_id: str
    approved: bool


class ToolsChanged(Step, frozen=True, kw_only=True, tag="tools"):
    """The tool definitions from this step on."""

    tools: tuple[Any, ...] = ()


class ContextReset(Step, frozen=True, kw_only=True, tag="reset"):
    """The recorded harness compacted or cleared its history.

    `kept` are the indices of the kept steps, `summary` is the text that replaced the others.
    """

    summary: str | None = None
    kept: tuple[int, ...] = ()


class ContextEdit(Step, frozen=True, kw_only=True, tag="edit"):
    """The recorded harness reworded earlier messages, for instance by placeholders.

    From here on its prompts showed each step in `shown` with the text given there.
    """

    shown: dict[int, str] = {}


AnyStep = (
    SystemTurn
    | UserTurn
    | ModelTurn
    | ToolResult
    | RouteDecision
    | Approval
    | ToolsChanged
    | ContextReset
    | ContextEdit
)


class Source(Value, frozen=True, kw_only=True):
    """The origin of a trace: format name, path as given, sha256 of the bytes read."""

    format: str
    path: str = ""
    sha256: str = ""


class Trace(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One recorded run. `labels` are annotations by people (expected routes), `meta` notes of the
    recorder.

    Two labels are set by readers: `task`, which trials of one task share, and `prompts`, "unknown"
    if the recording does not show how old messages looked in prompts.

    `left_out` counts the parts of the file that the reader did not understand, described in a few
    words ("block of type 'audio'").
    """

    id: str
    source: Source
    steps: tuple[AnyStep, ...]
    labels: dict[str, Any] = {}
    meta: dict[str, Any] = {}
    left_out: dict[str, int] = {}

    @cached_property
    def results(self) -> tuple[ToolResult, ...]:
        """The tool results in order."""
        return tuple(step for step in self.steps if isinstance(step, ToolResult))

    @cached_property
    def model_turns(self) -> tuple[ModelTurn, ...]:
        """The model calls in order: one prompt each."""
        return tuple(step for step in self.steps if isinstance(step, ModelTurn))

    @cached_property
    def sha256(self) -> str:
        """The hash of the trace's contents, by which copies, baselines and the cache know it: the same
        whatever its id, path and format; `source.sha256` is that of the file's bytes."""
        content = compact_json(plain((self.labels, self.meta, self.left_out, self.steps)))
        return _sha256(content)

    @cached_property
    def task(self) -> str:
        """The task of the run: the label `task`, else a hash of the first request; `""` without
        either.

        >>> asked = UserTurn(index=0, content="List the walls.")
        >>> Trace(id="a", source=Source(format="native"), steps=(asked,), labels={"task": "walls-1"}).task
        'walls-1'
        >>> Trace(id="a", source=Source(format="native"), steps=(asked,)).task
        'asks b1c8380cbb6d'
        """
        if self.labels.get("task") not in (None, ""):
            return as_text(self.labels["task"])
        from .asked import first_asked  # takes long to import, and a child has no traces

        asked = first_asked(step.content for step in self.steps if isinstance(step, UserTurn))
        return f"asks {_sha256(asked)[:12]}" if asked else ""

    @property
    def model(self) -> str | None:
        """The model of the first turn that names one; None if no turn does."""
        return next((turn.model for turn in self.model_turns if turn.model), None)


# ---------------------------------------------------------------- values as text


def as_text(value: Any) -> str:
    """A value as text: a string as it is, anything else as compact JSON (key order kept, UTF-8)."""
    return value if isinstance(value, str) else compact_json(value)


def compact_json(value: Any) -> str:
    """Any value as compact JSON, strings quoted too. NaN and infinities, which JSON lacks, become
    null."""
    try:
        return _ENCODER.encode(value).decode("utf-8", "replace")
    except UnicodeEncodeError:  # lone surrogates: legal in JSON escapes, not in UTF-8
        import json

        plain = json.loads(
            json.dumps(value, default=msgspec.to_builtins), parse_constant=lambda name: None
        )
        return json.dumps(plain, separators=(",", ":"))


def lines_of(text: str) -> list[str]:
    """The lines of a text without the blank ones; `[]` for an empty text."""
    return [line for line in text.splitlines() if line.strip()]


def _sha256(text: str) -> str:
    import hashlib  # loads OpenSSL, which each fork of a child would copy

    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
