"""The answer: a sentence, three figures, a chart, a table; then the changes by run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from ...comparison.certainty import FEWEST
from ...comparison.prices import price_of
from ...comparison.rules import slots_in_spec
from ...model.advice import TODAY, Price, Ranked
from ...model.errors import SpecError
from ...plugins.spec import parse_value
from ..blocks import (
    TONE_OF,
    Block,
    Cell,
    Column,
    Figure,
    Figures,
    Heads,
    Prose,
    Section,
    Span,
    Table,
    Text,
    Tone,
    muted,
    number,
)
from ..charts import Range
from ..numbers import change, count, percent, quantity, rule_out, sentence_case
from ..reading import RATE, REFUSED, Reading
from ..scatter import MISSED_TURNS, scatter
from ..spread import per_run_section
from ..strategies import strategies

_VERDICT = re.compile(r"(Ship .+?|Keep what runs today)[.:](?=\s|$)", re.DOTALL)
_FIRST_CLAUSE = re.compile(r".+?[.:;?](?=\s|$)", re.DOTALL)


def sections(reading: Reading) -> Iterator[Section]:
    """The first screen, then the change per run if there are several."""
    yield Section("answer", "Answer", "Answer", tuple(_blocks(reading)))
    if reading.compared.answers == "savings":
        yield from per_run_section(reading)


def _blocks(reading: Reading) -> Iterator[Block]:
    """Yield the blocks of the answer."""
    yield Prose(answer_sentence(reading), "lead")
    if not reading.ranked:
        return
    savings = reading.compared.answers == "savings" or not reading.measure
    yield _savings(reading) if savings else Figures(tuple(_quality_figures(reading)))
    if reading.advice.advised and (line := _scenario_line(reading, reading.advice.advised)):
        yield Prose(("In a scenario: ", Span(line, code=True)), "use")
    yield _prices_and_losses(reading) if savings else _measures(reading)
    if note := _note(reading):
        yield muted(note)


def answer_sentence(reading: Reading) -> Text:
    """The sentence of the advice with its verdict in bold, or else its first clause."""
    sentence = reading.advice.sentence
    clause = _VERDICT.search(sentence) or _FIRST_CLAUSE.match(sentence)
    if clause is None:
        return (Span(sentence, strong=True),)
    tone: Tone = "good" if clause[0].startswith("Ship") else ""
    start, end = clause.span()
    rest = (sentence[:start], Span(clause[0], tone, strong=True), sentence[end:])
    return tuple(part for part in rest if part)


def _scenario_line(reading: Reading, strategy: str) -> str:
    """A strategy as a line of a scenario's `[strategies]`; "" where it fills no slot.

    Routers are a list, every other slot is one spec.
    """
    try:
        slots = slots_in_spec(f"{strategy}={reading.spec(strategy)}")
        values = {
            slot: parse_value(spec, spec) if spec.startswith("[") else spec
            for slot, spec in slots.items()
        }
    except SpecError:
        return ""
    parts = [f"{slot} = {json.dumps(it, ensure_ascii=False)}" for slot, it in values.items()]
    name = strategy if re.fullmatch(r"[\w-]+", strategy, re.ASCII) else json.dumps(strategy)
    return f"{name} = {{ {', '.join(parts)} }}" if parts else ""


# ---------------------------------------------------------------- figures


def _bounds(reading: Reading, price: Price | None) -> tuple[float, float] | None:
    """The 95% interval of the change against today; None for too few tasks."""
    if price is None or not price.ratio or not price.high or reading.advice.tasks < FEWEST:
        return None
    low, high = sorted((price.ratio * price.ratio / price.high, price.high))
    return low - 1, high - 1


def _today(reading: Reading) -> Price | None:
    today = reading.by_name.get(TODAY)
    return reading.price(today) if today else None


def _savings(reading: Reading) -> Figures:
    """The figures on the best strategy's saving and misses and on the cheapest rejected one, with
    the chart.

    Where every strategy is rejected, the misses are those of the cheapest.
    """
    others = [item for item in reading.ranked if item.strategy != TODAY]
    rejected = reading.by_name.get(reading.advice.cheapest_rejected or "")
    item = reading.candidate or rejected or (others or list(reading.ranked))[0]
    price, today = reading.price(item), _today(reading)
    name = f"Change with {item.strategy}"
    if reading.candidate is not None:
        advised = item.strategy == reading.advice.advised
        name = f"{'Saving with' if advised else 'Cheapest within limits:'} {item.strategy}"
    if item is rejected or "inactive" in item.marks or price is None or price.ratio is None:
        name = "Tokens today" if reading.counts_tokens else "Price today"
        money, words = reading.money(today or price), reading.price_basis.words
        first = Figure(name, money, "", words, reading.economy)
    else:
        start = f"{reading.money(today)} → " if today is not None else ""
        line = f"{start}{reading.money(price)} {reading.price_basis.words}"
        bounds = _bounds(reading, price)
        note = f"95% interval {_in_words(bounds)}" if bounds else ""
        first = Figure(name, change(price.ratio), TONE_OF[reading.mark(item.strategy)], line, note)
    missed = _missed_figure(reading, item)
    return Figures((first, missed, _rejected_figure(reading)), scatter(reading))


def _missed_figure(reading: Reading, item: Ranked) -> Figure:
    """The missed turns of a strategy, with the limit, and the loss that cannot be ruled out."""
    limit, share = reading.limit("needed"), reading.advice.cannot_rule_out
    limit_text = "" if limit is None else f"limit {percent(limit)}"
    counts = ", ".join(filter(None, [reading.counts(item.strategy, RATE), limit_text]))
    line = f"{reading.title(item.strategy)}: {counts}" if counts else reading.title(item.strategy)
    note = rule_out(reading.sample, share) if share else ""
    bad = limit is not None and item.missed_turns is not None and item.missed_turns > limit
    tone: Tone = "good" if item.strategy == reading.advice.advised else ""
    tone = "bad" if bad else tone
    return Figure(sentence_case(MISSED_TURNS), percent(item.missed_turns), tone, line, note)


def _rejected_figure(reading: Reading) -> Figure:
    """The cheapest rejected strategy, with the theoretical minimum beside it."""
    least, today = reading.advice.theoretical_minimum, _today(reading)
    item = reading.by_name.get(reading.advice.cheapest_rejected or "")
    note = ""
    if least is not None and today is not None and today.per_run:
        floor = (
            f"{reading.money(Price(unit=today.unit, per_run=least))} {reading.price_basis.words}"
        )
        note = f"theoretical minimum: {floor} ({change(least / today.per_run)})"
    if item is None:
        tried = sum(entry.strategy != TODAY for entry in reading.ranked)
        return Figure("Cheaper ones rejected", "none", "", f"of {count(tried)} tried", note)
    price = reading.price(item)
    value = change(price.ratio) if price and price.ratio is not None else item.verdict
    why = item.reason or item.verdict
    return Figure(f"Cheapest rejected: {item.strategy}", value, "bad", why, note)


def _quality_figures(reading: Reading) -> Iterator[Figure]:
    """The figures of a scenario about stores, evaluators or routers: best, today, lowest."""
    metric, values = reading.measure, dict(reading.measured)
    line, unit = sentence_case(reading.label(metric)), reading.unit(metric)
    best, lowest = (reading.measured[at][0] for at in (0, -1))
    titles = {best: f"Best: {reading.title(best)}", lowest: f"Lowest: {reading.title(lowest)}"}
    if TODAY in values:
        titles.setdefault(TODAY, "Today")
    for name, title in titles.items():
        tone, size = TONE_OF[reading.mark(name)], reading.counts(name, metric)
        yield Figure(title, quantity(values[name], unit), tone, line, size)
    if len(titles) < 3:
        tried = [item for item in reading.ranked if item.strategy != TODAY]
        kept = sum(item.verdict not in REFUSED for item in tried)
        yield Figure("Within limits", f"{count(kept)} of {count(len(tried))}", "", "strategies")


# ---------------------------------------------------------------- table


def _prices_and_losses(reading: Reading) -> Table:
    """The table of strategies with prices, the interval of the deciding price, and missed turns."""
    scale = _scale(reading)
    uncached = reading.advice.basis == "uncached"
    other = "cached" if uncached else "uncached"
    titles = ("with cache", "cache") if uncached else ("without cache", "no cache")
    heads: Heads = [
        number(reading.price_axis, "tokens" if reading.counts_tokens else "price"),
        Column("change, 95% interval", card="-"),
        number(*titles),
        number("missed turns", "missed"),
        number("old facts kept", "old facts"),
    ]

    def cells(item: Ranked) -> list[Cell]:
        shares = [item.missed_turns, item.far_recall]
        return [
            _price_cell(reading, item, reading.price(item)),
            _interval_cell(reading, item, scale),
            _price_cell(reading, item, None if reading.counts_tokens else price_of(item, other)),
            *(Cell("–" if share is None else percent(share)) for share in shares),
        ]

    return strategies(reading, heads, cells)


def _measures(reading: Reading) -> Table:
    """The table of strategies with the measure that answers a scenario not about savings.

    A share also shows its count over all runs.
    """
    metric, unit = reading.measure, reading.unit(reading.measure)

    def cells(item: Ranked) -> list[Cell]:
        value = quantity(reading.value(item.strategy, metric), unit)
        return [Cell(value, reading.counts(item.strategy, metric))]

    return strategies(reading, [number(reading.label(metric))], cells)


def _price_cell(reading: Reading, item: Ranked, price: Price | None) -> Cell:
    """A cell with a price and its change; the deciding price has the colour of the verdict."""
    mark = reading.mark(item.strategy)
    if price is None:
        return Cell("–")
    tone: Tone = TONE_OF[mark] if price is reading.price(item) else ""
    return Cell(reading.money(price), "" if mark == "today" else change(price.ratio), tone)


def _scale(reading: Reading) -> tuple[float, float] | None:
    """The lowest and the highest change of all intervals; None without intervals."""
    bounds = [pair for item in reading.ranked if (pair := _bounds(reading, reading.price(item)))]
    if not bounds:
        return None
    return min(-0.02, *(low for low, _ in bounds)), max(0.02, *(high for _, high in bounds))


def _interval_cell(reading: Reading, item: Ranked, scale: tuple[float, float] | None) -> Cell:
    """A cell that draws the change of the price and its interval; empty without an interval."""
    mark, price = reading.mark(item.strategy), reading.price(item)
    if scale is None:
        return Cell()
    if mark == "today":
        return Cell(chart=Range("today", 0.0, (0.0, 0.0), scale, mark))
    bounds = _bounds(reading, price)
    if bounds is None or price is None or price.ratio is None:
        return Cell()
    return Cell(chart=Range(_in_words(bounds), price.ratio - 1, bounds, scale, mark))


def _in_words(bounds: tuple[float, float]) -> str:
    low, high = bounds
    return f"{change(1 + low)} to {change(1 + high)}"


def _note(reading: Reading) -> str:
    """The note under the table: the source of the cache shares, and the bases of the numbers."""
    notes = []
    shares = {run.facts.cache_shares for run in reading.runs}
    priced = reading.advice.basis in ("cached", "uncached")
    if priced and "assumed" in shares:
        notes.append(
            "Cache shares are assumed from the provider's rules, since these recordings hold no usage."
        )
    elif priced and "recorded" in shares:
        notes.append("Cache shares are as recorded.")
    notes.append("Shares are means over tasks, counts are over all runs.")
    if not reading.measure and any(item.far_recall is not None for item in reading.ranked):
        notes.append("Old facts came six or more turns before the turn that needed them.")
    return " ".join(notes)
