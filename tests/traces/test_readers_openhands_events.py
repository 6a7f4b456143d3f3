"""The event log of OpenHands' SDK: a real conversation recorded with every prompt that was sent, and what it did not have."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from reread import checked, read, sure_of

from bench.model import (
    ContextReset,
    ModelTurn,
    SystemTurn,
    ToolResult,
    ToolsChanged,
    Trace,
    Usage,
    UserTurn,
    text_of,
)
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
            said.append(["assistant", text_of(step.content), [call.id for call in step.tool_calls] or None])
        elif said and said[-1][0] == "user":
            said[-1][1] += "\n" + text_of(step.content)
        else:
            said.append(["system" if isinstance(step, SystemTurn) else "user", text_of(step.content), None])
    return [[role, text(words), ids] for role, words, ids in said]


def test_every_prompt_that_was_sent_can_be_rebuilt(tmp_path: Path) -> None:
    (trace,) = load([folder(tmp_path / "c").as_posix()]).traces
    checked(trace, tmp_path)
    assert prompts(trace) == RECORDED["prompts"]


def test_what_is_known_of_a_run_beside_its_messages(tmp_path: Path) -> None:
    (trace,) = load([folder(tmp_path / "c").as_posix()]).traces
    told = RECORDED["state"]["stats"]["usage_to_metrics"]["agent"]["token_usages"]
    assert [turn.usage for turn in trace.model_turns] == [
        Usage(prompt_tokens=one["prompt_tokens"], completion_tokens=one["completion_tokens"], cached_prompt_tokens=one["cache_read_tokens"],
              cache_write_tokens=one["cache_write_tokens"], reasoning_tokens=one["reasoning_tokens"])
        for one in told
    ]  # fmt: skip
    assert {turn.model for turn in trace.model_turns} == {"openai/scripted-1"}
    assert trace.id == RECORDED["state"]["id"]
    assert (trace.meta["execution_status"], len(trace.meta["latencies_s"]), trace.outcome) == ("finished", 9, None)
    assert [used["prompt_tokens"] for used in trace.meta["usage_of_other_calls"]] == [1008]
    assert trace.left_out == {
        "parameters of a tool's definition, which were not recorded": 4,
        "model call that condenses": 1,
    }
    tools = next(step for step in trace.steps if isinstance(step, ToolsChanged))
    assert [tool["name"] for tool in tools.tools] == ["terminal", "file_editor", "finish", "think"]


def test_counted_without_the_reader(tmp_path: Path) -> None:
    events = RECORDED["events"]
    (trace,) = read("openhands", tmp_path, events)
    checked(trace, tmp_path)
    answers = {
        event["llm_response_id"] for event in events if event["source"] == "agent" and "llm_response_id" in event
    }
    made = [event["tool_call_id"] for event in events if event["kind"] == "ActionEvent"]
    assert len(trace.model_turns) == len(answers)
    assert [call.id for turn in trace.model_turns for call in turn.tool_calls] == made
    assert [result.call_id for result in trace.results] == made
    assert [turn.usage for turn in trace.model_turns] == [None] * 9
    (reset,) = (step for step in trace.steps if isinstance(step, ContextReset))
    gone = next(set(event["forgotten_event_ids"]) for event in events if event["kind"] == "Condensation")
    named = {event["tool_call_id"] for event in events if event["id"] in gone and "tool_call_id" in event}
    lost = {result.call_id for result in trace.results if result.index < reset.index and result.index not in reset.kept}
    assert named == lost


def test_files_of_one_conversation(tmp_path: Path) -> None:
    given = folder(tmp_path / "c")
    loaded = load([given.as_posix()])
    assert len(loaded.traces) == 1
    assert len(loaded.skipped) == len(RECORDED["events"])  # the state and all events but the first
    first, *_, last = sorted((given / "events").iterdir())
    assert sure_of(Document(first)) == sure_of(Document(given / "base_state.json")) == ["openhands"]
    with pytest.raises(TraceError, match="expected a list of events, got one event — give the folder"):
        load([last.as_posix()])
    with pytest.raises(TraceError, match="whose events are in the folder 'events' beside it"):
        load([(given / "base_state.json").as_posix()])
    last.write_text("{")
    with pytest.raises(TraceError, match=last.name):
        load([f"openhands:{given / 'events'}"])
    (given / "base_state.json").unlink()
