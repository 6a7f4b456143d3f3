"""The Agent Trajectory Interchange Format (ATIF), which Harbor and others write: version 1."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import msgspec

from ...model import ToolCall
from .. import Confidence, Document, Keeps, Traces, as_dict, certain_if, dicts, register
from ..claude_code_files import tool_run
from ..content import Blocks
from ..records import count_unknown, dict_in, text, time_of, typed
from ..steps import ReadMessage, Steps
from ..usage import usage_in

_VERSION = re.compile(r"(?:ATIF-)?v?(\d+)(?:\.\d+)*")
_DEEPEST = 20
_IGNORED = {"step_id", "reasoning_effort"}
_TRAJECTORY = {"schema_version", "session_id", "trajectory_id", "agent", "steps", "notes", "final_metrics",
               "continued_trajectory_ref", "extra", "subagent_trajectories"}  # fmt: skip


class Observed(msgspec.Struct):
    """One observation: the result of a call, or what the environment says."""

    source_call_id: str = ""
    content: Any = None
    subagent_trajectory_ref: list[dict[str, Any]] | None = None
    extra: Any = None


class TrajectoryStep(msgspec.Struct):
    """One step of a trajectory."""

    source: str | None = None
    timestamp: Any = None
    model_name: str | None = None
    message: Any = None
    reasoning_content: str | None = None
    tool_calls: list[dict[str, Any]] | None = None
    observation: dict[str, Any] | None = None
    metrics: dict[str, Any] | None = None
    extra: Any = None
    llm_call_count: int | None = None
    is_copied_context: bool | None = None


@register("reader", "atif")
class Atif:
    """One trajectory a file: `{schema_version, agent, steps}`.

    An agent's step is a model turn, its observations the results of its calls; an observation without calls is a
    user turn. Tool definitions come first. Embedded sub-agents are threads before the observation that refers to
    them. Metrics are usage; agent, notes, cost and final metrics are in `meta`. Harbor's observations of Claude Code
    say the output twice; what the model saw is the `raw_tool_result` beside them. Version 2 is another format and is
    refused.

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
        head = as_dict(document.head)
        stated = _VERSION.fullmatch(str(head.get("schema_version"))) is not None
        sourced = any("source" in step for step in dicts(head.get("steps")))
        return certain_if(stated and sourced and isinstance(head.get("agent"), dict))

    def read(self, document: Document) -> Traces:
        """The file's one trajectory."""
        value = as_dict(document.json)
        version = str(value.get("schema_version"))
        known = _VERSION.fullmatch(version)
        if known is None or known.group(1) != "1":
            what = f"{version[:40]} is not version 1 of ATIF, which this reader knows"
            raise document.fail(f"{what} — export it as v1.7", path="$.schema_version")
        run = _Trajectories(document)
        run.unread.extra_keys(value, _TRAJECTORY, "the trajectory")
        continued = value.get("continued_trajectory_ref") is not None
        run.unread.add("continuation of the trajectory in another file", continued)
        run.trajectory(value, "main", "agent")
        total = dict_in(value, "final_metrics").get("total_cost_usd")
        agent = {
            key: held for key, held in dict_in(value, "agent").items() if key not in ("tool_definitions", "model_name")
        }
        notes = {
            "agent": agent,
            "trajectory_session_id": value.get("session_id"),
            **{name: value.get(name) for name in ("trajectory_id", "notes", "final_metrics", "extra")},
            "cost_usd": total if isinstance(total, int | float) else run.cost,
        }
        yield run.trace(document, "atif", meta={key: note for key, note in notes.items() if note})


class _Trajectories(Steps):
    """A trajectory on its way to a trace: its own steps, and those of sub-agents, each in a thread."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.document, self.cost = document, 0.0

    def trajectory(self, value: dict[str, Any], thread: str, agent: str, depth: int = 0) -> None:
        """Add the steps of a trajectory as those of an agent."""
        if depth > _DEEPEST:
            raise self.document.fail(f"sub-agents of more than {_DEEPEST} levels — export them one by one")
        embedded = {str(inner.get("trajectory_id")): inner for inner in dicts(value.get("subagent_trajectories"))}

        def delegate(name: str) -> None:
            inner = embedded.pop(name)
            self.trajectory(inner, name, text(dict_in(inner, "agent").get("name")) or "sub-agent", depth + 1)

        model = text(dict_in(value, "agent").get("model_name"))
        tools = dict_in(value, "agent").get("tool_definitions")
        if isinstance(tools, list) and tools:
            self.tools(tools, thread, agent)
        for given in dicts(value.get("steps")):
            count_unknown(given, TrajectoryStep, self.unread, "a step", _IGNORED)
            step = typed(given, TrajectoryStep, self.unread)
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
        content = self._blocks(step.message).content
        values = dicts((step.observation or {}).get("results"))
        observed = [typed(value, Observed, self.unread, "an observation") for value in values]
        if step.source == "agent":
            if step.llm_call_count not in (None, 1):
                kind = "of several model calls" if step.llm_call_count else "without a model call"
                self.unread.add(f"agent step {kind}, told as one")
            metrics = step.metrics or {}
            usage = usage_in({**metrics, **dict_in(metrics, "extra")}, self.unread)
            calls = tuple(map(_call, step.tool_calls or ()))
            said = ReadMessage("assistant", content, calls, step.reasoning_content or None)
            self.say(said, thread, agent, t, model=step.model_name or model, usage=usage)
            cost = metrics.get("cost_usd")
            self.cost += cost if isinstance(cost, int | float) else 0
        elif step.source not in ("system", "user"):
            self.unread.kind("step of a source", step.source)
        elif content or not observed:
            self.say(ReadMessage("system" if step.source == "system" else "user", content), thread, agent, t)
        return observed

    def _result(self, result: Observed, step: TrajectoryStep, thread: str, agent: str) -> None:
        """Add an observation: the result of the call it names, else of the step's next call; without calls it
        is what the environment says."""
        t, call_id = time_of(step.timestamp, self.unread), result.source_call_id
        places = (dict_in(result.extra, "tool_result_metadata"), dict_in(step.extra, "tool_result_metadata"))
        metadata = next(filter(None, places), dict_in(step.extra, "metadata"))
        raw = dict_in(metadata, "raw_tool_result")
        if raw and raw.get("tool_use_id") in (None, call_id):
            (said,) = Blocks().add_all([{"tool_use_id": call_id, **raw, "type": "tool_result"}], self.unread).results
            said = replace(said, ran=tool_run(metadata.get("tool_use_result"), said.text))
        else:
            called = bool(step.tool_calls or call_id)
            content = self._blocks(result.content).content
            said = ReadMessage("tool", content, call_id=call_id) if called else ReadMessage("user", content)
        self.say(said, thread, agent, t)

    def _blocks(self, content: Any) -> Blocks:
        """The blocks of a content; a picture is known by its path."""
        blocks = Blocks()
        for part in content if isinstance(content, list) else [content]:
            path = text(dict_in(part, "source").get("path"))
            blocks.add_all({"type": "image", "url": path} if path else part, self.unread)
        return blocks


def _call(value: dict[str, Any]) -> ToolCall:
    name = text(value.get("function_name")) or "unknown"
    return ToolCall(id=text(value.get("tool_call_id")) or "", name=name, arguments=value.get("arguments"))
