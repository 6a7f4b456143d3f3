"""One walk over the prompts of a replay: their prices, the time of each message in them, the unmet
needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from ..model.index import Need
from ..model.replay import Call, Replay
from .handles import Handles
from .messages import TraceMessages
from .needs import FAR_TURNS
from .prices import PricedCall, Pricing, ThreadPrompt


class Missed(NamedTuple):
    """A need that a prompt did not meet, and a handle in that prompt that leads to the fact; `""`
    without one."""

    step: int
    need: Need
    handle: str = ""


class Stay(NamedTuple):
    """The calls, by number, whose prompts have a message: from `first` up to but not including
    `after`."""

    first: int
    after: int
    thread: str


@dataclass
class Walked:
    """The findings of one walk. Calls count from 0, messages are those of `TraceMessages`.

    `turns_missing` counts the calls with an unmet need that no handle leads to. `held` of the
    `needs` were met; `far_kept` of the `far` needs, last mentioned six or more turns ago.
    """

    calls: list[Call] = field(default_factory=list)
    priced: list[PricedCall] = field(default_factory=list)
    stays: dict[int, list[Stay]] = field(default_factory=lambda: defaultdict(list))
    missed: list[Missed] = field(default_factory=list)
    needs: int = 0
    far: int = 0
    turns_missing: int = 0
    overflows: int = 0

    @property
    def lost(self) -> list[Missed]:
        """The unmet needs that no handle leads to."""
        return [item for item in self.missed if not item.handle]


def walk(replay: Replay, messages: TraceMessages, pricing: Pricing) -> Walked:
    """The findings of one walk over the prompts of a replay; each prompt only costs its changes. A
    need is met by a recorded message with its fact, or by a text of the strategy that really keeps
    it.

    The window of an unknown model is never exceeded.
    """
    numbers = messages.numbers_of(replay)
    index, tokens = messages.index, messages.tokens
    handles = Handles(replay, messages)
    threads: dict[str, ThreadPrompt] = defaultdict(ThreadPrompt)
    by_thread: dict[str, dict[int, int]] = defaultdict(dict)
    walked = Walked()
    for number, local in enumerate(replay.calls):
        tail = tuple(numbers[at] for at in local.tail)
        at, present = threads[local.thread], by_thread[local.thread]
        old = at.numbers[local.keep :]
        same = _shared(old, tail)
        call = Call(
            local.step,
            local.thread,
            local.keep + same,
            tail[same:],
            local.tools_tokens,
            local.tools_changed,
        )
        _change(walked, call, at, present, number)
        for item in call.tail:
            if item >= messages.recorded:
                messages.facts_in(item)  # read, so that it is known as a holder
        at.length_before = len(at.numbers)
        at.numbers[call.keep :] = call.tail
        sums = accumulate((tokens[item] for item in call.tail), initial=at.sums[call.keep])
        at.sums[call.keep :] = sums
        size = index.counting.prompt_tokens + call.tools_tokens + at.sums[-1]
        walked.overflows += index.window_tokens is not None and size > index.window_tokens
        walked.calls.append(call)
        walked.priced.append(pricing.price(call, at, size, messages.messages))
        at.last = call
        _judge(walked, call, present, messages, handles)
    for thread, present in by_thread.items():
        for item, first in present.items():
            walked.stays[item].append(Stay(first, len(walked.calls), thread))
    return walked


def _shared(old: Sequence[int], new: Sequence[int]) -> int:
    """The number of equal messages at the start of two lists."""
    return next(
        (at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b),
        min(len(old), len(new)),
    )


def _change(
    walked: Walked, call: Call, at: ThreadPrompt, present: dict[int, int], number: int
) -> None:
    """Update the messages in the prompt by what a call removes and adds."""
    dropped, came = set(at.numbers[call.keep :]), set(call.tail)
    for item in dropped - came:
        if item not in present:
            continue
        walked.stays[item].append(Stay(present.pop(item), number, call.thread))
    for item in came - dropped:
        present.setdefault(item, number)


def _judge(
    walked: Walked,
    call: Call,
    present: Mapping[int, int],
    messages: TraceMessages,
    handles: Handles,
) -> None:
    """Record the unmet needs of a turn: those that no message of its prompt has."""
    index = messages.index
    missing = False
    for need in index.needs.get(call.step, ()):
        walked.needs += 1
        walked.far += need.distance >= FAR_TURNS
        if not present.keys().isdisjoint(index.holders[need.fact]):
            continue
        own = messages.own_holders(need.fact)
        if any(messages.keeps(item, need) for item in own if item in present):
            continue
        shown = [item for item in present if item >= messages.recorded] if handles else []
        handle = handles.giving(need.fact, call.step, shown)
        walked.missed.append(Missed(call.step, need, handle))
        missing = missing or not handle
    walked.turns_missing += missing
