"""Audits of recordings for people: one screen of text, one page, or JSON. The blocks are the same everywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from ..evidence.audit import Audit, headroom
from ..evidence.spending import Charges, total
from ..model import Signature, grouped
from ..model.errors import BenchError
from ..text.wording import counted, listed, percent, quantity, visible
from . import PanelBlocks, Section, as_pieces, require_renderer
from .answered import Answered
from .blocks import Block, Cell, Chart, Column, Fold, Point, Prose, Table, number, table_of
from .text import drawn, heading

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


FORMATS = (".html", ".htm", ".md", ".txt", ".json")  # the endings of files that an audit is written to


def audit_bytes(sessions: Sequence[Audit], skipped: Sequence[tuple[str, str]], path: Path) -> bytes:
    """Return the report of some sessions as its file's ending says. Raises BenchError for another ending."""
    require_ending(path)
    if path.suffix.lower() == ".json":
        found = {"sessions": sessions, "skipped": [list(item) for item in skipped]}
        return msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n"
    nothing: dict[str, Any] = dict.fromkeys(("strategies", "references", "cases", "rows", "summary"), ())
    bare = Answered(title=_title(sessions), signature=_UNSIGNED, metrics={}, **nothing)
    panels = (*audit_panels(sessions), *_left_out(skipped))
    return b"".join(as_pieces(require_renderer(path).target([Section(bare.title, bare, panels)])))


def require_ending(path: Path) -> None:
    """Raise BenchError for a file whose ending names no format of an audit.

    >>> require_ending(Path("audit.pdf"))
    Traceback (most recent call last):
    bench.model.errors.BenchError: audit.pdf: unknown ending '.pdf' — an audit is written as .html, .htm, .md, .txt and .json
    """
    if path.suffix.lower() not in FORMATS:
        raise BenchError(f"{path}: unknown ending {path.suffix!r} — an audit is written as {listed([*FORMATS])}")


def audit_text(sessions: Sequence[Audit], *, width: int, colour: bool = False) -> str:
    """Return what happened on one screen, at most 40 lines at 100 columns."""
    lines = heading(_title(sessions), "=")
    for panel in audit_panels(sessions, brief=True):
        lines += drawn(panel.blocks, width, colour=colour)
    return "\n".join(lines).rstrip() + "\n"


def audit_panels(sessions: Sequence[Audit], *, brief: bool = False) -> tuple[PanelBlocks, ...]:
    """Return what happened in some sessions as panels: money, what filled the prompts, what was shortened, what was read twice."""
    return tuple(_Audited(sessions, brief).panels())


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


def _money(usd: float | None, tokens: float) -> str:
    """Dollars, or tokens where no prices are listed."""
    return quantity(usd, "usd") if usd is not None else f"{quantity(round(tokens), 'tokens')} tokens"


def _short(text: str) -> str:
    """Return a text in one line of at most `_WIDE` characters: the end of a path, the start and the end of anything else."""
    flat = " ".join(text.split())
    head = 0 if flat[:1] in ("/", "~", ".") else _WIDE // 2
    return flat if len(flat) <= _WIDE else f"{flat[:head]}…{flat[head + 1 - _WIDE :]}"


def _bad(count: int) -> Cell:
    return Cell(quantity(count, "count"), "bad" if count else "plain")


def _count(value: int | None) -> str:
    return "" if value is None else quantity(value, "count")


Columns = dict[str | Column, Callable[[Any], Cell | str]]


@dataclass(frozen=True)
class _Audited:
    """Some sessions while their panels are made; `brief` for one screen of a terminal."""

    sessions: Sequence[Audit]
    brief: bool

    @cached_property
    def spent(self) -> Charges:
        return total([item.spent for item in self.sessions])

    @property
    def several(self) -> bool:
        return len(self.sessions) > 1

    def all(self, field: str) -> int:
        """A count, or the number of some things, over all sessions."""
        found = [getattr(item, field) for item in self.sessions]
        return sum(item if isinstance(item, int) else len(item) for item in found)

    def each(self, field: str) -> list[tuple[Audit, Any]]:
        """Every thing of one kind, with its session."""
        return [(session, item) for session in self.sessions for item in getattr(session, field)]

    def step(self, of: tuple[Audit, Any]) -> str:
        """The place of something."""
        return f"{_short(of[0].id)}, step {of[1].step}" if self.several else f"step {of[1].step}"

    def worth(self, usd: float, tokens: float) -> float:
        return tokens if self.spent.usd is None else usd

    def table(self, items: Sequence[Any], columns: Columns, brief: int = _BRIEF, more: str = "{} more.") -> Table:
        return table_of(items, columns, most=brief if self.brief else _MOST, more=more)

    def panels(self) -> Iterator[PanelBlocks]:
        """Every panel."""
        yield PanelBlocks("spent", "Where did the money go?", tuple(self.money()))
        yield PanelBlocks("parts", "What filled the prompts?", tuple(self.parts()))
        yield PanelBlocks("shortened", "What was shortened?", tuple(self.shortened()))
        yield PanelBlocks("rereads", "What was read twice?", tuple(self.rereads()))
        if not self.brief:
            yield PanelBlocks("turns", "How did it go, turn by turn?", tuple(self.turns()), detail=True)

    def money(self) -> Iterator[Block]:
        """The cost by its use, and what is there to win at all."""
        spent, turns, reported, early = self.spent, self.all("turns"), self.all("reported"), self.all("early_counts")
        everything = _money(spent.usd, spent.prompt_tokens + spent.output_tokens)
        price = "" if spent.usd is not None else " No prices are listed for its model."
        made = f"{counted(turns, 'model call')} and {counted(self.all('results'), 'tool result')}"
        yield Prose(f"{everything} for {made}.{price} {self.headroom()}")
        counts = "The recording has no usage: prompts are counted here, the cache by the provider's documented rule."
        if reported:
            others = f" in {reported} of {counted(turns, 'call')}, the others as counted here"
            counts = f"Prompts as the provider counted them{'' if reported == turns else others}."
        if early:
            counts += f" Output that was counted before it ended is counted here ({counted(early, 'call')})."
        yield Prose(counts, "muted")
        whole = self.worth(spent.usd or 0.0, spent.prompt_tokens + spent.output_tokens)
        rows = [
            ("output", spent.output_tokens, spent.output_usd),
            ("prompt, new", spent.new_tokens, spent.new_usd),
            ("prompt, written to the cache", spent.written_tokens, spent.written_usd),
            ("prompt, read from the cache", spent.cached_tokens, spent.cached_usd),
        ]
        columns: Columns = {
            "where the money went": lambda row: row[0],
            number("tokens"): lambda row: quantity(row[1], "tokens"),
        }
        yield table_of(rows, columns | self.costs(whole, lambda row: (row[2], row[1])))

    def costs(self, whole: float, of: Callable[[Any], tuple[float, float]]) -> Columns:
        """The columns of what something cost and of its share; `of` gives its dollars and its tokens."""
        return {
            number("cost"): lambda item: quantity(of(item)[0] if self.spent.usd is not None else None, "usd"),
            number("share"): lambda item: percent(self.worth(*of(item)) / whole) if whole else "",
        }

    def headroom(self) -> str:
        """The most that could be saved, as a sentence."""
        both = [(one.replayed, one.floor) for one in self.sessions if one.replayed and one.floor]
        now = total([replayed for replayed, _ in both])
        share = headroom(now, total([floor for _, floor in both]))
        if share is None:
            return "What could be saved is not known."
        of = f"{percent(share)} of the {'money' if now.usd else 'prompt tokens'}"
        if share < 0.1:
            return f"There is little to win: with perfect foresight {of} could be saved."
        return f"At most {of} could be saved: that is what perfect foresight would."

    def parts(self) -> Iterator[Block]:
        """The content of the prompts by what it is, the sessions, and the results that cost most."""
        priced, more = self.spent.usd is not None, "" if self.brief else "{} more."
        whole = self.worth(self.spent.usd or 0.0, self.spent.prompt_tokens)
        merged = grouped((f"{part.name} (tool)" if part.tool else part.name, part) for _, part in self.each("parts"))
        fields = ("messages", "tokens", "carried_tokens", "usd")
        rows = [(name, *(sum(getattr(part, field) for part in of) for field in fields)) for name, of in merged.items()]
        columns: Columns = {
            "what filled the prompts": lambda row: row[0],
            number("messages"): lambda row: _count(row[1] or None),
            number("tokens once"): lambda row: quantity(row[2], "tokens"),
            number("in all prompts"): lambda row: quantity(round(row[3]), "tokens"),
        }
        rows.sort(key=lambda row: (-self.worth(row[4], row[3]), row[0]))
        yield self.table(rows, columns | self.costs(whole, lambda row: (row[4], row[3])), _BRIEF + 1, more)
        if self.several:
            yield self.table(
                sorted(self.sessions, key=lambda item: (-(item.spent.usd or 0), -item.spent.prompt_tokens, item.id)),
                {
                    "session": lambda item: _short(item.id),
                    number("calls"): lambda item: _count(len(item.turns)),
                    number("cost"): lambda item: _money(item.spent.usd, item.spent.prompt_tokens + item.spent.output_tokens),
                    number("at most saved"): lambda item: "" if item.headroom is None else percent(item.headroom),
                    number("shortened"): lambda item: _count(len(item.shortened)),
                    number("read twice"): lambda item: _count(len(item.rereads)),
                },
            )  # fmt: skip
        dearest = self.each("dearest")
        dearest.sort(key=lambda of: (-self.worth(of[1].usd, of[1].carried_tokens), of[0].id, of[1].step))
        if dearest and not (self.brief and self.several):
            columns = {
                "dearest": self.step,
                "tool": lambda of: of[1].function,
                number("tokens"): lambda of: quantity(of[1].tokens, "tokens"),
                number("prompts"): lambda of: _count(of[1].prompts),
                number("cost"): lambda of: _money(of[1].usd if priced else None, of[1].carried_tokens),
                "asked": lambda of: _short(of[1].asked),
            }
            yield self.table(dearest, columns, more=more)

    @property
    def few(self) -> int:
        """The rows of a table of events on one screen."""
        return 1 if self.all("shortened") or self.all("cuts") else 2

    def shortened(self) -> Iterator[Block]:
        """Compactions, clearings and cuts, with what they lost."""
        events, cuts = self.each("shortened"), self.each("cuts")
        source, results = self.all("cut_at_source"), self.all("results")
        kinds = Counter(item.kind for _, item in events)
        times = [counted(kinds[kind], kind) for kind in ("compaction", "clearing", "masking") if kinds[kind]]
        said = f"The history was shortened by {listed(times)}." if times else "The history was never shortened."
        if cuts:
            missed = sum(bool(item.needed) for _, item in cuts)
            said += f" {counted(len(cuts), 'result')} of {results} reached the model cut; of {missed} something lost turned up later."
        elif source:
            said += f" {counted(source, 'result')} of {results} had been cut before the recording: what is missing is not known."
        else:
            said += " No result is known to have been cut."
        yield Prose(said)
        rules = list(dict.fromkeys(rule for _, item in events for rule in item.rules_gone))
        if rules:
            most = self.few if self.brief else _MOST
            more = f" and {counted(len(rules) - most, 'more')}" if len(rules) > most else ""
            yield Prose(f"Standing instructions that went: {'; '.join(rules[:most])}{more}.", "bad")
        if events:
            columns: Columns = {
                "shortened": lambda of: f"{of[1].kind}, {self.step(of)}",
                number("before call"): lambda of: "the end" if of[1].turn is None else _count(of[1].turn),
                number("tokens before"): lambda of: quantity(of[1].tokens_before, "tokens"),
                number("after"): lambda of: quantity(of[1].tokens_after, "tokens"),
                number("results gone"): lambda of: _count(len(of[1].results)),
                number("asked again"): lambda of: _bad(len(of[1].asked_again)),
                number("rules gone"): lambda of: _bad(len(of[1].rules_gone)),
                number("facts lost"): lambda of: _count(of[1].facts_lost),
            }
            events.sort(key=lambda of: (-len(of[1].asked_again), -len(of[1].results), of[0].id, of[1].step))
            yield self.table(events, columns, self.few)
        if cuts and not (self.brief and events):
            columns = {
                "cut result": self.step,
                "tool": lambda of: of[1].function,
                number("characters"): lambda of: quantity(of[1].untruncated_chars, "characters"),
                number("shown"): lambda of: quantity(of[1].seen_chars, "characters"),
                number("facts lost"): lambda of: _count(of[1].lost),
                number("turned up later"): lambda of: _bad(of[1].needed),
            }
            cuts.sort(key=lambda of: (-of[1].needed, -of[1].lost, of[0].id, of[1].step))
            yield self.table(cuts, columns, self.few)

    def rereads(self) -> Iterator[Block]:
        """The results that had been read before, by the reason."""
        found, results = self.each("rereads"), self.all("results")
        if not found:
            yield Prose(f"Nothing of {counted(results, 'result')} was read twice.", "good")
            return
        reasons = Counter(item.why for _, item in found)
        said = listed([f"{reasons[why]} {text}" for why, text in WHY.items() if reasons[why]])
        yield Prose(f"{counted(len(found), 'result')} of {results} had been read before: {said}.")
        columns: Columns = {
            "read again": self.step,
            "first read": lambda of: f"step {of[1].earlier}",
            number("same lines"): lambda of: f"{of[1].known} of {of[1].lines}",
            "why": lambda of: of[1].why,
            "asked": lambda of: _short(of[1].asked or of[1].function),
        }
        order = list(WHY)
        found.sort(key=lambda of: (order.index(of[1].why), -of[1].known, of[0].id, of[1].step))
        yield self.table(found, columns, self.few)

    def turns(self) -> Iterator[Block]:
        """A line of prompt tokens for each of the dearest sessions, and a row a turn."""
        for session in sorted(self.sessions, key=lambda item: (-(item.spent.usd or 0), item.id))[:_MOST]:
            marks = {item.turn: item.kind for item in session.shortened if item.turn is not None}
            points = tuple(
                Point(series, at, tokens, mark=marks.get(at, "") if series == "prompt" else "", step=turn.step)
                for at, turn in enumerate(session.turns, 1)
                for series, tokens in (("prompt", turn.spent.prompt_tokens), ("read from the cache", turn.spent.cached_tokens))
            )  # fmt: skip
            largest = max((turn.spent.prompt_tokens for turn in session.turns), default=0)
            text = f"The largest of {counted(len(session.turns), 'prompt')} held {quantity(largest, 'tokens')} tokens."
            axes = ("model call", "tokens", "count", "tokens")
            yield Chart("line", f"Prompt tokens of {session.id}", *axes, points, text)
            columns: Columns = {
                number("call"): lambda item: _count(item[0]),
                number("step"): lambda item: _count(item[1].step),
                number("prompt"): lambda item: quantity(item[1].spent.prompt_tokens, "tokens"),
                number("from the cache"): lambda item: quantity(item[1].spent.cached_tokens, "tokens"),
                number("written"): lambda item: quantity(item[1].spent.written_tokens, "tokens"),
                number("output"): lambda item: quantity(item[1].spent.output_tokens, "tokens"),
                number("cost"): lambda item: quantity(item[1].spent.usd, "usd"),
            }
            table = table_of(list(enumerate(session.turns, 1)), columns)
            yield Fold(f"{session.id}: {counted(len(session.turns), 'model call')}", (table,))
