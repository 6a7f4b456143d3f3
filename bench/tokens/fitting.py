"""Constants of a linear rule fitted on a few measured cases, robustly: the sum of the absolute errors is what they make small."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Matrix = np.ndarray[Any, np.dtype[np.float64]]

_ROUNDS = 20
_FOLDS = 10
_PULL = 1e-7
"""How strongly a constant that the cases do not determine is held at its plain value: no more than rounding errors elsewhere."""


@dataclass(frozen=True)
class Constant:
    """One constant to be fitted: its value where nothing says otherwise, and the values it can have at all."""

    plain: float
    lowest: float
    highest: float


def fitted(
    rows: Sequence[Sequence[float]], targets: Sequence[float], constants: Sequence[Constant]
) -> tuple[float, ...]:
    """The values of the constants whose sum with the weights of each row comes nearest to its target.

    A constant that the rows leave open keeps its plain value. No rows: the plain values.

    >>> rows = [(1, 2, 100), (1, 4, 180), (1, 6, 300), (1, 8, 350)]
    >>> wanted = (Constant(3, 0, 99), Constant(3, 0, 99), Constant(1, 0.5, 2))
    >>> [round(number, 3) for number in fitted(rows, [113, 203, 333, 393], wanted)]
    [3.0, 5.0, 1.0]
    """
    import numpy as np

    if not rows:
        return tuple(constant.plain for constant in constants)
    return tuple(map(float, _robust(np.array(rows, float), np.array(targets, float), constants)))


def outside_error(rows: Sequence[Sequence[float]], targets: Sequence[float], constants: Sequence[Constant]) -> float:
    """The sum of the absolute errors on rows that the constants were not fitted on: one row in ten at a time is left out.

    >>> outside_error([(1.0,)] * 5, [7.0] * 5, [Constant(0, 0, 9)]) < 0.001
    True
    """
    import numpy as np

    found, wanted = np.array(rows, float), np.array(targets, float)
    start = _robust(found, wanted, constants)
    folds = min(_FOLDS, len(rows))
    numbers = np.arange(len(rows)) % folds
    total = 0.0
    for fold in range(folds):
        kept = numbers != fold
        values = _robust(found[kept], wanted[kept], constants, start)
        total += float(np.abs(found[~kept] @ values - wanted[~kept]).sum())
    return total


def _robust(rows: Matrix, targets: Matrix, constants: Sequence[Constant], start: Matrix | None = None) -> Matrix:
    """Least absolute errors, as least squares whose weights are the errors of the round before."""
    import numpy as np

    values = start
    for _ in range(_ROUNDS):
        before = values
        errors = np.ones(len(targets)) if before is None else np.abs(rows @ before - targets)
        values = _least_squares(rows, targets, 1.0 / np.maximum(errors, 0.5), constants)
        if before is not None and np.allclose(values, before, rtol=1e-6, atol=1e-4):
            break
    return values  # type: ignore[return-value]


def _least_squares(rows: Matrix, targets: Matrix, weights: Matrix, constants: Sequence[Constant]) -> Matrix:
    """The best values within their bounds: every choice of constants that stand at a bound is tried, that of none first."""
    import numpy as np

    weighted = rows * weights[:, None]
    left, right = (weighted.T @ rows).tolist(), (weighted.T @ targets).tolist()
    for place, constant in enumerate(constants):
        pull = _PULL * left[place][place] + 1e-12
        left[place][place] += pull
        right[place] += pull * constant.plain
    best, least = [constant.plain for constant in constants], math.inf
    for held in itertools.product((None, False, True), repeat=len(constants)):
        fixed = {
            place: constants[place].highest if at_top else constants[place].lowest
            for place, at_top in enumerate(held)
            if at_top is not None
        }
        found = _solved(left, right, fixed)
        if any(
            not constant.lowest - 1e-9 <= value <= constant.highest + 1e-9
            for constant, value in zip(constants, found, strict=True)
        ):
            continue
        cost = sum(
            value * (sum(a * b for a, b in zip(row, found, strict=True)) - 2 * target)
            for value, row, target in zip(found, left, right, strict=True)
        )
        if cost < least:
            best, least = found, cost
        if not fixed:
            break
    return np.array(best, float)


def _solved(left: list[list[float]], right: list[float], fixed: Mapping[int, float]) -> list[float]:
    """The solution of a few linear equations, some of the unknowns being given."""
    unknown = [place for place in range(len(right)) if place not in fixed]
    rows = [
        [*(left[i][j] for j in unknown), right[i] - sum(left[i][j] * value for j, value in fixed.items())]
        for i in unknown
    ]
    for at in range(len(rows)):
        pivot = max(range(at, len(rows)), key=lambda row: abs(rows[row][at]))
        rows[at], rows[pivot] = rows[pivot], rows[at]
        for row in range(len(rows)):
            if row != at:
                times = rows[row][at] / rows[at][at]
                rows[row] = [a - times * b for a, b in zip(rows[row], rows[at], strict=True)]
    values = dict(fixed)
    values.update({place: rows[at][-1] / rows[at][at] for at, place in enumerate(unknown)})
    return [values[place] for place in range(len(right))]
