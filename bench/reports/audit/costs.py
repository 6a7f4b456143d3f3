"""The cost of recorded sessions: by use, by session, by turn, by part of the prompts."""

from __future__ import annotations

from collections.abc import Iterator

from ...evidence.session_audit import total_of
from ...model.base import grouped
from ...text.wording import count, counted, dollars, listed, percent, shortened
from ..blocks import Block, Cell, Cells, Drawing, Prose, Span, Table, code, headed, table
from ..charts import Histogram, Mark
from .sessions import Sessions

_MOST = 10  # rows of a table
_BARS = 100  # turns; of more, several share a bar


def cost(sessions: Sessions) -> Iterator[Block]:
    """Yield the answer, the cost by use, the sessions."""
    head, _, rest = sessions.verdict.partition(". ")
    answer = (Span(f"{head}." if rest else head, strong=True), f" {rest}" if rest else "")
    yield Prose(answer, "lead")
    if not sessions.all:
        return
    yield from headed(_uses(sessions))
    if len(sessions.all) > 1:
        size = "price" if sessions.priced else "tokens"
        heads = ["session", "calls", size, "cache breaks", "shortened", "cut results", "read twice"]
        by_session: list[Cells] = [
            (
                Cell(sessions.names[one.id], one.model or ""),
                count(sessions.calls_of(one)),
                sessions.size_words(one),
                *map(count, map(len, (one.cache.breaks, one.shortenings, one.cuts, one.rereads))),
            )
            for one in sorted(sessions.all, key=lambda one: -sessions.size_of(one.charges))
        ]
        without = [sessions.names[one.id] for one in sessions.all if one not in sessions.sized]
        note = f"Not in the sums, without a price: {listed(without, 12)}." if without else ""
        most = _MOST * 3
        content = table("Sessions", heads, by_session, most=most, noun="session", note=note)
        yield from headed(content)


def _uses(sessions: Sessions) -> Table:
    """A table with a row for each way in which tokens were billed."""
    every = total_of([one.charges for one in sessions.sized])
    hour = every.written_1h_tokens / (every.written_tokens or 1)
    written = f"written to the cache{f', {percent(hour)} for an hour' if hour else ''}"
    new = max(0, every.prompt_tokens - every.cached_tokens - every.written_tokens)
    uses = (
        ("output", every.output_tokens, every.output_usd),
        ("new prompt", new, every.new_usd),
        (written, every.written_tokens, every.written_usd),
        ("read from the cache", every.cached_tokens, every.cached_usd),
    )
    rows = [
        (name, count(tokens), *_priced(sessions, tokens, usd, sessions.size))
        for name, tokens, usd in uses
        if tokens
    ]
    return table("Cost by use", ["billed as", "tokens", "price", "share"], rows)


def _priced(sessions: Sessions, tokens: float, usd: float, size: float) -> tuple[str, str]:
    """The cells for a price ("" where sessions are not priced) and for its share of a size."""
    part = usd if sessions.priced else tokens
    price = dollars(usd) if sessions.priced else ""
    return price, percent(part / size) if size else "–"


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
    which = "The dearest session, " if len(sessions.all) > 1 else ""
    turns, most = counted(len(sizes), "turn"), sessions.words(max(sizes))
    alt = f"{which}{sessions.names[one.id]}: {turns}, the dearest {most}"
    if places := [str(item.turn) for item in one.cache.breaks]:
        alt += f", cache breaks at turns {listed(places, 12)}"
    notes = ["Red: the cache broke."] if broken else []
    notes += [f"Each bar is {wide} turns."] if wide > 1 else []
    notes += [f"{which}{sessions.names[one.id]}."] if which else []
    highest = sessions.words(max(sums), unit=False)
    chart = Histogram(alt, sums, tuple(marks), highest, ("turn 1", last))
    yield Drawing(chart, note=" ".join(notes))


def parts(sessions: Sessions) -> Iterator[Block]:
    """Yield a table of the parts of prompts: the results of each tool, and messages by kind."""
    parts = [part for one in sessions.sized for part in one.parts]
    groups = grouped(((part.name, part.tool), part) for part in parts)
    sizes = {key: sum(map(sessions.size_in_prompts, group)) for key, group in groups.items()}
    size = sum(sizes.values())
    rows = []
    for name, tool in sorted(groups, key=lambda key: (-sizes[key], key)):
        group = groups[name, tool]
        carried = sum(part.carried_tokens for part in group)
        amounts = sum(part.messages for part in group), sum(part.tokens for part in group), carried
        priced = _priced(sessions, carried, sum(part.usd or 0.0 for part in group), size)
        rows.append((f"results of {name}" if tool else name, *map(count, amounts), *priced))
    heads = ["part", "messages", "tokens once", "in all prompts", "price", "share"]
    yield table("Parts of the prompts", heads, rows, most=_MOST, noun="part")


def dearest(sessions: Sessions) -> Iterator[Block]:
    """Yield a table of the results that cost most over the rest of their run."""
    pairs = sessions.each("dearest", sessions.size_in_prompts)[:_MOST]
    rows = [
        (
            Cell(f"step {item.step}", item.function),
            code(shortened(item.asked)),
            count(item.tokens),
            count(item.prompts),
            sessions.words(sessions.size_in_prompts(item)),
        )
        for _, item in pairs
    ]
    price = "price" if sessions.priced else "in all prompts"
    heads = ["result", "asked", "tokens", "prompts", price]
    note = "The price of a result counts every prompt that held it."
    under = sessions.headings(pairs)
    yield table("The ten dearest results", heads, rows, note=note, under=under)
