"""The losses in recorded sessions: cache breaks, history that was shortened, results read twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...model.audit import CutResult, Shortening
from ..blocks import Block, Cell, Heads, Prose, Table, code, number, table
from ..numbers import count, counted, dollars, percent, shortened
from .sessions import OfSession, Sessions

UNSEEN = {
    "rules": "A rule kept in other words counts as missing; a rule that stands but is broken is not seen.",
    "facts": "Only what a later turn used is counted: a loss that changed what the model did is not seen.",
    "rereads": "A result that came back the same may have been asked for on purpose, to check a change.",
    "cache": "A provider may drop its cache at any time; a recording shows no cause of such a break.",
}  # fmt: skip
"""The limits of each figure of harm, stated at the end of its section."""

_MOST = 10  # rows of a table
_EXPLAINED = 0.95  # of the turns; below, the cache model does not fit
_SHORTENED = (
    "before turn", "prompt tokens", "results dropped", "needed facts lost", "rules lost", "asked again",
)  # fmt: skip
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
        text = f"The cache model explains {count(explained)} of {counted(judged, 'turn')} ({percent(explained / judged)})."
        below = " That is below 95%, so no cached price of an alternative is stated."
        yield Prose(text if explained / judged >= _EXPLAINED else text + below)
    rows = [
        (
            Cell(f"turn {item.turn}", sessions.place(one, item.step)),
            Cell(
                item.cause,
                f"after {counted(round(item.idle_s / 60), 'minute')}" if item.idle_s else "",
            ),
            count(item.tokens_again),
            "–" if item.usd is None else dollars(item.usd),
        )
        for one, item in sessions.breaks
    ]
    heads: Heads = ["break", "why", number("tokens billed again"), number("price")]
    if rows:
        yield table("Cache breaks", heads, rows, most=_MOST, noun="break", note=UNSEEN["cache"])
    elif judged:
        yield Prose(f"No break. {UNSEEN['cache']}")


def losses(sessions: Sessions) -> Iterator[Block]:
    """Yield tables of histories that were shortened, rules that were lost, results that were
    truncated."""
    if events := sessions.each("shortenings"):
        rows = [_shortening(sessions.place(one, item.step), item) for one, item in events]
        heads: Heads = ["shortened", *map(number, _SHORTENED)]
        name = "History that was shortened"
        yield table(name, heads, rows, most=_MOST, noun="event", note=UNSEEN["facts"])
    if rules := dict.fromkeys(rule for _, item in events for rule in item.rules_dropped):
        lost = [(code(rule[:300], "bad"),) for rule in rules]
        heads, note = ["standing rules that were lost"], UNSEEN["rules"]
        yield table("Rules lost", [*heads], lost, look="plain", most=_MOST, noun="rule", note=note)
    if cuts := sessions.each("cuts"):
        yield _cuts(
            sessions, sorted(cuts, key=lambda it: (-it.item.needed, it.item.step, it.session.id))
        )


def _cuts(sessions: Sessions, cuts: Sequence[OfSession[CutResult]]) -> Table:
    """The table of results that were truncated."""
    rows = [
        (
            Cell(sessions.place(one, item.step), item.function),
            code(shortened(item.marker)) if item.marker else "full text recorded",
            _arrow(item.characters, item.seen_characters),
            _bad(item.needed),
        )
        for one, item in cuts
    ]
    heads: Heads = ["cut result", "known by", number("characters"), number("facts used later")]
    note = f"{UNSEEN['facts']} Where only the marker is known, the missing part is not recorded."
    return table("Results that were cut", heads, rows, most=_MOST, noun="result", note=note)


def _shortening(place: str, item: Shortening) -> tuple[Cell | str, ...]:
    """The row of a history that was shortened."""
    turn = "the end" if item.turn is None else count(item.turn)
    tokens = _arrow(item.tokens_before, item.tokens_after)
    dropped = count(len(item.results_dropped))
    losses = (item.facts_lost, item.rules_dropped, item.asked_again)
    return Cell(item.kind, place), turn, tokens, dropped, *(_bad(len(lost)) for lost in losses)


def _arrow(before: int | None, after: int | None) -> str:
    return " → ".join("not known" if value is None else count(value) for value in (before, after))


def _bad(many: int) -> Cell:
    """A count that is red where it is not 0."""
    return Cell(count(many), tone="bad" if many else "")


def rereads(sessions: Sessions) -> Iterator[Block]:
    """Yield a table of the results that repeat an earlier one."""
    again = sessions.each("rereads")
    again.sort(key=lambda it: (-it.item.lines_same, it.item.step, it.session.id))
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
    heads: Heads = [
        "result",
        "asked",
        number("before"),
        number("lines the same"),
        "the earlier one",
    ]
    if rows:
        note = UNSEEN["rereads"]
        yield table(
            "Results that were read twice", heads, rows, most=_MOST, noun="result", note=note
        )
