"""Cases that come and go beside a baseline: what both sides have is judged, what is new is named, and nothing hides a regression."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from decided import UNMEASURED, against, comparison, only
from repository import BASELINE, SCENARIO, TRACES, bench

from bench.comparison.baselines import baseline_from, shared_cases
from bench.comparison.judging import conclude
from bench.model import Against, Row

DROP = {"metric": "needed.recall", "max_drop": 0.1}
WORST = {**DROP, "over": "worst_case"}
GROW = {"metric": "cost.prompt_tokens", "max_increase": "10%"}


def held(before, now, rule, *, metric=None, **fields):
    """The verdict of one gate on strategy `s`: its cases before and now."""
    metric = metric or rule["metric"]
    then = comparison(only(metric, s=before), rule, **fields)
    after = comparison(only(metric, s=now), rule, against=against(then), **fields)
    (verdict,) = after.verdicts
    return verdict, after


# ---------------------------------------------------------------- which cases are judged


@pytest.mark.parametrize(
    ("rule", "before", "now", "outcome", "code"),
    [
        (DROP, {"a": 0.9}, {"a": 0.9, "b": 0.1}, "pass", 0),  # a new case has nothing to be worse than
        (DROP, {"a": 0.9}, {"a": 0.5, "b": 1.0}, "fail", 1),  # and does not make up for a known one
        (WORST, {"a": 0.9}, {"a": 0.5, "b": 1.0}, "fail", 1),
        (DROP, {"a": 0.9, "b": 0.9}, {"a": 0.9}, "inconclusive", 3),
        (DROP, {"a": 0.9, "b": 0.9}, {"a": 0.5}, "fail", 1),  # 1 beats 3
        (WORST, {"a": 0.9, "b": 0.9}, {"a": 0.5}, "fail", 1),
        (DROP, {"a": 0.9, "b": 0.9}, {"a": 0.5, "c": 1.0}, "fail", 1),
        (DROP, {"a": 0.9, "b": 0.9}, {"a": 0.9, "c": 1.0}, "inconclusive", 3),
        (DROP, {"a": 0.9}, {"b": 0.9}, "inconclusive", 3),  # nothing is shared
        (GROW, {"a": 100}, {"a": 100, "b": 5000}, "pass", 0),  # a sum over more cases is no increase
        (GROW, {"a": 100, "b": 5000}, {"a": 120}, "fail", 1),  # and one over fewer no saving
        (DROP, {"a": 0.9, "b": 0.9}, {"a": 0.5, "b": UNMEASURED}, "fail", 1),
        (DROP, {"a": 0.9, "b": 0.9}, {"a": 0.9, "b": UNMEASURED}, "inconclusive", 3),
        (WORST, {"a": 0.9, "b": 0.9}, {"a": 0.9, "b": None}, "inconclusive", 3),
        (DROP, {"a": 0.9, "b": None}, {"a": 0.9, "b": None}, "pass", 0),
        (DROP, {"a": 0.9, "b": UNMEASURED}, {"a": 0.9, "b": UNMEASURED}, "inconclusive", 3),
    ],
)
def test_what_is_judged(rule, before, now, outcome, code):
    verdict, after = held(before, now, rule)
    assert (verdict.outcome, conclude([after]).exit_code) == (outcome, code)


def test_a_verdict_names_what_is_new_and_what_is_gone():
    assert (
        "new case, not judged: the baseline has no case b" in held({"a": 0.9}, {"a": 0.9, "b": 0.1}, DROP)[0].sentence
    )
    several, _ = held({"a": 0.9}, dict.fromkeys("abcdef", 0.9), DROP)
    assert "new cases, not judged: the baseline has no case b, c, d and 2 more" in several.sentence
    three, _ = held({"a": 0.9}, dict.fromkeys("abcd", 0.9), DROP)
    assert three.sentence.endswith("new cases, not judged: the baseline has no case b, c, d")
    failing, _ = held({"a": 0.9, "b": 0.9}, {"a": 0.5, "c": 1.0}, DROP)
    for part in ("went from 0.9 to 0.5", "new case, not judged", "deleted trace: the baseline has case b"):
        assert part in failing.sentence
    gone, _ = held({"a": 0.9, "b": 0.9}, {"a": 0.9}, DROP)
    assert "the cases that both have hold: needed.recall stayed at 0.9 (1 case)" in gone.sentence


def test_shared_cases_are_pooled_by_what_each_weighs_at_its_own_side():
    """Of what a strategy itself removed there may be more now than then: 9 of 10 and 1 of 90, then 8 of 80."""
    verdict, _ = held({"a": (0.9, 10), "b": (0.1, 10)}, {"a": (0.9, 90), "b": (0.1, 10), "new": (0.0, 500)}, DROP)
    assert verdict.value == pytest.approx(0.82)
    assert verdict.limit == pytest.approx(0.5 - 0.1)


def test_where_both_sides_have_the_same_cases_the_value_accepted_over_all_of_them_counts():
    """A baseline written before weights were kept: made again from its cases by what they weigh now, it would be 0.82."""
    values = only("needed.recall", s={"a": (0.9, 90), "b": (0.1, 10)})
    signature = comparison(values).signature
    old = baseline_from(signature, {"s": {"needed.recall": {"": 0.5, "a": 0.9, "b": 0.1}}})
    (verdict,) = comparison(values, DROP, against=Against(baseline=old)).verdicts
    assert (verdict.outcome, verdict.value, verdict.limit) == ("pass", pytest.approx(0.82), pytest.approx(0.4))


def test_a_renamed_case_is_told_and_does_not_hide_the_others():
    traces = {"old": "same", "new": "same"}
    verdict, _ = held({"old": 0.9, "a": 0.9}, {"new": 0.9, "a": 0.9}, DROP, traces=traces)
    assert verdict.outcome == "inconclusive"
    assert "renamed case: old of the baseline is now new, the same recording" in verdict.sentence
    assert held({"old": 0.9, "a": 0.9}, {"new": 0.9, "a": 0.5}, DROP, traces=traces)[0].outcome == "fail"


def test_a_case_that_was_recorded_again_is_not_compared_and_does_not_hide_the_others():
    then = comparison(only("needed.recall", s={"a": 0.9, "b": 0.9}), DROP, traces={"b": "first"})
    for value, outcome in ((0.9, "inconclusive"), (0.5, "fail")):
        values = only("needed.recall", s={"a": value, "b": 0.1})
        now = comparison(values, DROP, traces={"b": "second"}, against=against(then))
        assert now.verdicts[0].outcome == outcome
        assert "case b is another recording under the same name" in now.verdicts[0].sentence


def test_a_drop_judges_the_least_and_an_increase_the_most_that_a_value_can_be():
    bound = Row(strategy="", metric="", case="", value=0.9, unit="", n=100, low=0.2)
    assert held({"a": 0.9}, {"a": bound}, DROP)[0].outcome == "fail"
    assert held({"a": bound}, {"a": bound}, DROP)[0].outcome == "pass"
    assert held({"a": bound}, {"a": 0.9}, DROP)[0].outcome == "pass"
    assert held({"a": bound}, {"a": 0.5}, DROP)[0].outcome == "inconclusive", "it may have been 0.9"
    rising = Row(strategy="", metric="", case="", value=100, unit="", n=1, high=150)
    assert held({"a": 100}, {"a": rising}, GROW)[0].outcome == "fail"
    gap = Row(strategy="", metric="", case="", value=0.9, unit="", n=100, partly=2)
    assert held({"a": 0.9}, {"a": gap}, DROP)[0].outcome == "inconclusive"
    assert held({"a": 0.9, "b": 0.9}, {"a": gap, "b": 0.1}, DROP)[0].outcome == "fail"


# ---------------------------------------------------------------- a required baseline


def test_a_missing_baseline_is_a_failure_where_one_is_required():
    now = comparison(only("needed.recall", s={"a": 0.9}), DROP, against=Against(required=True))
    assert (now.verdicts[0].outcome, conclude([now]).exit_code) == ("fail", 1)
    limits = {"metric": "needed.recall", "min": 0.5}
    unaffected = comparison(only("needed.recall", s={"a": 0.9}), limits, against=Against(required=True))
    assert conclude([unaffected]).exit_code == 0


# ---------------------------------------------------------------- accepting


# ---------------------------------------------------------------- in a repository


@pytest.mark.slow
@pytest.mark.usefixtures("repository")
def test_a_deleted_baseline_is_a_failure_in_ci(capsys):
    assert "--require-baseline" in Path(".github/workflows/bench.yml").read_text()
    BASELINE.unlink()
    assert bench("run", SCENARIO) == 0
    assert bench("run", SCENARIO, "--require-baseline") == 1
    assert bench("run", "--traces", str(TRACES), "--strategy", "keep_all", "--require-baseline") == 2
    assert "needs a scenario" in capsys.readouterr().err


# ---------------------------------------------------------------- baselines that were edited


@pytest.mark.parametrize("rule", [DROP, WORST, GROW])
@pytest.mark.parametrize("now", [1.0, 0.1])
def test_a_case_whose_line_was_taken_out_is_not_new(rule, now):
    then = comparison(only(rule["metric"], s={"a": 1.0, "b": 1.0}), rule)
    for line in ("a", "b"):
        held_against = against(then)
        del held_against.baseline.rows["s"][rule["metric"]][line]
        after = comparison(
            only(rule["metric"], s={"a": now if line == "a" else 1.0, "b": 1.0}), rule, against=held_against
        )
        (verdict,) = after.verdicts
        assert verdict.outcome == "inconclusive"
        assert (shared := shared_cases(after, "ab".replace(line, ""))).removed == (line,)
        assert (shared.new, shared.lost) == ((), ())
        assert f"removed case: the baseline was made with case {line} and has no value for it" in verdict.sentence


@pytest.mark.parametrize(("now", "outcome"), [(1.0, "inconclusive"), (0.6, "fail")])
def test_a_value_over_all_cases_that_is_not_theirs_is_not_believed(now, outcome):
    then = comparison(only("needed.recall", s={"a": 1.0, "b": 1.0}), DROP)
    held_against = against(then)
    accepted = held_against.baseline.of("s", "needed.recall")
    accepted[""] = msgspec.structs.replace(accepted[""], value=0.5)
    (verdict,) = comparison(only("needed.recall", s={"a": now, "b": now}), DROP, against=held_against).verdicts
    assert verdict.outcome == outcome
    assert "is not what its cases come to" in verdict.sentence
