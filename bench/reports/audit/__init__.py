"""An audit as a report: the cost of recorded sessions, their cache, and what was cut from them."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from ...comparison.wording import against_reported, change
from ...model.audit import SessionAudit
from ...model.base import json_bytes
from ...model.compared import Skipped
from ...text.wording import count, counted, dollars, listed, shortened
from ..blocks import Block, Prose, Report, Section, Table
from ..panels.trust import files_not_read, not_understood
from .costs import cost, dearest, parts, turns
from .losses import breaks, losses, rereads
from .sessions import Sessions

FORMATS = "html", "markdown", "json"
"""The formats of an audit."""


def audit_rendered(
    sessions: Sequence[SessionAudit], form: str, skipped: Sequence[Skipped] = ()
) -> str:
    """An audit in one of `FORMATS`; JSON has the values, after the first line of every output."""
    if form == "json":
        first_line = Sessions(tuple(sessions), tuple(skipped)).verdict
        values = {"first_line": first_line, "sessions": sessions, "skipped": skipped}
        return msgspec.json.format(json_bytes(values), indent=1).decode() + "\n"
    writer = importlib.import_module(f"..{form}", __package__)
    return "".join(writer.render([audit_report(sessions, skipped)]))


def audit_report(audits: Sequence[SessionAudit], skipped: Sequence[Skipped] = ()) -> Report:
    """The audit of some sessions as a report; without any, the files that could not be read."""
    sessions = Sessions(tuple(audits), tuple(skipped))
    subject = shortened(audits[0].id, 40) if len(audits) == 1 else counted(len(audits), "session")
    formats = sorted({one.format for one in audits if one.format})
    models = sorted({one.model or "no model named" for one in audits})
    calls, every = sessions.calls, sum(map(sessions.calls_of, audits))
    of = f"{count(calls)} of " if calls < every else ""
    about = [listed(formats, 3), listed(models, 3), f"{of}{counted(every, 'model call')}"]
    sections = (
        ("cost", "Cost", cost(sessions)),
        ("turns", "Cost by turn", turns(sessions)),
        ("contents", "Parts of prompts", parts(sessions)),
        ("dearest", "Dearest results", dearest(sessions)),
        ("cache", "Cache breaks", breaks(sessions)),
        ("shortened", "Shortened, cut", losses(sessions)),
        ("rereads", "Read twice", rereads(sessions)),
        ("trust", "Trust", _trust(sessions)),
    )
    title = f"Where did the tokens of {subject} go?"
    shown = tuple(
        Section(anchor, name, blocks)
        for anchor, name, given in sections
        if (blocks := tuple(it for it in given if not isinstance(it, Table) or it.rows))
    )
    return Report(title, " · ".join(filter(None, about)), sessions.verdict, shown)


def _trust(sessions: Sessions) -> Iterator[Block]:
    """Yield the sources of the numbers, and what was left out."""
    for text in _counted(sessions):
        yield Prose(text)
    left_out = [*not_understood(one.skipped for one in sessions.all)]
    if sessions.all and not any(one.shortenings or one.cuts for one in sessions.all):
        yield Prose("No history was shortened, and no result is known to have been cut.")
    if left_out or not sessions.skipped:
        yield Prose(left_out[0] if left_out else "Nothing was left out.")
    yield files_not_read(sessions.skipped)


def _replayed(sessions: Sessions) -> Iterator[str]:
    """Yield a sentence on the tokens that a replay counts against those that were reported."""
    tokens = {
        sessions.names[one.id]: (one.replayed.prompt_tokens, one.charges.prompt_tokens)
        for one in sessions.sized
        if one.replayed and one.charges.prompt_tokens
    }
    ratios = {name: ours / theirs for name, (ours, theirs) in tokens.items()}
    worst = max(ratios, key=lambda name: abs(ratios[name] - 1), default="")
    if not worst or change(ratios[worst]) in ("0%", "≈0%"):
        return
    ours, theirs = map(sum, zip(*tokens.values(), strict=True))
    each = [against_reported(ours / theirs)]
    each += [f"{change(ratios[worst])} in {worst}"] if len(ratios) > 1 else []
    yield f"A replay of the recorded messages counts {', at worst '.join(each)}."


def _counted(sessions: Sessions) -> Iterator[str]:
    """Yield sentences on the sources of the tokens and of the price."""
    turns = [turn for one in sessions.sized for turn in one.turns if not turn.counted_in]
    calls, reported = len(turns), sum(turn.reported for turn in turns)
    by_us = "counted by bench, cached ones by the provider's rules."
    if calls and not reported:
        yield f"Tokens are {by_us}"
    elif calls and reported == calls:
        yield "The tokens of each prompt are those that the provider reported."
    elif calls:
        some = f"{count(reported)} of {counted(calls, 'model call')}"
        yield f"The provider reported the tokens of {some}; the others are {by_us}"
    if estimated := sum(turn.output_estimated for turn in turns):
        some = f"{count(estimated)} of {counted(reported, 'answer')}"
        yield f"The tokens of {some} were reported before their end, so bench counted what is recorded."
    if reported:
        yield "The split of a prompt by message is fitted to the reported counts."
        yield from _replayed(sessions)
    forked = ((turn.counted_in, one.id) for one in sessions.all for turn in one.turns)
    for pair, calls in Counter(pair for pair in forked if pair[0]).items():
        first, fork = map(sessions.names.__getitem__, pair)
        yield f"{counted(calls, 'model call')} of {fork} are in {first} too, and counted there."
    priced = [one for one in sessions.all if one.charges.usd is not None]
    if stated := [one for one in priced if one.stated_usd is not None]:
        theirs = sum(one.stated_usd or 0.0 for one in stated)
        ours = sum(one.charges.usd or 0.0 for one in stated)
        verb = "states" if len(stated) == 1 else "state"
        who = f"{counted(len(stated), 'session')} {verb}"
        yield f"{who} {dollars(theirs)}; counted by bench: {dollars(ours)}."
    if unpriced := [one for one in sessions.all if one.charges.usd is None]:
        if not sessions.priced:
            yield "Costs are in tokens."
            if priced:
                names = listed([sessions.names[one.id] for one in unpriced], 12)
                yield f"{counted(len(unpriced), 'session')} without a price: {names}."
        if models := listed(sorted({one.model for one in unpriced if one.model})):
            yield f"No price is listed for {models}."
        if unnamed := sum(not one.model for one in unpriced):
            yield f"{counted(unnamed, 'session')} without the name of a model: give it as --model."
