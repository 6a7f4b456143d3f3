"""Accepting a run as the baseline: an explicit act that says what it took, old and new, and refuses what measured nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ..errors import ResultsError
from ..files.baselines import write_baseline
from ..model import Baseline, Comparison
from ..text.wording import NOT_MEASURED, counted, exact, moved
from . import needs_baseline

MOST_CASES = 10
"""How many cases that moved are listed for one metric of one strategy."""


def baseline_of(comparison: Comparison) -> Baseline:
    """The values that relative gates need, of every declared strategy and reference a gate names, per case and over all (`""`)."""
    relative = [rule for rule in comparison.rules if needs_baseline(rule)]
    wanted = {rule.metric for rule in relative}
    strategies = {*comparison.strategies, *(rule.strategy for rule in relative)}
    values: dict[str, dict[str, dict[str, float | None]]] = {}
    for row in (*comparison.summary, *comparison.rows):
        if row.metric in wanted and row.strategy in strategies:
            values.setdefault(row.strategy, {}).setdefault(row.metric, {})[row.case or ""] = row.value
    return Baseline(signature=comparison.signature, values=values)


def require_acceptable(comparison: Comparison, path: Path) -> None:
    """Raise ResultsError for a run that cannot be a baseline: a strategy raised, or a value that gates need was not measured anywhere."""
    for strategy in comparison.strategies:
        failed = comparison.failed(strategy)
        if failed:
            raise ResultsError(f"{path}: baseline not accepted: {strategy} raised on {failed[0]}: {failed[1]}")
    for strategy, metrics in sorted(baseline_of(comparison).values.items()):
        for metric, values in sorted(metrics.items()):
            if all(value is None for value in values.values()):
                row = comparison.row(strategy, metric)
                reason = row.reason if row is not None and row.reason else "no value"
                raise ResultsError(f"{path}: baseline not accepted: {strategy} measured no {metric}: {reason}")


def accept(comparison: Comparison, path: Path) -> tuple[Baseline | None, tuple[str, ...]]:
    """Write the run's values as the baseline; gives it, and lines that say what was accepted.

    Where no gate compares with a baseline nothing is written (None). Raises ResultsError as `require_acceptable` does.
    """
    require_acceptable(comparison, path)
    accepted = baseline_of(comparison)
    if not accepted.values:
        return None, (f"{path}: no gate compares with a baseline, nothing to accept",)
    lines = tuple(_accepted(comparison.against.baseline, accepted, path))
    write_baseline(accepted, path)
    return accepted, lines


def _accepted(old: Baseline | None, new: Baseline, path: Path) -> Iterator[str]:
    yield f"accepted {path}:" if old is not None else f"accepted {path}, the first baseline:"
    if old is not None:
        yield from _signature(old, new)
        for strategy in sorted(old.values.keys() - new.values.keys()):
            yield f"  {strategy}: taken out"
    for strategy, metrics in sorted(new.values.items()):
        before = old.values.get(strategy, {}) if old else {}
        for metric in sorted(before.keys() - metrics.keys()):
            yield f"  {strategy} {metric}: taken out"
        for metric, values in sorted(metrics.items()):
            yield from _metric(f"{strategy} {metric}", before.get(metric), values)


def _signature(old: Baseline, new: Baseline) -> Iterator[str]:
    for _, word, before, now in old.signature.differences(new.signature):
        yield f"  {word}: {before} → {now}"
    mine, theirs = new.signature.traces, old.signature.traces
    for word, cases in (
        ("out", sorted(theirs.keys() - mine.keys())),
        ("in", sorted(mine.keys() - theirs.keys())),
        ("recorded again", sorted(case for case in mine.keys() & theirs.keys() if mine[case] != theirs[case])),
    ):
        if cases:
            yield f"  cases {word}: {', '.join(cases)}"


def _metric(name: str, old: dict[str, float | None] | None, new: dict[str, float | None]) -> Iterator[str]:
    """The value over all cases, old and new, then the cases that moved."""
    count = len(new) - ("" in new)
    over = f"over {counted(count, 'case')}"
    if old is None:
        yield f"  {name}: {_value(new.get(''))} {over} (new)"
        return
    changed: Sequence[str] = sorted(case for case in new if case and case in old and new[case] != old[case])
    change = _change(old.get(""), new.get("")) if old.get("") != new.get("") else f"{_value(new.get(''))} unchanged"
    yield f"  {name}: {change} {over}"
    for case in changed[:MOST_CASES]:
        yield f"    {case}: {_change(old[case], new[case])}"
    if len(changed) > MOST_CASES:
        yield f"    and {len(changed) - MOST_CASES} more cases"


def _change(old: float | None, new: float | None) -> str:
    relative = f" ({moved(old, new)})" if old and new is not None else ""
    return f"{_value(old)} → {_value(new)}{relative}"


def _value(value: float | None) -> str:
    return NOT_MEASURED if value is None else exact(value)
