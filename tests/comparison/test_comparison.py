"""Pairs: the difference, how sure it is, what is not called a win, and what refuses to be compared."""

from __future__ import annotations

import msgspec
import pytest
from handmade import SMALL, opened, result, shell
from hypothesis import given, strategies as st

import bench
from bench.comparison.intervals import deltas
from bench.model import Columns, MetricInfo, ModelTurn, Row, Signature
from bench.model.errors import BenchError, ScenarioError, SpecError
from bench.run.job import REFERENCES, Times
from bench.run.verbs import compare
from bench.strategies import strategy_of
from bench.traces.formats.native import write_trace

LOWER = MetricInfo(name="m", unit="tokens", better="lower", aggregate="sum")
HIGHER = MetricInfo(name="m", unit="fraction", better="higher", aggregate="pooled")
MOST = MetricInfo(name="m", unit="tokens", better="lower", aggregate="max")


def rows(**values):
    """One row a value; the n of each is 2."""
    return Columns(
        Row(strategy=name, metric="m", case=f"case {at}", value=value, unit="x", n=2)
        for name, of_cases in values.items()
        for at, value in enumerate(of_cases)
    )


def delta(info, ours, theirs, seed=0):
    (found,) = deltas({"m": info}, rows(s=ours, r=theirs), ["s", "r"], ["r"], seed)
    return found


def test_the_difference_of_sums_with_its_interval():
    found = delta(LOWER, [10, 20, 30, 40, 50, 60], [20, 40, 60, 80, 100, 120])
    assert (found.delta, found.relative, found.n, found.better) == (-210, -0.5, 6, True)
    assert found.low <= found.delta <= found.high < 0
    assert found.relative_low == pytest.approx(found.relative_high) == pytest.approx(-0.5)
    assert (found.strategy, found.reference, found.metric, found.reason) == ("s", "r", "m", None)


@pytest.mark.parametrize(("info", "better"), [(LOWER, False), (HIGHER, True), (MOST, False)])
def test_what_is_better_is_the_metrics_to_say(info, better):
    high, low = [0.8, 0.9, 0.7, 0.8, 0.9, 0.7], [0.4, 0.5, 0.3, 0.4, 0.5, 0.3]
    assert delta(info, high, low).better is better
    assert delta(info, low, high).better is not better, "by less than one: shares, and dollars, never move by more"


@pytest.mark.parametrize(
    ("ours", "theirs", "says"),
    [
        ([5, 7], [5, 7], "no difference above the noise floor"),
        ([10_000, 20_000], [10_001, 20_001], "no difference above the noise floor"),
        ([10], [20], "1 case: nothing is sure below 6"),
        ([10, 10, 10, 10, 10], [20, 20, 20, 20, 20], "5 cases: nothing is sure below 6"),
        ([10, 40, 10, 40, 10, 40], [20, 20, 20, 35, 20, 20], "6 cases do not tell it from chance"),
        ([None, 3], [4, None], "no case was measured for both"),
    ],
)
def test_what_is_not_called_a_win(ours, theirs, says):
    found = delta(LOWER, ours, theirs)
    assert (found.better, found.reason) == (None, says)


def test_the_interval_of_a_share_is_in_proportion_to_the_reference():
    found = delta(HIGHER, [0.2, 0.25, 0.1, 0.2, 0.3, 0.2, 0.25, 0.2], [0.4, 0.5, 0.4, 0.5, 0.4, 0.5, 0.4, 0.5])
    assert found.relative_low < found.relative < found.relative_high < 0
    assert found.relative_low / found.low == pytest.approx(1 / 0.45) == pytest.approx(found.relative / found.delta)


def test_only_cases_that_both_measured_are_paired():
    found = delta(LOWER, [10, None, 30], [20, 1000, 60])
    assert (found.delta, found.n) == (-40, 2)
    assert delta(LOWER, [], []).n == 0
    assert delta(LOWER, [], []).delta is None


def test_against_zero_there_is_no_relative_difference():
    found = delta(LOWER, [5, 6] * 3, [0, 0] * 3)
    assert (found.delta, found.relative, found.relative_low, found.better) == (33, None, None, False)
    assert (found.low, found.high) == (30, 36)
    assert delta(LOWER, [3, 4, 5, 6, 7, 8], [-0.5, 1, 1, 1, 1, 1]).relative_low is None, "nor against less than nothing"


def test_every_other_strategy_is_compared_wherever_the_reference_stands_among_them():
    table = rows(a=[1, 2], r=[1, 2], b=[3, 4], q=[5, 6])
    infos = {"m": LOWER, "n": msgspec.structs.replace(LOWER, name="n")}
    found = deltas(infos, table, ["a", "r", "b", "q"], ["r", "q"], 0)
    assert [(item.strategy, item.reference, item.metric) for item in found] == [
        (strategy, reference, metric)
        for reference in "rq" for strategy in "arbq" if strategy != reference for metric in "mn"
    ]  # fmt: skip


@given(st.lists(st.integers(0, 1000), min_size=6, max_size=16), st.integers(0, 5))
def test_the_same_seed_gives_the_same_interval_and_what_each_case_saves_is_sure(ours, seed):
    found = delta(LOWER, ours, [value + 10 for value in ours], seed)
    assert found == delta(LOWER, ours, [value + 10 for value in ours], seed)
    assert found.delta == -10 * len(ours)
    assert found.better is True
    assert found.low <= found.high < 0


# ---------------------------------------------------------------- signatures

SIGNED = Signature(
    bench_version="0.1.0", traces={"a": "1" * 64}, strategies={"s": "s"}, encodings=("o200k_base",), facts_version="1",
    prices_date="p", seed=0,
)  # fmt: skip


# ---------------------------------------------------------------- the verb

TRACES = [
    opened(shell(4, start=2), id="one"),
    opened([result("found 4711 in /data/x.csv", index=2), ModelTurn(index=3, content="4711")], id="two"),
    opened(shell(6, start=2), id="three"),
]
SPECS = ["mask=compactor=mask_observations:keep_last=1", "cut=summarizer=truncate:limit=60"]


@pytest.fixture(scope="module")
def compared():
    return bench.compare(TRACES, SPECS)


def test_the_references_are_added_and_named(compared):
    assert compared.strategies == ("mask", "cut")
    assert compared.references == REFERENCES
    assert compared.everyone == ("mask", "cut", *REFERENCES)
    assert compared.case_ids == ("one", "three", "two")
    assert {row.strategy for row in compared.rows} == {"mask", "cut", *REFERENCES}
    assert len(compared.rows) == 7 * 3 * len(compared.metrics)
    assert len(compared.summary) == 7 * len(compared.metrics)


def test_the_order_of_cases_changes_nothing(compared):
    shuffled = bench.compare(TRACES[::-1], SPECS)
    assert shuffled.summary == compared.summary
    assert shuffled.rows == compared.rows
    assert shuffled.deltas == compared.deltas
    assert shuffled.signature == compared.signature


def test_progress_counts_every_case_and_knows_the_whole_at_the_end(tmp_path):
    seen = []
    times = Times()
    compare(
        TRACES,
        {"whole": "summarizer=untruncated"},
        progress=lambda done, total: seen.append((done, total)),
        times=times,
    )
    assert [done for done, _ in seen] == [1, 2, 3]
    assert seen[-1] == (3, 3)
    progressed: list[tuple[int, int | None]] = []
    write_trace(TRACES[0], tmp_path / "one.jsonl")
    bench.audit(tmp_path, progress=lambda done, total: progressed.append((done, total)))
    assert progressed == [(1, None)]
    assert list(times.seconds) == ["whole"], "of references nobody asks how long they take"


def test_a_failed_case_has_rows_with_the_reason(tmp_path):
    (tmp_path / "mine.py").write_text("def boom(result):\n    raise ValueError('no')\n")
    compared = bench.compare(TRACES[:1], ["bad=store=mine.py:boom"], base=tmp_path)
    mine = [row for row in compared.rows if row.strategy == "bad"]
    assert mine
    assert {row.value for row in mine} == {None}
    (reason,) = {row.reason for row in mine}
    assert reason.startswith("strategy raised in store at step 3: mine.py:2: ValueError: no — it got ToolResult; ")


# ---------------------------------------------------------------- what people pass


@pytest.fixture
def folder(tmp_path):
    """Two of the traces as files."""
    (tmp_path / "runs").mkdir()
    for trace in TRACES[:2]:
        write_trace(trace, tmp_path / "runs" / f"{trace.id}.jsonl")
    return tmp_path


def shorter(result):
    return result.text[:60]


def test_traces_are_paths_a_loaded_set_traces_or_one_of_them(folder, compared):
    names = ["runs/one.jsonl", "native:runs/two.jsonl"]
    loaded = bench.load(names, folder)
    given = {
        "a folder as text": "runs/",
        "a path": folder / "runs",
        "several paths": names,
        "paths as a tuple": tuple(folder / "runs" / f"{name}.jsonl" for name in ("one", "two")),
        "what load gives": loaded,
        "its traces": loaded.traces,
        "traces made here": TRACES[:2],
        "an iterator": iter(TRACES[:2]),
    }
    for what, traces in given.items():
        found = bench.compare(traces, SPECS, base=folder)
        assert found.case_ids == ("one", "two"), what
        assert [*found.rows] == [row for row in compared.rows if row.case != "three"], what
    assert bench.compare(TRACES[0], SPECS).case_ids == ("one",)
    assert bench.compare(folder / "runs" / "one.jsonl", SPECS).case_ids == ("one",)


def test_what_load_skipped_is_told(folder):
    (folder / "runs" / "notes.txt").write_text("no trace")
    for traces in ("runs/", bench.load(["runs/"], folder)):
        ((path, reason),) = bench.compare(traces, ["keep_all"], base=folder).skipped
        assert path.endswith("notes.txt")
        assert reason


def test_strategies_are_specs_functions_or_a_mapping_of_names(compared):
    for strategies in (shorter, [shorter], {"shorter": shorter}, [strategy_of(shorter)]):
        found = bench.compare(TRACES, strategies)
        assert found.strategies == ("shorter",)
        assert found.value("shorter", "cost.prompt_tokens") < compared.value("keep_all", "cost.prompt_tokens")
    named = bench.compare(
        TRACES[0], {"mine": shorter, "mask": "compactor=mask_observations:keep_last=1", "keep_all": "keep_all"}
    )
    assert named.strategies == ("mine", "mask", "keep_all")
    assert named.value("mask", "cost.prompt_tokens") == compared.value("mask", "cost.prompt_tokens", "one")
    assert bench.compare(TRACES[0], "mask=compactor=mask_observations").strategies == ("mask",)


@pytest.mark.parametrize(
    ("traces", "strategies", "says"),
    [
        (3, ["keep_all"], "traces are paths, Traces, or what bench.load gives; got int"),
        (None, ["keep_all"], "got NoneType"),
        ([1], ["keep_all"], "expected a Trace among the traces, got int"),
        ([*TRACES, "runs/"], ["keep_all"], "expected a Trace among the traces, got str"),
        (TRACES, 3, "got int"),
        (TRACES, [3], "got int"),
        (TRACES, {"mine": 3}, "got int"),
        (
            TRACES,
            {"mine": "compactr=mask_observations"},
            "strategy 'mine': unknown slot 'compactr' — did you mean compactor",
        ),
        (TRACES, {"mine": "nothing"}, "unknown strategy 'nothing'"),
        ([TRACES[0], TRACES[0]], ["keep_all"], "two traces are called 'one'"),
        ([], ["keep_all"], "no traces to replay"),
        (TRACES, ["a=store=full", "a=store=truncate"], "two strategies are called 'a'"),
        (TRACES, ["keep_all=store=full"], "belongs to a reference strategy"),
        (TRACES, ["floor="], "belongs to a reference strategy"),
        (TRACES, ["nonsense"], "unknown strategy"),
        (TRACES, [], "no strateg"),
        (TRACES, {}, "no strateg"),
    ],
)
def test_a_wrong_type_gets_a_sentence(traces, strategies, says):
    with pytest.raises(BenchError) as caught:
        bench.compare(traces, strategies)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_gates_are_tables_and_their_verdicts_are_in_the_comparison():
    gates = [{"metric": "cost.prompt_tokens", "max": 1}, {"metric": "cost.prompt_tokens", "min": 1, "strategy": "cut"}]
    found = bench.compare(TRACES[:1], SPECS, gates=gates)
    assert [(verdict.strategy, verdict.outcome) for verdict in found.verdicts] == [
        ("mask", "fail"), ("cut", "fail"), ("cut", "pass"),
    ]  # fmt: skip
    assert found.verdicts == bench.check(found)
    with pytest.raises(ScenarioError, match=r"gates\[2\] .*did you mean max_drop"):
        bench.compare(TRACES[:1], SPECS, gates=[gates[0], {"metric": "needed.recall", "max_drp": 1}])
    with pytest.raises(ScenarioError, match="no strategy is called 'cutt' — did you mean cut"):
        bench.compare(TRACES[:1], SPECS, gates=[{"metric": "needed.recall", "min": 0.1, "strategy": "cutt"}])


# ---------------------------------------------------------------- frames


def test_what_was_not_measured_is_not_a_number_and_its_status_says_why(compared):
    table = compared.to_frame()
    assert list(table.columns) == ["strategy", "metric", "case", "value", "low", "high", "unit", "n", "status"]
    assert len(table) == len(compared.rows)
    missing = [row for row in compared.rows if row.value is None]
    assert missing
    assert table.value.isna().sum() == len(missing)
    assert list(table[table.value.isna()].status) == [row.reason for row in missing]
    measured = table[table.value.notna()]
    assert measured[["low", "high", "unit", "n", "status"]].notna().all(axis=None)
    assert (measured.low <= measured.value).all()
    assert (measured.value <= measured.high).all()


def test_the_summary_and_the_verdicts_as_frames():
    gates = [{"metric": "cost.prompt_tokens", "max": 1}, {"metric": "cost.prompt_tokens", "max_increase": "1%"}]
    found = bench.compare(TRACES[:2], SPECS, gates=gates)
    summary = found.to_frame("summary")
    assert summary.case.isna().all()
    assert len(summary) == len(found.summary)
    verdicts = found.to_frame("verdicts")
    assert list(verdicts.columns) == ["strategy", "gate", "metric", "outcome", "case", "value", "limit", "sentence"]
    assert list(verdicts.outcome) == ["fail", "fail", "skipped", "skipped"]
    assert verdicts.value.dtype == verdicts.limit.dtype == "float64"
    with pytest.raises(BenchError, match=r"to_frame\('verdict'\): no such table — did you mean verdicts"):
        found.to_frame("verdict")


def test_nothing_is_a_frame_without_rows(compared):
    empty = msgspec.structs.replace(compared, rows=(), summary=(), verdicts=())
    for what in ("rows", "summary", "verdicts"):
        table = empty.to_frame(what)
        assert len(table) == 0
        assert list(table.columns) == list(compared.to_frame(what).columns)
        assert list(table.dtypes) == list(compared.to_frame(what).dtypes)


@pytest.mark.parametrize("share", [1.5, -0.1, float("nan"), "95%", True])
def test_a_share_that_is_none_is_refused(share):
    for name in ("max_fault_rate", "min_far_recall"):
        with pytest.raises(SpecError, match=f"`{name}`: .* is no share — write a number from 0 to 1"):
            bench.compare(SMALL, "keep_all", **{name: share})
