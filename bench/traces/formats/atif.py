"""The Agent Trajectory Interchange Format (ATIF), which Harbor and others write: version 1, as it is read."""

from __future__ import annotations

import hashlib
import re

from ...model import Content, ImagePart, Part, TextPart, ToolCall, Usage
from .. import Confidence, Document, Keeps, Near, Node, Traces, as_dict, by_marks, dicts, register
from ..nodes import filled, moment, picked
from ..parts import simple, usage_of
from ..steps import Said, Steps

_VERSION = re.compile(r"(?:ATIF-)?v?(\d+)(?:\.\d+)*")
_ROOT = {"schema_version", "session_id", "trajectory_id", "agent", "steps", "notes", "final_metrics", "continued_trajectory_ref", "extra",
         "subagent_trajectories"}  # fmt: skip
_STEP = {"step_id", "timestamp", "source", "model_name", "reasoning_effort", "message", "reasoning_content", "tool_calls", "observation",
         "metrics", "extra", "llm_call_count", "is_copied_context"}  # fmt: skip
_METRICS = {"prompt_tokens", "completion_tokens", "cached_tokens", "cost_usd", "prompt_token_ids", "completion_token_ids", "logprobs",
            "extra"}  # fmt: skip
_RESULT = {"source_call_id", "content", "subagent_trajectory_ref", "extra"}
_DEEPEST = 20


@register("reader", "atif")
class Atif:
    """One trajectory a file: `{schema_version, agent, steps}`.

    An agent's step is a model turn, its observations the results of its calls; an observation without calls is a user turn. Tool
    definitions come first. Embedded sub-agents are threads before the observation that refers to them. Metrics are usage, costs are in
    `meta` by step, and so are the agent, notes and final metrics. Version 2 is another format and is refused.

    Source: Harbor, RFC 0001 "Agent Trajectory Interchange Format" (github.com/laude-institute/harbor); PyPI `atif` 1.7
    """

    keeps = Keeps(
        results="as shown",
        also=("usage", "times", "reasoning", "threads", "tools", "model"),
        never="errors (an observation says none) and the untruncated result",
        tested="ATIF 1.6 and 1.7, written by hand after the RFC",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        head = as_dict(document.head)
        sourced = any("source" in step for step in dicts(head.get("steps")))
        stated = _VERSION.fullmatch(str(head.get("schema_version"))) is not None
        told = isinstance(head.get("agent"), dict) and sourced
        return by_marks({"a `schema_version` of ATIF": stated, "an `agent` and `steps` with their source": told})

    def read(self, document: Document) -> Traces:
        whole = document.node()
        version = whole["schema_version"]
        known = _VERSION.fullmatch(version.text())
        if known is None or known.group(1) != "1":
            told = version.text()[:40]
            raise version.fail(f"{told} is not version 1 of ATIF, which this reader knows — export it as v1.7")
        run = _Trajectories()
        run.unread.keys(whole, _ROOT, "the trajectory")
        if whole["continued_trajectory_ref"].value is not None:
            run.unread.add("continuation of the trajectory in another file")
        run.trajectory(whole, "main", "agent")
        agent = whole["agent"].object()
        yield run.trace(document, "atif", whole, meta=filled(
            agent={key: value for key, value in agent.items() if key not in ("tool_definitions", "model_name")},
            trajectory_session_id=whole["session_id"].value,
            **picked(whole, "trajectory_id", "notes", "final_metrics", "extra"),
            costs_usd={str(step): cost for step, cost in run.costs.items()},
        ))  # fmt: skip


class _Trajectories(Steps):
    """A trajectory on its way to a trace: its own steps, and those of sub-agents that it embeds, each in a thread."""

    def __init__(self) -> None:
        super().__init__()
        self.costs: dict[int, float] = {}

    def trajectory(self, whole: Node, thread: str, agent: str, depth: int = 0) -> None:
        if depth > _DEEPEST:
            raise whole.document.fail(f"sub-agents of more than {_DEEPEST} levels — export them one by one")
        embedded = {str(sub["trajectory_id"].value): sub for sub in whole["subagent_trajectories"].items()}

        def delegate(name: str) -> None:
            sub = embedded.pop(name)
            self.trajectory(sub, name, sub["agent"]["name"].text_or_none() or "sub-agent", depth + 1)

        model = whole["agent"]["model_name"].text_or_none()
        if tools := whole["agent"]["tool_definitions"].items():
            self.tools([tool.value for tool in tools], thread, agent)
        for step in whole["steps"].items():
            observed = self._step(step, thread, agent, model)
            for result in observed:
                for reference in result["subagent_trajectory_ref"].items():
                    name = str(reference["trajectory_id"].value)
                    if name in embedded:
                        delegate(name)
                    else:
                        self.unread.add("sub-agent's trajectory in another file")
                self._result(result, step, thread, agent)
        for name in list(embedded):
            delegate(name)

    def _step(self, step: Node, thread: str, agent: str, model: str | None) -> list[Node]:
        """Tell a step; gives its observations."""
        self.unread.keys(step, _STEP, "a step")
        source, t = step["source"].text(), moment(step["timestamp"])
        if source not in ("system", "user", "agent"):
            raise step["source"].fail(f"unknown source {source[:40]!r} — system, user or agent")
        if step["is_copied_context"].value is True:
            self.unread.add("step copied from an earlier trajectory, told as this one's")
        calls, content = tuple(map(_call, step["tool_calls"].items())), _content(step["message"])
        observed = step["observation"]["results"].items() if step["observation"].value is not None else []
        if source == "agent":
            count, metrics = step["llm_call_count"].count(), step["metrics"]
            if count is not None and count != 1:
                self.unread.add(
                    f"agent step {'of several model calls' if count else 'without a model call'}, told as one"
                )
            said = Said("assistant", content, calls, step["reasoning_content"].text_or_none())
            named = step["model_name"].text_or_none() or model
            index = self.say(said, thread, agent, t, model=named, usage=self._usage(metrics))
            cost = metrics["cost_usd"].seconds() if metrics.value is not None else None
            self.costs |= {} if cost is None else {index: cost}
        elif content or not observed:
            self.say(Said("system" if source == "system" else "user", content), thread, agent, t)
        return observed

    def _usage(self, metrics: Node) -> Usage | None:
        if metrics.value is None:
            return None
        self.unread.keys(metrics, _METRICS, "metrics")
        return usage_of(metrics.made(as_dict(metrics["extra"].value) | metrics.object()))

    def _result(self, result: Node, step: Node, thread: str, agent: str) -> None:
        """An observation: the result of the call it names, else of the step's next call; without calls it is what the environment says."""
        self.unread.keys(result, _RESULT, "an observation")
        content, call = _content(result["content"]), result["source_call_id"].text_or_none()
        called = bool(step["tool_calls"].value) or bool(call)
        said = Said("tool", content, call_id=call or "") if called else Said("user", content)
        self.say(said, thread, agent, moment(step["timestamp"]))


def _call(call: Node) -> ToolCall:
    name, given = call["function_name"].text(), call["arguments"].value
    return ToolCall(id=call["tool_call_id"].text(), name=name, arguments=given)


def _content(node: Node) -> Content:
    """A message's or an observation's content: its text, or its parts; a picture is known by its path alone."""
    if not isinstance(node.value, list):
        return node.text_or_none() or ""
    parts: list[Part] = []
    for part in node.items():
        if part["type"].value == "image":
            path = part["source"]["path"].text()
            sha256 = hashlib.sha256(path.encode("utf-8", "replace")).hexdigest()
            parts.append(ImagePart(media_type=part["source"]["media_type"].text(), size_bytes=0, sha256=sha256))
        else:
            parts.append(TextPart(text=part["text"].text()))
    return simple(tuple(parts))
