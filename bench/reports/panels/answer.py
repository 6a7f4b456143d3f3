"""The answer: one sentence, three figures, one chart, one table.

Then the change by run and by setting.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from ...model.advice import Price, Ranked
from ..blocks import (
    TONE_OF,
    Cell,
    Code,
    Column,
    Figure,
    Figures,
    Interval,
    Mark,
    Point,
    Prose,
    Row,
    Scatter,
    Section,
    Sentence,
    Span,
    Table,
    Text,
    Tone,
)
from ..labels import rule_failed, sentence_case, why
from ..measured import measured_figures, measured_table
from ..numbers import change, count, dollars, listed, percent, rule_out
from ..reading import FAR, MISSED, RATE, REFUSED, Reading
from ..spread import per_run_section, sweep_sections, swept

ORDER = 10
_BOLD = re.compile(r"^(.+?[.:?])(\s|$)(.*)$", re.DOTALL)


def sections(reading: Reading) -> Iterator[Section]:
    """The first screen, then the change by run and by setting where there are such."""
    yield Section("answer", "Answer", "", tuple(_blocks(reading)))
    if reading.compared.answers == "savings":
        yield from per_run_section(reading)
        yield from sweep_sections(reading)


def _blocks(reading: Reading) -> Iterator[Sentence | Figures | Code | Table | Prose]:
    advice = reading.advice
    yield Sentence(said(reading))
    if not reading.compared.strategies:
        return
    savings = reading.compared.answers == "savings" or not reading.measure
    yield _savings(reading) if savings else measured_figures(reading)
    named = reading.by_name.get(advice.advised or "")
    if named is not None and (
        code := named.code or ((spec := reading.spec(named.strategy)) and f'{named.strategy} = "{spec}"')
    ):
        yield Code("In a scenario:", code)
    yield _table(reading) if savings else measured_table(reading)
    if note := _note(reading):
        yield Prose((Span(note, "muted"),))


def said(reading: Reading) -> Text:
    """The sentence of the advice, its first clause set off."""
    sentence = reading.advice.sentence or (
        "Nothing was compared." if not reading.compared.strategies else "No advice was made."
    )
    found = _BOLD.match(sentence)
    if found is None:
        return (Span(sentence, strong=True),)
    tone: Tone = "good" if reading.advice.advised else ""
    return (Span(found[1], tone, strong=True), *((f" {found[3]}",) if found[3] else ()))


# ---------------------------------------------------------------- savings


def _price(reading: Reading, price: Price | None) -> str:
    if price is None:
        return "not priced"
    runs, _ = reading.prices_by
    return dollars(price.per_run * runs) if price.unit == "usd" else count(round(price.per_run))


def _words(reading: Reading) -> str:
    """What prices are given in, after the number: per 1,000 runs, tokens a run."""
    words = reading.prices_by[1]
    return f"tokens {words}" if reading.counts_tokens else words


def _bounds(price: Price | None) -> tuple[float, float] | None:
    """The 95 % interval of the ratio; None where there is none."""
    if price is None or not price.ratio or not price.high or not math.isfinite(price.high):
        return None
    ends = sorted((price.ratio * price.ratio / price.high, price.high))
    return ends[0], ends[1]


def _from_to(reading: Reading, item: Ranked) -> str:
    today = reading.by_name.get(reading.compared.today)
    now, before = reading.price(item), reading.price(today) if today else None
    if now is None:
        return ""
    start = f"{_price(reading, before)} → " if before is not None and before is not now else ""
    return f"{start}{_price(reading, now)} {_words(reading)}"


def _savings(reading: Reading) -> Figures:
    advice, item = reading.advice, reading.candidate
    today = reading.by_name.get(reading.compared.today)
    shown = item or today or reading.ranked[0]
    price, bounds = reading.price(shown), _bounds(reading.price(shown))
    advised = item is not None and item.strategy == advice.advised
    if item is not None and price is not None and price.ratio is not None:
        note = f"95% interval {change(bounds[0])} to {change(bounds[1])}" if bounds else ""
        name = f"Saving with {item.strategy}" if advised else f"Cheapest within limits: {item.strategy}"
        first = Figure(name, change(price.ratio), "good" if advised else "", _from_to(reading, item), note)
    else:
        first = Figure("Price today", _price(reading, price), "", _words(reading), reading.with_cache)
    return Figures(
        (first, _missed(reading, shown), _rejected(reading)),
        "Price against missed turns",
        *_scatter(reading),
    )


def _missed(reading: Reading, item: Ranked) -> Figure:
    limit = _limit(reading, "needed")
    turns, rate = reading.number(item.strategy, MISSED), reading.number(item.strategy, RATE)
    of = count(turns.value) if turns and turns.value is not None else ""
    of += f" of {count(rate.weight)}" if of and rate and rate.weight else ""
    line = ", ".join(filter(None, [of, f"limit {percent(limit)}" if limit is not None else ""]))
    share = reading.advice.cannot_rule_out
    note = rule_out(reading.size.split(" of ")[-1], share) if share else ""
    bad = limit is not None and item.missed_turns is not None and item.missed_turns > limit
    tone: Tone = "bad" if bad else "good" if item.strategy == reading.advice.advised else ""
    return Figure("Turns that would have missed something", percent(item.missed_turns), tone, line, note)


def _rejected(reading: Reading) -> Figure:
    advice, least = reading.advice, reading.advice.theoretical_minimum
    item = reading.by_name.get(advice.cheapest_rejected or "")
    runs, _ = reading.prices_by
    today = reading.by_name.get(reading.compared.today)
    now = reading.price(today) if today else None
    floor = ""
    if least is not None and now is not None:
        price = dollars(least * runs) if now.unit == "usd" else count(round(least))
        floor = f"{price} {_words(reading)}" + (f" ({change(least / now.per_run)})" if now.per_run else "")
    if item is not None:
        price_of = reading.price(item)
        value = change(price_of.ratio) if price_of and price_of.ratio is not None else item.verdict
        why = "; ".join(filter(None, (rule_failed(rule) for rule in item.rules if not rule.passed)))
        note = f"theoretical minimum: {floor}" if floor else ""
        return Figure(f"Cheapest rejected: {item.strategy}", value, "bad", why or item.verdict, note)
    if floor and least is not None and now is not None and now.per_run:
        return Figure("Theoretical minimum", change(least / now.per_run), "", floor, "with perfect foresight")
    tried = sum(entry.strategy != reading.compared.today for entry in reading.ranked)
    return Figure("Rejected", "none", "", f"of {count(tried)} tried", "")


def _limit(reading: Reading, rule: str) -> float | None:
    found = (item.limit for entry in reading.ranked for item in entry.rules if item.rule == rule)
    return next((limit for limit in found if limit is not None), None)


def _scatter(reading: Reading) -> tuple[Scatter | None, str]:
    points, (runs, words) = [], reading.prices_by
    for item in reading.ranked:
        price = reading.price(item)
        if price is None or item.missed_turns is None or not math.isfinite(price.per_run + item.missed_turns):
            continue
        name, mark = reading.shown(item.strategy), reading.mark(item.strategy)
        title = f"{name}: {_price(reading, price)}, {percent(item.missed_turns)} missed"
        points.append(Point(name, price.per_run * runs, item.missed_turns, mark, title))
    if len(points) < 2:
        return None, ""
    unit = "tokens" if reading.counts_tokens else "usd"
    limit = _limit(reading, "needed")
    sweeps = [[name for _, name in found] for _, found in swept(reading)]
    axis = ", ".join(filter(None, [f"{'price' if unit == 'usd' else 'tokens'} {words}", reading.with_cache]))
    alt = f"{sentence_case(axis)}, against the share of turns that would have missed something. "
    alt += "; ".join(point.title for point in points[:8]) + "."
    caption = "Left is cheaper, low is safer."
    caption += " Above the limit a strategy loses too much." if limit is not None else ""
    below = [
        item.strategy
        for item in reading.ranked
        if item.verdict in REFUSED and limit is not None and (item.missed_turns or 0.0) <= limit
    ]
    if below:
        caption += f" {listed(below, 3)} {'is' if len(below) == 1 else 'are'} rejected for other reasons; the table says which."
    if sweeps:
        caption += f" A line joins the settings of {listed([setting for setting, _ in swept(reading)])}."
    lines = tuple(tuple(names) for names in sweeps)
    return Scatter(alt, tuple(points), unit, axis, "turns that would have missed something", limit, lines), caption


def _table(reading: Reading) -> Table:
    other_words = {"cached": "without cache", "uncached": "with cache"}.get(reading.advice.basis, "")
    both = bool(other_words) and any(item.cached and item.uncached for item in reading.ranked)
    bounds = [found for item in reading.ranked if (found := _bounds(reading.price(item)))]
    scale = (
        min([low - 1 for low, _ in bounds] + [-0.02]), max([high - 1 for _, high in bounds] + [0.02])
    )  # fmt: skip
    intervals = bool(bounds)
    words = _words(reading) if reading.counts_tokens else f"price {reading.prices_by[1]}"
    main = ", ".join(filter(None, [words, reading.with_cache]))
    columns = [
        Column("strategy"),
        Column(main, True, "tokens" if reading.counts_tokens else "price"),
    ]
    columns += [Column("change, 95% interval", card="-")] if intervals else []
    columns += [Column(other_words, True, "no cache" if other_words == "without cache" else "cache")] if both else []
    columns += [
        Column("missed turns", True, "missed"),
        Column("kept from far back", True, "far kept"),
    ]
    columns += [Column("verdict", card=" ")]
    rows = []
    for place, item in enumerate(reading.ranked, 1):
        mark, price = reading.mark(item.strategy), reading.price(item)
        today, tone = mark == "today", TONE_OF[mark]
        number = f"{place} " if len(reading.ranked) > 12 else ""
        about = "what runs today" if today else reading.spec(item.strategy)
        ratio = None if price is None else price.ratio
        cells = [Cell(number + reading.shown(item.strategy), about, mark=mark)]
        cells.append(Cell(_price(reading, price), "" if today else change(ratio), tone))
        if intervals:
            cells.append(_interval(_bounds(price), ratio, scale, mark))
        if both:
            other = item.cached if reading.advice.basis == "uncached" else item.uncached
            cells.append(Cell(_price(reading, other), "" if today or other is None else change(other.ratio)))
        cells += [Cell(percent(item.missed_turns)), Cell(percent(_far(reading, item)))]
        cells.append(Cell((Span(item.verdict, tone, strong=True),), why(item)))
        rows.append(Row(tuple(cells), chosen=mark == "advised"))
    return Table("All strategies", tuple(columns), tuple(rows), "cards")


def _far(reading: Reading, item: Ranked) -> float | None:
    return item.far_recall if item.far_recall is not None else reading.value(item.strategy, FAR)


def _interval(bounds: tuple[float, float] | None, ratio: float | None, scale: tuple[float, float], mark: Mark) -> Cell:
    if mark == "today":
        return Cell("", chart=Interval("today", 0, 0, 0, scale, "today"))
    if bounds is None or ratio is None:
        return Cell("")
    alt = f"{change(bounds[0])} to {change(bounds[1])}"
    return Cell(alt, chart=Interval(alt, bounds[0] - 1, ratio - 1, bounds[1] - 1, scale, mark))


def _note(reading: Reading) -> str:
    compared, notes = reading.compared, []
    shares = {run.facts.cache_shares for run in compared.runs}
    priced = reading.advice.basis in ("cached", "uncached")
    if priced and "assumed" in shares:
        notes.append("Cache shares are assumed from the provider's rules, since these recordings hold no usage.")
    elif priced and "recorded" in shares:
        notes.append("Cache shares are as recorded.")
    if reading.advice.disagree:
        notes.append("With and without the cache the answer differs.")
    if compared.answers == "savings" and compared.strategies:
        notes.append("Shares are means over tasks.")
    return " ".join(notes)
