"""Several scenarios on one screen: the strategies to ship, the gates, each question and answer."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.base import grouped
from ..model.compared import Compared
from .blocks import TONE_OF, Cell, Cells, Prose, Report, Section, Span, table
from .gates import not_passed
from .numbers import change, count, counted, listed, percent
from .panels.trust import REPLAY_LIMIT
from .reading import Reading

_GROUPS = {
    "Gates failed": "with a failed gate",
    "Ship": "with a certain gain",
    "Not certain": "without a certain answer",
    "Keep what runs today": "where today's stays",
}
"""The groups of scenarios in order, each with its words after a number."""


def _group(reading: Reading) -> str:
    """The group of a scenario: by its gates, then by its verdict."""
    if reading.failed_gates:
        return "Gates failed"
    if reading.advice.advised:
        return "Ship"
    unsure = any(item.verdict == "not certain" for item in reading.ranked)
    return "Not certain" if unsure else "Keep what runs today"


def overview(comparisons: Sequence[Compared], reports: Sequence[Report]) -> Report:
    """The first screen of several comparisons; each row leads to its report below."""
    readings = [Reading(compared) for compared in comparisons]
    of_group = grouped((_group(reading), at) for at, reading in enumerate(readings))
    groups = {name: of_group[name] for name in _GROUPS if name in of_group}
    gates = sum(len(one.judged_gates) for one in readings)
    failed = [gate for one in readings for gate in one.failed_gates]
    advised = [one.advice.advised for one in readings if not one.failed_gates]
    names = list(dict.fromkeys(filter(None, advised)))
    scenarios = counted(len(readings), "scenario")

    each = ", each for its question" if len(names) > 1 else ""
    ship = f"Ship {listed(names)}{each}." if names else "Nothing to ship."
    head = Span(ship, "good" if names else "", strong=True)
    parts = listed([f"{count(len(places))} {_GROUPS[name]}" for name, places in groups.items()])
    rest = "" if [*groups] == ["Ship"] else f" {scenarios}: {parts}."
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
        table("Questions and answers", heads, rows, note=REPLAY_LIMIT),
    )
    runs = counted(sum(len(one.runs) for one in readings), "run")
    title = f"{count(len(readings))} questions about what an agent remembers"
    about = " · ".join([runs, scenarios, counted(gates, "gate")])
    return Report(title, about, head.text + rest, (Section("answer", "Answer", "Answer", blocks),))


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
