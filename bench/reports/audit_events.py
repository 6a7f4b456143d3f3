"""The events of an audit: cache breaks, history that was shortened, results that were read twice;
and what the figures rest on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..model.audit import Shortening
from .blocks import Block, Cell, Prose, Span, code, columns, number, table
from .numbers import count, dollars, listed, of, percent, shortened
from .panels.trust import files_not_read, not_understood
from .sessions import Sessions

UNSEEN = {
    "rules": "A rule kept in other words counts as missing; a rule that stands but is broken is not seen.",
    "facts": "Only what a later turn used is counted: a loss that changed what the model did is not seen.",
    "rereads": "A result that came back the same may have been asked for on purpose, to check a change.",
    "cache": "A provider may drop its cache at any time; a recording shows no cause of such a break.",
}  # fmt: skip
"""The limits of each figure of harm; they end the part that states the figure."""

_MOST = 10  # rows of a table
_EXPLAINED = 0.95  # of the turns; below, the cache model does not fit
_EARLIER = {"cut": "had been cut", "dropped": "had been dropped", "in prompt": "still in the prompt"}


def breaks(sessions: Sessions) -> Iterator[Block]:
    """Yields each break: which turn, how many tokens were billed again, for what price, why."""
    judged = sum(one.cache.judged for one in sessions.all)
    explained = sum(one.cache.explained for one in sessions.all)
    if judged:
        share = explained / judged
        text = f"The cache model explains {count(explained)} of {of(judged, 'turn')} ({percent(share)})."
        below = " That is below 95%, so no cached price of an alternative is stated."
        yield Prose(text if share >= _EXPLAINED else text + below)
    if not sessions.breaks:
        if judged:
            yield Prose(f"No break. {UNSEEN['cache']}")
        return
    causes = Counter[str]()
    for _, item in sessions.breaks:
        causes[item.cause] += item.tokens_again
    by_cause = listed([f"{cause} {count(tokens)}" for cause, tokens in causes.most_common()])
    yield Prose(f"Tokens billed again, by cause: {by_cause}.")
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
    yield table("Cache breaks", heads, rows, most=_MOST, noun="break", note=UNSEEN["cache"])


def _duration(seconds: float) -> str:
    return of(round(seconds / 60), "minute") if seconds >= 120 else of(round(seconds), "second")


def shortenings(sessions: Sessions) -> Iterator[Block]:
    """Yields compactions, clearings and maskings, the rules that went, the results that were cut."""
    if events := sessions.each("shortenings"):
        rows = [_shortening(sessions.place(one, item.step), item) for one, item in events]
        names = (
            "before turn", "prompt tokens", "results dropped", "needed facts lost", "rules lost",
            "asked again",
        )  # fmt: skip
        heads = columns("shortened", *map(number, names))
        name, note = "History that was shortened", UNSEEN["facts"]
        yield table(name, heads, rows, most=_MOST, noun="event", note=note)
    if rules := dict.fromkeys(rule for _, item in events for rule in item.rules_dropped):
        lost = [(code(rule[:300], "bad"),) for rule in rules]
        heads = columns("standing rules that were lost")
        note = UNSEEN["rules"]
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
        note = f"{UNSEEN['facts']} Where only the marker is known, the missing part is not recorded."
        yield table("Results that were cut", heads, cut_rows, most=_MOST, noun="result", note=note)


def _shortening(place: str, item: Shortening) -> tuple[Cell | str, ...]:
    turn = "the end" if item.turn is None else count(item.turn)
    tokens, dropped = _arrow(item.tokens_before, item.tokens_after), count(len(item.results_dropped))
    losses = (item.facts_lost, item.rules_dropped, item.asked_again)
    return Cell(item.kind, place), turn, tokens, dropped, *(_bad(len(lost)) for lost in losses)


def rereads(sessions: Sessions) -> Iterator[Block]:
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
    if rows:
        heads = columns("result", "asked", number("before"), number("lines the same"), "the earlier one")
        name, note = "Results that were read twice", UNSEEN["rereads"]
        yield table(name, heads, rows, most=_MOST, noun="result", note=note)


def trust(sessions: Sessions) -> Iterator[Block]:
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
        rest = "" if reported == sessions.calls else others
        yield f"Tokens are as the provider reported them in {calls}{rest}."
    if stated := [one for one in sessions.all if one.stated_usd is not None]:
        theirs = sum(one.stated_usd or 0.0 for one in stated)
        ours = sum(one.charges.usd or 0.0 for one in stated)
        verb = "states" if len(stated) == 1 else "state"
        yield f"{of(len(stated), 'session')} {verb} {dollars(theirs)}; counted here: {dollars(ours)}."
    if sessions.all and not sessions.priced:
        yield "A model of these sessions has no listed price, so tokens stand for dollars."


def _arrow(before: int | None, after: int | None) -> str:
    return " → ".join("not known" if value is None else count(value) for value in (before, after))


def _bad(many: int) -> Cell:
    """A count that is red where it is not 0."""
    return Cell((Span(count(many), "bad" if many else ""),))
