"""Every number as a pandas frame and as CSV.

One row by strategy, metric and run, and one over all runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..model.compared import Compared
from ..model.errors import visible
from .numbers import value_of
from .reading import Reading

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("scenario", "strategy", "metric", "run", "task", "value", "unit", "weight", "reason")


def frame(comparisons: Sequence[Compared]) -> pd.DataFrame:
    """The numbers of some comparisons; `run` is empty for a value over all runs.

    No numbers: the columns alone.
    """
    import pandas as pd

    rows = [row for compared in comparisons for row in _rows(compared)]
    found = pd.DataFrame(rows, columns=list(COLUMNS))
    return found.astype({"value": "float64", "weight": "float64"})


def _rows(compared: Compared) -> Iterator[tuple[object, ...]]:
    reading = Reading(compared)
    for strategy, totals in compared.totals.items():
        for metric, number in totals.items():
            yield (
                compared.title,
                strategy,
                metric,
                "",
                "",
                value_of(number),
                reading.unit(metric),
                number.weight,
                number.reason,
            )
    for run in compared.runs:
        for score in run.scores:
            for metric, number in score.numbers.items():
                value, unit = value_of(number), reading.unit(metric)
                yield (
                    compared.title,
                    score.strategy,
                    metric,
                    run.id,
                    run.facts.task,
                    value,
                    unit,
                    number.weight,
                    number.reason,
                )


def render(comparisons: Sequence[Compared]) -> Iterator[str]:
    """The frame as CSV.

    A text that a spreadsheet would read as a formula begins with an apostrophe.
    """
    found = frame(comparisons)
    for name in ("scenario", "strategy", "metric", "run", "task", "reason"):
        found[name] = found[name].map(lambda text: visible(f"'{text}" if text[:1] in "=+-@" and text else text))
    yield found.to_csv(index=False, lineterminator="\n")
