"""The events of an audit.

Cache breaks, shortened history, cut results, results read twice, what was left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..model.audit import CacheBreak
from .audit_reading import MOST, AuditReading, arrow, bad_count, more, shortened_text
from .blocks import (
    Block,
    Cell,
    Column,
    Prose,
    Row,
    Span,
    Table,
)
from .numbers import count, dollars, listed, of, percent

UNSEEN = {
    "rules": "A rule that stands on in other words counts as gone; one that the model breaks although it stands there is not seen.",
    "facts": "Only what a later turn said is counted: a loss that made the model do something else is not seen.",
    "rereads": "A result that came back the same may have been asked for on purpose, to check a change.",
    "cache": "A provider may drop what it cached at any time; such a break has no cause that a recording shows.",
}
"""What each figure of harm cannot see; it ends the part that states the figure."""


def cache(audit: AuditReading) -> Iterator[Block]:
    """Each break: which turn, how many tokens were billed again, for what price, why."""
    judged, explained = (
        sum(one.cache.judged for one in audit.sessions),
        sum(one.cache.explained for one in audit.sessions),
    )
    if not judged and not audit.breaks:
        return
    if judged:
        share = explained / judged
        text = f"The cache model explains {count(explained)} of {of(judged, 'turn')} ({percent(share)})."
        yield Prose(
            text if share >= 0.95 else f"{text} That is below 95%, so no cached price of an alternative is stated."
        )
    if not audit.breaks:
        yield Prose((Span(f"No break. {UNSEEN['cache']}", "muted"),))
        return
    causes = Counter[str]()
    for _, item in audit.breaks:
        causes[item.cause] += item.tokens_again
    yield Prose(
        f"Tokens billed again, by cause: {listed([f'{cause} {count(number)}' for cause, number in causes.most_common()])}."
    )
    ordered = sorted(audit.breaks, key=lambda pair: (-pair[1].tokens_again, pair[0].id, pair[1].turn))
    rows = tuple(
        Row((Cell(f"turn {item.turn}", audit.step(one, item.step)), Cell(item.cause, _idle(item)), Cell(count(item.tokens_again)), Cell(dollars(item.usd) if item.usd is not None else "–")))
        for one, item in ordered[: MOST * 2]
    )  # fmt: skip
    columns = (
        Column("break"),
        Column("why"),
        Column("tokens billed again", True),
        Column("price", True),
    )
    yield Table(
        "Cache breaks",
        columns,
        rows,
        "cards",
        " ".join(filter(None, [more(len(ordered) - MOST * 2, "break"), UNSEEN["cache"]])),
    )


def shortened(audit: AuditReading) -> Iterator[Block]:
    """Compactions, clearings and maskings, the rules that went, the results that were cut."""
    events, cuts = audit.each("shortenings"), audit.each("cuts")
    kinds = Counter(item.kind for _, item in events)
    text = (
        f"The history was shortened by {listed([of(number, kind) for kind, number in kinds.items()])}."
        if events
        else "The history was never shortened."
    )
    known = sum(bool(item.marker) for _, item in cuts)
    text += (
        f" {of(len(cuts), 'result')} reached the model cut, {count(known)} of them known by {'its' if known == 1 else 'their'} marker."
        if cuts
        else " No result is known to have been cut."
    )
    yield Prose(text)
    if events:
        rows = tuple(
            Row((Cell(item.kind, audit.step(one, item.step)), Cell("the end" if item.turn is None else count(item.turn)), Cell(arrow(item.tokens_before, item.tokens_after)),
                 Cell(count(len(item.results_gone))), bad_count(len(item.facts_lost)), bad_count(len(item.rules_gone)), bad_count(len(item.asked_again))))
            for one, item in events[:MOST]
        )  # fmt: skip
        heads = (
            Column("shortened"),
            Column("before turn", True),
            Column("prompt tokens", True),
            Column("results gone", True),
            Column("needed facts gone", True),
            Column("rules gone", True),
            Column("asked again", True),
        )
        yield Table(
            "History that was shortened",
            heads,
            rows,
            "cards",
            " ".join(filter(None, [more(len(events) - MOST, "event"), UNSEEN["facts"]])),
        )
    rules = list(dict.fromkeys(rule for _, item in events for rule in item.rules_gone))
    if rules:
        quoted = tuple(Row((Cell((Span(rule[:300], "bad", code=True),)),)) for rule in rules[:MOST])
        yield Table(
            "Standing rules that went",
            (Column("standing rules that went"),),
            quoted,
            "plain",
            " ".join(filter(None, [more(len(rules) - MOST, "rule"), UNSEEN["rules"]])),
        )
    if cuts:
        cuts.sort(key=lambda pair: (-pair[1].needed, pair[0].id, pair[1].step))
        rows = tuple(
            Row((Cell(audit.step(one, item.step), item.function), Cell((Span(shortened_text(item.marker), code=True),) if item.marker else "full text recorded"),
                 Cell(arrow(item.characters, item.seen_characters)), bad_count(item.needed)))
            for one, item in cuts[:MOST]
        )  # fmt: skip
        columns = (
            Column("cut result"),
            Column("known by"),
            Column("characters", True),
            Column("facts used later", True),
        )
        yield Table(
            "Results that were cut",
            columns,
            rows,
            "cards",
            " ".join(
                filter(
                    None,
                    [
                        more(len(cuts) - MOST, "result"),
                        UNSEEN["facts"],
                        "Where only the marker is known, what was cut is not recorded.",
                    ],
                )
            ),
        )


def rereads(audit: AuditReading) -> Iterator[Block]:
    """Results that gave again what an earlier one had given, by why."""
    found = audit.each("rereads")
    if not found:
        return
    why = Counter(item.why for _, item in found)
    words = {
        "cut": "had been cut",
        "dropped": "had been dropped",
        "in prompt": "still stood in the prompt",
    }
    yield Prose(
        f"{of(len(found), 'result')} repeated an earlier one, which {listed([f'{words[name]} ({count(number)})' for name, number in why.most_common()])}."
    )
    rows = tuple(
        Row((Cell(audit.step(one, item.step)), Cell((Span(shortened_text(item.asked), code=True),) if item.asked else "–"), Cell(f"step {item.earlier_step}"), Cell(f"{count(item.lines_same)} of {count(item.lines)}"), Cell(words[item.why])))
        for one, item in found[:MOST]
    )  # fmt: skip
    columns = (
        Column("result"),
        Column("asked"),
        Column("read before at", True),
        Column("lines the same", True),
        Column("the earlier one"),
    )
    yield Table(
        "Results that were read twice",
        columns,
        rows,
        "cards",
        " ".join(filter(None, [more(len(found) - MOST, "result"), UNSEEN["rereads"]])),
    )


def trust(audit: AuditReading) -> Iterator[Block]:
    """What was read, counted, left out."""
    turns, reported = (
        sum(len(one.turns) for one in audit.sessions),
        sum(one.reported_turns for one in audit.sessions),
    )
    if turns:
        yield Prose(
            f"Tokens are as the provider reported them in {count(reported)} of {of(turns, 'model call')}"
            + ("." if reported == turns else "; the others are counted here, their cache by the provider's rules.")
        )
    stated = [one for one in audit.sessions if one.stated_usd is not None]
    if stated:
        yield Prose(
            f"{of(len(stated), 'session')} state{'s' if len(stated) == 1 else ''} a price: {dollars(sum(one.stated_usd or 0.0 for one in stated))}, here {dollars(sum(one.charges.usd or 0.0 for one in stated))}."
        )
    if audit.sessions and not audit.priced:
        yield Prose("No price is listed for a model of these sessions, so tokens decide every order.")
    skipped: Counter[str] = Counter()
    for one in audit.sessions:
        skipped.update(one.skipped)
    if skipped:
        yield Prose(
            f"Not understood and left out: {listed([f'{count(number)} × {kind}' for kind, number in skipped.most_common(8)])}."
        )
    if audit.skipped:
        rows = tuple(Row((Cell((Span(item.path, code=True),)), Cell(item.reason))) for item in audit.skipped[:MOST])
        yield Table(
            "Files that were not read",
            (Column("file not read"), Column("reason")),
            rows,
            "plain",
            more(len(audit.skipped) - MOST, "file"),
        )
    if not skipped and not audit.skipped:
        yield Prose("Nothing was left out.")


def _idle(item: CacheBreak) -> str:
    if item.idle_s is None:
        return ""
    return (
        f"after {count(round(item.idle_s / 60))} minutes"
        if item.idle_s >= 120
        else f"after {count(round(item.idle_s))} seconds"
    )
