"""Gates: every outcome and every exit code, and that nothing which is missing ever passes."""

from __future__ import annotations

import math

import msgspec
import pytest
from handmade import opened, shell
from hypothesis import given, strategies as st
from judged import (
    AT_LEAST,
    BROKEN,
    COST,
    DROP,
    GROW,
    RECALL,
    UNMEASURED,
    WORST,
    compared,
    only,
    outcomes,
    rule,
    with_verdicts,
)

import bench
from bench.comparison.accepting import baseline_of
from bench.comparison.judging import check, conclude, require_known
from bench.comparison.rows import NOTHING
from bench.model import Against, Baseline, Loss, Losses, Row
from bench.model.errors import ScenarioError

# ---------------------------------------------------------------- absolute limits


@pytest.mark.parametrize(
    ("rule", "values", "outcome"),
    [
        (AT_LEAST, {"a": 0.4, "b": 0.7}, "pass"),
        (AT_LEAST, {"a": 0.5}, "pass"),
        (AT_LEAST, {"a": 0.4, "b": 0.5}, "fail"),
        (WORST, {"a": 0.4, "b": 0.9}, "fail"),
        (WORST, {"a": 0.5, "b": 0.9}, "pass"),
        (rule(max=0.5), {"a": 0.6}, "fail"),
        (rule(max=0.5), {"a": 0.5}, "pass"),
        (rule(min=0.2, max=0.5), {"a": 0.1}, "fail"),
        (rule(min=0.2, max=0.5), {"a": 0.6}, "fail"),
        (rule(min=0.2, max=0.5), {"a": 0.3}, "pass"),
        (rule(min=0.0), {"a": 0.0}, "pass"),
        (AT_LEAST, {"a": 0.0}, "fail"),  # nothing is a value like any other
        (WORST, {"a": 0.0, "b": 0.9}, "fail"),
        (rule(max=0.5), {"a": 0.0}, "pass"),
        (rule(max=0.5, over="worst_case"), {"a": 0.0, "b": 0.4}, "pass"),
        (AT_LEAST, {"a": UNMEASURED}, "inconclusive"),
        (AT_LEAST, {"a": None}, "inconclusive"),
        (AT_LEAST, {"a": 0.9, "b": UNMEASURED}, "inconclusive"),
        (AT_LEAST, {"a": 0.9, "b": None}, "pass"),  # a case with nothing to measure says nothing
        (WORST, {"a": 0.9, "b": None}, "pass"),
        (WORST, {"a": 0.9, "b": UNMEASURED}, "inconclusive"),
        (WORST, {"a": 0.1, "b": UNMEASURED}, "fail"),  # what is known is enough to fail
        (WORST, {"a": None, "b": None}, "inconclusive"),
        (AT_LEAST, {"a": BROKEN}, "fail"),
        (AT_LEAST, {"a": 0.9, "b": BROKEN}, "fail"),
        (WORST, {"a": BROKEN, "b": UNMEASURED}, "fail"),
    ],
)
def test_a_limit(rule, values, outcome):
    assert outcomes(compared({"s": values}, rule)) == [outcome]


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_no_number_never_passes(value):
    row = Row(strategy="s", metric="needed.recall", case="a", value=value, unit="fraction", n=1)
    built = with_verdicts(compared({"s": {"a": 0.9}}), rows=(row,), summary=(row,), rules=(AT_LEAST, WORST))
    assert set(outcomes(built)) == {"inconclusive"}
    assert conclude([built]).exit_code == 3


def test_a_verdict_names_strategy_metric_value_limit_and_case():
    verdict = only(compared({"s": {"a": 0.4, "b": 0.9}}, WORST))
    assert (verdict.strategy, verdict.metric, verdict.case, verdict.value, verdict.limit) == (
        "s", "needed.recall", "a", 0.4, 0.5
    )  # fmt: skip
    for part in ("s", "needed.recall", "0.4", "on a", "≥ 0.5"):
        assert part in verdict.sentence
    assert "store at step 3: ValueError: no" in only(compared({"s": {"a": BROKEN}}, AT_LEAST)).sentence
    assert "no price" in only(compared({"s": {"a": UNMEASURED}}, AT_LEAST)).sentence


def test_a_rule_is_judged_for_every_strategy_it_names():
    values = {"one": {"a": 0.4}, "two": {"a": 0.9}, "keep_all": {"a": 1.0}, "recorded": {"a": 0.1}}
    references = ("keep_all", "recorded")

    def judged(pattern):
        built = compared(values, rule(min=0.5, strategy=pattern), references=references)
        return [(verdict.strategy, verdict.outcome) for verdict in built.verdicts]

    assert judged("*") == [("one", "fail"), ("two", "pass")], "references are brackets, not candidates"
    assert judged("t*") == [("two", "pass")]
    assert judged("recorded") == [("recorded", "fail")], "unless a rule names them"
    assert judged("rec*") == [("recorded", "fail")]


def test_a_gate_on_what_does_not_exist_is_refused():
    with pytest.raises(ScenarioError, match=r"one\.toml: gates\[1\]: unknown metric 'needed\.recal' — did you mean"):
        require_known([rule("needed.recal", min=1)], ["s"], "one.toml")
    with pytest.raises(ScenarioError, match=r"gates\[2\]: no strategy is called 'tabel' — did you mean table\?"):
        require_known([AT_LEAST, rule(min=1, strategy="tabel")], ["table"], "one.toml")
    require_known([AT_LEAST, rule(min=1, strategy="tab*")], ["table"], "one.toml")


# ---------------------------------------------------------------- against a baseline


def baseline(values, *rules, info=RECALL, stale=None):
    return {"against": Against(baseline=baseline_of(compared(values, *rules, info=info)), stale=stale or {})}


def against(before, now, gate, info=RECALL, stale=None):
    return compared({"s": now}, gate, info=info, **baseline({"s": before}, gate, info=info, stale=stale))


@pytest.mark.parametrize(
    ("rule", "info", "before", "now", "outcome"),
    [
        (DROP, RECALL, {"a": 0.9}, {"a": 0.9}, "pass"),
        (DROP, RECALL, {"a": 0.9}, {"a": 0.8}, "pass"),  # the limit itself, whatever the last bit of a float says
        (DROP, RECALL, {"a": 0.9}, {"a": 0.79}, "fail"),
        (DROP, RECALL, {"a": 0.5}, {"a": 1.0}, "pass"),
        (GROW, COST, {"a": 100}, {"a": 110}, "pass"),
        (GROW, COST, {"a": 100}, {"a": 110.2}, "fail"),
        (GROW, COST, {"a": 100}, {"a": 1}, "pass"),
        (GROW, COST, {"a": 0}, {"a": 1}, "fail"),
        (GROW, COST, {"a": 0}, {"a": 0}, "pass"),
        (GROW, COST, {"a": 100, "b": 100}, {"a": 130, "b": 80}, "pass"),  # 210 of 200
        (rule("cost.prompt_tokens", max_increase="10%", over="worst_case"), COST,
         {"a": 100, "b": 100}, {"a": 130, "b": 80}, "fail"),
        (rule("cost.prompt_tokens", max_increase=5), COST, {"a": 100}, {"a": 106}, "fail"),
        (rule("cost.prompt_tokens", max_increase=0), COST, {"a": 100}, {"a": 100}, "pass"),
        (rule("cost.prompt_tokens", max_drop="50%"), COST, {"a": 100}, {"a": 49}, "fail"),
        (DROP, RECALL, {"a": 0.9}, {"a": UNMEASURED}, "inconclusive"),
        (DROP, RECALL, {"a": 0.9}, {"a": None}, "inconclusive"),
        (DROP, RECALL, {"a": None}, {"a": 0.9}, "inconclusive"),
        (DROP, RECALL, {"a": None}, {"a": None}, "inconclusive"),
        (DROP, RECALL, {"a": 0.9}, {"a": BROKEN}, "fail"),
        (DROP, RECALL, {"a": 0.9, "b": 0.9}, {"a": 0.9}, "inconclusive"),  # a case of the baseline is gone
        (DROP, RECALL, {"a": 0.9}, {"a": 0.9, "b": 0.1}, "pass"),  # a case the baseline lacks is named, not judged
        (DROP, RECALL, {"a": 0.9}, {"a": 0.1, "b": 0.9}, "fail"),
        (DROP, RECALL, {"a": 0.9}, {"b": 0.9}, "inconclusive"),
    ],
)  # fmt: skip
def test_a_change_since_the_baseline(rule, info, before, now, outcome):
    assert outcomes(against(before, now, rule, info)) == [outcome]


@pytest.mark.parametrize(("now", "outcome"), [(14_706, "pass"), (14_707, "fail")])
def test_what_is_exactly_at_a_relative_limit_passes(now, outcome):
    """29% of 11,400 are 3,306: as floats 0.29 * 11400 is a little less, and would fail what is allowed."""
    before = compared({"s": {"a": 11_400}}, rule("cost.prompt_tokens", max_increase="29%"), info=COST)
    after = compared({"s": {"a": now}}, *before.rules, info=COST, against=Against(baseline=baseline_of(before)))
    assert outcomes(after) == [outcome]


def test_without_a_baseline_a_relative_gate_is_skipped_and_says_how_to_accept_one():
    built = compared({"s": {"a": 0.9}}, DROP)
    assert outcomes(built) == ["skipped"]
    assert "--update-baseline" in only(built).sentence
    assert conclude([built]).exit_code == 0


def test_a_strategy_that_raised_fails_even_without_a_baseline():
    assert outcomes(compared({"s": {"a": BROKEN}}, DROP)) == ["fail"]


def test_a_stale_metric_is_inconclusive_with_the_reason_and_no_other_is():
    verdict = only(against({"a": 0.9}, {"a": 0.1}, DROP, stale={"needed.recall": "the pattern of facts changed"}))
    assert verdict.outcome == "inconclusive"
    assert "the baseline is stale for needed.recall: the pattern of facts changed" in verdict.sentence
    assert outcomes(against({"a": 0.9}, {"a": 0.1}, DROP, stale={"loss.lost.end": "it is counted otherwise"})) == [
        "fail"
    ]


def test_what_is_missing_is_told_apart():
    def said(before, now):
        return only(against(before, now, DROP)).sentence

    assert "deleted trace" in said({"a": 0.9, "b": 0.9}, {"a": 0.9})
    assert "new case" in said({"a": 0.9}, {"a": 0.9, "b": 0.9})
    sentences = {
        said({"a": 0.9, "b": 0.9}, {"a": 0.9}),
        said({"a": 0.9}, {"a": 0.9, "b": 0.9}),
        said({"a": 0.9}, {"a": None}),
        said({"a": None}, {"a": 0.9}),
    }
    assert len(sentences) == 4


def test_a_renamed_case_is_recognised_by_its_recording():
    before = compared({"s": {"old": 0.9}}, DROP, recordings={"old": "the same"})
    now = compared(
        {"s": {"new": 0.9}}, DROP, recordings={"new": "the same"}, against=Against(baseline=baseline_of(before))
    )
    verdict = only(now)
    assert verdict.outcome == "inconclusive"
    assert "renamed case: old of the baseline is now new" in verdict.sentence


def test_a_strategy_or_metric_that_the_baseline_lacks_is_inconclusive():
    accepted = baseline({"other": {"a": 0.9}}, DROP)
    built = compared({"s": {"a": 0.9}, "other": {"a": 0.9}}, DROP, **accepted)
    assert {verdict.strategy: verdict.outcome for verdict in built.verdicts} == {"s": "inconclusive", "other": "pass"}
    other_metric = baseline({"s": {"a": 1}}, GROW, info=COST)
    assert outcomes(compared({"s": {"a": 0.9}}, DROP, **other_metric)) == ["inconclusive"]


def test_a_strategy_that_is_no_longer_declared_does_not_leave_silently():
    accepted = baseline({"s": {"a": 0.9}, "gone": {"a": 0.9}}, DROP)
    built = compared({"s": {"a": 0.9}}, DROP, **accepted)
    assert {verdict.strategy: verdict.outcome for verdict in built.verdicts} == {"s": "pass", "gone": "inconclusive"}


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 1) | st.none() | st.just(UNMEASURED), min_size=1),
    st.sampled_from([0, 0.01, "0%", "2%"]),
    st.sampled_from(["all", "worst_case"]),
    st.booleans(),
)
def test_a_comparison_never_fails_against_itself(values, limit, over, rising):
    limits = {"max_increase": limit} if rising else {"max_drop": limit}
    verdict = only(against(values, values, rule(over=over, **limits)))
    measured = [value for value in values.values() if isinstance(value, float)]
    unknown = UNMEASURED in values.values()
    if measured and not (unknown and over == "all"):
        assert verdict.outcome == "pass"
    else:
        assert verdict.outcome == "inconclusive"


def test_a_replayed_comparison_passes_against_its_own_baseline():
    traces = [opened(shell(4, start=2), id="one"), opened(shell(7, start=2), id="two")]
    metrics = ("cost.prompt_tokens", "needed.recall", "loss.fact_recall.end", "cost.peak_prompt_tokens")
    gates = [{"metric": name, "max_increase": 0} for name in metrics if name.startswith("cost")]
    gates += [{"metric": name, "max_drop": "0%"} for name in metrics if not name.startswith("cost")]
    gates += [{**gate, "over": "worst_case"} for gate in gates]
    first = bench.compare(traces, ["mask=compactor=mask_observations:keep_last=2"], gates=gates)
    assert {verdict.outcome for verdict in first.verdicts} == {"skipped"}
    again = bench.compare(traces[::-1], ["mask=compactor=mask_observations:keep_last=2"], gates=gates)
    accepted = msgspec.structs.replace(again, against=Against(baseline=baseline_of(first)))
    assert [verdict.outcome for verdict in bench.check(accepted)] == ["pass"] * len(gates)


# ---------------------------------------------------------------- exit codes

PASSED = compared({"s": {"a": 0.9}}, AT_LEAST)
FAILED = compared({"s": {"a": 0.1}}, AT_LEAST)
UNDECIDED = compared({"s": {"a": 0.9, "b": UNMEASURED}}, rule(min=0.5, over="worst_case"))
SKIPPED = compared({"s": {"a": 0.9}}, DROP)
UNGATED = compared({"s": {"a": 0.9}})
NOTHING_MEASURED = compared({"s": {"a": None}})
NOTHING_MEASURED_ALLOWED = compared({"s": {"a": None}}, AT_LEAST)
ALL_RAISED = compared({"s": {"a": BROKEN}})


def undecided():
    """One measured summary beside an inconclusive gate: two metrics would do the same."""
    return with_verdicts(UNDECIDED, summary=PASSED.summary)


@pytest.mark.parametrize(
    ("several", "code", "allowed"),
    [
        ([PASSED], 0, 0),
        ([UNGATED], 0, 0),
        ([SKIPPED], 0, 0),
        ([FAILED], 1, 1),
        ([undecided()], 3, 0),
        ([NOTHING_MEASURED], 3, 3),
        ([NOTHING_MEASURED_ALLOWED], 3, 3),
        ([ALL_RAISED], 3, 3),
        ([], 3, 3),
        ([PASSED, FAILED], 1, 1),
        ([FAILED, undecided()], 1, 1),
        ([FAILED, NOTHING_MEASURED], 1, 1),
        ([PASSED, undecided()], 3, 0),
        ([PASSED, NOTHING_MEASURED], 3, 3),
        ([PASSED, SKIPPED, UNGATED], 0, 0),
    ],
)
def test_the_exit_code(several, code, allowed):
    assert conclude(several).exit_code == code
    assert f"(exit {code})" in conclude(several).sentence
    assert conclude([msgspec.structs.replace(item, allow_inconclusive=True) for item in several]).exit_code == allowed


def test_a_comparison_allows_for_itself_alone():
    built = with_verdicts(UNDECIDED, summary=PASSED.summary, allow_inconclusive=True)
    assert conclude([built]).exit_code == 0
    assert conclude([built, undecided()]).exit_code == 3


def test_the_closing_sentence_counts():
    sentence = conclude([PASSED, FAILED, undecided(), SKIPPED]).sentence
    for part in ("1 fail", "1 inconclusive", "1 pass", "1 skipped", "a gate failed"):
        assert part in sentence
    assert "no gates declared" in conclude([UNGATED]).sentence


def test_references_alone_measure_nothing():
    built = compared({"s": {"a": None}, "keep_all": {"a": 1.0}}, references=("keep_all",))
    assert conclude([built]).exit_code == 3
    assert built.row("s", "needed.recall").reason == NOTHING


def test_an_empty_baseline_is_not_no_baseline():
    empty = Baseline(signature=PASSED.signature, rows={})
    assert outcomes(compared({"s": {"a": 0.9}}, DROP, against=Against(baseline=empty))) == ["inconclusive"]


# ---------------------------------------------------------------- what was dropped


def loss(step, *facts):
    return Loss(step=step, function="grep", facts=facts, count=len(facts))


def lossy(strategies, *losses, gate=WORST, **fields):
    """A comparison that fails on case `a`, where each of the strategies lost the same."""
    built = compared({name: {"a": 0.1, "b": 0.9} for name in strategies}, gate, **fields)
    kept = tuple(Losses(strategy=name, metric=RECALL.name, worst=losses, places=len(losses) + 5) for name in strategies)
    cases = (msgspec.structs.replace(built.cases[0], losses=kept), built.cases[1])
    return msgspec.structs.replace(built, cases=cases, verdicts=())


def test_a_failed_gate_says_what_was_dropped_on_its_worst_case():
    verdict = only(with_verdicts(lossy(["s"], loss(4, "471"), loss(6, "a.csv"))))
    assert (verdict.case, verdict.losses, verdict.losses_total) == ("a", (loss(4, "471"), loss(6, "a.csv")), 7)


def test_over_all_cases_the_worst_one_is_blamed():
    (verdict,) = check(lossy(["s"], loss(4, "471"), gate=rule(min=0.95)))
    assert verdict.case is None
    assert verdict.losses == (loss(4, "471"),)
    assert "worst on a (0.1)" in verdict.sentence


def test_where_only_the_maximum_breaks_the_highest_case_is_blamed():
    (verdict,) = compared({"s": {"a": 0.1, "b": 0.9}}, rule(min=0.05, max=0.4)).verdicts
    assert (verdict.outcome, verdict.value, verdict.limit) == ("fail", 0.5, 0.4)
    assert verdict.sentence.endswith("the limit is ≥ 0.05 and ≤ 0.4; worst on b (0.9)")
    (verdict,) = compared({"s": {"a": 0.1, "b": 0.9}}, rule(max=0.4)).verdicts
    assert verdict.sentence.endswith("; worst on b (0.9)")
    (verdict,) = compared({"s": {"a": 0.1, "b": 0.9}}, rule(min=0.6, max=0.95)).verdicts
    assert (verdict.limit, verdict.sentence[-18:]) == (0.6, "; worst on a (0.1)")


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"min": 0.5}, "needed.recall ≥ 0.5"),
        ({"max": 0.5}, "needed.recall ≤ 0.5"),
        ({"min": 0.2, "max": 0.5}, "needed.recall ≥ 0.2 and ≤ 0.5"),
        ({"min": 0.5, "over": "worst_case"}, "needed.recall ≥ 0.5 (worst case)"),
        ({"max_drop": 0.1}, "needed.recall drop ≤ 0.1"),
        ({"max_increase": "2%"}, "needed.recall increase ≤ 2%"),
        ({"max_drop": "2%", "over": "worst_case"}, "needed.recall drop ≤ 2% (worst case)"),
    ],
)
def test_a_gate_is_called_by_what_it_asks(settings, name):
    assert only(compared({"s": {"a": 0.9}}, rule(**settings))).gate == name


@pytest.mark.parametrize(
    ("limits", "case", "limit"), [({"min": 0.6}, "a (0)", 0.6), ({"min": -1, "max": 0.1}, "b (0.9)", 0.1)]
)
def test_a_case_with_nothing_is_blamed_for_too_little_and_for_nothing_else(limits, case, limit):
    (verdict,) = compared({"s": {"a": 0.0, "b": 0.9}}, rule(**limits)).verdicts
    assert verdict.sentence.endswith(f"; worst on {case}")
    assert verdict.limit == limit
    (alone,) = compared({"s": {"a": 0.0}}, rule(min=0.6, max=0.9, over="worst_case")).verdicts
    assert (alone.value, alone.limit) == (0.0, 0.6)
    assert "is 0 on a, the limit is ≥ 0.6 and ≤ 0.9" in alone.sentence


def test_a_gate_that_holds_says_nothing_of_losses():
    (verdict,) = check(lossy(["s"], loss(4, "471"), gate=rule(min=0.05)))
    assert (verdict.outcome, verdict.losses, verdict.losses_total) == ("pass", (), 0)


def test_what_the_earlier_self_lost_too_is_left_out():
    built = lossy(["s", "s@1"], loss(4, "471"), references=("s@1",))
    of_now = Losses(strategy="s", metric=RECALL.name, worst=(loss(4, "471"), loss(6, "new")), places=2)
    first = msgspec.structs.replace(built.cases[0], losses=(of_now, built.cases[0].losses[1]))
    built = msgspec.structs.replace(built, cases=(first, built.cases[1]), against=Against(before={"s": "s@1"}))
    (verdict,) = check(built)
    assert (verdict.losses, verdict.losses_total) == ((loss(6, "new"),), 1)


# ---------------------------------------------------------------- gates at budgets
