"""Who&When: what each message becomes, what a ledger's outcome is taken from, and complaints of one line."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from readers import WHO_AND_WHEN

from bench.model import RouteDecision, Trace
from bench.traces import load


@pytest.fixture(scope="module")
def traces(shared_traces: Path) -> tuple[Trace, ...]:
    return load([f"{WHO_AND_WHEN}:who-and-when"], shared_traces).traces


def test_the_recorded_runs(shared_traces: Path, traces: tuple[Trace, ...]) -> None:
    assert Counter(trace.source.format for trace in traces) == {"who_and_when": len(traces)}
    assert Counter(trace.id.partition("/")[0] for trace in traces) == {"Hand-Crafted": 27, "Algorithm-Generated": 90}
    labels = [json.loads(line) for line in (shared_traces / "labels/failure_steps.jsonl").read_text().splitlines()]
    expected = {row["file"]: row for row in labels if row["file"].startswith("who-and-when/")}
    for trace in traces:
        row = expected[f"who-and-when/{trace.id}.json"]
        assert (trace.labels["mistake_step"], trace.labels["mistake_agent"], len(trace.steps)) == (
            row["mistake_step_0based"],
            row["mistake_agent"],
            row["n_steps"],
        )


def test_every_recorded_ledger_is_a_decision_with_the_outcome_that_people_read(
    shared_traces: Path, traces: tuple[Trace, ...]
) -> None:
    by_id = {trace.id: trace for trace in traces}
    rows = [json.loads(line) for line in (shared_traces / "labels/magentic_routing.jsonl").read_text().splitlines()]
    assert len(rows) == 377
    for row in rows:
        trace = by_id[row["file"].removeprefix("who-and-when/").removesuffix(".json")]
        (step,) = (step for step in trace.steps if step.index == row["index"])
        assert isinstance(step, RouteDecision)
        answers = {key: step.state["ledger"][key]["answer"] for key in ("is_request_satisfied", "is_in_loop")}
        assert (step.router, step.taken) == ("ledger", row["recorded_event"])
        assert answers == {"is_request_satisfied": row["satisfied"], "is_in_loop": row["in_loop"]}
    found = sum(isinstance(step, RouteDecision) and step.router == "ledger" for t in traces for step in t.steps)
    assert found == len(rows)
