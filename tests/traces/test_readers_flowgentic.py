"""Flowgentic's reports of LangGraph runs: nodes, decisions, and messages as Python prints them."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

from reread import checked, kinds

from bench.model import RouteDecision
from bench.traces import load


def test_recorded_reports(shared_traces: Path, tmp_path: Path) -> None:
    """Counted again in the text: nodes in order, answers by `AIMessage(` or type, tool messages likewise."""
    paths = sorted((shared_traces / "flowgentic").rglob("*.md"))
    assert len(paths) == 2
    for path in paths:
        text = path.read_text()
        (trace,) = load([path.as_posix()]).traces
        checked(trace, tmp_path)
        nodes = re.findall(r"^### \d+\. Node: `(.+)`$", text, re.MULTILINE)
        assert [
            step.taken for step in trace.steps if isinstance(step, RouteDecision) and step.router == "graph"
        ] == nodes
        seen: set[str] = set()
        counts = {"ai": 0, "tool": 0, "human": 0, "system": 0}
        for block in re.findall(r"```json\n(\{.*?\n\})\n```", text, re.DOTALL):
            told = json.loads(block).get("messages", {}).get("changed_to", "")
            for kind, body in re.findall(
                r"\b(AI|Tool|Human|System)Message\(content=('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")", told
            ):
                counts[kind.lower()] += 1
                assert ast.literal_eval(body) in [
                    getattr(step, "content", getattr(step, "seen", None)) for step in trace.steps
                ]
            for message in ast.literal_eval(told)[0] if told.startswith("[[{") else ():
                if str(message) not in seen:
                    seen.add(str(message))
                    counts[message["type"]] += 1
        found = kinds(trace)
        assert {
            "ai": found["ModelTurn"],
            "tool": found["ToolResult"],
            "human": found["UserTurn"],
            "system": found["SystemTurn"],
        } == counts
        assert set(trace.left_out) == {"state value cut at 300 characters"}
