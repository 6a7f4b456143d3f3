"""Accepting a run as the baseline: an explicit act that says what it took, old and new, and refuses what measured nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import chain
from pathlib import Path

import msgspec

from ..files.writing import write_atomically
from ..model import Against, Baseline, Comparison
from ..model.errors import ResultsError
from ..text.wording import NOT_MEASURED, counted, exact, moved
from .baselines import accepted_from, baseline_bytes
from .judging import judged, loosened, needs_baseline, unstable_on

MOST_CASES = 10  # the most changed cases that are listed for one metric of one strategy


def baseline_of(comparison: Comparison) -> Baseline:
    """The values that relative gates need, of every declared strategy and reference a gate names, per case and over all (`""`)."""
    relative = [rule for rule in comparison.rules if needs_baseline(rule)]
    wanted = {rule.metric for rule in relative}
    strategies = {*comparison.strategies, *(name for rule in relative for name in judged(rule, comparison))}
    rows = (row for row in chain(comparison.summary, comparison.rows) if row.metric in wanted)
    families = {comparison.metrics[metric].family for metric in wanted if metric in comparison.metrics}
    versions = {name: version for name, version in comparison.signature.metrics.items() if name in families}
    signature = msgspec.structs.replace(comparison.signature, metrics=versions)
    found = accepted_from(rows, signature, comparison.metrics, {name: name for name in strategies})
    return msgspec.structs.replace(found, rules=comparison.rules)


def earlier_values(
    comparison: Comparison, name: str, before: Mapping[str, str], missing: Mapping[str, str], new: Collection[str] = ()
) -> Against:
    """The values of the strategies' earlier versions as a baseline, without the cases that are `new` since: they make up for none. A strategy without
    an earlier version is compared with itself.
    """
    judged_too = {item for rule in comparison.rules if needs_baseline(rule) for item in judged(rule, comparison)}
    names = {before.get(item, item): item for item in (*comparison.strategies, *judged_too) if item not in missing}
    rows = (row for row in comparison.rows if row.case not in new)
    traces = {case: sha for case, sha in comparison.signature.traces.items() if case not in new}
    signature = msgspec.structs.replace(comparison.signature, traces=traces)
    accepted = accepted_from(chain(() if new else comparison.summary, rows), signature, comparison.metrics, names)
    return Against(baseline=accepted, name=name, before={**before}, missing={**missing})


def require_acceptable(comparison: Comparison, path: Path) -> None:
    """Raise ResultsError for a run that cannot be a baseline: a strategy raised, one whose values gates need is unstable, or such a value was not
    measured anywhere.
    """
    for strategy in comparison.strategies:
        failed = comparison.failed(strategy)
        if failed:
            raise ResultsError(f"{path}: baseline not accepted: {strategy} raised on {failed[0]}: {failed[1]}")
    for strategy, metrics in sorted(baseline_of(comparison).rows.items()):
        unstable = unstable_on(comparison, strategy)
        if unstable is not None:
            raise ResultsError(f"{path}: baseline not accepted: {unstable} — make it give the same each time")
        for metric, rows in sorted(metrics.items()):
            if all(row.value is None for row in rows.values()):
                row = comparison.row(strategy, metric)
                reason = row.reason if row is not None and row.reason else "no value"
                raise ResultsError(f"{path}: baseline not accepted: {strategy} measured no {metric}: {reason}")


def accepted(comparison: Comparison, path: Path) -> tuple[Baseline | None, tuple[str, ...]]:
    """The run's values as the baseline of a file, and lines that say what is accepted. Nothing is written.

    None where no gate compares with a baseline. Raises ResultsError as `require_acceptable` does.
    """
    require_acceptable(comparison, path)
    found = baseline_of(comparison)
    if not found.rows:
        return None, (f"{path}: no gate compares with a baseline, nothing to accept",)
    return found, tuple(_accepted(comparison.against.baseline, found, path))


def accept(comparison: Comparison, path: Path) -> tuple[Baseline | None, tuple[str, ...]]:
    """Write the run's values as the baseline; gives it, and lines that say what was accepted. Errors and None: as `accepted`."""
    found, lines = accepted(comparison, path)
    if found is not None:
        write_atomically(path, baseline_bytes(found))
    return found, lines


def _accepted(old: Baseline | None, new: Baseline, path: Path) -> Iterator[str]:
    yield f"accepted {path}:" if old is not None else f"accepted {path}, the first baseline:"
    if old is not None:
        yield from _signature(old, new)
        for strategy in sorted(old.rows.keys() - new.rows.keys()):
            yield f"  {strategy}: taken out"
        for what in loosened(new.rules, old.rules, sorted(new.rows)):
            yield f"  {what}"
    for strategy, metrics in sorted(new.rows.items()):
        before = old.rows.get(strategy, {}) if old else {}
        for metric in sorted(before.keys() - metrics.keys()):
            yield f"  {strategy} {metric}: taken out"
        for metric, rows in sorted(metrics.items()):
            then = None if metric not in before else {case: row.value for case, row in before[metric].items()}
            yield from _metric(f"{strategy} {metric}", then, {case: row.value for case, row in rows.items()})


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
    changed = sorted(case for case in new if case and case in old and new[case] != old[case])
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
