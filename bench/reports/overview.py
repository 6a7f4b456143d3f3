"""Several scenarios on one screen: the strategies to ship, the gates, each question and answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..model.advice import Ranked
from ..model.compared import Compared
from .blocks import (
    TONE_OF,
    Cell,
    Cells,
    Figure,
    Figures,
    Heads,
    Prose,
    Report,
    Section,
    Span,
    Table,
    number,
    table,
)
from .gates import not_passed
from .numbers import change, count, counted, listed, percent, quantity
from .panels.trust import REPLAY_LIMIT
from .reading import REFUSED, Reading

_GROUPS = (
    "Gates failed",
    "Ship",
    "More runs needed",
    "Keep what runs today",
    "Stores, evaluators and routers",
)
"""The groups of scenarios in order."""


def group_of(reading: Reading) -> str:
    """The group of a scenario: by its gates, then by its verdict."""
    if reading.failed_gates:
        return "Gates failed"
    if reading.compared.answers != "savings":
        return "Stores, evaluators and routers"
    if reading.advice.advised:
        return "Ship"
    unsure = any(item.verdict == "not certain" for item in reading.ranked)
    return "More runs needed" if unsure else "Keep what runs today"


def overview(comparisons: Sequence[Compared], reports: Sequence[Report]) -> Report:
    """The first screen of several comparisons; each row leads to its report below."""
    readings = [Reading(compared) for compared in comparisons]
    groups: dict[str, list[int]] = {name: [] for name in _GROUPS}
    for place, reading in enumerate(readings):
        groups[group_of(reading)].append(place)
    ships = [readings[at] for at in groups["Ship"]]
    advised = [(one, one.by_name[one.advice.advised or ""]) for one in ships]
    names = list(dict.fromkeys(item.strategy for _, item in advised))
    head, rest = _sentence(readings, groups, names)
    figures = Figures(tuple(_figures(readings, advised)))
    questions = _questions(readings, groups, reports)
    blocks = (Prose((head, rest), "lead"), figures, questions)
    runs, gates = (
        sum(len(one.runs) for one in readings),
        sum(len(one.judged_gates) for one in readings),
    )
    sizes = [counted(runs, "run"), counted(len(readings), "scenario"), counted(gates, "gate")]
    title = f"{count(len(readings))} questions about what an agent remembers"
    answer = Section("answer", "Answer", "Answer", blocks)
    return Report(title, " · ".join(sizes), head.text + rest, (answer,))


def _sentence(
    readings: Sequence[Reading], groups: dict[str, list[int]], names: list[str]
) -> tuple[Span, str]:
    """The failed gates or the strategies to ship, then the number of scenarios in each group."""
    ship = f"Ship {listed(names)}." if names else "Nothing to ship."
    gates = sum(len(one.judged_gates) for one in readings)
    failed = [gate for one in readings for gate in one.failed_gates]
    parts = [f"{name.lower()} ({count(len(places))})" for name, places in groups.items() if places]
    all_ship = len(groups["Ship"]) == len(readings)
    others = "" if all_ship else f" Of {counted(len(readings), 'scenario')}: {', '.join(parts)}."
    if failed:
        head = Span(not_passed(failed, gates), "bad", strong=True)
        return head, (f" {ship}" if names else "") + others
    passed = f" All {counted(gates, 'gate')} pass." if gates else ""
    return Span(ship, "good" if names else "", strong=True), others + passed


def _figures(
    readings: Sequence[Reading], advised: Sequence[tuple[Reading, Ranked]]
) -> Iterator[Figure]:
    """The three figures: certain savings, rejected strategies, gates."""
    priced = [(one.price(item), item.strategy) for one, item in advised]
    ratios = sorted((price.ratio, name) for price, name in priced if price and price.ratio)
    ends = dict.fromkeys(change(round(ratio, 2)) for ratio, _ in (*ratios[:1], *ratios[-1:]))
    names = listed(list(dict.fromkeys(name for _, name in ratios)), 3)
    savings = " to ".join(ends) or "none"
    yield Figure("Savings that are certain", savings, "good" if ratios else "", names)
    tried = [item for one in readings for item in one.ranked if one.mark(item.strategy) != "today"]
    rejected = sum(item.verdict in REFUSED for item in tried)
    missed = [item.missed_turns for _, item in advised if item.missed_turns is not None]
    share = f"at most {percent(max(missed))} of turns" if any(missed) else "nothing"
    line = f"those to ship would miss {share}" if missed else ""
    yield Figure("Strategies rejected", f"{count(rejected)} of {count(len(tried))}", "", line)
    gates = sum(len(one.judged_gates) for one in readings)
    failed = sum(len(one.failed_gates) for one in readings)
    passed = f"{count(gates - failed)} of {count(gates)} pass" if gates else "none"
    yield Figure("Gates", passed, "bad" if failed else "good" if gates else "")


def _questions(
    readings: Sequence[Reading], groups: dict[str, list[int]], reports: Sequence[Report]
) -> Table:
    """A table with a row per scenario, under the name of its group."""
    rows: list[Cells] = []
    for name, places in groups.items():
        rows += [f"{name}: {count(len(places))}"] if places else []
        for at in places:
            question = Cell((Span(reports[at].title, href=f"#s{at + 1}"),), reports[at].verdict)
            rows.append((question, *_key_figures(readings[at]), _gates(readings[at])))
    heads: Heads = ["question and answer", *map(number, ("key figure", "missed turns", "gates"))]
    return table("Questions and answers", heads, rows, note=REPLAY_LIMIT)


def _key_figures(reading: Reading) -> tuple[Cell, Cell]:
    """The key figure of a scenario, and the turns that its strategy would miss."""
    if reading.measured:
        best, value = reading.measured[0]
        shown = quantity(value, reading.unit(reading.measure))
        return Cell(shown, reading.title(best), TONE_OF[reading.mark(best)]), Cell("–")
    item = _key_strategy(reading)
    price = reading.price(item) if item else None
    if item is None or price is None or price.ratio is None:
        return Cell("–"), Cell("–")
    mark = reading.mark(item.strategy)
    name = f"{item.strategy}, rejected" if mark == "rejected" else item.strategy
    missed = "–" if item.missed_turns is None else percent(item.missed_turns)
    return Cell(change(price.ratio) or "–", name, TONE_OF[mark]), Cell(missed, reading.sample)


def _key_strategy(reading: Reading) -> Ranked | None:
    """The cheapest strategy that saves within all limits, else the cheapest one that is rejected."""
    price = reading.price(reading.candidate) if reading.candidate else None
    if price is not None and (price.ratio or 0) < 1:
        return reading.candidate
    return reading.by_name.get(reading.advice.cheapest_rejected or "") or reading.candidate


def _gates(reading: Reading) -> Cell:
    """The cell with the number of passed gates."""
    gates = len(reading.judged_gates)
    sign = (
        Span("✕ ", "bad", strong=True) if reading.failed_gates else Span("✓ ", "good", strong=True)
    )
    passed = f"{count(gates - len(reading.failed_gates))} of {count(gates)}"
    return Cell((sign, passed)) if gates else Cell("none")
