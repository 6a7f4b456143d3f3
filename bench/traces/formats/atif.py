"""The Agent Trajectory Interchange Format (ATIF), which Harbor and others write: version 1."""

from __future__ import annotations

import re
from dataclasses import replace

from .. import Document, Fields, register
from ..commands import tool_run
from ..intakes.content import blocks_of, result_of
from ..intakes.messages import message
from ..steps import ReadMessage
from ..values import Kinds, as_dict, as_list, dicts, fields_of, number
from . import SessionLog

_VERSION = re.compile(r"(?:ATIF-)?v?1(?:\.\d+)*")
_TRAJECTORY = {"schema_version", "session_id", "trajectory_id", "agent", "steps", "notes", "final_metrics",
               "continued_trajectory_ref", "extra", "subagent_trajectories"}  # fmt: skip

_STEP: Kinds = {"step_id": object, "source": str, "timestamp": object, "model_name": str, "message": object,
         "reasoning_content": str, "reasoning_effort": object, "tool_calls": list, "observation": dict, "metrics": dict,
         "extra": object, "llm_call_count": int, "is_copied_context": bool}  # fmt: skip
_SENT = ("tool_calls", "reasoning_content")
_RESULT: Kinds = {"source_call_id": str, "content": object, "subagent_trajectory_ref": list,
                  "extra": object}  # fmt: skip


@register("reader", "atif")
class Atif(SessionLog):
    """One trajectory per file: `{schema_version, agent, steps}`.

    An agent's step is a model turn, its observations the results of its calls; an observation
    without calls is a user turn. Tool definitions come first. Embedded sub-agents are threads
    before the observation that refers to them. Metrics are usage and cost. Harbor's observations of
    Claude Code repeat the output; the text that the model saw is the `raw_tool_result` beside them.

    Not kept: errors and untruncated results of other agents than Claude Code: an observation says
    neither.

    Source: Harbor, RFC 0001 "Agent Trajectory Interchange Format"
    (github.com/laude-institute/harbor); PyPI `atif` 1.7; harbor,
    `src/harbor/agents/installed/claude_code.py` (raw_tool_result). Tested: ATIF 1.6 and 1.7,
    written by hand after the RFC and Harbor's converter of Claude Code sessions
    """

    def marked(self, document: Document) -> object:
        head = as_dict(document.head)
        stated = _VERSION.fullmatch(str(head.get("schema_version"))) is not None
        sourced = any("source" in step for step in dicts(head.get("steps")))
        return stated and sourced and isinstance(head.get("agent"), dict)

    def add_file(self, document: Document) -> None:
        value = as_dict(document.json)
        self.unread.extra_keys(value, _TRAJECTORY, "the trajectory")
        continued = value.get("continued_trajectory_ref") is not None
        self.unread.add("continuation of the trajectory in another file", continued)
        self._trajectory(value)
        total = number(as_dict(value, "final_metrics").get("total_cost_usd"))
        self.cost_usd = self.cost_usd if total is None else total

    def _trajectory(self, value: Fields, thread: str = "main") -> None:
        """Add a trajectory; a sub-agent's comes before the result that refers to it, else last."""
        listed, about = dicts(value.get("subagent_trajectories")), as_dict(value, "agent")
        sub_agents = {str(one.get("trajectory_id")): one for one in listed}
        if tools := as_list(about.get("tool_definitions")):
            self.thread = thread
            self.set_tools(tools)
        for given in dicts(value.get("steps")):
            step = fields_of(given, _STEP, self.unread, "a step")
            step.setdefault("model_name", about.get("model_name"))
            results = dicts(step.get("observation", {}).get("results"))
            self.at(step.get("timestamp"), thread)
            for shown in self._messages(step):
                if shown.role == "assistant" or shown.content or shown.other or not results:
                    self.add_message(shown)
            for observed in results:
                result = fields_of(observed, _RESULT, self.unread, "an observation")
                for reference in dicts(result.get("subagent_trajectory_ref")):
                    name = str(reference.get("trajectory_id"))
                    elsewhere = name not in sub_agents
                    self.unread.add("sub-agent's trajectory in another file", elsewhere)
                    place = self.time, self.thread
                    self._trajectory(sub_agents.pop(name, {}), name)
                    self.time, self.thread = place
                self.add_message(self._result(result, step))
        for name, inner in sub_agents.items():
            self._trajectory(inner, name)

    def _messages(self, step: Fields) -> list[ReadMessage]:
        source, metrics = step.get("source", ""), step.get("metrics", {})
        copied = step.get("is_copied_context") is True
        self.unread.add("step copied from an earlier trajectory, read as this one's", copied)
        if source == "agent":
            count = step.get("llm_call_count", 1)
            kind = "of several model calls" if count else "without a model call"
            self.unread.add(f"agent step {kind}, read as one", count != 1)
            self.cost_usd += number(metrics.get("cost_usd")) or 0
        sent = {
            "role": "assistant" if source == "agent" else source,
            "content": step.get("message"),
            "model": step.get("model_name"),
            "usage": {**metrics, **as_dict(metrics, "extra")},
        }
        sent |= {key: step[key] for key in _SENT if key in step}
        return message(sent, self.unread)

    def _result(self, result: Fields, step: Fields) -> ReadMessage:
        call_id = result.get("source_call_id", "")
        places = (as_dict(place.get("extra"), "tool_result_metadata") for place in (result, step))
        metadata = next(filter(None, places), as_dict(step.get("extra"), "metadata"))
        raw = as_dict(metadata, "raw_tool_result")
        if raw and raw.get("tool_use_id") in (None, call_id):
            block = {"tool_use_id": call_id, **raw, "type": "tool_result"}
            shown = result_of(block, self.unread)
            return replace(shown, ran=tool_run(metadata.get("tool_use_result"), shown.content))
        called = step.get("tool_calls") or call_id
        observed = blocks_of(result.get("content"), self.unread)
        return observed.message("tool" if called else "user", call_id=call_id)
