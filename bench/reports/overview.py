"""Several scenarios on one screen: what to ship, the gates, question and answer by verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..comparison.certainty import FEWEST
from ..model.advice import Ranked
from ..model.compared import Compared
from .blocks import (  # fmt: skip
    TONE_OF,
    Block,
    Cell,
    Column,
    Figure,
    Figures,
    Prose,
    Report,
    Row,
    Section,
    Sentence,
    Span,
    Table,
    columns,
    number,
    table,
)
from .charts import Range
from .numbers import change, count, listed, of, percent
from .panels.trust import REPLAY_LIMIT
from .reading import REFUSED, Reading

_FAILED, _SHIP, _MORE, _KEEP, _OTHER, _NONE = (
    "Gates failed",
    "Ship",
    "More runs needed",
    "Keep what runs today",
    "Stores, evaluators and routers",
    "Not answered",
)
_WORDS = {
    _KEEP: ("keeps what runs today", "keep what runs today"),
    _MORE: ("needs more runs", "need more runs"),
    _OTHER: ("is about stores, evaluators or routers", "are about stores, evaluators or routers"),
}


def group_of(reading: Reading) -> str:
    """The group of a scenario: by its gates, then by its verdict."""
    if reading.failed:
        return _FAILED
    if not reading.compared.strategies or reading.compared.advice is None:
        return _NONE
    if reading.compared.answers != "savings":
        return _OTHER
    if reading.advice.advised:
        return _SHIP
    return _MORE if any(item.verdict == "not certain" for item in reading.ranked) else _KEEP


@dataclass(frozen=True)
class _Scenarios:
    """The scenarios of an overview, and what is counted over all of them."""

    readings: tuple[Reading, ...]

    @cached_property
    def groups(self) -> dict[str, list[int]]:
        """The places of the scenarios by group, in the order of the groups."""
        places: dict[str, list[int]] = {}
        for name in (_FAILED, _SHIP, _MORE, _KEEP, _OTHER, _NONE):
            places[name] = [at for at, one in enumerate(self.readings) if group_of(one) == name]
        return places

    @cached_property
    def ship(self) -> list[tuple[Reading, Ranked]]:
        """The scenarios that ship, each with the strategy that is advised."""
        shipping = [self.readings[at] for at in self.groups[_SHIP]]
        return [(one, one.by_name[name]) for one in shipping if (name := one.advice.advised) in one.by_name]

    @property
    def gates(self) -> int:
        """The number of gates that were judged."""
        return sum(len(one.decided) for one in self.readings)

    @property
    def failed(self) -> int:
        """The number of gates that failed."""
        return sum(len(one.failed) for one in self.readings)


def overview(comparisons: Sequence[Compared], reports: Sequence[Report]) -> Report:
    """The first screen of several comparisons; each row leads to its report below."""
    scenarios = _Scenarios(tuple(map(Reading, comparisons)))
    head, rest = _sentence(scenarios)
    answer: tuple[Block, ...] = (Sentence((head, rest)), Figures(tuple(_figures(scenarios))))
    sections = (
        Section("answer", "Answer", "", answer),
        Section("questions", "Questions", "", (_questions(scenarios, reports),)),
        Section("trust", "Trust", "Trust", (Prose(_limits(scenarios.readings)),)),
    )
    runs = sum(len(compared.runs) for compared in comparisons)
    sizes = [of(runs, "replayed run"), of(len(comparisons), "scenario"), of(scenarios.gates, "gate")]
    title = f"{count(len(comparisons))} questions about what an agent remembers"
    return Report(title, " · ".join(sizes), head.text + rest, sections, reports[0].footer)


def _sentence(scenarios: _Scenarios) -> tuple[Span, str]:
    """The gates that failed or what to ship, then what the other scenarios say."""
    names = listed(list(dict.fromkeys(item.strategy for _, item in scenarios.ship)))
    ship, gates = f"Ship {names}." if names else "Nothing to ship.", scenarios.gates
    sizes = {name: len(places) for name, places in scenarios.groups.items()}
    parts = [f"{count(sizes[name])} {words[sizes[name] > 1]}" for name, words in _WORDS.items() if sizes[name]]
    others = f" Of {of(len(scenarios.readings), 'scenario')}, {listed(parts)}." if parts else ""
    if scenarios.failed:
        head = Span(f"{count(scenarios.failed)} of {of(gates, 'gate')} failed.", "bad", strong=True)
        return head, (f" {ship}" if names else "") + others
    return Span(ship, "good" if names else "", strong=True), others + (
        f" All {of(gates, 'gate')} pass." if gates else ""
    )


def _figures(scenarios: _Scenarios) -> Iterator[Figure]:
    """The savings that are certain, the largest loss among them, the gates."""
    savings = [
        (price.ratio, item.strategy) for one, item in scenarios.ship if (price := one.price(item)) and price.ratio
    ]
    if savings:
        savings.sort()
        ends = dict.fromkeys(change(round(ratio, 2)) for ratio, _ in (savings[0], savings[-1]))
        names = listed(list(dict.fromkeys(name for _, name in savings)), 3)
        yield Figure("Savings that are certain", " to ".join(ends), "good", names)
    else:
        yield Figure("Savings that are certain", "none", "", "in no scenario")
    tried = [item for one in scenarios.readings for item in one.ranked if one.mark(item.strategy) != "today"]
    rejected = sum(item.verdict in REFUSED for item in tried)
    missed = [item.missed_turns for _, item in scenarios.ship if item.missed_turns is not None]
    if missed:
        yield Figure("Turns they would miss", percent(max(missed)), "good", "the largest share among them")
    else:
        yield Figure("Strategies rejected", count(rejected), "", f"of {count(len(tried))} tried")
    gates, line = scenarios.gates, f"{count(rejected)} of {count(len(tried))} strategies are rejected"
    if gates:
        passed = f"{count(gates - scenarios.failed)} of {count(gates)} pass"
        yield Figure("Gates", passed, "bad" if scenarios.failed else "good", line)
    else:
        yield Figure("Gates", "none", "", line)


def _limits(readings: Sequence[Reading]) -> str:
    few = sum(reading.tasks < FEWEST for reading in readings)
    if not few:
        return REPLAY_LIMIT
    verb = "has" if few == 1 else "have"
    certain = "they can refuse a strategy, but cannot make a saving certain"
    return f"{REPLAY_LIMIT} {of(few, 'scenario')} {verb} fewer than six tasks: {certain}."


# ---------------------------------------------------------------- questions and answers


def _questions(scenarios: _Scenarios, reports: Sequence[Report]) -> Table:
    """A row by scenario, under the name of its group."""
    rows = [
        _row(
            scenarios.readings[at],
            reports[at],
            at + 1,
            f"{name}: {count(len(places))}" if at == places[0] else "",
        )
        for name, places in scenarios.groups.items()
        for at in places
    ]
    drawn = Column("price against today", card="-")
    heads = columns("question and answer", number("best"), drawn, number("missed turns"), number("gates"))
    return table("Questions and answers", heads, rows)


def _row(reading: Reading, report: Report, place: int, group: str) -> Row:
    """Question and answer, the best strategy with its price, what it misses, the gates."""
    question = Cell((Span(report.title, href=f"#s{place}"),), report.verdict)
    passed, gates = len(reading.decided) - len(reading.failed), len(reading.decided)
    sign = Span("✕ ", "bad", strong=True) if reading.failed else Span("✓ ", "good", strong=True)
    last = Cell((sign, f"{count(passed)} of {count(gates)}")) if gates else Cell("none")
    item = reading.candidate or reading.by_name.get(reading.advice.cheapest_rejected or "")
    if reading.measure:
        return Row((question, _measured(reading), Cell(""), Cell("–"), last), group=group)
    if item is None:
        return Row((question, Cell("–"), Cell(""), Cell("–"), last), group=group)
    missed = Cell("–" if item.missed_turns is None else percent(item.missed_turns), f"over {reading.size}")
    return Row((question, *_price_cells(reading, item), missed, last), group=group)


def _price_cells(reading: Reading, item: Ranked) -> tuple[Cell, Cell]:
    """The change of the price against today, as a number and as a line."""
    price, mark = reading.price(item), reading.mark(item.strategy)
    if price is None or price.ratio is None:
        return Cell("–", item.strategy, TONE_OF[mark]), Cell("")
    text, at = change(price.ratio), price.ratio - 1
    line = Range(text, at, (min(at, 0), max(at, 0)), (-1.0, 0.2), mark, 0.0)
    return Cell(text, item.strategy, TONE_OF[mark]), Cell("", chart=line)


def _measured(reading: Reading) -> Cell:
    """The best value where savings are not asked; of equals the advised one, today's last."""
    values = [(value, item.strategy) for item in reading.ranked if (value := reading.value(item.strategy, reading.measure)) is not None]  # fmt: skip
    if not values:
        return Cell("–")
    advised, today = reading.advice.advised, reading.compared.today
    value, best = min(values, key=lambda pair: (-pair[0], pair[1] != advised, pair[1] == today))
    return Cell(percent(value), reading.title(best), TONE_OF[reading.mark(best)])
