"""Several scenarios on one screen: the strategies to ship, the gates, each question and answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..model.base import grouped
from ..model.compared import Compared
from .blocks import Cell, Cells, Prose, Report, Section, Span, muted, table
from .gates import not_passed
from .numbers import change, count, counted, listed, percent
from .reading import IN_TOKENS, REPLAY_LIMIT, Reading

_GROUPS = ("Gates failed", "Ship", "Keep for now, not certain", "Keep what runs today")
"""The groups of scenarios in order."""
_SEPARATE = "Each question is answered on its own runs; strategies were not tried together."
_MISSED = "A missed turn would have lacked something it used."


def _group(reading: Reading) -> str:
    """The group of a scenario: by its gates, then by its verdict."""
    if reading.failed_gates:
        return "Gates failed"
    if reading.advice.advised:
        return "Ship"
    unsure = reading.subject is not None and reading.subject.verdict == "not certain"
    return "Keep for now, not certain" if unsure else "Keep what runs today"


def overview(comparisons: Sequence[Compared], reports: Sequence[Report]) -> Report:
    """The first screen of several comparisons; each row leads to its report below."""
    readings = [Reading(compared) for compared in comparisons]
    of_group = grouped((_group(reading), at) for at, reading in enumerate(readings))
    groups = {name: of_group[name] for name in _GROUPS if name in of_group}
    gates = sum(len(one.judged_gates) for one in readings)
    failed = [gate for one in readings for gate in one.failed_gates]
    ships = (one.advice.advised for one in readings if not one.failed_gates)
    advised = Counter(filter(None, ships))
    names = [f"{it} ({many} questions)" if many > 1 else it for it, many in advised.items()]

    each = ", each for its question" if len(names) > 1 else ""
    ship = f"Ship {listed(names)}{each}." if names else "Nothing to ship."
    head = Span(ship, "good" if names else "", strong=True)
    rest = f" All {counted(gates, 'gate')} pass." if gates else ""
    if failed:
        head = Span(not_passed(failed, gates), "bad", strong=True)
        rest = f" {ship}" if names else ""

    rows: list[Cells] = []
    for name, places in groups.items():
        rows.append(f"{name}: {count(len(places))}")
        for at in places:
            question = Cell((Span(reports[at].title, href=f"#s{at + 1}"),), reports[at].short)
            rows.append((question, *_key_figures(readings[at])))
    heads = ["question and answer", "cost of a run", "missed turns"]
    in_tokens = [IN_TOKENS] if any(one.counts_tokens for one in readings) else []
    blocks = (
        Prose((head, rest), "lead"),
        muted(" ".join((_SEPARATE, _MISSED, *in_tokens, REPLAY_LIMIT))),
        table("Questions and answers", heads, rows),
    )
    runs = counted(sum(len(one.runs) for one in readings), "run")
    title = f"{count(len(readings))} questions about what an agent remembers"
    about = " · ".join([runs, counted(len(readings), "scenario"), counted(gates, "gate")])
    return Report(title, about, head.text + rest, (Section("answer", "Answer", "Answer", blocks),))


def _key_figures(reading: Reading) -> tuple[Cell, Cell]:
    """The change of price and the missed turns of the strategy to ship; if none is, both stay as
    they are."""
    item, pricing = reading.by_name.get(reading.advice.advised or ""), reading.pricing
    if item is None:
        return Cell("unchanged"), Cell("unchanged", reading.sample)
    price = reading.price(item)
    if price is None:
        return Cell("not priced"), Cell(percent(item.missed_turns), reading.sample)
    moved = f"{pricing.money(reading.today)} → {pricing.in_words(price)}"
    cost = Cell((Span(change(price.ratio), "good"),), moved)
    return cost, Cell(percent(item.missed_turns), reading.sample)
