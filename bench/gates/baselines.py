"""Accepting a run as the baseline: an explicit act that says what it took, old and new, and refuses what measured nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from ..errors import ResultsError
from ..files.results import baseline_of, write_baseline
from ..model import Baseline, Comparison
from . import check, failed_case, number

MOST_CASES = 10
"""How many cases that moved are listed for one metric of one strategy."""


def require_acceptable(comparison: Comparison, path: Path) -> None:
    """Raise ResultsError for a run that cannot be a baseline: a strategy raised, or a value that gates need was not measured anywhere."""
    for strategy in comparison.strategies:
        failed = failed_case(comparison, strategy)
        if failed:
            raise ResultsError(f"{path}: baseline not accepted: {strategy} raised on {failed[0]}: {failed[1]}")
    for strategy, metrics in sorted(baseline_of(comparison, comparison.rules).values.items()):
        for metric, values in sorted(metrics.items()):
            if all(value is None for value in values.values()):
                row = comparison.row(strategy, metric)
                reason = row.reason if row is not None and row.reason else "no value"
                raise ResultsError(f"{path}: baseline not accepted: {strategy} measured no {metric}: {reason}")


def accept(comparison: Comparison, path: Path) -> tuple[Comparison, tuple[str, ...]]:
    """Write the run's values as the baseline; gives the comparison judged against it, and lines that say what was accepted.

    Where no gate compares with a baseline nothing is written. Raises ResultsError as `require_acceptable` does.
    """
    require_acceptable(comparison, path)
    accepted = baseline_of(comparison, comparison.rules)
    if not accepted.values:
        return comparison, (f"{path}: no gate compares with a baseline, nothing to accept",)
    lines = tuple(_accepted(comparison.baseline, accepted, path))
    write_baseline(accepted, path)
    renewed = msgspec.structs.replace(comparison, baseline=accepted, baseline_problem=None)
    return msgspec.structs.replace(renewed, verdicts=check(renewed)), lines


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
    for field in ("bench_version", "encodings", "facts_version", "prices_date", "seed"):
        before, now = getattr(old.signature, field), getattr(new.signature, field)
        if before != now:
            yield f"  {field.replace('_', ' ')}: {_text(before)} → {_text(now)}"
    mine, theirs = new.signature.traces, old.signature.traces
    for word, cases in (
        ("out", sorted(theirs.keys() - mine.keys())),
        ("in", sorted(mine.keys() - theirs.keys())),
        ("recorded again", sorted(case for case in mine.keys() & theirs.keys() if mine[case] != theirs[case])),
    ):
        if cases:
            yield f"  cases {word}: {', '.join(cases)}"


def _text(value: object) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _metric(name: str, old: dict[str, float | None] | None, new: dict[str, float | None]) -> Iterator[str]:
    """The value over all cases, old and new, then the cases that moved."""
    count = len(new) - ("" in new)
    over = f"over {count} case{'s' * (count != 1)}"
    if old is None:
        yield f"  {name}: {_value(new.get(''))} {over} (new)"
        return
    moved: Sequence[str] = sorted(case for case in new if case and case in old and new[case] != old[case])
    change = _moved(old.get(""), new.get("")) if old.get("") != new.get("") else f"{_value(new.get(''))} unchanged"
    yield f"  {name}: {change} {over}"
    for case in moved[:MOST_CASES]:
        yield f"    {case}: {_moved(old[case], new[case])}"
    if len(moved) > MOST_CASES:
        yield f"    and {len(moved) - MOST_CASES} more cases"


def _moved(old: float | None, new: float | None) -> str:
    relative = f" ({(new - old) / abs(old):+.1%})" if old and new is not None else ""
    return f"{_value(old)} → {_value(new)}{relative}"


def _value(value: float | None) -> str:
    return "not measured" if value is None else number(value)
