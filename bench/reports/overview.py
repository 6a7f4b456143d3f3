"""Several scenarios on one screen: the strategies to ship, the gates, each question and answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..comparison.rules import finite
from ..comparison.sentence import LOSES
from ..model.advice import REFUSED
from ..model.base import grouped
from ..model.compared import Compared
from .blocks import Cell, Cells, Prose, Report, Section, Span, Tone, muted, table
from .gates import not_passed
from .numbers import change, count, counted, listed, percent, sentence_case, unseen
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
    better = _better(readings, groups.get("Ship", ()))
    advised = Counter(
        f"`{readings[at].advice.advised}`" + (f" (better: {better[at]})" if at in better else "")
        for at in groups.get("Ship", ())
    )
    names = [f"{it} ({many} times)" if many > 1 else it for it, many in advised.items()]

    alone = ", each on its own" if len(names) > 1 else ""
    asked = counted(len(readings), "question")
    ship = f"Ship in {count(len(ships))} of {asked}{alone}: {listed(names)}."
    head = Span(ship if ships else "Nothing to ship.", "good" if ships else "", strong=True)
    misses = [_figures(one)[1] for one in ships]
    limit = next(filter(None, (one.limit("needed", " ({})") for one in readings)), "")
    most = max(misses, default=0.0)
    some = f" The worst of them misses {percent(most)} of turns on average{limit}."
    none = " Nothing that a turn used would be missing." if misses else ""
    lost = some if most else none
    kept = [
        f" {it} in {counted(len(groups[it]), 'question')}{_verdicts(readings, groups[it])}."
        for it in _GROUPS[2:]
        if it in groups
    ]
    rest = "".join([lost, *kept])
    if failed:
        rest = f" {head.text}{rest}"
        head = Span(not_passed(failed, gates), "bad", strong=True)
    elif gates:
        rest += f" All {counted(gates, 'gate')} pass: each question has the answer that it expects."

    rows: list[Cells] = []
    for name, places in groups.items():
        rows.append(f"{name}: {count(len(places))}")
        for at in places:
            short = reports[at].short
            if instead := better.get(at):
                short += (
                    f". {instead}, in another question, saves more and misses less on these runs"
                )
            question = Cell((Span(reports[at].title, href=f"#s{at + 1}"),), short)
            rows.append((question, *_key_figures(readings[at]), readings[at].sample))
    heads = ["question and answer", "cost of a run", f"missed turns{limit}", "measured on"]
    in_tokens = [IN_TOKENS] if any(one.counts_tokens for one in readings) else []
    fewest = min(ships or readings, key=lambda one: one.advice.tasks)
    rare = unseen(fewest.sample, fewest.advice.cannot_rule_out)
    blocks = (
        Prose((head, rest), "lead"),
        muted(" ".join((*_NOTES, f"{sentence_case(rare)}.", *in_tokens, REPLAY_LIMIT))),
        table("Questions and answers", heads, rows),
    )
    runs = counted(sum(len(one.runs) for one in readings), "run")
    title = f"{count(len(readings))} questions about what an agent remembers"
    about = " · ".join([runs, counted(len(readings), "scenario"), counted(gates, "gate")])
    return Report(title, about, head.text + rest, (Section("answer", "Answer", "Answer", blocks),))


def _figures(ship: Reading) -> tuple[float, float]:
    """The price of the strategy to ship, against today's, and the share of turns that it misses."""
    item = ship.by_name[ship.advice.advised or ""]
    price = ship.price(item)
    return finite(price.ratio if price else None), item.missed_turns or 0.0


def _better(readings: Sequence[Reading], ships: Sequence[int]) -> dict[int, str]:
    """For the place of a question to ship in the strategy of another one that saves more and misses
    less than all others on the same recordings."""
    figures = {at: _figures(readings[at]) for at in ships}
    hashes = {at: frozenset(run.facts.sha256 for run in readings[at].runs) for at in ships}
    better: dict[int, str] = {}
    for same in grouped((hashes[at], at) for at in ships).values():
        best, *others = sorted(same, key=figures.__getitem__)
        price, missed = figures[best]
        if all(price < figures[at][0] and missed < figures[at][1] for at in others):
            better |= dict.fromkeys(others, f"`{readings[best].advice.advised}`")
    return better


def _verdicts(readings: Sequence[Reading], places: Sequence[int]) -> str:
    """How often the strategy that a question is about is refused, by verdict; "" for never."""
    items = [readings[at].by_name.get(readings[at].compared.asks) for at in places]
    refused = Counter(item.verdict for item in items if item and item.verdict in REFUSED)
    words = [f"{LOSES[name]} in {count(many)}" for name, many in refused.items()]
    if not words:
        return ""
    rest = len(places) - refused.total()
    others = f"; nothing is better in {count(rest)}" if rest else ""
    return f" (the strategy asked about {listed(words)}{others})"


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
    moved = f"{pricing.money(reading.today)} → {pricing.in_words(price).removesuffix(' a run')}"
    return Cell((Span(change(price.ratio), "good"),), moved), missed
