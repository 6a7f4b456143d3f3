"""A comparison from its measured runs: totals, gates, what moved, and the advice, in that order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from ..model.compared import Compared, GateResult, Skipped
from ..model.metric import MetricInfo
from ..model.scores import FalseAlarms, MeasuredRun, Rule
from ..model.signature import GateRule, Signature
from .advice import advise, answers_of
from .against import moves
from .baseline import ScoreFile
from .gates import judge
from .totals import Runs, totals


def compared(
    runs: Iterable[MeasuredRun],
    *,
    title: str,
    signature: Signature,
    strategies: Sequence[str],
    references: Sequence[str],
    specs: Mapping[str, str],
    metrics: Mapping[str, MetricInfo],
    rules: Sequence[GateRule] = (),
    asks: str = "",
    today: str = "recorded",
    skipped: Sequence[Skipped] = (),
    basis: Literal["cached", "uncached"] = "cached",
    portfolio: bool = False,
    rates: Mapping[Rule, FalseAlarms] | None = None,
    limits: Mapping[Rule, float] | None = None,
    base: ScoreFile | None = None,
    against: str = "",
    required: bool = False,
) -> Compared:
    """Everything that reports and gates see. `base` is what it is held against, called `against`.

    `required`: a missing baseline, and what was loosened or is gone since, fails. The other
    settings are those of `advise`.
    """
    known = tuple(sorted(runs, key=lambda run: run.id))
    own = {name: specs[name] for name in (*strategies, *references) if name in specs}
    result = Compared(
        title=title,
        asks=asks,
        signature=signature,
        strategies=tuple(strategies),
        references=tuple(references),
        specs=own,
        today=today,
        answers=answers_of(own.get(name, "") for name in strategies),
        runs=known,
        metrics=dict(metrics),
        totals=totals(Runs(known), [*strategies, *references], metrics),
        rules=tuple(rules),
        against=against,
        specs_before={} if base is None else dict(base.specs),
        skipped=tuple(skipped),
    )
    gates = judge(result, base, required=required)
    advice = advise(
        known,
        strategies,
        today=today,
        specs=own,
        basis=basis,
        portfolio=portfolio,
        rates=rates,
        limits=limits,
        failed_gates=failed_by_strategy(gates),
    )
    return msgspec.structs.replace(
        result, gates=gates, moves=() if base is None else moves(result, base), advice=advice
    )


def failed_by_strategy(gates: Iterable[GateResult]) -> dict[str, int]:
    """The number of failed gates, by strategy.

    >>> rule = GateRule(metric="needed.recall", gate="limits")
    >>> failed_by_strategy([GateResult(rule=rule, strategy="mine", outcome=outcome) for outcome in ("fail", "pass", "fail")])
    {'mine': 2}
    """
    counts: dict[str, int] = {}
    for gate in gates:
        if gate.outcome == "fail" and gate.strategy:
            counts[gate.strategy] = counts.get(gate.strategy, 0) + 1
    return counts
