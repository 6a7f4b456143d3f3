"""What every metric must do, tried on each one that is registered: a newcomer's file is tested before it has tests."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from bench.comparison.rows import aggregate
from bench.run.case import Measuring, measure
from generated import traces
from handmade import SMALL, opened, result, run_of, trace
from hypothesis import given, strategies as st
from measured import evidence_of, measured, replayer_of, value

from bench.metrics import Metric, metrics
from bench.model import ModelTurn, Run, Sample, ToolResult, Trace
from bench.plugins.registry import Entry, Plugin, entries
from bench.plugins.spec import Spec
from bench.strategies import Strategy, parse_strategy
from bench.traces import load

ROOT = Path(__file__).parents[2]
METRICS = metrics()
FAMILIES = entries("metric")
RECALLS = [name for name, metric in METRICS.items() if metric.entry.meta["recall"]]
every = pytest.mark.parametrize("name", METRICS)

STRATEGIES = (
    "keep_all",
    "recorded",
    "drop_all",
    "clairvoyant",
    "floor",
    "cut=summarizer=truncate:limit=60+store=truncate:limit=60",
    "judged=store=by_function+evaluator=step_v1+routers=[executor,step_evaluator,loop_detector]",
    "replies=summarizer=output_summary+consumer=building_agent",
    "table=summarizer=table_console:max_rows=2,max_lines=2+store=external:preview_chars=20",
    "mask=compactor=mask_observations:keep_last=1",
    "old=compactor=summarize_old:keep_last=2,max_tokens=150",
    "apart=compactor=separate_commands:keep_last=2,max_tokens=150",
)


HEADS = ("", "<ref> ", "[cut] ", "Output:\n\n", "[3 of 40] ")
"""What may stand before what is left of a result."""


def cut(result: ToolResult, *, limit: int, head: str = "", front: bool = True) -> str:
    """The beginning (or end) of the untruncated text: what a further cut leaves is a beginning (or end) of it."""
    return head + (result.text[:limit] if front else result.text[max(0, len(result.text) - limit) :])


def cutting(limit: int, **how: Any) -> Strategy:
    """Everything shown cut to its first or last characters, and everything stored to the first."""
    plugins = {
        "summarizer": (Plugin(Spec("cut"), Entry("summarizer", "cut", cut), {"limit": limit, **how}),),
        "store": (Plugin(Spec("cut"), Entry("store", "cut", cut), {"limit": limit}),),
    }
    return Strategy(f"cut_{limit}", plugins)


def nothing() -> Strategy:
    """Only system turns are shown, and nothing is stored."""
    return Strategy("nothing", {**parse_strategy("drop_all").plugins, "store": cutting(0).plugins["store"]})


# ---------------------------------------------------------------- what it says of itself


@pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: family.name)
def test_documentation(family: Entry) -> None:
    first = family.doc.split("\n\n")[0]
    assert first.rstrip().endswith((".", ":")), "the docstring starts with a sentence"
    assert family.source, "the docstring has a `Source:` line"
    assert ">>>" in family.doc, "the docstring has an example"
    said = " ".join(family.doc.split())
    assert re.search("(?i)no sample|one sample|samples (?:as|are) ", said), (
        "it says what a sample is, or what gives none"
    )


@every
def test_direction_unit_and_name_are_declared(name: str) -> None:
    info = METRICS[name].info
    assert info.better in ("lower", "higher")
    assert info.aggregate in ("sum", "max", "pooled")
    assert info.unit == info.unit.strip() != ""
    assert info.unit != "fraction" or info.aggregate == "pooled", "a share is pooled: Σ numerator / Σ denominator"
    assert info.name == name == METRICS[name].name
    assert info.title.strip()
    assert METRICS[name].entry.meta["version"] >= 1


def test_a_recall_is_a_share_of_which_more_is_better() -> None:
    assert len(RECALLS) > 10
    assert {(METRICS[name].info.unit, METRICS[name].info.better) for name in RECALLS} == {("fraction", "higher")}
    missing = {name for name in METRICS if "recall" in name} - {*RECALLS}
    assert missing <= {"probes.recall", "routing.selection_recall_at_3"}, (
        "these ask for something else: an answer, a script"
    )


# ---------------------------------------------------------------- what it measures


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_data_is_no_score(strategy: str) -> None:
    run = run_of(SMALL["empty"], strategy)
    for name in METRICS:
        assert measured(name, SMALL["empty"], run) == [], name
        assert value(name, SMALL["empty"], run) == (None, 0), name


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_nothing_to_lose_is_no_perfect_score(strategy: str) -> None:
    recording = trace(ModelTurn(index=0, content="Hello."), ModelTurn(index=1, content="Bye."))
    run = run_of(recording, strategy)
    for name in RECALLS:
        assert value(name, recording, run) == (None, 0), name


def check_samples(metric: Metric, samples: list[Sample], recording: Trace) -> None:
    steps = {step.index for step in recording.steps} | {None, -1}
    for sample in samples:
        assert sample.step in steps
        if sample.numerator is None:
            assert sample.reason, "what could not be measured says why"
            continue
        assert math.isfinite(sample.numerator)
        if metric.info.aggregate == "pooled":
            assert sample.denominator is not None
            assert sample.denominator > 0
            if metric.info.unit == "fraction":
                assert 0 <= sample.numerator <= sample.denominator + 1e-9
        msgspec.json.encode(sample)
    found, n = aggregate(metric.info, samples)
    if any(sample.numerator is None for sample in samples) and metric.info.aggregate != "pooled":
        assert (found, n) == (None, 0), "unmeasured is not a score"
    if not samples:
        assert (found, n) == (None, 0)


@pytest.mark.slow
@given(recording=traces(extras=True), strategy=st.sampled_from(STRATEGIES))
def test_samples_of_generated_traces_slow_because_every_metric_is_measured_twice(
    recording: Trace, strategy: str
) -> None:
    check_all(recording, strategy)


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_samples_of_small_traces(name: str) -> None:
    for strategy in STRATEGIES:
        check_all(SMALL[name], strategy)


def check_all(recording: Trace, strategy: str) -> None:
    run = run_of(recording, strategy)
    before = msgspec.json.encode([recording, run])
    evidence = evidence_of(recording, run)
    for name, metric in METRICS.items():
        samples = list(metric.samples(evidence))
        check_samples(metric, samples, recording)
        assert samples == list(metric.samples(evidence)), f"{name} gives the same twice"
    assert msgspec.json.encode([recording, run]) == before, "a metric changes nothing"


def test_a_strategy_that_raises_has_no_scores(tmp_path: Path) -> None:
    def boom(result: ToolResult) -> str:
        raise ValueError("no")

    broken = Strategy("broken", {"summarizer": (Plugin(Spec("boom"), Entry("summarizer", "boom", boom), {}),)})
    case = measure(opened([result("471", index=2)]), Measuring((broken,), tuple(METRICS.values())))
    assert {row.metric for row in case.rows} == METRICS.keys()
    assert all(row.value is None and "ValueError: no" in (row.reason or "") for row in case.rows)


@every
def test_an_unpriced_model_and_an_unknown_window_are_said_and_not_scored(name: str) -> None:
    recording = opened([result("471", index=2)])
    unknown = msgspec.structs.replace(
        recording, steps=tuple(_of_model(step, "nobody-knows-it") for step in recording.steps)
    )
    for sample in measured(name, unknown, run_of(unknown, "keep_all")):
        assert sample.numerator is not None or sample.reason
    if METRICS[name].info.unit == "usd":
        assert value(name, unknown, run_of(unknown, "keep_all")) == (None, 0)


def _of_model(step: object, model: str) -> object:
    return msgspec.structs.replace(step, model=model) if isinstance(step, ModelTurn) else step


# ---------------------------------------------------------------- brackets


def check_brackets(recording: Trace, strategy: str) -> None:
    whole, other = run_of(recording, "keep_all"), run_of(recording, strategy)
    least = replayer_of(recording).run(nothing())
    for name in RECALLS:
        best, n = value(name, recording, whole)
        found, of = value(name, recording, other)
        fewest, of_least = value(name, recording, least)
        assert n == of == of_least, f"{name}: what is measured does not depend on the strategy"
        if n:
            assert best == 1.0, f"{name}: keep_all loses nothing"
            assert found is not None
            assert fewest is not None
            assert fewest <= found <= 1.0, name


@pytest.mark.slow
@given(recording=traces(extras=True), strategy=st.sampled_from(STRATEGIES[1:]))
def test_every_recall_lies_between_nothing_and_everything_slow_because_of_three_runs_a_trace(
    recording: Trace, strategy: str
) -> None:
    check_brackets(recording, strategy)


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_brackets_of_small_traces(name: str) -> None:
    for strategy in STRATEGIES[1:]:
        check_brackets(SMALL[name], strategy)


@pytest.mark.slow
@given(recording=traces(extras=True))
def test_who_reads_the_future_serves_everything_that_is_needed(recording: Trace) -> None:
    for name in (name for name in RECALLS if name.startswith("needed.")):
        for reference in ("clairvoyant", "floor"):
            assert value(name, recording, run_of(recording, reference))[0] in (None, 1.0), (name, reference)


# ---------------------------------------------------------------- cutting further never gains


def check_cuts(recording: Trace, limits: list[int], names: list[str] = RECALLS, **how: Any) -> None:
    """Every recall, over ever longer beginnings or ends of what is shown and stored."""
    shorter: dict[str, tuple[int, float | None]] = {}
    for limit in sorted(limits):
        run = replayer_of(recording).run(cutting(limit, **how))
        assert run.failure is None
        for name in names:
            found, _ = value(name, recording, run)
            before = shorter.get(name)
            if before is not None and found is not None and before[1] is not None:
                assert before[1] <= found + 1e-12, f"{name}: {before[1]} of {before[0]} characters, {found} of {limit}"
            shorter[name] = limit, found


@pytest.mark.slow
@given(
    recording=traces(max_turns=5),
    limits=st.lists(st.integers(0, 300), min_size=4, max_size=9, unique=True),
    head=st.sampled_from(HEADS),
    front=st.booleans(),
)
def test_cutting_generated_traces_further_never_gains_slow_because_of_nine_runs_a_trace(
    recording: Trace, limits: list[int], head: str, front: bool
) -> None:
    check_cuts(recording, limits, head=head, front=front)


@given(traces(max_turns=4), st.integers(0, 400), st.sampled_from(HEADS))
def test_one_character_more_never_loses(recording: Trace, limit: int, head: str) -> None:
    check_cuts(recording, [limit, limit + 1, limit + 2, limit + 3], head=head)


STRUCTURED = opened(
    [
        result('{"rows": [{"id": 471, "level": "L 1", "ok": true}, {"id": 1250.50, "level": null}], "total": 2}', index=2),
        result(None, index=3, data={"rows": [{"id": 471, "name": "run_7"}, {"id": 472, "name": "Pietro Murano"}], "n": [1, 12, 123]}),
        result("id,name\n471,run_7\n472,a b\nsee https://example.org/(x), /data/run_7.csv and 1,250.50 mm", index=4),
        ModelTurn(index=5, content="run_7 is 471, Pietro Murano is 472; 1250.5 in /data/run_7.csv, https://example.org/(x)"),
    ]
)  # fmt: skip


@pytest.mark.slow
def test_no_beginning_of_a_structured_result_holds_more_slow_because_each_is_a_run() -> None:
    longest = max(len(item.text) for item in STRUCTURED.results)
    check_cuts(STRUCTURED, list(range(longest + 1)))


SHIPPED = ["building_model/survey.jsonl", "building_model/faults.jsonl", "analysis/aborted.jsonl"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "head"), [*((name, "") for name in SHIPPED), *((SHIPPED[2], head) for head in HEADS[1:])]
)
def test_cutting_shipped_traces_further_never_gains_slow_because_of_fifteen_runs(name: str, head: str) -> None:
    (recording,) = load([str(ROOT / "traces" / name)]).traces
    longest = max(len(item.text) for item in recording.results)
    check_cuts(recording, [0, 1, *{int(longest ** (step / 12)) for step in range(13)}], head=head)


def test_a_metric_that_gains_by_cutting_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def shorter_is_better(evidence: object) -> list[Sample]:
        run: Run = evidence.run  # type: ignore[attr-defined]
        shown = sum(len(run.messages[outcome.shown].text) for outcome in run.results)
        return [Sample(numerator=1.0 / (1 + shown), denominator=1.0)]

    entry = Entry("metric", "mine", shorter_is_better, {**METRICS[RECALLS[0]].entry.meta, "parameters": {}})
    monkeypatch.setattr("measured.metric_of", lambda name: Metric("mine", entry))
    with pytest.raises(AssertionError, match="mine: "):
        check_cuts(STRUCTURED, [0, 10, 100], ["mine"])
