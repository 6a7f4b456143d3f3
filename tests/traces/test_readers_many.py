"""Long sessions, deep trees and many conversations: twice as much takes twice the steps of Python, and reads as it always did."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from readings import document, kinds

from bench.model import Trace
from bench.plugins.registry import entries

Value = list[dict[str, Any]] | dict[str, Any]
GO, GONE = {"role": "user", "content": "go"}, {"role": "assistant", "content": "gone"}


def session(size: int) -> Value:
    """A chat with Claude Code, each prompt below the answer before it."""
    lines: list[dict[str, Any]] = []
    for at in range(size):
        said = {
            "role": "assistant",
            "id": f"m{at}",
            "model": "x",
            "content": [{"type": "text", "text": f"answer {at}"}],
        }
        ids = {"uuid": f"u{at}", "parentUuid": f"a{at - 1}" if at else None, "sessionId": "s"}
        lines.append({"type": "user", **ids, "message": {"role": "user", "content": f"question {at}"}})
        lines.append({"type": "assistant", "uuid": f"a{at}", "parentUuid": f"u{at}", "sessionId": "s", "message": said})
    return lines


def span(own: str, parent: str, start: int, operation: str, **attributes: str) -> dict[str, Any]:
    named = {"operation.name": operation, **{key.replace("__", "."): value for key, value in attributes.items()}}
    held = [{"key": f"gen_ai.{key}", "value": {"stringValue": value}} for key, value in named.items()]
    times = {"startTimeUnixNano": start, "endTimeUnixNano": start + 5}
    return {"traceId": "t", "spanId": own, "parentSpanId": parent, "attributes": held, **times}


def chat(own: str, parent: str, start: int, asked: str, **answer: Any) -> dict[str, Any]:
    sent = json.dumps([{"role": "user", "parts": [{"type": "text", "content": asked}]}])
    told = json.dumps([{"role": "assistant", "parts": [answer]}])
    return span(own, parent, start, "chat", input__messages=sent, output__messages=told)


def exported(spans: list[dict[str, Any]]) -> Value:
    return {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}


def nested(size: int) -> Value:
    """Agents in agents, and in the innermost as many model calls."""
    agents = [span(f"s{at}", f"s{at - 1}", at, "invoke_agent") for at in range(size)]
    inner = (chat(f"c{at}", f"s{size - 1}", size + at, f"go {at}", type="text", content="gone") for at in range(size))
    return exported([*agents, *inner])


def unnamed(size: int) -> Value:
    """Calls of one tool, whose runs name no call and come in the other order."""
    spans = []
    for at, other in enumerate(reversed(range(size))):
        call = {"type": "tool_call", "id": f"c{at}", "name": "f", "arguments": {"q": at}}
        ran = {"tool__name": "f", "tool__call__arguments": f'{{"q": {other}}}', "tool__call__result": f"r{other}"}
        spans += [
            chat(f"s{at}", "", 10 * at, f"go {at}", **call),
            span(f"t{at}", "", 10 * at + 1, "execute_tool", **ran),
        ]
    return exported(spans)


def runs_below_runs(size: int) -> Value:
    """A tree of runs that is one long branch, with a model call at its end."""
    runs = [{"id": f"r{at}", "parent_run_id": f"r{at - 1}" if at else None, "dotted_order": "x", "run_type": "chain", "name": "n",
             "inputs": {}, "outputs": {}} for at in range(size + 1)]  # fmt: skip
    runs[-1] |= {"run_type": "llm", "inputs": {"messages": [GO]}, "outputs": {"choices": [{"message": GONE}]}}
    return runs


def calls(size: int, **more: Any) -> Value:
    """Model calls that have nothing to do with each other but the system prompt."""
    system = {"role": "system", "content": "Classify."}
    asked = [[system, {"role": "user", "content": f"text {at}"}] for at in range(size)]
    return [{"request": {"messages": sent}, "response": {"choices": [{"message": GONE}]}, **more} for sent in asked]


READS: dict[str, tuple[str, Callable[[int], Value], list[str]]] = {
    "session": ("claude_code", session, ["20 ModelTurn, 20 UserTurn"]),
    "nested": ("otel", nested, ["20 ModelTurn, 20 UserTurn"]),
    "unnamed": ("otel", unnamed, ["20 ModelTurn, 20 ToolResult, 20 UserTurn"]),
    "branch": ("langsmith", runs_below_runs, ["1 ModelTurn, 1 UserTurn"]),
    "calls": ("request_log", calls, ["1 ModelTurn, 1 SystemTurn, 1 UserTurn"] * 20),
    "calls of a session": ("request_log", lambda size: calls(size, session_id="s"), ["20 ModelTurn, 20 SystemTurn, 20 UserTurn"]),
}  # fmt: skip


def lines_run(folder: Path, reader: str, value: Value) -> tuple[int, list[Trace]]:
    """The number of executed lines of the readers for one value, and the traces that they read."""
    given, count, before = document(folder, value), Counter[str](), sys.gettrace()

    def counted(frame: FrameType, event: str, _: Any) -> Any:
        count[event] += 1
        return counted if "traces" in frame.f_code.co_filename else None

    found = entries("reader")[reader].target()
    sys.settrace(counted)
    try:
        traces = list(found.read(given))
    finally:
        sys.settrace(before)
    return count["line"], traces


@pytest.mark.slow
@pytest.mark.parametrize("name", READS)
def test_twice_as_many_items_take_at_most_twice_the_executed_lines(tmp_path: Path, name: str) -> None:
    reader, made, _ = READS[name]
    (few, _), (many, _) = (lines_run(tmp_path, reader, made(size)) for size in (60, 240))
    assert many < 4.5 * few


@pytest.mark.parametrize("name", READS)
def test_many_exchanges_become_the_expected_traces(tmp_path: Path, name: str) -> None:
    reader, made, said = READS[name]
    traces = list(entries("reader")[reader].target().read(document(tmp_path, made(20))))
    assert [", ".join(f"{count} {kind}" for kind, count in sorted(kinds(trace).items())) for trace in traces] == said
    if name == "unnamed":
        assert [result.full for result in traces[0].results] == [f"r{at}" for at in range(20)]
    if name == "calls of a session":
        assert [turn.thread for turn in traces[0].model_turns][:4] == ["main", "agent", "agent 2", "agent 3"]
