"""The decision by value: one input a rule and verdict, and what must hold of every decision."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest
from built import advice_on, run, runs_with_prices, score, sentences
from hypothesis import given, settings, strategies as st
from numbers_gold import GOLD

from bench.comparison.rules import TABLE
from bench.model.advice import Advice, Ranked
from bench.model.outcome import Failure
from bench.model.scores import Check, FalseAlarms, Finding, MeasuredRun, Number

TODAY = [10.0, 20.0, 15.0, 30.0, 12.0, 9.0, 14.0, 11.0]
ORDER = ("ship", "keep", "not certain", "no gain", "loses too much", "unfaithful", "invalid")


def cheaper(**more: Any) -> list[dict[str, Any]]:
    """A strategy that saves about a fifth on every run."""
    return [{"usd": cost * (0.8 + 0.01 * (at % 3)), **more} for at, cost in enumerate(TODAY)]


def advice_for(runs: list[MeasuredRun], specs: Mapping[str, str] | None = None, **terms: Any) -> Advice:
    names = sorted({item.strategy for one in runs for item in one.scores} - {"recorded", "clairvoyant"})
    return advice_on(runs, names, specs, **terms)


def ranked(advice: Advice, name: str) -> Ranked:
    return next(item for item in advice.ranked if item.strategy == name)


def first_refused(item: Ranked) -> str:
    return next((rule.rule for rule in item.rules if not rule.passed), "")


FAILED = Failure(step=3, slot="summarizer", error="ValueError: no")


@pytest.mark.parametrize(
    ("given_", "verdict", "rule"),
    [
        ({}, "ship", ""),
        ({"failure": FAILED, "far": 0.5}, "invalid", "ran"),
        ({"unstable_at": 4}, "invalid", "ran"),
        ({"checks": {"valid": Check(hits=1, of=50)}}, "invalid", "valid"),
        ({"checks": {"instructed": Check(hits=1, of=50)}}, "unfaithful", "instructed"),
        ({"checks": {"changed": Check(hits=1, of=50)}}, "unfaithful", "changed"),
        ({"checks": {"misattributed": Check(hits=2, of=50)}}, "unfaithful", "misattributed"),
        ({"checks": {"invented": Check(hits=2, of=50)}}, "unfaithful", "invented"),
        ({"checks": {"hidden": Check(hits=1, of=50)}}, "unfaithful", "hidden"),
        ({"checks": {"changed": Check(of=50, unchecked=1)}}, "not certain", ""),
        ({"missed": 0.05}, "ship", ""),
        ({"missed": 0.0501}, "loses too much", "needed"),
        ({"far": 0.90}, "ship", ""),
        ({"far": 0.8999}, "loses too much", "far"),
        ({"numbers": {"needed.recall.far": Number(None, 0.0, "nothing to measure")}}, "ship", ""),
        ({"numbers": {"needed.recall.far": Number(None, 1.0, "defect")}}, "not certain", "far"),
        ({"numbers": {"needed.missed_turn_rate": Number(float("nan"), 1.0)}}, "not certain", "needed"),
        ({"acted": False}, "no gain", ""),
    ],
)
def test_each_rule_refuses_with_its_verdict(given_: dict[str, Any], verdict: str, rule: str) -> None:
    advice = advice_for(runs_with_prices(TODAY, mine=cheaper(**given_)))
    mine = ranked(advice, "mine")
    broken = [result.rule for result in mine.broken if result.rule != "cheaper"]
    assert (mine.verdict, broken) == (verdict, [rule] if rule else [])
    assert advice.advised == ("mine" if verdict == "ship" else None)
    assert [result.rule for result in mine.rules if result.rule != "cheaper"] == ["ran", "valid", "instructed", "changed",
        "misattributed", "invented", "hidden", "needed", "far"]  # fmt: skip


def test_a_loss_that_more_runs_could_decide_otherwise_says_so() -> None:
    far = [0.8, 0.99, 0.85, 0.95, 0.7, 0.99, 0.9, 0.8]
    open_, certain = (
        advice_for(runs_with_prices(TODAY, mine=[{**each, "far": far[at] - less} for at, each in enumerate(cheaper())]))
        for less in (0.0, 0.2)
    )
    reasons = [ranked(advice, "mine").reason for advice in (open_, certain)]
    assert reasons == ["old facts <90%", "old facts <90%"]
    assert "perhaps loses too much: 87.2% of old facts are kept, below 90%; more runs could decide." in open_.sentence
    assert "but loses too much" in certain.sentence
    assert "more runs" not in certain.sentence


def test_a_refusal_on_few_tasks_is_not_certain() -> None:
    few = advice_for(runs_with_prices(TODAY[:4], mine=cheaper(missed=0.2)[:4]))
    assert "but perhaps loses too much: 20% of turns miss something, above 5%; more runs could decide." in few.sentence
    assert "more runs" not in advice_for(runs_with_prices(TODAY, mine=cheaper(missed=0.2))).sentence


def test_old_facts_on_few_tasks_name_their_number() -> None:
    none = {"numbers": {"needed.recall.far": Number(None, 0.0, "nothing to measure")}}
    mine = [{**each, "missed": 0.01, **({"far": 0.95} if at < 3 else none)} for at, each in enumerate(cheaper())]
    advice = advice_for(runs_with_prices(TODAY, mine=mine))
    assert advice.advised == "mine"
    assert "95% of old facts are kept (mean over 3 runs, 30 facts; limit 90%)" in advice.sentence


def test_a_saving_only_without_a_cache_says_so() -> None:
    sizes = [{"recorded": size, "mine": size * 0.7, "csv": size * 0.8} for size in TODAY]
    runs = [
        run(f"r{at}", [score(name, numbers={"cost.prompt_tokens": Number(size)}) for name, size in each.items()])
        for at, each in enumerate(sizes)
    ]
    advice = advice_for(
        runs, {"mine": "mine=compactor=mask_observations:keep_last=5", "csv": "csv=summarizer=csv_table"}
    )
    conditions = [ranked(advice, name).condition for name in ("mine", "csv", "recorded")]
    assert conditions == ["where prompts are not cached", "", ""]
    assert advice.sentence.startswith("Ship `mine` where prompts are not cached: ")
    assert "It certainly saves tokens on 8 runs, also after 2 tries: 95% interval " in advice.sentence
    assert advice.sentence.endswith(
        " With a cache: ship `csv`, since `mine` may cost more; to price that, add a `--model` with known prices."
    )


def test_a_question_about_a_strategy_is_answered_in_its_terms() -> None:
    runs = runs_with_prices(TODAY, mine=cheaper(), lossy=cheaper(missed=0.2), dear=[{"usd": usd * 2} for usd in TODAY])
    asked = {name: advice_on(runs, ["mine", "lossy", "dear"], asks=name).sentence for name in ("mine", "lossy", "dear")}
    assert asked["lossy"].startswith("No: `lossy` ")
    assert asked["dear"].startswith("No: `dear` ")
    assert asked["mine"].startswith("Yes. Ship `mine`:")


def test_the_rules_of_the_table_are_tried_in_order() -> None:
    asked = list(dict.fromkeys(item.rule for item in TABLE))
    assert asked == ["ran", "valid", "instructed", "changed", "misattributed", "invented", "hidden", "needed", "far",
                     "stored", "judged", "routed", "better", "cheaper"]  # fmt: skip


@pytest.mark.parametrize(
    ("ratio", "n", "verdict"),
    [(0.8, 6, "ship"), (0.8, 5, "not certain"), (0.9995, 8, "no gain"), (1.0, 8, "no gain"), (1.2, 8, "no gain")],
)
def test_a_saving_needs_six_tasks_and_more_than_noise(ratio: float, n: int, verdict: str) -> None:
    today = (TODAY * 2)[:n]
    assert ranked(advice_for(runs_with_prices(today, mine=[cost * ratio for cost in today])), "mine").verdict == verdict


def test_runs_of_one_task_are_one_task() -> None:
    runs = [
        run(f"r{at}", [score("recorded", cost), score("mine", cost * 0.8)], task=f"t{at % 4}")
        for at, cost in enumerate(TODAY)
    ]
    advice = advice_for(runs)
    assert (advice.tasks, advice.runs, ranked(advice, "mine").verdict) == (4, 8, "not certain")
    twice = [
        *runs_with_prices(TODAY[:4], mine=[8.0] * 4),
        *(
            run(f"copy{at}", [score("recorded", cost), score("mine", 8.0)], sha=f"r{at:03}")
            for at, cost in enumerate(TODAY[:4])
        ),
    ]
    assert advice_for(twice).runs == 4, "a recording that is there twice counts once"


def test_shares_are_means_over_tasks() -> None:
    runs = [
        run("a1", [score("recorded", 1.0), score("mine", 0.8, missed=0.4)], task="a"),
        run("a2", [score("recorded", 1.0), score("mine", 0.8, missed=0.2)], task="a"),
        run("b1", [score("recorded", 1.0), score("mine", 0.8, missed=0.0)], task="b"),
    ]
    mine = ranked(advice_for(runs), "mine")
    assert mine.missed_turns == pytest.approx(0.15)


def test_a_fault_of_the_strategy_in_use_refuses_no_candidate() -> None:
    runs = []
    for at, cost in enumerate(TODAY):
        broken = {"hidden": Check(hits=2, of=9, findings=(Finding(1, "today's"),)), "valid": Check(hits=1, of=9)}
        both = [score(name, usd, checks=broken, missed=0.2) for name, usd in (("recorded", cost), ("mine", cost * 0.8))]
        runs.append(run(f"r#{at}", both))
    assert ranked(advice_for(runs), "mine").verdict == "ship"
    worse = {**broken, "hidden": Check(hits=3, of=9, findings=(Finding(1, "today's"), Finding(5, "own")))}
    today = score("recorded", 10.0, checks=broken, missed=0.2)
    runs[0] = run("r#0", [today, score("mine", 8.0, checks=worse, missed=0.2)], task="7 fly")
    item = ranked(advice_for(runs), "mine")
    assert first_refused(item) == "hidden"
    found = [(finding.text, finding.run) for rule in item.rules for finding in rule.findings]
    assert (found, "(task 7 fly, step 5)" in item.reason) == ([("own", "task 7 fly")], True)


def test_a_rule_that_reads_prose_refuses_only_above_its_own_error_rate() -> None:
    noisy = {"invented": Check(hits=1, of=25, findings=(Finding(3, "471"),))}
    runs = runs_with_prices(TODAY, mine=cheaper(checks=noisy))
    assert first_refused(ranked(advice_for(runs), "mine")) == "invented"
    assert ranked(advice_for(runs, rates={"invented": FalseAlarms(0.05)}), "mine").verdict == "ship"
    assert first_refused(ranked(advice_for(runs, rates={"invented": FalseAlarms(0.01)}), "mine")) == "invented"
    summaries = {"invented": Check(hits=1, of=25, summaries=25)}
    runs = runs_with_prices(TODAY, mine=cheaper(checks=summaries))
    assert ranked(advice_for(runs, rates={"invented": FalseAlarms(0.01, 0.05)}), "mine").verdict == "ship"


@pytest.mark.parametrize(
    ("shares", "uncached", "verdict", "disagree"),
    [
        ("recorded", 1.1, "ship", True),
        ("recorded", 0.8, "ship", False),
        ("assumed", 1.1, "not certain", True),
        ("assumed", 0.8, "ship", False),
    ],
)
def test_with_an_assumed_cache_a_saving_must_hold_with_and_without_it(
    shares: str, uncached: float, verdict: str, disagree: bool
) -> None:
    runs = []
    for at, cost in enumerate(TODAY):
        mine = score("mine", cost * 0.8, uncached=cost * uncached)
        runs.append(run(f"r{at}", [score("recorded", cost), mine], shares=shares))
    advice = advice_for(runs)
    words = "since `mine` costs 10% more there." if verdict == "ship" else "without a cache, where it costs 10% more."
    assert (ranked(advice, "mine").verdict, words in advice.sentence) == (
        verdict,
        disagree,
    )


def test_a_valid_strategy_is_advised_without_a_saving_if_the_one_in_use_is_invalid() -> None:
    runs = [
        run(f"r{at}", [score("recorded", cost, failure=FAILED), score("mine", cost * 1.1)])
        for at, cost in enumerate(TODAY)
    ]
    advice = advice_for(runs)
    assert (advice.advised, ranked(advice, "recorded").verdict) == ("mine", "invalid")
    assert advice.sentence.endswith(" What runs today is not valid.")  # and not "It certainly saves something"
    advice = advice_for(runs, specs={"mine": "mine=store=full"})
    assert (advice.advised, advice.sentence[-29:]) == ("mine", "What runs today is not valid.")


@pytest.mark.parametrize("priced", [0, 7])
def test_without_all_prices_strategies_are_compared_by_tokens(priced: int) -> None:
    def numbers(at: int, tokens: float) -> dict[str, Number]:
        price = Number(1.0) if at < priced else Number(None, reason="no price is listed for the model")
        return {"cost.prompt_tokens": Number(tokens), "cost.usd": price}

    mine = [score("mine", numbers=numbers(at, cost * 0.7), own=cost * 0.1) for at, cost in enumerate(TODAY)]
    today = [score("recorded", numbers=numbers(at, cost)) for at, cost in enumerate(TODAY)]
    advice = advice_for([run(f"r{at}", both) for at, both in enumerate(zip(today, mine, strict=True))])
    assert (advice.unit, advice.advised, ranked(advice, "mine").uncached) == ("tokens", "mine", None)
    assert "it uses 20% fewer tokens" in advice.sentence
    why = " Tokens are compared, as no price is known for 1 of 8 runs (no model is named: `--model` sets one)."
    assert advice.sentence.endswith(why) == (priced > 0)


@pytest.mark.parametrize("others", ["", "a", "b", "ab"])
def test_an_option_that_is_not_advised_does_not_change_the_advice(others: str) -> None:
    """A slot, and 1% of turns missed, must save 1% of today's price, whatever else was tried."""
    tried = {"c": (0.70, 0.0, "x"), "a": (0.686, 0.01, "x+compactor=z"), "b": (0.693, 0.0, "x+compactor=y")}
    each = {at: [{"usd": cost * tried[at][0], "missed": tried[at][1]} for cost in TODAY] for at in "c" + others}
    advice = advice_for(runs_with_prices(TODAY, **each), specs={at: f"{at}=summarizer={tried[at][2]}" for at in each})
    assert (advice.advised, advice.ranked[0].strategy) == ("c", "c")


def test_a_portfolio_states_what_to_expect_on_tasks_that_did_not_choose() -> None:
    draws = random.Random(2)
    many = {f"s{at:02}": [cost * draws.lognormvariate(-0.4, 0.3) for cost in TODAY * 2] for at in range(12)}
    runs = runs_with_prices(TODAY * 2, **many)
    plain, apart = advice_for(runs), advice_for(runs, portfolio=True)
    assert plain.advised == apart.advised
    assert apart.advised is not None
    chosen, stated = ranked(plain, apart.advised).price, ranked(apart, apart.advised).price
    assert chosen is not None
    assert stated is not None
    assert (chosen.ratio or 9) < (stated.expected or 0) <= (stated.high or 0)
    assert (stated.ratio, stated.interval, chosen.expected) == (chosen.ratio, chosen.interval, None)
    assert f"; expect −{1 - (stated.expected or 0):.1%}, as it was chosen among 12." in apart.sentence
    steady, far = [cost * 0.9 for cost in TODAY], [cost * (0.8 if at else 3.5) for at, cost in enumerate(TODAY)]
    advice = advice_for(runs_with_prices(TODAY, steady=steady, far=far), portfolio=True)
    assert "expect" not in advice.sentence  # of `steady`, since all its tasks agree


def test_of_many_the_luckiest_gives_way_to_one_that_loses_less_at_its_honest_price() -> None:
    today = TODAY * 3
    lucky = {
        f"lucky{at}": [{"usd": usd * (0.6 if k % 3 == at else 0.86), "missed": 0.01} for k, usd in enumerate(today)]
        for at in range(3)
    }
    runs = runs_with_prices(today, safe=[{"usd": usd * 0.8} for usd in today], **lucky)
    plain, many = advice_for(runs), advice_for(runs, portfolio=True)
    assert (plain.advised or "").startswith("lucky")
    assert many.advised == "safe"


STORES = {"cut": "cut=store=truncate:limit=10", "whole": "whole=store=full"}


def loss_numbers(share: float, agreed: float = 1.0, routed: float = 1.0) -> dict[str, Number]:
    return {
        "loss.leaf_recall.stored": Number(share, 20), "findings.agreement": Number(agreed, 28),
        "routing.accuracy": Number(routed, 20),
    }  # fmt: skip


def test_stores_evaluators_and_routers_are_answered_in_their_own_terms() -> None:
    def answered(specs: dict[str, str], bad: dict[str, Number], usd: float = 0.9) -> Advice:
        scores = [
            score("recorded", 1.0, numbers=loss_numbers(1.0)),
            score("cut", 0.5, numbers=bad),
            score("whole", usd, numbers=loss_numbers(1.0)),
        ]
        return advice_for([run(f"r{at}", scores) for at in range(6)], specs=specs)

    for slot, bad, rule in (
        ("store=truncate:limit=10", loss_numbers(0.4), "stored"),
        ("evaluator=step_v1", loss_numbers(1.0, agreed=10 / 28), "judged"),
        ("routers=[executor]", loss_numbers(1.0, routed=0.5), "routed"),
    ):
        other = slot.replace("truncate:limit=10", "full").replace("step_v1", "step_v2").replace("executor", "planner")
        advice = answered(specs := {"cut": f"cut={slot}", "whole": f"whole={other}"}, bad)
        assert (advice.answers, advice.advised) == (rule, "whole")
        assert " instead of $1.00 a run with the provider's cache). Nothing that a turn used" in advice.sentence
        as_today = answered(specs, bad, usd=1.0)
        assert (as_today.advised, ranked(as_today, "whole").verdict) == (None, "no gain")
        assert ", but is no better than today." in as_today.sentence
        assert (ranked(advice, "cut").verdict, first_refused(ranked(advice, "cut"))) == ("loses too much", rule)
    csv = {**STORES, "cut": "cut=summarizer=csv_table+store=truncate:limit=10"}
    assert first_refused(ranked(answered(csv, loss_numbers(0.4)), "cut")) == "stored"
    texts = {"loss.leaf_recall.stored": Number(None, 0.0), "loss.fact_recall.stored": Number(0.4, 20)}
    assert first_refused(ranked(answered(STORES, texts), "cut")) == "stored"
    assert ranked(answered({**STORES, "cut": "cut=routers=[a]"}, {}), "cut").answers == "routed"
    unmeasured = ranked(answered(STORES, {}), "cut")
    assert (unmeasured.verdict, unmeasured.reason) == ("not certain", "nothing that it fills could be measured")


@pytest.mark.parametrize(
    ("today", "own", "verdict", "words"),
    [
        (0.5, [0.8, 0.9, 0.7, 0.8, 0.9, 0.7], "ship", "Ship `mine`: it takes the expected route in 80% of the "
         "decisions (96 of 120 decisions; today 50%; 95% interval 70.6% to 89.4%). It is certainly better than what runs today on 6 runs."),
        (0.5, [0.8, 0.9, 0.7, 0.8, 0.9], "not certain", "but at least 6 runs are needed."),
        (0.5, [0.1, 0.9, 0.2, 0.9, 0.6, 0.9], "not certain", "but may be no better than today"),
        (None, [0.8] * 6, "not certain", "takes the expected route in 80% of the decisions (96 of 120 decisions), but what today's router would do is not recorded: add it as a strategy."),
    ],
)  # fmt: skip
def test_a_route_must_be_better_than_todays_by_more_than_chance(
    today: float | None, own: list[float], verdict: str, words: str
) -> None:
    before = score("recorded", 1.0, numbers={} if today is None else loss_numbers(1.0, routed=today))
    scores = [[before, score("mine", 1.0, numbers=loss_numbers(1.0, routed=share))] for share in own]
    runs = [run(f"r{at}", both) for at, both in enumerate(scores)]
    advice = advice_for(runs, specs={"mine": "mine=routers=[executor]"})
    assert ranked(advice, "mine").verdict == verdict
    assert words in advice.sentence


# ---------------------------------------------------------------- properties

COST = st.floats(0.3, 1.3)


@st.composite
def comparisons(draw: st.DrawFn) -> list[MeasuredRun]:
    count, names = draw(st.integers(1, 9)), draw(st.integers(1, 4))
    others = {}
    for at in range(names):
        ratio, missed = draw(COST), draw(st.sampled_from([0.0, 0.03, 0.05, 0.2]))
        hits = draw(st.sampled_from([0, 0, 0, 1]))
        others[f"s{at}"] = [
            {
                "usd": TODAY[k % 8] * ratio * (1 + k % 3 / 50),
                "missed": missed,
                "checks": {"changed": Check(hits=hits, of=9)},
            }
            for k in range(count)
        ]
    return runs_with_prices([TODAY[k % 8] for k in range(count)], **others)


@given(comparisons(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_the_order_of_strategies_and_runs_does_not_matter(runs: list[MeasuredRun], chance: random.Random) -> None:
    names = sorted({item.strategy for item in runs[0].scores} - {"recorded"})
    mixed, order = list(runs), list(names)
    chance.shuffle(mixed)
    chance.shuffle(order)
    assert advice_on(runs, names) == advice_on(mixed, order)


@given(comparisons(), st.sampled_from(["missed", "far", "changed", "hidden", "invented", "failure"]))
@settings(max_examples=80, deadline=None)
def test_more_loss_never_improves_a_verdict(runs: list[MeasuredRun], harm: str) -> None:
    def harmed(one: MeasuredRun) -> MeasuredRun:
        scores = []
        for item in one.scores:
            if item.strategy == "s0":
                more = {
                    "missed": {"missed": 0.3}, "far": {"far": 0.1}, "failure": {"failure": FAILED},
                }.get(harm, {"checks": {harm: Check(hits=3, of=9)}})  # fmt: skip
                item = score("s0", item.numbers["cost.usd"].value, **more)  # type: ignore[arg-type]
            scores.append(item)
        return run(one.id, scores)

    before, after = (ranked(advice_for(list(given_)), "s0").verdict for given_ in (runs, map(harmed, runs)))
    if harm in ("missed", "far") or before in ("ship", "not certain", "no gain", "loses too much"):
        assert ORDER.index(after) >= ORDER.index(before) or before in ("unfaithful", "invalid")


@given(comparisons())
@settings(max_examples=40, deadline=None)
def test_the_advised_strategy_passes_every_rule_and_is_listed_first(runs: list[MeasuredRun]) -> None:
    advice = advice_for(runs)
    places = [ORDER.index(item.verdict) for item in advice.ranked]
    assert places == sorted(places)
    first = advice.ranked[0]
    assert advice.advised == (first.strategy if first.verdict == "ship" else None)
    if first.verdict == "ship":
        assert all(rule.passed for rule in first.rules)
        assert first.price is not None
        assert first.price.high is not None
        assert first.price.high < 1
        assert f" `{first.strategy}`: " in advice.sentence


def test_of_two_at_one_price_the_one_that_loses_less_comes_first() -> None:
    names = {"a": cheaper(missed=0.01), "b": cheaper()}
    ranked = [item.strategy for item in advice_for(runs_with_prices(TODAY, **names)).ranked if item.strategy in names]
    assert ranked == ["b", "a"]


def test_the_reason_why_a_strategy_did_not_run_is_reported() -> None:
    odd = [{"failure": FAILED}, {"unstable_at": 4}]
    runs = [run(f"r{at}", [score("recorded", 9.0), score("mine", 8.0, **fields)]) for at, fields in enumerate(odd)]
    ran = ranked(advice_for([*runs, run("r2", [score("recorded", 9.0)])]), "mine").rules[0]
    assert [(finding.step, finding.text) for finding in ran.findings] == [
        (3, "ValueError: no"), (4, "gave something else when it was replayed again"), (None, "was not replayed"),
    ]  # fmt: skip


def test_unchecked_texts_are_reported_only_for_candidates() -> None:
    unread = {"changed": Check(of=5, unchecked=1, unchecked_text="YWJj")}
    runs = [run(f"r{at}", [score(name, 9.0, checks=unread) for name in ("recorded", "mine")]) for at in range(6)]
    assert [(item.strategy, item.unchecked_text) for item in advice_for(runs).ranked] == [
        ("recorded", ""),
        ("mine", "YWJj"),
    ]


def test_the_sentences_of_advice_are_those_of_the_gold_file() -> None:
    assert sentences() == (GOLD / "sentences.txt").read_text(encoding="utf-8"), "make accept-gold"
