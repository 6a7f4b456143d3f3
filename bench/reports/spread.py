"""The spread of an answer: the change of price by run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from ..model.advice import TODAY
from .blocks import Drawing, Gallery, Section
from .charts import Histogram, step
from .numbers import change, count
from .reading import Reading

_BINS = 12
_MOST = 8  # histograms, of the strategies that rank first
_FEWEST = 4  # runs; with fewer the table says it all


def per_run_section(reading: Reading) -> Iterator[Section]:
    """A section with a histogram per strategy: the change of its price in each run.

    There is none for fewer than four runs, nor for a strategy that changes no price.
    """
    names = [item.strategy for item in reading.ranked if item.strategy != TODAY]
    by_name = {name: values for name in names if any(values := _changes(reading, name))}
    if not by_name or max(map(len, by_name.values())) < _FEWEST:
        return
    width, first, bins = _scale([value for values in by_name.values() for value in values if value])
    ranges = list(by_name.items())[:_MOST]
    items = tuple(_histogram(reading, name, values, width, first, bins) for name, values in ranges)
    yield Section("runs", "Per run", "Change per run", (Gallery(items),))


def _changes(reading: Reading, strategy: str) -> list[float]:
    """The change of a strategy's price in each run that has a price, as a share."""
    metric = reading.price_metric
    prices = [[reading.at(run, name, metric) for name in (strategy, TODAY)] for run in reading.runs]
    return [now / before - 1 for now, before in prices if now is not None and before]


def _scale(values: Sequence[float]) -> tuple[float, int, int]:
    """The width of a bin, the number of the first bin (bin 0 begins at no change), and how many.

    The rarest hundredth at each end is counted in the outer bins.
    """
    ordered, rare = sorted(values), len(values) // 100
    low, high = min(ordered[rare], 0.0), max(ordered[-1 - rare], 0.0)
    width = step(high - low, _BINS)
    first, last = math.floor(low / width), math.ceil(high / width)
    return width, first, max(1, last - first)


def _histogram(
    reading: Reading, name: str, values: Sequence[float], width: float, first: int, bins: int
) -> Drawing:
    """The histogram of a strategy. A change on an edge belongs to the bin farther from no
    change."""
    counts: Counter[int] = Counter()
    for value in filter(None, values):
        steps = round(value / width, 9)
        place = math.floor(steps) if value > 0 else math.ceil(steps) - 1
        counts[min(max(place - first, 0), bins - 1)] += 1
    labels, today = [""] * (bins + 1), -first
    for edge in (0, bins // 2, bins):
        if abs(edge - today) * 2 >= bins:  # else it would touch the word "today" on a phone
            labels[edge] = change(1 + (edge + first) * width)
    if 0 <= today <= bins:
        labels[today] = "today"
    less, more = sum(value < 0 for value in values), sum(value > 0 for value in values)
    line = f"{count(less)} cheaper, {count(len(values) - less - more)} equal, {count(more)} dearer"
    mark = reading.mark(name)
    bars = tuple(counts[place] for place in range(bins))
    chart = Histogram(f"{name}: {line}", bars, tuple(labels), (mark,) * bins, today)
    return Drawing(chart, name, line, mark)
