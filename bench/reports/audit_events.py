"""The events of an audit: cache breaks, shortened history, cut results, rereads, omissions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..model.audit import CacheBreak
from .audit_reading import MOST, AuditReading, Places
from .blocks import Block, Cell, Cells, Prose, Span, Table, code, columns, muted, number, table
from .numbers import count, dollars, listed, of, percent, shortened as brief

UNSEEN = {
    "rules": "A rule kept in other words counts as gone; a rule that stands but is broken is not seen.",
    "facts": "Only what a later turn said is counted: a loss that changed what the model did is not seen.",
    "rereads": "A result that came back the same may have been asked for on purpose, to check a change.",
    "cache": "A provider may drop its cache at any time; a recording shows no cause of such a break.",
}
"""The limits of each figure of harm; they end the part that states the figure."""

_EARLIER = {"cut": "had been cut", "dropped": "had been dropped", "in prompt": "still stood in the prompt"}


def cache(audit: AuditReading) -> Iterator[Block]:
    """Each break: which turn, how many tokens were billed again, for what price, why."""
    judged, explained = (audit.total(lambda one, name=name: getattr(one.cache, name)) for name in ("judged", "explained"))  # fmt: skip
    if judged:
        share = explained / judged
        text = f"The cache model explains {count(explained)} of {of(judged, 'turn')} ({percent(share)})."
        yield Prose(
            text if share >= 0.95 else f"{text} That is below 95%, so no cached price of an alternative is stated."
        )
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
        for one, item in sorted(audit.breaks, key=lambda pair: (-pair[1].tokens_again, pair[0].id, pair[1].turn))
    ]
    heads = columns("break", "why", number("tokens billed again"), number("price"))
    yield table("Cache breaks", heads, rows, most=MOST * 2, noun="break", note=UNSEEN["cache"])


def _idle(item: CacheBreak) -> str:
    if item.idle_s is None:
        return ""
    minutes = item.idle_s >= 120
    return f"after {count(round(item.idle_s / 60 if minutes else item.idle_s))} {'minutes' if minutes else 'seconds'}"


def shortened(audit: AuditReading) -> Iterator[Block]:
    """Compactions, clearings and maskings, the rules that went, the results that were cut."""
    events, cuts = audit.each("shortenings"), audit.each("cuts")
    kinds = Counter(item.kind for _, item in events)
    by = listed([of(many, kind) for kind, many in kinds.items()])
    text = f"The history was shortened by {by}." if events else "The history was never shortened."
    known = sum(bool(item.marker) for _, item in cuts)
    markers = f"{count(known)} of them known by {'its' if known == 1 else 'their'} marker"
    text += f" {of(len(cuts), 'result')} reached the model cut, {markers}." if cuts else " No result is known to have been cut."  # fmt: skip
    yield Prose(text)
    if events:
        yield _shortenings(audit, events)
    rules = dict.fromkeys(rule for _, item in events for rule in item.rules_dropped)
    if rules:
        rows = [(code(rule[:300], "bad"),) for rule in rules]
        heads = columns("standing rules that went")
        yield table("Standing rules that went", heads, rows, look="plain", most=MOST, noun="rule", note=UNSEEN["rules"])
    if cuts:
        yield _cuts(audit, cuts)


def _shortenings(audit: AuditReading, events: Places) -> Table:
    rows: list[Cells] = [
        (
            Cell(item.kind, audit.step(one, item.step)),
            "the end" if item.turn is None else count(item.turn),
            _arrow(item.tokens_before, item.tokens_after),
            count(len(item.results_dropped)),
            *(_bad(len(lost)) for lost in (item.facts_lost, item.rules_dropped, item.asked_again)),
        )
        for one, item in events
    ]
    names = ("before turn", "prompt tokens", "results gone", "needed facts gone", "rules gone", "asked again")
    heads = columns("shortened", *map(number, names))
    return table("History that was shortened", heads, rows, most=MOST, noun="event", note=UNSEEN["facts"])


def _cuts(audit: AuditReading, cuts: Places) -> Table:
    rows = [
        (
            Cell(audit.step(one, item.step), item.function),
            code(brief(item.marker)) if item.marker else "full text recorded",
            _arrow(item.characters, item.seen_characters),
            _bad(item.needed),
        )
        for one, item in sorted(cuts, key=lambda pair: (-pair[1].needed, pair[0].id, pair[1].step))
    ]
    heads = columns("cut result", "known by", number("characters"), number("facts used later"))
    note = f"{UNSEEN['facts']} Where only the marker is known, what was cut is not recorded."
    return table("Results that were cut", heads, rows, most=MOST, noun="result", note=note)


def rereads(audit: AuditReading) -> Iterator[Block]:
    """Results that gave again what an earlier one had given, by why."""
    events = audit.each("rereads")
    if not events:
        return
    why = Counter(item.why for _, item in events)
    words = listed([f"{_EARLIER[name]} ({count(many)})" for name, many in why.most_common()])
    yield Prose(f"{of(len(events), 'result')} repeated an earlier one, which {words}.")
    rows = [
        (
            audit.step(one, item.step),
            code(brief(item.asked)),
            f"step {item.earlier_step}",
            f"{count(item.lines_same)} of {count(item.lines)}",
            _EARLIER[item.why],
        )
        for one, item in events
    ]
    heads = columns("result", "asked", number("read before at"), number("lines the same"), "the earlier one")
    yield table("Results that were read twice", heads, rows, most=MOST, noun="result", note=UNSEEN["rereads"])


def trust(audit: AuditReading) -> Iterator[Block]:
    """The data: what was read, counted, left out."""
    reported = audit.total(lambda one: one.reported_turns)
    if audit.calls:
        others = (
            "." if reported == audit.calls else "; the others are counted here, their cache by the provider's rules."
        )
        calls = f"{count(reported)} of {of(audit.calls, 'model call')}"
        yield Prose(f"Tokens are as the provider reported them in {calls}{others}")
    stated = [one for one in audit.sessions if one.stated_usd is not None]
    if stated:
        theirs, ours = (dollars(sum(values)) for values in ([one.stated_usd or 0.0 for one in stated], [one.charges.usd or 0.0 for one in stated]))  # fmt: skip
        verb = "states" if len(stated) == 1 else "state"
        yield Prose(f"{of(len(stated), 'session')} {verb} a price: {theirs}, here {ours}.")
    if audit.sessions and not audit.priced:
        yield Prose("No price is listed for a model of these sessions, so tokens decide every order.")
    skipped: Counter[str] = Counter()
    for one in audit.sessions:
        skipped.update(one.skipped)
    if skipped:
        kinds = [f"{count(many)} × {kind}" for kind, many in skipped.most_common(8)]
        yield Prose(f"Not understood and left out: {listed(kinds)}.")
    if audit.skipped:
        rows = [(code(item.path), item.reason) for item in audit.skipped]
        yield table("Files not read", columns("file not read", "reason"), rows, look="plain", most=MOST, noun="file")
    if not skipped and not audit.skipped:
        yield Prose("Nothing was left out.")


def _arrow(before: int | None, after: int | None) -> str:
    return " → ".join("not known" if value is None else count(value) for value in (before, after))


def _bad(many: int) -> Cell:
    """A count that is red where it is not 0."""
    return Cell((Span(count(many), "bad" if many else ""),))
