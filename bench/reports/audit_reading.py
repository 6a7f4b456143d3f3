"""Recorded sessions as an audit reads them: names, prices, the first line, the theoretical minimum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..model.audit import Charges, SessionAudit
from ..model.compared import Skipped
from .blocks import Cell, Span
from .numbers import change, count, dollars, listed, of
from .reading import short_names

MOST, WIDE = 10, 70
"""The rows of a table, the letters of a request."""

Places = list[tuple[SessionAudit, Any]]
"""Things with the session that each is of."""


class AuditReading:
    """Some sessions as the parts of their report read them. Nothing here measures anything."""

    def __init__(self, sessions: Sequence[SessionAudit], skipped: Sequence[Skipped]) -> None:
        self.sessions, self.skipped = sessions, skipped
        self.names = short_names([one.id for one in sessions])
        charges = [one.charges for one in sessions]
        self.priced = bool(charges) and all(item.usd is not None for item in charges)
        self.usd = sum(item.usd or 0.0 for item in charges)
        self.tokens = sum(item.prompt_tokens + item.output_tokens for item in charges)
        self.whole = self.usd if self.priced else float(self.tokens)
        self.breaks = [(one, item) for one in sessions for item in one.cache.breaks]

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
        text += f" {of(len(self.breaks), 'cache break')} billed {count(again)} tokens again." if self.breaks else ""
        return text + (f" {self.minimum[0]}" if self.minimum else "")

    @property
    def minimum(self) -> tuple[str, str, str] | None:
        """The theoretical minimum: a sentence, the change, the price; None where it is not known.."""
        both = [
            (one.replayed, one.minimum) for one in self.sessions if one.replayed is not None and one.minimum is not None
        ]
        if not both:
            return None
        priced = all(side.usd is not None for pair in both for side in pair)
        now, least = (sum(size_of(side, priced) for side in sides) for sides in zip(*both, strict=True))
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

    def each(self, field: str) -> Places:
        """Every thing of one kind, with its session."""
        return [(one, item) for one in self.sessions for item in getattr(one, field)]


def size_of(charges: Charges, priced: bool) -> float:
    """The dollars of charges, or their tokens where nothing is priced."""
    return (charges.usd or 0.0) if priced else float(charges.prompt_tokens + charges.output_tokens)


def more(number: int, word: str) -> str:
    """How many are not shown; "" for none."""
    return f"{of(number, f'more {word}')}." if number > 0 else ""


def arrow(before: int | None, after: int | None) -> str:
    """A size before → after."""
    return " → ".join("not known" if value is None else count(value) for value in (before, after))


def bad_count(number: int) -> Cell:
    """A count that is red where it is not 0."""
    return Cell((Span(count(number), "bad" if number else ""),))


def shortened_text(text: str) -> str:
    """A text on one line, its middle left out where it is long."""
    flat = " ".join(text.split())
    return flat if len(flat) <= WIDE else f"{flat[: WIDE // 2]} … {flat[-WIDE // 2 :]}"
