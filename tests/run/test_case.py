"""One case: what `measure` gives, that it can be sent to another process, and that it does not grow with the trace."""

from __future__ import annotations

import json
import pickle
from typing import Any

import msgspec
import pytest
from bench.evidence.case import MOST_CALLS, MOST_CHARS
from bench.run.case import Measuring, measure, unmeasured
from bench.text.prompts_shown import unpacked
from handmade import opened, shell

import bench
from bench.metrics import metrics
from bench.model import Case, ContextReset, ModelTurn, RouteDecision, ToolCall, ToolResult, Trace
from bench.strategies import parse_strategy

STRATEGIES = (
    "mask=compactor=mask_observations:keep_last=2",
    "cut=summarizer=truncate:limit=60+store=external+evaluator=step_v1+routers=[executor,step_evaluator]",
    "keep_all",
    "recorded",
)
NAMES = ("mask", "cut", "keep_all", "recorded")


def measuring() -> Measuring:
    """Everything that a comparison asks of a case."""
    return Measuring(
        strategies=tuple(map(parse_strategy, STRATEGIES)),
        metrics=tuple(metrics().values()),
        shown=frozenset(NAMES[:2]),
        losses_for=frozenset(("needed.recall", "loss.fact_recall.end", "routing.accuracy", "findings.agreement")),
        prompts_for=NAMES,
    )


def session(turns: int) -> Trace:
    """A run in which something is lost of everything: tables, cut and failed results, routes, resets, and turns that need what was told before."""
    steps: list[Any] = []
    for turn in range(turns):
        at = len(steps) + 2
        rows = json.dumps(
            [{"Id": 1000 * turn + n, "Name": f"Wall_{turn}_{n}", "Length": n * 1.5 + turn} for n in range(9)]
        )
        call = ToolCall(id=f"c{turn}", name="query", arguments={"table": f"/data/t_{turn}.csv"})
        steps.append(
            ModelTurn(index=at, content=f"Next is t_{turn}, as Wall_{max(0, turn - 7)}_3 said.", tool_calls=(call,))
        )
        head = {"index": at + 1, "call_id": call.id, "function": "query", "arguments": call.arguments}
        steps.append(
            (
                ToolResult(**head, data={"is_success": True, "structured_output": [{"type": "table", "data": rows}]}),
                ToolResult(**head, seen=f"{rows[:200]} [cut]", full=rows),
                ToolResult(**head, success=False, seen=f"ValueError: no t_{turn}.csv", error=f"ValueError: no t_{turn}.csv"),
            )[turn % 3]
        )  # fmt: skip
        taken = "continue" if turn % 5 else "abort"
        steps.append(
            RouteDecision(index=at + 2, at="after_result", taken=taken, router="executor", state={"total_steps": turn})
        )
        if turn % 25 == 24:
            steps.append(ContextReset(index=at + 3, summary=f"read {turn} tables", kept=(0, 1)))
    return opened(steps, id="session")


@pytest.fixture(scope="module")
def short() -> Case:
    return measure(session(60), measuring())


@pytest.fixture(scope="module")
def long() -> Case:
    return measure(session(600), measuring())


def test_a_case_holds_something_of_everything(short: Case) -> None:
    assert {row.strategy for row in short.rows} == set(NAMES)
    assert len(short.rows) == len(NAMES) * len(metrics())
    assert {item.strategy for item in short.losses} >= {"mask", "cut"}
    assert {name for cause in short.causes for name in cause.strategies} == {"mask", "cut"}, "only those that are shown"
    assert any(span.text != "nothing" for item in short.results for kept in item.kept for span in kept.text)
    assert short.prompts
    assert short.recording.cuts
    assert short.recording.resets
    cut = short.runs["cut"]
    assert cut.window.curve
    assert cut.routes.path
    assert cut.judgements


def test_a_case_comes_back_from_another_process_as_it_was(short: Case) -> None:
    assert pickle.loads(pickle.dumps(short)) == short


@pytest.mark.slow
def test_a_trace_ten_times_as_long_makes_a_case_at_most_twice_as_large(short: Case, long: Case) -> None:
    assert long.recording.calls > 9 * short.recording.calls
    sizes = {
        field: [len(pickle.dumps(getattr(case, field))) for case in (short, long)] for field in Case.__struct_fields__
    }
    assert len(pickle.dumps(long)) <= 2 * len(pickle.dumps(short)), sizes


def test_nothing_of_a_case_is_a_run_or_a_trace(short: Case) -> None:
    """A Case is made of the values that reports show: no Run, no Trace, no RunEvidence is inside."""
    kinds = set()
    waiting: list[Any] = [short]
    while waiting:
        value = waiting.pop()
        kinds.add(type(value).__name__)
        if isinstance(value, msgspec.Struct):
            waiting.extend(getattr(value, field) for field in value.__struct_fields__)
        elif isinstance(value, dict):
            waiting.extend([*value.keys(), *value.values()])
        elif isinstance(value, list | tuple | frozenset):
            waiting.extend(value)
    assert "RunShown" in kinds
    assert not kinds & {"Run", "Trace", "ToolResult", "Message", "ResultOutcome", "RunEvidence", "TraceEvidence"}


@pytest.mark.slow
def test_of_a_long_run_the_prompts_are_kept_where_most_happened(short: Case, long: Case) -> None:
    kept, whole = unpacked(long.prompts), unpacked(short.prompts)
    assert whole["calls"] == [61, 61]
    assert kept["calls"][1] == 601
    assert 100 < kept["calls"][0] <= MOST_CALLS + 2
    steps = [[prompt[0] for prompt in prompts] for _, prompts in kept["strategies"]]
    assert len({tuple(of_one) for of_one in steps}) == 1, (
        "the same calls of every strategy, to be laid beside each other"
    )
    assert (steps[0][0], steps[0][-1]) == (2, long.runs["keep_all"].window.curve[-1].step)
    assert sum(len(text) for _, _, _, text, _ in kept["messages"]) <= MOST_CHARS


@pytest.mark.parametrize(
    "strategy",
    ["mask=compactor=mask_observations:keep_last=2", "old=compactor=summarize_old:max_tokens=900", "recorded"],
)
def test_the_prompts_of_a_page_are_those_of_the_run(strategy: str) -> None:
    trace = session(30)
    case = measure(trace, Measuring((parse_strategy(strategy),), (), prompts_for=(strategy.partition("=")[0],)))
    data = unpacked(case.prompts)
    run = bench.replay(trace, strategy)
    ((_, prompts),) = data["strategies"]
    live: dict[str, list[int]] = {}
    for (prompt, keys), (step, thread, tokens, edits, _, _) in zip(run.walk(), prompts, strict=True):
        shown = live.setdefault(thread, [])
        for at, removed, added in reversed(edits):
            shown[at : at + removed] = added
        assert (step, tokens) == (prompt.step, prompt.tokens)
        told = [data["messages"][number] for number in shown]
        assert [(role, at) for role, _, at, _, _ in told] == [
            (run.messages[key].role, run.messages[key].step) for key in keys
        ]
        assert all(
            run.messages[key].text.startswith(text[:20]) for key, (_, _, _, text, _) in zip(keys, told, strict=True)
        )


def test_labels_are_asked_of_a_case_and_are_no_part_of_the_recording() -> None:
    trace = opened(shell(3, start=2))
    plain, labelled = measure(trace, measuring()), measure(trace, measuring(), {"routes": {"3": "abort"}})
    assert plain.recording.sha256 == labelled.recording.sha256 == trace.sha256
    assert (plain.questions_sha256, bool(labelled.questions_sha256)) == ("", True)


def test_a_case_that_could_not_be_measured_says_so_in_every_row() -> None:
    case = unmeasured("one", measuring(), "ab", "the process died")
    assert len(case.rows) == len(NAMES) * len(metrics())
    assert {(row.value, row.reason, row.case) for row in case.rows} == {(None, "the process died", "one")}
    assert {name for name, run in case.runs.items() if run.failure is not None} == set(NAMES)
