"""The cost of recorded sessions: by use, by session, by turn, by part of the prompts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from ...model.audit import PromptPart
from ...model.base import grouped
from ..blocks import (
    Block,
    Cell,
    Cells,
    Drawing,
    Figure,
    Figures,
    Heads,
    Prose,
    Span,
    Table,
    code,
    number,
    table,
)
from ..charts import Histogram, Mark
from ..numbers import change, count, counted, dollars, listed, percent, shortened
from .sessions import Sessions

_MOST = 10  # rows of a table
_BARS = 100  # turns; of more, several share a bar


def cost(sessions: Sessions) -> Iterator[Block]:
    """Yield the answer, three figures, the cost by use, the sessions."""
    head, _, rest = sessions.verdict.partition(". ")
    yield Prose(
        (Span(f"{head}." if rest else head, strong=True), f" {rest}" if rest else ""), "lead"
    )
    if sessions.all:
        yield from (Figures(tuple(_figures(sessions))), _uses(sessions))
    if len(sessions.all) > 1:
        yield _by_session(sessions)


def _figures(sessions: Sessions) -> Iterator[Figure]:
    """The price of all sessions, the theoretical minimum, the cache breaks."""
    name = "Price" if sessions.priced else "Tokens"
    each = f"{sessions.words(sessions.size / (sessions.calls or 1))} a model call"
    yield Figure(name, sessions.words(sessions.size).removesuffix(" tokens"), line=each)
    if sessions.minimum:
        now, least = sessions.minimum
        line = f"{sessions.words(now).removesuffix(' tokens')} → {sessions.words(least)} by replay"
        note = "requests that stand and what later turns used, nothing else"
        yield Figure("Theoretical minimum", change(least / now), "", line, note)
    else:
        yield Figure("Theoretical minimum", "not known", "", "nothing to replay")
    items = [item for _, item in sessions.breaks]
    line = f"{count(sum(item.tokens_again for item in items))} tokens billed again"
    usd = dollars(sum(item.usd or 0.0 for item in items)) if sessions.priced and items else ""
    yield Figure("Cache breaks", count(len(items)), "bad" if items else "", line, usd)


def _uses(sessions: Sessions) -> Table:
    """A table with a row for each way in which tokens were billed."""

    def total(field: str) -> float:
        return float(sum(getattr(one.charges, field) for one in sessions.all))

    cached, written, hour = (total(f"{use}_tokens") for use in ("cached", "written", "written_1h"))
    hours = f", {percent(hour / written)} for an hour" if hour else ""
    new = max(0.0, total("prompt_tokens") - cached - written)
    uses = (
        ("output", total("output_tokens"), total("output_usd")),
        ("new prompt", new, total("new_usd")),
        (f"written to the cache{hours}", written, total("written_usd")),
        ("read from the cache", cached, total("cached_usd")),
    )
    rows = [
        (name, count(tokens), *_priced(sessions, tokens, usd, sessions.size))
        for name, tokens, usd in uses
        if tokens
    ]
    heads: Heads = ["billed as", *map(number, ("tokens", "price", "share"))]
    return table("Cost by use", heads, rows)


def _priced(sessions: Sessions, tokens: float, usd: float, size: float) -> tuple[str, str]:
    """The cells for a price ("" where sessions are not priced) and for its share of a size."""
    part = usd if sessions.priced else tokens
    price = dollars(usd) if sessions.priced else ""
    return price, percent(part / size) if size else "–"


def _by_session(sessions: Sessions) -> Table:
    """A row by session, the dearest first."""
    rows: list[Cells] = [
        (
            Cell(sessions.names[one.id], one.model or ""),
            count(len(one.turns)),
            sessions.words(sessions.size_of(one.charges)).removesuffix(" tokens"),
            *map(count, map(len, (one.cache.breaks, one.shortenings, one.cuts, one.rereads))),
        )
        for one in sorted(sessions.all, key=lambda one: -sessions.size_of(one.charges))
    ]
    size = "price" if sessions.priced else "tokens"
    names = ("calls", size, "cache breaks", "shortened", "cut results", "read twice")
    heads: Heads = ["session", *map(number, names)]
    return table("Sessions", heads, rows, most=_MOST * 3, noun="session")


def turns(sessions: Sessions) -> Iterator[Block]:
    """Yield a chart with a bar per turn of the dearest session; turns with a cache break are
    red."""
    if not sessions.calls:
        return
    one = max(sessions.all, key=lambda item: sessions.size_of(item.charges))
    sizes = [sessions.size_of(turn.charges) for turn in one.turns]
    wide = -(-len(sizes) // _BARS)
    sums = tuple(sum(sizes[at : at + wide]) for at in range(0, len(sizes), wide))
    broken = {(item.turn - 1) // wide for item in one.cache.breaks}
    marks: list[Mark] = ["rejected" if at in broken else "other" for at in range(len(sums))]
    last = count(len(sizes)) if len(sums) > 4 else ""
    labels = "turn 1", *[""] * (len(sums) - 1), last
    which = "The dearest session, " if len(sessions.all) > 1 else ""
    alt = f"{which}{sessions.names[one.id]}: {counted(len(sizes), 'turn')}, the dearest {sessions.words(max(sizes))}"
    if places := [str(item.turn) for item in one.cache.breaks]:
        alt += f", cache breaks at turns {listed(places, 12)}"
    notes = ["Red: the cache broke."] if broken else []
    notes += [f"Each bar is {wide} turns."] if wide > 1 else []
    notes += [f"{which}{sessions.names[one.id]}."] if which else []
    unit = "usd" if sessions.priced else "tokens"
    chart = Histogram(alt, sums, labels, tuple(marks), unit=unit, wide=True)
    yield Drawing(chart, note=" ".join(notes))


def parts(sessions: Sessions) -> Iterator[Block]:
    """Yield a table of the parts of prompts: the results of each tool, and messages by kind."""
    groups = grouped(((part.name, part.tool), part) for _, part in sessions.each("parts"))
    totals = [_total(of_one) for of_one in groups.values()]
    totals.sort(key=lambda part: (-sessions.size_in_prompts(part), part.name))
    size = sum(map(sessions.size_in_prompts, totals))
    rows = [
        (
            f"results of {part.name}" if part.tool else part.name,
            *map(count, (part.messages, part.tokens, part.carried_tokens)),
            *_priced(sessions, part.carried_tokens, part.usd or 0.0, size),
        )
        for part in totals
    ]
    names = ("messages", "tokens once", "in all prompts", "price", "share")
    heads: Heads = ["part", *map(number, names)]
    if rows:
        yield table("Parts of the prompts", heads, rows, most=_MOST, noun="part")


def _total(parts: Sequence[PromptPart]) -> PromptPart:
    """One part of the prompts over all sessions."""
    return msgspec.structs.replace(
        parts[0],
        messages=sum(part.messages for part in parts),
        tokens=sum(part.tokens for part in parts),
        carried_tokens=sum(part.carried_tokens for part in parts),
        usd=sum(part.usd or 0.0 for part in parts),
    )


def dearest(sessions: Sessions) -> Iterator[Block]:
    """Yield a table of the results that cost most over the rest of their run."""
    results = sessions.each("dearest")
    results.sort(key=lambda it: (-sessions.size_in_prompts(it.item), it.item.step, it.session.id))
    rows = [
        (
            Cell(sessions.place(session, item.step), item.function),
            code(shortened(item.asked)),
            count(item.tokens),
            count(item.prompts),
            sessions.words(sessions.size_in_prompts(item)),
        )
        for session, item in results[:_MOST]
    ]
    price = "price" if sessions.priced else "in all prompts"
    heads: Heads = ["result", "asked", *map(number, ("tokens", "prompts", price))]
    if rows:
        note = "The price of a result counts every prompt that held it."
        yield table("The ten dearest results", heads, rows, note=note)
