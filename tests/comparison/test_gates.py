"""Gates by value, and ways to turn a red gate green: every one stays red, is undecided, or is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from built import INFOS, SIGNED, comparison_of, run, score
from hypothesis import given, strategies as st

from bench.comparison.advice import with_decision
from bench.comparison.against import Against, moves
from bench.comparison.baseline import ScoreFile, read_scores, score_bytes, score_file_of
from bench.comparison.gate_rules import is_beyond_limit, limit_of, parse_rule
from bench.comparison.gates import JUDGE, exit_code, judge
from bench.model.compared import Compared, GateResult, Skipped
from bench.model.errors import ResultsError, ScenarioError
from bench.model.outcome import Failure
from bench.model.scores import Check, Finding, Number
from bench.reports import first_line, rendered

RECALL = {"metric": "needed.recall", "strategy": "mine", "max_drop": 0.01}
GROWTH = {"metric": "cost.prompt_tokens", "strategy": "mine", "max_increase": "10%"}
EXACT = {"metric": "faithful.changed", "strategy": "mine", "max": 0}
LEAST = {"metric": "needed.recall", "strategy": "mine", "min": 0.5}
MEAN = {"metric": "needed.recall", "strategy": "mine", "min": 0.995}
GATES = (RECALL, GROWTH, EXACT, LEAST)
FAILED = Failure(step=1, slot="summarizer", error="ValueError: no")


def rules(*tables: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(parse_rule(table, f"gates[{at}]", INFOS) for at, table in enumerate(tables, 1))


def numbers(recall: float | None = 1.0, tokens: float = 1000.0, changed: float = 0.0) -> dict[str, Number]:
    return {
        "needed.recall": Number(recall, 10.0), "cost.prompt_tokens": Number(tokens), "faithful.changed": Number(changed),
    }  # fmt: skip


def mine_and_recorded(
    name: str, more: dict[str, Number] | None = None, *, sha: str = "", task: str = "", **fields: Any
) -> Any:
    mine = score("mine", numbers=numbers() if more is None else more, **fields)
    return run(name, [score("recorded", numbers=numbers()), mine], sha=sha, task=task)


def with_rules(*runs: Any, **more: Any) -> Compared:
    return comparison_of(runs, **{"rules": rules(*GATES), **more})


GOOD = with_rules(mine_and_recorded("a"), mine_and_recorded("b"), mine_and_recorded("c"))
BASE = score_file_of(GOOD)
BAD = mine_and_recorded("a", numbers(0.7, 1300.0, 1.0))


def judged_gates(now: Compared, base: ScoreFile | None = BASE, **more: Any) -> tuple[int, list[GateResult]]:
    results = judge(Against(now, base), **more)
    return exit_code([msgspec.structs.replace(now, gates=results)]), list(results)


def test_unchanged_values_pass() -> None:
    copied = with_rules(*GOOD.runs, *(mine_and_recorded(name, sha="a") for name in "0z"))
    matched = with_rules(*GOOD.runs, rules=rules({**RECALL, "strategy": "record*"}))
    limits = (f"mine=summarizer=truncate:limit=99{more}" for more in ("", ",end=9"))
    changed = [(with_rules(*GOOD.runs, specs={"mine": spec}), GOOD) for spec in limits]
    for now, then in (*changed, (GOOD, GOOD), (copied, copied), (GOOD, copied), (copied, GOOD), (matched, matched)):
        code, results = judged_gates(now, score_file_of(then), required=True)
        assert (code, {item.outcome for item in results}) == (0, {"pass"})


def test_a_limit_on_changed_values_decides_nothing_where_texts_could_not_be_checked() -> None:
    unread = mine_and_recorded("d", checks={"changed": Check(of=3, unchecked=1, unchecked_text="x")})
    now = with_rules(*GOOD.runs, unread, rules=rules({"metric": "faithful.changed", "max": 0}))
    results = judged_gates(now)[1]
    assert (results[0].outcome, results[0].reason) == ("undecided", "1 text could not be checked, first in d: x")
    text = rendered([msgspec.structs.replace(now, gates=tuple(results))], "text")
    assert "list it in `says`" in text
    assert "drop the gate on `faithful.changed` in the scenario" in text
    assert "change the limit" not in text


def test_a_regression_fails_with_both_values_over_the_same_runs() -> None:
    code, (changed, recall, tokens, _) = judged_gates(with_b_and_c(BAD))
    assert code == 1
    assert (recall.before, recall.value, recall.limit, recall.basis, recall.run) == (
        1.0, pytest.approx(0.9), 0.99, "mean over tasks", "a",
    )  # fmt: skip
    assert (tokens.before, tokens.value, tokens.limit, tokens.basis) == (
        3000.0, 3300.0, pytest.approx(3300.0), "total over all runs",
    )  # fmt: skip
    assert (changed.outcome, changed.value, changed.limit, changed.run) == ("fail", 1.0, 0, "a")
    assert (recall.outcome, tokens.outcome) == ("fail", "pass")


Now = Callable[[], Compared]
SPECS = {"mine": "mine=summarizer=other.py:f"}
NOT_A_NUMBER = {name: Number(float("nan"), 10.0) for name in numbers()}
NOTHING = {name: Number(None, 0.0, "nothing to measure") for name in numbers()}
UNMEASURED = {name: Number(None, 1.0, "defect") for name in numbers()}


def with_b_and_c(*runs: Any, **more: Any) -> Compared:
    """A comparison of some runs, and of b and c as they were."""
    return with_rules(*runs, mine_and_recorded("b"), mine_and_recorded("c"), **more)


def with_gates(*tables: dict[str, Any], **more: Any) -> Compared:
    return with_b_and_c(BAD, rules=rules(*tables), **more)


WAYS: dict[str, Now] = {
    "the regression as it is": lambda: with_b_and_c(BAD),
    "the run is deleted": lambda: with_b_and_c(),
    "all runs are deleted": lambda: with_rules(),
    "the run is renamed": lambda: with_b_and_c(mine_and_recorded("z", numbers(0.7, 1300.0, 1.0), sha="a")),
    "the run is recorded anew": lambda: with_b_and_c(mine_and_recorded("a", sha="other")),
    "the run is recorded anew under another name": lambda: with_b_and_c(mine_and_recorded("z")),
    "easy runs are added": lambda: with_b_and_c(BAD, *(mine_and_recorded(f"easy{at}") for at in range(90))),
    "easy runs raise a mean": lambda: with_b_and_c(
        mine_and_recorded("a", numbers(0.98)),
        *(mine_and_recorded(f"easy{at}") for at in range(90)),
        rules=rules(*GATES, MEAN),
    ),
    "easy runs share the bad one's task": lambda: with_b_and_c(
        BAD, mine_and_recorded("d", task="a"), mine_and_recorded("e", task="a")
    ),
    "the bad run is labelled as a trial of a good one": lambda: with_b_and_c(
        mine_and_recorded("a", numbers(0.7, 1300.0, 1.0), task="t", sha="of a with a label")
    ),
    "a copy of a good run stands in for it": lambda: with_b_and_c(mine_and_recorded("a", sha="b")),
    "the strategy raises": lambda: with_b_and_c(mine_and_recorded("a", failure=FAILED)),
    "the strategy raises everywhere": lambda: with_rules(
        *(mine_and_recorded(name, {}, failure=FAILED) for name in "abc")
    ),
    "the strategy is unstable": lambda: with_b_and_c(mine_and_recorded("a", unstable_at=3)),
    "the value is not a number": lambda: with_b_and_c(mine_and_recorded("a", NOT_A_NUMBER)),
    "the value is infinitely good": lambda: with_b_and_c(
        mine_and_recorded("a", {**numbers(), "needed.recall": Number(float("inf"), 10.0)})
    ),
    "there is nothing to measure any more": lambda: with_b_and_c(mine_and_recorded("a", NOTHING)),
    "there is nothing to measure anywhere": lambda: with_rules(*(mine_and_recorded(name, NOTHING) for name in "abc")),
    "it could not be measured": lambda: with_b_and_c(mine_and_recorded("a", UNMEASURED)),
    "its numbers are left out": lambda: with_b_and_c(mine_and_recorded("a", {})),
    "the strategy is not replayed on the run": lambda: with_b_and_c(run("a", [score("recorded")])),
    "the strategy is gone": lambda: with_rules(
        *(run(name, [score("recorded")]) for name in "abc"), strategies=(), specs={}
    ),
    "the strategy is renamed": lambda: with_gates(
        *({**gate, "strategy": "yours"} for gate in GATES),
        strategies=("yours",),
        specs={"yours": "yours=summarizer=truncate"},
    ),
    "the strategy runs other code": lambda: with_b_and_c(mine_and_recorded("a"), specs=SPECS),
    "another strategy takes its name": lambda: with_b_and_c(
        mine_and_recorded("a"), specs={"mine": "mine=compactor=mask_observations"}
    ),
    "all gates are deleted": lambda: with_gates(),
    "the gate is deleted": lambda: with_gates(GROWTH, LEAST),
    "the drop is allowed": lambda: with_gates({**RECALL, "max_drop": 0.5}, GROWTH, {**EXACT, "max": 9}, LEAST),
    "the drop is allowed in percent": lambda: with_gates(
        {**RECALL, "max_drop": "50%"}, GROWTH, {**EXACT, "max": 9}, LEAST
    ),
    "the growth is allowed": lambda: with_b_and_c(
        mine_and_recorded("a", numbers(1.0, 2000.0)),
        rules=rules(RECALL, {**GROWTH, "max_increase": "90%"}, EXACT, LEAST),
    ),
    "the gate is on another strategy": lambda: with_gates(*({**gate, "strategy": "recorded"} for gate in GATES)),
    "the gate is on a pattern that names nobody": lambda: with_gates(*({**gate, "strategy": "x*"} for gate in GATES)),
    "the limit is lowered": lambda: with_b_and_c(
        mine_and_recorded("a", numbers(0.4)),
        rules=rules({**RECALL, "max_drop": 0.9}, GROWTH, EXACT, {**LEAST, "min": 0.1}),
    ),
    "the gate is on another metric": lambda: with_gates({**GROWTH, "metric": "cost.usd"}, EXACT, LEAST),
    "the facts are read otherwise": lambda: with_b_and_c(
        BAD, signature=msgspec.structs.replace(SIGNED, facts_version="2")
    ),
    "tokens are fitted otherwise": lambda: with_b_and_c(
        mine_and_recorded("a"), signature=msgspec.structs.replace(SIGNED, calibration="2")
    ),
    "another model is given": lambda: with_b_and_c(
        mine_and_recorded("a"), signature=msgspec.structs.replace(SIGNED, model="gpt-4o")
    ),
    "the recording is damaged": lambda: with_b_and_c(skipped=(Skipped(path="a.jsonl", reason="cut", damaged=True),)),
    "other questions are asked": lambda: with_b_and_c(mine_and_recorded("a", sha="with other questions")),
    "the gate's metric is not measured": lambda: with_b_and_c(BAD, metrics={}),
}


@pytest.mark.parametrize("way", WAYS)
def test_no_change_of_runs_or_scenario_makes_a_failed_gate_pass(way: str) -> None:
    code, results = judged_gates(WAYS[way](), required=True)
    assert code in (1, 3), [(item.rule.metric, item.outcome, item.reason) for item in results]


@pytest.mark.parametrize("way", ["all gates are deleted", "the drop is allowed", "the growth is allowed"])
def test_gates_of_the_baseline_are_judged_if_no_baseline_is_required(way: str) -> None:
    assert judged_gates(WAYS[way]())[0] == 1
    about = [item for item in judged_gates(WAYS[way](), required=True)[1] if item.rule == JUDGE]
    assert {(item.outcome, "is gone or looser" in item.reason) for item in about} == {("fail", True)}


def test_changed_code_of_a_strategy_is_noted_if_no_baseline_is_required() -> None:
    _, results = judged_gates(WAYS["the strategy runs other code"]())
    assert [item.outcome for item in results if item.rule == JUDGE] == ["skipped"]
    all_of_it = {"rules": rules({**RECALL, "strategy": "*"}), "references": ("recorded", "keep_all")}
    then, now = (with_rules(*GOOD.runs, specs={"keep_all": f"store={code}"}, **all_of_it) for code in ("a", "b"))
    assert judged_gates(now, score_file_of(then), required=True)[0] == 0  # `*` judges no reference


def test_a_run_that_is_missing_decides_nothing_and_one_that_cannot_be_read_is_not_accepted() -> None:
    cut = mine_and_recorded("a", sha="other")
    cut = msgspec.structs.replace(cut, facts=msgspec.structs.replace(cut.facts, skipped={"line that is not JSON": 2}))
    for command, more, end in (
        ("x", [], "a — restore what differs, or accept the values of now with `x`"),
        ("x", [cut], "a (2 × line that is not JSON) — restore what is damaged, or delete it and accept"),
        ("", [], "a — restore what differs or update the branch, or run with --allow-inconclusive"),
    ):
        code, results = judged_gates(msgspec.structs.replace(with_b_and_c(*more), accept=command))
        assert (code, {end in gate.reason for gate in results}) == (3, {True})


@pytest.mark.parametrize(
    ("then", "now"),
    [
        ('compactor=summarize_old:writer="w.py:write"', "compactor=summarize_old:writer=extractive"),
        ('routers=[plan,langgraph:graph="a.py:app"]', 'routers=[plan,langgraph:graph="b.py:app"]'),
        ('summarizer=command:"node all.js x:a=1"', 'summarizer=command:"node all.js x:a=2"'),
    ],
)
def test_changed_code_that_a_setting_names_is_changed_code(then: str, now: str) -> None:
    before, after = (with_rules(*map(mine_and_recorded, "abc"), specs={"mine": f"mine={spec}"}) for spec in (then, now))
    assert judged_gates(after, score_file_of(before), required=True)[0] == 1
    assert judged_gates(before, score_file_of(before), required=True)[0] == 0


@pytest.mark.parametrize("changed", [{"model": "gpt-4o-mini"}, {"prices_date": "2027-01-01"}])
def test_a_limit_in_dollars_is_undecided_at_other_prices(changed: dict[str, str]) -> None:
    runs = [run(name, [score("mine", 1.0), score("recorded", 1.0)]) for name in "abc"]
    then = with_rules(*runs, rules=rules({"metric": "cost.usd", "max": 9}, LEAST))
    now = msgspec.structs.replace(then, signature=msgspec.structs.replace(SIGNED, **changed))
    for required, outcome in ((False, "undecided"), (True, "fail")):
        _, results = judged_gates(now, score_file_of(then), required=required)
        assert [item.outcome for item in results][:1] == [outcome]


def test_stricter_gates_and_new_runs_pass() -> None:
    now = with_b_and_c(
        mine_and_recorded("a"),
        mine_and_recorded("d", numbers(0.6)),
        rules=rules({**RECALL, "max_drop": 0.0}, *GATES[1:]),
        signature=msgspec.structs.replace(SIGNED, encodings={"d": "o200k_base"}),
    )
    assert judged_gates(now, required=True)[0] == 0


@pytest.mark.parametrize("left", [GATES, [LEAST], []], ids=["all gates", "a limit", "no gate"])
def test_a_scenario_fails_if_its_required_baseline_is_missing(left: Any) -> None:
    now = with_b_and_c(mine_and_recorded("a"), rules=rules(*left))
    assert (judged_gates(now, None)[0], judged_gates(now, None, required=True)[0]) == (0, 1)


def test_a_baseline_without_runs_decides_nothing() -> None:
    code, results = judged_gates(GOOD, score_file_of(with_rules()))
    assert code == 3
    assert results[0].reason == "no run of the baseline is here"


def test_a_new_price_table_makes_dollars_alone_stale() -> None:
    now = msgspec.structs.replace(GOOD, signature=msgspec.structs.replace(SIGNED, prices_date="2027-01-01"))
    assert judged_gates(now)[0] == 0
    why = "price tables: 2026-01-01 then, 2027-01-01 now"
    assert with_decision(now, BASE, accepting=True).notes == (f"not compared with the baseline: cost.usd ({why})",)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_a_larger_drop_never_passes_if_a_smaller_one_fails(before: float, one: float, other: float) -> None:
    worse, better = sorted((one, other))
    for gate in ({"max_drop": 0.01}, {"min": before}):
        if is_beyond_limit(better, limit_of(gate, before), gate):
            assert is_beyond_limit(worse, limit_of(gate, before), gate)


@pytest.mark.parametrize(
    "table",
    [
        {}, {"metric": "needed.recal", "min": 1}, {"metric": "needed.recall"}, {"metric": "needed.recall", "mim": 1},
        {"metric": "needed.recall", "max": 0.5}, {"metric": "needed.recall", "max_increase": 0.1},
        {"metric": "cost.usd", "max_drop": 1}, {"metric": "cost.usd", "max_increase": -0.1},
        {"metric": "cost.usd", "max_increase": "nan%"}, {"metric": "cost.usd", "max": float("nan")},
        {"metric": "cost.usd", "max": True}, {"metric": "cost.usd", "max": "5%"}, {"metric": "needed.recall", "min": 0},
        {"metric": "cost.usd", "max": 1, "max_increase": 1}, {"metric": "cost.usd", "max": 1, "over": "any"},
        {"metric": "cost.usd", "max": 1, "strategy": 3},
    ],
)  # fmt: skip
def test_a_gate_that_cannot_judge_is_refused(table: dict[str, Any]) -> None:
    with pytest.raises(ScenarioError, match=r"^here: "):
        parse_rule(table, "here", INFOS)


# ---------------------------------------------------------------- the file


def test_a_baseline_reads_back_and_has_the_same_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.baseline.json"
    path.write_bytes(score_bytes(BASE))
    assert read_scores(path) == BASE
    assert {score.strategy for run in BASE.runs for score in run.scores} == {"mine"}  # no reference without a gate
    path.write_bytes(msgspec.json.encode(BASE))  # with weights of 1 and empty reasons, as once written
    assert read_scores(path) == BASE
    reports = [msgspec.structs.replace(BASE, file=f"{name}.toml") for name in "ab"]  # of one title
    for several in (reports, reports[1:]):
        path.write_bytes(msgspec.json.encode(several))
        assert read_scores(path, "b.toml") == reports[1]
        with pytest.raises(ResultsError, match=r"b\.toml, not of c\.toml"):
            read_scores(path, "c.toml")
    assert score_bytes(
        score_file_of(with_rules(mine_and_recorded("c"), mine_and_recorded("a"), mine_and_recorded("b")))
    ) == score_bytes(BASE)
    assert read_scores(tmp_path / "none.json") is None


OTHER_SCHEMA = score_bytes(msgspec.structs.replace(BASE, schema=99))


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"{}", b'{"title": 3}', b"[{}]", b'{"runs": []}', OTHER_SCHEMA])
def test_a_file_without_scores_is_refused(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(text)
    with pytest.raises(ResultsError, match=r"a\.json: "):
        read_scores(path)


def test_changed_values_are_counted_by_run() -> None:
    before = mine_and_recorded("a", numbers(0.5)), mine_and_recorded("b"), mine_and_recorded("c")
    base = score_file_of(with_rules(*before))
    now = with_rules(
        mine_and_recorded("a", numbers(0.4)),
        mine_and_recorded("b", numbers(0.7)),
        mine_and_recorded("c", numbers(1.0, 900.0)),
    )
    found = {item.metric: item for item in moves(Against(now, base))}
    recall, tokens = found["needed.recall"], found["cost.prompt_tokens"]
    assert (recall.better, recall.improved_runs, recall.regressed_runs) == (False, 0, 2)
    assert (tokens.before, tokens.after, tokens.better, tokens.improved_runs) == (3000.0, 2900.0, True, 1)
    assert set(found) == {"needed.recall", "cost.prompt_tokens"}


def test_a_strategy_whose_gate_failed_is_not_advised() -> None:
    runs = [mine_and_recorded(name, numbers(0.7)) for name in "abcdefgh"]
    for gate, verdict in ((LEAST, "no gain"), ({**LEAST, "min": 0.9}, "invalid")):
        whole = with_decision(comparison_of(runs, rules=rules(gate)))
        assert {item.verdict for item in whole.advice.ranked if item.strategy == "mine"} == {verdict}
        assert whole.number("mine", "needed.recall").value == pytest.approx(0.7)


def test_the_first_line_after_a_failed_gate_is_about_the_gate() -> None:
    def named(recall: float, tokens: float = 1000) -> Compared:
        runs = [mine_and_recorded(name, numbers(recall, tokens)) for name in "abc"]
        spec = f"mine=summarizer=truncate:limit={tokens}"
        return with_rules(*runs, specs={"mine": spec}, against="it.baseline.json")

    for tokens, end in ((991, ""), (980, " In return, the cost.prompt_tokens fell from 1,000 to 980 a run.")):
        whole = with_decision(named(0.7, tokens), score_file_of(named(1.0)))
        assert whole.advice.item("mine").reason == "1 gate failed, on `needed.recall`"
        assert first_line(whole).startswith("Do not merge: 1 of 4 gates failed. `mine`: ")
        assert first_line(whole).endswith(f"at least 99%; worse in 3 of 3 runs; worst: a (70%).{end}")
    check = Check(hits=1, of=2, findings=(Finding(3, "19", was="17"),))
    lying = with_rules(mine_and_recorded("a", numbers(0.7, changed=1), checks={"changed": check}))
    assert 'faithful.changed: 1 (total over all runs), such as "17" → "19" (a, ' in first_line(with_decision(lying))
