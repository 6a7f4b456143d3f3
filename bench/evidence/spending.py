"""The money of a recorded run by its use: output, and every message of every prompt, new or read from the provider's cache."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import msgspec

from ..model import Prompt, Run, Usage, Value
from .of_run import RunEvidence
from .pricing import PricedCall

OUTSIDE = -1
"""Stands for the step of what a prompt holds beside the recorded messages: framing, instructions and tool definitions of the harness."""


class Charges(Value, frozen=True, kw_only=True):
    """Tokens of one model call, or of several, by what the provider charges for them; `usd` is None without listed prices.

    `prompt_tokens` is the whole prompt: `cached_tokens` read from the cache, `written_tokens` put into it, the rest new.
    """

    prompt_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    output_usd: float = 0.0
    cached_usd: float = 0.0
    written_usd: float = 0.0

    @property
    def new_usd(self) -> float:
        """Dollars of the prompt tokens neither read from the cache nor written to it; 0 without listed prices."""
        return (self.usd or 0.0) - self.output_usd - self.cached_usd - self.written_usd

    @property
    def new_tokens(self) -> int:
        """Prompt tokens neither read from the cache nor written to it."""
        return self.prompt_tokens - self.cached_tokens - self.written_tokens


class TurnSpent(Value, frozen=True, kw_only=True):
    """One model call: its step, its thread, and what it took. `reported`: the provider's own counts; else counted here."""

    step: int
    thread: str
    reported: bool
    spent: Charges


class Carried(NamedTuple):
    """One message over the rest of its run: its own tokens, the number of prompts that held it, its tokens over all of these, and their dollars."""

    tokens: int
    prompts: int
    carried_tokens: float
    usd: float


def turns_spent(evidence: RunEvidence, *, as_reported: bool = True) -> tuple[TurnSpent, ...]:
    """Return what each model call of a recorded run took: as its usage says, and as counted and priced here where it says nothing.

    Without `as_reported` prompts are counted here, whatever the usage says: that is how two strategies compare. Where some calls report a cache and
    others nothing, these were served nothing; where none does, the provider's rule says what was.
    """
    usages = {turn.index: turn.usage if as_reported else None for turn in evidence.trace.model_turns}
    cache_told = any(usage is not None and usage.cached_prompt_tokens is not None for usage in usages.values())
    return tuple(
        TurnSpent(
            step=call.step,
            thread=prompt.thread,
            reported=usages[call.step] is not None,
            spent=_spent(call, usages[call.step], cache_told=cache_told),
        )
        for prompt, call in zip(evidence.run.prompts, evidence.calls, strict=True)
    )


def _spent(call: PricedCall, usage: Usage | None, *, cache_told: bool) -> Charges:
    prompt, read, written = call.prompt_tokens, call.read or 0, call.written
    if usage is not None and usage.prompt_tokens:
        prompt = usage.prompt_tokens
        told = usage.cached_prompt_tokens if usage.cached_prompt_tokens is not None or not cache_told else 0
        read = min(read if told is None else told, prompt)
        written = min(written if usage.cache_write_tokens is None else usage.cache_write_tokens, prompt - read)
    found = Charges(prompt_tokens=prompt, cached_tokens=read, written_tokens=written, output_tokens=call.answer_tokens)
    prices = call.prices
    if prices is None:
        return found
    usd = prices.cost_usd(prompt, read, written, call.answer_tokens)
    return msgspec.structs.replace(
        found,
        usd=usd,
        output_usd=usd - prices.cost_usd(prompt, read, written, 0),
        cached_usd=prices.cost_usd(prompt, prompt, 0, 0) * read / prompt if prompt else 0.0,
        written_usd=prices.cost_usd(prompt, 0, prompt, 0) * written / prompt if prompt else 0.0,
    )


def total(each: Sequence[Charges]) -> Charges:
    """Return the sum over some calls or runs; no dollars unless each has them. Of none: nothing.

    >>> total([Charges(prompt_tokens=5, usd=0.5), Charges(prompt_tokens=2)])
    Charges(prompt_tokens=7, cached_tokens=0, written_tokens=0, output_tokens=0, usd=None, output_usd=0.0, cached_usd=0.0, written_usd=0.0)
    """
    names = [field for field in Charges.__struct_fields__ if field != "usd"]
    sums = {name: sum(getattr(item, name) for item in each) for name in names}
    priced = all(item.usd is not None for item in each)
    return Charges(**sums, usd=sum(item.usd or 0.0 for item in each) if priced else None)


def carried(run: Run, calls: list[PricedCall], turns: tuple[TurnSpent, ...]) -> dict[int, Carried]:
    """Return what the message of each step cost over all prompts that held it, by step; `OUTSIDE` is what no recorded message accounts for.

    A prompt's tokens are shared out by size, so that they add up to what its call took. What was read from the cache is the start of a prompt. A
    summary that a harness wrote has no step, and counts as outside. Costs the changes between prompts, not their length.
    """
    threads: dict[str, ThreadCosts] = {}
    rates = {turn.step: _rates(call, turn.spent) for call, turn in zip(calls, turns, strict=True)}
    cached = {turn.step: turn.spent for turn in turns}
    for prompt in run.prompts:
        thread = threads.setdefault(prompt.thread, ThreadCosts(run))
        thread.take(prompt, cached[prompt.step], *rates[prompt.step])
    found: dict[int, Carried] = {}
    for thread in threads.values():
        thread.settle(0, len(thread.keys))
        for step, (tokens, prompts, over, usd) in thread.costs.items():
            before = found.get(step, Carried(0, 0, 0.0, 0.0))
            found[step] = Carried(tokens, before.prompts + prompts, before.carried_tokens + over, before.usd + usd)
    return found


def _rates(call: PricedCall, spent: Charges) -> tuple[float, float]:
    """Return dollars for a prompt token read from the cache, and for any other of the same call; (0, 0) without prices."""
    prices = call.prices
    if prices is None or not spent.prompt_tokens:
        return 0.0, 0.0
    read, fresh = spent.cached_tokens, spent.prompt_tokens - spent.cached_tokens
    whole = prices.cost_usd(spent.prompt_tokens, read, spent.written_tokens, 0)
    one = prices.cost_usd(spent.prompt_tokens, spent.prompt_tokens, 0, 0) / spent.prompt_tokens
    return one, (whole - one * read) / fresh if fresh else 0.0


class _Sums(NamedTuple):
    """Return the cost of a token that stood in every prompt so far: prompts, tokens as charged, dollars."""

    prompts: int = 0
    charged: float = 0.0
    usd: float = 0.0


class ThreadCosts:
    """The messages of one thread's prompts, each in one of two zones: the start that the cache served, and the rest.

    Both zones have running sums; a message remembers those of its zone when it came there, and is charged the difference when it leaves.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.keys: list[str] = []
        self.costs: dict[int, tuple[int, int, float, float]] = {}
        self._ends: list[int] = []  # tokens of the messages up to each one, itself included
        self._entered: list[_Sums] = []
        self._served = 0  # the messages at the start that the cache served last
        self._sums = {True: _Sums(), False: _Sums()}  # by: was it served

    def take(self, prompt: Prompt, spent: Charges, cached_usd: float, fresh_usd: float) -> None:
        """Charge the next prompt of the thread."""
        at = min((splice.at for splice in prompt.splices), default=len(self.keys))
        self.settle(at, len(self.keys))
        del self._ends[at:], self._entered[at:]
        prompt.edit(self.keys)
        sizes = [self.run.message_tokens[key] for key in self.keys[at:]]
        self._ends += [*accumulate(sizes, initial=self._ends[-1] if self._ends else 0)][1:]
        scale = spent.prompt_tokens / prompt.tokens if prompt.tokens else 0.0
        inside = self._ends[-1] if self._ends else 0
        outside = max(0, prompt.tokens - inside)
        read = spent.cached_tokens / scale if scale else 0.0
        served = bisect_right(self._ends, read - outside)
        low, high = sorted((min(self._served, at), min(served, at)))
        self.settle(low, high)
        self._served = served
        self._entered[low:high] = [self._sums[place < served] for place in range(low, high)]
        self._entered += [self._sums[place < served] for place in range(at, len(self.keys))]
        for zone, usd in ((True, cached_usd), (False, fresh_usd)):
            before = self._sums[zone]
            self._sums[zone] = _Sums(before.prompts + 1, before.charged + scale, before.usd + usd * scale)
        from_cache = min(outside, read)
        usd = (from_cache * cached_usd + (outside - from_cache) * fresh_usd) * scale
        self._charge(OUTSIDE, outside, 1, outside * scale, usd)
        if served < len(self.keys):  # a message of which the cache served a part was charged as new
            part = max(0.0, read - outside - (self._ends[served - 1] if served else 0))
            self._charge(self._step(served), 0, 0, 0.0, part * (cached_usd - fresh_usd) * scale)

    def settle(self, first: int, last: int) -> None:
        """Charge the messages of some places for the prompts since they came into their zone."""
        for place in range(first, last):
            tokens = self.run.message_tokens[self.keys[place]]
            then, now = self._entered[place], self._sums[place < self._served]
            self._charge(
                self._step(place),
                tokens,
                now.prompts - then.prompts,
                tokens * (now.charged - then.charged),
                tokens * (now.usd - then.usd),
            )

    def _step(self, place: int) -> int:
        step = self.run.messages[self.keys[place]].step
        return OUTSIDE if step is None else step

    def _charge(self, step: int, tokens: int, prompts: int, charged: float, usd: float) -> None:
        size, times, over, cost = self.costs.get(step, (tokens, 0, 0.0, 0.0))
        same = times if tokens == size else 0
        held = times if tokens < size else same + prompts  # a notice in its place is not it
        self.costs[step] = max(size, tokens), held, over + charged, cost + usd
