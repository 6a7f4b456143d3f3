"""The rules of the decision in one table, in the order in which they are asked.

A strategy that fails one is not advised. What runs today is held to *ran* and *valid* alone, and a
fault that it shares with a candidate does not refuse the candidate: hits are counted beyond
today's, limits are never stricter than today.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from msgspec.structs import replace

from ..model.advice import TODAY, RuleResult, Verdict
from ..model.scores import Check, FalseAlarms, Finding, MeasuredRun, Number, Rule
from ..model.signature import MAX_FAULT_RATE, MIN_FAR_RECALL
from ..plugins.spec import split_top
from .certainty import lowest_rate
from .totals import Runs, value_of

Kind = Literal["ran", "count", "prose", "share", "cheaper"]


@dataclass(frozen=True)
class Asked:
    """One rule: how it counts, and its verdict.

    A rule on a share (or a mean) has a limit and several metrics: the first that was measured
    counts.

    A share with a `slot` is asked only of strategies that fill it; its limit is today's value.
    """

    rule: Rule
    kind: Kind = "share"
    verdict: Verdict = "loses too much"
    metrics: tuple[str, ...] = ()
    limit: float = 1.0
    slot: str = ""
    better: Literal["lower", "higher"] = "higher"


TABLE: tuple[Asked, ...] = (
    Asked("ran", "ran", "invalid"),
    Asked("valid", "count", "invalid"),
    Asked("instructed", "prose", "unfaithful"),
    Asked("changed", "count", "unfaithful"),
    Asked("misattributed", "prose", "unfaithful"),
    Asked("invented", "prose", "unfaithful"),
    Asked("hidden", "count", "unfaithful"),
    Asked("needed", metrics=("needed.missed_turn_rate",), limit=MAX_FAULT_RATE, better="lower"),
    Asked("far", metrics=("needed.recall.far",), limit=MIN_FAR_RECALL),
    Asked("stored", metrics=("loss.leaf_recall.stored", "loss.fact_recall.stored"), slot="store"),
    Asked("stored", metrics=("probes.recall",), slot="store"),
    Asked("judged", metrics=("findings.agreement",), slot="evaluator"),
    Asked("routed", metrics=("routing.accuracy", "routing.selection_top1"), slot="routers"),
    Asked("routed", metrics=("routing.unreset_states",), slot="consumer", better="lower"),
    Asked("cheaper", "cheaper", "not certain"),
)
"""The table.

`instructed`, `misattributed` and `invented` read prose: their limits are their own false-alarm
rates.
"""

FINDINGS = 5
"""The most findings of a rule that its result names."""
_ROUNDING = 1e-9


def filled(spec: str) -> dict[str, str]:
    """The slots that a spec fills, without the strategy's name.

    >>> filled("mine=store=truncate:limit=5+routers=[a,b]"), filled("recorded")
    ({'store': 'truncate:limit=5', 'routers': '[a,b]'}, {})
    """
    slots: dict[str, str] = {}
    for part in split_top(spec, "+"):
        slot, _, value = part.partition("=")
        if slot.strip() not in _SLOTS:  # the name of the strategy
            slot, _, value = value.partition("=")
        if slot.strip() in _SLOTS:
            slots[slot.strip()] = value
    return slots


_SLOTS = ("summarizer", "store", "compactor", "evaluator", "routers", "consumer", "says")


@dataclass(frozen=True)
class Terms:
    """The terms of a decision, beside the runs.

    `portfolio`: one was chosen among these strategies, so the price stated for it is the
    leave-one-task-out one. `rates` are the measured false-alarm rates of the rules that read prose
    (0 for one that is missing).
    """

    portfolio: bool = False
    rates: Mapping[Rule, FalseAlarms] = field(default_factory=dict)


USUAL = Terms()
"""The terms where nothing is set."""


def results_of(
    runs: Runs, strategy: str, *, spec: str = "", terms: Terms = USUAL, failed_gates: int = 0
) -> tuple[RuleResult, ...]:
    """The results of every rule but the last on one strategy, in order.

    Of what runs today only *ran* and *valid*.
    """
    slots = filled(spec)
    results: list[RuleResult | None] = []
    for asked in TABLE:
        if asked.kind == "cheaper" or (strategy == TODAY and asked.rule not in ("ran", "valid")):
            continue
        if asked.kind == "ran":
            results.append(_ran(runs, strategy, failed_gates))
        elif asked.kind != "share":
            results.append(_in_texts(runs, asked, strategy, terms.rates))
        elif not asked.slot or asked.slot in slots:
            results.append(_share(runs, asked, strategy))
    return tuple(result for result in results if result is not None)


def unchecked(runs: Runs, strategy: str) -> str | None:
    """The first words of a strategy that could not be checked; None where all were.

    "" where a rule was not asked of some run.
    """
    words = None
    for run in runs.all:
        score = runs.score(run, strategy)
        for asked in TABLE:
            check = score.checks.get(asked.rule) if score else None
            if asked.kind in ("count", "prose") and (check is None or check.unchecked):
                words = words or (check.unchecked_text if check else "")
    return words


def verdict_of(results: tuple[RuleResult, ...]) -> Verdict | None:
    """The verdict of the first rule that refuses; None where all pass."""
    first = next((result.rule for result in results if not result.passed), None)
    return None if first is None else next(asked.verdict for asked in TABLE if asked.rule == first)


# ---------------------------------------------------------------- the kinds


def _ran(runs: Runs, strategy: str, failed_gates: int) -> RuleResult:
    """The first rule: a strategy ran everywhere, twice alike, and none of its gates failed.

    Where a run failed only runs count: the gates failed with them.
    """
    failures = list(runs.failures(strategy))
    count = len(failures) or failed_gates
    return RuleResult(
        rule="ran",
        passed=count == 0,
        value=float(count),
        limit=0.0,
        findings=tuple(finding for _, finding, _ in failures[:FINDINGS]),
        worst_run=failures[0][0] if failures else "",
    )


def _in_texts(
    runs: Runs, asked: Asked, strategy: str, rates: Mapping[Rule, FalseAlarms]
) -> RuleResult:
    """A rule that looks for something in texts: any hit breaks a count.

    What today's texts of the same run have too is not a hit. A rule on prose breaks where the rate
    is certainly above the rule's false alarms.
    """
    by_run: dict[str, int] = {}
    findings: list[Finding] = []
    of = summaries = 0
    for run in runs.all:
        check = _check(runs, run, strategy, asked.rule)
        shared = 0 if strategy == TODAY else _check(runs, run, TODAY, asked.rule).hits
        by_run[run.id] = max(0, check.hits - shared)
        of, summaries = of + max(check.of, check.hits), summaries + check.summaries
        findings += check.findings if by_run[run.id] else ()
    hits = sum(by_run.values())
    result = RuleResult(
        rule=asked.rule,
        passed=hits == 0,
        value=float(hits),
        limit=0.0,
        findings=tuple(findings[:FINDINGS]),
        worst_run=max(by_run, key=lambda run: by_run[run]) if hits else "",
    )
    if asked.kind == "count":
        return result
    low = lowest_rate(hits, of)
    expected = rates.get(asked.rule, FalseAlarms()).expected(of, summaries)
    value = hits / of if of else None
    return replace(result, passed=low <= expected, value=value, limit=expected, low=low)


def _check(runs: Runs, run: MeasuredRun, strategy: str, rule: Rule) -> Check:
    score = runs.score(run, strategy)
    return Check() if score is None else score.checks.get(rule, Check())


def _share(runs: Runs, asked: Asked, strategy: str) -> RuleResult | None:
    """A rule on a share; None where it has nothing to measure in a slot.

    A share that could not be measured does not pass, but that nothing was needed from far back does.
    """
    lower = asked.better == "lower"
    measured = [(metric, runs.share(strategy, metric)) for metric in asked.metrics]
    metric, share = next((item for item in measured if item[1].weight), measured[0])
    result = RuleResult(rule=asked.rule, metric=metric, passed=False)
    if share.weight == 0:
        nothing = share.reason == "nothing to measure"
        passed = nothing and asked.rule == "far"
        findings = () if passed else (Finding(None, share.reason),)
        missing = replace(result, passed=passed, limit=asked.limit, findings=findings)
        return None if nothing and asked.slot else missing
    value, limit = share.value or 0.0, _limit(runs.share(TODAY, metric), asked)
    run = runs.worst(strategy, metric, lowest=not lower)
    passed = value <= limit + _ROUNDING if lower else value >= limit - _ROUNDING
    return replace(result, passed=passed, value=value, limit=limit, worst_run=run)


def _limit(here: Number, asked: Asked) -> float:
    """The limit of a share: the rule's, but never stricter than today's value `here`.

    A slot must do as well as today. Where today has no value, the rule's holds alone.
    """
    today = value_of(here)
    if today is None:
        return 0.0 if asked.rule == "routed" else asked.limit
    if asked.slot:
        return today
    return max(asked.limit, today) if asked.better == "lower" else min(asked.limit, today)


def finite(value: float | None) -> float:
    """A value to sort by: what is missing comes last."""
    return math.inf if value is None or not math.isfinite(value) else value
