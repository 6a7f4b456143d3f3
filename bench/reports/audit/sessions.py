"""The view of audited sessions that the sections of an audit share: names, prices, sums, first
line."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

from ...model.audit import CacheBreak, Charges, DearResult, PromptPart, SessionAudit
from ...model.compared import Skipped
from ..numbers import change, count, counted, dollars
from ..reading import short_names

_T = TypeVar("_T")


class OfSession(NamedTuple, Generic[_T]):
    """Something found in a session, with that session."""

    session: SessionAudit
    item: _T


class Minimum(NamedTuple):
    """The size of sessions by replay: today's, and the theoretical minimum."""

    now: float
    least: float


@dataclass(frozen=True)
class Sessions:
    """Some sessions and the files that could not be read. Nothing here measures anything.

    A size is a price in dollars, or a number of tokens where a model has no listed price.
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
    def breaks(self) -> list[OfSession[CacheBreak]]:
        """The cache breaks, each with its session, the dearest first."""
        found = [OfSession(one, item) for one in self.all for item in one.cache.breaks]
        return sorted(found, key=lambda it: (-it.item.tokens_again, it.item.turn))

    @property
    def size(self) -> float:
        """The size of all sessions."""
        return sum(self.size_of(one.charges) for one in self.all)

    @cached_property
    def minimum(self) -> Minimum | None:
        """The sizes of the sessions that were replayed; None if nothing is known."""
        both = [(one.replayed, one.minimum) for one in self.all if one.replayed and one.minimum]
        now = sum(self.size_of(replayed) for replayed, _ in both)
        least = sum(self.size_of(minimum) for _, minimum in both)
        return Minimum(now, min(least, now)) if now else None

    @property
    def verdict(self) -> str:
        """The first line of every output."""
        if not self.all:
            return "No session could be read."
        results = counted(sum(one.results for one in self.all), "tool result")
        text = f"{self.words(self.size)} for {counted(self.calls, 'model call')} and {results}."
        if self.breaks:
            again = sum(item.tokens_again for _, item in self.breaks)
            text += (
                f" {counted(len(self.breaks), 'cache break')} billed {count(again)} tokens again."
            )
        if self.minimum:
            less = change(self.minimum.least / self.minimum.now).lstrip("−")
            text += f" Theoretical minimum: {less} less."
        return text

    def size_of(self, charges: Charges) -> float:
        """The size of some charges: dollars, or tokens where something is not priced."""
        if self.priced:
            return charges.usd or 0.0
        return float(charges.prompt_tokens + charges.output_tokens)

    def size_in_prompts(self, item: PromptPart | DearResult) -> float:
        """The size of messages over all prompts that have them."""
        return (item.usd or 0.0) if self.priced else float(item.carried_tokens)

    def words(self, size: float) -> str:
        """A size in words."""
        return dollars(size) if self.priced else f"{count(round(size))} tokens"

    def place(self, one: SessionAudit, step: int) -> str:
        """A step in words, with its session where there are several."""
        return f"step {step}" if len(self.all) == 1 else f"{self.names[one.id]}, step {step}"

    def each(self, field: str) -> list[OfSession[Any]]:
        """The items of one field of every session, each with its session."""
        return [OfSession(one, item) for one in self.all for item in getattr(one, field)]
