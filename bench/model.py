"""Every value that flows through the bench, in flow order: Trace → Run → Sample → Comparison → Verdict.

All are frozen msgspec structs: typed, comparable, and written and read as JSON without further code. No I/O here.
Units are in the names; fractions are 0–1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

SCHEMA_VERSION = 1
"""Version of everything in this file as it is written to disk; a reader refuses any other."""


class Value(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Base of every value here: frozen, keyword-only, unknown fields refused when read."""


# ---------------------------------------------------------------- trace: content


class TextPart(Value, frozen=True, kw_only=True, tag_field="type", tag="text"):
    """A run of text inside a message."""

    text: str


class ImagePart(Value, frozen=True, kw_only=True, tag_field="type", tag="image"):
    """An image, kept as size and hash; never priced by guessing."""

    media_type: str
    size_bytes: int
    sha256: str


class OtherPart(Value, frozen=True, kw_only=True, tag_field="type", tag="other"):
    """Anything else that is not text (audio, file, …), kept as size and hash."""

    media_type: str
    size_bytes: int
    sha256: str


Part = TextPart | ImagePart | OtherPart
Content = str | tuple[Part, ...]


def text_of(content: Content) -> str:
    """The text of a content: itself, or its text parts joined by line breaks; `""` where there is none.

    >>> text_of((TextPart(text="a"), TextPart(text="b")))
    'a\\nb'
    """
    if isinstance(content, str):
        return content
    return "\n".join(part.text for part in content if isinstance(part, TextPart))


def non_text_parts(content: Content) -> int:
    """How many parts of a content are not text: counted and reported, never turned into tokens."""
    return 0 if isinstance(content, str) else sum(not isinstance(part, TextPart) for part in content)


# ---------------------------------------------------------------- trace: steps


class ToolCall(Value, frozen=True, kw_only=True):
    """A model's request to run a tool. `arguments` is the decoded JSON, or the recorded string where it is not JSON.

    `in_text`: the call is written in the turn's own text (a fenced command, `execute: …`), so the text already costs it.
    """

    id: str
    name: str
    arguments: Any = None
    in_text: bool = False


class Usage(Value, frozen=True, kw_only=True):
    """What the provider itself reported for one call. `prompt_tokens` is the total, cached ones included."""

    prompt_tokens: int
    completion_tokens: int = 0
    cached_prompt_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None


class Step(Value, frozen=True, kw_only=True, tag_field="kind"):
    """One thing that happened. `index` is its position in the source, `t` seconds since the epoch where recorded."""

    index: int
    agent: str = "agent"
    thread: str = "main"
    t: float | None = None


class SystemTurn(Step, frozen=True, kw_only=True, tag="system"):
    """Instructions to the model."""

    content: Content


class UserTurn(Step, frozen=True, kw_only=True, tag="user"):
    """What a person, or a harness speaking as one, said."""

    content: Content


class ModelTurn(Step, frozen=True, kw_only=True, tag="model"):
    """One answer of the model. `reasoning` is priced as output and not resent unless `reasoning_resent`."""

    content: Content = ""
    tool_calls: tuple[ToolCall, ...] = ()
    model: str | None = None
    reasoning: str | None = None
    reasoning_resent: bool = False
    finish_reason: str | None = None
    usage: Usage | None = None


class ToolResult(Step, frozen=True, kw_only=True, tag="result"):
    """What a tool gave back.

    `seen` is the text the recorded model got (None: not recorded), `full` the untruncated text in the same envelope where
    something was cut, `data` the structured value where there is one, `role` the recorded message's role.
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
    duration_s: float | None = None
    truncated_at_source: bool = False
    non_text: int = 0

    @property
    def text(self) -> str:
        """The untruncated text: `full`, else `seen`, else `data` as compact JSON; `""` for an empty result."""
        if self.full is not None:
            return self.full
        if self.seen is not None:
            return self.seen
        return "" if self.data is None else as_text(self.data)

    @property
    def value(self) -> Any:
        """The untruncated value: `data` where there is one, else `text`."""
        return self.text if self.data is None else self.data

    @property
    def shown_by_recorder(self) -> str:
        """What the recorded model saw: `seen`, or the untruncated text where the trace does not say."""
        return self.text if self.seen is None else self.seen


class RouteDecision(Step, frozen=True, kw_only=True, tag="route"):
    """A recorded choice of where the run goes next: at which decision point, what was taken, out of what, on what state."""

    at: str
    taken: str
    router: str | None = None
    options: tuple[str, ...] = ()
    state: dict[str, Any] = {}


class Approval(Step, frozen=True, kw_only=True, tag="approval"):
    """A person's yes or no to a pending call."""

    call_id: str
    approved: bool


class ToolsChanged(Step, frozen=True, kw_only=True, tag="tools"):
    """The tool definitions in force from here on."""

    tools: tuple[Any, ...] = ()


class ContextReset(Step, frozen=True, kw_only=True, tag="reset"):
    """The recorded harness compacted or cleared its history: `kept` are the step indices it kept, `summary` what it put instead."""

    summary: str | None = None
    kept: tuple[int, ...] = ()


AnyStep = SystemTurn | UserTurn | ModelTurn | ToolResult | RouteDecision | Approval | ToolsChanged | ContextReset


class Source(Value, frozen=True, kw_only=True):
    """Where a trace came from: format name, path as given, sha256 of the bytes read."""

    format: str
    path: str = ""
    sha256: str = ""


class Trace(msgspec.Struct, frozen=True, kw_only=True, weakref=True, dict=True):
    """One recorded run. `labels` hold what people said about it (expected routes, outcomes), `meta` what the recorder said."""

    id: str
    source: Source
    steps: tuple[AnyStep, ...]
    labels: dict[str, Any] = {}
    meta: dict[str, Any] = {}

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """The tool results in order."""
        return tuple(step for step in self.steps if isinstance(step, ToolResult))

    @property
    def model_turns(self) -> tuple[ModelTurn, ...]:
        """The model calls in order: one prompt each."""
        return tuple(step for step in self.steps if isinstance(step, ModelTurn))

    @property
    def model(self) -> str | None:
        """The model of the first turn that names one; None where none does."""
        return next((turn.model for turn in self.model_turns if turn.model), None)


# ---------------------------------------------------------------- values as text

_ENCODER = msgspec.json.Encoder()


def as_text(value: Any) -> str:
    """The one way a value becomes text: a string is itself, anything else compact JSON (key order kept, UTF-8).

    >>> as_text({"b": [1, 2.0], "a": "é"})
    '{"b":[1,2.0],"a":"é"}'
    >>> as_text("x")
    'x'
    """
    return value if isinstance(value, str) else compact_json(value)


def compact_json(value: Any) -> str:
    """Compact JSON of any value, strings quoted too. NaN and infinities, which JSON lacks, become null.

    >>> compact_json("x")
    '"x"'
    """
    try:
        return _ENCODER.encode(value).decode("utf-8", "replace")
    except UnicodeEncodeError:  # lone surrogates: legal in JSON escapes, not in UTF-8
        import json

        return json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False, default=str)


def lines_of(text: str) -> list[str]:
    """The lines of a text without the blank ones; `[]` for an empty text.

    >>> lines_of("a\\r\\n\\n b ")
    ['a', ' b ']
    """
    return [line for line in text.splitlines() if line.strip()]


# ---------------------------------------------------------------- run


class Message(msgspec.Struct, frozen=True, kw_only=True, eq=False, omit_defaults=True):
    """One message of a prompt. Compared by identity: that is how a compactor's answer is matched against the history.

    `kind` is system, user, model, result, or made (written by a strategy); `step` the index of the step it shows, None for
    a made one. A rewritten message (a placeholder for a result, say) keeps its `step`, so that loss is charged to the right result.
    """

    role: str
    text: str
    kind: Literal["system", "user", "model", "result", "made"]
    step: int | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None
    non_text: int = 0


class Splice(Value, frozen=True, kw_only=True):
    """One edit of a prompt against the one before: at position `at` (of the earlier prompt) take `removed` out, put `added` in."""

    at: int
    removed: int
    added: tuple[str, ...] = ()


class Prompt(Value, frozen=True, kw_only=True):
    """What one model call was given, as edits against the previous prompt of its thread (the first: against nothing).

    `tokens` counts everything, framing and tool definitions included; `window_tokens` is the model's window, None if unknown.
    `compacted` says that the strategy changed the history (more than new turns joining it).
    """

    step: int
    thread: str
    splices: tuple[Splice, ...]
    tokens: int
    tools_tokens: int = 0
    tools_changed: bool = False
    window_tokens: int | None = None
    compacted: bool = False
    parts: dict[str, int] = {}


class Record(Value, frozen=True, kw_only=True):
    """What a store keeps of one tool result, and what evaluators and routers are given.

    `value` is the stored representation, `result_type` structured, text or visualization; `handle` names a value kept elsewhere.
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
    metadata: dict[str, Any] = {}
    handle: str | None = None
    t: float | None = None


class ResultOutcome(Value, frozen=True, kw_only=True):
    """What became of one tool result under a strategy.

    `shown` is the key of the message that first showed it, `stored` what a later step can read back (text of the stored record,
    the handle resolved), and the findings are evaluation and extraction on the stored and on the untruncated record.
    """

    step: int
    call_id: str
    shown: str
    record: Record
    stored: Any = None
    evaluation: dict[str, Any] | None = None
    evaluation_untruncated: dict[str, Any] | None = None
    extraction: dict[str, Any] | None = None
    extraction_untruncated: dict[str, Any] | None = None


class Decision(Value, frozen=True, kw_only=True):
    """One routing decision under a strategy, the same router's on untruncated records, and what was recorded or labelled."""

    step: int
    router: str
    at: str
    route: str
    untruncated: str
    recorded: str | None = None
    labelled: str | None = None
    detail: dict[str, Any] = {}

    @property
    def expected(self) -> str:
        """The route to compare with: labelled, else recorded, else the same router's on untruncated records."""
        return self.labelled or self.recorded or self.untruncated

    @property
    def expected_from(self) -> Literal["labelled", "recorded", "untruncated"]:
        """Where `expected` comes from; the report says which."""
        return "labelled" if self.labelled else "recorded" if self.recorded else "untruncated"


class WriterCall(Value, frozen=True, kw_only=True):
    """One summary written on the way to a prompt: what it read and what it produced, in tokens."""

    step: int
    consumed_tokens: int
    produced_tokens: int


class Note(Value, frozen=True, kw_only=True):
    """Something a strategy reported while it ran: a rule that fell through, a trigger that fired."""

    step: int
    slot: str
    text: str


class Failure(Value, frozen=True, kw_only=True):
    """A strategy that raised: recorded as the failure of its case, not the end of the run."""

    step: int
    slot: str
    error: str


class Run(msgspec.Struct, frozen=True, kw_only=True, weakref=True, dict=True):
    """One trace replayed through one strategy: everything a metric needs, so that scoring never replays.

    `messages` holds each distinct message once, by content hash; `message_tokens` their cost, framing included.
    """

    schema: int = SCHEMA_VERSION
    trace_id: str
    trace_sha256: str
    strategy: str
    spec: str
    encoding: str
    encoding_assumed: bool = False
    model: str | None = None
    messages: dict[str, Message]
    message_tokens: dict[str, int]
    prompts: tuple[Prompt, ...] = ()
    results: tuple[ResultOutcome, ...] = ()
    decisions: tuple[Decision, ...] = ()
    writer_calls: tuple[WriterCall, ...] = ()
    notes: tuple[Note, ...] = ()
    final_route: str | None = None
    final_state: dict[str, Any] = {}
    failure: Failure | None = None

    def walk(self) -> Iterator[tuple[Prompt, list[str]]]:
        """Each prompt with the message keys it holds, in order. The list is live: read it before the next turn, never keep it.

        Cost is O(changes): a prompt that only grew costs what it grew by.
        """
        live: dict[str, list[str]] = {}
        for prompt in self.prompts:
            keys = live.setdefault(prompt.thread, [])
            for splice in reversed(prompt.splices):
                keys[splice.at : splice.at + splice.removed] = splice.added
            yield prompt, keys


# ---------------------------------------------------------------- scores


class Sample(Value, frozen=True, kw_only=True):
    """One measurement: `numerator` alone, or over `denominator` for a pooled metric; `reason` says why there is no value."""

    numerator: float | None
    denominator: float | None = None
    step: int | None = None
    call_id: str | None = None
    reason: str | None = None
    detail: dict[str, Any] = {}


class Row(Value, frozen=True, kw_only=True):
    """One metric of one strategy on one case (`case` None: over all cases). `value` None means not measured, for `reason`.

    `n` counts what was measured: denominators for pooled metrics, samples for the others.
    """

    strategy: str
    metric: str
    case: str | None
    value: float | None
    unit: str
    n: float
    reason: str | None = None
    marks: tuple[str, ...] = ()


class Signature(Value, frozen=True, kw_only=True):
    """The settings that made a set of scores. `compare` refuses scores whose signatures differ in anything but what is compared."""

    bench_version: str
    traces: dict[str, str]
    strategies: dict[str, str]
    encodings: tuple[str, ...]
    atoms_version: str
    prices_date: str
    seed: int
    code: dict[str, str] = {}


class Delta(Value, frozen=True, kw_only=True):
    """One metric of one strategy against the reference, paired by case: `better` is None within the noise floor."""

    strategy: str
    reference: str
    metric: str
    delta: float | None
    relative: float | None
    low: float | None
    high: float | None
    n: int
    better: bool | None
    reason: str | None = None


class GateRule(Value, frozen=True, kw_only=True):
    """One declared limit. Exactly one of `min`, `max` (absolute), `max_increase`, `max_drop` (against the baseline) is set.

    A relative limit is `"2%"` (of the baseline) or a bare number (absolute difference). `over`: all cases pooled, or the worst one.
    """

    metric: str
    strategy: str = "*"
    min: float | None = None
    max: float | None = None
    max_increase: str | float | None = None
    max_drop: str | float | None = None
    over: Literal["all", "worst_case"] = "all"


class Verdict(Value, frozen=True, kw_only=True):
    """What a gate decided, in one sentence."""

    gate: str
    metric: str
    strategy: str
    outcome: Literal["pass", "fail", "inconclusive", "skipped"]
    sentence: str
    case: str | None = None
    value: float | None = None
    limit: float | None = None


class Baseline(Value, frozen=True, kw_only=True):
    """Accepted values, committed beside a scenario: per strategy, metric and case (`""`: over all cases)."""

    schema: int = SCHEMA_VERSION
    signature: Signature
    values: dict[str, dict[str, dict[str, float | None]]]


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that gates and panels may see: the scores, the paired deltas, and the Runs and Traces behind them."""

    title: str
    signature: Signature
    strategies: tuple[str, ...]
    references: tuple[str, ...]
    cases: tuple[str, ...]
    rows: tuple[Row, ...]
    summary: tuple[Row, ...]
    deltas: tuple[Delta, ...]
    rules: tuple[GateRule, ...]
    traces: dict[str, Trace]
    runs: dict[tuple[str, str], Run]
    samples: dict[tuple[str, str, str], tuple[Sample, ...]]
    metrics: dict[str, MetricInfo]
    skipped: tuple[tuple[str, str], ...] = ()
    baseline: Baseline | None = None
    baseline_problem: str | None = None
    verdicts: tuple[Verdict, ...] = ()

    def row(self, strategy: str, metric: str, case: str | None = None) -> Row | None:
        """The row of one metric for one strategy and case (None: over all cases); None where there is none."""
        pool = self.summary if case is None else self.rows
        for row in pool:
            if row.strategy == strategy and row.metric == metric and row.case == case:
                return row
        return None


class MetricInfo(Value, frozen=True, kw_only=True):
    """What a metric declares about itself: its unit, which way is better, and how samples add up."""

    name: str
    unit: str
    better: Literal["lower", "higher"]
    aggregate: Literal["sum", "max", "pooled"]
    title: str = ""
