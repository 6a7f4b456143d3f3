"""Several scenarios on one screen: the strategies to ship, the gates, each question and answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..comparison.reasons import as_shown, limited
from ..comparison.rules import GAINS, asked_by, finite, measure_of
from ..comparison.sentence import (
    NOT_CACHED,
    UNKNOWN_PRICE,
    is_undecided,
    is_unknown_today,
    with_cache,
)
from ..model.advice import Ranked
from ..model.base import grouped
from ..model.compared import Compared
from .blocks import Cell, Cells, Prose, Report, Section, Span, muted, table
from .gates import not_passed
from .numbers import change, count, counted, listed, percent, unseen
from .reading import IN_TOKENS, MISSED_TURN, REPLAY_LIMIT, Reading

_NOT_CERTAIN, _UNRECORDED = "The answer is not certain yet", "Today is not recorded"
_ELSEWHERE = "Another question's strategy is better"
_UNCACHED = f"{_ELSEWHERE} {NOT_CACHED}"
_KEEP = "Keep what runs today"
_GROUPS = "Gates failed", "Ship", _ELSEWHERE, _UNCACHED, _NOT_CERTAIN, _UNRECORDED, _KEEP
"""The groups of scenarios in order."""


def _group(reading: Reading) -> str:
    """The group of a scenario: by its gates, then by its verdict."""
    if reading.failed_gates:
        return "Gates failed"
    if reading.advice.advised:
        return "Ship"
    if reading.subject is None or not is_undecided(reading.subject, reading.advice):
        return _KEEP
    return _UNRECORDED if is_unknown_today(reading.subject) else _NOT_CERTAIN


def overview(comparisons: Sequence[Compared], reports: Sequence[Report]) -> tuple[Report, ...]:
    """The first screen of several comparisons, and their reports, to which its rows lead."""
    readings = [Reading(compared) for compared in comparisons]
    better = _better(readings)
    there = _with_cache(readings, better)
    place = {at: f"{_ELSEWHERE} {_advised(readings[it]).condition}" for at, it in better.items()}
    place = {at: place.get(at, _group(one)).strip() for at, one in enumerate(readings)}
    of_group = grouped((name, at) for at, name in place.items())
    groups = {name: of_group[name] for name in _GROUPS if name in of_group}
    gates = sum(len(one.judged_gates) for one in readings)
    failed = [gate for one in readings for gate in one.failed_gates]
    ships = [readings[at] for at in groups.get("Ship", ())]
    ship = _to_ship(readings, groups["Ship"], there) if ships else "Nothing to ship."
    head = Span(ship, "good" if ships else "", strong=True)
    used = [*ships, *(readings[at] for at in groups.get(_UNCACHED, ()))]
    rest = _worst(used) if ships else ""
    for name in (it for it in _GROUPS[2:] if it in groups):
        rest += f" In {counted(len(groups[name]), 'question')} {name[:1].lower()}{name[1:]}."
    if failed:
        rest = f" {head.text}{rest}"
        head = Span(not_passed(failed, gates), "bad", strong=True)
    elif gates:
        rest += f" All {counted(gates, 'gate')} pass: each question has the answer that it expects."

    shorts = {at: one.short for at, one in enumerate(reports)}
    for at, best in better.items():
        other = _elsewhere(reports[best])
        shorts[at] = f"{_instead(shorts[at], readings[at], readings[best])}{other}"
    for at, (words, of) in there.items():
        is_own = of == at or not words.startswith("ship")
        shorts[at] += f"; with a cache: {words}{'' if is_own else _elsewhere(reports[of])}"
    each = tuple(replace(one, short=shorts[at]) for at, one in enumerate(reports))
    rows: list[Cells] = []
    for name, places in groups.items():
        rows.append(f"{name}: {count(len(places))}")
        for at in places:
            question = Cell((Span(each[at].title, href=f"#s{at + 1}"),), each[at].short)
            figures = _key_figures(readings[at], is_listed=at not in better)
            rows.append((question, *figures, readings[at].size))
    units = {("price", "tokens")[one.counts_tokens] for one in readings if one.advice.advised}
    size = f"{' or '.join(sorted(units)) or 'price'} of a run"
    heads = ["question and answer", size, "loss or quality", "measured on"]
    fewest = min(ships or readings, key=lambda one: one.advice.tasks)
    rare = unseen(fewest.sample, fewest.advice.cannot_rule_out)
    notes = (
        "Each question is answered on its own runs; strategies were not tried together.",
        "In brackets are 95% intervals." if any("[" in one.short for one in each) else "",
        f"{MISSED_TURN}." if any(one.compared.answers == "savings" for one in readings) else "",
        f"In the smallest question, {rare}." if rare else "",
        IN_TOKENS if "tokens" in units else "",
        REPLAY_LIMIT,
    )
    blocks = (
        Prose((head, rest), "lead"),
        muted(" ".join(filter(None, notes))),
        table("Questions and answers", heads, rows),
    )
    runs = counted(sum(len(one.runs) for one in readings), "run")
    title = f"{count(len(readings))} questions about what an agent remembers"
    about = " · ".join([runs, counted(len(readings), "scenario"), counted(gates, "gate")])
    sections = (Section("answer", "Answer", "Answer", blocks),)
    return Report(title, about, head.text + rest, sections), *each


def _to_ship(
    readings: Sequence[Reading], places: Sequence[int], there: Mapping[int, tuple[str, int]]
) -> str:
    """The sentence on the strategies to ship: first those that save everywhere, then each with what
    to do with a cache."""
    instead = {at: f" (with a cache: {words})" for at, (words, _) in there.items()}
    named = {at: f"`{readings[at].advice.advised}`{instead.get(at, '')}" for at in places}
    advised = Counter((_advised(readings[at]).condition, name) for at, name in named.items())
    times = {it: f" ({many} times)" if many > 1 else "" for it, many in advised.items()}
    names = grouped((it[0], it[1] + times[it]) for it in advised)
    clauses = [f"{it and f'only {it}: '}{listed(names[it])}" for it in sorted(names)]
    alone = ", each on its own" if len(advised) > 1 else ""
    start = f"Ship in {count(len(places))} of {counted(len(readings), 'question')}{alone}"
    return f"{start}{': ' if '' in names else ', '}{'; '.join(clauses)}."


def _advised(ship: Reading) -> Ranked:
    """The strategy to ship."""
    return ship.by_name[ship.advice.advised or ""]


def _worst(ships: Sequence[Reading]) -> str:
    """A sentence on the missed turns of the strategy to ship that misses most."""
    one = max(ships, key=lambda one: _figures(one)[1])
    item = _advised(one)
    if not item.missed_turns:
        return " Nothing that a turn used would be missing."
    needed = next((rule for rule in item.rules if rule.rule == "needed"), None)
    words = f"misses {percent(item.missed_turns)} of turns on average{limited(needed, one.advice)}"
    return f" The worst of them, `{item.strategy}`, {words}."


def _instead(short: str, reading: Reading, best: Reading) -> str:
    """The answer to a question whose strategy to ship is worse than that of another one (`best`)."""
    before, _, _ = short.partition("Ship `")
    own, where = f"`{reading.advice.advised}` is within all limits", _advised(best).condition
    more = f"`{best.advice.advised}` saves more and misses less on these runs"
    return f"{before}{own}, but {where and f'{where}, '}{more}"


def _elsewhere(report: Report) -> str:
    """The clause that names the question in which a strategy was measured."""
    return f" (see “{report.title}”)"


def _figures(ship: Reading) -> tuple[float, float]:
    """The price of the strategy to ship, against today's, and the share of turns that it misses."""
    item = _advised(ship)
    price = ship.price(item)
    return finite(price.ratio if price else None), item.missed_turns or 0.0


def _better(readings: Sequence[Reading]) -> dict[int, int]:
    """For the place of a question to ship in that of another one whose strategy saves more and
    misses less than all others on the same recordings."""
    ships = [at for at, one in enumerate(readings) if _group(one) == "Ship"]
    figures = {at: _figures(readings[at]) for at in ships}
    hashes = {at: frozenset(run.facts.sha256 for run in readings[at].runs) for at in ships}
    better: dict[int, int] = {}
    for same in grouped((hashes[at], at) for at in ships).values():
        best, *others = sorted(same, key=figures.__getitem__)
        price, missed = figures[best]
        if all(price < figures[at][0] and missed < figures[at][1] for at in others):
            better |= dict.fromkeys(others, best)
    return better


def _with_cache(
    readings: Sequence[Reading], better: Mapping[int, int]
) -> dict[int, tuple[str, int]]:
    """What to do with a cache, and the place of the question that says so, for the place of each
    question whose best strategy is only for prompts that are not cached.

    Questions on the same recordings have the same answer: the cheapest strategy of any of them that
    may be shipped there too.
    """
    ships = [at for at, one in enumerate(readings) if _group(one) == "Ship"]
    there: dict[int, tuple[str, int]] = {}
    for best, same in grouped((better.get(at, at), at) for at in ships).items():
        if _advised(readings[best]).condition:
            words = {at: with_cache(readings[at].advice) for at in same}
            usable = [at for at in same if words[at].startswith("ship")] or same
            of = min(usable, key=lambda at: _figures(readings[at]))
            there |= dict.fromkeys(same, (words[of], of))
    return there


def _key_figures(reading: Reading, *, is_listed: bool) -> tuple[Cell, Cell]:
    """The change of price under the strategy to ship and its loss or quality; if none is, the price
    stays as today's, and the other is of the strategy that the answer is about.

    One that is not listed as a strategy to ship has its name beside the figures.
    """
    advised, pricing = reading.by_name.get(reading.advice.advised or ""), reading.pricing
    item = advised or reading.by_name.get(reading.compared.asks) or reading.subject
    listed_one = advised if is_listed else None
    decided = _decided(reading, item, is_named=item is not listed_one) if item else Cell("–")
    price = reading.price(advised)
    if advised is None or price is None:
        return Cell("not priced" if advised else "unchanged"), decided
    moved = "" if is_listed else f"with `{advised.strategy}`: "
    moved += f"{pricing.money(reading.today)} → {pricing.money(price)}"
    if not reading.counts_tokens and pricing.runs > 1:
        moved += f" {pricing.unit}"
    moved += f"; {UNKNOWN_PRICE}" if advised.condition else ""
    shown = Span(change(price.ratio), "good" if is_listed and not advised.condition else "")
    return Cell((shown,), moved), decided


def _decided(reading: Reading, item: Ranked, *, is_named: bool) -> Cell:
    """The figure by which a strategy is judged, perhaps with its name: the first that refuses it,
    or else that of the question."""
    about = "needed" if reading.compared.answers == "savings" else reading.compared.answers
    failed = [rule for rule in item.rules if not rule.passed and rule.rule not in GAINS]
    asked = [rule for rule in item.rules if rule.rule == about and rule.value is not None]
    result = next(iter((*failed, *asked)), None)
    if result is None:
        return Cell("–")
    shown = as_shown(result)
    value = count(shown.value) if asked_by(result).noun else percent(shown.value)
    name = f" with `{item.strategy}`" if is_named else ""
    return Cell((Span(value, "bad" if failed else ""),), f"{measure_of(result)}{name}")
