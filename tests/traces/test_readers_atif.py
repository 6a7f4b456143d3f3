"""ATIF: steps, observations and sub-agents become turns, results and threads; what is written as 1.7 is valid and comes back as it was."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from generated import traces
from hypothesis import given, strategies as st
from reread import FORMATS, document, read, sure_of
from test_readers_hostile import outcome

from bench.model import ModelTurn, Outcome, Source, SystemTurn, Trace, Usage, UserTurn
from bench.model.errors import TraceError
from bench.traces import load
from bench.traces.atif_writing import atif_of, write_atif
from bench.traces.documents import Document
from bench.traces.formats.atif import Atif

FILE = FORMATS / "atif.json"
VALUE: dict[str, Any] = json.loads(FILE.read_text())


def test_sub_agents_without_end_are_refused(tmp_path: Path) -> None:
    value: dict[str, Any] = {**VALUE, "subagent_trajectories": []}
    for _ in range(30):
        value = {**VALUE, "trajectory_id": "x", "subagent_trajectories": [value]}
    with pytest.raises(TraceError, match="sub-agents of more than 20 levels"):
        read("atif", tmp_path, value)


# ---------------------------------------------------------------- writing


def again(trace: Trace, folder: Path) -> Trace:
    path = folder / "again.json"
    write_atif(trace, path)
    assert sure_of(Document(path)) == ["atif"]
    (back,) = Atif().read(Document(path))
    return back


def valid(document: dict[str, Any]) -> None:
    """The rules of ATIF 1.7 for a document, checked without the reader."""
    assert document["schema_version"] == "ATIF-v1.7"
    assert {"name", "version"} <= document["agent"].keys()
    for number, step in enumerate(document["steps"], 1):
        assert step["step_id"] == number
        assert step["source"] in ("system", "user", "agent")
        assert isinstance(step["message"], str)
        own = {"model_name", "reasoning_content", "tool_calls", "metrics"} & step.keys()
        assert step["source"] == "agent" or not own
        calls = {call["tool_call_id"] for call in step.get("tool_calls", ())}
        assert all(isinstance(call["arguments"], dict) for call in step.get("tool_calls", ()))
        for result in step.get("observation", {"results": []})["results"]:
            assert result["source_call_id"] in calls
    embeds = document.get("subagent_trajectories", [])
    assert len({sub["trajectory_id"] for sub in embeds}) == len(embeds)
    for sub in embeds:
        valid(sub)


@pytest.mark.slow
@given(trace=traces(extras=True))
def test_what_is_written_comes_back_and_is_valid(tmp_path_factory: pytest.TempPathFactory, trace: Trace) -> None:
    folder = tmp_path_factory.getbasetemp()
    back = again(trace, folder)
    assert back.steps == trace.steps
    assert (back.id, back.labels, back.meta, back.outcome, back.left_out) == (
        trace.id, trace.labels, trace.meta, trace.outcome, trace.left_out
    )  # fmt: skip
    assert back.sha256 == trace.sha256
    written = (folder / "again.json").read_bytes()
    write_atif(back, folder / "again.json")
    assert (folder / "again.json").read_bytes() == written
    valid(json.loads(written))


def test_what_other_tools_read_is_there(tmp_path: Path) -> None:
    steps = (
        SystemTurn(index=0, content="You are brief."),
        UserTurn(index=1, content="hi"),
        ModelTurn(index=2, content="hello", model="m", usage=Usage(prompt_tokens=5, completion_tokens=1)),
    )
    trace = Trace(id="a", source=Source(format="native"), steps=steps, outcome=Outcome(success=True, said_by="x"))
    written = atif_of(trace)
    assert [step["message"] for step in written["steps"]] == ["You are brief.", "hi", "hello"]
    assert written["final_metrics"] == {
        "total_prompt_tokens": 5,
        "total_completion_tokens": 1,
        "total_cached_tokens": 0,
    }
    assert again(trace, tmp_path) == trace
    del written["extra"]
    (alone,) = read("atif", tmp_path, written)
    assert alone.steps == trace.steps


@pytest.mark.slow
def test_recorded_runs_survive(shared_traces: Path, tmp_path: Path) -> None:
    for trace in load(["scbench", "who-and-when/Hand-Crafted/11.json", "rap"], shared_traces).traces:
        assert again(trace, tmp_path).sha256 == trace.sha256
        valid(json.loads((tmp_path / "again.json").read_bytes()))


@given(data=st.data())
def test_what_was_changed_by_hand_is_one_clear_line_or_a_trace(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    written = copy.deepcopy(atif_of(data.draw(traces(extras=True, max_turns=2))))
    ours = data.draw(st.sampled_from(written["extra"]["bench"]))
    if ours:
        ours[data.draw(st.sampled_from(sorted(ours)))] = data.draw(st.sampled_from((None, -1, "x", [], {}, 0, True)))
    given_file = document(tmp_path_factory.getbasetemp(), written)
    _, complaint = outcome(Atif(), given_file)
    assert complaint is None or "\n" not in complaint


def test_an_official_validator_agrees(tmp_path: Path) -> None:
    atif = pytest.importorskip("atif")
    (trace,) = load([str(FILE)]).traces
    atif.Trajectory.model_validate(atif_of(trace))
