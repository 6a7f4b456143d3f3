"""The rule that says what to run, and the one advice that every output prints. Every comparison here is put together by hand."""

from __future__ import annotations

import msgspec
import pytest
from decided import ALL, EIGHT, TODAY, UNMEASURED, comparison, decided, reasons, strategy
from hypothesis import given, strategies as st

from bench.comparison.decision import decide
from bench.model import Row, RunShown, Spent
from bench.reports.decision_sentence import decision_notes, decision_sentence, money_text


def advised(**values):
    found = decided(**values).advice.subject
    return None if found is None else found.strategy


# ---------------------------------------------------------------- who is advised


@pytest.mark.parametrize(
    ("values", "who"),
    [
        ({"a": strategy(0.8), "b": strategy(0.9)}, "a"),
        ({"a": strategy(1.1)}, "recorded"),
        ({"a": strategy(1.0)}, "recorded"),  # no cheaper
        ({"a": strategy(0.9995)}, "recorded"),  # by less than anybody would call a saving
        ({"a": strategy(0.99)}, "a"),
        ({"a": strategy([0.2] * 6 + [2.0, 1.2])}, "recorded"),  # cheaper, not surely
        ({"wild": strategy([0.2] * 6 + [2.0, 1.2]), "steady": strategy(0.95)}, "steady"),
        ({"a": strategy(0.5, 0.02), "b": strategy(0.5, 0.01)}, "b"),  # at one price who loses less
        ({"drop_all": strategy(0.1), "clairvoyant": strategy(0.1), "floor": strategy(0.1)}, "recorded"),
        ({"keep_all": strategy(0.5)}, "keep_all"),
        ({"a": strategy(1.5), "recorded": strategy(1.0, **{"prompt.invalid": 1})}, "a"),  # what runs today does not qualify
        ({"a": strategy(0.5), "recorded": strategy(1.0, 0.9, 0.1, **{"changed.values": 3})}, "a"),
        ({"recorded": strategy(1.0, 0.9, 0.1, **{"changed.values": 3})}, "recorded"),  # what it could not see it did not need
    ],
)  # fmt: skip
def test_the_cheapest_that_qualifies_and_is_surely_cheaper_is_advised(values, who):
    assert advised(**values) == who


SLIPS = [0.2] + [0.0] * 7
"""A fault rate of 0.2 on one of eight cases: 0.025 over all."""


@pytest.mark.parametrize(
    ("loses", "obstacles", "word"),
    [
        ({"faults": 0.05}, [], "ship it"),
        ({"faults": 0.05 + 1e-12}, [], "ship it"),
        ({"faults": 0.0501}, ["faults"], "loses too much"),
        ({"faults": SLIPS}, [], "ship it"),
        ({"faults": [0.5] + [0.0] * 7}, ["faults"], "loses too much"),
        ({"faults": UNMEASURED}, ["unmeasured"], "not judged"),
        ({"faults": None}, ["unmeasured"], "not judged"),  # no turn that could miss anything: nothing speaks for it either
        ({"far": 0.9}, [], "ship it"),
        ({"far": 0.899}, ["far"], "loses too much"),
        ({"far": None}, [], "ship it"),  # nothing is far
        ({"far": [None] + [0.5] * 7}, ["far"], "loses too much"),
        ({"far": UNMEASURED}, ["unmeasured"], "not judged"),
        ({"changed.values": [0] * 7 + [1]}, ["changed_values"], "changes what tools said"),
        ({"changed.errors_hidden": 1}, ["hidden_errors"], "changes what tools said"),
        ({"changed.invented": 0.02}, [], "ship it"),
        ({"changed.invented": 0.03}, ["invented"], "changes what tools said"),
        ({"changed.values": UNMEASURED}, ["unmeasured"], "not judged"),
        ({"prompt.invalid": [0] * 7 + [1]}, ["invalid_prompts"], "providers would refuse it"),
        ({"prompt.invalid": UNMEASURED}, ["unmeasured"], "not judged"),
        ({"prompt.task_missing": 1}, ["task_missing"], "loses too much"),
        ({"prompt.system_missing": 1}, ["system_missing"], "loses too much"),
        ({"cost.window_overflows": [2] + [0] * 7}, ["overflows"], "does not fit"),
        ({"cost.window_overflows": UNMEASURED}, [], "ship it"),  # not known is not held against anybody
        ({"usd": [0.5] * 7 + [UNMEASURED]}, ["unmeasured"], "not judged"),
        ({"prompt.invalid": 1, "faults": 1.0}, ["invalid_prompts", "faults"], "providers would refuse it"),
    ],
)  # fmt: skip
def test_each_obstacle_has_its_word(loses, obstacles, word):
    loses = {"usd": 0.5, **loses}
    decision = decided(a=strategy(**loses))
    assert reasons(decision, "a") == obstacles
    assert decision.word(decision.candidate("a")) == word
    assert decision.advice.outcome == ("keep" if obstacles else "ship")


def test_words_of_those_that_qualify():
    values = {
        "best": strategy(0.5), "good": strategy(0.6), "unsure": strategy([0.1] * 6 + [1.2, 2.0]), "same": strategy(0.9999),
        "dear": strategy(1.2),
    }  # fmt: skip
    decision = decided(**values)
    assert {item.strategy: decision.word(item) for item in decision.candidates} == {
        "best": "ship it", "good": "cheaper, not best", "unsure": "cheaper, not sure", "same": "same cost", "dear": "costs more than today",
        "recorded": "qualifies", "keep_all": "costs more than today",
    }  # fmt: skip


def test_who_never_acted_is_told_so():
    built = comparison({"recorded": TODAY, "keep_all": ALL, "idle": strategy(1.0), "level": strategy(1.0)})
    runs = {"idle": RunShown(same_prompts=True), "recorded": RunShown(same_prompts=True)}
    idle = msgspec.structs.replace(built, cases=tuple(msgspec.structs.replace(case, runs=runs) for case in built.cases))
    decision = decide(idle)
    assert [decision.word(decision.candidate(name)) for name in ("idle", "level")] == ["never acted here", "same cost"]
    assert decision_sentence(decision) == "Keep what you run: the best alternative, level, costs as much as today."
    alone = msgspec.structs.replace(idle, strategies=("idle",))
    assert decision_sentence(decide(alone)) == (
        "Keep what you run: idle, the best alternative, never acted: same prompts as recorded."
    )


def test_keeping_everything_is_never_the_alternative():
    kept = decided(keep_all=strategy(0.9995))
    assert (kept.advice.outcome, kept.advice.alternative) == ("keep", None)
    shipped = decided(keep_all=strategy(0.7), a=strategy(0.5))
    assert (shipped.advice.named, shipped.advice.alternative.strategy) == ("a", "recorded")


def test_limits_are_means_over_tasks_and_a_recording_counts_once():
    """Case 1 is there six times: its fault rate of 0.3 weighs a third of three tasks, not six eighths."""
    copies = dict.fromkeys(EIGHT[:6], "case 1")
    values = {"recorded": TODAY, "keep_all": ALL, "a": strategy(0.5, [0.3] * 6 + [0.0] * 2)}
    decision = decide(comparison(values, traces=copies, max_fault_rate=0.11))
    assert decision.tasks == 3
    assert decision.candidate("a").fault_rate == pytest.approx(0.1)
    assert (reasons(decision, "a"), decision.advice.outcome) == ([], "keep")  # three tasks make nothing sure


def test_limits_can_be_set():
    values = {"a": strategy(0.5, 0.2, 0.6)}
    assert reasons(decided(**values), "a") == ["faults", "far"]
    assert reasons(decided(fields={"max_fault_rate": 0.2, "min_far_recall": 0.6}, **values), "a") == []


def test_gates_must_pass():
    red = {"metric": "needed.recall.far", "min": 0.99}
    assert reasons(decided(red, cut=strategy(0.5, far=0.97)), "cut") == ["gates"]
    open_gate = {"metric": "probes.recall", "min": 0.5}
    values = {"keep_all": ALL, "recorded": TODAY, "cut": strategy(0.5, **{"probes.recall": UNMEASURED})}
    assert decide(comparison(values, open_gate)).advice.outcome == "keep"
    assert decide(comparison(values, open_gate, allow_inconclusive=True)).advice.outcome == "ship"


def test_a_strategy_that_raised_or_came_out_otherwise_is_not_shipped():
    assert reasons(decided(cut=strategy(0.5), failed=[("cut", "case 2")]), "cut") == ["raised"]
    built = comparison({"recorded": TODAY, "cut": strategy(0.5)})
    runs = {"cut": RunShown(unstable_at=4), "recorded": RunShown()}
    shaky = msgspec.structs.replace(built, cases=(msgspec.structs.replace(built.cases[0], runs=runs), *built.cases[1:]))
    assert [(item.kind, item.case) for item in decide(shaky).candidate("cut").obstacles] == [("unstable", "case 1")]


def test_a_bound_is_judged_by_the_worst_it_can_be_and_a_gap_is_no_value():
    bound = Row(strategy="", metric="", case="", value=0.0, unit="", n=100, high=0.5)
    gap = Row(strategy="", metric="", case="", value=0.0, unit="", n=100, partly=1)
    assert reasons(decided(a=strategy(0.5, [bound] + [0.0] * 7)), "a") == ["faults"]
    assert reasons(decided(a=strategy(0.5, [gap] + [0.0] * 7)), "a") == ["unmeasured"]


def test_one_that_reads_the_future_never_competes():
    specs = {"best": "best=compactor=floor:recall=0.99", "plain": "plain=compactor=mask_observations:keep_last=3"}
    built = comparison({"recorded": TODAY, "keep_all": ALL, "best": strategy(0.1), "plain": strategy(0.5)}, specs=specs)
    assert {item.strategy for item in decide(built).candidates} == {"plain", "recorded", "keep_all"}


def test_without_a_measured_loss_nothing_is_shipped_whatever_it_costs():
    assert advised(keep_all=strategy(2.0, None, None), a=strategy(0.1, None, None)) == "recorded"


@given(st.permutations(["recorded", "keep_all", "a", "b", "c"]))
def test_the_order_of_strategies_changes_nothing(order):
    values = {"recorded": TODAY, "keep_all": ALL, "a": strategy(0.9), "b": strategy(0.9), "c": strategy(0.8, 0.7)}
    decision = decide(comparison({name: values[name] for name in order}))
    assert decision == decide(comparison(values))


# ---------------------------------------------------------------- prices


def test_where_a_run_has_no_price_tokens_decide():
    def with_tokens(usd, tokens):
        return strategy([usd] * 7 + [UNMEASURED], tokens=tokens)

    decision = decide(comparison({"recorded": with_tokens(1.0, 1000), "keep_all": with_tokens(1.0, 2000),
                                  "dear": with_tokens(5.0, 900)}))  # fmt: skip
    assert (decision.metric, decision.advice.subject.strategy) == ("cost.with_refetches_tokens", "dear")
    assert any(text.startswith("Prices are in tokens, because") for text in money_text(decision))
    one = decide(comparison({"recorded": TODAY, "keep_all": ALL, "a": strategy([0.5] * 7 + [UNMEASURED])}))
    assert one.metric == "cost.with_refetches_usd", "what one strategy alone could not measure is its own fault"


def test_what_costs_nothing_today_can_only_cost_as_much():
    free = [decided(recorded=strategy(0.0), a=strategy(usd)).candidate("a").saving.relative for usd in (0.0, 1.0)]
    assert free == [0.0, None]


def test_a_run_that_does_not_fit_has_no_price():
    """One case of 50 dollars would decide everything, and could not happen."""
    usd, over = [0.5] * 7 + [50.0], {"cost.window_overflows": [0] * 7 + [3]}
    found = decided(a=strategy(usd, **over)).candidate("a")
    assert (found.price_a_run, found.cases, found.saving.cases) == (0.5, 7, 7)
    assert found.saving.relative == pytest.approx(-0.5)
    assert [(item.kind, item.count) for item in found.obstacles] == [("overflows", 1)]


def test_a_case_that_what_runs_today_does_not_fit_is_left_out_for_all_and_said():
    usd, over = [0.5] * 7 + [50.0], {"cost.window_overflows": [0] * 7 + [3]}
    decision = decided(recorded=strategy([1.0] * 7 + [9.0], **over), a=strategy(usd, **over))
    assert (decision.left_out, decision.compared, decision.cases) == (("case 8",), 7, 8)
    assert (decision.advice.outcome, decision.advice.subject.strategy, decision.advice.subject.price_a_run) == (
        "ship",
        "a",
        0.5,
    )
    assert "1 run left out: there the prompts of what you run today exceed the model's window." in list(
        decision_notes(decision)
    )
    nowhere = decided(recorded=strategy(1.0, **{"cost.window_overflows": 1}), a=strategy(0.5))
    assert (nowhere.left_out, reasons(nowhere, "recorded"), nowhere.advice.outcome) == ((), ["overflows"], "ship")


@pytest.mark.parametrize(("cases", "sure"), [(8, True), (7, True), (6, False), (1, False)])
def test_with_few_cases_nothing_is_sure(cases, sure):
    """Two candidates: six cases that all agree would do for one alone."""
    names = EIGHT[:cases]
    values = {
        "recorded": strategy(1.0, cases=names),
        "keep_all": strategy(2.0, cases=names),
        "a": strategy(0.9, cases=names),
    }
    decision = decide(comparison(values))
    said = decision_sentence(decision)
    assert (decision.advice.outcome == "ship", "sure over" in said, bool(decision.advice.could_miss)) == (
        sure,
        sure,
        sure,
    )
    assert decision.advice.sure is sure


def test_the_best_of_many_must_be_sure_as_the_best_of_many():
    """Each of 40 strategies is cheaper on some cases and dearer on others, by as much; the one that is cheaper on all eight is sure alone."""
    signs = [[1 if number >> place & 1 else -1 for place in range(8)] for number in range(0, 200, 5)]
    many = {f"s{number}": strategy([1 + 0.1 * sign for sign in row]) for number, row in enumerate(signs)}
    assert set(signs[0]) == {-1}
    assert (advised(s0=many["s0"]), advised(**many)) == ("s0", "recorded")


@pytest.mark.parametrize(("usd", "tempting"), [(999.0, ["a"]), (999.01, []), (1000.0, []), (1001.0, [])])
def test_one_that_does_not_qualify_tempts_from_a_thousandth_less_on(usd, tempting):
    built = decided(a=strategy(usd, far=0.1), recorded=strategy(1000.0), keep_all=strategy(2000.0))
    assert [item.strategy for item in built.tempting] == tempting


@pytest.mark.parametrize(("usd", "cheapest"), [(999.0, "a"), (999.5, "recorded"), (1001.0, "recorded")])
def test_what_runs_today_stays_the_cheapest_within_the_noise(usd, cheapest):
    built = decided(a=strategy(usd), recorded=strategy(1000.0), keep_all=strategy(2000.0))
    assert built.cheapest is not None
    assert built.cheapest.strategy == cheapest


@pytest.mark.parametrize("known", [8, 7])
def test_where_the_money_goes_is_told_where_every_priced_case_tells_it(known: int) -> None:
    made = comparison({"keep_all": ALL, "recorded": TODAY, "a": strategy(0.5)})
    cases = []
    for number, case in enumerate(made.cases):
        parts = Spent(answers=number, new_prompt=2)
        run = msgspec.structs.replace(case.runs["a"], spent={"provider": parts} if number < known else {})
        cases.append(msgspec.structs.replace(case, runs={**case.runs, "a": run}))
    found = decide(msgspec.structs.replace(made, cases=tuple(cases))).candidate("a").spent
    assert (found and (found.answers, found.new_prompt)) == ((3.5, 2.0) if known == 8 else None)
