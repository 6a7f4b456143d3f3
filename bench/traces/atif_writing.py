"""Traces written as the Agent Trajectory Interchange Format (ATIF) 1.7, for tools that read it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..files.writing import write_atomically
from ..model import ModelTurn, SystemTurn, ToolResult, ToolsChanged, Trace, UserTurn, text_of
from .lines import encode_trace

_LATEST = 253_402_300_799
"""The end of the year 9999, past which a time has no usual form."""


def atif_of(trace: Trace) -> dict[str, Any]:
    """A trace as an ATIF 1.7 document. The whole trace stands in `extra.bench` too, so that reading it gives the trace again.

    Raises TraceError where it holds what JSON cannot.

    >>> from bench.model import Source
    >>> steps = (UserTurn(index=0, content="hi"), ModelTurn(index=1, content="hello"))
    >>> [step["source"] for step in atif_of(Trace(id="a", source=Source(format="native"), steps=steps))["steps"]]
    ['user', 'agent']
    """
    ours = [json.loads(line) for line in encode_trace(trace).splitlines()]
    threads = dict.fromkeys(["main", *(step.thread for step in trace.steps)])
    main, *others = [_trajectory(trace, thread) for thread in threads]
    root = {"schema_version": "ATIF-v1.7", "session_id": trace.id, **main, "extra": {"bench": ours}}
    usages = [turn.usage for turn in trace.model_turns if turn.usage is not None]
    if usages:
        root["final_metrics"] = {
            "total_prompt_tokens": sum(usage.prompt_tokens for usage in usages),
            "total_completion_tokens": sum(usage.completion_tokens for usage in usages),
            "total_cached_tokens": sum(usage.cached_prompt_tokens or 0 for usage in usages),
        }
    return root | {"subagent_trajectories": others} if others else root


def write_atif(trace: Trace, path: str | Path) -> None:
    """Write a trace as ATIF 1.7; whole or not at all, and the same trace gives the same bytes. TraceError where it holds what JSON cannot."""
    text = json.dumps(atif_of(trace), ensure_ascii=False, allow_nan=False, indent=1)
    write_atomically(Path(path), text.encode("utf-8", "surrogatepass"))


def _trajectory(trace: Trace, thread: str) -> dict[str, Any]:
    """Return what the format has a place for of a thread: its messages, calls and results, and its first tools."""
    own = [step for step in trace.steps if step.thread == thread]
    agent: dict[str, Any] = {"name": next((step.agent for step in own), "agent"), "version": "unknown"}
    steps: list[dict[str, Any]] = []
    calls: dict[str, dict[str, Any]] = {}
    for step in own:
        made: dict[str, Any] = {"step_id": len(steps) + 1, "source": "system", "message": ""}
        if step.t is not None and 0 <= step.t < _LATEST:
            made["timestamp"] = datetime.fromtimestamp(step.t, UTC).isoformat()
        if isinstance(step, ToolResult):
            if step.call_id in calls:
                results = calls[step.call_id].setdefault("observation", {"results": []})["results"]
                results.append({"source_call_id": step.call_id, "content": step.seen or ""})
                continue
            made["message"] = step.seen or ""
        elif isinstance(step, SystemTurn | UserTurn):
            made |= {"source": "system" if isinstance(step, SystemTurn) else "user", "message": text_of(step.content)}
        elif isinstance(step, ModelTurn):
            made |= _agent_step(step)
            calls.update((call.id, made) for call in step.tool_calls)
        elif isinstance(step, ToolsChanged) and all(isinstance(tool, dict) for tool in step.tools):
            agent.setdefault("tool_definitions", list(step.tools))
            continue
        steps.append(made)
    return {"schema_version": "ATIF-v1.7", "trajectory_id": thread, "agent": agent, "steps": steps}


def _agent_step(turn: ModelTurn) -> dict[str, Any]:
    calls = [
        {
            "tool_call_id": call.id,
            "function_name": call.name,
            "arguments": call.arguments if isinstance(call.arguments, dict) else {},
        }
        for call in turn.tool_calls
    ]
    made: dict[str, Any] = {"model_name": turn.model, "reasoning_content": turn.reasoning, "tool_calls": calls or None}
    if turn.usage is not None:
        usage = turn.usage
        metrics = {
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "cached_tokens": usage.cached_prompt_tokens,
        }
        extra = {"reasoning_tokens": usage.reasoning_tokens, "cache_creation_input_tokens": usage.cache_write_tokens}
        made["metrics"] = _told(metrics | {"extra": _told(extra) or None})
    return {"source": "agent", "message": text_of(turn.content), **_told(made)}


def _told(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
