"""Several scenarios on one first screen.

What to ship, the gates, then question and answer by verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..model.advice import Price, Ranked
from ..model.compared import Compared
from .blocks import (
    TONE_OF,
    Cell,
    Column,
    Figure,
    Figures,
    Interval,
    Prose,
    Report,
    Row,
    Section,
    Sentence,
    Span,
    Table,
)
from .numbers import change, count, listed, of, percent
from .panels.trust import REPLAY_LIMIT
from .reading import REFUSED, Reading

_GROUPS = (
    "Gates failed",
    "Ship",
    "More runs needed",
    "Keep what runs today",
    "Stores, evaluators and routers",
    "Not answered",
)


def group_of(reading: Reading) -> str:
    """The group of a scenario: by its gates, then by its verdict."""
    if reading.failed:
        return _GROUPS[0]
    if not reading.compared.strategies or reading.compared.advice is None:
        return _GROUPS[5]
    if reading.compared.answers != "savings":
        return _GROUPS[4]
    if reading.advice.advised:
        return _GROUPS[1]
    open_ = [item for item in reading.ranked if item.verdict == "not certain"]
    return _GROUPS[2] if open_ else _GROUPS[3]


def overview(comparisons: Sequence[Compared], reports: Sequence[Report]) -> Report:
    """The first screen of several comparisons; each row leads to its report below."""
    readings = [Reading(compared) for compared in comparisons]
    groups = {name: [at for at, reading in enumerate(readings) if group_of(reading) == name] for name in _GROUPS}
    runs = sum(len(compared.runs) for compared in comparisons)
    gates, failed = (
        sum(len(reading.decided) for reading in readings),
        sum(len(reading.failed) for reading in readings),
    )
    about = " · ".join([of(runs, "replayed run"), of(len(comparisons), "scenario"), of(gates, "gate")])
    sentence, verdict = _sentence(readings, groups, gates, failed)
    sections = [Section("answer", "Answer", "", (Sentence(sentence), _figures(readings, gates, failed)))]
    rows: list[Row] = []
    for name, places in groups.items():
        items = [(readings[at], reports[at], at + 1) for at in places]
        heads = [f"{name}: {count(len(places))}", *[""] * len(places)]
        rows += [_row(*item, group) for item, group in zip(items, heads, strict=False)]
    columns = (
        Column("question and answer"),
        Column("best", True),
        Column("price against today", card="-"),
        Column("missed turns", True),
        Column("gates", True),
    )
    sections.append(
        Section(
            "questions",
            "Questions",
            "",
            (Table("Questions and answers", columns, tuple(rows), "cards"),),
        )
    )
    few = sum(reading.tasks < 6 for reading in readings)
    text = REPLAY_LIMIT + (
        f" {of(few, 'scenario')} {'has' if few == 1 else 'have'} fewer than six tasks: they can refuse a strategy, but cannot make a saving certain."
        if few
        else ""
    )
    sections.append(Section("trust", "Trust", "Trust", (Prose(text),)))
    title = f"{count(len(comparisons))} questions about what an agent remembers"
    return Report(title, about, verdict, tuple(sections), reports[0].footer)


def _sentence(
    readings: Sequence[Reading], groups: dict[str, list[int]], gates: int, failed: int
) -> tuple[tuple[str | Span, ...], str]:
    times = Counter(readings[at].advice.advised or "" for at in groups["Ship"])
    ship = [name if number == 1 else f"{name} (in {of(number, 'scenario')})" for name, number in times.items()]
    parts: list[str] = []
    for name, words in (
        ("More runs needed", "needs more runs|need more runs"),
        ("Keep what runs today", "keeps what runs today|keep what runs today"),
        (
            "Stores, evaluators and routers",
            "is about stores, evaluators or routers|are about stores, evaluators or routers",
        ),
    ):
        if number := len(groups[name]):
            one, many = words.split("|")
            parts.append(f"{count(number)} {one if number == 1 else many}")
    head = (
        Span(f"{count(failed)} of {of(gates, 'gate')} failed.", "bad", strong=True)
        if failed
        else Span(f"Ship {listed(ship)}.", "good", strong=True)
        if ship
        else Span("Nothing to ship.", strong=True)
    )
    also = f" Ship {listed(ship)}." if failed and ship else ""
    rest = f" Of {of(len(readings), 'scenario')} {listed(parts)}." if parts else ""
    end = f" All {of(gates, 'gate')} pass." if gates and not failed else ""
    return (head, also + rest + end), head.text + also + rest + end


def _figures(readings: Sequence[Reading], gates: int, failed: int) -> Figures:
    shipped = [
        (reading, reading.by_name[reading.advice.advised])
        for reading in readings
        if reading.advice.advised in reading.by_name
    ]
    saved = [
        (price.ratio, item) for reading, item in shipped if (price := reading.price(item)) and price.ratio is not None
    ]
    saved.sort(key=lambda pair: pair[0])
    changes = listed([change(ratio) for ratio, _ in saved[:2]]) if saved else "none"
    names = (
        listed(list(dict.fromkeys(item.strategy for _, item in saved)), 3)
        if saved
        else "no scenario can be sure of one"
    )
    missed = max((item.missed_turns for _, item in shipped if item.missed_turns is not None), default=None)
    rejected = sum(item.verdict in REFUSED for reading in readings for item in reading.ranked)
    tried = sum(item.strategy != reading.compared.today for reading in readings for item in reading.ranked)
    second = (
        Figure("Turns they would miss", percent(missed), "good", "the largest share among them")
        if missed is not None
        else Figure("Strategies rejected", count(rejected), "", f"of {count(tried)} tried")
    )
    third = Figure(
        "Gates",
        f"{count(gates - failed)} of {count(gates)} pass" if gates else "none",
        "bad" if failed else "good" if gates else "",
        f"{count(rejected)} of {count(tried)} strategies are rejected",
    )
    return Figures((Figure("Savings that are certain", changes, "good" if saved else "", names), second, third))


def _row(reading: Reading, report: Report, number: int, group: str) -> Row:
    passed, gates = len(reading.decided) - len(reading.failed), len(reading.decided)
    mark = Span("✕ ", "bad", strong=True) if reading.failed else Span("✓ ", "good", strong=True)
    last = Cell((mark, f"{count(passed)} of {count(gates)}")) if gates else Cell("none")
    question = Cell((Span(report.title, href=f"#s{number}"),), report.verdict)
    if reading.measure:
        return Row((question, _measured(reading), Cell(""), Cell("–"), last), group=group)
    shown = _shown(reading)
    if shown is None:
        return Row((question, Cell("–"), Cell(""), Cell("–"), last), group=group)
    item, price = shown
    ratio, sign = price.ratio if price else None, reading.mark(item.strategy)
    tone = TONE_OF[sign]
    drawn = Interval(change(ratio), ratio - 1, ratio - 1, ratio - 1, (-1.0, 0.2), sign) if ratio is not None else None
    best = Cell(change(ratio) or "–", item.strategy, tone)
    missed = Cell(percent(item.missed_turns), f"over {reading.size}")
    return Row((question, best, Cell("", chart=drawn) if drawn else Cell(""), missed, last), group=group)


def _measured(reading: Reading) -> Cell:
    if not reading.measure:
        return Cell("–")
    found = [
        (value, item.strategy)
        for item in reading.ranked
        if (value := reading.value(item.strategy, reading.measure)) is not None
    ]
    value, best = max(found, default=(None, ""))
    today = reading.value(reading.compared.today, reading.measure)
    return Cell(
        f"{percent(value)} with {reading.shown(best)}",
        f"{percent(today)} today" if today is not None and best != reading.compared.today else "",
    )


def _shown(reading: Reading) -> tuple[Ranked, Price | None] | None:
    """The advised strategy or the cheapest open one, else the cheapest rejected, with its price."""
    item = reading.candidate or reading.by_name.get(reading.advice.cheapest_rejected or "")
    return None if item is None else (item, reading.price(item))
