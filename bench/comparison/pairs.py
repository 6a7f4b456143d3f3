"""Strategies against a reference, paired by case: the difference, how sure it is, and a refusal to compare what does not compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ..errors import ResultsError
from ..model import Delta, MetricInfo, Row, Signature
from .rows import combine

RESAMPLES = 1000
NOISE_FLOOR = 0.001
"""A relative difference below this is not called better or worse, however sure it is."""


def deltas(
    infos: Mapping[str, MetricInfo],
    rows: Sequence[Row],
    strategies: Sequence[str],
    reference: str,
    seed: int,
) -> tuple[Delta, ...]:
    """Every strategy against the reference, per metric, over the cases that both measured.

    The interval is the 2.5th and 97.5th percentile of 1,000 seeded bootstrap resamples of the cases; with one case there is none.
    """
    table: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        if row.case is not None and row.value is not None:
            table.setdefault((row.strategy, row.metric), {})[row.case] = row
    found = []
    for strategy in strategies:
        if strategy == reference:
            continue
        for name, info in infos.items():
            ours, theirs = table.get((strategy, name), {}), table.get((reference, name), {})
            cases = sorted(ours.keys() & theirs.keys())
            found.append(_delta(info, strategy, reference, [(ours[case], theirs[case]) for case in cases], seed))
    return tuple(found)


def change(
    info: MetricInfo, rows: Sequence[Row], before: Mapping[str, float | None], seed: int, name: str
) -> Delta | None:
    """The rows of one strategy and metric against accepted values of the same cases, paired; None for no rows.

    An accepted value weighs what its row weighs: how much there is to measure depends on the trace, not on the strategy.

    >>> info = MetricInfo(name="cost.prompt_tokens", unit="tokens", better="lower", aggregate="sum")
    >>> row = Row(strategy="a", metric=info.name, case="x", value=110.0, unit="tokens", n=1)
    >>> found = change(info, [row], {"x": 100.0}, 0, "the baseline")
    >>> found.delta, found.relative, found.n, found.reason
    (10.0, 0.1, 1, 'one case: no interval')
    """
    pairs = []
    for row in rows:
        earlier = before.get(row.case) if row.case is not None else None
        if row.value is not None and earlier is not None:
            pairs.append((row, msgspec.structs.replace(row, value=earlier)))
    return _delta(info, rows[0].strategy, name, pairs, seed) if rows else None


def _delta(info: MetricInfo, strategy: str, reference: str, pairs: Sequence[tuple[Row, Row]], seed: int) -> Delta:
    ours = combine(info, [(a.value or 0.0, a.n) for a, _ in pairs])
    theirs = combine(info, [(b.value or 0.0, b.n) for _, b in pairs])
    if ours is None or theirs is None:
        return Delta(strategy=strategy, reference=reference, metric=info.name, delta=None, relative=None, low=None,
                     high=None, n=0, better=None, reason="no case was measured for both")  # fmt: skip
    delta = ours - theirs
    relative = delta / abs(theirs) if theirs else None
    low, high, relative_low, relative_high = _interval(info, pairs, seed) if len(pairs) > 1 else (None,) * 4
    better, reason = None, None
    if delta == 0 or (relative is not None and abs(relative) < NOISE_FLOOR):
        reason = "no difference above the noise floor"
    elif low is None or high is None:
        reason = "one case: no interval"
    elif low <= 0 <= high:
        reason = "the interval holds zero"
    else:
        better = (delta < 0) == (info.better == "lower")
    return Delta(strategy=strategy, reference=reference, metric=info.name, delta=delta, relative=relative, low=low,
                 high=high,
                 relative_low=relative_low, relative_high=relative_high, n=len(pairs), better=better, reason=reason)  # fmt: skip


def _interval(
    info: MetricInfo, pairs: Sequence[tuple[Row, Row]], seed: int
) -> tuple[float, float, float | None, float | None]:
    """The interval of the difference, and of the difference as a share of the reference (None where that can be zero)."""
    import numpy as np

    chosen = np.random.default_rng(seed).integers(0, len(pairs), size=(RESAMPLES, len(pairs)))

    def resampled(side: int) -> Any:
        values = np.array([pair[side].value for pair in pairs], dtype=float)[chosen]
        if info.aggregate == "max":
            return values.max(axis=1)
        if info.aggregate == "sum":
            return values.sum(axis=1)
        weights = np.array([pair[side].n for pair in pairs], dtype=float)[chosen]
        return (values * weights).sum(axis=1) / weights.sum(axis=1)

    ours, theirs = resampled(0), resampled(1)
    low, high = np.percentile(ours - theirs, [2.5, 97.5])
    if not theirs.all():
        return float(low), float(high), None, None
    relative_low, relative_high = np.percentile((ours - theirs) / abs(theirs), [2.5, 97.5])
    return float(low), float(high), float(relative_low), float(relative_high)


def require_comparable(ours: Signature, theirs: Signature, *, priced: bool = True) -> None:
    """Raise ResultsError where two signatures differ in anything but the strategies and the set of cases being compared.

    A case that both have must be the same recording, and be asked the same questions. `priced` False: nothing in dollars is compared, so new
    price tables do not matter.
    """
    for field, word, mine, other in ours.differences(theirs):
        if field != "prices_date" or priced:
            raise ResultsError(f"not comparable: {word} differs ({mine} against {other})")
    for case in sorted(ours.traces.keys() & theirs.traces.keys()):
        if ours.traces[case] != theirs.traces[case]:
            raise ResultsError(f"not comparable: case {case} is another recording under the same name")
        if ours.questions.get(case) != theirs.questions.get(case):
            raise ResultsError(f"not comparable: case {case} is asked other questions (labels or probes)")
