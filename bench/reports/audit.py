"""Audits of recordings for people: one screen of text, one page, or JSON. The blocks are the same everywhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

import msgspec

from ..evidence.audit import Audit, PartSpent, ResultSpent, Shortened, headroom
from ..evidence.rereads import Reread
from ..evidence.spending import total
from ..model import RecordedCut, Signature
from ..model.errors import BenchError
from ..text.wording import counted, listed, percent, quantity, visible
from . import PanelBlocks, Section, as_pieces
from .answered import Answered
from .blocks import Block, Cell, Chart, Fold, Point, Prose, Table, number, table_of
from .html import html
from .markdown import markdown
from .text import drawn, heading, text as as_lines

T = TypeVar("T")

_MOST = 10
_BRIEF = 4
_WIDE = 46  # characters of what a call asked for

_UNSIGNED = Signature(
    bench_version="", traces={}, strategies={}, encodings=(), facts_version="", prices_date="", seed=0
)

WHY = {
    "cut": "would have been saved by an untruncated result",
    "dropped": "had been dropped by the harness",
    "in prompt": "still stood in the prompt",
}


_SHOWN = {".html": html, ".htm": html, ".md": markdown, ".txt": as_lines}


class _Of(NamedTuple, Generic[T]):
    """Something of one session."""

    session: Audit
    item: T


def audit_bytes(sessions: Sequence[Audit], skipped: Sequence[tuple[str, str]], path: Path) -> bytes:
    """Return the report of some sessions as its file's ending says. Raises BenchError for another ending."""
    require_ending(path)
    if path.suffix.lower() == ".json":
        found = {"sessions": sessions, "skipped": [list(item) for item in skipped]}
        return msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n"
    shows = _SHOWN[path.suffix.lower()]
    panels = (*audit_panels(sessions), *_left_out(skipped))
    bare = Answered(
        title=_title(sessions),
        signature=_UNSIGNED,
        strategies=(),
        references=(),
        cases=(),
        rows=(),
        summary=(),
        metrics={},
    )
    return b"".join(as_pieces(shows([Section(bare.title, bare, panels)])))


def require_ending(path: Path) -> None:
    """Raise BenchError for a file whose ending names no format of an audit.

    >>> require_ending(Path("audit.pdf"))
    Traceback (most recent call last):
    bench.model.errors.BenchError: audit.pdf: unknown ending '.pdf' — an audit is written as .html, .htm, .md, .txt and .json
    """
    if path.suffix.lower() not in (*_SHOWN, ".json"):
        raise BenchError(
            f"{path}: unknown ending {path.suffix!r} — an audit is written as {listed([*_SHOWN, '.json'])}"
        )


def audit_text(sessions: Sequence[Audit], *, width: int, colour: bool = False) -> str:
    """Return what happened on one screen, at most 40 lines at 100 columns."""
    lines = heading(_title(sessions), "=")
    for panel in audit_panels(sessions, brief=True):
        lines += drawn(panel.blocks, width, colour=colour)
    return "\n".join(lines).rstrip() + "\n"


def audit_panels(sessions: Sequence[Audit], *, brief: bool = False) -> tuple[PanelBlocks, ...]:
    """Return what happened in some sessions as panels: money, what filled the prompts, what was shortened, what was read twice."""
    most = _BRIEF if brief else _MOST
    events = any(session.shortened or session.cuts for session in sessions)
    few = (1 if events else 2) if brief else _MOST
    panels = [
        PanelBlocks("spent", "Where did the money go?", tuple(_spent(sessions))),
        PanelBlocks("parts", "What filled the prompts?", tuple(_parts(sessions, most, brief=brief))),
        PanelBlocks("shortened", "What was shortened?", tuple(_shortened(sessions, few, brief=brief))),
        PanelBlocks("rereads", "What was read twice?", tuple(_rereads(sessions, few))),
    ]
    if not brief:
        panels.append(PanelBlocks("turns", "How did it go, turn by turn?", tuple(_turns(sessions)), detail=True))
    return tuple(panels)


def _title(sessions: Sequence[Audit]) -> str:
    if len(sessions) > 1:
        return counted(len(sessions), "session")
    (one,) = sessions
    return visible(" · ".join(filter(None, [one.id, one.format, one.model])))


def _left_out(skipped: Sequence[tuple[str, str]]) -> Iterator[PanelBlocks]:
    if skipped:
        shown = [Prose(f"{file}: {reason}", "muted") for file, reason in skipped[:_MOST]]
        more = len(skipped) - len(shown)
        shown += [Prose(f"and {counted(more, 'more file')}", "muted")] if more else []
        yield PanelBlocks("left_out", "What could not be read?", tuple(shown), detail=True)


# ---------------------------------------------------------------- money


def _money(usd: float | None, tokens: float) -> str:
    """Dollars, or tokens where no prices are listed."""
    return quantity(usd, "usd") if usd is not None else f"{quantity(round(tokens), 'tokens')} tokens"


def _spent(sessions: Sequence[Audit]) -> Iterator[Block]:
    spent = total([item.spent for item in sessions])
    turns, results = sum(len(item.turns) for item in sessions), sum(item.results for item in sessions)
    reported = sum(item.reported for item in sessions)
    everything = _money(spent.usd, spent.prompt_tokens + spent.output_tokens)
    price = "" if spent.usd is not None else " No prices are listed for its model."
    said = f"{everything} for {counted(turns, 'model call')} and {counted(results, 'tool result')}.{price} {_headroom(sessions)}"
    yield Prose(said)
    yield Prose(_how_counted(sessions, reported, turns), "muted")
    whole = spent.usd or 0.0
    rows = [
        ("output", spent.output_tokens, spent.output_usd),
        ("prompt, new", spent.new_tokens, spent.new_usd),
        ("prompt, written to the cache", spent.written_tokens, spent.written_usd),
        ("prompt, read from the cache", spent.cached_tokens, spent.cached_usd),
    ]
    yield table_of(
        rows,
        {
            "where the money went": lambda row: row[0],
            number("tokens"): lambda row: quantity(row[1], "tokens"),
            number("cost"): lambda row: quantity(row[2] if spent.usd is not None else None, "usd"),
            number("share"): lambda row: percent(row[2] / whole) if whole else "",
        },
    )


def _headroom(sessions: Sequence[Audit]) -> str:
    """Return what is there to win at all, as a sentence."""
    now = total([item.replayed for item in sessions if item.replayed is not None and item.floor is not None])
    share = headroom(
        now, total([item.floor for item in sessions if item.replayed is not None and item.floor is not None])
    )
    if share is None:
        return "What could be saved is not known."
    of = f"{percent(share)} of the {'money' if now.usd else 'prompt tokens'}"
    if share < 0.1:
        return f"There is little to win: with perfect foresight {of} could be saved."
    return f"At most {of} could be saved: that is what perfect foresight would."


def _how_counted(sessions: Sequence[Audit], reported: int, turns: int) -> str:
    """The source of the counts, in a sentence or several."""
    if reported == turns:
        said = ["Prompts as the provider counted them."]
    elif reported:
        said = [
            f"Prompts as the provider counted them in {reported} of {counted(turns, 'call')}, the others as counted here."
        ]
    else:
        said = ["The recording has no usage: prompts are counted here, the cache by the provider's documented rule."]
    early = sum(item.early_counts for item in sessions)
    if early:
        said.append(f"Output that was counted before it ended is counted here ({counted(early, 'call')}).")
    return " ".join(said)


def _parts(sessions: Sequence[Audit], most: int, *, brief: bool) -> Iterator[Block]:
    spent = total([item.spent for item in sessions])
    priced = spent.usd is not None
    whole = (spent.usd or 0.0) if priced else float(spent.prompt_tokens)

    def worth(usd: float, tokens: float) -> float:
        return usd if priced else tokens

    merged: dict[str, list[PartSpent]] = defaultdict(list)
    for session in sessions:
        for part in session.parts:
            merged[f"{part.name} (tool)" if part.tool else part.name].append(part)
    rows = sorted(
        ((name, *(sum(getattr(part, field) for part in found) for field in ("messages", "tokens", "carried_tokens", "usd")))
         for name, found in merged.items()),
        key=lambda row: (-worth(row[4], row[3]), row[0]),
    )  # fmt: skip
    yield table_of(
        rows,
        {
            "what filled the prompts": lambda row: row[0],
            number("messages"): lambda row: quantity(row[1], "count") if row[1] else "",
            number("tokens once"): lambda row: quantity(row[2], "tokens"),
            number("in all prompts"): lambda row: quantity(round(row[3]), "tokens"),
            number("cost"): lambda row: quantity(row[4] if priced else None, "usd"),
            number("share"): lambda row: percent(worth(row[4], row[3]) / whole) if whole else "",
        },
        most=most + 1,
        more="" if brief else "{} more.",
    )
    if len(sessions) > 1:
        yield _sessions_table(sessions, most)
    dearest = [_Of(session, item) for session in sessions for item in session.dearest]
    dearest.sort(key=lambda of: (-worth(of.item.usd, of.item.carried_tokens), of.session.id, of.item.step))
    if dearest and not (brief and len(sessions) > 1):
        yield _dearest_table(dearest, most, several=len(sessions) > 1, priced=priced, brief=brief)


def _dearest_table(found: Sequence[_Of[ResultSpent]], most: int, *, several: bool, priced: bool, brief: bool) -> Table:
    return table_of(
        found,
        {
            "dearest": lambda of: _step(of.session, of.item.step, several=several),
            "tool": lambda of: of.item.function,
            number("tokens"): lambda of: quantity(of.item.tokens, "tokens"),
            number("prompts"): lambda of: quantity(of.item.prompts, "count"),
            number("cost"): lambda of: _money(of.item.usd if priced else None, of.item.carried_tokens),
            "asked": lambda of: _short(of.item.asked),
        },
        most=most,
        more="" if brief else "{} more.",
    )


def _sessions_table(sessions: Sequence[Audit], most: int) -> Table:
    ordered = sorted(sessions, key=lambda item: (-(item.spent.usd or 0), -item.spent.prompt_tokens, item.id))
    return table_of(
        ordered,
        {
            "session": lambda item: _short(item.id),
            number("calls"): lambda item: quantity(len(item.turns), "count"),
            number("cost"): lambda item: _money(item.spent.usd, item.spent.prompt_tokens + item.spent.output_tokens),
            number("at most saved"): lambda item: "" if item.headroom is None else percent(item.headroom),
            number("shortened"): lambda item: quantity(len(item.shortened), "count"),
            number("read twice"): lambda item: quantity(len(item.rereads), "count"),
        },
        most=most,
        more="{} more.",
    )


def _step(session: Audit, step: int, *, several: bool) -> str:
    return f"{_short(session.id)}, step {step}" if several else f"step {step}"


def _short(text: str) -> str:
    """Return a text in one line of at most `_WIDE` characters: the end of a path, the start and the end of anything else."""
    flat = " ".join(text.split())
    head = 0 if flat[:1] in ("/", "~", ".") else _WIDE // 2
    return flat if len(flat) <= _WIDE else f"{flat[:head]}…{flat[head + 1 - _WIDE :]}"


# ---------------------------------------------------------------- what was shortened


def _shortened(sessions: Sequence[Audit], most: int, *, brief: bool) -> Iterator[Block]:
    events = [_Of(session, item) for session in sessions for item in session.shortened]
    cuts = [_Of(session, item) for session in sessions for item in session.cuts]
    source = sum(item.cut_at_source for item in sessions)
    results = sum(item.results for item in sessions)
    kinds = {kind: sum(of.item.kind == kind for of in events) for kind in ("compaction", "clearing", "masking")}
    times = [counted(times, kind) for kind, times in kinds.items() if times]
    said = f"The history was shortened by {listed(times)}." if times else "The history was never shortened."
    if cuts:
        missed = sum(bool(of.item.needed) for of in cuts)
        said += f" {counted(len(cuts), 'result')} of {results} reached the model cut; of {missed} something lost turned up later."
    elif source:
        said += f" {counted(source, 'result')} of {results} had been cut before they were recorded: what they lost is not known."
    else:
        said += " No result is known to have been cut."
    yield Prose(said)
    rules = dict.fromkeys(rule for of in events for rule in of.item.rules_gone)
    if rules:
        more = f" and {counted(len(rules) - most, 'more')}" if len(rules) > most else ""
        yield Prose(f"Standing instructions that went: {'; '.join(list(rules)[:most])}{more}.", "bad")
    if events:
        events.sort(key=lambda of: (-len(of.item.asked_again), -len(of.item.results), of.session.id, of.item.step))
        yield _events_table(events, most, several=len(sessions) > 1)
    if cuts and not (brief and events):
        cuts.sort(key=lambda of: (-of.item.needed, -of.item.lost, of.session.id, of.item.step))
        yield _cuts_table(cuts, most, several=len(sessions) > 1)


def _bad(count: int) -> Cell:
    return Cell(quantity(count, "count"), "bad" if count else "plain")


def _events_table(found: Sequence[_Of[Shortened]], most: int, *, several: bool) -> Table:
    return table_of(
        found,
        {
            "shortened": lambda of: f"{of.item.kind}, {_step(of.session, of.item.step, several=several)}",
            number("before call"): lambda of: "the end" if of.item.turn is None else quantity(of.item.turn, "count"),
            number("tokens before"): lambda of: quantity(of.item.tokens_before, "tokens"),
            number("after"): lambda of: quantity(of.item.tokens_after, "tokens"),
            number("results gone"): lambda of: quantity(len(of.item.results), "count"),
            number("asked again"): lambda of: _bad(len(of.item.asked_again)),
            number("rules gone"): lambda of: _bad(len(of.item.rules_gone)),
            number("facts lost"): lambda of: "" if of.item.facts_lost is None else quantity(of.item.facts_lost, "count"),
        },
        most=most,
        more="{} more.",
    )  # fmt: skip


def _cuts_table(found: Sequence[_Of[RecordedCut]], most: int, *, several: bool) -> Table:
    return table_of(
        found,
        {
            "cut result": lambda of: _step(of.session, of.item.step, several=several),
            "tool": lambda of: of.item.function,
            number("characters"): lambda of: quantity(of.item.untruncated_chars, "characters"),
            number("shown"): lambda of: quantity(of.item.seen_chars, "characters"),
            number("facts lost"): lambda of: quantity(of.item.lost, "count"),
            number("turned up later"): lambda of: _bad(of.item.needed),
        },
        most=most,
        more="{} more.",
    )  # fmt: skip


# ---------------------------------------------------------------- what was read twice


def _rereads(sessions: Sequence[Audit], most: int) -> Iterator[Block]:
    found = [_Of(session, item) for session in sessions for item in session.rereads]
    results = sum(item.results for item in sessions)
    if not found:
        yield Prose(f"Nothing of {counted(results, 'result')} was read twice.", "good")
        return
    reasons = [f"{sum(of.item.why == why for of in found)} {said}" for why, said in WHY.items()]
    reasons = [said for said in reasons if not said.startswith("0 ")]
    yield Prose(f"{counted(len(found), 'result')} of {results} had been read before: {listed(reasons)}.")
    order = list(WHY)
    found.sort(key=lambda of: (order.index(of.item.why), -of.item.known, of.session.id, of.item.step))
    yield _rereads_table(found, most, several=len(sessions) > 1)


def _rereads_table(found: Sequence[_Of[Reread]], most: int, *, several: bool) -> Table:
    return table_of(
        found,
        {
            "read again": lambda of: _step(of.session, of.item.step, several=several),
            "first read": lambda of: f"step {of.item.earlier}",
            number("same lines"): lambda of: f"{of.item.known} of {of.item.lines}",
            "why": lambda of: of.item.why,
            "asked": lambda of: _short(of.item.asked or of.item.function),
        },
        most=most,
        more="{} more.",
    )


# ---------------------------------------------------------------- turn by turn


def _turns(sessions: Sequence[Audit]) -> Iterator[Block]:
    for session in sorted(sessions, key=lambda item: (-(item.spent.usd or 0), item.id))[:_MOST]:
        marks = {item.turn: item.kind for item in session.shortened if item.turn is not None}
        points = tuple(
            Point(series, at, tokens, mark=marks.get(at, "") if series == "prompt" else "", step=turn.step)
            for at, turn in enumerate(session.turns, 1)
            for series, tokens in (("prompt", turn.spent.prompt_tokens), ("read from the cache", turn.spent.cached_tokens))
        )  # fmt: skip
        largest = max((turn.spent.prompt_tokens for turn in session.turns), default=0)
        text = f"The largest of {counted(len(session.turns), 'prompt')} held {quantity(largest, 'tokens')} tokens."
        chart = Chart("line", f"Prompt tokens of {session.id}", "model call", "tokens", "count", "tokens", points, text)
        table = table_of(
            list(enumerate(session.turns, 1)),
            {
                number("call"): lambda item: quantity(item[0], "count"),
                number("step"): lambda item: quantity(item[1].step, "count"),
                number("prompt"): lambda item: quantity(item[1].spent.prompt_tokens, "tokens"),
                number("from the cache"): lambda item: quantity(item[1].spent.cached_tokens, "tokens"),
                number("written"): lambda item: quantity(item[1].spent.written_tokens, "tokens"),
                number("output"): lambda item: quantity(item[1].spent.output_tokens, "tokens"),
                number("cost"): lambda item: quantity(item[1].spent.usd, "usd"),
            },
        )
        yield chart
        yield Fold(f"{session.id}: {counted(len(session.turns), 'model call')}", (table,))
