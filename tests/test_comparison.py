"""Pairs: the difference, how sure it is, what is not called a win, and what refuses to be compared."""

from __future__ import annotations

import msgspec
import pytest
from handmade import SMALL, opened, result, shell
from hypothesis import given, strategies as st

import bench
from bench.comparison.pairs import deltas, frame, require_comparable
from bench.errors import BenchError, ResultsError, SpecError
from bench.model import MetricInfo, ModelTurn, Row, Signature

LOWER = MetricInfo(name="m", unit="tokens", better="lower", aggregate="sum")
HIGHER = MetricInfo(name="m", unit="fraction", better="higher", aggregate="pooled")
MOST = MetricInfo(name="m", unit="tokens", better="lower", aggregate="max")


def rows(**values):
    """One row a value; the n of each is 2."""
    return [
        Row(strategy=name, metric="m", case=f"case {at}", value=value, unit="x", n=2)
        for name, of_cases in values.items()
        for at, value in enumerate(of_cases)
    ]


def delta(info, ours, theirs, seed=0):
    (found,) = deltas({"m": info}, rows(s=ours, r=theirs), ["s", "r"], "r", seed)
    return found


def test_the_difference_of_sums_with_its_interval():
    found = delta(LOWER, [10, 20, 30], [20, 40, 60])
    assert (found.delta, found.relative, found.n, found.better) == (-60, -0.5, 3, True)
    assert found.low <= found.delta <= found.high < 0
    assert found.relative_low == found.relative_high == -0.5
    assert (found.strategy, found.reference, found.metric, found.reason) == ("s", "r", "m", None)


@pytest.mark.parametrize(("info", "better"), [(LOWER, False), (HIGHER, True), (MOST, False)])
def test_what_is_better_is_the_metrics_to_say(info, better):
    assert delta(info, [0.8, 0.9, 0.7], [0.4, 0.5, 0.3]).better is better


@pytest.mark.parametrize(
    ("ours", "theirs", "says"),
    [
        ([5, 7], [5, 7], "no difference above the noise floor"),
        ([10_000, 20_000], [10_001, 20_001], "no difference above the noise floor"),
        ([10], [20], "one case: no interval"),
        ([10, 40, 10, 40], [20, 20, 20, 35], "the interval holds zero"),
        ([None, 3], [4, None], "no case was measured for both"),
    ],
)
def test_what_is_not_called_a_win(ours, theirs, says):
    found = delta(LOWER, ours, theirs)
    assert (found.better, found.reason) == (None, says)


def test_only_cases_that_both_measured_are_paired():
    found = delta(LOWER, [10, None, 30], [20, 1000, 60])
    assert (found.delta, found.n) == (-40, 2)
    assert delta(LOWER, [], []).n == 0
    assert delta(LOWER, [], []).delta is None


def test_against_zero_there_is_no_relative_difference():
    found = delta(LOWER, [5, 6], [0, 0])
    assert (found.delta, found.relative, found.relative_low, found.better) == (11, None, None, False)


def test_the_reference_is_not_compared_with_itself():
    assert deltas({"m": LOWER}, rows(r=[1, 2]), ["r"], "r", 0) == ()


numbers = st.lists(st.integers(0, 1000), min_size=2, max_size=8)


@given(numbers, st.integers(0, 5))
def test_the_same_seed_gives_the_same_interval_and_a_constant_difference_has_no_spread(ours, seed):
    theirs = [value + 10 for value in ours]
    found = delta(LOWER, ours, theirs, seed)
    assert found == delta(LOWER, ours, theirs, seed)
    assert found.low == found.high == found.delta == -10 * len(ours)
    assert found.better is True


# ---------------------------------------------------------------- signatures

SIGNED = Signature(
    bench_version="0.1.0", traces={"a": "1" * 64}, strategies={"s": "s"}, encodings=("o200k_base",), facts_version="1",
    prices_date="p", seed=0,
)  # fmt: skip


def test_strategies_and_the_set_of_cases_may_differ():
    other = msgspec.structs.replace(SIGNED, strategies={"t": "t"}, traces={"a": "1" * 64, "b": "2" * 64})
    require_comparable(SIGNED, other)
    require_comparable(other, SIGNED)


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("bench_version", "0.2.0", "bench version differs (0.1.0 against 0.2.0)"),
        ("encodings", ("cl100k_base",), "token encodings differs (o200k_base against cl100k_base)"),
        ("facts_version", "2", "fact pattern differs"),
        ("prices_date", "q", "price tables differs"),
        ("seed", 1, "seed differs (0 against 1)"),
        ("traces", {"a": "2" * 64}, "case a is another recording under the same name"),
    ],
)
def test_anything_else_that_differs_is_refused(field, value, says):
    with pytest.raises(ResultsError) as caught:
        require_comparable(SIGNED, msgspec.structs.replace(SIGNED, **{field: value}))
    assert str(caught.value).startswith("not comparable: ")
    assert says in str(caught.value)


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
    assert compared.references == bench.REFERENCES
    assert compared.cases == ("one", "three", "two")
    assert {row.strategy for row in compared.rows} == {"mask", "cut", *bench.REFERENCES}
    assert len(compared.rows) == 7 * 3 * len(compared.metrics)
    assert len(compared.summary) == 7 * len(compared.metrics)


def test_a_declared_reference_is_not_added_again():
    compared = bench.compare(TRACES[:1], ["keep_all"])
    assert compared.strategies == ("keep_all",)
    assert compared.references == tuple(name for name in bench.REFERENCES if name != "keep_all")


def test_the_order_of_cases_changes_nothing(compared):
    shuffled = bench.compare(TRACES[::-1], SPECS)
    assert shuffled.summary == compared.summary
    assert shuffled.rows == compared.rows
    assert shuffled.deltas == compared.deltas
    assert shuffled.signature == compared.signature


def test_comparing_twice_gives_the_same_bytes(compared):
    again = bench.compare(TRACES, SPECS)
    for part in ("rows", "summary", "deltas", "signature"):
        assert msgspec.json.encode(getattr(again, part)) == msgspec.json.encode(getattr(compared, part))


def test_progress_counts_every_replay():
    seen = []
    bench.compare(TRACES[:2], ["keep_all"], progress=lambda done, total: seen.append((done, total)))
    assert seen == [(number, 10) for number in range(1, 11)]


@pytest.mark.parametrize(
    ("traces", "strategies", "error", "says"),
    [
        ([], ["keep_all"], BenchError, "no traces to replay"),
        (TRACES, ["a=store=full", "a=store=truncate"], SpecError, "two strategies are called 'a'"),
        (TRACES, ["keep_all=store=full"], SpecError, "belongs to a reference strategy"),
        (TRACES, ["floor="], SpecError, "belongs to a reference strategy"),
        (TRACES, ["nonsense"], SpecError, "unknown strategy"),
    ],
)
def test_what_cannot_be_compared(traces, strategies, error, says):
    with pytest.raises(error, match=says):
        bench.compare(traces, strategies)


def test_a_failed_case_has_rows_with_the_reason(tmp_path):
    (tmp_path / "mine.py").write_text("def boom(result):\n    raise ValueError('no')\n")
    compared = bench.compare(TRACES[:1], ["bad=store=mine.py:boom"], base=tmp_path)
    mine = [row for row in compared.rows if row.strategy == "bad"]
    assert mine
    assert {row.value for row in mine} == {None}
    assert {row.reason for row in mine} == {"strategy raised in store at step 3: ValueError: no"}


def test_a_private_file_is_part_of_the_signature(tmp_path):
    (tmp_path / "mine.py").write_text("def keep(result):\n    return 'kept'\n")
    signature = bench.compare(TRACES[:1], ["own=store=mine.py:keep"], base=tmp_path).signature
    assert list(signature.code) == ["mine.py:keep"]
    assert bench.compare(TRACES[:1], SPECS).signature.code == {}


def test_the_rows_as_a_frame(compared):
    table = frame(compared)
    assert list(table.columns) == ["strategy", "metric", "case", "value", "unit", "n", "reason"]
    assert len(table) == len(compared.rows)
    tokens = table[(table.strategy == "keep_all") & (table.metric == "cost.prompt_tokens")]
    assert tokens.value.sum() == compared.row("keep_all", "cost.prompt_tokens").value


def test_a_trace_with_nothing_in_it_is_measured_as_nothing():
    compared = bench.compare([SMALL["empty"]], ["keep_all"])
    assert all(row.value is None for row in compared.summary if row.metric == "needed.recall")
