"""The cost of each message over all prompts with it: a prompt's charges are divided among its
messages by size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import accumulate
from operator import add
from typing import NamedTuple

from ..model import Message, Usage, grouped
from ..model.audit import Charges
from ..model.replay import Call

OUTSIDE, TOOLS = -1, -2
"""The numbers for the parts of a prompt outside of its messages: the recorded tool definitions, as
far as that much was billed, and all else that was billed."""


class Carried(NamedTuple):
    """One message over a run: the number of prompts with it, its tokens in all of them, and their
    dollars."""

    prompts: int = 0
    tokens: float = 0.0
    usd: float = 0.0


class _Rates(NamedTuple):
    """The rates of one call: charged tokens per counted token, the counted tokens that the cache
    served, and dollars per token of each use."""

    scale: float
    served: float
    cached_usd: float
    fresh_usd: float

    def usd(self, start: float, size: float) -> float:
        """Dollars of `size` counted tokens from `start` on; the cache served those at the beginning
        of the prompt."""
        from_cache = min(max(self.served - start, 0.0), size)
        return from_cache * self.cached_usd + (size - from_cache) * self.fresh_usd


def carried_by(
    calls: Sequence[Call], tokens: Sequence[int], charges: Mapping[int, Charges]
) -> dict[int, Carried]:
    """The cost of each message over the run, by its number; `TOOLS` are the recorded tool
    definitions, `OUTSIDE` is the rest of the prompts.

    `tokens` are those of each message, `charges` those of each call by its step. Tokens and dollars
    add up to those of the calls. The parts outside of messages count as the beginning of a prompt,
    and the cache serves a prompt from its start. Without listed prices dollars are 0. No calls: {}.

    >>> calls = [Call(1, "main", 0, (0,)), Call(3, "main", 1, (1,), tools_tokens=5)]
    >>> one = Charges(prompt_tokens=10, usd=1.0, new_usd=1.0)
    >>> two = Charges(prompt_tokens=47, cached_tokens=17, usd=3.17, new_usd=3.0, cached_usd=0.17)
    >>> found = carried_by(calls, [10, 30], {1: one, 3: two})
    >>> [(number, cost.prompts, cost.tokens, round(cost.usd, 6)) for number, cost in found.items()]
    [(-2, 1, 5.0, 0.05), (-1, 1, 2.0, 0.02), (0, 2, 20.0, 1.1), (1, 1, 30.0, 3.0)]
    """
    carried = defaultdict[int, Carried](Carried)
    for of_thread in grouped((call.thread, call) for call in calls).values():
        for number, cost in _of_thread(of_thread, tokens, charges):
            carried[number] = Carried(*map(add, carried[number], cost))
    return dict(carried)


def within_reported(
    calls: Sequence[Call],
    messages: Sequence[Message],
    tokens: Sequence[int],
    usages: Mapping[int, Usage | None],
) -> list[int]:
    """The tokens of each message, reduced where the provider's counts allow no more. `usages` are
    the reported ones of the model turns, by step.

    A prompt that goes on with an answer and its results cannot have got more of them than it grew.
    One that grew by less than half lost something that was not recorded, and bounds nothing.

    >>> calls = [Call(1, "main", 0, (0,)), Call(3, "main", 1, (1, 2))]
    >>> messages = [Message(role="user", kind=kind, text="") for kind in ("user", "model", "result")]
    >>> usages = {1: Usage(prompt_tokens=10), 3: Usage(prompt_tokens=70)}
    >>> within_reported(calls, messages, [10, 20, 60], usages)
    [10, 15, 45]
    """
    bounded = list(tokens)
    before: dict[str, tuple[int, int]] = {}  # by thread: messages and reported tokens
    for call in calls:
        usage = usages.get(call.step)
        length, reported = before.get(call.thread, (0, 0))
        now = usage.prompt_tokens if usage is not None else 0
        before[call.thread] = call.keep + len(call.tail), now
        counted, grew = sum(tokens[number] for number in call.tail), now - reported
        goes_on = call.keep == length and all(
            messages[n].kind in ("model", "result") for n in call.tail
        )
        if reported and goes_on and counted / 2 <= grew < counted:
            for number in call.tail:
                bounded[number] = tokens[number] * grew // counted
    return bounded


def _of_thread(
    calls: Sequence[Call], tokens: Sequence[int], charges: Mapping[int, Charges]
) -> list[tuple[int, Carried]]:
    """The cost of each message of one thread from joining the prompts to leaving them."""
    prompt: list[tuple[int, int]] = []  # a message and the call that brought it to its place
    ends: list[int] = [0]
    rates: list[tuple[_Rates, float]] = []
    pairs: list[tuple[int, Carried]] = []

    def leave(keep: int) -> None:
        """Add the costs of the messages after the first `keep`, which leave the prompt."""
        for place in range(keep, len(prompt)):
            number, since = prompt[place]
            start, size = ends[place], ends[place + 1] - ends[place]
            stay = rates[since:]
            carried = sum(rate.scale for rate, _ in stay) * size
            usd = sum(rate.usd(outside + start, size) for rate, outside in stay)
            pairs.append((number, Carried(len(stay), carried, usd)))

    for at, call in enumerate(calls):
        leave(call.keep)
        prompt[call.keep :] = [(number, at) for number in call.tail]
        ends[call.keep :] = accumulate((tokens[n] for n in call.tail), initial=ends[call.keep])
        charged = charges[call.step]
        inside = ends[-1]
        scale = min(1.0, charged.prompt_tokens / inside) if inside else 1.0
        rate = _rates_of(charged, scale)
        outside = charged.prompt_tokens - inside if scale == 1.0 else 0.0
        rates.append((rate, outside))
        tools = min(outside, call.tools_tokens)
        for number, start, size in ((TOOLS, 0.0, tools), (OUTSIDE, tools, outside - tools)):
            if size:
                pairs.append((number, Carried(1, size, rate.usd(start, size))))
    leave(0)
    return pairs


def _rates_of(charged: Charges, scale: float) -> _Rates:
    """The rates of one call per token as counted here; 0 without prices."""
    fresh_tokens = charged.prompt_tokens - charged.cached_tokens
    cached = charged.cached_usd / charged.cached_tokens if charged.cached_tokens else 0.0
    fresh = (charged.new_usd + charged.written_usd) / fresh_tokens if fresh_tokens else 0.0
    served = charged.cached_tokens / scale if scale else 0.0
    return _Rates(scale, served, cached * scale, fresh * scale)
