"""The advice in words, the same on every output. Every comparison here is put together by hand."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import msgspec
import pytest
from decided import ALL, INFOS, TODAY, UNMEASURED, comparison, decided, spread, strategy
from hypothesis import given, strategies as st

from bench.comparison.decision import decide
from bench.model import Row, RunShown
from bench.reports import build_blocks, rendered
from bench.reports.decision_sentence import advice_text, asked_text, decision_notes, decision_sentence, statements
from bench.reports.figures import figures, scenarios_table
from bench.reports.notebook import Compared
from bench.reports.text import terminal_text

SLIPS = [0.2] + [0.0] * 7
"""A fault rate of 0.2 on one of eight cases: 0.025 over all."""


# ---------------------------------------------------------------- the sentence


def test_the_sentence_of_what_to_ship():
    specs = {"mask": "mask=compactor=mask_observations:keep_last=10"}
    decision = decided(mask=strategy(0.5, [0.125] + [0.0] * 7), cut=strategy(0.1, 0.2), specs=specs)
    assert decision_sentence(decision) == (
        "Ship mask: a run costs 50% less than today, sure over 8 runs (chance: 1 in 120); "
        "on the worst run 12 turns of 100 would have missed something."
    )
    assert list(statements(decision)) == [
        "Best alternative: what you run today, $1.00 a run with refetches.",
        "Nearest published experiment: all but the last 10 observations masked (SWE-agent, Gemini 2.5 Flash thinking, 500 tasks): cost ×0.435, "
        "turns ×1.03, −3.8 points solved (arXiv 2508.21433, SWE-bench Verified).",
        "Prices are under the provider's prompt cache.",
    ]


def test_the_sentence_of_what_to_keep():
    decision = decided(
        a=strategy([0.5] * 6 + [1.5, 0.5]), b=strategy(0.1, 0.3), c=strategy(0.2, **{"prompt.invalid": 1})
    )
    assert decision_sentence(decision) == (
        "Keep what you run: a would cost 37.5% less than today, but that is not sure (cheaper on 7 of 8 runs); 2 cheaper ones do not qualify."
    )
    assert list(statements(decision)) == [
        "Best alternative (cheaper, not sure): a, $0.62 a run with refetches, 37.5% less than what you run today (cheaper on 7 of 8 runs); "
        "no turn would have missed anything.",
        "No public evidence.",
        "Prices are under the provider's prompt cache.",
    ]
    alone = decided(keep_all=strategy(2.0, **{"cost.window_overflows": 3}), a=strategy(0.5, 0.5))
    assert decision_sentence(alone) == (
        "Keep what you run: nothing else qualifies; a would cost 50% less than today, but loses too much."
    )


def test_the_sentence_where_nobody_qualifies():
    bad = {"prompt.invalid": 1}
    decision = decided(keep_all=strategy(2.0, **bad), recorded=strategy(1.0, **bad), a=strategy(0.5, 1.0, 0.3))
    assert (decision.advice.outcome, decision.advice.subject) == ("nobody", None)
    assert decision_sentence(decision) == (
        "Nobody qualifies: providers would refuse it (2 of 3), loses too much (1 of 3)."
    )


def test_what_runs_today_and_does_not_qualify_is_told_so():
    said = decision_sentence(decided(recorded=strategy(1.0, **{"prompt.invalid": 1}), a=strategy(1.5)))
    assert said.startswith(
        "Ship a: what runs today would be refused by providers; a run costs 50% more than today, over 8 runs; no turn"
    )


def test_what_the_rule_could_not_look_at_is_said():
    infos = {name: INFOS[name] for name in ("cost.with_refetches_usd", "needed.fault_rate")}

    def plain(usd):
        return {"cost.with_refetches_usd": spread(usd), "needed.fault_rate": spread(0.0)}

    decision = decide(comparison({"recorded": plain(1.0), "keep_all": plain(2.0), "a": plain(0.5)}, infos=infos))
    assert (decision.advice.outcome, set(decision.unchecked)) == ("ship", {"prompts", "window", "far", "changed"})
    for metric in ("prompt.invalid", "prompt.task_missing"):
        values = {
            name: {**plain(usd), metric: spread(0.0)}
            for name, usd in (("recorded", 1.0), ("keep_all", 2.0), ("a", 0.5))
        }
        assert "prompts" in decide(comparison(values, infos={**infos, metric: INFOS[metric]})).unchecked, (
            "the other is not known"
        )
    nothing = decided(**{name: strategy(1.0, far=None) for name in ("recorded", "keep_all", "a")})
    assert "nothing_far" in nothing.unchecked
    assert "nothing_far" not in decided(a=strategy(1.0, far=None)).unchecked, "of another one it was measured"
    assert "Nothing was needed from far back, so that part of the rule does not apply." in list(decision_notes(nothing))


@pytest.mark.parametrize(
    ("gone", "part"),
    [("prompt.invalid", "prompts"), ("prompt.task_missing", "prompts"), ("cost.window_overflows", "window"), ("needed.recall.far", "far"),
     ("changed.values", "changed"), ("changed.errors_hidden", "changed"), ("changed.invented", "changed")],
)  # fmt: skip
def test_a_part_of_the_rule_without_its_metric_is_not_looked_at(gone, part):
    infos = {name: info for name, info in INFOS.items() if name != gone}
    rows = {name: value for name, value in strategy(1.0).items() if name != gone}
    assert part in decide(comparison(dict.fromkeys(("recorded", "keep_all", "a"), rows), infos=infos)).unchecked


def test_keeping_everything_is_called_impossible_where_it_overflows():
    decision = decided(keep_all=strategy(2.0, **{"cost.window_overflows": [20] + [0] * 7}), a=strategy(0.5))
    assert decision.impossible == 20
    assert any(
        note.startswith("Keeping everything is impossible here: 20 prompts") for note in decision_notes(decision)
    )


def test_a_price_that_can_only_be_higher_says_so():
    low = Row(strategy="", metric="", case="", value=0.5, unit="", n=1, high=0.7)
    built = comparison({"recorded": TODAY, "keep_all": ALL, "a": strategy([low] * 8)})
    assert figures(built).items[1].answer == "at least $0.50"


def test_where_today_stays_the_third_figure_says_what_tempts_and_why_not():
    def third(**values):
        item = figures(comparison({"recorded": TODAY, "keep_all": strategy(0.2, 0.9), **values})).items[2]
        return item.question, item.answer, item.said

    asked = "What is cheaper, and why not?"
    refused = "Refused: 30% of its turns would have missed something, above 5%."
    assert third(a=strategy(0.1, 0.3), b=strategy(0.2, 0.4)) == (asked, "a: 90% less", (refused,))
    assert third(a=strategy([0.5] * 6 + [1.5, 0.5])) == (
        asked, "a: 37.5% less", ("Not sure: cheaper on 7 of 8 runs.",),
    )  # fmt: skip
    for same in (1.5, 0.9999):
        assert third(a=strategy(same)) == (
            asked,
            "nothing",
            ("Nothing that was compared costs less than what you run.",),
        )


def test_a_sentence_with_one_that_is_not_sure_and_one_that_is_refused_stays_short():
    said = decision_sentence(decided(a=strategy([0.5] * 6 + [1.5, 0.5]), b=strategy(0.6, 0.3)))
    assert said == (
        "Keep what you run: a would cost 37.5% less than today, but that is not sure (cheaper on 7 of 8 runs); b loses too much."
    )


def test_strategies_that_never_acted_are_one_line_below_the_table():
    built = comparison(
        {"recorded": TODAY, "keep_all": ALL, **{name: strategy(1.0) for name in "abc"}, "d": strategy(1.2)}
    )
    runs = {name: RunShown(same_prompts=name in "abc") for name in (*"abcd", "recorded", "keep_all")}
    built = msgspec.structs.replace(
        built, cases=tuple(msgspec.structs.replace(case, runs=runs) for case in built.cases)
    )
    text = terminal_text(built, ["ranking"])
    assert "3 never acted here (same prompts as recorded), so they cost as much as today: a, b, c." in text
    assert [row[0].text for row in build_blocks(built, ["ranking"])[0].blocks[2].blocks[0].rows] == [
        "recorded",
        "d",
        "keep_all",
    ]


def test_a_strategy_that_forgets_what_is_far_back_is_hollow_in_the_chart():
    built = comparison({"recorded": TODAY, "keep_all": ALL, "far": strategy(0.5, far=0.5), "near": strategy(0.6)})
    chart = build_blocks(built, ["ranking"])[0].blocks[2].blocks[1]
    assert {point.series for point in chart.points if point.mark} == {"far"}
    assert "keeps less than 90% of what was needed from far back" in chart.text


def test_a_price_over_fewer_runs_says_so_and_has_no_place_in_the_chart():
    few = strategy(0.5, **{"cost.window_overflows": [20] + [0] * 7})
    built = comparison({"recorded": TODAY, "keep_all": ALL, "few": few})
    table, chart = build_blocks(built, ["ranking"])[0].blocks[2].blocks
    said = {row[0].text: (row[1].detail, row[3].detail) for row in table.rows}
    assert said == {
        "recorded": ("", ""),
        "keep_all": ("", ""),
        "few": ("on 7 of 8 runs",) * 2,
    }
    assert {point.series for point in chart.points} == {"recorded", "keep_all"}


money = st.floats(0.1, 10).map(lambda value: round(value, 2))
missed = st.sampled_from([0.0, 0.02, 0.06, 1.0])


@given(st.lists(st.tuples(st.none() | money | st.just(UNMEASURED), st.none() | missed | st.just(UNMEASURED),
                          st.sampled_from([0, 1, UNMEASURED])), min_size=1, max_size=4))  # fmt: skip
def test_every_sentence_is_one_line_and_says_what_the_advice_says(drawn):
    values = {
        f"s{number}": strategy(usd, faults, **{"prompt.invalid": bad})
        for number, (usd, faults, bad) in enumerate(drawn)
    }
    decision = decide(comparison({"recorded": TODAY, "keep_all": ALL, **values}))
    said = decision_sentence(decision)
    assert len(said.split()) <= 30
    assert said.startswith({"ship": "Ship ", "keep": "Keep what you run", "nobody": "Nobody"}[decision.advice.outcome])
    if decision.advice.outcome == "ship":
        assert said.startswith(f"Ship {decision.advice.subject.strategy}")
    assert "\n" not in said
    assert said.endswith(".")
    assert not re.search(r"\b(needed|cost|prompt|loss)\.\w", said)
    assert "None" not in said
    assert "nan" not in said


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("best", "Yes: best costs 50% less than today."),
        ("good", "Yes, good costs 40% less than today; another is cheaper still."),
        ("dear", "No: dear costs 20% more than today."),
        ("lossy", "No: lossy loses too much."),
        ("same", "It makes no difference here: same costs as much."),
        ("", ""),
    ],
)
def test_what_a_scenario_asks_is_answered_in_its_own_words(asked, said):
    values = {
        "best": strategy(0.5),
        "good": strategy(0.6),
        "dear": strategy(1.2),
        "lossy": strategy(0.1, 0.3),
        "same": strategy(1.0),
    }
    built = comparison({"recorded": TODAY, "keep_all": ALL, **values}, asks=asked)
    assert asked_text(built) == said
    (panel,) = build_blocks(built, ["ranking"])
    assert [getattr(block, "text", None) for block in panel.blocks].count(said) == bool(said)


# ---------------------------------------------------------------- where it is said

PLAIN = "cost.uncached_with_refetches_usd"
TWENTY = [
    *({"a": strategy(usd, faults)} for usd in (0.5, 0.9995, 1.0, 1.5) for faults in (0.0, SLIPS, 0.5)),
    {"a": strategy([0.2] * 6 + [2.0, 1.2])},
    {"a": strategy(0.5), "b": strategy(0.4, 0.3), "floor": strategy(0.2)},
    {"a": strategy(0.5, **{"changed.values": 2}), "b": strategy(1.2)},
    {"a": strategy(0.5, **{"cost.window_overflows": [1] + [0] * 7})},
    {"a": strategy([0.5] * 7 + [UNMEASURED])},
    {"recorded": strategy(1.0, **{PLAIN: 1.0}), "keep_all": strategy(1.5, **{PLAIN: 1.5}), "a": strategy(1.9, **{PLAIN: 0.5})},
    {"recorded": strategy(1.0, **{PLAIN: 1.0}), "keep_all": strategy(1.5, **{PLAIN: 1.5}), "a": strategy(0.9, **{PLAIN: 2.5})},
    {name: strategy(1.0, **{"prompt.invalid": 1}) for name in ("recorded", "keep_all", "a")},
]  # fmt: skip


@pytest.mark.parametrize("values", TWENTY)
def test_every_output_says_the_same(values):
    built = comparison({"keep_all": ALL, "recorded": TODAY, **values})
    said, decision = advice_text(built), decide(built)
    (panel,) = build_blocks(built, ["ranking"])
    assert [item.answer for item in panel.blocks[0].items] == [item.answer for item in figures(built).items]
    assert panel.blocks[1].text == said
    assert said in " ".join(terminal_text(built, ["ranking"]).split())
    assert said.replace("$", "&#36;") in rendered([built], "markdown", ["ranking"])
    told = json.loads(rendered([built], "json", ["ranking"]))["advice"]
    suites = ET.fromstring(rendered([built], "junit", ["ranking"])).iter("testsuite")
    assert [suite.find("properties/property[@name='advice']").get("value") for suite in suites] == [said]
    fields = {name: getattr(built, name) for name in built.__struct_fields__}
    assert said in repr(Compared(**fields))
    subject = decision.advice.subject
    assert (told["outcome"], told["sentence"]) == (decision.advice.outcome, said)
    (row,) = scenarios_table([("s", built)]).rows
    if subject is None:
        assert (told["strategy"], row[1].text) == (None, said)
        return
    assert (told["strategy"], told["price_a_run"], told["sure"]) == (
        subject.strategy,
        subject.price_a_run,
        decision.advice.sure,
    )
    loss = "nothing" if not subject.worst_fault_rate else f"{subject.worst_fault_rate:.0%}"
    assert row[3].text == loss
    assert row[1].text == said


def two_economies(**fields):
    """Masking is dear under the cache and cheap without."""
    plain = "cost.uncached_with_refetches_usd"
    values = {
        "recorded": strategy(1.0, **{plain: 1.0}),
        "keep_all": strategy(1.5, **{plain: 1.5}),
        "floor": strategy(0.7, **{plain: 0.4}),
        "mask": strategy(1.9, **{plain: 0.5}),
    }
    return comparison(values, **fields)


def test_where_the_two_economies_differ_both_are_said():
    cached, uncached = two_economies(), two_economies(cache="none")
    with_cache, without = decide(cached).advice, decide(uncached).advice
    assert (with_cache.outcome, with_cache.cache, with_cache.elsewhere.subject.strategy) == ("keep", "provider", "mask")
    assert (without.outcome, without.cache, without.elsewhere.outcome) == ("ship", "none", "keep")
    assert advice_text(cached).endswith(" Without a prompt cache: ship mask, 50% less than today.")
    assert advice_text(uncached).endswith(" With the prompt cache: keep what you run.")
    report = json.loads(rendered([cached], "json", ["ranking"]))["advice"]["elsewhere"]
    assert (report["cache"], report["strategy"], report["price_a_run"]) == ("none", "mask", 0.5)
    same = decided(mask=strategy(0.5, **{"cost.uncached_with_refetches_usd": 0.5})).advice
    assert same.elsewhere is None


def test_the_most_that_anybody_can_save():
    cached, uncached = (decide(two_economies(**fields)).advice.headroom for fields in ({}, {"cache": "none"}))
    assert (cached.today_a_run, cached.floor_a_run, cached.cases) == (1.0, pytest.approx(0.7), 8)
    assert (cached.relative, uncached.relative) == (pytest.approx(0.3), pytest.approx(0.6))
    below = decide(comparison({"recorded": TODAY, "floor": strategy(1.2), "a": strategy(0.9)})).advice.headroom
    assert below.a_run == pytest.approx(0.1)  # perfect foresight breaks the cache, and somebody found a cheaper way
    none = decide(comparison({"recorded": TODAY, "floor": strategy(1.2)})).advice.headroom
    assert (none.a_run, none.relative) == (0.0, 0.0)
    assert decided(a=strategy(0.5)).advice.headroom is None
