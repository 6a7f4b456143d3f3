"""Strategies against a reference, paired by case: the difference, how sure it is, and a refusal to compare what does not compare."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ..model import Delta, MetricInfo, Row, Signature
from ..model.errors import ResultsError
from ..text.wording import counted
from .advice import NOISE_FLOOR as NOISE_FLOOR
from .intervals import FEWEST, Certainty, Pair, Swaps, certainty
from .rows import combine


def deltas(
    infos: Mapping[str, MetricInfo],
    rows: Sequence[Row],
    strategies: Sequence[str],
    references: Sequence[str],
    seed: int,
) -> tuple[Delta, ...]:
    """Every strategy against each reference, per metric, over the cases that both measured: the first reference first."""
    table: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        if row.case is not None:
            table.setdefault((row.strategy, row.metric), {})[row.case] = row
    swaps = Swaps(seed)
    found = []
    for reference in references:
        for strategy in strategies:
            if strategy == reference:
                continue
            for name, info in infos.items():
                ours, theirs = table.get((strategy, name), {}), table.get((reference, name), {})
                pairs = ((ours[case], theirs[case]) for case in sorted(ours.keys() & theirs.keys()))
                found.append(difference(info, (strategy, reference), pairs, swaps))
    return tuple(found)


def change(info: MetricInfo, rows: Sequence[Row], accepted: Mapping[str, Row], seed: int, name: str) -> Delta | None:
    """The rows of one strategy and metric against accepted rows of the same cases, paired; None for no rows.

    An accepted row without a weight weighs what the one of now does.

    >>> info = MetricInfo(name="cost.prompt_tokens", unit="tokens", better="lower", aggregate="sum")
    >>> row = Row(strategy="a", metric=info.name, case="x", value=110.0, unit="tokens", n=1)
    >>> found = change(info, [row], {"x": msgspec.structs.replace(row, value=100.0)}, 0, "the baseline")
    >>> found.delta, found.relative, found.n, found.reason
    (10.0, 0.1, 1, '1 case: nothing is sure below 6')
    """
    both = [(row, accepted[row.case]) for row in rows if row.case is not None and row.case in accepted]
    pairs = [(row, then if then.n else msgspec.structs.replace(then, n=row.n)) for row, then in both]
    return difference(info, (rows[0].strategy, name), pairs, Swaps(seed)) if rows else None


def difference(info: MetricInfo, names: tuple[str, str], rows: Iterable[tuple[Row, Row]], swaps: Swaps) -> Delta:
    """The difference of two strategies (`names`: ours, the reference) over the cases that both measured, and whether it is sure."""
    strategy, reference = names
    pairs = [
        Pair(ours.finite, theirs.finite, ours.n, theirs.n)
        for ours, theirs in rows
        if ours.finite is not None and theirs.finite is not None
    ]
    ours = combine(info, [(pair.ours, pair.our_weight) for pair in pairs])
    theirs = combine(info, [(pair.theirs, pair.their_weight) for pair in pairs])
    if ours is None or theirs is None:
        return Delta(strategy=strategy, reference=reference, metric=info.name, delta=None, relative=None, low=None,
                     high=None, n=0, better=None, reason="no case was measured for both")  # fmt: skip
    delta = ours - theirs
    relative = delta / abs(theirs) if theirs else None
    held = certainty(pairs, info.aggregate, swaps)
    reason = _doubt(delta, relative, len(pairs), held)
    better = None if reason else (delta < 0) == (info.better == "lower")
    return Delta(strategy=strategy, reference=reference, metric=info.name, delta=delta, relative=relative, low=held.low,
                 high=held.high, relative_low=held.relative_low, relative_high=held.relative_high, n=len(pairs),
                 better=better, p=held.p, reason=reason)  # fmt: skip


def _doubt(delta: float, relative: float | None, cases: int, held: Certainty) -> str | None:
    """Why a difference is not called better or worse; None where it is sure."""
    if delta == 0 or (relative is not None and abs(relative) < NOISE_FLOOR):
        return "no difference above the noise floor"
    if cases < FEWEST:
        return f"{counted(cases, 'case')}: nothing is sure below {FEWEST}"
    return None if held.sure else f"{counted(cases, 'case')} do not tell it from chance"


def require_comparable(ours: Signature, theirs: Signature) -> None:
    """Raise ResultsError where two signatures differ in anything but the strategies and the set of cases being compared.

    A case that both have must be the same recording, and be asked the same questions.
    """
    for _, word, mine, other in ours.differences(theirs):
        raise ResultsError(f"not comparable: {word} differs ({mine} against {other})")
    for case in sorted(ours.traces.keys() & theirs.traces.keys()):
        if ours.traces[case] != theirs.traces[case]:
            raise ResultsError(f"not comparable: case {case} is another recording under the same name")
        if ours.questions.get(case) != theirs.questions.get(case):
            raise ResultsError(f"not comparable: case {case} is asked other questions (labels or probes)")
