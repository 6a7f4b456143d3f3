"""The Agent Trajectory Interchange Format (ATIF), which Harbor and others write: version 1."""

from __future__ import annotations

import hashlib
import re
from typing import Annotated, Any

import msgspec

from ...model import Content, ImagePart, Part, TextPart, ToolCall, Usage, text_of
from .. import Confidence, Document, Keeps, Traces, certain_if, dicts, register
from ..claude_code_files import tool_run
from ..content import Blocks
from ..parts import simple
from ..records import dict_in, text, time_of, typed
from ..steps import Said, Steps

_VERSION = re.compile(r"(?:ATIF-)?v?(\d+)(?:\.\d+)*")
_DEEPEST = 20

Count = Annotated[int, msgspec.Meta(ge=0)]


class Metrics(msgspec.Struct):
    """Tokens and cost of a step."""

    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    cached_tokens: Count | None = None
    cost_usd: float | None = None
    prompt_token_ids: Any = None
    completion_token_ids: Any = None
    logprobs: Any = None
    extra: Any = None


class Tokens(msgspec.Struct):
    """Tokens that `metrics.extra` holds, in a provider's words."""

    cache_read_input_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = None
    reasoning_tokens: Count | None = None


class Observed(msgspec.Struct):
    """One observation: the result of a call, or what the environment says."""

    source_call_id: str | None = None
    content: Any = None
    subagent_trajectory_ref: list[dict[str, Any]] | None = None
    extra: Any = None


class Observation(msgspec.Struct):
    """The observations of a step."""

    results: list[dict[str, Any]] = []


class TrajectoryStep(msgspec.Struct):
    """One step of a trajectory."""

    step_id: Any = None
    timestamp: Any = None
    source: str | None = None
    model_name: str | None = None
    reasoning_effort: Any = None
    message: Any = None
    reasoning_content: str | None = None
    tool_calls: list[dict[str, Any]] | None = None
    observation: Observation | None = None
    metrics: Metrics | None = None
    extra: Any = None
    llm_call_count: Count | None = None
    is_copied_context: bool | None = None


class Trajectory(msgspec.Struct):
    """A trajectory, the whole or a sub-agent's."""

    schema_version: str | None = None
    session_id: Any = None
    trajectory_id: Any = None
    agent: dict[str, Any] | None = None
    steps: list[dict[str, Any]] = []
    notes: Any = None
    final_metrics: Any = None
    continued_trajectory_ref: Any = None
    extra: Any = None
    subagent_trajectories: list[dict[str, Any]] | None = None


@register("reader", "atif")
class Atif:
    """One trajectory a file: `{schema_version, agent, steps}`.

    An agent's step is a model turn, its observations the results of its calls; an observation without calls is a user turn. Tool
    definitions come first. Embedded sub-agents are threads before the observation that refers to them. Metrics are usage, costs are in
    `meta` by step, and so are the agent, notes and final metrics. Harbor's observations of Claude Code say the output twice; what the model
    saw is the `raw_tool_result` beside them. Version 2 is another format and is refused.

    Source: Harbor, RFC 0001 "Agent Trajectory Interchange Format" (github.com/laude-institute/harbor); PyPI `atif` 1.7;
    harbor, `src/harbor/agents/installed/claude_code.py` (raw_tool_result)
    """

    keeps = Keeps(
        results="untruncated",
        also=("cuts", "usage", "times", "errors", "reasoning", "threads", "tools", "model"),
        never="errors and untruncated results of other agents than Claude Code: an observation says neither",
        tested="ATIF 1.6 and 1.7, written by hand after the RFC and Harbor's converter of Claude Code sessions",
    )

    def sniff(self, document: Document) -> Confidence:
        head = document.head if isinstance(document.head, dict) else {}
        sourced = any("source" in step for step in dicts(head.get("steps")))
        stated = _VERSION.fullmatch(str(head.get("schema_version"))) is not None
        agent = isinstance(head.get("agent"), dict) and sourced
        return certain_if(stated and agent)

    def read(self, document: Document) -> Traces:
        """The file's one trajectory."""
        value = document.json if isinstance(document.json, dict) else {}
        known = _VERSION.fullmatch(str(value.get("schema_version")))
        if known is None or known.group(1) != "1":
            what = f"{str(value.get('schema_version'))[:40]} is not version 1 of ATIF, which this reader knows"
            raise document.fail(f"{what} — export it as v1.7", path="$.schema_version")
        run = _Trajectories(document)
        trajectory = typed(value, Trajectory, run.unread, "the trajectory")
        run.unread.add(
            "continuation of the trajectory in another file", trajectory.continued_trajectory_ref is not None
        )
        run.trajectory(trajectory, "main", "agent")
        agent = {
            key: value
            for key, value in (trajectory.agent or {}).items()
            if key not in ("tool_definitions", "model_name")
        }
        names = ("trajectory_id", "notes", "final_metrics", "extra")
        notes = {
            "agent": agent,
            "trajectory_session_id": trajectory.session_id,
            **{name: getattr(trajectory, name) for name in names},
            "costs_usd": {str(step): cost for step, cost in run.costs.items()},
        }
        yield run.trace(document, "atif", meta={key: value for key, value in notes.items() if value})


class _Trajectories(Steps):
    """A trajectory on its way to a trace: its own steps, and those of sub-agents, each in a thread."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.document = document
        self.costs: dict[int, float] = {}

    def trajectory(self, whole: Trajectory, thread: str, agent: str, depth: int = 0) -> None:
        """Add the steps of a trajectory as those of an agent."""
        if depth > _DEEPEST:
            raise self.document.fail(f"sub-agents of more than {_DEEPEST} levels — export them one by one")
        embedded = {str(value.get("trajectory_id")): value for value in whole.subagent_trajectories or ()}

        def delegate(name: str) -> None:
            inner = typed(embedded.pop(name), Trajectory, self.unread)
            self.trajectory(inner, name, text((inner.agent or {}).get("name")) or "sub-agent", depth + 1)

        model = text((whole.agent or {}).get("model_name"))
        tools = (whole.agent or {}).get("tool_definitions")
        if isinstance(tools, list) and tools:
            self.tools(tools, thread, agent)
        for value in whole.steps:
            step = typed(value, TrajectoryStep, self.unread, "a step")
            for result in self._step(step, thread, agent, model):
                for reference in result.subagent_trajectory_ref or ():
                    name = str(reference.get("trajectory_id"))
                    if name in embedded:
                        delegate(name)
                    else:
                        self.unread.add("sub-agent's trajectory in another file")
                self._result(result, step, thread, agent)
        for name in list(embedded):
            delegate(name)

    def _step(self, step: TrajectoryStep, thread: str, agent: str, model: str | None) -> list[Observed]:
        """Add a step; gives its observations."""
        t = time_of(step.timestamp, self.unread)
        self.unread.add("step copied from an earlier trajectory, told as this one's", step.is_copied_context is True)
        calls = tuple(map(self._call, step.tool_calls or ()))
        content = self._content(step.message)
        values = step.observation.results if step.observation else []
        observed = [typed(value, Observed, self.unread, "an observation") for value in values]
        if step.source == "agent":
            if step.llm_call_count not in (None, 1):
                kind = "of several model calls" if step.llm_call_count else "without a model call"
                self.unread.add(f"agent step {kind}, told as one")
            said = Said("assistant", content, calls, step.reasoning_content or None)
            index = self.say(said, thread, agent, t, model=step.model_name or model, usage=self._usage(step.metrics))
            if step.metrics and step.metrics.cost_usd is not None:
                self.costs[index] = step.metrics.cost_usd
        elif step.source not in ("system", "user"):
            self.unread.kind("step of a source", step.source)
        elif content or not observed:
            self.say(Said("system" if step.source == "system" else "user", content), thread, agent, t)
        return observed

    def _call(self, value: dict[str, Any]) -> ToolCall:
        name = text(value.get("function_name")) or "unknown"
        return ToolCall(id=text(value.get("tool_call_id")) or "", name=name, arguments=value.get("arguments"))

    def _usage(self, metrics: Metrics | None) -> Usage | None:
        if metrics is None or metrics.prompt_tokens is None:
            return None
        more = typed(dict_in(metrics.extra), Tokens, self.unread)
        hour = dict_in(metrics.extra, "cache_creation").get("ephemeral_1h_input_tokens")
        cached = more.cache_read_input_tokens or metrics.cached_tokens
        return Usage(
            prompt_tokens=metrics.prompt_tokens,
            completion_tokens=metrics.completion_tokens or 0,
            cached_prompt_tokens=cached if cached is not None else more.cache_read_input_tokens,
            cache_write_tokens=more.cache_creation_input_tokens,
            cache_write_1h_tokens=hour if type(hour) is int and hour > 0 else None,
            reasoning_tokens=more.reasoning_tokens,
        )

    def _result(self, result: Observed, step: TrajectoryStep, thread: str, agent: str) -> None:
        """Add an observation: the result of the call it names, else of the step's next call; without calls it
        is what the environment says."""
        t, call = time_of(step.timestamp, self.unread), result.source_call_id
        metadata = (
            dict_in(result.extra, "tool_result_metadata")
            or dict_in(step.extra, "tool_result_metadata")
            or dict_in(step.extra, "metadata")
        )
        raw = dict_in(metadata, "raw_tool_result")
        if raw and raw.get("tool_use_id") in (None, call):
            blocks = Blocks()
            blocks.add_all([{"tool_use_id": call, **raw, "type": "tool_result"}], self.unread)
            said = blocks.results[0]
            self.ran[said.call_id] = tool_run(metadata.get("tool_use_result"), text_of(said.content))
            self.say(said, thread, agent, t)
            return
        content = self._content(result.content)
        called = bool(step.tool_calls) or bool(call)
        self.say(Said("tool", content, call_id=call or "") if called else Said("user", content), thread, agent, t)

    def _content(self, value: Any) -> Content:
        """A message's or an observation's content: its text, or its parts; a picture is known by its path."""
        if not isinstance(value, list):
            self.unread.add("content that is neither text nor parts", not (value is None or isinstance(value, str)))
            return value if isinstance(value, str) else ""
        parts: list[Part] = []
        for part in value:
            path = dict_in(part, "source").get("path")
            if isinstance(path, str):
                sha256 = hashlib.sha256(path.encode("utf-8", "replace")).hexdigest()
                parts.append(
                    ImagePart(media_type=str(dict_in(part, "source").get("media_type")), size_bytes=0, sha256=sha256)
                )
            elif isinstance(dict_in(part).get("text"), str):
                parts.append(TextPart(text=part["text"]))
            else:
                self.unread.kind("part", dict_in(part).get("type"))
        return simple(tuple(parts))
