"""The spread of an answer: the change of price by run, and by the value of a setting."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from ..model.advice import Ranked
from .blocks import Block, Drawing, Fold, Gallery, Prose, Section
from .charts import Histogram, Mark, Sweep, SweepLine
from .numbers import MINUS, change, count, listed, of, percent
from .reading import FAR, REFUSED, Reading

_WIDTHS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
_BINS = 12
_OPEN = 8  # histograms; more are folded
_FEWEST = 4  # runs; with fewer the table says it all
_SETTING = re.compile(r"(\w+)=(-?\d+(?:\.\d+)?)(?=$|[^\w.])")
_Item = tuple[Mark, str, str, Histogram]


def changes(reading: Reading, strategy: str) -> list[float]:
    """The change of a strategy's price against today, a share, by run.

    Runs without a price are left out.
    """
    metrics = {"cached": "cost.usd", "uncached": "cost.usd_uncached"}
    metric, differences = metrics.get(reading.advice.basis, "cost.prompt_tokens"), []
    for run in reading.compared.runs:
        now, before = (reading.at(run.id, name, metric) for name in (strategy, reading.compared.today))
        if now is not None and before:
            differences.append(now / before - 1)
    return differences


def per_run_section(reading: Reading) -> Iterator[Section]:
    """A histogram by strategy of the change of price by run; nothing for fewer than four runs.

    A strategy that changes no price has no histogram.
    """
    names = [item.strategy for item in reading.ranked if item.strategy != reading.compared.today]
    by_name = {name: values for name in names if any(values := changes(reading, name))}
    if not by_name or max(map(len, by_name.values())) < _FEWEST:
        return
    width, first, bins = _scale([value for values in by_name.values() for value in values if value])
    items = tuple(_histogram(reading, name, values, width, first, bins) for name, values in by_name.items())
    name = reading.advice.advised or next(iter(by_name))
    lead = _in_words(name, by_name[name]) + " " if name in by_name else ""
    bars = f"Bars are {percent(width).removesuffix('%')} points wide; runs whose price stays equal have no bar."
    blocks: list[Block] = [Prose(lead + bars), Gallery(items[:_OPEN])]
    if items[_OPEN:]:
        title = of(len(items) - _OPEN, "more strategy", "more strategies")
        blocks.append(Fold(title, (Gallery(items[_OPEN:]),)))
    yield Section("runs", "Per run", "Change per run", tuple(blocks))


def _in_words(name: str, values: Sequence[float]) -> str:
    middle = sorted(values)[len(values) // 2]
    less, more = sum(value < 0 for value in values), sum(value > 0 for value in values)
    amount = f"{percent(abs(middle))} {'less' if middle < 0 else 'more'}" if middle else "the same"
    dear = f"{count(more)} dearer" if more else "none dearer"
    cheap = f"{'all' if less == len(values) > 1 else count(less) + ' of'} {of(len(values), 'run')}"
    return f"{name} makes {cheap} cheaper and {dear}; the median run costs {amount}."


def _scale(values: Sequence[float]) -> tuple[float, int, int]:
    """The width of a bin, the number of the first (0 begins where nothing changes), how many.

    Rare extremes count in the last bin.
    """
    ordered, rare = sorted(values), len(values) // 100
    low, high = min(ordered[rare], 0.0), max(ordered[-1 - rare], 0.0)
    widths = (one for one in _WIDTHS if math.ceil(high / one) - math.floor(low / one) <= _BINS)
    width = next(widths, _WIDTHS[-1])
    first, last = max(math.floor(low / width), -_BINS), min(math.ceil(high / width), _BINS)
    return width, first, max(1, last - first)


def _histogram(reading: Reading, name: str, values: Sequence[float], width: float, first: int, bins: int) -> _Item:
    """Bins of changes; a change at an edge belongs to the bin farther from today."""
    counts: Counter[int] = Counter()
    for value in filter(None, values):
        steps = round(value / width, 9)
        place = math.floor(steps) if value > 0 else math.ceil(steps) - 1
        counts[min(max(place - first, 0), bins - 1)] += 1
    labels, today = [""] * (bins + 1), -first
    for edge in (0, bins // 2, bins):
        if abs(edge - today) > 2:
            labels[edge] = (MINUS if edge < today else "+") + percent(abs((edge + first) * width))
    if 0 <= today <= bins:
        labels[today] = "today"
    less, more = sum(value < 0 for value in values), sum(value > 0 for value in values)
    line = f"{count(less)} cheaper, {count(len(values) - less - more)} equal, {count(more)} dearer"
    mark = reading.mark(name)
    bars = tuple(counts[place] for place in range(bins))
    return mark, name, line, Histogram(f"{name}: {line}", bars, tuple(labels), (mark,) * bins, today)


# ---------------------------------------------------------------- sweeps


def swept(reading: Reading) -> tuple[tuple[str, tuple[tuple[float, str], ...]], ...]:
    """The settings that some strategies differ in alone.

    Its name with whose it is, and (value, strategy) by value.
    """
    groups: dict[tuple[str, str], dict[float, str]] = {}
    for strategy in reading.compared.strategies:
        spec = reading.spec(strategy)
        for match in _SETTING.finditer(spec):
            rest = f"{spec[: match.start(2)]}*{spec[match.end(2) :]}"
            groups.setdefault((match[1], rest), {})[float(match[2])] = strategy
    large = [
        (f"{name} of {_owner(rest)}", tuple(sorted(values.items())))
        for (name, rest), values in groups.items()
        if len(values) > 2
    ]
    return tuple(sorted(large, key=lambda item: -len(item[1]))[:2])


def _owner(rest: str) -> str:
    """The plug-in that a setting belongs to: the last name before the star.

    >>> _owner("store=csv+compactor=mask_observations:keep_last=*")
    'mask_observations'
    """
    owners = re.findall(r"=?([\w.]+)(?=:)", rest.split("*")[0])
    return owners[-1] if owners else rest.split("=")[0]


def sweep_sections(reading: Reading) -> Iterator[Section]:
    """Price, missed turns and far recall over each setting that is swept."""
    for place, (setting, swept_items) in enumerate(swept(reading), 1):
        items = [(value, reading.by_name[name]) for value, name in swept_items if name in reading.by_name]
        ranked = [item for _, item in items]
        prices = _prices(reading, ranked)
        far = [item.far_recall if item.far_recall is not None else reading.value(item.strategy, FAR) for item in ranked]
        missed = SweepLine(
            "missed turns", "fraction", tuple(item.missed_turns for item in ranked), _limit(ranked, "needed")
        )
        kept = SweepLine("kept from six or more turns back", "fraction", tuple(far), _limit(ranked, "far"), "below")
        lines = tuple(line for line in (prices, missed, kept) if sum(value is not None for value in line.values) > 1)
        if not lines:
            continue
        words = [f"{value:g}: {change(1 + price) if price is not None else 'not priced'}"
                 for (value, _), price in zip(items, prices.values, strict=True)]  # fmt: skip
        within = [f"{value:g}" for value, item in items if item.verdict not in REFUSED]
        note = f"Within all limits: {listed(within)}." if within else "No setting is within all limits."
        drawn = Sweep(
            f"Over {setting}: {'; '.join(words)}.",
            tuple(f"{value:g}" for value, _ in items),
            setting.split(" of ")[0],
            lines,
        )
        name = f"Sweep {place}" if place > 1 else "Sweep"
        yield Section(f"sweep{place}", name, f"Sweep of {setting}", (Drawing(drawn, note=note),))


def _prices(reading: Reading, items: Sequence[Ranked]) -> SweepLine:
    """The change of the price that decides, the other one dashed where it differs."""
    both = [(item.cached, item.uncached) for item in items]
    cached, uncached = (
        tuple(price.ratio - 1 if price and price.ratio is not None else None for price in side)
        for side in zip(*both, strict=True)
    )
    main, other, names = cached, uncached, ("with cache", "without cache")
    if reading.advice.basis == "uncached" or not any(value is not None for value in cached):
        main, other, names = uncached, cached, ("without cache", "with cache")
    dashed = other if other != main and any(value is not None for value in other) else ()
    return SweepLine("price against today", "change", main, 0.0, "above", dashed, names)


def _limit(items: Sequence[Ranked], rule: str) -> float | None:
    limits = (result.limit for item in items for result in item.rules if result.rule == rule)
    return next((limit for limit in limits if limit is not None), None)
