"""Certainty of a difference: an exact permutation test over cases, and the interval of the differences that it does not reject.

If two strategies do not differ, it does not matter which of a case's two values belongs to which of them. So the two are swapped, case by case, in
every possible way (above 12 cases in 2,000 seeded ones), and the difference is sure when at most 5 % of these give one as large. Below six cases no
result could be sure (five have 16 different swaps), so nothing is said. If values are only spread differently at both sides, few and very skewed
cases can be called sure more often than 5 %.

The interval is the test turned round: the differences that, taken out of each case, leave nothing that the test would call sure. Of a sum the
difference is taken out in proportion to the reference (a strategy saves a share of each case), of a pooled share evenly. A maximum has none.

Source: Fisher, The Design of Experiments (1935), section 21; Good, Permutation, Parametric and Bootstrap Tests of Hypotheses (2005), chapter 3;
Hartigan, Using subsample values as typical values (1969), for the interval
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import msgspec

from ..model import Columns, Delta, MetricInfo, Row
from ..text.wording import counted
from .advice import NOISE_FLOOR as NOISE_FLOOR
from .rows import combine

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

FEWEST = 6  # below so many cases nothing is called sure
EXACT_UP_TO = 12  # up to so many cases every swap is tried
DRAWN = 2_000  # the number of swaps tried above that, the one that swaps nothing among them
ONE_IN = 20  # at most one in so many swaps may give as large a difference: 5 %
ROUNDING = 1e-12  # a sum this small beside its parts is zero
AT_ONCE = 500_000  # the most values that are added up at once, so that many cases take little memory
HELD = 4  # the most numbers of cases whose swaps are held


@dataclass(frozen=True)
class Pair:
    """One case: the value of a strategy and that of its reference, each with what it weighs in a pooled value."""

    ours: float
    theirs: float
    our_weight: float = 1.0
    their_weight: float = 1.0


@dataclass(frozen=True)
class Certainty:
    """The result of a test: `p` is the share of swaps with a difference as large; None for too few cases.

    `low` and `high` bound the difference, `relative_low` and `relative_high` its share of the reference; None where there is no interval.
    """

    sure: bool = False
    p: float | None = None
    low: float | None = None
    high: float | None = None
    relative_low: float | None = None
    relative_high: float | None = None


class Swaps:
    """The swaps of any number of cases: one row a swap, true where a case's two values change sides. Those of a few numbers are held."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self._drawn: dict[int, NDArray[np.bool_]] = {}

    def of(self, cases: int) -> NDArray[np.bool_]:
        """The swaps of so many cases; the first swaps nothing. A swap and its opposite give the same difference: one of the two is here.

        >>> [Swaps().of(cases).shape for cases in (6, 12, 13)]
        [(32, 6), (2048, 12), (2000, 13)]
        """
        import numpy as np

        if cases not in self._drawn:
            if cases <= EXACT_UP_TO:
                numbers = np.arange(2 ** max(cases - 1, 0))[:, None]
                swapped = (numbers >> np.arange(cases)) % 2 == 1
            else:
                swapped, random = np.empty((DRAWN, cases), dtype=bool), np.random.default_rng(self.seed)
                for rows in _blocks(swapped):
                    rows[:] = random.integers(0, 2, size=rows.shape) == 1
                swapped[0] = False
            self._drawn = {**dict([*self._drawn.items()][1 - HELD :]), cases: swapped}
        return self._drawn[cases]

    def blocks(self, cases: int) -> Iterator[Numbers]:
        """The same as numbers that can be multiplied with, 1 for a case that is swapped, in parts that take little memory."""
        return (rows.astype(float) for rows in _blocks(self.of(cases)))


def certainty(pairs: Sequence[Pair], aggregate: Literal["sum", "max", "pooled"], swaps: Swaps) -> Certainty:
    """Test the difference over some cases, added up as a metric does. Fewer than six cases: nothing is sure.

    >>> saved = [Pair(90.0 + case, 100.0) for case in range(6)]
    >>> found = certainty(saved, "sum", Swaps())
    >>> found.sure, round(found.relative_low, 3), round(found.relative_high, 3)
    (True, -0.1, -0.05)
    >>> certainty(saved[:5], "sum", Swaps()).sure
    False
    >>> shares = certainty([Pair(0.9 - case / 100, 0.5, 4.0, 2.0) for case in range(8)], "pooled", Swaps())
    >>> round(shares.low, 4), round(shares.relative_low, 4), shares.relative_low == shares.low / 0.5
    (0.3325, 0.665, True)
    """
    import numpy as np

    if len(pairs) < FEWEST:
        return Certainty()
    ours, theirs = (np.array([getattr(pair, side) for pair in pairs], dtype=float) for side in ("ours", "theirs"))
    if aggregate == "max":
        return _of_maximum(ours, theirs, swaps.of(len(pairs)))
    if aggregate == "sum":
        return _of_sum(ours, theirs, swaps)
    ours_weigh = np.array([pair.our_weight for pair in pairs], dtype=float)
    theirs_weigh = np.array([pair.their_weight for pair in pairs], dtype=float)
    return _of_shares(ours, theirs, (ours_weigh, theirs_weigh), swaps)


def _is_sure(chance: float) -> bool:
    """True if what so large a share of swaps gives is called sure."""
    return chance * ONE_IN <= 1 + ROUNDING


def _of_sum(ours: Numbers, theirs: Numbers, swaps: Swaps) -> Certainty:
    """A difference in proportion to the reference; an even one where the reference has nothing to be in proportion to."""
    import numpy as np

    in_proportion = bool((theirs >= 0).all()) and float(theirs.sum()) > 0
    weights = theirs if in_proportion else np.ones_like(theirs)
    return _tested(ours - theirs, weights, swaps, float(weights.sum()), 1.0 if in_proportion else 0.0)


def _of_shares(ours: Numbers, theirs: Numbers, weigh: tuple[Numbers, Numbers], swaps: Swaps) -> Certainty:
    """The difference of two pooled shares. What a case adds to it is measured from the share of both sides together, which no swap changes."""
    our_weight, their_weight = weigh
    all_ours, all_theirs = float(our_weight.sum()), float(their_weight.sum())
    together = all_ours + all_theirs
    if not all_ours or not all_theirs:
        return Certainty()
    pooled = float((ours * our_weight).sum() + (theirs * their_weight).sum()) / together
    parts = our_weight * (ours - pooled) - their_weight * (theirs - pooled)
    weights = (our_weight * all_theirs + their_weight * all_ours) / together
    return _tested(parts, weights, swaps, 1.0, abs(float((theirs * their_weight).sum()) / all_theirs))


def _tested(parts: Numbers, weights: Numbers, swaps: Swaps, whole: float, reference: float) -> Certainty:
    """The test of Σ parts / Σ weights: its interval times the `whole`, and as a share of the `reference` (0: none)."""
    p, low, high = _limits(parts, weights, swaps)
    relative = (low / reference, high / reference) if reference else (None, None)
    ends = (low * whole, high * whole, *relative)
    return Certainty(_is_sure(p), p, *(end if end is not None and math.isfinite(end) else None for end in ends))


def _of_maximum(ours: Numbers, theirs: Numbers, swapped: NDArray[np.bool_]) -> Certainty:
    import numpy as np

    sides = ((np.where(rows, theirs, ours), np.where(rows, ours, theirs)) for rows in _blocks(swapped))
    size = np.concatenate([np.abs(one.max(axis=1) - other.max(axis=1)) for one, other in sides])
    as_large = size >= size[0] - ROUNDING * max(float(np.abs(ours).max()), float(np.abs(theirs).max()))
    p = float(as_large.sum()) / len(size)
    return Certainty(_is_sure(p), p)


def _limits(parts: Numbers, weights: Numbers, swaps: Swaps) -> tuple[float, float, float]:
    """The p-value of Σ parts / Σ weights, and the ends of the interval.

    A swap gives a difference as large as none does exactly where the weighted means of the swapped and of the other cases lie on both sides
    of zero (or on it). So each swap has a range between its two means, and a difference is rejected where at most one in 20 ranges holds it.
    """
    import numpy as np

    small = ROUNDING * float(np.abs(parts).sum())
    both = np.stack([parts, weights], axis=1)
    lows, highs = [], []
    for rows in swaps.blocks(len(parts)):
        inside, its_weight = (rows @ both).T
        outside, other_weight = parts.sum() - inside, weights.sum() - its_weight
        inside[np.abs(inside) <= small] = 0.0
        outside[np.abs(outside) <= small] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            one, other = inside / its_weight, outside / other_weight
        lows.append(np.nan_to_num(np.minimum(one, other), nan=-np.inf, posinf=np.inf, neginf=-np.inf))
        highs.append(np.nan_to_num(np.maximum(one, other), nan=np.inf, posinf=np.inf, neginf=-np.inf))
    low, high = np.concatenate(lows), np.concatenate(highs)
    place = len(low) // ONE_IN
    p = float(((low <= 0) & (high >= 0)).sum()) / len(low)
    return p, float(np.partition(low, place)[place]), float(-np.partition(-high, place)[place])


def _blocks(swapped: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
    rows = max(1, AT_ONCE // swapped.shape[1])
    return [swapped[start : start + rows] for start in range(0, len(swapped), rows)]


def deltas(
    infos: Mapping[str, MetricInfo],
    rows: Columns,
    strategies: Sequence[str],
    references: Sequence[str],
    seed: int,
) -> tuple[Delta, ...]:
    """Every strategy against each reference, per metric, over the cases that both measured: the first reference first."""
    swaps, found = Swaps(seed), {}
    both = [(strategy, reference) for reference in references for strategy in strategies if strategy != reference]
    for name, info in infos.items():  # one metric after the other: the rows of one, and few swaps, are held at once
        by_case = {one: {row.case: row for row in rows.of(one, name)} for one in {*strategies, *references}}
        for names in both:
            ours, theirs = (by_case[one] for one in names)
            pairs = ((row, theirs[case]) for case, row in ours.items() if case in theirs)
            found[names, name] = difference(info, names, pairs, swaps)
    return tuple(found[names, name] for names in both for name in infos)


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
    if not delta or (relative is not None and abs(relative) < NOISE_FLOOR):
        return "no difference above the noise floor"
    if cases < FEWEST:
        return f"{counted(cases, 'case')}: nothing is sure below {FEWEST}"
    return None if held.sure else f"{counted(cases, 'case')} do not tell it from chance"
