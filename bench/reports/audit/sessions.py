"""The view of audited sessions that the sections of an audit share: names, prices, sums, first
line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any

from ...comparison.run_names import names_of
from ...comparison.wording import change
from ...model.audit import Charges, DearResult, PromptPart, SessionAudit
from ...model.compared import Skipped
from ...text.wording import count, counted, dollars

_FITS = 0.95
"""The least share of turns that a cache model which fits explains."""


def _tokens(one: SessionAudit) -> float:
    return _all_tokens(one.charges)


def _all_tokens(charges: Charges) -> float:
    return float(charges.prompt_tokens + charges.output_tokens)


def _words(size: float, is_price: bool, *, unit: bool = True) -> str:
    return dollars(size) if is_price else f"{count(round(size))}{' tokens' * unit}"


@dataclass(frozen=True)
class Sessions:
    """Some sessions and the files that could not be read. Nothing here measures anything.

    A size is a price in dollars, or a number of tokens where most tokens have no listed price.
    """

    all: tuple[SessionAudit, ...]
    skipped: tuple[Skipped, ...] = ()

    @cached_property
    def names(self) -> dict[str, str]:
        """The name of each session."""
        return names_of([one.id for one in self.all], {one.id: one.task for one in self.all})

    @cached_property
    def priced(self) -> bool:
        """True if the sessions with listed prices have half of all tokens or more."""
        known = [one for one in self.all if one.charges.usd is not None]
        return bool(known) and 2 * sum(map(_tokens, known)) >= sum(map(_tokens, self.all))

    @cached_property
    def sized(self) -> tuple[SessionAudit, ...]:
        """The sessions that have a size: of priced ones, those with a price."""
        return tuple(it for it in self.all if not self.priced or it.charges.usd is not None)

    @property
    def calls(self) -> int:
        """The number of model calls of the sessions that have a size."""
        return sum(map(self.calls_of, self.sized))

    def calls_of(self, one: SessionAudit) -> int:
        """The number of model calls of a session that are counted there."""
        return sum(not turn.counted_in for turn in one.turns)

    @property
    def size(self) -> float:
        """The size of all sessions."""
        return sum(self.size_of(one.charges) for one in self.sized)

    @cached_property
    def minimum(self) -> tuple[float, float, float] | None:
        """The size of the sessions that were replayed: as billed, as counted by replay, and with
        perfect foresight; None if nothing is known. In tokens if the cache model does not fit."""
        size_of = self.size_of if self.cache_fits else _all_tokens
        each = [
            [size_of(one.charges), size_of(one.replayed), size_of(one.minimum)]
            for one in self.sized
            if one.replayed and one.minimum
        ]
        billed, now, least = map(sum, zip(*each, strict=True)) if each else (0, 0, 0)
        return (billed, now, min(least, now)) if now else None

    @property
    def cache_fits(self) -> bool:
        """True if the cache model explains most of the turns that it can judge."""
        judged = sum(one.cache.judged for one in self.all)
        return sum(one.cache.explained for one in self.all) >= _FITS * judged

    @property
    def verdict(self) -> str:
        """The first line of every output."""
        if not self.all:
            return "No session could be read."
        results = counted(sum(one.results for one in self.sized), "tool result")
        text = f"{self.words(self.size)} for {counted(self.calls, 'model call')} and {results}."
        if without := len(self.all) - len(self.sized):
            of_all = counted(len(self.all), "session")
            text += f" Not counted: {count(without)} of {of_all} without a price."
        if breaks := self.each("cache.breaks"):
            again = count(sum(item.tokens_again for _, item in breaks))
            text += f" {counted(len(breaks), 'cache break')} billed {again} tokens again."
        if self.minimum:
            billed, now, least = self.minimum
            is_price = self.priced and self.cache_fits
            sizes = f"{_words(now, is_price, unit=False)} → {_words(least, is_price)}"
            less = change(least / now).lstrip("−")
            only = "requests that stand and what later turns used"
            how = "counted by replay"
            if (as_billed := _words(billed, is_price)) != _words(now, is_price):
                how += f" where the reported usage gives {as_billed}"
            text += f" Theoretical minimum ({only}): {less} less ({sizes}, {how})."
        return text

    def size_of(self, charges: Charges) -> float:
        """The size of some charges: dollars, or tokens where something is not priced."""
        if self.priced:
            return charges.usd or 0.0
        return _all_tokens(charges)

    def size_words(self, one: SessionAudit) -> str:
        """The size of a session in words, with the unit where it is another one."""
        if one.charges.usd is None and self.priced:
            return _words(_tokens(one), is_price=False)
        return self.words(self.size_of(one.charges), unit=False)

    def size_in_prompts(self, item: PromptPart | DearResult) -> float:
        """The size of messages over all prompts that have them."""
        return (item.usd or 0.0) if self.priced else float(item.carried_tokens)

    def words(self, size: float, *, unit: bool = True) -> str:
        """A size in words, with or without the unit of tokens."""
        return _words(size, self.priced, unit=unit)

    def headings(self, pairs: Sequence[tuple[SessionAudit, Any]]) -> list[str]:
        """The name of each item's session; none if there is only one."""
        return [self.names[one.id] for one, _ in pairs] if len(self.all) > 1 else []

    def each(
        self, field: str, key: Callable[[Any], float] | None = None
    ) -> list[tuple[SessionAudit, Any]]:
        """The items of a field of every session, each with its session; by `key`, largest first."""
        pairs = [(one, item) for one in self.all for item in attrgetter(field)(one)]
        return sorted(pairs, key=lambda pair: -key(pair[1])) if key else pairs
