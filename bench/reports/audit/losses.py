"""The losses in recorded sessions: cache breaks, history that was shortened, results read twice."""

from __future__ import annotations

from collections.abc import Iterator

from ...text.wording import count, counted, dollars, percent, shortened
from ..blocks import Block, Cell, Cells, Prose, code, headed, table
from .sessions import Sessions

UNSEEN = {
    "rules": "A rule kept in other words counts as missing; a rule that stands but is broken is not seen.",
    "facts": "Only what a later turn used is counted: a loss that changed what the model did is not seen.",
    "rereads": "A result that came back the same may have been asked for on purpose, to check a change.",
    "cache": "A provider may drop its cache at any time; a recording shows no cause of such a break.",
}  # fmt: skip
"""The limits of each figure of harm, stated at the end of its section."""

_MOST = 10  # rows of a table
_EARLIER = {
    "cut": "had been cut",
    "dropped": "had been dropped",
    "in prompt": "still in the prompt",
}


def breaks(sessions: Sessions) -> Iterator[Block]:
    """Yield how well the cache model fits, and a table of the breaks with turn, cause and
    price."""
    judged = sum(one.cache.judged for one in sessions.all)
    explained = sum(one.cache.explained for one in sessions.all)
    if judged:
        turns, share = counted(judged, "turn"), percent(explained / judged)
        text = f"The cache model explains {count(explained)} of {turns} ({share})."
        below = " That is below 95%, so the theoretical minimum is in tokens."
        yield Prose(text if sessions.cache_fits else text + below)
    rows, pairs = [], sessions.each("cache.breaks", lambda item: item.tokens_again)
    for _, item in pairs:
        seconds, unit = (item.idle_s or 0.0), "second"
        if seconds >= 60:
            seconds, unit = seconds / 60, "minute"
        idle = f"after {counted(round(seconds), unit)}" if round(seconds) else ""
        turn = Cell(f"turn {item.turn}", f"step {item.step}")
        price = "–" if item.usd is None else dollars(item.usd)
        rows.append((turn, Cell(item.cause, idle), count(item.tokens_again), price))
    heads = ["break", "why", "tokens billed again", "price"]
    note, under = UNSEEN["cache"], sessions.headings(pairs)
    yield table("Cache breaks", heads, rows, most=_MOST, noun="break", note=note, under=under)
    if judged and not rows:
        yield Prose(f"No break. {UNSEEN['cache']}")


def losses(sessions: Sessions) -> Iterator[Block]:
    """Yield tables of histories that were shortened, rules that were lost, results that were
    truncated."""
    events = sessions.each("shortenings")
    rows: list[Cells] = []
    for _, item in events:
        lost = (item.facts_lost, item.rules_dropped, item.asked_again)
        row: Cells = (
            Cell(item.kind, f"step {item.step}"),
            "the end" if item.turn is None else count(item.turn),
            _arrow(item.tokens_before, item.tokens_after),
            count(len(item.results_dropped)),
            *(_bad(len(items)) for items in lost),
        )
        rows.append(row)
    heads = ["shortened", "before turn", "prompt tokens", "results dropped"]
    heads += ["needed facts lost", "rules lost", "asked again"]
    name, note, under = "History that was shortened", UNSEEN["facts"], sessions.headings(events)
    yield from headed(table(name, heads, rows, most=_MOST, noun="event", note=note, under=under))
    rules = dict.fromkeys(rule for _, item in events for rule in item.rules_dropped)
    texts, note = [(code(rule[:300], "bad"),) for rule in rules], UNSEEN["rules"]
    name = "Standing rules that were lost"
    yield from headed(table(name, ["rule"], texts, most=_MOST, noun="rule", note=note))
    pairs = sessions.each("cuts", lambda item: item.needed)
    cuts = [
        (
            Cell(f"step {item.step}", item.function),
            code(shortened(item.marker)) if item.marker else "full text recorded",
            _arrow(item.characters, item.seen_characters),
            count(item.needed),
        )
        for _, item in pairs
    ]
    heads = ["cut result", "known by", "characters", "facts used later, shown elsewhere"]
    note = f"{UNSEEN['facts']} Where only the marker is known, the missing part is not recorded."
    name, under = "Results that were cut", sessions.headings(pairs)
    yield from headed(table(name, heads, cuts, most=_MOST, noun="result", note=note, under=under))


def _arrow(before: int | None, after: int | None) -> str:
    return " → ".join("not known" if value is None else count(value) for value in (before, after))


def _bad(many: int) -> Cell:
    """A count that is red where it is not 0."""
    return Cell(count(many), tone="bad" if many else "")


def rereads(sessions: Sessions) -> Iterator[Block]:
    """Yield a table of the results that repeat an earlier one."""
    pairs = sessions.each("rereads", lambda item: item.lines_same)
    rows = [
        (
            f"step {item.step}",
            code(shortened(item.asked)),
            f"step {item.earlier_step}",
            f"{count(item.lines_same)} of {count(item.lines)}",
            _EARLIER[item.why],
        )
        for _, item in pairs
    ]
    heads = ["result", "asked", "before", "lines the same", "the earlier one"]
    name, note, under = "Results that were read twice", UNSEEN["rereads"], sessions.headings(pairs)
    yield table(name, heads, rows, most=_MOST, noun="result", note=note, under=under)
