"""How an answer spreads: the change of price by run, and by the value of a setting."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from .blocks import Drawing, Fold, Gallery, Histogram, Mark, Prose, Section, Sweep, SweepLine
from .numbers import MINUS, change, count, listed, of, percent
from .reading import FAR, Reading

_WIDTHS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
_BINS = 12
_SHOWN = 8
_FEWEST = 4  # runs, below which the table says it all
_SETTING = re.compile(r"(\w+)=(-?\d+(?:\.\d+)?)(?=$|[^\w.])")
_Item = tuple[Mark, str, str, Histogram]


def priced_by(reading: Reading) -> str:
    """The metric of the price that decides."""
    return {"cached": "cost.usd", "uncached": "cost.usd_uncached"}.get(reading.advice.basis, "cost.prompt_tokens")


def changes(reading: Reading, strategy: str) -> list[float]:
    """The change of a strategy's price against today, a share, by run.

    Runs without a price are left out.
    """
    metric, today, found = priced_by(reading), reading.compared.today, []
    for run in reading.compared.runs:
        now, before = reading.at(run.id, strategy, metric), reading.at(run.id, today, metric)
        if now is not None and before:
            found.append(now / before - 1)
    return found


def per_run_section(reading: Reading) -> Iterator[Section]:
    """A histogram by strategy of the change of price by run; nothing for fewer than four runs."""
    names = [item.strategy for item in reading.ranked if item.strategy != reading.compared.today]
    found = {name: values for name in names if any(values := changes(reading, name))}
    if not found or max(map(len, found.values())) < _FEWEST:
        return
    width, first, bins = _scale([value for values in found.values() for value in values if value])
    items = [_histogram(reading, name, values, width, first, bins) for name, values in found.items()]
    named = reading.advice.advised or next(iter(found))
    lead = _in_words(named, found[named]) + " " if named in found else ""
    text = f"{lead}Bars are {percent(width).removesuffix('%')} points wide; runs whose price stays equal are in the words alone."
    blocks: list[Prose | Gallery | Fold] = [Prose(text), Gallery(tuple(items[:_SHOWN]))]
    if items[_SHOWN:]:
        more = Gallery(tuple(items[_SHOWN:]))
        blocks.append(Fold(f"{of(len(items) - _SHOWN, 'more strategy', 'more strategies')}", (more,)))
    yield Section("runs", "Per run", "Change per run", tuple(blocks))


def _in_words(name: str, values: Sequence[float]) -> str:
    middle = sorted(values)[len(values) // 2]
    less, more = sum(value < 0 for value in values), sum(value > 0 for value in values)
    half = (
        f"the median run costs {percent(abs(middle))} {'less' if middle < 0 else 'more'}"
        if middle
        else "the median run costs the same"
    )
    dear = f"{count(more)} dearer" if more else "none dearer"
    return f"{name} makes {count(less)} of {of(len(values), 'run')} cheaper and {dear}; {half}."


def _scale(values: Sequence[float]) -> tuple[float, int, int]:
    """The width of a bin, the number of the first (0 begins at "equal"), the number of bins.

    Rare extremes are clipped.
    """
    ordered = sorted(values)
    low, high = min(ordered[len(ordered) // 100], 0.0), max(ordered[-1 - len(ordered) // 100], 0.0)
    width = next(
        (one for one in _WIDTHS if math.ceil(high / one) - math.floor(low / one) <= _BINS),
        _WIDTHS[-1],
    )
    first = max(math.floor(low / width), -_BINS)
    return width, first, max(1, min(math.ceil(high / width), _BINS) - first)


def _histogram(reading: Reading, name: str, values: Sequence[float], width: float, first: int, bins: int) -> _Item:
    counts = [0] * bins
    for value in values:
        if value:
            place = math.floor(round(value / width, 9)) if value > 0 else math.ceil(round(value / width, 9)) - 1
            counts[min(max(place - first, 0), bins - 1)] += 1
    mark, now = reading.mark(name), -first
    labels = [""] * (bins + 1)
    for edge in {0, bins // 2 if abs(bins // 2 - now) > 2 else 0, bins}:
        labels[edge] = (MINUS if edge + first < 0 else "+") + percent(abs((edge + first) * width))
    if 0 <= now <= bins:
        for near in range(max(0, now - 2), min(bins, now + 2) + 1):
            labels[near] = ""
        labels[now] = "today"
    less, same, more = (sum((value > 0) - (value < 0) == side for value in values) for side in (-1, 0, 1))
    line = f"{count(less)} cheaper, {count(same)} equal, {count(more)} dearer"
    return (
        mark,
        name,
        line,
        Histogram(f"{name}: {line}", tuple(counts), tuple(labels), (mark,) * bins, now),
    )


# ---------------------------------------------------------------- sweeps


def swept(reading: Reading) -> tuple[tuple[str, tuple[tuple[float, str], ...]], ...]:
    """The settings that some strategies differ in alone.

    Its name with whose it is, and (value, strategy) by value.
    """
    groups: dict[tuple[str, str], dict[float, str]] = {}
    for strategy in reading.compared.strategies:
        spec = reading.spec(strategy)
        for found in _SETTING.finditer(spec):
            rest = f"{spec[: found.start(2)]}*{spec[found.end(2) :]}"
            groups.setdefault((found[1], rest), {})[float(found[2])] = strategy
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
    found = re.findall(r"=?([\w.]+)(?=:)", rest.split("*")[0])
    return found[-1] if found else rest.split("=")[0]


def sweep_sections(reading: Reading) -> Iterator[Section]:
    """Price, missed turns and far recall over each setting that is swept."""
    for number, (setting, found) in enumerate(swept(reading), 1):
        items = [reading.by_name[name] for _, name in found if name in reading.by_name]
        cached, uncached = (
            tuple(
                price.ratio - 1 if (price := getattr(item, side)) and price.ratio is not None else None
                for item in items
            )
            for side in ("cached", "uncached")
        )
        main, other = (uncached, cached) if reading.advice.basis == "uncached" else (cached, uncached)
        if not any(value is not None for value in main):
            main, other = other, ()
        lines = [
            SweepLine(
                "price against today",
                "change",
                main,
                0.0,
                "above",
                other if any(other) else (),
                ("with cache", "without cache"),
            )
        ]
        lines += [
            SweepLine(
                "missed turns",
                "fraction",
                tuple(item.missed_turns for item in items),
                _limit(items, "needed"),
            )
        ]
        far = tuple(
            item.far_recall if item.far_recall is not None else reading.value(item.strategy, FAR) for item in items
        )
        lines += [SweepLine("kept from six or more turns back", "fraction", far, _limit(items, "far"), "below")]
        shown = tuple(line for line in lines if sum(value is not None for value in line.values) > 1)
        if not shown:
            continue
        words = [f"{setting}={value:g}: {change(1 + price) if price is not None else 'not priced'}"
                 for (value, _), price in zip(found, main, strict=False)]  # fmt: skip
        alt = f"Over {setting}: {'; '.join(words)}."
        within = [
            value
            for (value, name) in found
            if reading.by_name[name].verdict not in ("loses too much", "unfaithful", "invalid")
        ]
        note = (
            f"Within all limits: {listed([f'{value:g}' for value in within])}."
            if within
            else "No setting is within all limits."
        )
        drawn = Sweep(alt, tuple(f"{value:g}" for value, _ in found), setting.split(" of ")[0], shown)
        name = f"Sweep {number}" if number > 1 else "Sweep"
        yield Section(f"sweep{number}", name, f"Sweep of {setting}", (Drawing(drawn, note=note),))


def _limit(items: Sequence[object], rule: str) -> float | None:
    found = (result.limit for item in items for result in getattr(item, "rules", ()) if result.rule == rule)
    return next((limit for limit in found if limit is not None), None)
