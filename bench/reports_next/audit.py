"""An audit as a report: what recorded sessions cost, what was shortened, cut and read twice, and where the cache broke."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from ..model.audit import CacheBreak, Charges, SessionAudit
from ..model.compared import Skipped
from ..model.errors import BenchError, nearest
from .blocks import (
    Bars,
    Block,
    Cell,
    Column,
    Drawing,
    Figure,
    Figures,
    Histogram,
    Prose,
    Report,
    Row,
    Section,
    Sentence,
    Span,
    Table,
)
from .numbers import change, count, dollars, listed, of, percent
from .reading import short_names

FORMATS = {"html": "html", "markdown": "markdown", "text": "terminal"}
_MOST, _WIDE = 10, 70
_Places = list[tuple[SessionAudit, Any]]

UNSEEN = {
    "rules": "A rule that stands on in other words counts as gone; one that the model breaks although it stands there is not seen.",
    "facts": "Only what a later turn said is counted: a loss that made the model do something else is not seen.",
    "rereads": "A result that came back the same may have been asked for on purpose, to check a change.",
    "cache": "A provider may drop what it cached at any time; such a break has no cause that a recording shows.",
}
"""What each figure of harm cannot see; it ends the part that states the figure."""


def audit_rendered(
    sessions: Sequence[SessionAudit], form: str, skipped: Sequence[Skipped] = ()
) -> str:
    """An audit in a format: html, markdown, text, or json (the values as they are). Raises BenchError for another."""
    if form == "json":
        found = {"sessions": sessions, "skipped": skipped}
        return (
            msgspec.json.format(msgspec.json.encode(found), indent=1).decode("utf-8", "replace")
            + "\n"
        )
    if form not in FORMATS:
        raise BenchError(f"unknown format {form!r} of an audit{nearest(form, [*FORMATS, 'json'])}")
    writer = importlib.import_module(f".{FORMATS[form]}", __package__)
    return "".join(writer.render([audit_report(sessions, skipped)]))


def audit_report(sessions: Sequence[SessionAudit], skipped: Sequence[Skipped] = ()) -> Report:
    """What happened in some sessions as a report; without any, what could not be read."""
    audit = _Audit(sessions, skipped)
    sections = [
        Section(anchor, name, heading, blocks)
        for anchor, name, heading, make in audit.parts()
        if (blocks := tuple(make()))
    ]
    return Report(audit.title, audit.about, audit.verdict, tuple(sections), "")


class _Audit:
    """Some sessions while their report is made."""

    def __init__(self, sessions: Sequence[SessionAudit], skipped: Sequence[Skipped]) -> None:
        self.sessions, self.skipped = sessions, skipped
        self.names = short_names([one.id for one in sessions])
        charges = [one.charges for one in sessions]
        self.priced = bool(charges) and all(item.usd is not None for item in charges)
        self.usd = sum(item.usd or 0.0 for item in charges)
        self.tokens = sum(item.prompt_tokens + item.output_tokens for item in charges)
        self.whole = self.usd if self.priced else float(self.tokens)
        self.breaks = [(one, item) for one in sessions for item in one.cache.breaks]

    def parts(self) -> Iterator[tuple[str, str, str, Callable[[], Iterable[Block]]]]:
        """The sections: anchor, short name, heading, blocks."""
        yield "cost", "Cost", "", self.cost
        yield "turns", "By turn", "Price by turn" if self.priced else "Tokens by turn", self.turns
        yield "contents", "Prompts", "Parts of the prompts", self.contents
        yield "dearest", "Dearest results", "The ten dearest results", self.dearest
        yield "cache", "Cache breaks", "Cache breaks", self.cache
        yield (
            "shortened",
            "Shortened",
            "History that was shortened, results that were cut",
            self.shortened,
        )
        yield "rereads", "Read twice", "Results that were read twice", self.rereads
        yield "trust", "Trust", "Trust", self.trust

    # ------------------------------------------------------------ words

    @property
    def title(self) -> str:
        """The heading: the data and the question."""
        if len(self.sessions) == 1:
            return f"Where did the tokens of {self.sessions[0].id} go?"
        return f"Where did the tokens of {of(len(self.sessions), 'session')} go?"

    @property
    def about(self) -> str:
        """The formats, the models, the sizes."""
        formats = sorted({one.format for one in self.sessions if one.format})
        models = sorted({one.model for one in self.sessions if one.model})
        calls = of(sum(len(one.turns) for one in self.sessions), "model call")
        return " · ".join(
            filter(
                None,
                [listed(formats, 3) if formats else "", listed(models, 3) if models else "", calls],
            )
        )

    @property
    def verdict(self) -> str:
        """The first line of every output."""
        if not self.sessions:
            return "No session could be read."
        calls, results = (
            sum(len(one.turns) for one in self.sessions),
            sum(one.results for one in self.sessions),
        )
        text = f"{self.price(self.usd, self.tokens)} for {of(calls, 'model call')} and {of(results, 'tool result')}."
        again = sum(item.tokens_again for _, item in self.breaks)
        text += (
            f" {of(len(self.breaks), 'cache break')} billed {count(again)} tokens again."
            if self.breaks
            else ""
        )
        return text + (f" {self.minimum[0]}" if self.minimum else "")

    @property
    def minimum(self) -> tuple[str, str, str] | None:
        """The theoretical minimum: a sentence, the change, the price; None where it is not known."""
        both = [
            (one.replayed, one.minimum)
            for one in self.sessions
            if one.replayed is not None and one.minimum is not None
        ]
        if not both:
            return None
        priced = all(side.usd is not None for pair in both for side in pair)
        now, least = (
            sum(_size(side, priced) for side in sides) for sides in zip(*both, strict=True)
        )
        if not now:
            return None
        price = dollars(least) if priced else f"{count(round(least))} tokens"
        less = change(min(least / now, 1.0))
        return f"Theoretical minimum: {price} ({less}).", less, price

    def price(self, usd: float | None, tokens: float) -> str:
        """Dollars, or tokens where no price is listed."""
        return dollars(usd) if self.priced and usd is not None else f"{count(round(tokens))} tokens"

    def step(self, one: SessionAudit, step: int) -> str:
        """The place of something."""
        return f"step {step}" if len(self.sessions) == 1 else f"{self.names[one.id]}, step {step}"

    def each(self, field: str) -> _Places:
        """Every thing of one kind, with its session."""
        return [(one, item) for one in self.sessions for item in getattr(one, field)]

    # ------------------------------------------------------------ sections

    def cost(self) -> Iterator[Block]:
        """The sentence, three figures, the price by use, the sessions."""
        head, _, rest = self.verdict.partition(". ")
        yield Sentence(
            (Span(head + ("." if rest else ""), strong=True), f" {rest}" if rest else "")
        )
        if not self.sessions:
            return
        uses = [row for row in self.uses() if row[1]]
        bars = tuple(
            (
                name,
                (usd if self.priced else tokens) / (self.whole or 1),
                f"{self.price(usd, tokens)}, {percent((usd if self.priced else tokens) / (self.whole or 1))}",
                "other",
            )
            for name, tokens, usd in uses
        )
        again, lost = (
            sum(item.tokens_again for _, item in self.breaks),
            sum(item.usd or 0.0 for _, item in self.breaks),
        )
        turns = sum(len(one.turns) for one in self.sessions)
        items = [
            Figure(
                "Price" if self.priced else "Tokens",
                dollars(self.usd) if self.priced else count(self.tokens),
                "",
                f"{self.price(self.usd / turns if turns else 0, self.tokens / turns if turns else 0)} a model call",
            )
        ]
        least = self.minimum
        items.append(
            Figure("Theoretical minimum", least[1], "", least[2], "with perfect foresight")
            if least
            else Figure("Theoretical minimum", "not known", "", "nothing to replay")
        )
        items.append(
            Figure(
                "Cache breaks",
                count(len(self.breaks)),
                "bad" if self.breaks else "",
                f"{count(again)} tokens billed again",
                dollars(lost) if self.priced and self.breaks else "",
            )
        )
        yield Figures(
            tuple(items),
            "Price by use" if self.priced else "Tokens by use",
            Bars("; ".join(f"{name} {text}" for name, _, text, _ in bars), bars) if bars else None,
        )  # type: ignore[arg-type]
        if len(self.sessions) > 1:
            yield self.by_session()

    def uses(self) -> Iterator[tuple[str, int, float]]:
        """The tokens and dollars by what they were billed as."""
        charges = [one.charges for one in self.sessions]
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
            "written to the cache"
            if not hour
            else f"written, {percent(hour / written)} for an hour",
            written,
            written_usd,
        )
        yield (
            "read from the cache",
            sum(item.cached_tokens for item in charges),
            sum(item.cached_usd for item in charges),
        )

    def by_session(self) -> Table:
        """A row by session, the dearest first."""
        ordered = sorted(self.sessions, key=lambda one: -_size(one.charges, self.priced))
        rows = tuple(
            Row((Cell(self.names[one.id], one.model or ""), Cell(count(len(one.turns))), Cell(self.price(one.charges.usd, one.charges.prompt_tokens + one.charges.output_tokens)),
                 Cell(count(len(one.cache.breaks))), Cell(count(len(one.shortenings))), Cell(count(len(one.cuts))), Cell(count(len(one.rereads)))))
            for one in ordered[: _MOST * 3]
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
        return Table("Sessions", columns, rows, "cards", _more(len(ordered) - _MOST * 3, "session"))

    def turns(self) -> Iterator[Block]:
        """A bar by turn of the dearest session; turns with a cache break are red."""
        if not any(one.turns for one in self.sessions):
            return
        one = max(self.sessions, key=lambda item: _size(item.charges, self.priced))
        values = [_size(turn.charges, self.priced) for turn in one.turns]
        size = -(-len(values) // 100)
        broken = {(item.turn - 1) // size for item in one.cache.breaks}
        sums = tuple(sum(values[at : at + size]) for at in range(0, len(values), size))
        labels = [""] * len(sums)
        labels[0] = "turn 1"
        labels[-1] = count(len(values)) if len(sums) > 4 else labels[-1]
        marks = tuple("rejected" if at in broken else "other" for at in range(len(sums)))
        alt = (
            f"{self.names[one.id]}: {of(len(values), 'turn')}, the dearest {self.price(max(values), max(values))}"
            + (
                f", cache breaks at turns {listed([str(item.turn) for item in one.cache.breaks], 12)}"
                if one.cache.breaks
                else ""
            )
        )
        note = (
            ("Red: the cache broke. " if broken else "")
            + (f"Each bar is {size} turns. " if size > 1 else "")
            + (f"The dearest session, {self.names[one.id]}." if len(self.sessions) > 1 else "")
        )
        yield Drawing(
            Histogram(alt, sums, tuple(labels), marks, unit="usd" if self.priced else "tokens"),
            note=note.strip(),
        )  # type: ignore[arg-type]

    def contents(self) -> Iterator[Block]:
        """The parts of the prompts: each tool's results, and messages by kind."""
        sums: dict[str, list[float]] = {}
        for _, part in self.each("parts"):
            found = sums.setdefault(
                f"results of {part.name}" if part.tool else part.name, [0, 0, 0, 0.0]
            )
            for at, value in enumerate(
                (part.messages, part.tokens, part.carried_tokens, part.usd or 0.0)
            ):
                found[at] += value
        ordered = sorted(
            sums.items(), key=lambda item: (-item[1][3 if self.priced else 2], item[0])
        )
        whole = sum(values[3 if self.priced else 2] for _, values in ordered)
        rows = tuple(
            Row((Cell(name), Cell(count(values[0])), Cell(count(values[1])), Cell(count(round(values[2]))), Cell(self.price(values[3], values[2])),
                 Cell(percent(values[3 if self.priced else 2] / whole) if whole else "–")))
            for name, values in ordered[: _MOST + 5]
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
                _more(len(ordered) - _MOST - 5, "part"),
            )

    def dearest(self) -> Iterator[Block]:
        """The results that cost most over the rest of their run."""
        found = sorted(
            self.each("dearest"),
            key=lambda pair: (
                -((pair[1].usd or 0.0) if self.priced else pair[1].carried_tokens),
                pair[0].id,
                pair[1].step,
            ),
        )
        rows = tuple(
            Row((Cell(self.step(one, item.step), item.function), Cell((Span(_short(item.asked), code=True),) if item.asked else "–"), Cell(count(item.tokens)),
                 Cell(count(item.prompts)), Cell(self.price(item.usd, item.carried_tokens))))
            for one, item in found[:_MOST]
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

    def cache(self) -> Iterator[Block]:
        """Each break: which turn, how many tokens were billed again, for what price, why."""
        judged, explained = (
            sum(one.cache.judged for one in self.sessions),
            sum(one.cache.explained for one in self.sessions),
        )
        if not judged and not self.breaks:
            return
        if judged:
            share = explained / judged
            text = f"The cache model explains {count(explained)} of {of(judged, 'turn')} ({percent(share)})."
            yield Prose(
                text
                if share >= 0.95
                else f"{text} That is below 95%, so no cached price of an alternative is stated."
            )
        if not self.breaks:
            yield Prose((Span(f"No break. {UNSEEN['cache']}", "muted"),))
            return
        causes = Counter[str]()
        for _, item in self.breaks:
            causes[item.cause] += item.tokens_again
        yield Prose(
            f"Tokens billed again, by cause: {listed([f'{cause} {count(number)}' for cause, number in causes.most_common()])}."
        )
        ordered = sorted(
            self.breaks, key=lambda pair: (-pair[1].tokens_again, pair[0].id, pair[1].turn)
        )
        rows = tuple(
            Row((Cell(f"turn {item.turn}", self.step(one, item.step)), Cell(item.cause, _idle(item)), Cell(count(item.tokens_again)), Cell(dollars(item.usd) if item.usd is not None else "–")))
            for one, item in ordered[: _MOST * 2]
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
            " ".join(filter(None, [_more(len(ordered) - _MOST * 2, "break"), UNSEEN["cache"]])),
        )

    def shortened(self) -> Iterator[Block]:
        """Compactions, clearings and maskings, the rules that went, the results that were cut."""
        events, cuts = self.each("shortenings"), self.each("cuts")
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
                Row((Cell(item.kind, self.step(one, item.step)), Cell("the end" if item.turn is None else count(item.turn)), Cell(_arrow(item.tokens_before, item.tokens_after)),
                     Cell(count(len(item.results_gone))), _bad(len(item.facts_lost)), _bad(len(item.rules_gone)), _bad(len(item.asked_again))))
                for one, item in events[:_MOST]
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
                " ".join(filter(None, [_more(len(events) - _MOST, "event"), UNSEEN["facts"]])),
            )
        rules = list(dict.fromkeys(rule for _, item in events for rule in item.rules_gone))
        if rules:
            quoted = tuple(
                Row((Cell((Span(rule[:300], "bad", code=True),)),)) for rule in rules[:_MOST]
            )
            yield Table(
                "Standing rules that went",
                (Column("standing rules that went"),),
                quoted,
                "plain",
                " ".join(filter(None, [_more(len(rules) - _MOST, "rule"), UNSEEN["rules"]])),
            )
        if cuts:
            cuts.sort(key=lambda pair: (-pair[1].needed, pair[0].id, pair[1].step))
            rows = tuple(
                Row((Cell(self.step(one, item.step), item.function), Cell((Span(_short(item.marker), code=True),) if item.marker else "full text recorded"),
                     Cell(_arrow(item.characters, item.seen_characters)), _bad(item.needed)))
                for one, item in cuts[:_MOST]
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
                            _more(len(cuts) - _MOST, "result"),
                            UNSEEN["facts"],
                            "Where only the marker is known, what was cut is not recorded.",
                        ],
                    )
                ),
            )

    def rereads(self) -> Iterator[Block]:
        """Results that gave again what an earlier one had given, by why."""
        found = self.each("rereads")
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
            Row((Cell(self.step(one, item.step)), Cell((Span(_short(item.asked), code=True),) if item.asked else "–"), Cell(f"step {item.earlier_step}"), Cell(f"{count(item.lines_same)} of {count(item.lines)}"), Cell(words[item.why])))
            for one, item in found[:_MOST]
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
            " ".join(filter(None, [_more(len(found) - _MOST, "result"), UNSEEN["rereads"]])),
        )

    def trust(self) -> Iterator[Block]:
        """What was read, counted, left out."""
        turns, reported = (
            sum(len(one.turns) for one in self.sessions),
            sum(one.reported_turns for one in self.sessions),
        )
        if turns:
            yield Prose(
                f"Tokens are as the provider reported them in {count(reported)} of {of(turns, 'model call')}"
                + (
                    "."
                    if reported == turns
                    else "; the others are counted here, their cache by the provider's rules."
                )
            )
        stated = [one for one in self.sessions if one.stated_usd is not None]
        if stated:
            yield Prose(
                f"{of(len(stated), 'session')} state{'s' if len(stated) == 1 else ''} a price: {dollars(sum(one.stated_usd or 0.0 for one in stated))}, here {dollars(sum(one.charges.usd or 0.0 for one in stated))}."
            )
        if self.sessions and not self.priced:
            yield Prose(
                "No price is listed for a model of these sessions, so tokens decide every order."
            )
        skipped: Counter[str] = Counter()
        for one in self.sessions:
            skipped.update(one.skipped)
        if skipped:
            yield Prose(
                f"Not understood and left out: {listed([f'{count(number)} × {kind}' for kind, number in skipped.most_common(8)])}."
            )
        if self.skipped:
            rows = tuple(
                Row((Cell((Span(item.path, code=True),)), Cell(item.reason)))
                for item in self.skipped[:_MOST]
            )
            yield Table(
                "Files that were not read",
                (Column("file not read"), Column("reason")),
                rows,
                "plain",
                _more(len(self.skipped) - _MOST, "file"),
            )
        if not skipped and not self.skipped:
            yield Prose("Nothing was left out.")


def _size(charges: Charges, priced: bool) -> float:
    return (charges.usd or 0.0) if priced else float(charges.prompt_tokens + charges.output_tokens)


def _more(number: int, word: str) -> str:
    return f"{of(number, f'more {word}')}." if number > 0 else ""


def _arrow(before: int | None, after: int | None) -> str:
    return " → ".join("not known" if value is None else count(value) for value in (before, after))


def _bad(number: int) -> Cell:
    return Cell((Span(count(number), "bad" if number else ""),))


def _idle(item: CacheBreak) -> str:
    if item.idle_s is None:
        return ""
    return (
        f"after {count(round(item.idle_s / 60))} minutes"
        if item.idle_s >= 120
        else f"after {count(round(item.idle_s))} seconds"
    )


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _WIDE else f"{flat[: _WIDE // 2]} … {flat[-_WIDE // 2 :]}"
