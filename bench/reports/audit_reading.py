"""Sessions as the sections of an audit read them: names, prices, sums, the first line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..model.audit import CacheBreak, Charges, SessionAudit
from ..model.compared import Skipped
from .numbers import change, count, dollars, of
from .reading import short_names


@dataclass(frozen=True)
class AuditReading:
    """Some sessions as the sections read them: names, prices, sums.

    Nothing here measures anything.
    """

    sessions: tuple[SessionAudit, ...]
    skipped: tuple[Skipped, ...] = ()

    @cached_property
    def names(self) -> dict[str, str]:
        """The short name of each session."""
        return short_names([one.id for one in self.sessions])

    @cached_property
    def priced(self) -> bool:
        """True if every model has a listed price; else tokens stand for dollars."""
        return bool(self.sessions) and all(one.charges.usd is not None for one in self.sessions)

    @cached_property
    def calls(self) -> int:
        """The number of model calls."""
        return sum(len(one.turns) for one in self.sessions)

    @cached_property
    def breaks(self) -> list[tuple[SessionAudit, CacheBreak]]:
        """The cache breaks, each with its session."""
        return [*self.each("cache.breaks")]

    @cached_property
    def tokens_again(self) -> int:
        """The tokens that cache breaks billed again."""
        return sum(item.tokens_again for _, item in self.breaks)

    @cached_property
    def cost(self) -> float:
        """The dollars of all sessions, or their tokens."""
        return sum(self.size(one.charges) for one in self.sessions)

    @cached_property
    def minimum(self) -> tuple[str, str] | None:
        """The theoretical minimum: its change and its price; None where it is not known."""
        both = [(one.replayed, one.minimum) for one in self.sessions if one.replayed and one.minimum]
        now, least = (sum(self.size(pair[side]) for pair in both) for side in (0, 1))
        return (change(min(least / now, 1.0)), self.words(least)) if now else None

    @property
    def verdict(self) -> str:
        """The first line of every output."""
        if not self.sessions:
            return "No session could be read."
        results = of(sum(one.results for one in self.sessions), "tool result")
        text = f"{self.words(self.cost)} for {of(self.calls, 'model call')} and {results}."
        if self.breaks:
            text += f" {of(len(self.breaks), 'cache break')} billed {count(self.tokens_again)} tokens again."
        return text + (f" Theoretical minimum: {self.minimum[1]} ({self.minimum[0]})." if self.minimum else "")

    def size(self, charges: Charges) -> float:
        """The dollars of charges, or their tokens where not every model is priced."""
        return (charges.usd or 0.0) if self.priced else float(charges.prompt_tokens + charges.output_tokens)

    def price(self, usd: float | None, tokens: float) -> str:
        """Dollars, or tokens where no price is listed."""
        return dollars(usd) if self.priced and usd is not None else f"{count(round(tokens))} tokens"

    def words(self, size: float) -> str:
        """A size in words: dollars or tokens."""
        return self.price(size, size)

    def step(self, one: SessionAudit, step: int) -> str:
        """The place of something."""
        return f"step {step}" if len(self.sessions) == 1 else f"{self.names[one.id]}, step {step}"

    def each(self, path: str, order: Callable[[Any], Any] | None = None) -> Iterator[tuple[SessionAudit, Any]]:
        """Yields everything of one kind with its session, by an order or as recorded."""
        pairs = []
        for one in self.sessions:
            value: Any = one
            for name in path.split("."):
                value = getattr(value, name)
            pairs += [(one, item) for item in value]
        return iter(sorted(pairs, key=lambda pair: (order(pair[1]), pair[0].id)) if order else pairs)
