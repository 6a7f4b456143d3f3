"""Several scenarios on one screen: how many to ship, the gates, each question and its answer."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ..comparison.reasons import is_unknown_today
from ..comparison.wording import change, unseen
from ..model.base import grouped
from ..model.compared import Compared
from ..text.wording import count, counted
from .blocks import Cell, Cells, Prose, Report, Section, Span, muted, table
from .gates import not_passed
from .reading import IN_TOKENS, MISSED_TURN, OLD_FACT, REPLAY_LIMIT, Reading

_FAILED, _SHIP, _KEEP = "Gates failed", "Ship", "Keep what runs today"
_NOT_CERTAIN, _UNRECORDED = "The answer is not certain yet", "Today is not recorded"
_GROUPS = _FAILED, _SHIP, _NOT_CERTAIN, _UNRECORDED, _KEEP
"""The groups of scenarios in order."""


def _group(reading: Reading) -> str:
    """The group of a scenario: by its gates, then by its verdict."""
    if reading.failed_gates:
        return _FAILED
    if reading.advice.advised:
        return _SHIP
    subject = reading.advice.item(reading.advice.subject)
    if subject is None or subject.verdict != "not certain":
        return _KEEP
    return _UNRECORDED if is_unknown_today(subject) else _NOT_CERTAIN


def overview(comparisons: Sequence[Compared], reports: Sequence[Report]) -> tuple[Report, ...]:
    """The first screen of several comparisons, and their reports, to which its rows lead."""
    readings = [Reading(compared) for compared in comparisons]
    of_group = grouped((_group(one), at) for at, one in enumerate(readings))
    groups = {name: of_group[name] for name in _GROUPS if name in of_group}
    rows: list[Cells] = []
    for name, places in groups.items():
        rows.append(f"{name}: {count(len(places))}")
        for at in places:
            question = Cell((Span(reports[at].title, href=f"#s{at + 1}"),), reports[at].short)
            rows.append((question, _cost(readings[at]), readings[at].size))
    units = {("price", "tokens")[one.counts_tokens] for one in readings if one.advice.todays_price}
    heads = [
        "question and answer",
        f"{' or '.join(sorted(units)) or 'price'} of a run",
        "measured on",
    ]
    gates = sum(len(one.judged_gates) for one in readings)
    head, rest = _answer(readings, groups, gates)
    blocks = (
        Prose((head, rest), "lead"),
        table("Questions and answers", heads, rows),
        muted(" ".join(_notes(readings, groups))),
    )
    runs = [run for one in readings for run in one.runs]
    hashes = {run.facts.sha256 for run in runs}  # another one with a scenario's probes
    known = {(run.id, repr(replace(run.facts, sha256=""))) for run in runs}  # with another path
    size = counted(min(len(hashes), len(known)), "different run")
    title = f"{count(len(readings))} questions about what an agent remembers"
    about = " · ".join([size, counted(len(readings), "scenario"), counted(gates, "gate")])
    sections = (Section("answer", "Answer", blocks),)
    return Report(title, about, head.text + rest, sections), *reports


def _answer(
    readings: Sequence[Reading], groups: dict[str, list[int]], gates: int
) -> tuple[Span, str]:
    """How many questions have which answer, and whether the gates pass; the worse news first."""
    many, ships = counted(len(readings), "question"), len(groups.get(_SHIP, ()))
    head = Span(f"Ship in {count(ships)} of {many}.", "good", strong=True)
    if not ships:
        head = Span("Nothing to ship.", strong=True)
    rest = "".join(
        f" In {count(len(places))} {name[:1].lower()}{name[1:]}."
        for name, places in groups.items()
        if name not in (_FAILED, _SHIP)
    )
    if failed := [gate for one in readings for gate in one.failed_gates]:
        shipped = f" {head.text}" if ships else ""  # a failed one may be to ship
        return Span(not_passed(failed, gates), "bad", strong=True), f"{shipped}{rest}"
    return head, f"{rest} All {counted(gates, 'gate')} pass." if gates else rest


def _notes(readings: Sequence[Reading], groups: dict[str, list[int]]) -> list[str]:
    """Sentences on how to read the table, and on what the questions cannot show."""
    shorts = " ".join(one.advice.short for one in readings)
    ships = [readings[at] for at in groups.get(_SHIP, ())]
    fewest = min(ships or readings, key=lambda one: one.advice.tasks)
    rare = unseen(fewest.advice)
    notes = [
        "Each question is answered by itself; strategies were not tried together.",
        f"{MISSED_TURN}." if "of turns miss" in shorts else "",
        f"{OLD_FACT}." if "old facts" in shorts else "",
        f"In the smallest question, {rare}." if rare else "",
        IN_TOKENS if any(one.counts_tokens for one in readings) else "",
        REPLAY_LIMIT,
    ]
    return [*filter(None, notes)]


def _cost(reading: Reading) -> Cell:
    """The change of price under the strategy to ship; if none is, the price stays as today's."""
    advised = reading.advice.item(reading.advice.advised)
    if advised is None or advised.price is None:
        return Cell("not priced" if advised else "unchanged")
    return Cell((Span(change(advised.price.ratio), "" if advised.condition else "good"),))
