"""Accepting a run as the baseline: an explicit act that says what it took, old and new, and refuses what measured nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

import msgspec

from ..files.writing import write_atomically
from ..model import Against, Baseline, Comparison, MetricInfo, Row, Signature
from ..model.errors import ResultsError
from ..text.wording import NOT_MEASURED, counted, exact, listed, moved
from .baselines import accepted_from, baseline_bytes, stale_reasons
from .judging import judge, judged, loosened, needs_baseline, unstable_on
from .rows import summary_row

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


def accepted(comparison: Comparison, path: Path, *, only_new: bool = False) -> tuple[Baseline | None, tuple[str, ...]]:
    """The run's values as the baseline of a file, and lines that say what is accepted. Nothing is written.

    `only_new`: what was accepted stays, and the values of cases that it does not know are added. Where no gate compares with a baseline, or
    there is no new case, there is nothing to accept (None). Raises ResultsError as `require_acceptable` does; where new cases come together
    with a regression of known ones (one would hide the other); and, for `only_new`, where there is no baseline to add them to.
    """
    require_acceptable(comparison, path)
    found = baseline_of(comparison)
    if not found.rows:
        return None, (f"{path}: no gate compares with a baseline, nothing to accept",)
    old, stale = comparison.against.baseline, comparison.against.stale
    if only_new:
        if old is None or stale:
            reasons = "; ".join(stale_reasons(stale))
            why = f"the baseline is stale for {reasons}" if stale else "there is no baseline yet"
            raise ResultsError(f"{path}: new cases not accepted: {why} — accept the whole run with --update-baseline")
        new = sorted(found.signature.traces.keys() - old.signature.traces.keys())
        if not new:
            return None, (f"{path}: no new case, nothing to accept",)
        found = _with_new(old, comparison, new)
    elif old is not None:
        _require_one_thing(comparison, old, path)
    return found, tuple(_accepted(old, found, path))


def accept(comparison: Comparison, path: Path) -> tuple[Baseline | None, tuple[str, ...]]:
    """Write the run's values as the baseline; gives it, and lines that say what was accepted. Errors and None: as `accepted`."""
    found, lines = accepted(comparison, path)
    if found is not None:
        write_atomically(path, baseline_bytes(found))
    return found, lines


def _require_one_thing(comparison: Comparison, old: Baseline, path: Path) -> None:
    """Raise ResultsError where cases are new and known ones regressed."""
    new = sorted(comparison.signature.traces.keys() - old.signature.traces.keys())
    if not new:
        return
    for rule in comparison.rules:
        for name in judged(rule, comparison) if needs_baseline(rule) else ():
            verdict = judge(rule, comparison, name)
            if verdict.outcome == "fail":
                what = f"{counted(len(new), 'new case')} ({listed(new[:MOST_CASES])}) beside a regression of known ones"
                then = "--accept-new accepts the new cases alone; then --update-baseline accepts the regression"
                raise ResultsError(f"{path}: baseline not accepted: {what} ({verdict.sentence}) — {then}")


def _with_new(old: Baseline, comparison: Comparison, new: Sequence[str]) -> Baseline:
    """The baseline with the rows of new cases added, and those over all cases made again."""
    rows = [
        row
        for strategy, by_metric in old.rows.items()
        for metric, known in by_metric.items()
        for row in _joined(
            known, comparison.metrics.get(metric), comparison, [(strategy, metric, name) for name in new]
        )
    ]
    signature = _signature_with(old.signature, comparison.signature, new)
    found = accepted_from(rows, signature, comparison.metrics, {name: name for name in old.rows})
    return msgspec.structs.replace(found, rules=old.rules)


def _joined(
    known: Mapping[str, Row], info: MetricInfo | None, comparison: Comparison, new: Sequence[tuple[str, str, str]]
) -> list[Row]:
    """Accepted rows of one metric of one strategy, the rows of new cases, and that over all of them."""
    added = [row for key in new if (row := comparison.row(*key)) is not None]
    if info is None or not added:
        return [*known.values()]
    rows = added
    for case, row in known.items():
        now = comparison.row(row.strategy, row.metric, case) if case in comparison.by_case else None
        weight = now.n if not row.n and now is not None and now.value is not None else row.n  # none was kept once
        rows += [msgspec.structs.replace(row, n=weight)] if case else []
    total, whole = summary_row(info, rows[0].strategy, rows), known.get("")
    unweighed = info.aggregate == "pooled" and any(row.value is not None and not row.n for row in rows)
    if whole is None or whole.value is None or unweighed:
        total = msgspec.structs.replace(total, value=None, low=None, high=None)
    return [*rows, total]


def _signature_with(old: Signature, now: Signature, new: Sequence[str]) -> Signature:
    """The signature of what was accepted, with the new cases in it."""
    by_case = {
        name: getattr(old, name) | {case: getattr(now, name)[case] for case in new if case in getattr(now, name)}
        for name in ("traces", "questions", "case_encodings")
    }
    encodings = tuple(sorted({*old.encodings, *now.encodings}))
    return msgspec.structs.replace(old, encodings=encodings, **by_case)


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
