"""Sessions as an audit reads them: names, prices, the first line, the theoretical minimum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..model.audit import Charges, SessionAudit
from ..model.compared import Skipped
from .numbers import change, count, dollars, listed, of
from .reading import short_names

MOST = 10
"""The rows of a table."""

Places = list[tuple[SessionAudit, Any]]
"""Things with the session that each is of."""


class AuditReading:
    """Some sessions as the parts of their report read them. Nothing here measures anything."""

    def __init__(self, sessions: Sequence[SessionAudit], skipped: Sequence[Skipped]) -> None:
        self.sessions, self.skipped = sessions, skipped
        self.names = short_names([one.id for one in sessions])
        self.priced = bool(sessions) and all(one.charges.usd is not None for one in sessions)
        self.calls = self.total(lambda one: len(one.turns))
        self.breaks = [(one, item) for one in sessions for item in one.cache.breaks]
        self.tokens_again = sum(item.tokens_again for _, item in self.breaks)
        self.cost = sum(self.size(one.charges) for one in sessions)

    def total(self, value: Any) -> Any:
        """The sum of something over all sessions."""
        return sum(value(one) for one in self.sessions)

    def size(self, charges: Charges) -> float:
        """The dollars of charges, or their tokens where not every model is priced."""
        return (charges.usd or 0.0) if self.priced else float(charges.prompt_tokens + charges.output_tokens)

    def price(self, usd: float | None, tokens: float) -> str:
        """Dollars, or tokens where no price is listed."""
        return dollars(usd) if self.priced and usd is not None else f"{count(round(tokens))} tokens"

    def words(self, size: float) -> str:
        """The dollars or tokens of `size` in words."""
        return self.price(size, size)

    @property
    def title(self) -> str:
        """The heading: the data and the question."""
        one = self.sessions[0].id if len(self.sessions) == 1 else of(len(self.sessions), "session")
        return f"Where did the tokens of {one} go?"

    @property
    def about(self) -> str:
        """The formats, the models, the sizes."""
        formats = sorted({one.format for one in self.sessions if one.format})
        models = sorted({one.model for one in self.sessions if one.model})
        names = [listed(items, 3) for items in (formats, models) if items]
        return " · ".join([*names, of(self.calls, "model call")])

    @property
    def verdict(self) -> str:
        """The first line of every output."""
        if not self.sessions:
            return "No session could be read."
        results = of(self.total(lambda one: one.results), "tool result")
        text = f"{self.words(self.cost)} for {of(self.calls, 'model call')} and {results}."
        if self.breaks:
            text += f" {of(len(self.breaks), 'cache break')} billed {count(self.tokens_again)} tokens again."
        return text + (f" Theoretical minimum: {self.minimum[1]} ({self.minimum[0]})." if self.minimum else "")

    @property
    def minimum(self) -> tuple[str, str] | None:
        """The theoretical minimum: its change and its price; None where it is not known."""
        both = [(one.replayed, one.minimum) for one in self.sessions if one.replayed and one.minimum]
        now, least = (sum(self.size(pair[side]) for pair in both) for side in (0, 1))
        return (change(min(least / now, 1.0)), self.words(least)) if now else None

    def step(self, one: SessionAudit, step: int) -> str:
        """The place of something."""
        return f"step {step}" if len(self.sessions) == 1 else f"{self.names[one.id]}, step {step}"

    def each(self, field: str) -> Places:
        """Every thing of one kind, with its session."""
        return [(one, item) for one in self.sessions for item in getattr(one, field)]
