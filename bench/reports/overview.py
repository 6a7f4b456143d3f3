"""Several scenarios on one screen: what to ship, the gates, question and answer by verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ..model.compared import Compared
from .blocks import (  # fmt: skip
    TONE_OF,
    Block,
    Cell,
    Column,
    Figure,
    Figures,
    Prose,
    Report,
    Row,
    Section,
    Sentence,
    Span,
    columns,
    number,
    table,
)
from .charts import Range
from .numbers import change, count, listed, of, percent
from .panels.trust import REPLAY_LIMIT
from .reading import REFUSED, Reading

_FEW = 6  # tasks, below which no saving is certain
_FAILED, _SHIP, _MORE, _KEEP, _OTHER, _NONE = (
    "Gates failed",
    "Ship",
    "More runs needed",
    "Keep what runs today",
    "Stores, evaluators and routers",
    "Not answered",
)
_WORDS = {
    _MORE: ("needs more runs", "need more runs"),
    _KEEP: ("keeps what runs today", "keep what runs today"),
    _OTHER: ("is about stores, evaluators or routers", "are about stores, evaluators or routers"),
}


def group_of(reading: Reading) -> str:
    """The group of a scenario: by its gates, then by its verdict."""
    if reading.failed:
        return _FAILED
    if not reading.compared.strategies or reading.compared.advice is None:
        return _NONE
    if reading.compared.answers != "savings":
        return _OTHER
    if reading.advice.advised:
        return _SHIP
    return _MORE if any(item.verdict == "not certain" for item in reading.ranked) else _KEEP


def overview(comparisons: Sequence[Compared], reports: Sequence[Report]) -> Report:
    """The first screen of several comparisons; each row leads to its report below."""
    readings = [Reading(compared) for compared in comparisons]
    groups: dict[str, list[int]] = {name: [] for name in (_FAILED, _SHIP, _MORE, _KEEP, _OTHER, _NONE)}
    for at, reading in enumerate(readings):
        groups[group_of(reading)].append(at)
    ship = [readings[at] for at in groups[_SHIP]]
    runs = sum(len(compared.runs) for compared in comparisons)
    gates, failed = sum(len(one.decided) for one in readings), sum(len(one.failed) for one in readings)
    head, rest = _sentence(ship, {name: len(places) for name, places in groups.items()}, gates, failed)
    rows = [
        _row(readings[at], reports[at], at + 1, f"{name}: {count(len(places))}" if at == places[0] else "")
        for name, places in groups.items()
        for at in places
    ]
    heads = columns("question and answer", number("best"), Column("price against today", card="-"), number("missed turns"), number("gates"))  # fmt: skip
    answer: tuple[Block, ...] = (Sentence((head, rest)), Figures(tuple(_figures(readings, ship, gates, failed))))
    sections = (
        Section("answer", "Answer", "", answer),
        Section("questions", "Questions", "", (table("Questions and answers", heads, rows),)),
        Section("trust", "Trust", "Trust", (Prose(_limits(readings)),)),
    )
    about = " · ".join([of(runs, "replayed run"), of(len(comparisons), "scenario"), of(gates, "gate")])
    title = f"{count(len(comparisons))} questions about what an agent remembers"
    return Report(title, about, head.text + rest, sections, reports[0].footer)


def _limits(readings: Sequence[Reading]) -> str:
    few = sum(reading.tasks < _FEW for reading in readings)
    if not few:
        return REPLAY_LIMIT
    verb = "has" if few == 1 else "have"
    certain = f"{of(few, 'scenario')} {verb} fewer than six tasks: they can refuse a strategy, but cannot make a saving certain."
    return f"{REPLAY_LIMIT} {certain}"


def _sentence(ship: Sequence[Reading], sizes: dict[str, int], gates: int, failed: int) -> tuple[Span, str]:
    times = Counter(reading.advice.advised or "" for reading in ship)
    names = listed([name if many == 1 else f"{name} (in {of(many, 'scenario')})" for name, many in times.items()])
    if failed:
        head = Span(f"{count(failed)} of {of(gates, 'gate')} failed.", "bad", strong=True)
    else:
        head = Span(f"Ship {names}.", "good", strong=True) if ship else Span("Nothing to ship.", strong=True)
    parts = [f"{count(sizes[name])} {words[sizes[name] > 1]}" for name, words in _WORDS.items() if sizes[name]]
    rest = f" Ship {names}." if failed and ship else ""
    rest += f" Of {of(sum(sizes.values()), 'scenario')} {listed(parts)}." if parts else ""
    return head, rest + (f" All {of(gates, 'gate')} pass." if gates and not failed else "")


def _figures(readings: Sequence[Reading], ship: Sequence[Reading], gates: int, failed: int) -> Iterator[Figure]:
    advised = [(reading, item) for reading in ship if (item := reading.by_name.get(reading.advice.advised or ""))]
    prices = [(price.ratio, item) for reading, item in advised if (price := reading.price(item)) and price.ratio is not None]  # fmt: skip
    prices.sort(key=lambda pair: pair[0])
    if prices:
        ends = list(dict.fromkeys(change(round(ratio, 2)) for ratio in (prices[0][0], prices[-1][0])))
        names = listed(list(dict.fromkeys(item.strategy for _, item in prices)), 3)
        yield Figure("Savings that are certain", " to ".join(ends), "good", names)
    else:
        yield Figure("Savings that are certain", "none", "", "in no scenario")
    rejected = sum(item.verdict in REFUSED for reading in readings for item in reading.ranked)
    tried = sum(item.strategy != reading.compared.today for reading in readings for item in reading.ranked)
    missed = max((item.missed_turns for _, item in advised if item.missed_turns is not None), default=None)
    if missed is not None:
        yield Figure("Turns they would miss", percent(missed), "good", "the largest share among them")
    else:
        yield Figure("Strategies rejected", count(rejected), "", f"of {count(tried)} tried")
    passed = f"{count(gates - failed)} of {count(gates)} pass" if gates else "none"
    line = f"{count(rejected)} of {count(tried)} strategies are rejected"
    yield Figure("Gates", passed, "bad" if failed else "good" if gates else "", line)


def _row(reading: Reading, report: Report, place: int, group: str) -> Row:
    """Question and answer, the best strategy with its price, what it misses, the gates."""
    passed, gates = len(reading.decided) - len(reading.failed), len(reading.decided)
    sign = Span("✕ ", "bad", strong=True) if reading.failed else Span("✓ ", "good", strong=True)
    last = Cell((sign, f"{count(passed)} of {count(gates)}")) if gates else Cell("none")
    question = Cell((Span(report.title, href=f"#s{place}"),), report.verdict)
    item = reading.candidate or reading.by_name.get(reading.advice.cheapest_rejected or "")
    if reading.measure:
        cells = [_measured(reading), Cell(""), Cell("–")]
    elif item is None:
        cells = [Cell("–"), Cell(""), Cell("–")]
    else:
        price, mark = reading.price(item), reading.mark(item.strategy)
        ratio = price.ratio if price else None
        at = 0.0 if ratio is None else ratio - 1
        chart = None if ratio is None else Range(change(ratio), at, (min(at, 0), max(at, 0)), (-1.0, 0.2), mark, 0.0)
        missed = Cell("–" if item.missed_turns is None else percent(item.missed_turns), f"over {reading.size}")
        cells = [Cell(change(ratio) or "–", item.strategy, TONE_OF[mark]), Cell("", chart=chart), missed]
    return Row((question, *cells, last), group=group)


def _measured(reading: Reading) -> Cell:
    """The best value where savings are not asked; of equals the advised one, today's last."""
    values = [(value, item.strategy) for item in reading.ranked if (value := reading.value(item.strategy, reading.measure)) is not None]  # fmt: skip
    if not values:
        return Cell("–")
    advised, today = reading.advice.advised, reading.compared.today
    value, best = min(values, key=lambda pair: (-pair[0], pair[1] != advised, pair[1] == today))
    return Cell(percent(value), reading.title(best), TONE_OF[reading.mark(best)])
