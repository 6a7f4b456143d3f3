"""What every gate, panel and report format must do, tried on each one that is registered, on comparisons with much, little and nothing in them."""

from __future__ import annotations

import functools
from typing import Any, get_args

import msgspec
import pytest
from handmade import SMALL

import bench
from bench.comparison.baselines import baseline_from
from bench.comparison.judging import parse_rule
from bench.metrics import metrics
from bench.model import Against, Comparison, GateRule, Signature, Verdict
from bench.model.errors import ScenarioError
from bench.plugins.registry import Entry, entries
from bench.reports import build_blocks, rendered, sections
from bench.reports.blocks import Block

GATES, PANELS, RENDERERS = (entries(kind) for kind in ("gate", "panel", "renderer"))
NOTHING = Signature(
    bench_version="1", traces={}, strategies={}, encodings=(), facts_version="1", prices_date="", seed=0
)
EMPTY = Comparison(
    title="empty", signature=NOTHING, strategies=(), references=(), cases=(), rows=(), summary=(), metrics={}
)
JUDGED = "needed.recall"


@functools.cache
def compared() -> Comparison:
    """Three traces, one of them without a model turn, under a strategy that loses, one that keeps and one that raises."""

    def raises(result: object) -> str:
        raise ValueError("on purpose")

    recordings = [msgspec.structs.replace(SMALL[name], id=name) for name in ("structured", "threads", "no model turns")]
    strategies = {
        "cut": "summarizer=truncate:limit=20",
        "mask": "compactor=mask_observations:keep_last=1",
        "raises": raises,
    }
    return bench.compare(recordings, strategies, title="some", gates=[{"metric": JUDGED, "min": 0.5}])


def against_itself() -> Comparison:
    """The comparison held against values accepted before, all of them better than now."""
    found = compared()
    values: dict[str, dict[str, dict[str, float | None]]] = {}
    for row in (*found.summary, *found.rows):
        better = None if row.value is None else row.value * (0.5 if found.metrics[row.metric].better == "lower" else 2)
        values.setdefault(row.strategy, {}).setdefault(row.metric, {})[row.case or ""] = better
    baseline = baseline_from(found.signature, values)
    return msgspec.structs.replace(found, against=Against(baseline=baseline))


COMPARISONS = {
    "empty": lambda: EMPTY,
    "known strategies, no cases": lambda: msgspec.structs.replace(
        EMPTY,
        strategies=("a",),
        references=("keep_all",),
        metrics={name: item.info for name, item in metrics().items()},
    ),
    "some": compared,
    "against a baseline": against_itself,
    "a stale baseline": lambda: msgspec.structs.replace(
        against_itself(), against=Against(stale=dict.fromkeys(compared().metrics, "it is torn"))
    ),
}
each = pytest.mark.parametrize("what", COMPARISONS)


def test_documentation() -> None:
    for entry in (*GATES.values(), *PANELS.values(), *RENDERERS.values()):
        first = entry.doc.split("\n\n")[0]
        assert first.rstrip().endswith((".", ":")), f"{entry.kind} {entry.name}: the docstring starts with a sentence"


# ---------------------------------------------------------------- gates


def settings_of(entry: Entry) -> dict[str, Any]:
    """Settings that a gate takes: what it requires, and where nothing is required, one of those it has."""
    required = {item.name: some_value(item.type) for item in entry.parameters if item.required}
    choices = [required] if required else [{item.name: some_value(item.type)} for item in entry.parameters]
    for choice in choices:
        try:
            parse_rule({"metric": JUDGED, "gate": entry.name, **choice}, "here")
        except ScenarioError:
            continue
        return choice
    raise AssertionError(f"gate {entry.name} takes none of {choices}")


def some_value(kind: Any) -> Any:
    kinds = get_args(kind) or (kind,)
    return next((value for one, value in ((float, 0.5), (int, 1), (str, "10%"), (bool, True)) if one in kinds), None)


def judged(entry: Entry, comparison: Comparison, metric: str, strategy: str) -> Verdict:
    rule = GateRule(metric=metric, strategy=strategy, gate=entry.name, settings=settings_of(entry), number=1)
    verdict = entry.target(rule, comparison, strategy, **rule.settings)
    assert isinstance(verdict, Verdict)
    assert (verdict.metric, verdict.strategy) == (metric, strategy)
    assert verdict.gate
    assert strategy in verdict.sentence or metric in verdict.sentence
    assert "\n" not in verdict.sentence
    assert verdict == entry.target(rule, comparison, strategy, **rule.settings)
    return verdict


@pytest.mark.parametrize("entry", GATES.values(), ids=lambda entry: entry.name)
@each
def test_a_gate_judges_and_never_passes_what_was_not_measured(entry: Entry, what: str) -> None:
    comparison = COMPARISONS[what]()
    for metric in (JUDGED, "cost.prompt_tokens", "cost.cost_usd", "findings.agreement"):
        for strategy in comparison.everyone or ("a",):
            if metric not in comparison.metrics:
                continue
            verdict = judged(entry, comparison, metric, strategy)
            row = comparison.row(strategy, metric)
            if row is None or row.value is None:
                assert verdict.outcome != "pass", verdict.sentence


@pytest.mark.parametrize("entry", GATES.values(), ids=lambda entry: entry.name)
def test_a_gate_says_what_it_does_not_take(entry: Entry) -> None:
    with pytest.raises(ScenarioError, match="here"):
        parse_rule({"metric": JUDGED, "gate": entry.name, "no_such_setting": 1}, "here")
    for item in entry.parameters:
        with pytest.raises(ScenarioError, match="here"):
            parse_rule({"metric": JUDGED, "gate": entry.name, **settings_of(entry), item.name: [{"odd": 1}]}, "here")


# ---------------------------------------------------------------- panels


@pytest.mark.parametrize("entry", PANELS.values(), ids=lambda entry: entry.name)
@each
def test_a_panel_gives_blocks_of_any_comparison(entry: Entry, what: str) -> None:
    comparison = COMPARISONS[what]()
    (shown,) = build_blocks(comparison, [entry.name])
    assert all(isinstance(block, get_args(Block)) for block in shown.blocks)
    assert shown.title.strip()
    assert isinstance(entry.meta["order"], int)


def test_panels_stand_in_an_order_of_their_own() -> None:
    orders = [entry.meta["order"] for entry in PANELS.values()]
    assert len(set(orders)) == len(orders), "two panels with one place would be sorted by name"


# ---------------------------------------------------------------- report formats


@pytest.mark.slow
@pytest.mark.parametrize("name", RENDERERS)
@each
def test_a_report_is_written_of_any_comparison(name: str, what: str) -> None:
    comparison = COMPARISONS[what]()
    report = rendered([comparison], name)
    assert isinstance(report, str | bytes)
    assert report or what in ("empty", "known strategies, no cases")


@pytest.mark.parametrize("name", RENDERERS)
def test_a_report_of_two_comparisons_is_the_same_twice_and_longer_than_of_one(name: str) -> None:
    both = rendered([compared(), EMPTY], name, ["trust", "ranking"])
    assert both == rendered([compared(), EMPTY], name, ["trust", "ranking"])
    assert len(both) >= len(rendered([EMPTY], name, ["trust", "ranking"]))


@pytest.mark.parametrize("name", RENDERERS)
def test_a_report_format_has_endings_of_its_own(name: str) -> None:
    endings = RENDERERS[name].meta["endings"]
    assert all(ending.startswith(".") and ending == ending.lower() for ending in endings)
    others = {ending for other, entry in RENDERERS.items() if other != name for ending in entry.meta["endings"]}
    assert not others & set(endings)


def test_two_comparisons_of_one_title_are_told_apart() -> None:
    assert [section.name for section in sections([EMPTY, EMPTY], [])] == ["empty", "empty (2)"]
