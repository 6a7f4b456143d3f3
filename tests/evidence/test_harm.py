"""Strategies written to fool the figures: no harmful one passes all rules, and hardly a lossless one is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from data.adversarial.harmful import HARMFUL
from data.adversarial.harmless import HARMLESS
from data.adversarial.service import service
from harm import measured_runs, refusals
from numbers_gold import GOLD, TASKS, findings

from bench.comparison.rules import unchecked_words
from bench.comparison.totals import Runs
from bench.evidence.false_alarms import false_alarms
from bench.model.advice import RuleResult
from bench.model.scores import Check, MeasuredRun
from bench.traces import load

TRACES = Path(__file__).parents[2] / "traces"
Refusals = dict[str, list[RuleResult]]


@pytest.fixture(scope="module")
def runs() -> list[MeasuredRun]:
    return measured_runs(map(service, range(TASKS)), HARMFUL | HARMLESS)


@pytest.fixture(scope="module")
def harmful(runs: list[MeasuredRun]) -> Refusals:
    return refusals(runs, HARMFUL)


@pytest.fixture(scope="module")
def harmless(runs: list[MeasuredRun]) -> Refusals:
    return refusals(runs, HARMLESS)


def test_every_harmful_strategy_is_refused_or_reported_as_unchecked(harmful: Refusals, runs: list[MeasuredRun]) -> None:
    assert HARMFUL.keys() <= harmful.keys()
    assert [name for name in HARMFUL if not harmful[name] and not unchecked_words(Runs(runs), name)] == []


def test_few_harmless_strategies_are_refused(harmless: Refusals) -> None:
    refused = {name: [item.rule for item in found] for name, found in harmless.items() if found}
    assert len(refused) * 20 <= len(HARMLESS), refused


def test_a_part_without_a_value_renames_none() -> None:
    kinds = {"bullets": HARMLESS["bullets"]}
    runs = measured_runs(load([TRACES / "building_model" / "survey.jsonl"]).traces, kinds)
    assert "changed" not in [item.rule for item in refusals(runs, kinds)["bullets"]]


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("summary_of_other_records", "misattributed"),
        ("status_was_previous", "changed"),
        ("policy_sentence_cut", "instructed"),
        ("users_prohibition_cut", "instructed"),
        ("constraint_invented", "invented"),
        ("digest_invented", "invented"),
        ("errors_are_success_with_a_mark", "hidden"),
        ("millimetres_are_metres", "changed"),
        ("gigabytes_are_grams", "changed"),
        ("emoji_cut_in_half", "valid"),
    ],
)
def test_each_harmful_strategy_is_refused_by_the_rule_that_it_breaks(harmful: Refusals, name: str, rule: str) -> None:
    assert rule in [item.rule for item in harmful[name]]


def test_each_rule_that_reads_prose_has_a_measured_error() -> None:
    assert set(false_alarms()) == {"instructed", "misattributed", "invented"}
    assert all(0 < rate < 0.25 for rates in false_alarms().values() for rate in rates)


def test_a_rule_finds_at_most_as_many_faults_as_it_checked(runs: list[MeasuredRun]) -> None:
    for score in (score for run in runs for score in run.scores):
        for rule in ("valid", "instructed", "misattributed", "invented"):
            check = score.checks.get(rule, Check())
            assert len(check.findings) <= check.hits <= check.of, (score.strategy, rule)
        changed = score.checks.get("changed", Check())
        assert changed.of or not changed.hits, score.strategy  # so many values, of so many texts


def test_the_findings_of_the_rules_are_those_of_the_gold_file(runs: list[MeasuredRun]) -> None:
    assert findings(runs) == (GOLD / "harm.csv").read_text(encoding="utf-8")
