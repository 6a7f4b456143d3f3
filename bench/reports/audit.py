"""An audit as a report: the cost of recorded sessions, their cache, and what was cut from them."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from ..model.audit import SessionAudit, Shortening
from ..model.base import json_bytes
from ..model.compared import Skipped
from ..model.errors import BenchError, nearest
from .blocks import (
    Block,
    Cell,
    Cells,
    Drawing,
    Figure,
    Figures,
    Prose,
    Report,
    Section,
    Span,
    Table,
    code,
    columns,
    number,
    table,
)
from .charts import Histogram, Mark
from .numbers import change, count, dollars, listed, of, percent, shortened
from .panels.trust import files_not_read, not_understood
from .sessions import Sessions

FORMATS = {"html": "html", "markdown": "markdown", "text": "text"}
"""The formats of an audit beside JSON: the module that writes each."""

UNSEEN = {
    "rules": "A rule kept in other words counts as missing; a rule that stands but is broken is not seen.",
    "facts": "Only what a later turn used is counted: a loss that changed what the model did is not seen.",
    "rereads": "A result that came back the same may have been asked for on purpose, to check a change.",
    "cache": "A provider may drop its cache at any time; a recording shows no cause of such a break.",
}  # fmt: skip
"""The limits of each figure of harm; they end the part that states the figure."""

_MOST = 10  # rows of a table
_BARS = 100  # turns; of more, several share a bar
_EXPLAINED = 0.95  # of the turns; below, the cache model does not fit
_EARLIER = {
    "cut": "had been cut",
    "dropped": "had been dropped",
    "in prompt": "still in the prompt",
}


def audit_rendered(
    sessions: Sequence[SessionAudit], form: str, skipped: Sequence[Skipped] = ()
) -> str:
    """An audit in a format: html, markdown, text, or json (the values as they are).

    Raises BenchError for another.
    """
    if require_form(form) == "json":
        values = {"sessions": sessions, "skipped": skipped}
        return msgspec.json.format(json_bytes(values), indent=1).decode() + "\n"
    writer = importlib.import_module(f".{FORMATS[form]}", __package__)
    return "".join(writer.render([audit_report(sessions, skipped)]))


def require_form(form: str) -> str:
    """A format that an audit can be written in. Raises BenchError for another."""
    if form not in FORMATS and form != "json":
        raise BenchError(f"unknown format {form!r} of an audit{nearest(form, [*FORMATS, 'json'])}")
    return form


def audit_report(audits: Sequence[SessionAudit], skipped: Sequence[Skipped] = ()) -> Report:
    """The audit of some sessions as a report; without any, the files that could not be read."""
    sessions = Sessions(tuple(audits), tuple(skipped))
    subject = shortened(audits[0].id, 40) if len(audits) == 1 else of(len(audits), "session")
    formats = sorted({one.format for one in audits if one.format})
    models = sorted({one.model for one in audits if one.model})
    about = [listed(formats, 3), listed(models, 3), of(sessions.calls, "model call")]
    parts = (
        ("cost", "Cost", "Cost", _cost(sessions)),
        ("turns", "By turn", "Cost by turn", _turns(sessions)),
        ("contents", "Prompts", "Parts of the prompts", _parts(sessions)),
        ("dearest", "Dearest results", "The ten dearest results", _dearest(sessions)),
        ("cache", "Cache breaks", "Cache breaks", _breaks(sessions)),
        ("shortened", "Shortened", "What was shortened or cut", _losses(sessions)),
        ("rereads", "Read twice", "Results that were read twice", _rereads(sessions)),
        ("trust", "Trust", "Trust", _trust(sessions)),
    )
    sections = (
        Section(anchor, name, heading, tuple(blocks)) for anchor, name, heading, blocks in parts
    )
    title = f"Where did the tokens of {subject} go?"
    shown = tuple(section for section in sections if section.blocks)
    return Report(title, " · ".join(filter(None, about)), sessions.verdict, shown)


# ---------------------------------------------------------------- costs


def _cost(sessions: Sessions) -> Iterator[Block]:
    """Yields the sentence, three figures, the cost by use, the sessions."""
    head, _, rest = sessions.verdict.partition(". ")
    yield Prose(
        (Span(f"{head}." if rest else head, strong=True), f" {rest}" if rest else ""), "lead"
    )
    if sessions.all:
        yield from (Figures(tuple(_figures(sessions))), _uses(sessions))
    if len(sessions.all) > 1:
        yield _by_session(sessions)


def _figures(sessions: Sessions) -> Iterator[Figure]:
    name = "Price" if sessions.priced else "Tokens"
    each = f"{sessions.words(sessions.size / (sessions.calls or 1))} a model call"
    yield Figure(name, sessions.words(sessions.size).removesuffix(" tokens"), line=each)
    if sessions.minimum:
        now, least = sessions.minimum
        line = f"{sessions.words(now)} → {sessions.words(least)} by replay"
        note = "prompts with nothing but what later turns used"
        yield Figure("Theoretical minimum", change(least / now), "", line, note)
    else:
        yield Figure("Theoretical minimum", "not known", "", "nothing to replay")
    items = [item for _, item in sessions.breaks]
    line = f"{count(sum(item.tokens_again for item in items))} tokens billed again"
    usd = dollars(sum(item.usd or 0.0 for item in items)) if sessions.priced and items else ""
    yield Figure("Cache breaks", count(len(items)), "bad" if items else "", line, usd)


def _uses(sessions: Sessions) -> Table:
    """A row by what tokens were billed as."""

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
    return table(
        "Cost by use", columns("billed as", *map(number, ("tokens", "price", "share"))), rows
    )


def _priced(sessions: Sessions, tokens: float, usd: float, size: float) -> tuple[str, str]:
    """A price (nothing where sessions are not priced), and its share of a size."""
    share = percent((usd if sessions.priced else tokens) / size) if size else "–"
    return dollars(usd) if sessions.priced else "", share


def _by_session(sessions: Sessions) -> Table:
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
    return table(
        "Sessions", columns("session", *map(number, names)), rows, most=_MOST * 3, noun="session"
    )


def _turns(sessions: Sessions) -> Iterator[Block]:
    """Yields a bar by turn of the dearest session; turns with a cache break are red."""
    if not sessions.calls:
        return
    one = max(sessions.all, key=lambda item: sessions.size_of(item.charges))
    sizes = [sessions.size_of(turn.charges) for turn in one.turns]
    wide = -(-len(sizes) // _BARS)
    sums = tuple(sum(sizes[at : at + wide]) for at in range(0, len(sizes), wide))
    broken = {(item.turn - 1) // wide for item in one.cache.breaks}
    marks: tuple[Mark, ...] = tuple(
        "rejected" if at in broken else "other" for at in range(len(sums))
    )
    labels = ["turn 1", *[""] * (len(sums) - 1)]
    if len(sums) > 4:
        labels[-1] = count(len(sizes))
    name = sessions.names[one.id]
    alt = f"{name}: {of(len(sizes), 'turn')}, the dearest {sessions.words(max(sizes))}"
    if one.cache.breaks:
        alt += (
            f", cache breaks at turns {listed([str(item.turn) for item in one.cache.breaks], 12)}"
        )
    notes = ["Red: the cache broke."] if broken else []
    notes += [f"Each bar is {wide} turns."] if wide > 1 else []
    notes += [f"The dearest session, {name}."] if len(sessions.all) > 1 else []
    unit = "usd" if sessions.priced else "tokens"
    yield Drawing(
        Histogram(alt, sums, tuple(labels), marks, unit=unit, wide=True), note=" ".join(notes)
    )


def _parts(sessions: Sessions) -> Iterator[Block]:
    """Yields the parts of the prompts: each tool's results, and messages by kind."""
    sums: dict[str, list[float]] = {}
    for _, part in sessions.each("parts"):
        total = sums.setdefault(f"results of {part.name}" if part.tool else part.name, [0.0] * 4)
        for at, value in enumerate(
            (part.messages, part.tokens, part.carried_tokens, part.usd or 0)
        ):
            total[at] += value
    by = 3 if sessions.priced else 2
    size = sum(values[by] for values in sums.values())
    rows = [
        (
            name,
            *(count(round(value)) for value in values[:3]),
            *_priced(sessions, values[2], values[3], size),
        )
        for name, values in sorted(sums.items(), key=lambda item: (-item[1][by], item[0]))
    ]
    heads = columns(
        "part", *map(number, ("messages", "tokens once", "in all prompts", "price", "share"))
    )
    if rows:
        yield table("Parts of the prompts", heads, rows, most=_MOST, noun="part")


def _dearest(sessions: Sessions) -> Iterator[Block]:
    """Yields the results that cost most over the rest of their run."""
    sizes = [
        ((item.usd or 0.0) if sessions.priced else float(item.carried_tokens), one, item)
        for one, item in sessions.each("dearest")
    ]
    sizes.sort(key=lambda entry: (-entry[0], entry[2].step, entry[1].id))
    rows = [
        (
            Cell(sessions.place(one, item.step), item.function),
            code(shortened(item.asked)),
            count(item.tokens),
            count(item.prompts),
            sessions.words(size),
        )
        for size, one, item in sizes[:_MOST]
    ]
    price = "price" if sessions.priced else "in all prompts"
    heads = columns("result", "asked", *map(number, ("tokens", "prompts", price)))
    if rows:
        note = "The price of a result counts every prompt that held it."
        yield table("The ten dearest results", heads, rows, note=note)


# ---------------------------------------------------------------- cache, losses


def _breaks(sessions: Sessions) -> Iterator[Block]:
    """Yields the fit of the cache model, the causes, and each break: which turn, how much, why."""
    judged, explained = (
        sum(getattr(one.cache, name) for one in sessions.all) for name in ("judged", "explained")
    )
    if judged:
        text = f"The cache model explains {count(explained)} of {of(judged, 'turn')} ({percent(explained / judged)})."
        below = " That is below 95%, so no cached price of an alternative is stated."
        yield Prose(text if explained / judged >= _EXPLAINED else text + below)
    if sessions.breaks:
        yield from (_causes(sessions), _break_table(sessions))
    elif judged:
        yield Prose(f"No break. {UNSEEN['cache']}")


def _causes(sessions: Sessions) -> Prose:
    """The tokens billed again, by cause."""
    causes = Counter[str]()
    for _, item in sessions.breaks:
        causes[item.cause] += item.tokens_again
    by_cause = listed([f"{cause} {count(tokens)}" for cause, tokens in causes.most_common()])
    return Prose(f"Tokens billed again, by cause: {by_cause}.")


def _break_table(sessions: Sessions) -> Table:
    """A row by cache break, the dearest first."""
    rows = [
        (
            Cell(f"turn {item.turn}", sessions.place(one, item.step)),
            Cell(item.cause, "" if item.idle_s is None else f"after {_duration(item.idle_s)}"),
            count(item.tokens_again),
            "–" if item.usd is None else dollars(item.usd),
        )
        for one, item in sessions.breaks
    ]
    heads = columns("break", "why", number("tokens billed again"), number("price"))
    return table("Cache breaks", heads, rows, most=_MOST, noun="break", note=UNSEEN["cache"])


def _duration(seconds: float) -> str:
    return of(round(seconds / 60), "minute") if seconds >= 120 else of(round(seconds), "second")


def _losses(sessions: Sessions) -> Iterator[Block]:
    """Yields compactions, clearings and maskings, the rules that went, the results that were cut."""
    if events := sessions.each("shortenings"):
        rows = [_shortening(sessions.place(one, item.step), item) for one, item in events]
        names = (
            "before turn",
            "prompt tokens",
            "results dropped",
            "needed facts lost",
            "rules lost",
            "asked again",
        )
        heads = columns("shortened", *map(number, names))
        yield table(
            "History that was shortened",
            heads,
            rows,
            most=_MOST,
            noun="event",
            note=UNSEEN["facts"],
        )
    if rules := dict.fromkeys(rule for _, item in events for rule in item.rules_dropped):
        lost = [(code(rule[:300], "bad"),) for rule in rules]
        heads, note = columns("standing rules that were lost"), UNSEEN["rules"]
        yield table("Rules lost", heads, lost, look="plain", most=_MOST, noun="rule", note=note)
    if cuts := sessions.each("cuts"):
        cuts.sort(key=lambda pair: (-pair[1].needed, pair[1].step, pair[0].id))
        cut_rows = [
            (
                Cell(sessions.place(one, item.step), item.function),
                code(shortened(item.marker)) if item.marker else "full text recorded",
                _arrow(item.characters, item.seen_characters),
                _bad(item.needed),
            )
            for one, item in cuts
        ]
        heads = columns("cut result", "known by", number("characters"), number("facts used later"))
        note = (
            f"{UNSEEN['facts']} Where only the marker is known, the missing part is not recorded."
        )
        yield table("Results that were cut", heads, cut_rows, most=_MOST, noun="result", note=note)


def _shortening(place: str, item: Shortening) -> tuple[Cell | str, ...]:
    turn = "the end" if item.turn is None else count(item.turn)
    tokens = _arrow(item.tokens_before, item.tokens_after)
    dropped = count(len(item.results_dropped))
    losses = (item.facts_lost, item.rules_dropped, item.asked_again)
    return Cell(item.kind, place), turn, tokens, dropped, *(_bad(len(lost)) for lost in losses)


def _arrow(before: int | None, after: int | None) -> str:
    return " → ".join("not known" if value is None else count(value) for value in (before, after))


def _bad(many: int) -> Cell:
    """A count that is red where it is not 0."""
    return Cell((Span(count(many), "bad" if many else ""),))


def _rereads(sessions: Sessions) -> Iterator[Block]:
    """Yields the results that repeated an earlier one."""
    again = sessions.each("rereads")
    again.sort(key=lambda pair: (-pair[1].lines_same, pair[1].step, pair[0].id))
    rows = [
        (
            sessions.place(one, item.step),
            code(shortened(item.asked)),
            f"step {item.earlier_step}",
            f"{count(item.lines_same)} of {count(item.lines)}",
            _EARLIER[item.why],
        )
        for one, item in again
    ]
    heads = columns(
        "result", "asked", number("before"), number("lines the same"), "the earlier one"
    )
    if rows:
        note = UNSEEN["rereads"]
        yield table(
            "Results that were read twice", heads, rows, most=_MOST, noun="result", note=note
        )


# ---------------------------------------------------------------- trust


def _trust(sessions: Sessions) -> Iterator[Block]:
    """Yields what was reported, stated and left out."""
    for text in _counted(sessions):
        yield Prose(text)
    left_out = [*not_understood(one.skipped for one in sessions.all)]
    if sessions.all and not any(one.shortenings or one.cuts for one in sessions.all):
        yield Prose("No history was shortened, and no result is known to have been cut.")
    if left_out or not sessions.skipped:
        yield Prose(left_out[0] if left_out else "Nothing was left out.")
    if sessions.skipped:
        yield files_not_read(sessions.skipped)


def _counted(sessions: Sessions) -> Iterator[str]:
    """Yields the origin of the tokens and of the price."""
    if sessions.calls:
        reported = sum(one.reported_turns for one in sessions.all)
        calls = f"{count(reported)} of {of(sessions.calls, 'model call')}"
        others = "; the others are counted here, their cache by the provider's rules"
        yield f"Tokens are as the provider reported them in {calls}{'' if reported == sessions.calls else others}."
    if stated := [one for one in sessions.all if one.stated_usd is not None]:
        theirs = sum(one.stated_usd or 0.0 for one in stated)
        ours = sum(one.charges.usd or 0.0 for one in stated)
        verb = "states" if len(stated) == 1 else "state"
        yield f"{of(len(stated), 'session')} {verb} {dollars(theirs)}; counted here: {dollars(ours)}."
    if sessions.all and not sessions.priced:
        yield "A model of these sessions has no listed price, so tokens stand for dollars."
