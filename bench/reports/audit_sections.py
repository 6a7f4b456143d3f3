"""The sections of an audit: costs by use, session, turn, part and result; cache breaks, cuts,
rereads, trust.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..model.audit import CacheBreak, Shortening
from .audit_reading import AuditReading
from .blocks import (
    Block,
    Cell,
    Cells,
    Column,
    Drawing,
    Figure,
    Figures,
    Prose,
    Section,
    Sentence,
    Span,
    code,
    columns,
    muted,
    number,
    table,
)
from .charts import Histogram, Mark, Range
from .numbers import count, dollars, listed, of, percent, shortened as brief

UNSEEN = {
    "rules": "A rule kept in other words counts as missing; a rule that stands but is broken is not seen.",
    "facts": "Only what a later turn used is counted: a loss that changed what the model did is not seen.",
    "rereads": "A result that came back the same may have been asked for on purpose, to check a change.",
    "cache": "A provider may drop its cache at any time; a recording shows no cause of such a break.",
}
"""The limits of each figure of harm; they end the part that states the figure."""

_MOST = 10  # rows of a table
_BARS = 100  # turns; of more, several share a bar
_EARLIER = {"cut": "had been cut", "dropped": "had been dropped", "in prompt": "still stood in the prompt"}


def sections(audit: AuditReading) -> Iterator[Section]:
    """The sections that have something to show."""
    for anchor, name, heading, part in (
        ("cost", "Cost", "", _cost),
        ("turns", "By turn", "Cost by turn", _turns),
        ("contents", "Prompts", "Parts of the prompts", _parts),
        ("dearest", "Dearest results", "The ten dearest results", _dearest),
        ("cache", "Cache breaks", "Cache breaks", _cache),
        ("shortened", "Shortened", "History that was shortened, results that were cut", _shortened),
        ("rereads", "Read twice", "Results that were read twice", _rereads),
        ("trust", "Trust", "Trust", _trust),
    ):
        if blocks := tuple(part(audit)):
            yield Section(anchor, name, heading, blocks)


# ---------------------------------------------------------------- costs


def _cost(audit: AuditReading) -> Iterator[Block]:
    """Yields the sentence, three figures, the cost by use, the sessions."""
    head, _, rest = audit.verdict.partition(". ")
    yield Sentence((Span(f"{head}." if rest else head, strong=True), f" {rest}" if rest else ""))
    if not audit.sessions:
        return
    least, lost = audit.minimum, sum(item.usd or 0.0 for _, item in audit.breaks)
    again = f"{count(audit.tokens_again)} tokens billed again"
    yield Figures(
        (
            Figure(
                "Price" if audit.priced else "Tokens",
                audit.words(audit.cost).removesuffix(" tokens"),
                line=f"{audit.words(audit.cost / (audit.calls or 1))} a model call",
            ),
            Figure("Theoretical minimum", least[0], "", least[1], "with perfect foresight")
            if least
            else Figure("Theoretical minimum", "not known", "", "nothing to replay"),
            Figure(
                "Cache breaks",
                count(len(audit.breaks)),
                "bad" if audit.breaks else "",
                again,
                dollars(lost) if audit.priced and audit.breaks else "",
            ),
        )
    )
    if uses := [*_uses(audit)]:
        prices = [number("price")] if audit.priced else []
        heads = columns("billed as", number("tokens"), *prices, number("share"), Column("0 to 100%", card="-"))
        yield table("Cost by use", heads, uses)
    if len(audit.sessions) > 1:
        ordered = sorted(audit.sessions, key=lambda one: -audit.size(one.charges))
        rows: list[Cells] = [
            (
                Cell(audit.names[one.id], one.model or ""),
                count(len(one.turns)),
                audit.words(audit.size(one.charges)),
                *(count(len(items)) for items in (one.cache.breaks, one.shortenings, one.cuts, one.rereads)),
            )
            for one in ordered
        ]
        names = ("calls", "price", "cache breaks", "shortened", "cut results", "read twice")
        heads = columns("session", *map(number, names))
        yield table("Sessions", heads, rows, most=_MOST * 3, noun="session")


def _uses(audit: AuditReading) -> Iterator[tuple[Cell | str, ...]]:
    """Yields a row for everything that tokens were billed as."""
    all_charges = [one.charges for one in audit.sessions]

    def total(name: str) -> float:
        return float(sum(getattr(charges, name) for charges in all_charges))

    prompt, cached, written = total("prompt_tokens"), total("cached_tokens"), total("written_tokens")
    hour = total("written_1h_tokens")
    write = f"written to the cache, {percent(hour / written)} for an hour" if hour else "written to the cache"
    for name, tokens, usd in (
        ("output", total("output_tokens"), total("output_usd")),
        ("new prompt", max(0, prompt - cached - written), total("new_usd")),
        (write, written, total("written_usd")),
        ("read from the cache", cached, total("cached_usd")),
    ):
        if tokens:
            share = (usd if audit.priced else tokens) / (audit.cost or 1)
            bar = Range(f"{name}: {percent(share)}", share, (0.0, share), (0.0, 1.0), "other")
            price = [dollars(usd)] if audit.priced else []
            yield name, count(tokens), *price, percent(share), Cell("", chart=bar)


def _turns(audit: AuditReading) -> Iterator[Block]:
    """Yields a bar by turn of the dearest session; turns with a cache break are red."""
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


def _parts(audit: AuditReading) -> Iterator[Block]:
    """Yields the parts of the prompts: each tool's results, and messages by kind."""
    sums: dict[str, list[float]] = {}
    for _, part in audit.each("parts"):
        total = sums.setdefault(f"results of {part.name}" if part.tool else part.name, [0.0] * 4)
        own = (part.messages, part.tokens, part.carried_tokens, part.usd or 0.0)
        total[:] = (before + value for before, value in zip(total, own, strict=True))
    by = 3 if audit.priced else 2
    all_parts = sum(values[by] for values in sums.values())
    rows = [
        (
            name,
            *(count(round(value)) for value in values[:3]),
            *([dollars(values[3])] if audit.priced else []),
            percent(values[by] / all_parts) if all_parts else "–",
        )
        for name, values in sorted(sums.items(), key=lambda item: (-item[1][by], item[0]))
    ]
    prices = ["price"] if audit.priced else []
    heads = columns("part", *map(number, ("messages", "tokens once", "in all prompts", *prices, "share")))
    if rows:
        yield table("Parts of the prompts", heads, rows, most=_MOST + 5, noun="part")


def _dearest(audit: AuditReading) -> Iterator[Block]:
    """Yields the results that cost most over the rest of their run."""
    ordered = audit.each(
        "dearest", lambda item: (-(item.usd or 0.0) if audit.priced else -item.carried_tokens, item.step)
    )
    rows = [
        (
            Cell(audit.step(one, item.step), item.function),
            code(brief(item.asked)),
            count(item.tokens),
            count(item.prompts),
            audit.price(item.usd, item.carried_tokens),
        )
        for one, item in [*ordered][:_MOST]
    ]
    price = "price" if audit.priced else "in all prompts"
    heads = columns("result", "asked", *map(number, ("tokens", "prompts", price)))
    if rows:
        note = "The price of a result counts every prompt that held it."
        yield table("The ten dearest results", heads, rows, note=note)


# ---------------------------------------------------------------- events


def _cache(audit: AuditReading) -> Iterator[Block]:
    """Yields each break: which turn, how many tokens were billed again, for what price, why."""
    judged = sum(one.cache.judged for one in audit.sessions)
    explained = sum(one.cache.explained for one in audit.sessions)
    if judged:
        share = explained / judged
        text = f"The cache model explains {count(explained)} of {of(judged, 'turn')} ({percent(share)})."
        below = " That is below 95%, so no cached price of an alternative is stated."
        yield Prose(text if share >= 0.95 else text + below)
        if not audit.breaks:
            yield muted(f"No break. {UNSEEN['cache']}")
    if not audit.breaks:
        return
    causes = Counter[str]()
    for _, item in audit.breaks:
        causes[item.cause] += item.tokens_again
    by_cause = listed([f"{cause} {count(tokens)}" for cause, tokens in causes.most_common()])
    yield Prose(f"Tokens billed again, by cause: {by_cause}.")
    rows = [
        (
            Cell(f"turn {item.turn}", audit.step(one, item.step)),
            Cell(item.cause, _idle(item)),
            count(item.tokens_again),
            dollars(item.usd) if item.usd is not None else "–",
        )
        for one, item in audit.each("cache.breaks", lambda item: (-item.tokens_again, item.turn))
    ]
    heads = columns("break", "why", number("tokens billed again"), number("price"))
    yield table("Cache breaks", heads, rows, most=_MOST * 2, noun="break", note=UNSEEN["cache"])


def _idle(item: CacheBreak) -> str:
    if item.idle_s is None:
        return ""
    return f"after {of(round(item.idle_s / 60), 'minute') if item.idle_s >= 120 else of(round(item.idle_s), 'second')}"


def _shortened(audit: AuditReading) -> Iterator[Block]:
    """Yields compactions, clearings and maskings, the rules that went, the results that were cut."""
    events, cuts = [*audit.each("shortenings")], [*audit.each("cuts", lambda item: (-item.needed, item.step))]
    kinds = Counter(item.kind for _, item in events)
    by = listed([of(many, kind) for kind, many in kinds.items()])
    text = f"The history was shortened by {by}." if events else "The history was never shortened."
    known = sum(bool(item.marker) for _, item in cuts)
    markers = f"{count(known)} of them known by {'its' if known == 1 else 'their'} marker"
    cut = (
        f"{of(len(cuts), 'result')} reached the model cut, {markers}."
        if cuts
        else "No result is known to have been cut."
    )
    yield Prose(f"{text} {cut}")
    if events:
        rows = [_shortening(audit.step(one, item.step), item) for one, item in events]
        names = ("before turn", "prompt tokens", "results dropped", "needed facts lost", "rules lost", "asked again")
        heads = columns("shortened", *map(number, names))
        yield table("History that was shortened", heads, rows, most=_MOST, noun="event", note=UNSEEN["facts"])
    if rules := dict.fromkeys(rule for _, item in events for rule in item.rules_dropped):
        lost = [(code(rule[:300], "bad"),) for rule in rules]
        heads = columns("standing rules that were lost")
        yield table("Rules lost", heads, lost, look="plain", most=_MOST, noun="rule", note=UNSEEN["rules"])
    if cuts:
        cut_rows = [
            (
                Cell(audit.step(one, item.step), item.function),
                code(brief(item.marker)) if item.marker else "full text recorded",
                _arrow(item.characters, item.seen_characters),
                _bad(item.needed),
            )
            for one, item in cuts
        ]
        heads = columns("cut result", "known by", number("characters"), number("facts used later"))
        note = f"{UNSEEN['facts']} Where only the marker is known, the missing part is not recorded."
        yield table("Results that were cut", heads, cut_rows, most=_MOST, noun="result", note=note)


def _shortening(place: str, item: Shortening) -> tuple[Cell | str, ...]:
    turn = "the end" if item.turn is None else count(item.turn)
    losses = (item.facts_lost, item.rules_dropped, item.asked_again)
    tokens = _arrow(item.tokens_before, item.tokens_after)
    return Cell(item.kind, place), turn, tokens, count(len(item.results_dropped)), *(_bad(len(lost)) for lost in losses)


def _rereads(audit: AuditReading) -> Iterator[Block]:
    """Yields the results that repeated an earlier one."""
    again = [*audit.each("rereads", lambda item: (-item.lines_same, item.step))]
    if not again:
        return
    why = Counter(item.why for _, item in again)
    words = listed([f"{_EARLIER[name]} ({count(many)})" for name, many in why.most_common()])
    yield Prose(f"{of(len(again), 'result')} repeated an earlier one, which {words}.")
    rows = [
        (
            audit.step(one, item.step),
            code(brief(item.asked)),
            f"step {item.earlier_step}",
            f"{count(item.lines_same)} of {count(item.lines)}",
            _EARLIER[item.why],
        )
        for one, item in again
    ]
    heads = columns("result", "asked", number("read before at"), number("lines the same"), "the earlier one")
    yield table("Results that were read twice", heads, rows, most=_MOST, noun="result", note=UNSEEN["rereads"])


def _trust(audit: AuditReading) -> Iterator[Block]:
    """Yields the data: what was read, counted, left out."""
    reported = sum(one.reported_turns for one in audit.sessions)
    if audit.calls:
        others = "; the others are counted here, their cache by the provider's rules"
        calls = f"{count(reported)} of {of(audit.calls, 'model call')}{'' if reported == audit.calls else others}."
        yield Prose(f"Tokens are as the provider reported them in {calls}")
    if stated := [one for one in audit.sessions if one.stated_usd is not None]:
        theirs, ours = sum(one.stated_usd or 0.0 for one in stated), sum(one.charges.usd or 0.0 for one in stated)
        verb = "states" if len(stated) == 1 else "state"
        yield Prose(f"{of(len(stated), 'session')} {verb} a price: {dollars(theirs)}, here {dollars(ours)}.")
    if audit.sessions and not audit.priced:
        yield Prose("No price is listed for a model of these sessions, so tokens decide every order.")
    kinds = Counter[str]()
    for one in audit.sessions:
        kinds.update(one.skipped)
    if kinds:
        names = [f"{count(many)} × {kind}" for kind, many in kinds.most_common(8)]
        yield Prose(f"Not understood and left out: {listed(names)}.")
    if audit.skipped:
        rows = [(code(item.path), item.reason) for item in audit.skipped]
        heads = columns("file not read", "reason")
        yield table("Files not read", heads, rows, look="plain", most=_MOST, noun="file")
    if not kinds and not audit.skipped:
        yield Prose("Nothing was left out.")


def _arrow(before: int | None, after: int | None) -> str:
    return " → ".join("not known" if value is None else count(value) for value in (before, after))


def _bad(many: int) -> Cell:
    """A count that is red where it is not 0."""
    return Cell((Span(count(many), "bad" if many else ""),))
