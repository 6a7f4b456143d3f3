"""Comparisons of a few numbers, put together by hand: for tests of gates, bounds and the decision. Nothing is replayed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from bench.comparison.accepting import baseline_of
from bench.comparison.decision import decide
from bench.comparison.judging import check, parse_rule
from bench.comparison.rows import NOTHING, summarized

from bench.model import (
    Against,
    Baseline,
    Case,
    Columns,
    Comparison,
    Failure,
    MetricInfo,
    RecordingShown,
    Row,
    RunShown,
    Signature,
)

INFOS = {
    name: MetricInfo(name=name, unit=unit, better=better, aggregate=aggregate, family=name)
    for name, unit, better, aggregate in (
        ("cost.with_refetches_usd", "usd", "lower", "sum"),
        ("cost.uncached_with_refetches_usd", "usd", "lower", "sum"),
        ("cost.with_refetches_tokens", "tokens", "lower", "sum"),
        ("cost.cost_usd", "usd", "lower", "sum"),
        ("cost.prompt_tokens", "tokens", "lower", "sum"),
        ("cost.window_overflows", "prompts", "lower", "sum"),
        ("prompt.invalid", "prompts", "lower", "sum"),
        ("prompt.task_missing", "prompts", "lower", "sum"),
        ("prompt.system_missing", "prompts", "lower", "sum"),
        ("needed.recall", "fraction", "higher", "pooled"),
        ("needed.recall.far", "fraction", "higher", "pooled"),
        ("needed.fault_rate", "fraction", "lower", "pooled"),
        ("changed.values", "values", "lower", "sum"),
        ("changed.errors_hidden", "results", "lower", "sum"),
        ("changed.invented", "fraction", "lower", "pooled"),
        ("probes.recall", "fraction", "higher", "pooled"),
    )
}  # fmt: skip
REFERENCES = ("keep_all", "recorded", "drop_all", "clairvoyant", "floor")
UNMEASURED = "unmeasured"
"""In place of a value: it could not be measured. None: there was nothing to measure."""

BROKEN = "strategy raised in store at step 3: ValueError: no"
"""In place of a value: the strategy raised on this case."""

Given = float | str | None | tuple[Any, ...] | Row
"""A value; or (value, n); or a Row to take the rest from."""


def row(strategy: str, metric: str, case: str, given: Given, info: MetricInfo) -> Row:
    """One row of what a test gives for a case."""
    plain = Row(strategy=strategy, metric=metric, case=case, value=None, unit=info.unit, n=0.0, reason=NOTHING)
    if isinstance(given, Row):
        return msgspec.structs.replace(given, strategy=strategy, metric=metric, case=case, unit=info.unit)
    if given is None:
        return plain
    if isinstance(given, str):
        return msgspec.structs.replace(plain, reason=given if given == BROKEN else "no price")
    value, n = given if isinstance(given, tuple) else (given, 100.0 if info.aggregate == "pooled" else 1.0)
    return msgspec.structs.replace(plain, value=float(value), n=float(n), reason=None)


def comparison(
    values: Mapping[str, Mapping[str, Mapping[str, Given]]],
    *rules: Mapping[str, Any],
    failed: Sequence[tuple[str, str]] = (),
    traces: Mapping[str, str] | None = None,
    infos: Mapping[str, MetricInfo] = INFOS,
    specs: Mapping[str, str] | None = None,
    **fields: Any,
) -> Comparison:
    """Per strategy, metric and case a value. Strategies with the name of a reference are references. Gates are judged.

    `failed` are (strategy, case) that raised, `traces` what recording a case is (its name), where a test needs two to differ or be the same.
    """
    metrics = dict.fromkeys(metric for by_metric in values.values() for metric in by_metric)
    cases = sorted({case for of in values.values() for by_case in of.values() for case in by_case})
    rows = Columns(
        row(strategy, metric, case, given, infos[metric])
        for strategy, by_metric in values.items()
        for metric, by_case in by_metric.items()
        for case, given in by_case.items()
    )
    raised = {*failed, *((row.strategy, row.case) for row in rows if row.reason == BROKEN)}
    failure = Failure(step=3, slot="store", error="ValueError: no")
    signature = Signature(
        bench_version="0", traces={case: (traces or {}).get(case, case) for case in cases},
        strategies={name: (specs or {}).get(name, name) for name in values}, encodings=("o200k_base",), facts_version="1",
        prices_date="2026-01-01", seed=0,
    )  # fmt: skip
    built = Comparison(
        title="",
        signature=fields.pop("signature", signature),
        strategies=tuple(name for name in values if name not in REFERENCES),
        references=tuple(name for name in values if name in REFERENCES),
        cases=tuple(
            Case(
                id=case,
                recording=RecordingShown(sha256=(traces or {}).get(case, case)),
                runs={name: RunShown(failure=failure if (name, case) in raised else None) for name in values},
            )
            for case in cases
        ),
        rows=rows,
        summary=summarized(rows, infos),
        metrics={name: infos[name] for name in metrics},
        rules=tuple(parse_rule(table, f"gates[{number}]", number) for number, table in enumerate(rules, 1)),
        **fields,
    )
    return msgspec.structs.replace(built, verdicts=check(built))


def only(metric: str, **by_strategy: Mapping[str, Given]) -> dict[str, dict[str, Mapping[str, Given]]]:
    """Values of one metric: per strategy, per case."""
    return {strategy: {metric: by_case} for strategy, by_case in by_strategy.items()}


def one(metric: str, by_case: Mapping[str, Given], *rules: Mapping[str, Any], **fields: Any) -> Comparison:
    """A comparison of one metric of one strategy, `s`. A gate that names no metric is about that one."""
    return comparison(only(metric, s=by_case), *({"metric": metric, **rule} for rule in rules), **fields)


def judged_again(built: Comparison, **fields: Any) -> Comparison:
    """A comparison with other fields, judged by its gates."""
    changed = msgspec.structs.replace(built, **fields)
    return msgspec.structs.replace(changed, verdicts=check(changed))


def outcomes(built: Comparison) -> list[str]:
    """The outcomes of its verdicts, each of which is one line."""
    assert not any("\n" in verdict.sentence for verdict in built.verdicts)
    return [verdict.outcome for verdict in built.verdicts]


def against(before: Comparison, **fields: Any) -> Against:
    """An earlier comparison as the accepted baseline."""
    return Against(baseline=baseline_of(before), **fields)


def accepted_values(baseline: Baseline, strategy: str, metric: str) -> dict[str, float | None]:
    """The values of a baseline by case (`""`: over all cases)."""
    return {case: row.value for case, row in baseline.of(strategy, metric).items()}


# ---------------------------------------------------------------- what to ship

EIGHT = [f"case {number}" for number in range(1, 9)]


def spread(per_case, cases=EIGHT):
    """A number a case: one for all, or a list."""
    return dict(zip(cases, per_case if isinstance(per_case, list) else [per_case] * len(cases), strict=True))


def strategy(usd=None, faults=0.0, far=1.0, tokens=1000.0, cases=EIGHT, **more):
    """What one strategy scores; whatever is not named is as it should be."""
    numbers = {
        "cost.with_refetches_usd": usd,
        "cost.with_refetches_tokens": tokens,
        "needed.fault_rate": faults,
        "needed.recall.far": far,
        "cost.window_overflows": 0,
        "prompt.invalid": 0,
        "prompt.task_missing": 0,
        "prompt.system_missing": 0,
        **more,
    }
    return {metric: spread(given, cases) for metric, given in numbers.items()}


TODAY = strategy(1.0)
ALL = strategy(2.0)


def decided(*rules, failed=(), specs=None, fields=None, **values):
    built = {"keep_all": ALL, "recorded": TODAY, **values}
    return decide(comparison(built, *rules, failed=failed, specs=specs, **(fields or {})))


def reasons(decision, name):
    (candidate,) = [item for item in decision.candidates if item.strategy == name]
    return [item.kind for item in candidate.obstacles]
