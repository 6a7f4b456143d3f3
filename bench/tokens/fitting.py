"""Constants of a linear rule fitted on a few measured cases, robustly: the sum of the absolute errors is what they make small."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Matrix = np.ndarray[Any, np.dtype[np.float64]]

_ROUNDS = 20
_FOLDS = 5
_PULL = 1e-7
"""The weight that holds a constant at its plain value where the cases do not determine it: no more than rounding errors."""


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


def outside_error(
    rows: Sequence[Sequence[float]], targets: Sequence[float], constants: Sequence[Constant], start: Sequence[float]
) -> float:
    """The sum of the absolute errors on rows that the constants were not fitted on: one row in five at a time is left out.

    `start` are the values that were fitted on all of them.
    """
    import numpy as np

    found, wanted = np.array(rows, float), np.array(targets, float)
    folds = min(_FOLDS, len(rows))
    numbers = np.arange(len(rows)) % folds
    total = 0.0
    for fold in range(folds):
        kept = numbers != fold
        values = _robust(found[kept], wanted[kept], constants, np.array(start, float))
        total += float(np.abs(found[~kept] @ values - wanted[~kept]).sum())
    return total


def _robust(rows: Matrix, targets: Matrix, constants: Sequence[Constant], start: Matrix | None = None) -> Matrix:
    """Least absolute errors, as least squares whose weights are the errors of the round before."""
    import numpy as np

    values, choices = start, _choices(constants)
    for _ in range(_ROUNDS):
        before = values
        errors = np.ones(len(targets)) if before is None else np.abs(rows @ before - targets)
        values = _least_squares(rows, targets, 1.0 / np.maximum(errors, 0.5), constants, choices)
        if before is not None and (np.abs(values - before) <= 1e-3 + 1e-4 * np.abs(before)).all():
            break
    return values  # type: ignore[return-value]


def _least_squares(
    rows: Matrix, targets: Matrix, weights: Matrix, constants: Sequence[Constant], choices: Sequence[dict[int, float]]
) -> Matrix:
    """The best values within their bounds: choices of constants that stand at a bound are tried, that of none first, until one is the best."""
    import numpy as np

    weighted = rows * weights[:, None]
    left, right = weighted.T @ rows, weighted.T @ targets
    plain = np.array([constant.plain for constant in constants], float)
    pull = _PULL * left.diagonal() + 1e-12
    left, right = left + np.diag(pull), right + pull * plain
    nothing = 1e-7 * np.abs(right) + 1e-9
    for fixed in choices:
        found = _solved(left, right, fixed)
        stay = map(
            _stays, constants, range(len(constants)), found, left @ found - right, nothing, itertools.repeat(fixed)
        )
        if all(stay):
            return found
    return plain


def _choices(constants: Sequence[Constant]) -> list[dict[int, float]]:
    """Yield the choices of constants that stand at a bound, those with fewer of them first."""
    ends = [(None, constant.lowest, constant.highest) for constant in constants]
    found = [
        {place: value for place, value in enumerate(values) if value is not None} for values in itertools.product(*ends)
    ]
    return sorted(found, key=len)


def _stays(
    constant: Constant, place: int, value: float, slope: float, nothing: float, fixed: Mapping[int, float]
) -> bool:
    """True if a constant is optimal: free and within its bounds, or at a bound with the error rising away from it."""
    if place not in fixed:
        return constant.lowest - 1e-9 <= value <= constant.highest + 1e-9
    return slope >= -nothing if fixed[place] == constant.lowest else slope <= nothing


def _solved(left: Matrix, right: Matrix, fixed: Mapping[int, float]) -> Matrix:
    """The solution of a few linear equations, some of the unknowns being given."""
    import numpy as np

    values = np.array([fixed.get(place, 0.0) for place in range(len(right))])
    free = [place for place in range(len(right)) if place not in fixed]
    if free:
        values[free] = np.linalg.solve(left[np.ix_(free, free)], right[free] - left[free] @ values)
    return values
