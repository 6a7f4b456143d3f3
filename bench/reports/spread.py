"""The spread of an answer: the change of price by run, and by the value of a setting."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ..model.advice import TODAY, Price, Ranked
from .blocks import Drawing, Gallery, Prose, Section
from .charts import Axis, Bad, Histogram, Line, Mark, Plot, centers, spaced, step, ticks
from .numbers import change, count, listed, percent
from .reading import REFUSED, Reading

_BINS = 12
_PHONE = 220  # pixels of a sweep on a phone
_MOST = 8  # histograms, of the strategies that rank first
_FEWEST = 4  # runs; with fewer the table says it all
_SETTING = re.compile(r"(\w+)=(-?\d+(?:\.\d+)?)(?=$|[^\w.])")


def per_run_section(reading: Reading) -> Iterator[Section]:
    """A histogram by strategy of the change of price by run; nothing for fewer than four runs.

    A strategy that changes no price has no histogram.
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
    """The change of a strategy's price by run, as shares, where a run has a price."""
    metric = reading.price_metric
    prices = [[reading.at(run, name, metric) for name in (strategy, TODAY)] for run in reading.runs]
    return [now / before - 1 for now, before in prices if now is not None and before]


def _scale(values: Sequence[float]) -> tuple[float, int, int]:
    """The width of a bin, the number of the first (0 begins at today's price), how many.

    Rare extremes count in the bins at the ends.
    """
    ordered, rare = sorted(values), len(values) // 100
    low, high = min(ordered[rare], 0.0), max(ordered[-1 - rare], 0.0)
    width = step(high - low, _BINS)
    first, last = math.floor(low / width), math.ceil(high / width)
    return width, first, max(1, last - first)


def _histogram(
    reading: Reading, name: str, values: Sequence[float], width: float, first: int, bins: int
) -> Drawing:
    """Bins of changes; a change at an edge belongs to the bin farther from today."""
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


# ---------------------------------------------------------------- sweeps


def swept(reading: Reading) -> tuple[str, Mapping[float, str]]:
    """The setting in which alone most strategies differ, three or more, with these by value."""
    groups: dict[tuple[str, str], dict[float, str]] = {}
    for strategy in reading.compared.strategies:
        spec = reading.spec(strategy)
        for match in _SETTING.finditer(spec):
            rest = f"{spec[: match.start(2)]}*{spec[match.end(2) :]}"
            groups.setdefault((match[1], rest), {})[float(match[2])] = strategy
    large = [
        (f"{name} of {_owner(rest)}", dict(sorted(values.items())))
        for (name, rest), values in groups.items()
        if len(values) > 2
    ]
    return max(large, key=lambda item: len(item[1]), default=("", {}))


def _owner(rest: str) -> str:
    """The plug-in that a setting belongs to: the last name before the star.

    >>> _owner("store=csv+compactor=mask_observations:keep_last=*")
    'mask_observations'
    """
    names = re.findall(r"=?([\w.]+)(?=:)", rest.split("*")[0])
    return names[-1] if names else rest.split("=")[0]


def sweep_section(reading: Reading) -> Iterator[Section]:
    """Both prices, missed turns and old facts kept over the setting that is swept."""
    setting, strategies = swept(reading)
    known = [(value, name) for value, name in strategies.items() if name in reading.by_name]
    items = [(f"{value:g}", reading.by_name[name]) for value, name in known]
    if plots := tuple(_plots(reading, setting, items)):
        within = [value for value, item in items if item.verdict not in REFUSED]
        none = "No setting is within all limits."
        text = f"Within all limits: {listed(within)}." if within else none
        blocks = (Prose(text), Gallery(plots, wide=True))
        yield Section("sweep", "Sweep", f"Sweep of {setting}", blocks)


def _plots(
    reading: Reading, setting: str, items: Sequence[tuple[str, Ranked]]
) -> Iterator[Drawing]:
    """Yields a plot by measure that at least two settings have."""
    ranked = [item for _, item in items]
    prices = {
        "price with cache": [item.cached for item in ranked],
        "price without cache": [item.uncached for item in ranked],
    }
    if reading.counts_tokens:
        prices = {"tokens": [reading.price(item) for item in ranked]}
    needed, far = reading.limit("needed"), reading.limit("far")
    missed, kept = [item.missed_turns for item in ranked], [item.far_recall for item in ranked]
    measures: list[tuple[str, list[float | None], float | None, Bad]] = [
        *((title, [*map(_saving, each)], 0.0, "") for title, each in prices.items()),
        ("missed turns", missed, needed, "above"),
        ("old facts kept", kept, far, "below"),
    ]
    for title, values, line, bad in measures:
        if sum(value is not None for value in values) > 1:
            points = [
                (text, value, reading.mark(item.strategy))
                for (text, item), value in zip(items, values, strict=True)
            ]
            yield Drawing(_plot(f"{title} over {setting}", points, line, bad), title)


def _saving(price: Price | None) -> float | None:
    return None if price is None or price.ratio is None else price.ratio - 1


def _plot(
    title: str, values: Sequence[tuple[str, float | None, Mark]], line: float | None, bad: Bad
) -> Plot:
    """The drawing of one measure: a mark for each setting that has a value, from left to right.

    `line` is a limit with its bad side, or the value of today.
    """
    heights = [value for _, value, _ in values if value is not None]
    heights += [] if line is None else [line]
    room = (max(heights) - min(heights)) * 0.12 or 0.01
    down = Axis(max(heights) + room, min(heights) - room)
    words = (lambda value: change(1 + value)) if bad == "" else percent
    from_left = dict(zip((setting for setting, *_ in values), centers(len(values)), strict=True))
    marks = tuple(
        (from_left[setting], down.at(value), mark, f"{setting}: {words(value)}")
        for setting, value, mark in values
        if value is not None
    )
    name = f"limit {words(line or 0.0)}" if bad else "today"
    return Plot(
        f"{title}: {'; '.join(text for *_, text in marks)}.",
        marks,
        spaced([(place, setting) for setting, place in from_left.items()], _PHONE),
        title.partition(" over ")[2].split(" of ")[0],
        tuple((down.at(value), words(value)) for value in ticks(down.last, down.first, 3)),
        line=None if line is None else Line(down.at(line), name, bad),
        joined=True,
    )
