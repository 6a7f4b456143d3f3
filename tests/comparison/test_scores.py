"""Samples into rows: what adds up how, what is unknown, and that nothing is left out because it is missing."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from bench.comparison.rows import (
    NOTHING,
    aggregate,
    case_row,
    combine,
    failure_reason,
    row_of,
    summarized,
    summary_row,
)
from bench.model import Columns, Failure, MetricInfo, Row, Run, Sample

AGGREGATES = ("sum", "max", "pooled")


def info(how, name="m", unit="fraction"):
    return MetricInfo(name=name, unit=unit, better="higher", aggregate=how)


def run(case="a", strategy="s", failure=None, **fields):
    return Run(trace_id=case, trace_sha256="", strategy=strategy, spec="", encoding="o200k_base", messages={},
               message_tokens={}, failure=failure, **fields)  # fmt: skip


def samples(*pairs, reason="no reason"):
    return [
        Sample(numerator=top, denominator=bottom, reason=reason if top is None else None)
        for top, bottom in (pair if isinstance(pair, tuple) else (pair, None) for pair in pairs)
    ]


@pytest.mark.parametrize(
    ("how", "given_samples", "value", "n"),
    [
        ("sum", samples(1, 2, 3), 6, 3),
        ("max", samples(1, 3, 2), 3, 3),
        ("pooled", samples((1, 2), (2, 2)), 0.75, 4),
        ("pooled", samples((0, 3), (0, 1)), 0.0, 4),
        ("sum", samples(0), 0, 1),
        ("max", samples(-2, -3), -2, 2),
        ("sum", [], None, 0),
        ("max", [], None, 0),
        ("pooled", [], None, 0),
        ("pooled", samples((0, 0)), None, 0),  # nothing to keep is not a perfect score
        ("sum", samples(1, None), None, 0),  # a sum without one of its parts would pass for less
        ("max", samples(1, None), None, 0),
        ("pooled", samples((1, 2), (None, 2)), 0.5, 2),
        ("sum", samples(None), None, 0),
    ],
)
def test_how_samples_add_up(how, given_samples, value, n):
    assert aggregate(info(how), given_samples) == (value, n)


def test_the_row_of_a_case_says_why_it_has_no_value():
    measured = case_row(info("sum"), run(), samples(2, 3))
    assert (measured.value, measured.n, measured.reason, measured.case, measured.strategy) == (5, 2, None, "a", "s")
    assert case_row(info("sum"), run(), []).reason == NOTHING
    assert case_row(info("sum"), run(), samples(None, reason="no price")).reason == "no price"
    several = [Sample(numerator=1, reason="of another"), Sample(numerator=None), *samples(None, reason="no price")]
    assert case_row(info("sum"), run(), several).reason == "no price", "of the first that is not measured and says why"
    broken = run(failure=Failure(step=3, slot="store", error="ValueError: x"))
    row = case_row(info("sum"), broken, samples(1))
    assert (row.value, row.reason) == (None, "strategy raised in store at step 3: ValueError: x")
    assert failure_reason(run()) is None


def test_marks_say_what_a_value_leans_on():
    assumed = run(encoding_assumed=True)
    assert case_row(info("sum", unit="tokens"), assumed, samples(1)).marks == (
        "tokens counted with o200k_base: the model's own encoding is not known",
    )
    assert case_row(info("sum", unit="fraction"), assumed, samples(1)).marks == ()
    bound = [Sample(numerator=1, denominator=1, upper_bound=True)]
    assert "upper bound" in case_row(info("pooled"), run(), bound).marks[0]
    assert case_row(info("pooled"), run(), samples((1, 1), (None, 1))).marks == ("1 of 2 not measured",)


def test_the_row_over_all_cases():
    rows = [case_row(info("pooled"), run(case), samples(pair)) for case, pair in (("a", (1, 2)), ("b", (9, 10)))]
    total = summary_row(info("pooled"), "s", rows)
    assert (total.case, total.value, total.n, total.reason) == (None, 10 / 12, 12, None)
    assert summary_row(info("pooled"), "s", []).reason == NOTHING


def test_a_case_with_nothing_to_measure_is_left_out_and_one_that_could_not_be_makes_the_whole_unknown():
    nothing = case_row(info("sum"), run("a"), [])
    unknown = case_row(info("sum"), run("b"), samples(None, reason="no price"))
    known = case_row(info("sum"), run("c"), samples(5))
    assert summary_row(info("sum"), "s", [nothing, known]).value == 5
    total = summary_row(info("sum"), "s", [nothing, unknown, known])
    assert (total.value, total.n) == (None, 0)
    assert total.reason == "1 of 3 cases not measured: b: no price"


@pytest.mark.parametrize("how", AGGREGATES)
def test_no_cases_have_no_value(how):
    assert combine(info(how), []) is None


cases = st.lists(
    st.lists(st.tuples(st.integers(0, 50), st.integers(1, 50)), min_size=1, max_size=4), min_size=1, max_size=6
)


@given(cases, st.sampled_from(AGGREGATES), st.randoms(use_true_random=False))
def test_adding_up_by_case_is_adding_up_everything_and_the_order_of_cases_changes_nothing(groups, how, random):
    declared = info(how)
    rows = [
        case_row(declared, run(f"case {number}"), samples(*[(min(a, b), b) for a, b in group]))
        for number, group in enumerate(groups)
    ]
    everything = [sample for group in groups for sample in samples(*[(min(a, b), b) for a, b in group])]
    total = summary_row(declared, "s", rows)
    value, n = aggregate(declared, everything)
    assert math.isclose(total.value, value, rel_tol=1e-12)
    assert total.n == n
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert summary_row(declared, "s", shuffled) == total


def test_every_row_is_there_in_one_order_whichever_case_is_done_first():
    infos = {"m1": info("sum", "m1"), "m2": info("pooled", "m2")}
    found = {("s", "m1", "a"): samples(1), ("t", "m2", "b"): samples((1, 2))}

    def case(name):
        return [
            case_row(item, run(name, strategy), found.get((strategy, item.name, name), ()))
            for strategy in ("s", "t")
            for item in infos.values()
        ]

    rows = Columns([*case("b"), *case("a")])
    assert {(row.strategy, row.metric, row.case): row for row in rows} == {
        (row.strategy, row.metric, row.case): row for row in [*case("a"), *case("b")]
    }
    assert [(row.strategy, row.metric, row.case) for row in rows] == [
        (strategy, metric, case) for strategy in ("s", "t") for metric in ("m1", "m2") for case in ("a", "b")
    ]
    assert [(row.strategy, row.metric, row.value) for row in summarized(rows, infos)] == [
        ("s", "m1", 1), ("s", "m2", None), ("t", "m1", None), ("t", "m2", 0.5)
    ]  # fmt: skip
    assert sum(row.reason == NOTHING for row in rows) == 6


def test_a_case_that_could_not_be_measured_at_all_makes_the_whole_unknown():
    lost = row_of(info("sum"), "s", "a", reason="the process died")
    assert (lost.value, lost.case, lost.reason) == (None, "a", "the process died")
    total = summary_row(info("sum"), "s", [lost, case_row(info("sum"), run("b"), samples(5))])
    assert (total.value, total.reason) == (None, "1 of 2 cases not measured: a: the process died")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_finite_number_is_not_measured(value):
    row = Row(strategy="s", metric="m", case="a", value=value, unit="x", n=1)
    assert (row.finite, row.why) == (None, f"{value} is no finite number")
    known = Row(strategy="s", metric="m", case="a", value=0.0, unit="x", n=1)
    assert (known.finite, known.why) == (0.0, None)
