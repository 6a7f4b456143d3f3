"""Gates: every outcome and every exit code, and that nothing which is missing ever passes."""

from __future__ import annotations

import math

import msgspec
import pytest
from decided import (
    BROKEN,
    UNMEASURED,
    accepted_values,
    against,
    comparison,
    judged_again,
    one,
    only,
    outcomes,
)
from handmade import opened, shell
from hypothesis import given, strategies as st

import bench
from bench.comparison.accepting import baseline_of
from bench.comparison.gates.regression import ROUNDING
from bench.comparison.judging import check, conclude
from bench.comparison.rows import NOTHING
from bench.model import Against, Baseline, Loss, Losses, Row

RECALL, COST = "needed.recall", "cost.prompt_tokens"
AT_LEAST, WORST = {"min": 0.5}, {"min": 0.5, "over": "worst_case"}
DROP, GROW = {"max_drop": 0.1}, {"max_increase": "10%"}


def verdict_of(values, table, metric=RECALL, **fields):
    (verdict,) = one(metric, values, table, **fields).verdicts
    return verdict


# ---------------------------------------------------------------- absolute limits


@pytest.mark.parametrize(
    ("table", "values", "outcome"),
    [
        (AT_LEAST, {"a": 0.4, "b": 0.7}, "pass"),
        (AT_LEAST, {"a": 0.5}, "pass"),
        (AT_LEAST, {"a": math.nextafter(0.5, 0)}, "pass"),
        (AT_LEAST, {"a": 0.5 - 1e-6}, "fail"),
        (WORST, {"a": 0.4, "b": 0.9}, "fail"),
        (WORST, {"a": 0.5, "b": 0.9}, "pass"),
        ({"max": 0.5}, {"a": 0.6}, "fail"),
        ({"max": 0.5}, {"a": 0.5}, "pass"),
        ({"min": 0.2, "max": 0.5}, {"a": 0.1}, "fail"),
        ({"min": 0.2, "max": 0.5}, {"a": 0.6}, "fail"),
        ({"min": 0.2, "max": 0.5}, {"a": 0.3}, "pass"),
        (AT_LEAST, {"a": 0.0}, "fail"),  # nothing is a value like any other
        ({"max": 0.5, "over": "worst_case"}, {"a": 0.0, "b": 0.4}, "pass"),
        (AT_LEAST, {"a": UNMEASURED}, "inconclusive"),
        (AT_LEAST, {"a": None}, "inconclusive"),
        (AT_LEAST, {"a": math.nan}, "inconclusive"),
        (WORST, {"a": math.inf}, "inconclusive"),
        (AT_LEAST, {"a": 0.9, "b": UNMEASURED}, "inconclusive"),
        (AT_LEAST, {"a": 0.9, "b": None}, "pass"),  # a case with nothing to measure says nothing
        (WORST, {"a": 0.9, "b": None}, "pass"),
        (WORST, {"a": 0.9, "b": UNMEASURED}, "inconclusive"),
        (WORST, {"a": 0.1, "b": UNMEASURED}, "fail"),  # what is known is enough to fail
        (WORST, {"a": None, "b": None}, "inconclusive"),
        (AT_LEAST, {"a": 0.9, "b": BROKEN}, "fail"),
        (WORST, {"a": BROKEN, "b": UNMEASURED}, "fail"),
    ],
)
def test_a_limit(table, values, outcome):
    assert outcomes(one(RECALL, values, table)) == [outcome]


def test_a_verdict_names_strategy_metric_value_limit_and_case():
    verdict = verdict_of({"a": 0.4, "b": 0.9}, WORST)
    said = (verdict.strategy, verdict.metric, verdict.case, verdict.value, verdict.limit)
    assert said == ("s", RECALL, "a", 0.4, 0.5)
    assert verdict.sentence == "s: needed.recall is 0.4 on a, the limit is ≥ 0.5"
    assert "store at step 3: ValueError: no" in verdict_of({"a": BROKEN}, AT_LEAST).sentence
    assert "no price" in verdict_of({"a": UNMEASURED}, AT_LEAST).sentence


@pytest.mark.parametrize(
    ("pattern", "judged"),
    [
        ("*", [("one", "fail"), ("two", "pass")]),  # references are brackets, not candidates
        ("t*", [("two", "pass")]),
        ("recorded", [("recorded", "fail")]),  # unless a rule names them
        ("rec*", [("recorded", "fail")]),
    ],
)
def test_a_rule_is_judged_for_every_strategy_it_names(pattern, judged):
    values = only(RECALL, one={"a": 0.4}, two={"a": 0.9}, keep_all={"a": 1.0}, recorded={"a": 0.1})
    built = comparison(values, {"metric": RECALL, "min": 0.5, "strategy": pattern})
    assert [(verdict.strategy, verdict.outcome) for verdict in built.verdicts] == judged


@pytest.mark.parametrize(
    ("table", "values", "limit", "ends"),
    [
        ({"min": 0.05, "max": 0.4}, {"a": 0.1, "b": 0.9}, 0.4, "the limit is ≥ 0.05 and ≤ 0.4; worst on b (0.9)"),
        ({"max": 0.4}, {"a": 0.1, "b": 0.9}, 0.4, "; worst on b (0.9)"),
        ({"min": 0.6, "max": 0.95}, {"a": 0.1, "b": 0.9}, 0.6, "; worst on a (0.1)"),
        ({"min": 0.6}, {"a": 0.0, "b": 0.9}, 0.6, "; worst on a (0)"),
        ({"min": -1, "max": 0.1}, {"a": 0.0, "b": 0.9}, 0.1, "; worst on b (0.9)"),
        ({"min": 0.6, "max": 0.9, "over": "worst_case"}, {"a": 0.0}, 0.6, "is 0 on a, the limit is ≥ 0.6 and ≤ 0.9"),
        ({"min": -0.3, "max": 0.5}, {"a": 0.0}, -0.3, "within ≥ -0.3 and ≤ 0.5"),  # the nearer one is named
        ({"min": -0.5, "max": 0.3}, {"a": 0.0}, 0.3, "within ≥ -0.5 and ≤ 0.3"),
        ({"min": -0.3, "max": 0.3}, {"a": 0.0}, -0.3, "within ≥ -0.3 and ≤ 0.3"),
    ],
)
def test_of_two_limits_one_is_named_and_the_case_that_is_to_blame(table, values, limit, ends):
    verdict = verdict_of(values, table)
    assert verdict.limit == limit
    assert verdict.sentence.endswith(ends)


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"min": 0.5}, "needed.recall ≥ 0.5"),
        ({"min": 0.2, "max": 0.5}, "needed.recall ≥ 0.2 and ≤ 0.5"),
        ({"max": 0.5, "over": "worst_case"}, "needed.recall ≤ 0.5 (worst case)"),
        ({"max_drop": 0.1}, "needed.recall drop ≤ 0.1"),
        ({"max_increase": "2%"}, "needed.recall increase ≤ 2%"),
        ({"max_drop": "2%", "over": "worst_case"}, "needed.recall drop ≤ 2% (worst case)"),
    ],
)
def test_a_gate_is_called_by_what_it_asks(settings, name):
    assert verdict_of({"a": 0.9}, settings).gate == name


# ---------------------------------------------------------------- against a baseline


def since(before, now, table, metric=RECALL, **fields):
    """The comparison of now held against values of before."""
    return one(metric, now, table, against=against(one(metric, before, table), **fields))


@pytest.mark.parametrize(
    ("table", "metric", "before", "now", "outcome"),
    [
        (DROP, RECALL, {"a": 0.9}, {"a": 0.9}, "pass"),
        (DROP, RECALL, {"a": 0.9}, {"a": 0.8}, "pass"),  # the limit itself, whatever the last bit of a float says
        (DROP, RECALL, {"a": 0.9}, {"a": 0.79}, "fail"),
        (DROP, RECALL, {"a": 0.5}, {"a": 1.0}, "pass"),
        (GROW, COST, {"a": 100}, {"a": 110}, "pass"),
        (GROW, COST, {"a": 100}, {"a": 110.2}, "fail"),
        (GROW, COST, {"a": 0}, {"a": 1}, "fail"),
        (GROW, COST, {"a": 0}, {"a": 0}, "pass"),
        (GROW, COST, {"a": 100, "b": 100}, {"a": 130, "b": 80}, "pass"),  # 210 of 200
        ({**GROW, "over": "worst_case"}, COST, {"a": 100, "b": 100}, {"a": 130, "b": 80}, "fail"),
        ({"max_increase": 5}, COST, {"a": 100}, {"a": 106}, "fail"),
        ({"max_increase": "29%"}, COST, {"a": 11_400}, {"a": 14_706}, "pass"),  # 0.29 * 11400 is a little less
        ({"max_increase": "29%"}, COST, {"a": 11_400}, {"a": 14_707}, "fail"),
        *(
            ({"max_increase": 0}, COST, {"a": size}, {"a": size + by * ROUNDING}, outcome)
            for size, by, outcome in ((1.0, 0.5, "pass"), (1.0, 1.5, "fail"), (0.1, 0.5, "pass"), (0.1, 1.5, "fail"),
                                      (8.0, 7.0, "pass"), (8.0, 9.0, "fail"))
        ),
        ({"max_drop": "50%"}, COST, {"a": 100}, {"a": 49}, "fail"),
        (DROP, RECALL, {"a": 0.9}, {"a": UNMEASURED}, "inconclusive"),
        (DROP, RECALL, {"a": 0.9}, {"a": None}, "inconclusive"),
        (DROP, RECALL, {"a": None}, {"a": 0.9}, "inconclusive"),
        (DROP, RECALL, {"a": None}, {"a": None}, "inconclusive"),
        (DROP, RECALL, {"a": 0.9}, {"a": BROKEN}, "fail"),
    ],
)  # fmt: skip
def test_a_change_since_the_baseline(table, metric, before, now, outcome):
    assert outcomes(since(before, now, table, metric)) == [outcome]


def test_a_baseline_keeps_the_versions_of_the_metrics_that_it_is_about():
    built = one(RECALL, {"a": 0.9}, DROP)
    signature = msgspec.structs.replace(built.signature, metrics={RECALL: "1", COST: "2"})
    assert baseline_of(msgspec.structs.replace(built, signature=signature)).signature.metrics == {RECALL: "1"}


def test_without_a_baseline_a_relative_gate_is_skipped_and_says_how_to_accept_one():
    built = one(RECALL, {"a": 0.9}, DROP)
    assert outcomes(built) == ["skipped"]
    assert "--update-baseline" in built.verdicts[0].sentence
    assert conclude([built]).exit_code == 0
    assert outcomes(one(RECALL, {"a": BROKEN}, DROP)) == ["fail"]
    empty = Against(baseline=Baseline(signature=built.signature, rows={}))
    assert outcomes(one(RECALL, {"a": 0.9}, DROP, against=empty)) == ["inconclusive"], "an empty one is one"


def test_a_stale_metric_is_inconclusive_with_the_reason_and_no_other_is():
    stale = since({"a": 0.9}, {"a": 0.1}, DROP, stale={RECALL: "the pattern of facts changed"})
    assert outcomes(stale) == ["inconclusive"]
    assert "the baseline is stale for needed.recall: the pattern of facts changed" in stale.verdicts[0].sentence
    assert outcomes(since({"a": 0.9}, {"a": 0.1}, DROP, stale={"loss.lost.end": "it is counted otherwise"})) == ["fail"]


def test_a_strategy_or_metric_that_only_one_side_has_is_inconclusive():
    drop, grow = {"metric": RECALL, **DROP}, {"metric": COST, **GROW}
    then = comparison(only(RECALL, s={"a": 0.9}, gone={"a": 0.9}), drop)
    now = comparison(only(RECALL, s={"a": 0.9}, new={"a": 0.9}), drop, against=against(then))
    found = {verdict.strategy: verdict.outcome for verdict in now.verdicts}
    assert found == {"s": "pass", "new": "inconclusive", "gone": "inconclusive"}
    for name, said in (("s", "has no cost.prompt_tokens — accept"), ("t", "tokens: strategy t is new — accept")):
        other = comparison(only(COST, **{name: {"a": 5}}), grow, against=against(then))
        (verdict,) = [verdict for verdict in other.verdicts if verdict.strategy == name]
        assert verdict.outcome == "inconclusive"
        assert said in verdict.sentence


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 1) | st.none() | st.just(UNMEASURED), min_size=1),
    st.sampled_from([0, 0.01, "0%", "2%"]),
    st.sampled_from(["all", "worst_case"]),
    st.booleans(),
)
def test_a_comparison_never_fails_against_itself(values, limit, over, rising):
    limits = {"max_increase": limit} if rising else {"max_drop": limit}
    measured = [value for value in values.values() if isinstance(value, float)]
    holds = measured and not (UNMEASURED in values.values() and over == "all")
    assert outcomes(since(values, values, {**limits, "over": over})) == ["pass" if holds else "inconclusive"]


def test_a_replayed_comparison_passes_against_its_own_baseline():
    traces = [opened(shell(4, start=2), id="one"), opened(shell(7, start=2), id="two")]
    metrics = (COST, RECALL, "loss.fact_recall.end", "cost.peak_prompt_tokens")
    gates = [{"metric": name, "max_increase": 0} for name in metrics if name.startswith("cost")]
    gates += [{"metric": name, "max_drop": "0%"} for name in metrics if not name.startswith("cost")]
    gates += [{**gate, "over": "worst_case"} for gate in gates]
    first = bench.compare(traces, ["mask=compactor=mask_observations:keep_last=2"], gates=gates)
    assert {verdict.outcome for verdict in first.verdicts} == {"skipped"}
    again = bench.compare(traces[::-1], ["mask=compactor=mask_observations:keep_last=2"], gates=gates)
    accepted = msgspec.structs.replace(again, against=Against(baseline=baseline_of(first)))
    assert [verdict.outcome for verdict in bench.check(accepted)] == ["pass"] * len(gates)


def test_a_gate_on_what_was_not_measured_puts_nothing_into_the_baseline():
    found = baseline_of(one(RECALL, {"a": 0.5}, DROP, {"metric": "probes.recall", **DROP}))
    assert {name: set(metrics) for name, metrics in found.rows.items()} == {"s": {RECALL}}
    assert accepted_values(found, "s", RECALL) == {"": 0.5, "a": 0.5}


# ---------------------------------------------------------------- exit codes

PASSED = one(RECALL, {"a": 0.9}, AT_LEAST)
FAILED = one(RECALL, {"a": 0.1}, AT_LEAST)
UNDECIDED = judged_again(one(RECALL, {"a": 0.9, "b": UNMEASURED}, WORST), summary=PASSED.summary)
"""One measured summary beside an inconclusive gate: two metrics would do the same."""
SKIPPED = one(RECALL, {"a": 0.9}, DROP)
UNGATED = one(RECALL, {"a": 0.9})
NOTHING_MEASURED = one(RECALL, {"a": None})
ALL_RAISED = one(RECALL, {"a": BROKEN})


@pytest.mark.parametrize(
    ("several", "code", "allowed"),
    [
        ([PASSED], 0, 0),
        ([UNGATED], 0, 0),
        ([SKIPPED], 0, 0),
        ([FAILED], 1, 1),
        ([UNDECIDED], 3, 0),
        ([NOTHING_MEASURED], 3, 3),
        ([one(RECALL, {"a": None}, AT_LEAST)], 3, 3),
        ([ALL_RAISED], 3, 3),
        ([], 3, 3),
        ([PASSED, FAILED], 1, 1),
        ([FAILED, UNDECIDED], 1, 1),
        ([FAILED, NOTHING_MEASURED], 1, 1),
        ([PASSED, UNDECIDED], 3, 0),
        ([PASSED, NOTHING_MEASURED], 3, 3),
        ([PASSED, SKIPPED, UNGATED], 0, 0),
    ],
)
def test_the_exit_code(several, code, allowed):
    assert conclude(several).exit_code == code
    assert f"(exit {code})" in conclude(several).sentence
    assert conclude([msgspec.structs.replace(item, allow_inconclusive=True) for item in several]).exit_code == allowed


def test_the_closing_sentence_counts():
    sentence = conclude([PASSED, FAILED, UNDECIDED, SKIPPED]).sentence
    for part in ("1 fail", "1 inconclusive", "1 pass", "1 skipped", "a gate failed"):
        assert part in sentence
    assert "no gates declared" in conclude([UNGATED]).sentence
    allowing = msgspec.structs.replace(UNDECIDED, allow_inconclusive=True)
    assert conclude([allowing, UNDECIDED]).exit_code == 3, "each allows for itself alone"


def test_references_alone_measure_nothing():
    built = comparison(only(RECALL, s={"a": None}, keep_all={"a": 1.0}))
    assert conclude([built]).exit_code == 3
    assert built.row("s", RECALL).reason == NOTHING


def test_a_recording_that_cannot_be_read_leaves_the_whole_undecided():
    """It may have held the case that fails."""
    skipped = (("runs/a.jsonl", "line 1: not JSON"), ("runs/b.jsonl", "is empty"), ("NOTES", "not recognised"))
    damaged = {"skipped": skipped, "damaged": ("runs/a.jsonl", "runs/b.jsonl")}
    built = one(RECALL, {"a": 0.9}, AT_LEAST, **damaged)
    assert outcomes(built) == ["pass", "inconclusive"]
    said = "runs/a.jsonl cannot be read, and no gate knows its cases: line 1: not JSON (and 1 file more)"
    assert built.verdicts[1].sentence == said
    assert conclude([built]).exit_code == 3
    assert conclude([judged_again(built, allow_inconclusive=True)]).exit_code == 0
    assert conclude([judged_again(built, rules=())]).exit_code == 0, "without gates there is nothing to decide"
    assert outcomes(judged_again(built, damaged=())) == ["pass"]
    assert conclude([one(RECALL, {"a": 0.1}, AT_LEAST, **damaged)]).exit_code == 1


def test_no_number_of_an_unstable_strategy_decides_but_who_raised_fails():
    def unstable(built, on):
        runs = {
            case.id: msgspec.structs.replace(case.runs["s"], unstable_at=3) for case in built.cases if case.id == on
        }
        cases = (msgspec.structs.replace(case, runs={"s": runs.get(case.id, case.runs["s"])}) for case in built.cases)
        return outcomes(judged_again(built, cases=tuple(cases)))

    assert unstable(one(RECALL, {"a": 0.9}, AT_LEAST), "a") == ["inconclusive"]
    assert unstable(one(RECALL, {"a": BROKEN, "b": 0.9}, AT_LEAST), "b") == ["fail"]


# ---------------------------------------------------------------- what was dropped


def loss(step, *facts):
    return Loss(step=step, function="grep", facts=facts, count=len(facts))


def lossy(names, *losses, table=WORST, **fields):
    """A comparison that fails on case `a`, where each of the strategies lost the same."""
    built = comparison(only(RECALL, **{name: {"a": 0.1, "b": 0.9} for name in names}), {"metric": RECALL, **table})
    kept = tuple(Losses(strategy=name, metric=RECALL, worst=losses, places=len(losses) + 5) for name in names)
    cases = (msgspec.structs.replace(built.cases[0], losses=kept), built.cases[1])
    return msgspec.structs.replace(built, cases=cases, verdicts=(), **fields)


def test_a_failed_gate_says_what_was_dropped_on_its_worst_case():
    (verdict,) = check(lossy(["s"], loss(4, "471"), loss(6, "a.csv")))
    assert (verdict.case, verdict.losses, verdict.losses_total) == ("a", (loss(4, "471"), loss(6, "a.csv")), 7)
    (verdict,) = check(lossy(["s"], loss(4, "471"), table={"min": 0.95}))
    assert (verdict.case, verdict.losses) == (None, (loss(4, "471"),)), "over all cases the worst one is blamed"
    assert "worst on a (0.1)" in verdict.sentence
    (verdict,) = check(lossy(["s"], loss(4, "471"), table={"min": 0.05}))
    assert (verdict.outcome, verdict.losses, verdict.losses_total) == ("pass", (), 0)


def test_what_the_earlier_self_lost_too_is_left_out():
    built = lossy(["s", "s@1"], loss(4, "471"), strategies=("s",), references=("s@1",))
    of_now = Losses(strategy="s", metric=RECALL, worst=(loss(4, "471"), loss(6, "new")), places=2)
    first = msgspec.structs.replace(built.cases[0], losses=(of_now, built.cases[0].losses[1]))
    built = msgspec.structs.replace(built, cases=(first, built.cases[1]), against=Against(before={"s": "s@1"}))
    (verdict,) = check(built)
    assert (verdict.losses, verdict.losses_total) == ((loss(6, "new"),), 1)


# ---------------------------------------------------------------- bounds and gaps

BOUND = Row(strategy="", metric="", case="", value=0.9, unit="", n=10, low=0.4)
FROM_BELOW = Row(strategy="", metric="", case="", value=0.3, unit="", n=10, high=0.7)
GAP = Row(strategy="", metric="", case="", value=1.0, unit="", n=1, partly=1)
MISSED_AND_GAP = Row(strategy="", metric="", case="", value=0.5, unit="", n=2, partly=1)


@pytest.mark.parametrize("over", ["all", "worst_case"])
@pytest.mark.parametrize(
    ("limits", "row", "outcome"),
    [
        ({"min": 0.5}, BOUND, "fail"),  # it may be 0.4
        ({"min": 0.4}, BOUND, "pass"),
        ({"max": 0.8}, BOUND, "fail"),  # it may be 0.9
        ({"max": 0.9}, BOUND, "pass"),
        ({"min": 0.3}, FROM_BELOW, "pass"),
        ({"max": 0.5}, FROM_BELOW, "fail"),  # it may be 0.7
        ({"min": 0.5}, GAP, "inconclusive"),
        ({"min": 1}, GAP, "inconclusive"),
        ({"max": 1}, GAP, "inconclusive"),
        ({"min": 1}, MISSED_AND_GAP, "fail"),  # whatever the rest is, it is not whole
        ({"min": 0.9}, MISSED_AND_GAP, "inconclusive"),
        ({"max": 0}, MISSED_AND_GAP, "fail"),
    ],
)
def test_a_limit_judges_the_worse_end_and_no_gap(limits, row, outcome, over):
    assert verdict_of({"a": row}, {**limits, "over": over}).outcome == outcome


def test_a_verdict_says_both_ends_and_what_is_left_out():
    assert "is between 0.4 and 0.9 over 1 case, the limit is ≥ 0.5" in verdict_of({"a": BOUND}, AT_LEAST).sentence
    said = verdict_of({"a": GAP}, AT_LEAST).sentence
    assert "measured only in part" in said
    assert "1 sample could not be measured, and may change it" in said
    assert verdict_of({"a": GAP, "b": 0.1}, WORST).outcome == "fail", "what is known of others is enough to fail"
    assert verdict_of({"a": GAP, "b": 0.9}, WORST).outcome == "inconclusive"
