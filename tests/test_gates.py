"""Gates: every outcome and every exit code, and that nothing which is missing ever passes."""

from __future__ import annotations

import math

import msgspec
import pytest
from handmade import opened, shell
from hypothesis import given, strategies as st

import bench
from bench.comparison.rows import NOTHING, all_rows
from bench.errors import ScenarioError
from bench.files.results import baseline_of
from bench.gates import check, closing_sentence, conclude, exit_code, require_known
from bench.model import Baseline, Comparison, Failure, GateRule, MetricInfo, Row, Run, Sample, Signature, Source, Trace

COST = MetricInfo(name="cost.prompt_tokens", unit="tokens", better="lower", aggregate="sum")
RECALL = MetricInfo(name="needed.recall", unit="fraction", better="higher", aggregate="pooled")
BROKEN = "broken"  # instead of a value: the strategy raised on this case
UNMEASURED = "unmeasured"  # instead of a value: it could not be measured; None: there was nothing to measure


def trace(case, text=""):
    return Trace(id=case, source=Source(format="native"), steps=(), meta={"text": text})


def compared(values, *rules, info=RECALL, references=(), **fields):
    """A comparison with one metric: per strategy, per case a value or what is wrong with it."""
    runs, samples, cases = {}, {}, sorted({case for of_cases in values.values() for case in of_cases})
    for strategy, of_cases in values.items():
        for case, value in of_cases.items():
            failure = Failure(step=3, slot="store", error="ValueError: no") if value == BROKEN else None
            runs[strategy, case] = Run(trace_id=case, trace_sha256="", strategy=strategy, spec="", encoding="o200k_base",
                                       messages={}, message_tokens={}, failure=failure)  # fmt: skip
            if value == UNMEASURED:
                samples[strategy, info.name, case] = (Sample(numerator=None, reason="no price"),)
            elif value is not None and value != BROKEN:
                pooled = info.aggregate == "pooled"
                numerator, denominator = (value * 100, 100.0) if pooled else (value, None)
                samples[strategy, info.name, case] = (Sample(numerator=numerator, denominator=denominator),)
    rows, summary = all_rows([info], list(values), cases, runs, samples)
    traces = {case: trace(case) for case in cases}
    signature = Signature(bench_version="0", traces={case: traces[case].sha256 for case in cases},
                          strategies={name: name for name in values}, encodings=(), facts_version="1",
                          prices_date="", seed=0)  # fmt: skip
    built = Comparison(
        title="", signature=signature, strategies=tuple(name for name in values if name not in references),
        references=references, cases=tuple(cases), rows=rows, summary=summary, deltas=(), rules=rules, traces=traces,
        runs=runs, samples=samples, metrics={info.name: info}, **fields,
    )  # fmt: skip
    return with_verdicts(built)


def with_verdicts(built, **fields):
    changed = msgspec.structs.replace(built, **fields)
    return msgspec.structs.replace(changed, verdicts=check(changed))


def outcomes(built):
    return [verdict.outcome for verdict in built.verdicts]


def only(built):
    (verdict,) = built.verdicts
    assert "\n" not in verdict.sentence
    return verdict


AT_LEAST = GateRule(metric="needed.recall", min=0.5)
WORST = GateRule(metric="needed.recall", min=0.5, over="worst_case")
DROP = GateRule(metric="needed.recall", max_drop=0.1)
GROW = GateRule(metric="cost.prompt_tokens", max_increase="10%")


# ---------------------------------------------------------------- absolute limits


@pytest.mark.parametrize(
    ("rule", "values", "outcome"),
    [
        (AT_LEAST, {"a": 0.4, "b": 0.7}, "pass"),
        (AT_LEAST, {"a": 0.5}, "pass"),
        (AT_LEAST, {"a": 0.4, "b": 0.5}, "fail"),
        (WORST, {"a": 0.4, "b": 0.9}, "fail"),
        (WORST, {"a": 0.5, "b": 0.9}, "pass"),
        (GateRule(metric="needed.recall", max=0.5), {"a": 0.6}, "fail"),
        (GateRule(metric="needed.recall", max=0.5), {"a": 0.5}, "pass"),
        (GateRule(metric="needed.recall", min=0.2, max=0.5), {"a": 0.1}, "fail"),
        (GateRule(metric="needed.recall", min=0.2, max=0.5), {"a": 0.6}, "fail"),
        (GateRule(metric="needed.recall", min=0.2, max=0.5), {"a": 0.3}, "pass"),
        (GateRule(metric="needed.recall", min=0.0), {"a": 0.0}, "pass"),
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
    assert exit_code([built]) == 3


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
        built = compared(values, GateRule(metric="needed.recall", min=0.5, strategy=pattern), references=references)
        return [(verdict.strategy, verdict.outcome) for verdict in built.verdicts]

    assert judged("*") == [("one", "fail"), ("two", "pass")], "references are brackets, not candidates"
    assert judged("t*") == [("two", "pass")]
    assert judged("recorded") == [("recorded", "fail")], "unless a rule names them"
    assert judged("rec*") == [("recorded", "fail")]


def test_a_gate_on_what_does_not_exist_is_refused():
    with pytest.raises(ScenarioError, match=r"one\.toml: gates\[1\]: unknown metric 'needed\.recal' — did you mean"):
        require_known([GateRule(metric="needed.recal", min=1)], ["s"], "one.toml")
    with pytest.raises(ScenarioError, match=r"gates\[2\]: no strategy is called 'tabel' — did you mean table\?"):
        require_known([AT_LEAST, GateRule(metric="needed.recall", min=1, strategy="tabel")], ["table"], "one.toml")
    require_known([AT_LEAST, GateRule(metric="needed.recall", min=1, strategy="tab*")], ["table"], "one.toml")


# ---------------------------------------------------------------- against a baseline


def baseline(values, *rules, info=RECALL, problem=None):
    accepted = compared(values, *rules, info=info)
    return {"baseline": baseline_of(accepted, rules), "baseline_problem": problem}


def against(before, now, rule, info=RECALL, problem=None):
    return compared({"s": now}, rule, info=info, **baseline({"s": before}, rule, info=info, problem=problem))


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
        (GateRule(metric="cost.prompt_tokens", max_increase="10%", over="worst_case"), COST,
         {"a": 100, "b": 100}, {"a": 130, "b": 80}, "fail"),
        (GateRule(metric="cost.prompt_tokens", max_increase=5), COST, {"a": 100}, {"a": 106}, "fail"),
        (GateRule(metric="cost.prompt_tokens", max_increase=0), COST, {"a": 100}, {"a": 100}, "pass"),
        (GateRule(metric="cost.prompt_tokens", max_drop="50%"), COST, {"a": 100}, {"a": 49}, "fail"),
        (DROP, RECALL, {"a": 0.9}, {"a": UNMEASURED}, "inconclusive"),
        (DROP, RECALL, {"a": 0.9}, {"a": None}, "inconclusive"),
        (DROP, RECALL, {"a": None}, {"a": 0.9}, "inconclusive"),
        (DROP, RECALL, {"a": None}, {"a": None}, "inconclusive"),
        (DROP, RECALL, {"a": 0.9}, {"a": BROKEN}, "fail"),
        (DROP, RECALL, {"a": 0.9, "b": 0.9}, {"a": 0.9}, "inconclusive"),  # a case of the baseline is gone
        (DROP, RECALL, {"a": 0.9}, {"a": 0.9, "b": 0.9}, "inconclusive"),  # a case the baseline lacks
        (DROP, RECALL, {"a": 0.9}, {"b": 0.9}, "inconclusive"),
    ],
)  # fmt: skip
def test_a_change_since_the_baseline(rule, info, before, now, outcome):
    assert outcomes(against(before, now, rule, info)) == [outcome]


def test_without_a_baseline_a_relative_gate_is_skipped_and_says_how_to_accept_one():
    built = compared({"s": {"a": 0.9}}, DROP)
    assert outcomes(built) == ["skipped"]
    assert "--update-baseline" in only(built).sentence
    assert exit_code([built]) == 0


def test_a_strategy_that_raised_fails_even_without_a_baseline():
    assert outcomes(compared({"s": {"a": BROKEN}}, DROP)) == ["fail"]


def test_a_refused_baseline_is_inconclusive_with_the_reason():
    verdict = only(against({"a": 0.9}, {"a": 0.9}, DROP, problem="not comparable: seed differs (1 against 0)"))
    assert verdict.outcome == "inconclusive"
    assert "seed differs (1 against 0)" in verdict.sentence


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
    before = compared({"s": {"old": 0.9}}, DROP)
    now = with_verdicts(compared({"s": {"new": 0.9}}, DROP), baseline=baseline_of(before, (DROP,)))
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
    rule = GateRule(metric="needed.recall", over=over, **limits)
    verdict = only(against(values, values, rule))
    measured = [value for value in values.values() if isinstance(value, float)]
    unknown = UNMEASURED in values.values()
    if measured and not (unknown and over == "all"):
        assert verdict.outcome == "pass"
    else:
        assert verdict.outcome == "inconclusive"


def test_a_replayed_comparison_passes_against_its_own_baseline():
    traces = [opened(shell(4, start=2), id="one"), opened(shell(7, start=2), id="two")]
    metrics = ("cost.prompt_tokens", "needed.recall", "loss.fact_recall.end", "cost.peak_prompt_tokens")
    rules = [GateRule(metric=name, max_increase=0) for name in metrics]
    rules += [GateRule(metric=name, max_drop="0%", over="worst_case") for name in metrics]
    first = bench.compare(traces, ["mask=compactor=mask_observations:keep_last=2"], rules=rules)
    again = bench.compare(
        traces[::-1],
        ["mask=compactor=mask_observations:keep_last=2"],
        rules=rules,
        baseline=baseline_of(first, rules),
    )
    assert [verdict.outcome for verdict in check(again)] == ["pass"] * len(rules)


# ---------------------------------------------------------------- exit codes

PASSED = compared({"s": {"a": 0.9}}, AT_LEAST)
FAILED = compared({"s": {"a": 0.1}}, AT_LEAST)
UNDECIDED = compared({"s": {"a": 0.9, "b": UNMEASURED}}, GateRule(metric="needed.recall", min=0.5, over="worst_case"))
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
    assert exit_code(several) == code
    assert exit_code(several, allow_inconclusive=True) == allowed
    assert f"(exit {code})" in closing_sentence(several)
    assert conclude(several).exit_code == code


def test_a_comparison_may_allow_for_itself():
    built = with_verdicts(UNDECIDED, summary=PASSED.summary, allow_inconclusive=True)
    assert exit_code([built]) == 0
    assert exit_code([built, undecided()]) == 3


def test_the_closing_sentence_counts():
    sentence = closing_sentence([PASSED, FAILED, undecided(), SKIPPED])
    for part in ("1 fail", "1 inconclusive", "1 pass", "1 skipped", "a gate failed"):
        assert part in sentence
    assert "no gates declared" in closing_sentence([UNGATED])


def test_references_alone_measure_nothing():
    built = compared({"s": {"a": None}, "keep_all": {"a": 1.0}}, references=("keep_all",))
    assert exit_code([built]) == 3
    assert built.row("s", "needed.recall").reason == NOTHING


def test_an_empty_baseline_is_not_no_baseline():
    empty = Baseline(signature=PASSED.signature, values={})
    assert outcomes(compared({"s": {"a": 0.9}}, DROP, baseline=empty)) == ["inconclusive"]
