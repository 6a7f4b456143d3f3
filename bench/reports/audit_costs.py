"""The costs of an audit: by use, by session, by turn, by part of the prompt, by result."""

from __future__ import annotations

from collections.abc import Iterator

from .audit_reading import MOST, AuditReading
from .blocks import (
    Block,
    Cell,
    Cells,
    Drawing,
    Figure,
    Figures,
    Sentence,
    Span,
    Table,
    code,
    columns,
    number,
    table,
)
from .charts import Bars, Histogram, Mark
from .numbers import count, dollars, listed, of, percent, shortened

_BARS = 100  # turns; of more, several share a bar


def cost(audit: AuditReading) -> Iterator[Block]:
    """The sentence, three figures, the cost by use, the sessions."""
    head, _, rest = audit.verdict.partition(". ")
    yield Sentence((Span(f"{head}." if rest else head, strong=True), f" {rest}" if rest else ""))
    if not audit.sessions:
        return
    least, lost = audit.minimum, sum(item.usd or 0.0 for _, item in audit.breaks)
    per_call = f"{audit.words(audit.cost / (audit.calls or 1))} a model call"
    minimum = Figure("Theoretical minimum", "not known", "", "nothing to replay")
    figures = (
        Figure("Price" if audit.priced else "Tokens", audit.words(audit.cost).removesuffix(" tokens"), "", per_call),
        Figure("Theoretical minimum", least[0], "", least[1], "with perfect foresight") if least else minimum,
        Figure(
            "Cache breaks",
            count(len(audit.breaks)),
            "bad" if audit.breaks else "",
            f"{count(audit.tokens_again)} tokens billed again",
            dollars(lost) if audit.priced and audit.breaks else "",
        ),
    )
    bars = tuple(_uses(audit))
    chart = Bars("; ".join(f"{name} {text}" for name, _, text, _ in bars), bars) if bars else None
    yield Figures(figures, "Price by use" if audit.priced else "Tokens by use", chart)
    if len(audit.sessions) > 1:
        yield _by_session(audit)


def _uses(audit: AuditReading) -> Iterator[tuple[str, float, str, Mark]]:
    """A bar for everything that tokens were billed as."""

    def total(*fields: str) -> list[float]:
        return [audit.total(lambda one, field=field: getattr(one.charges, field)) for field in fields]

    prompt, cached, written, hour, output = total(
        "prompt_tokens", "cached_tokens", "written_tokens", "written_1h_tokens", "output_tokens"
    )
    dollars_of = total("output_usd", "new_usd", "written_usd", "cached_usd")
    write = f"written, {percent(hour / written)} for an hour" if hour else "written to the cache"
    names = ("output", "new prompt", write, "read from the cache")
    tokens = (output, max(0, prompt - cached - written), written, cached)
    for name, size, usd in zip(names, tokens, dollars_of, strict=True):
        if size:
            share = (usd if audit.priced else size) / (audit.cost or 1)
            yield name, share, f"{audit.price(usd, size)}, {percent(share)}", "other"


def _by_session(audit: AuditReading) -> Table:
    """A row by session, the dearest first."""
    rows: list[Cells] = [
        (
            Cell(audit.names[one.id], one.model or ""),
            count(len(one.turns)),
            audit.words(audit.size(one.charges)),
            *(count(len(items)) for items in (one.cache.breaks, one.shortenings, one.cuts, one.rereads)),
        )
        for one in sorted(audit.sessions, key=lambda one: -audit.size(one.charges))
    ]
    heads = columns(
        "session", *map(number, ("calls", "price", "cache breaks", "shortened", "cut results", "read twice"))
    )
    return table("Sessions", heads, rows, most=MOST * 3, noun="session")


def turns(audit: AuditReading) -> Iterator[Block]:
    """A bar by turn of the dearest session; turns with a cache break are red."""
    if not audit.calls:
        return
    one = max(audit.sessions, key=lambda item: audit.size(item.charges))
    values = [audit.size(turn.charges) for turn in one.turns]
    size = -(-len(values) // _BARS)
    broken = {(item.turn - 1) // size for item in one.cache.breaks}
    sums = tuple(sum(values[at : at + size]) for at in range(0, len(values), size))
    labels = ["turn 1", *[""] * (len(sums) - 1)]
    if len(sums) > 4:
        labels[-1] = count(len(values))
    marks: tuple[Mark, ...] = tuple("rejected" if at in broken else "other" for at in range(len(sums)))
    alt = f"{audit.names[one.id]}: {of(len(values), 'turn')}, the dearest {audit.words(max(values))}"
    if one.cache.breaks:
        alt += f", cache breaks at turns {listed([str(item.turn) for item in one.cache.breaks], 12)}"
    notes = ["Red: the cache broke."] if broken else []
    notes += [f"Each bar is {size} turns."] if size > 1 else []
    notes += [f"The dearest session, {audit.names[one.id]}."] if len(audit.sessions) > 1 else []
    chart = Histogram(alt, sums, tuple(labels), marks, unit="usd" if audit.priced else "tokens", wide=True)
    yield Drawing(chart, note=" ".join(notes))


def contents(audit: AuditReading) -> Iterator[Block]:
    """The parts of the prompts: each tool's results, and messages by kind."""
    sums: dict[str, list[float]] = {}
    for _, part in audit.each("parts"):
        own = (part.messages, part.tokens, part.carried_tokens, part.usd or 0.0)
        total = sums.setdefault(f"results of {part.name}" if part.tool else part.name, [0.0] * 4)
        total[:] = (before + value for before, value in zip(total, own, strict=True))
    by = 3 if audit.priced else 2
    ordered = sorted(sums.items(), key=lambda item: (-item[1][by], item[0]))
    all_parts = sum(values[by] for values in sums.values())
    rows = [
        (
            name,
            count(messages),
            count(once),
            count(round(carried)),
            audit.price(usd, carried),
            percent(sums[name][by] / all_parts) if all_parts else "–",
        )
        for name, (messages, once, carried, usd) in ordered
    ]
    heads = columns("part", *map(number, ("messages", "tokens once", "in all prompts", "price", "share")))
    if rows:
        yield table("Parts of the prompts", heads, rows, most=MOST + 5, noun="part")


def dearest(audit: AuditReading) -> Iterator[Block]:
    """The results that cost most over the rest of their run."""
    items = audit.each("dearest")
    items.sort(key=lambda pair: (-(pair[1].usd or 0.0) if audit.priced else -pair[1].carried_tokens, pair[0].id, pair[1].step))  # fmt: skip
    rows: list[Cells] = [
        [
            Cell(audit.step(one, item.step), item.function),
            code(shortened(item.asked)),
            count(item.tokens),
            count(item.prompts),
            audit.price(item.usd, item.carried_tokens),
        ]
        for one, item in items[:MOST]
    ]
    heads = columns("result", "asked", *map(number, ("tokens", "prompts", "price")))
    note = "The price of a result is that of every prompt which held it."
    if rows:
        yield table("The ten dearest results", heads, rows, note=note)
