"""Paired metrics: what a strategy spends beyond a reference that serves no more, by hand, recomputed slowly, and as rows that gates judge."""

from __future__ import annotations

import pytest
from bench.evidence.regret import PAIRED, Pair, paired_samples
from generated import traces
from handmade import SMALL, opened, prompt_tokens, run_of, shell, trace
from hypothesis import given, settings
from reference import selection
from test_curve import COUNT, HAND, LONG

import bench
from bench.errors import ScenarioError
from bench.gates import require_known
from bench.metrics import measured
from bench.model import Comparison, GateRule, Trace

STRATEGIES = (
    "mask=compactor=mask_observations:keep_last=1",
    "cut=summarizer=truncate:limit=40",
    "window=compactor=sliding_window:keep_last=3",
)
ALL = ("mask", "cut", "sliding_window", "keep_all", "recorded", "drop_all", "clairvoyant", "floor")


def value(comparison: Comparison, strategy: str, metric: str, case: str | None = None) -> float | None:
    row = comparison.row(strategy, metric, case)
    assert row is not None
    return row.value


def test_by_hand() -> None:
    # `cut` shows "/data/experiment/run_7/differential_express": of 471, level_12 and the path nothing is left at any turn
    compared = bench.compare([HAND], ["cut=summarizer=truncate:limit=43"])
    assert value(compared, "cut", "needed.recall") == 0
    told = [COUNT(step.content) for step in HAND.model_turns]
    start = 3 + (3 + COUNT("You count.")) + (3 + COUNT("How many rows?")) + (3 + COUNT(LONG[:43]))
    spent = sum(start + sum(3 + tokens for tokens in told[:turn]) for turn in range(4))
    assert value(compared, "cut", "cost.prompt_tokens") == spent
    system = 4 * (3 + 3 + COUNT("You count."))
    assert (
        value(compared, "cut", "needed.tokens_over_oracle") == spent - system
    )  # nothing served: the system turns would have done
    shown = sum(start - COUNT(LONG[:43]) + sum(3 + tokens for tokens in told[:turn]) for turn in range(4))
    assert value(compared, "cut", "needed.tokens_over_clairvoyant") == spent - shown


def test_references_against_themselves() -> None:
    compared = bench.compare([HAND, opened(shell(12, start=2), id="long")], STRATEGIES)
    for case in (None, "t", "long"):
        assert value(compared, "floor", "needed.tokens_over_oracle", case) == 0
        assert value(compared, "drop_all", "needed.tokens_over_oracle", case) == 0
        assert value(compared, "clairvoyant", "needed.tokens_over_clairvoyant", case) == 0
        over = value(compared, "keep_all", "cost.prompt_tokens", case) - value(
            compared, "floor", "cost.prompt_tokens", case
        )
        assert value(compared, "keep_all", "needed.tokens_over_oracle", case) == over
        for percent in (90, 95, 99, 100):
            assert len({value(compared, name, f"needed.fewest_tokens.{percent}", case) for name in ALL}) == 1
        assert value(compared, "mask", "needed.fewest_tokens.100", case) == value(
            compared, "floor", "cost.prompt_tokens", case
        )


@settings(max_examples=40)
@given(traces(max_turns=7))
def test_regret_and_distance_recomputed_from_the_raw_trace(recording: Trace) -> None:
    compared = bench.compare([recording], STRATEGIES)
    found = selection.needed(recording)
    firsts = sum(first for *_, first in found.values())
    for strategy in ALL:
        row = compared.row(strategy, "needed.tokens_over_oracle", recording.id)
        if not firsts:
            assert (row.value, row.reason) == (None, "nothing to measure")
            continue
        samples = compared.samples[strategy, "needed.recall", recording.id]
        missed = firsts - int(sum(item.numerator for item in samples))
        run = compared.runs[strategy, recording.id]
        gone = selection.greedy(recording, run.encoding, missed)
        assert row.value == prompt_tokens(run) - selection.tokens(recording, run.encoding, gone)
        whole = compared.runs["keep_all", recording.id]
        beyond = prompt_tokens(run) - selection.clairvoyant_tokens(recording, whole, missed)
        assert value(compared, strategy, "needed.tokens_over_clairvoyant", recording.id) == beyond


def test_nothing_used_is_not_measured() -> None:
    compared = bench.compare([SMALL["only a model turn"]], ["cut=summarizer=truncate"])
    for name in PAIRED:
        row = compared.row("cut", name)
        assert (row.value, row.reason) == (None, "nothing to measure")


def test_a_run_that_failed_has_no_regret(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "broken.py").write_text("def f(result):\n    raise ValueError('no')\n")
    compared = bench.compare([HAND], ["broken=summarizer=broken.py:f"], base=tmp_path)
    row = compared.row("broken", "needed.tokens_over_oracle")
    assert row.value is None
    assert "raised" in row.reason


def test_each_share_is_replayed_once() -> None:
    runs = {name: run_of(HAND, name) for name in ("keep_all", "recorded", "drop_all")}
    recalls = {name: bench.score(HAND, run)["needed.recall"] for name, run in runs.items()}
    asked = []

    def replayed(spec: str):  # type: ignore[no-untyped-def]
        asked.append(spec)
        return run_of(HAND, spec)

    found = paired_samples(HAND, runs, recalls, replayed)
    assert set(found) == {(name, metric) for name in runs for metric in PAIRED}
    assert len(asked) == len(set(asked)) == 7  # floor at 0, 0.9, 0.95, 0.99 and 1, clairvoyant at 0 and 1
    assert found["drop_all", "needed.tokens_over_oracle"][0].detail == {
        "kept": 0,
        "total": 3,
        "floor_tokens": prompt_tokens(runs["drop_all"]),
    }


def test_gates_know_them_and_the_list_too() -> None:
    rule = GateRule(metric="needed.tokens_over_oracle", strategy="mask", max=10)
    require_known([rule], ["mask"], "s.toml")
    compared = bench.compare([HAND], STRATEGIES, rules=[rule])
    verdict = bench.check(compared)[0]
    assert (verdict.outcome, verdict.value) == ("fail", value(compared, "mask", "needed.tokens_over_oracle"))
    with pytest.raises(ScenarioError, match=r"needed\.regret"):
        require_known([GateRule(metric="needed.regert", max=1)], ["mask"], "s.toml")
    assert set(PAIRED) <= set(measured())
    for entry in PAIRED.values():
        assert entry.source
        assert entry.doc.splitlines()[0].endswith(".")


def test_pairs_are_pure() -> None:
    run = run_of(trace(*HAND.steps), "keep_all")
    pair = Pair(run, 3, 3, lambda reference, recall: {"floor": 10, "clairvoyant": 20}[reference])
    assert [
        PAIRED[name].target(pair)[0].numerator
        for name in ("needed.tokens_over_oracle", "needed.tokens_over_clairvoyant")
    ] == [
        prompt_tokens(run) - 10,
        prompt_tokens(run) - 20,
    ]
