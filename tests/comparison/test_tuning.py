"""Tuning: chosen on one half of the cases, judged on the other."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from decided import INFOS, comparison

from bench.comparison.intervals import deltas
from bench.comparison.tuning import Tuned, judged_apart, part_of, tuned_of
from bench.model import Comparison
from bench.reports.decision_sentence import tuned_sentence

CASES = [f"case {number:02}" for number in range(14)]
Number = float | Callable[[str], float]


def strategy(usd: float, faults: Number = 0.0, far: Number = 1.0) -> dict[str, dict[str, float]]:
    numbers = {
        "cost.with_refetches_usd": usd, "needed.fault_rate": faults, "needed.recall.far": far, "prompt.invalid": 0.0,
        "prompt.task_missing": 0.0, "cost.window_overflows": 0.0,
    }  # fmt: skip
    return {
        name: {case: given(case) if callable(given) else given for case in CASES} for name, given in numbers.items()
    }


def compared(*rules: dict[str, object], **strategies: dict[str, dict[str, float]]) -> Comparison:
    found = comparison({**strategies, "keep_all": strategy(10.0), "recorded": strategy(8.0)}, *rules)
    known = {name: INFOS[name] for name in found.metrics}
    return msgspec.structs.replace(found, deltas=deltas(known, found.rows, found.everyone, ("recorded", "keep_all"), 0))


def tune(given: Comparison, seed: int = 0, **limits: float) -> Tuned:
    found = tuned_of(judged_apart(msgspec.structs.replace(given, **limits), seed))
    assert found is not None
    return found


HALF = tune(compared(a=strategy(1.0))).chosen_on
"""The cases that seed 0 chooses on."""


def with_tasks(built: Comparison, tasks: dict[str, str]) -> Comparison:
    """The comparison with cases that are runs of these tasks."""
    shown = (msgspec.structs.replace(case.recording, sha256=tasks[case.id]) for case in built.cases)
    cases = (msgspec.structs.replace(case, recording=item) for case, item in zip(built.cases, shown, strict=True))
    return msgspec.structs.replace(built, cases=tuple(cases))


def on_half(inside: float, outside: float) -> Callable[[str], float]:
    return lambda case: inside if case in HALF else outside


def test_the_halves_are_seeded_apart_and_all_there() -> None:
    given = compared(a=strategy(1.0))
    first, again, other = tune(given, seed=3), tune(given, seed=3), tune(given, seed=4)
    assert first.chosen_on == again.chosen_on != other.chosen_on
    assert sorted((*first.chosen_on, *first.comparison.case_ids)) == CASES
    assert len(first.chosen_on) == len(first.comparison.case_ids) == 7


def test_the_cheapest_that_keeps_enough_is_named_and_judged_on_the_others() -> None:
    found = tune(
        compared(tight=strategy(1.0, faults=0.5), good=strategy(2.0, faults=0.04, far=0.9), safe=strategy(4.0))
    )
    assert found.candidate is not None
    assert (found.candidate.strategy, found.holds) == ("good", True)
    assert tuned_sentence(found) == (
        "Use good: chosen on 7 runs, judged on 7 others: $2.00 a run, 75% less than today, sure over 7 runs (chance: 1 in 100); "
        "on the worst run 4 turns of 100 would have missed something."
    )


def test_a_setting_that_only_looked_good_is_not_named() -> None:
    found = tune(compared(lucky=strategy(1.0, faults=on_half(0.01, 0.3)), safe=strategy(4.0)))
    assert found.chosen.cheapest.strategy == "lucky"
    assert not found.holds
    assert tuned_sentence(found) == (
        "Keep what you run today: lucky, chosen on 7 runs, does not qualify on the 7 others: "
        "30% of its turns would have missed something, above 5%."
    )
    assert found.advice.outcome == "keep"


def test_what_was_kept_on_the_other_half_does_not_help_the_choice() -> None:
    found = tune(compared(unlucky=strategy(1.0, faults=on_half(0.3, 0.0)), safe=strategy(4.0)))
    assert [item.cheapest.strategy for item in (found.chosen, found.judged)] == ["safe", "unlucky"]
    assert (found.holds, found.advice.subject.strategy) == (True, "safe")


def test_a_setting_that_is_not_surely_cheaper_on_the_others_is_not_advised() -> None:
    prices = {case: 4.0 if number % 3 else 16.0 for number, case in enumerate(CASES)}
    found = tune(compared(wild={**strategy(1.0), "cost.with_refetches_usd": prices}), seed=2)
    assert found.candidate is not None
    assert (found.candidate.strategy, found.holds, found.sure, found.advice.outcome) == ("wild", True, False, "keep")
    assert tuned_sentence(found).startswith("Keep what you run today. wild was chosen on 7 runs, judged on 7 others: ")


def test_runs_of_one_task_are_never_on_both_sides() -> None:
    built = compared(a=strategy(1.0))
    pairs = {case: f"task {number // 2}" for number, case in enumerate(CASES)}
    assert judged_apart(with_tasks(built, pairs)).tuning is None, "7 tasks"
    twice = {case: f"task {max(number, 1)}" for number, case in enumerate(CASES)}
    labelled = msgspec.structs.replace(
        built,
        cases=tuple(
            msgspec.structs.replace(case, recording=msgspec.structs.replace(case.recording, task=twice[case.id]))
            for case in built.cases
        ),
    )
    for seed in range(8):
        drawn = tune(labelled, seed=seed).chosen_on
        assert (CASES[0] in drawn) == (CASES[1] in drawn)
    found = tune(with_tasks(built, twice))
    assert sorted((*found.chosen_on, *found.comparison.case_ids)) == [CASES[0], *CASES[2:]], "a recording counts once"


def test_what_is_run_today_may_win_and_nobody_may() -> None:
    dear = tune(compared(dear=strategy(9.0)))
    assert tuned_sentence(dear).startswith("Keep what you run today: chosen on 7 runs, judged on 7 others.")
    nobody = tune(comparison({"a": strategy(1.0, faults=0.5)}))
    assert not nobody.holds
    assert tuned_sentence(nobody).startswith("No setting is named: nobody qualifies on the 7 runs to choose on")


def test_limits_are_the_rules() -> None:
    given = compared(tight=strategy(1.0, faults=0.1, far=0.5), safe=strategy(4.0))
    limits = ({}, {"max_fault_rate": 0.15}, {"max_fault_rate": 0.15, "min_far_recall": 0.4})
    found = [tune(given, **limit).chosen.cheapest for limit in limits]
    assert [item and item.strategy for item in found] == ["safe", "safe", "tight"]


def test_gates_count_on_each_half_but_not_those_of_a_baseline() -> None:
    rules = (
        {"metric": "needed.recall.far", "strategy": "a", "min": 0.99},
        {"metric": "needed.recall.far", "max_drop": 0.01},
    )
    found = tune(compared(*rules, a=strategy(1.0, far=on_half(1.0, 0.96)), b=strategy(2.0)))
    assert found.chosen.cheapest.strategy == "a"
    assert found.candidate is not None
    assert [item.kind for item in found.candidate.obstacles] == ["gates"]


def test_a_part_is_what_a_comparison_of_those_cases_is() -> None:
    whole = compared(a=strategy(1.0, far=on_half(1.0, 0.5)))
    assert whole.value("a", "needed.recall.far") == 0.75
    part = part_of(whole, HALF)
    assert part.case_ids == HALF
    assert part.value("a", "needed.recall.far") == 1.0
    assert part.value("a", "cost.with_refetches_usd") == 7.0
    delta = part.delta("a", "cost.with_refetches_usd")
    assert delta is not None
    assert (delta.n, delta.delta) == (7, 7 - 56)


def test_too_few_tasks_are_not_parted() -> None:
    few = part_of(compared(a=strategy(1.0)), CASES[:11])
    assert judged_apart(few) is few
    assert judged_apart(part_of(compared(a=strategy(1.0)), CASES[:12])).tuning is not None


# ---------------------------------------------------------------- the command
