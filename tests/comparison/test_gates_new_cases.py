"""Cases that come and go beside a baseline: what both sides have is judged, what is new is named, and nothing hides a regression."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from decided import UNMEASURED, accepted_values, against, comparison, only
from repository import BASELINE, SCENARIO, SUMMARIZERS, TRACES, WORSE, another, bench, relative, verdicts

from bench.comparison.accepting import accept, accepted
from bench.comparison.baselines import baseline_bytes, baseline_from, read_baseline, shared_cases
from bench.comparison.judging import conclude
from bench.model import Against, Row
from bench.model.errors import ResultsError

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


def accepting(tmp_path, before, now, rule=DROP, **fields):
    path = tmp_path / "x.baseline.json"
    then = comparison(only(rule["metric"], s=before), rule, **fields)
    accept(then, path)
    known = Against(baseline=read_baseline(path))
    return comparison(only(rule["metric"], s=now), rule, against=known, **fields), path


def test_a_regression_is_not_accepted_together_with_new_cases(tmp_path):
    now, path = accepting(tmp_path, {"a": 0.9}, {"a": 0.5, "b": 1.0})
    with pytest.raises(
        ResultsError, match=r"1 new case \(b\) beside a regression of known ones .* --accept-new"
    ) as caught:
        accepted(now, path)
    assert "\n" not in str(caught.value)
    fine, path = accepting(tmp_path, {"a": 0.9}, {"a": 0.9, "b": 1.0})
    assert accepted(fine, path)[0].of("s", "needed.recall")["b"].value == 1.0
    alone, path = accepting(tmp_path, {"a": 0.9}, {"a": 0.5})
    assert accepted(alone, path)[0].of("s", "needed.recall")["a"].value == 0.5, "a regression alone may be accepted"


def test_accepting_new_cases_leaves_the_others_as_they_were(tmp_path):
    now, path = accepting(tmp_path, {"a": (0.9, 10), "gone": (0.7, 10)}, {"a": (0.3, 10), "b": (1.0, 20)})
    found, lines = accepted(now, path, only_new=True)
    over_all = pytest.approx((9 + 7 + 20) / 40)
    assert accepted_values(found, "s", "needed.recall") == {"a": 0.9, "gone": 0.7, "b": 1.0, "": over_all}
    assert set(found.signature.traces) == {"a", "b", "gone"}
    assert "bounds" not in json.loads(baseline_bytes(found))
    assert any("cases in: b" in line for line in lines)
    path.write_bytes(baseline_bytes(found))
    again = comparison(only("needed.recall", s={"a": (0.3, 10), "b": (1.0, 20), "gone": (0.7, 10)}), DROP,
                       against=Against(baseline=read_baseline(path)))  # fmt: skip
    assert again.verdicts[0].outcome == "fail", "the regression is still one"
    assert "new" not in again.verdicts[0].sentence


def test_accepting_new_cases_makes_sums_and_bounds_over_all_again(tmp_path):
    bound = Row(strategy="", metric="", case="", value=1.0, unit="", n=20, low=0.5)
    now, path = accepting(tmp_path, {"a": (0.9, 10)}, {"a": (0.9, 10), "b": bound})
    found, _ = accepted(now, path, only_new=True)
    ends = {case: (row.low, row.high) for case, row in found.of("s", "needed.recall").items() if not row.exact}
    assert ends == {"b": (0.5, 1.0), "": (pytest.approx(19 / 30), pytest.approx(29 / 30))}
    now, path = accepting(tmp_path, {"a": 100}, {"a": 100, "b": 50, "c": None}, GROW)
    found, _ = accepted(now, path, only_new=True)
    assert accepted_values(found, "s", "cost.prompt_tokens") == {"": 150.0, "a": 100.0, "b": 50.0, "c": None}
    assert "weights" not in json.loads(baseline_bytes(found))
    now, path = accepting(tmp_path, {"a": 100}, {"a": 100, "b": UNMEASURED}, GROW)
    assert accepted(now, path, only_new=True)[0].of("s", "cost.prompt_tokens")[""].value is None


def test_over_all_nothing_is_pooled_of_a_case_that_weighs_nobody_knows_what(tmp_path):
    """A baseline of the time before weights were kept, and a case of it that is not measured any more."""
    for rule, over_all in ((DROP, None), (GROW, 3.5)):
        now, _ = accepting(tmp_path, {"a": 1.0, "old": 1.5}, {"a": 1.0, "old": UNMEASURED, "b": (1.0, 300)}, rule)
        kept = accepted_values(now.against.baseline, "s", rule["metric"])
        before = baseline_from(now.against.baseline.signature, {"s": {rule["metric"]: kept}})
        found, _ = accepted(msgspec.structs.replace(now, against=Against(baseline=before)), tmp_path, only_new=True)
        assert accepted_values(found, "s", rule["metric"]) == {"a": 1.0, "old": 1.5, "b": 1.0, "": over_all}


def test_new_cases_need_a_baseline_to_be_added_to(tmp_path):
    now, path = accepting(tmp_path, {"a": 0.9}, {"a": 0.9, "b": 0.9})
    with pytest.raises(ResultsError, match="there is no baseline yet — accept the whole run with --update-baseline"):
        accepted(msgspec.structs.replace(now, against=Against()), path, only_new=True)
    stale = msgspec.structs.replace(now.against, stale={"needed.recall": "the pattern of facts changed"})
    with pytest.raises(ResultsError, match=r"the baseline is stale for needed\.recall: the pattern of facts changed"):
        accepted(msgspec.structs.replace(now, against=stale), path, only_new=True)
    none, path = accepting(tmp_path, {"a": 0.9}, {"a": 0.9})
    assert accepted(none, path, only_new=True) == (None, (f"{path}: no new case, nothing to accept",))


# ---------------------------------------------------------------- in a repository


@pytest.mark.slow
@pytest.mark.usefixtures("repository")
def test_a_regression_hidden_behind_a_new_trace_is_not_accepted(capsys):
    another()
    SUMMARIZERS.write_text(WORSE)
    kept = BASELINE.read_bytes()
    assert bench("run", SCENARIO, "--update-baseline", "-o", "x.json") == 2
    assert "1 new case (more) beside a regression of known ones" in capsys.readouterr().err
    assert BASELINE.read_bytes() == kept
    assert not Path("x.json").exists(), "all effects or none"
    assert bench("run", SCENARIO, "--accept-new") == 1, "the regression stays red"
    assert "more" in json.loads(BASELINE.read_text())["signature"]["traces"]
    assert bench("run", SCENARIO, "--update-baseline") == 1, (
        "the limit of the worst case has nothing to do with a baseline"
    )
    assert {item["outcome"] for item in relative(verdicts())} == {"pass"}


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
