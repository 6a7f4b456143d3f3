"""Bounds and gaps are values: a value that is only a bound is judged by its worse end, one that was measured in part is not judged."""

from __future__ import annotations

import json
import math

import msgspec
import pytest
from decided import comparison, only
from hypothesis import given, strategies as st

from bench.comparison.judging import conclude, value_text
from bench.comparison.rows import aggregate, bounds, case_row, summary_row
from bench.evidence.of_run import RunEvidence
from bench.evidence.of_trace import TraceEvidence
from bench.metrics import example, metric_of
from bench.model import MetricInfo, Row, Run, Sample
from bench.reports import rendered
from bench.reports.blocks import measured
from bench.run.verbs import compare

POOLED = MetricInfo(name="probes.recall", unit="fraction", better="higher", aggregate="pooled")
RUN = Run(trace_id="a", trace_sha256="", strategy="s", spec="", encoding="o200k_base", messages={}, message_tokens={})


def info(how):
    return MetricInfo(name="m", unit="fraction" if how == "pooled" else "tokens", better="higher", aggregate=how)


# ---------------------------------------------------------------- from samples to rows


@pytest.mark.parametrize(
    ("how", "samples", "value", "low", "high"),
    [
        ("pooled", [Sample(numerator=3, denominator=4)], 0.75, None, None),
        ("pooled", [Sample(numerator=3, denominator=4, upper_bound=True)], 0.75, 0.0, 0.75),
        ("pooled", [Sample(numerator=3, denominator=4, least=2)], 0.75, 0.5, 0.75),
        ("pooled", [Sample(numerator=3, denominator=4, least=2), Sample(numerator=0, denominator=4)], 0.375, 0.25, 0.375),
        ("pooled", [Sample(numerator=1, denominator=4, most=2)], 0.25, 0.25, 0.5),
        ("pooled", [Sample(numerator=0, denominator=4, upper_bound=True)], 0.0, None, None),
        ("sum", [Sample(numerator=5, least=2), Sample(numerator=1)], 6, 3, 6),
        ("max", [Sample(numerator=5, least=2), Sample(numerator=3)], 5, 3, 5),
    ],
)  # fmt: skip
def test_the_bounds_of_samples(how, samples, value, low, high):
    assert aggregate(info(how), samples)[0] == value
    assert bounds(info(how), samples) == (low, high)
    row = case_row(info(how), RUN, samples)
    assert (row.value, row.low, row.high, row.partly) == (value, low, high, 0)
    assert (row.least, row.most) == (value if low is None else low, value if high is None else high)


def test_an_unmeasured_sample_makes_a_pooled_value_partly_measured_and_a_sum_unknown():
    some = [Sample(numerator=1, denominator=1), Sample(numerator=None, reason="no turn follows")]
    row = case_row(info("pooled"), RUN, some)
    assert (row.value, row.partly) == (1.0, 1)
    assert row.marks == ("1 of 2 not measured",)
    assert row.status == "partly measured: 1 left out"
    total = case_row(info("sum"), RUN, some)
    assert (total.value, total.partly, total.reason) == (None, 0, "no turn follows")
    assert case_row(info("pooled"), RUN, some[1:]).value is None


@pytest.mark.parametrize(
    ("how", "samples", "over_all"),
    [
        ("pooled", [[Sample(numerator=4, denominator=4, least=2)],
                    [Sample(numerator=2, denominator=4), Sample(numerator=None, reason="no")]], (0.75, 0.5, 0.75, 1)),
        ("sum", [[Sample(numerator=2, least=0)], [Sample(numerator=-2, most=0)]], (0.0, -2.0, 2.0, 0)),
    ],
)  # fmt: skip
def test_bounds_and_gaps_go_on_into_the_value_over_all_cases(how, samples, over_all):
    total = summary_row(info(how), "s", [case_row(info(how), RUN, of_case) for of_case in samples])
    assert (total.value, total.low, total.high, total.partly) == over_all


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5), st.integers(0, 3)), min_size=1),
    st.sampled_from(["pooled", "sum", "max"]),
)
def test_a_value_lies_between_its_bounds(numbers, how):
    samples = [
        Sample(numerator=a + b, least=a, most=a + b + c, denominator=float(a + b + c + d)) for a, b, c, d in numbers
    ]
    row = case_row(info(how), RUN, samples)
    if row.value is not None:
        assert row.least <= row.value <= row.most
        exact = case_row(
            info(how), RUN, [msgspec.structs.replace(s, numerator=s.low, least=None, most=None) for s in samples]
        )
        assert math.isclose(row.least, exact.value)


# ---------------------------------------------------------------- in outputs

BOUND = Row(strategy="", metric="", case="", value=0.9, unit="", n=10, low=0.4)
FROM_BELOW = Row(strategy="", metric="", case="", value=0.3, unit="", n=10, high=0.7)
GAP = Row(strategy="", metric="", case="", value=1.0, unit="", n=1, partly=1)


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [(0.0, None, None, "0"), (0.5, 0.0, None, "between 0 and 0.5"), (-1.0, None, 0.0, "between -1 and 0")],
)
def test_nothing_is_told_as_nothing(value, low, high, text):
    row = msgspec.structs.replace(BOUND, value=value, low=low, high=high)
    assert value_text(row) == text


def test_probes_of_which_one_could_not_be_measured_do_not_pass():
    """One of two questions is asked of a result that no model turn follows."""
    probes = [
        {"question": "How many rows?", "expected": 471, "step": 2},
        {"question": "And at the end?", "expected": 471, "step": 3},
    ]
    trace = msgspec.structs.replace(example().trace, labels={"probes": probes})
    whole = compare([trace], ["keep_all"], gates=[{"metric": "probes.recall", "strategy": "keep_all", "min": 1}])
    row = whole.row("keep_all", "probes.recall")
    assert (row.partly, whole.verdicts[0].outcome) == (1, "inconclusive")
    assert conclude([whole]).exit_code == 3


def test_todays_upper_bounds_are_sure_of_nothing():
    """A probe found only as a whole token."""
    evidence = example()
    probes = [{"question": "How many rows?", "expected": 471, "step": 2, "path": "rows"}]
    labelled = TraceEvidence(msgspec.structs.replace(evidence.trace, labels={"probes": probes}))
    (sample,) = metric_of("probes.recall").samples(RunEvidence(labelled, evidence.run))
    assert (sample.numerator, sample.low, sample.high) == (1.0, 0.0, 1.0)


# ---------------------------------------------------------------- in files


def test_files_carry_bounds_and_no_column_is_empty_where_a_value_stands():
    built = comparison(only("needed.recall", s={"a": BOUND, "b": 0.5, "c": GAP, "d": "unmeasured"}))
    document = json.loads(rendered([built], "json", []))
    by_case = {row["case"]: row for row in document["rows"]}
    assert (by_case["a"]["low"], by_case["a"]["high"], by_case["a"]["value"]) == (0.4, 0.9, 0.9)
    assert "low" not in by_case["b"], "an exact value has no bounds"
    assert by_case["c"]["partly"] == 1
    frame = built.to_frame().set_index("case")
    assert list(frame.low)[:3] == [0.4, 0.5, 1.0]
    assert list(frame.high)[:3] == [0.9, 0.5, 1.0]
    assert list(frame.status) == ["bounds", "exact", "partly measured: 1 left out", "no price"]
    lines = rendered([built], "csv", []).splitlines()
    assert lines[0].endswith(",value,low,high,unit,n,status")
    assert lines[1].endswith(",0.9,0.4,0.9,fraction,10,bounds")
    measured_rows = frame[frame.value.notna()]
    assert measured_rows.notna().all().all()


def test_a_cell_says_that_it_is_a_bound():
    assert measured(BOUND).text.startswith("≤ ")
    assert measured(FROM_BELOW).text.startswith("≥ ")
    assert "left out" in measured(GAP).note
