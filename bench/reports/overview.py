"""Several scenarios on one screen: the strategies to ship, the gates, each question and answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..model.advice import REFUSED
from ..model.base import grouped
from ..model.compared import Compared
from .blocks import TONE_OF, Cell, Cells, Figure, Figures, Prose, Report, Section, Span, table
from .gates import not_passed
from .numbers import change, count, counted, listed, percent
from .panels.trust import REPLAY_LIMIT
from .reading import Reading

_GROUPS = {
    "Gates failed": "with a failed gate",
    "Ship": "with a certain saving",
    "More runs needed": "without enough runs",
    "Keep what runs today": "where today's stays",
    "Stores, evaluators and routers": "about stores, evaluators or routers",
}
"""The groups of scenarios in order, each with its words after a number."""


def _group(reading: Reading) -> str:
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
    of_group = grouped((_group(reading), at) for at, reading in enumerate(readings))
    groups = {name: of_group[name] for name in _GROUPS if name in of_group}
    ships = [readings[at] for at in groups.get("Ship", [])]
    gates = sum(len(one.judged_gates) for one in readings)
    failed = [gate for one in readings for gate in one.failed_gates]
    advised = [one.advice.advised for one in readings if not one.failed_gates]
    names = list(dict.fromkeys(filter(None, advised)))
    scenarios = counted(len(readings), "scenario")

    each = ", each for its question" if len(names) > 1 else ""
    ship = f"Ship {listed(names)}{each}." if names else "Nothing to ship."
    head = Span(ship, "good" if names else "", strong=True)
    parts = listed([f"{count(len(places))} {_GROUPS[name]}" for name, places in groups.items()])
    rest = "" if len(ships) == len(readings) else f" {scenarios}: {parts}."
    if failed:
        head = Span(not_passed(failed, gates), "bad", strong=True)
        rest = (f" {ship}" if names else "") + rest
    elif gates:
        rest += f" All {counted(gates, 'gate')} pass."

    rows: list[Cells] = []
    for name, places in groups.items():
        rows.append(f"{name}: {count(len(places))}")
        for at in places:
            question = Cell((Span(reports[at].title, href=f"#s{at + 1}"),), reports[at].short)
            rows.append((question, *_key_figures(readings[at]), _passed(readings[at])))
    heads = ["question and answer", "price against today", "missed turns", "gates"]
    blocks = (
        Prose((head, rest), "lead"),
        Figures(tuple(_figures(readings, ships, gates, len(failed)))),
        table("Questions and answers", heads, rows, note=REPLAY_LIMIT),
    )
    runs = counted(sum(len(one.runs) for one in readings), "run")
    title = f"{count(len(readings))} questions about what an agent remembers"
    about = " · ".join([runs, scenarios, counted(gates, "gate")])
    return Report(title, about, head.text + rest, (Section("answer", "Answer", "Answer", blocks),))


def _figures(
    readings: Sequence[Reading], ships: Sequence[Reading], gates: int, failed: int
) -> Iterator[Figure]:
    """The three figures: certain savings, rejected strategies, gates."""
    advised = [one.by_name[one.advice.advised or ""] for one in ships]
    priced = [(one.price(item), item.strategy) for one, item in zip(ships, advised, strict=True)]
    ratios = sorted((price.ratio, name) for price, name in priced if price and price.ratio)
    ends = dict.fromkeys(change(round(ratio, 2)) for ratio, _ in (*ratios[:1], *ratios[-1:]))
    names = listed(list(dict.fromkeys(name for _, name in ratios)), 3)
    savings = " to ".join(ends) or "none"
    missed = [item.missed_turns for item in advised if item.missed_turns is not None]
    share = f"at most {percent(max(missed))} of turns" if any(missed) else "nothing"
    line = f"they would miss {share}" if missed else ""
    yield Figure("Savings that are certain", savings, "good" if ratios else "", names, line)
    tried = [item for one in readings for item in one.tried]
    rejected = sum(item.verdict in REFUSED for item in tried)
    yield Figure("Strategies rejected", f"{count(rejected)} of {count(len(tried))}")
    passed = f"{count(gates - failed)} of {count(gates)} pass" if gates else "none"
    yield Figure("Gates", passed, "bad" if failed else "good" if gates else "")


def _key_figures(reading: Reading) -> tuple[Cell, Cell]:
    """The change of price and the missed turns of the strategy that the answer is about."""
    item, price = reading.subject, reading.price(reading.subject)
    if item is None:
        return Cell("–"), Cell("–")
    mark = reading.mark(item.strategy)
    name = f"{item.strategy}, rejected" if mark == "rejected" else item.strategy
    missed = "–" if item.missed_turns is None else percent(item.missed_turns)
    shown = change(price.ratio) if price else ""
    return Cell(shown or "–", name, TONE_OF[mark]), Cell(missed, reading.sample)


def _passed(reading: Reading) -> Cell:
    """The cell with the number of passed gates."""
    gates, failed = len(reading.judged_gates), len(reading.failed_gates)
    sign = Span("✕ ", "bad", strong=True) if failed else Span("✓ ", "good", strong=True)
    return Cell((sign, f"{count(gates - failed)} of {count(gates)}")) if gates else Cell("none")
