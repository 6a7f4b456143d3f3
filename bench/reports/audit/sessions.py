"""Audited sessions as the sections of an audit read them: names, prices, sums, the first line."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...model.audit import CacheBreak, Charges, SessionAudit
from ...model.compared import Skipped
from ..numbers import change, count, dollars, of
from ..reading import short_names


@dataclass(frozen=True)
class Sessions:
    """Some sessions and the files that could not be read. Nothing here measures anything.

    A size is dollars, or tokens where a model of these sessions has no listed price.
    """

    all: tuple[SessionAudit, ...]
    skipped: tuple[Skipped, ...] = ()

    @cached_property
    def names(self) -> dict[str, str]:
        """The short name of each session."""
        return short_names([one.id for one in self.all])

    @cached_property
    def priced(self) -> bool:
        """True if every model has a listed price."""
        return bool(self.all) and all(one.charges.usd is not None for one in self.all)

    @property
    def calls(self) -> int:
        """The number of model calls."""
        return sum(len(one.turns) for one in self.all)

    @cached_property
    def breaks(self) -> list[tuple[SessionAudit, CacheBreak]]:
        """The cache breaks, each with its session, the dearest first."""
        pairs = [(one, item) for one in self.all for item in one.cache.breaks]
        return sorted(pairs, key=lambda pair: (-pair[1].tokens_again, pair[1].turn))

    @property
    def size(self) -> float:
        """The size of all sessions."""
        return sum(self.size_of(one.charges) for one in self.all)

    @cached_property
    def minimum(self) -> tuple[float, float] | None:
        """The size by replay, today's and the theoretical minimum; None where nothing is known."""
        both = [(one.replayed, one.minimum) for one in self.all if one.replayed and one.minimum]
        now, least = (sum(self.size_of(pair[side]) for pair in both) for side in (0, 1))
        return (now, min(least, now)) if now else None

    @property
    def verdict(self) -> str:
        """The first line of every output."""
        if not self.all:
            return "No session could be read."
        results = of(sum(one.results for one in self.all), "tool result")
        text = f"{self.words(self.size)} for {of(self.calls, 'model call')} and {results}."
        if self.breaks:
            again = sum(item.tokens_again for _, item in self.breaks)
            text += f" {of(len(self.breaks), 'cache break')} billed {count(again)} tokens again."
        if self.minimum:
            less = change(self.minimum[1] / self.minimum[0]).lstrip("−")
            text += f" Theoretical minimum: {less} less."
        return text

    def size_of(self, charges: Charges) -> float:
        """The size of charges."""
        if self.priced:
            return charges.usd or 0.0
        return float(charges.prompt_tokens + charges.output_tokens)

    def words(self, size: float) -> str:
        """A size in words."""
        return dollars(size) if self.priced else f"{count(round(size))} tokens"

    def place(self, one: SessionAudit, step: int) -> str:
        """A step in words, with its session where there are several."""
        return f"step {step}" if len(self.all) == 1 else f"{self.names[one.id]}, step {step}"

    def each(self, field: str) -> list[tuple[SessionAudit, Any]]:
        """The items of one field of every session, each with its session."""
        return [(one, item) for one in self.all for item in getattr(one, field)]
