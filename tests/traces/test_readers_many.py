"""Long sessions, deep trees and many conversations: twice as much takes twice the steps of Python, and reads as it always did."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from reread import document

from bench.model import ContextReset, Trace
from bench.plugins.registry import entries
from bench.traces import load

Value = list[dict[str, Any]] | dict[str, Any]


def session(size: int) -> Value:
    """A chat with Claude Code, each prompt below the answer before it."""
    lines: list[dict[str, Any]] = []
    for at in range(size):
        asked = {"role": "user", "content": f"question {at}"}
        said = {
            "role": "assistant",
            "id": f"m{at}",
            "model": "x",
            "content": [{"type": "text", "text": f"answer {at}"}],
        }
        above = f"a{at - 1}" if at else None
        lines.append({"type": "user", "uuid": f"u{at}", "parentUuid": above, "sessionId": "s", "message": asked})
        lines.append({"type": "assistant", "uuid": f"a{at}", "parentUuid": f"u{at}", "sessionId": "s", "message": said})
    return lines


def told(role: str, **part: Any) -> str:
    return json.dumps([{"role": role, "parts": [part]}])


def span(name: str, parent: str, start: int, **attributes: str) -> dict[str, Any]:
    held = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
    times = {"startTimeUnixNano": start, "endTimeUnixNano": start + 5}
    return {"traceId": "t", "spanId": name, "parentSpanId": parent, "attributes": held, **times}


def exported(spans: list[dict[str, Any]]) -> Value:
    return {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}


def nested(size: int) -> Value:
    """Agents in agents, and in the innermost as many model calls."""
    spans = [span(f"s{at}", f"s{at - 1}", at, **{"gen_ai.operation.name": "invoke_agent"}) for at in range(size)]
    for at in range(size):
        messages = {
            "gen_ai.input.messages": told("user", type="text", content=f"go {at}"),
            "gen_ai.output.messages": told("assistant", type="text", content="gone"),
        }
        spans.append(span(f"c{at}", f"s{size - 1}", size + at, **{"gen_ai.operation.name": "chat", **messages}))
    return exported(spans)


def unnamed(size: int) -> Value:
    """Calls of one tool, whose runs name no call and come in the other order."""
    spans = []
    for at in range(size):
        call = {"type": "tool_call", "id": f"c{at}", "name": "f", "arguments": {"q": at}}
        chat = {
            "gen_ai.input.messages": told("user", type="text", content=f"go {at}"),
            "gen_ai.output.messages": told("assistant", **call),
        }
        ran = {
            "gen_ai.tool.name": "f",
            "gen_ai.tool.call.arguments": f'{{"q": {size - 1 - at}}}',
            "gen_ai.tool.call.result": f"r{size - 1 - at}",
        }
        spans.append(span(f"s{at}", "", 10 * at, **{"gen_ai.operation.name": "chat", **chat}))
        spans.append(span(f"t{at}", "", 10 * at + 1, **{"gen_ai.operation.name": "execute_tool", **ran}))
    return exported(spans)


def run(at: int, parent: int, kind: str, **more: Any) -> dict[str, Any]:
    return {
        "id": f"r{at}",
        "parent_run_id": f"r{parent}" if at else None,
        "dotted_order": "x",
        "run_type": kind,
        "name": "n",
        "inputs": {},
        **more,
    }


def runs_below_runs(size: int) -> Value:
    """A tree of runs that is one long branch, with a model call at its end."""
    asked, said = {"role": "user", "content": "go"}, {"role": "assistant", "content": "gone"}
    branch = [run(at, at - 1, "chain", outputs={}) for at in range(size)]
    call = run(size, size - 1, "llm", outputs={"choices": [{"message": said}]})
    return [*branch, {**call, "inputs": {"messages": [asked]}}]


def calls(size: int, **more: Any) -> Value:
    """Model calls that have nothing to do with each other but the system prompt."""
    system, answer = (
        {"role": "system", "content": "Classify."},
        {"choices": [{"message": {"role": "assistant", "content": "yes"}}]},
    )
    asked = [[system, {"role": "user", "content": f"text {at}"}] for at in range(size)]
    return [{"request": {"messages": messages}, "response": answer, **more} for messages in asked]


def calls_of_a_session(size: int) -> Value:
    return calls(size, session_id="s")


READS: dict[str, tuple[str, Callable[[int], Value]]] = {
    "session": ("claude_code", session),
    "nested": ("otel_genai", nested),
    "unnamed": ("otel_genai", unnamed),
    "branch": ("langsmith", runs_below_runs),
    "calls": ("request_log", calls),
    "calls of a session": ("request_log", calls_of_a_session),
}


def lines_run(folder: Path, reader: str, value: Value) -> tuple[int, list[Trace]]:
    """How many lines of the readers ran to read a value, and what they read."""
    given, count, before = document(folder, value), 0, sys.gettrace()
    found = entries("reader")[reader].target()

    def counted(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        if "traces" not in frame.f_code.co_filename:
            return None
        count += event == "line"
        return counted

    sys.settrace(counted)
    try:
        traces = list(found.read(given))
    finally:
        sys.settrace(before)
    return count, traces


@pytest.mark.slow
@pytest.mark.parametrize("name", READS)
def test_twice_as_much_takes_twice_the_lines(tmp_path: Path, name: str) -> None:
    reader, made = READS[name]
    (few, _), (many, _) = (lines_run(tmp_path, reader, made(size)) for size in (60, 240))
    assert many < 4.5 * few


def test_what_they_say(tmp_path: Path) -> None:
    (chat,) = lines_run(tmp_path, "claude_code", session(20))[1]
    assert len(chat.steps) == 40
    assert not any(isinstance(step, ContextReset) for step in chat.steps)
    (asked,) = lines_run(tmp_path, "otel_genai", unnamed(20))[1]
    assert [result.full for result in asked.results] == [f"r{at}" for at in range(20)]
    apart = lines_run(tmp_path, "request_log", calls(20))[1]
    assert [len(trace.steps) for trace in apart] == [3] * 20
    (together,) = lines_run(tmp_path, "request_log", calls_of_a_session(20))[1]
    assert [turn.thread for turn in together.model_turns] == ["main", "agent", *(f"agent {at}" for at in range(2, 20))]


def test_a_chain_of_answers_that_name_each_other_is_read_in_time_that_grows_with_it(tmp_path: Path) -> None:
    def answer(at: int) -> dict[str, Any]:
        said = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": f"a{at}"}]}]
        return {"id": f"r{at}", "input": f"q{at}", "output": said, "previous_response_id": f"r{at - 1}" if at else None}

    path = tmp_path / "chain.jsonl"
    path.write_text("\n".join(json.dumps(answer(at)) for at in range(1500)))
    before = time.process_time()
    (trace,) = load([str(path)]).traces
    assert len(trace.steps) == 3000
    assert time.process_time() - before < 3  # 7 s when each call was held against all that was said
