"""The event log of OpenHands' SDK: a real conversation recorded with every prompt that was sent, and what it did not have."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from readings import checked, read, sure_of

from bench.model import ContextReset, ModelTurn, SystemTurn, ToolResult, Trace, UserTurn
from bench.model.errors import TraceError
from bench.traces import load
from bench.traces.documents import Document

RECORDED: dict[str, Any] = json.loads((Path(__file__).parents[1] / "data" / "openhands_recorded.json").read_text())
"""openhands-sdk 1.58.2 with a server that answers from a list; `prompts` are the messages of the requests that it got."""


def folder(given: Path) -> Path:
    """The conversation as the SDK lays it down."""
    (given / "events").mkdir(parents=True)
    (given / "base_state.json").write_text(json.dumps(RECORDED["state"]))
    for number, event in enumerate(RECORDED["events"]):
        (given / "events" / f"event-{number:05d}-{event['id']}.json").write_text(json.dumps(event))
    return given


def text(given: str) -> Any:
    return given if len(given) < 1000 else {"sha256": hashlib.sha256(given.encode()).hexdigest()}


def prompts(trace: Trace) -> list[list[list[Any]]]:
    """The messages before each model turn, rebuilt from the trace; user messages in a row are one, as the SDK sends them."""
    view: list[Any] = []
    asked = []
    for step in trace.steps:
        if isinstance(step, ContextReset):
            kept = [earlier for earlier in trace.steps if earlier.index in step.kept]
            view = [earlier for earlier in kept if isinstance(earlier, SystemTurn | UserTurn | ModelTurn | ToolResult)]
            assert step.summary is not None
            view.insert(
                2, UserTurn(index=0, content=step.summary)
            )  # `summary_offset`, which the model of a trace does not have
        if isinstance(step, ModelTurn):
            asked.append(messages(view))
        if isinstance(step, SystemTurn | UserTurn | ModelTurn | ToolResult):
            view.append(step)
    return asked


def messages(view: list[Any]) -> list[list[Any]]:
    said: list[list[Any]] = []
    for step in view:
        if isinstance(step, ToolResult):
            said.append(["tool", step.seen, step.call_id])
        elif isinstance(step, ModelTurn):
            said.append(["assistant", step.content, [call.id for call in step.tool_calls] or None])
        elif said and said[-1][0] == "user":
            said[-1][1] += "\n" + step.content
        else:
            said.append(["system" if isinstance(step, SystemTurn) else "user", step.content, None])
    return [[role, text(words), ids] for role, words, ids in said]


def test_every_prompt_that_was_sent_can_be_rebuilt(tmp_path: Path) -> None:
    (trace,) = load([folder(tmp_path / "c").as_posix()]).traces
    checked(trace, tmp_path)
    assert prompts(trace) == RECORDED["prompts"]
    (alone,) = read("openhands", tmp_path, RECORDED["events"])
    assert [trace.sha256, checked(alone, tmp_path).sha256] == RECORDED["sha256s"], (
        "what was accepted of folder and list"
    )


def test_files_of_one_conversation_become_one_trace(tmp_path: Path) -> None:
    given = folder(tmp_path / "c")
    loaded = load([given.as_posix()])
    assert (len(loaded.traces), loaded.skipped) == (1, ())
    first, *_, last = sorted((given / "events").iterdir())
    assert sure_of(Document(first)) == sure_of(Document(given / "base_state.json")) == ["openhands"]
    for named in (last, given / "base_state.json"):
        with pytest.raises(TraceError):
            load([named.as_posix()])


def test_logged_calls_are_read_with_their_arguments(tmp_path: Path) -> None:
    """A model without function calling was sent its calls and results as text."""
    call = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    asked = {"role": "user", "content": "go"}
    meant = [asked, {"role": "assistant", "content": "", "tool_calls": [call]},
             {"role": "tool", "tool_call_id": "c1", "content": "a.py"}]  # fmt: skip
    sent = [asked, {"role": "assistant", "content": "<function=ls>"}, {"role": "user", "content": "RESULT: a.py"}]
    for number, length, answer in ((1, 1, meant[1]), (2, 3, {"role": "assistant", "content": "done"})):
        log = {"latency_sec": 1, "timestamp": number, "messages": sent[:length], "raw_messages": meant[:length],
               "response": {"id": f"r{number}", "choices": [{"message": answer}]}}  # fmt: skip
        (tmp_path / f"m-{number}.json").write_text(json.dumps(log))
    (trace,) = load([tmp_path.as_posix()]).traces
    assert [step.seen for step in trace.results] == ["a.py"]
    assert not any(isinstance(step, ContextReset) for step in trace.steps)
