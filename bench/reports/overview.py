"""Several scenarios on one screen: the strategies to ship, the gates, each question and answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ..comparison.rules import finite
from ..model.base import grouped
from ..model.compared import Compared
from .blocks import Cell, Cells, Prose, Report, Section, Span, Tone, muted, table
from .gates import not_passed
from .numbers import change, count, counted, listed, percent
from .reading import IN_TOKENS, MISSED_TURN, REPLAY_LIMIT, Reading

_GROUPS = ("Gates failed", "Ship", "Not certain yet", "Keep what runs today")
"""The groups of scenarios in order."""
_NOTES = (
    "Each question is answered on its own runs; strategies were not tried together.",
    f"In brackets are 95% intervals. {MISSED_TURN}.",
)


def _group(reading: Reading) -> str:
    """The group of a scenario: by its gates, then by its verdict."""
    if reading.failed_gates:
        return "Gates failed"
    if reading.advice.advised:
        return "Ship"
    unsure = reading.subject is not None and reading.subject.verdict == "not certain"
    return "Not certain yet" if unsure else "Keep what runs today"


def overview(comparisons: Sequence[Compared], reports: Sequence[Report]) -> Report:
    """The first screen of several comparisons; each row leads to its report below."""
    readings = [Reading(compared) for compared in comparisons]
    of_group = grouped((_group(reading), at) for at, reading in enumerate(readings))
    groups = {name: of_group[name] for name in _GROUPS if name in of_group}
    gates = sum(len(one.judged_gates) for one in readings)
    failed = [gate for one in readings for gate in one.failed_gates]
    ships = [readings[at] for at in groups.get("Ship", ())]
    shipped = _shipped(ships)
    advised = Counter(map(" or ".join, shipped))
    names = [f"{it} ({many} times)" if many > 1 else it for it, many in advised.items()]

    alone = ", each on its own" if len(names) > 1 else ""
    asked = counted(len(readings), "question")
    ship = f"Ship in {count(len(ships))} of {asked}{alone}: {listed(names)}."
    head = Span(ship if ships else "Nothing to ship.", "good" if ships else "", strong=True)
    kept = [f"{it} in {counted(len(groups[it]), 'question')}" for it in _GROUPS[2:] if it in groups]
    rest = "".join([*map(_choice, shipped), *(f" {words}." for words in kept)])
    if failed:
        rest = f" {head.text}{rest}"
        head = Span(not_passed(failed, gates), "bad", strong=True)
    elif gates:
        rest += f" All {counted(gates, 'gate')} pass: they are a scenario's own limits"
        rest += " and do not decide what to ship."

    rows: list[Cells] = []
    for name, places in groups.items():
        rows.append(f"{name}: {count(len(places))}")
        for at in places:
            question = Cell((Span(reports[at].title, href=f"#s{at + 1}"),), reports[at].short)
            rows.append((question, *_key_figures(readings[at]), readings[at].sample))
    heads = ["question and answer", "cost of a run", "missed turns", "measured on"]
    in_tokens = [IN_TOKENS] if any(one.counts_tokens for one in readings) else []
    blocks = (
        Prose((head, rest), "lead"),
        muted(" ".join((*_NOTES, *in_tokens, REPLAY_LIMIT))),
        table("Questions and answers", heads, rows),
    )
    runs = counted(sum(len(one.runs) for one in readings), "run")
    title = f"{count(len(readings))} questions about what an agent remembers"
    about = " · ".join([runs, counted(len(readings), "scenario"), counted(gates, "gate")])
    return Report(title, about, head.text + rest, (Section("answer", "Answer", "Answer", blocks),))


def _shipped(ships: Sequence[Reading]) -> list[dict[str, tuple[float, float]]]:
    """The strategies to ship for each set of recordings: their prices and missed turns."""
    together: dict[frozenset[str], dict[str, tuple[float, float]]] = {}
    for one in ships:
        item = one.by_name[one.advice.advised or ""]
        price, recordings = one.price(item), frozenset(it.facts.sha256 or it.id for it in one.runs)
        figures = finite(price.ratio if price else None), item.missed_turns or 0.0
        together.setdefault(recordings, {})[f"`{item.strategy}`"] = figures
    return [*together.values()]


def _choice(same: Mapping[str, tuple[float, float]]) -> str:
    """A sentence on the strategies to ship on the same recordings; "" for a single one."""
    if len(same) < 2:
        return ""
    best, *others = sorted(same, key=same.__getitem__)
    if any(own >= its for name in others for own, its in zip(same[best], same[name], strict=True)):
        return f" Choose one of {listed([*same])}, which were tried on the same recordings."
    return f" On the same recordings {best} saves more and misses less than {listed(others)}."


def _key_figures(reading: Reading) -> tuple[Cell, Cell]:
    """The change of price and the missed turns of the strategy to ship; if none is, the price stays
    as today's, and the misses are those of the strategy that the answer is about."""
    advised, pricing = reading.by_name.get(reading.advice.advised or ""), reading.pricing
    item = advised or reading.by_name.get(reading.compared.asks) or reading.subject
    missed = Cell("–")
    if item and (advised or reading.shapes_prompts(item)):
        misses_too_much = any(it.rule == "needed" and not it.passed for it in item.rules)
        tone: Tone = "bad" if misses_too_much else ""
        name = "" if advised else f"`{item.strategy}`"
        missed = Cell((Span(percent(item.missed_turns), tone),), name)
    price = reading.price(advised)
    if advised is None or price is None:
        return Cell("not priced" if advised else "unchanged"), missed
    moved = f"{pricing.money(reading.today)} → {pricing.in_words(price)}"
    return Cell((Span(change(price.ratio), "good"),), moved), missed
