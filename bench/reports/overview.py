"""Several scenarios on one screen: the strategies to ship, the gates, each question and answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..comparison.reasons import is_doubtful, loss_in_words
from ..comparison.rules import finite
from ..comparison.sentence import (
    best_in,
    cache_in_words,
    is_undecided,
    is_unknown_today,
    to_do,
)
from ..model.advice import Ranked
from ..model.base import grouped
from ..model.compared import Compared
from .blocks import Cell, Cells, Prose, Report, Section, Span, muted, table
from .gates import not_passed
from .numbers import change, count, counted, listed, sentence_case, unseen
from .reading import IN_TOKENS, MISSED_TURN, OLD_FACT, REPLAY_LIMIT, Reading

_NOT_CERTAIN, _UNRECORDED = "The answer is not certain yet", "Today is not recorded"
_KEEP = "Keep what runs today"
_GROUPS = "Gates failed", "Ship", _NOT_CERTAIN, _UNRECORDED, _KEEP
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
    of_group = grouped((_group(one), at) for at, one in enumerate(readings))
    groups = {name: of_group[name] for name in _GROUPS if name in of_group}
    gates = sum(len(one.judged_gates) for one in readings)
    failed = [gate for one in readings for gate in one.failed_gates]
    ships = [readings[at] for at in groups.get("Ship", ())]
    advised = [_advised(readings[better.get(at, at)]) for at in groups.get("Ship", ())]
    instead = [words for words, _ in there.values()]
    ship = _to_ship(advised, instead, len(readings)) if ships else "Nothing to ship."
    head = Span(ship, "good" if ships else "", strong=True)
    used = {better.get(at, at) for at in groups.get("Ship", ())} | {of for _, of in there.values()}
    rest = _worst([readings[at] for at in sorted(used)]) if ships else ""
    for name in (it for it in _GROUPS[2:] if it in groups):
        rest += f" In {counted(len(groups[name]), 'question')} {name[:1].lower()}{name[1:]}."
    if failed:
        rest = f" {head.text}{rest}"
        head = Span(not_passed(failed, gates), "bad", strong=True)
    elif gates:
        rest += f" All {counted(gates, 'gate')} pass: each question has the answer that it expects."

    shorts = {at: one.short for at, one in enumerate(reports)}
    cached = {at for at in better if there.get(at) == (to_do(_advised(readings[at])), at)}
    for at, best in better.items():
        other = _elsewhere(reports[best])
        shorts[at] = f"{_instead(shorts[at], readings[at], readings[best], at in cached)}{other}"
    for at, (words, of) in there.items():
        if at not in cached:
            is_own = of == at or not words.startswith("ship")
            shorts[at] += f"; with a cache: {words}{'' if is_own else _elsewhere(reports[of])}"
    each = tuple(replace(one, short=shorts[at]) for at, one in enumerate(reports))
    rows: list[Cells] = []
    for name, places in groups.items():
        rows.append(f"{name}: {count(len(places))}")
        for at in places:
            question = Cell((Span(each[at].title, href=f"#s{at + 1}"),), each[at].short)
            rows.append((question, _cost(readings[at]), readings[at].size))
    units = {("price", "tokens")[one.counts_tokens] for one in readings if one.today}
    size = f"{' or '.join(sorted(units)) or 'price'} of a run"
    heads = ["question and answer", size, "measured on"]
    fewest = min(ships or readings, key=lambda one: one.advice.tasks)
    rare = unseen(fewest.sample, fewest.advice.cannot_rule_out)
    hashes = [run.facts.sha256 for one in readings for run in one.runs]
    shared = ", and some share runs" if len(hashes) > len({*hashes}) else ""
    notes = (
        f"Each question is answered by itself{shared}; strategies were not tried together.",
        "In brackets are 95% intervals." if any("[" in one.short for one in each) else "",
        f"{MISSED_TURN}." if any(one.compared.answers == "savings" for one in readings) else "",
        f"{OLD_FACT}." if any("old facts" in one.short for one in each) else "",
        f"In the smallest question, {rare}." if rare else "",
        IN_TOKENS if "tokens" in units else "",
        REPLAY_LIMIT,
    )
    blocks = (
        Prose((head, rest), "lead"),
        muted(" ".join(filter(None, notes))),
        table("Questions and answers", heads, rows),
    )
    runs = counted(len({*hashes}), "different run" if shared else "run")
    title = f"{count(len(readings))} questions about what an agent remembers"
    about = " · ".join([runs, counted(len(readings), "scenario"), counted(gates, "gate")])
    sections = (Section("answer", "Answer", "Answer", blocks),)
    return Report(title, about, head.text + rest, sections), *each


def _to_ship(advised: Sequence[Ranked], instead: Sequence[str], many: int) -> str:
    """The sentence on the strategies to ship, each with the number of its questions: those that
    save everywhere, those that save on a condition, and what to do with a cache `instead`."""
    used = Counter((item.condition, f"`{item.strategy}`") for item in advised)
    used += Counter(("with a cache", words.partition(" ")[2]) for words in instead)
    names = grouped((where, f"{name} in {count(of)}") for (where, name), of in used.items())
    clauses = [f"{where and f'{where} '}{listed(names[where])}" for where in sorted(names)]
    clauses.sort(key=lambda clause: clause.startswith("with a cache"))
    alone = ", each on its own" if len(advised) > 1 else ""
    start = f"Ship in {count(len(advised))} of {counted(many, 'question')}{alone}"
    return f"{start}: {'; '.join(clauses)}."


def _advised(ship: Reading) -> Ranked:
    """The strategy to ship."""
    return ship.by_name[ship.advice.advised or ""]


def _worst(ships: Sequence[Reading]) -> str:
    """Sentences on the strategy to ship that misses most turns, and on the one that keeps fewest
    old facts if it may be beyond their limit on other runs."""
    found = [(rule, one) for one in ships for rule in _advised(one).rules if rule.value is not None]
    missed = [pair for pair in found if pair[0].rule == "needed" and pair[0].value]
    old = [pair for pair in found if pair[0].rule == "far" and is_doubtful(pair[0])]
    worst = max(missed, key=lambda pair: pair[0].value or 0.0, default=None)
    fewest = min(old, key=lambda pair: pair[0].value or 0.0, default=None)
    words = [
        f" {most} with `{one.advice.advised}`: {loss_in_words(rule, one.advice)}."
        for most, pair in (("Most turns are missed", worst), ("Fewest old facts are kept", fewest))
        if pair
        for rule, one in [pair]
    ]
    return "".join(words) or " Nothing that a turn used would be missing."


def _instead(short: str, reading: Reading, best: Reading, is_cached: bool) -> str:
    """The answer to a question whose strategy to ship is worse than that of another one (`best`),
    which may be only where nothing `is_cached`."""
    ship, where = f"Ship `{reading.advice.advised}`", _advised(best).condition
    own = f"{ship} with a cache" if is_cached else f"{ship[5:]} is within all limits on these runs"
    more = f"`{best.advice.advised}` saves more and misses less on the same runs"
    return f"{short.replace(ship, own)}. {sentence_case(where)}{where and ', '}{more}"


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
            words = {at: to_do(best_in(readings[at].advice, "cached")) for at in same}
            usable = [at for at in same if words[at].startswith("ship")] or same
            of = min(usable, key=lambda at: _figures(readings[at]))
            there |= dict.fromkeys(same, (words[of], of))
    return there


def _cost(reading: Reading) -> Cell:
    """The change of price under the strategy to ship; if none is, the price stays as today's."""
    advised, pricing = reading.by_name.get(reading.advice.advised or ""), reading.pricing
    price = reading.price(advised)
    if advised is None or price is None:
        return Cell("not priced" if advised else "unchanged")
    moved = f"with `{advised.strategy}`: "
    moved += f"{pricing.money(reading.today)} → {pricing.money(price)}"
    if not reading.counts_tokens and pricing.runs > 1:
        moved += f" {pricing.unit}"
    with_cache = cache_in_words(advised)
    moved += with_cache and f"; {with_cache}"
    return Cell((Span(change(price.ratio), "" if advised.condition else "good"),), moved)
