"""The costs of an audit: by use, by session, by turn, by part of the prompt, by result."""

from __future__ import annotations

from collections.abc import Iterator

from .audit_reading import MOST, AuditReading, more, shortened_text, size_of
from .blocks import (
    Bars,
    Block,
    Cell,
    Column,
    Drawing,
    Figure,
    Figures,
    Histogram,
    Mark,
    Row,
    Sentence,
    Span,
    Table,
)
from .numbers import count, dollars, listed, of, percent


def cost(audit: AuditReading) -> Iterator[Block]:
    """The sentence, three figures, the price by use, the sessions."""
    head, _, rest = audit.verdict.partition(". ")
    yield Sentence((Span(head + ("." if rest else ""), strong=True), f" {rest}" if rest else ""))
    if not audit.sessions:
        return
    uses = [row for row in uses_of(audit) if row[1]]
    bars: tuple[tuple[str, float, str, Mark], ...] = tuple(
        (
            name,
            (usd if audit.priced else tokens) / (audit.whole or 1),
            f"{audit.price(usd, tokens)}, {percent((usd if audit.priced else tokens) / (audit.whole or 1))}",
            "other",
        )
        for name, tokens, usd in uses
    )
    again, lost = (
        sum(item.tokens_again for _, item in audit.breaks),
        sum(item.usd or 0.0 for _, item in audit.breaks),
    )
    turns = sum(len(one.turns) for one in audit.sessions)
    items = [
        Figure(
            "Price" if audit.priced else "Tokens",
            dollars(audit.usd) if audit.priced else count(audit.tokens),
            "",
            f"{audit.price(audit.usd / turns if turns else 0, audit.tokens / turns if turns else 0)} a model call",
        )
    ]
    least = audit.minimum
    items.append(
        Figure("Theoretical minimum", least[1], "", least[2], "with perfect foresight")
        if least
        else Figure("Theoretical minimum", "not known", "", "nothing to replay")
    )
    items.append(
        Figure(
            "Cache breaks",
            count(len(audit.breaks)),
            "bad" if audit.breaks else "",
            f"{count(again)} tokens billed again",
            dollars(lost) if audit.priced and audit.breaks else "",
        )
    )
    yield Figures(
        tuple(items),
        "Price by use" if audit.priced else "Tokens by use",
        Bars("; ".join(f"{name} {text}" for name, _, text, _ in bars), bars) if bars else None,
    )
    if len(audit.sessions) > 1:
        yield by_session(audit)


def uses_of(audit: AuditReading) -> Iterator[tuple[str, int, float]]:
    """The tokens and dollars by what they were billed as."""
    charges = [one.charges for one in audit.sessions]
    new = sum(item.prompt_tokens - item.cached_tokens - item.written_tokens for item in charges)
    hour = sum(item.written_1h_tokens for item in charges)
    written, written_usd = (
        sum(item.written_tokens for item in charges),
        sum(item.written_usd for item in charges),
    )
    yield (
        "output",
        sum(item.output_tokens for item in charges),
        sum(item.output_usd for item in charges),
    )
    yield "new prompt", max(0, new), sum(item.new_usd for item in charges)
    yield (
        "written to the cache" if not hour else f"written, {percent(hour / written)} for an hour",
        written,
        written_usd,
    )
    yield (
        "read from the cache",
        sum(item.cached_tokens for item in charges),
        sum(item.cached_usd for item in charges),
    )


def by_session(audit: AuditReading) -> Table:
    """A row by session, the dearest first."""
    ordered = sorted(audit.sessions, key=lambda one: -size_of(one.charges, audit.priced))
    rows = tuple(
        Row((Cell(audit.names[one.id], one.model or ""), Cell(count(len(one.turns))), Cell(audit.price(one.charges.usd, one.charges.prompt_tokens + one.charges.output_tokens)),
             Cell(count(len(one.cache.breaks))), Cell(count(len(one.shortenings))), Cell(count(len(one.cuts))), Cell(count(len(one.rereads)))))
        for one in ordered[: MOST * 3]
    )  # fmt: skip
    columns = (
        Column("session"),
        Column("calls", True),
        Column("price", True),
        Column("cache breaks", True),
        Column("shortened", True),
        Column("cut results", True),
        Column("read twice", True),
    )
    return Table("Sessions", columns, rows, "cards", more(len(ordered) - MOST * 3, "session"))


def turns(audit: AuditReading) -> Iterator[Block]:
    """A bar by turn of the dearest session; turns with a cache break are red."""
    if not any(one.turns for one in audit.sessions):
        return
    one = max(audit.sessions, key=lambda item: size_of(item.charges, audit.priced))
    values = [size_of(turn.charges, audit.priced) for turn in one.turns]
    size = -(-len(values) // 100)
    broken = {(item.turn - 1) // size for item in one.cache.breaks}
    sums = tuple(sum(values[at : at + size]) for at in range(0, len(values), size))
    labels = [""] * len(sums)
    labels[0] = "turn 1"
    labels[-1] = count(len(values)) if len(sums) > 4 else labels[-1]
    marks: tuple[Mark, ...] = tuple("rejected" if at in broken else "other" for at in range(len(sums)))
    alt = f"{audit.names[one.id]}: {of(len(values), 'turn')}, the dearest {audit.price(max(values), max(values))}" + (
        f", cache breaks at turns {listed([str(item.turn) for item in one.cache.breaks], 12)}"
        if one.cache.breaks
        else ""
    )
    note = (
        ("Red: the cache broke. " if broken else "")
        + (f"Each bar is {size} turns. " if size > 1 else "")
        + (f"The dearest session, {audit.names[one.id]}." if len(audit.sessions) > 1 else "")
    )
    yield Drawing(
        Histogram(alt, sums, tuple(labels), marks, unit="usd" if audit.priced else "tokens"),
        note=note.strip(),
    )


def contents(audit: AuditReading) -> Iterator[Block]:
    """The parts of the prompts: each tool's results, and messages by kind."""
    sums: dict[str, list[float]] = {}
    for _, part in audit.each("parts"):
        found = sums.setdefault(f"results of {part.name}" if part.tool else part.name, [0, 0, 0, 0.0])
        for at, value in enumerate((part.messages, part.tokens, part.carried_tokens, part.usd or 0.0)):
            found[at] += value
    ordered = sorted(sums.items(), key=lambda item: (-item[1][3 if audit.priced else 2], item[0]))
    whole = sum(values[3 if audit.priced else 2] for _, values in ordered)
    rows = tuple(
        Row((Cell(name), Cell(count(values[0])), Cell(count(values[1])), Cell(count(round(values[2]))), Cell(audit.price(values[3], values[2])),
             Cell(percent(values[3 if audit.priced else 2] / whole) if whole else "–")))
        for name, values in ordered[: MOST + 5]
    )  # fmt: skip
    columns = (
        Column("part"),
        Column("messages", True),
        Column("tokens once", True),
        Column("in all prompts", True),
        Column("price", True),
        Column("share", True),
    )
    if rows:
        yield Table(
            "Parts of the prompts",
            columns,
            rows,
            "cards",
            more(len(ordered) - MOST - 5, "part"),
        )


def dearest(audit: AuditReading) -> Iterator[Block]:
    """The results that cost most over the rest of their run."""
    found = sorted(
        audit.each("dearest"),
        key=lambda pair: (
            -((pair[1].usd or 0.0) if audit.priced else pair[1].carried_tokens),
            pair[0].id,
            pair[1].step,
        ),
    )
    rows = tuple(
        Row((Cell(audit.step(one, item.step), item.function), Cell((Span(shortened_text(item.asked), code=True),) if item.asked else "–"), Cell(count(item.tokens)),
             Cell(count(item.prompts)), Cell(audit.price(item.usd, item.carried_tokens))))
        for one, item in found[:MOST]
    )  # fmt: skip
    columns = (
        Column("result"),
        Column("asked"),
        Column("tokens", True),
        Column("prompts", True),
        Column("price", True),
    )
    if rows:
        yield Table(
            "The ten dearest results",
            columns,
            rows,
            "cards",
            "The price of a result is that of every prompt which held it.",
        )
