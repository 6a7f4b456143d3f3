"""The curve: what a verbatim selection costs at a share of first uses, worked by hand and against every choice there is."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import pytest
from generated import traces
from handmade import SMALL, prompt_tokens, prompts_of, result, run_of, trace
from hypothesis import assume, given, settings, strategies as st
from measured import measured, needs_of
from reference import selection

import bench
from bench.evidence.oracle import Bundle, given_up, may_miss
from bench.model import ModelTurn, Run, SystemTurn, Trace, UserTurn
from bench.tokens.counting import TokenCounter

LONG = "/data/experiment/run_7/differential_expression.csv"
HAND = trace(
    SystemTurn(index=0, content="You count."),
    UserTurn(index=1, content="How many rows?"),
    result(f"{LONG} has 471 rows, level_12", index=2),
    ModelTurn(index=3, content="I keep level_12 in mind."),
    ModelTurn(index=4, content="There are 471 rows."),
    ModelTurn(index=5, content=f"They are in {LONG}."),
    ModelTurn(index=6, content="As I said, 471."),
)
ROOT = Path(__file__).parents[1]
COUNT = TokenCounter().text


def recall_of(recording: Trace, run: Run) -> tuple[float, float]:
    samples = measured("needed.recall", recording, run)
    return sum(item.numerator for item in samples), sum(item.denominator for item in samples)


def test_needs_by_hand() -> None:
    assert [(need.fact, need.source, need.last, need.prompts, need.first) for need in needs_of(HAND)] == [
        ("level_12", 2, 3, 1, True),
        ("471", 2, 6, 4, True),
        (LONG, 2, 5, 3, True),
    ]


@pytest.mark.parametrize(
    ("recall", "texts"),
    [
        (1.0, [f"{LONG} 471 level_12", f"{LONG} 471", f"{LONG} 471", "471"]),
        (0.5, ["471 level_12", "471", "471", "471"]),  # 2 of 3 must stay: the path costs most over its three prompts
        (1 / 3, ["level_12", "", "", ""]),  # then the number: one token and a blank in each of four prompts
        (0.0, ["", "", "", ""]),
    ],
)
def test_the_curve_by_hand(recall: float, texts: list[str]) -> None:
    run = run_of(HAND, f"s=compactor=floor:recall={recall!r}")
    system = 3 + 3 + COUNT("You count.")
    assert prompt_tokens(run) == sum(system + (3 + COUNT(text) if text else 0) for text in texts)
    assert [" ".join(message.text for message in prompt[1:]) for prompt in prompts_of(run)] == texts


def test_costs_by_hand() -> None:
    assert [COUNT(f" {fact}") for fact in ("level_12", "471", LONG)] == [3, 2, 12]
    kept = given_up(
        needs_of(HAND), 0.5, lambda needs: [Bundle((need,), COUNT(f" {need.fact}") * need.prompts) for need in needs]
    )
    assert kept == {("main", LONG)}


def test_clairvoyant_gives_up_whole_lines() -> None:
    recording = trace(
        result(
            f"a line with {LONG} and much else besides that nothing ever needs\n471 rows\nlevel_12, level_13", index=0
        ),
        ModelTurn(index=1, content="level_12 and level_13"),
        ModelTurn(index=2, content=f"471 in {LONG}"),
    )
    shown = [
        [prompt[0].text for prompt in prompts_of(run_of(recording, f"s=compactor=clairvoyant:recall={recall}"))]
        for recall in (1, 0.75, 0.5, 0)
    ]
    whole = recording.results[0].text
    first, number, levels = whole.split("\n")
    assert shown == [
        [whole, f"{first}\n{number}"],
        [f"{number}\n{levels}", number],  # the long line serves one use over two prompts
        [levels, ""],  # then the number; the two levels share a line of one prompt
        ["", ""],
    ]


def test_what_is_only_reused_goes_first_and_only_below_full_recall() -> None:
    recording = trace(
        result("471 and 36.5", index=0),
        UserTurn(index=1, content="so 471"),
        ModelTurn(index=2, content="471 and 36.5"),
    )
    assert [need.first for need in needs_of(recording)] == [False, True]
    each = lambda needs: [Bundle((need,), 1) for need in needs]  # noqa: E731
    assert given_up(needs_of(recording), 1.0, each) == frozenset()
    assert given_up(needs_of(recording), 0.0, each) == {("main", "471"), ("main", "36.5")}


def test_a_share_is_rounded_up_to_whole_uses() -> None:
    assert [may_miss(needs_of(HAND), recall) for recall in (1, 0.99, 2 / 3, 0.66, 1 / 3, 0)] == [0, 0, 1, 1, 2, 3]
    assert all(
        may_miss(needs_of(HAND), kept / total) == 3 - math.ceil(3 * kept / total)
        for total in range(1, 40)
        for kept in range(total)
    )


def test_nothing_used_costs_the_system_turns_alone() -> None:
    recording = SMALL["no model turns"]
    assert needs_of(recording) == ()
    assert may_miss(needs_of(recording), 0.5) == 0


@settings(max_examples=60)
@given(traces(max_turns=8, extras=True), st.sampled_from((0.0, 0.3, 0.5, 0.8, 0.9, 1.0)))
def test_the_selection_costs_what_the_slow_one_does(recording: Trace, recall: float) -> None:
    run = run_of(recording, f"s=compactor=floor:recall={recall}")
    miss = may_miss(needs_of(recording), recall)
    gone = selection.greedy(recording, run.encoding, miss)
    assert prompt_tokens(run) == selection.tokens(recording, run.encoding, gone)
    for reference in ("floor", "clairvoyant"):
        kept, total = recall_of(recording, run_of(recording, f"s=compactor={reference}:recall={recall}"))
        assert kept >= total - miss


@settings(max_examples=40)
@given(traces(max_turns=6), st.sampled_from((0.2, 0.5, 0.8, 1.0)))
def test_greedy_is_above_the_best_choice_and_close_to_it(recording: Trace, recall: float) -> None:
    firsts = [need for need in needs_of(recording) if need.first]
    assume(0 < len(firsts) <= 7)
    run = run_of(recording, f"s=compactor=floor:recall={recall}")
    best = selection.fewest(recording, run.encoding, may_miss(needs_of(recording), recall))
    # what costs do not add up to: separators, and facts inside longer ones or in the system turn
    slack = sum(
        COUNT(f" {need.fact}") * need.prompts
        for need in needs_of(recording)
        if any(need.fact in other.fact for other in needs_of(recording) if other is not need)
    )
    assert best <= prompt_tokens(run) <= best + slack + 4 * len(recording.model_turns)


@settings(max_examples=50)
@given(traces(max_turns=8), st.floats(0, 1))
def test_no_other_choice_saves_more_where_savings_add_up(recording: Trace, recall: float) -> None:
    weight = {need.key: len(need.fact) * need.prompts for need in needs_of(recording)}
    gone = given_up(needs_of(recording), recall, lambda needs: [Bundle((need,), weight[need.key]) for need in needs])
    miss = may_miss(needs_of(recording), recall)
    firsts = sorted((weight[need.key] for need in needs_of(recording) if need.first), reverse=True)
    assert sum(weight[need.key] for need in needs_of(recording) if need.first and need.key in gone) == sum(
        firsts[:miss]
    )


@settings(max_examples=50)
@given(traces(max_turns=8))
def test_a_lower_share_gives_up_no_less(recording: Trace) -> None:
    shares = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)
    each = lambda needs: [Bundle((need,), len(need.fact)) for need in needs]  # noqa: E731
    gone = [given_up(needs_of(recording), share, each) for share in shares]
    assert all(more >= less for more, less in itertools.pairwise(gone))


def recomputed(recording: Trace) -> None:
    whole = run_of(recording, "keep_all")
    for recall in (1.0, 0.9, 0.5):
        miss = may_miss(needs_of(recording), recall)
        gone = selection.greedy(recording, whole.encoding, miss)
        floor, clairvoyant = (
            run_of(recording, f"s=compactor={name}:recall={recall}") for name in ("floor", "clairvoyant")
        )
        assert prompt_tokens(floor) == selection.tokens(recording, whole.encoding, gone)
        assert prompt_tokens(clairvoyant) == selection.clairvoyant_tokens(recording, whole, miss)


def test_our_own_traces_recomputed() -> None:
    loaded = bench.load(
        ["native:traces/building_model/survey.jsonl", "native:traces/analysis/aborted.jsonl"], ROOT
    ).traces
    assert sum(len(needs_of(recording)) for recording in loaded) > 20
    for recording in loaded:
        recomputed(recording)


def test_recorded_traces_recomputed(shared_traces: Path) -> None:
    for recording in bench.load(
        [f"mini_swe_agent:{shared_traces / 'mini-swe-agent'}", str(shared_traces / "rap")]
    ).traces:
        recomputed(recording)


def test_the_curve_of_recorded_runs(shared_traces: Path) -> None:
    for recording in bench.load([f"mini_swe_agent:{shared_traces / 'scbench'}"]).traces:
        spent = [prompt_tokens(run_of(recording, f"s=compactor=floor:recall={r}")) for r in (0, 0.9, 0.95, 0.99, 1)]
        assert spent == sorted(spent)
        assert spent[-1] == prompt_tokens(run_of(recording, "floor"))
        assert spent[0] == prompt_tokens(run_of(recording, "drop_all"))
