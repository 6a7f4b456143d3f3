"""One walk over the prompts of a replay: their prices, the time of each message in them, the unmet
needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..model.index import Need
from ..model.messages import shared_length
from ..model.replay import Call, Replay
from .handles import Handles
from .messages import TraceMessages
from .prices import PricedCall, Pricing, ThreadPrompt


def members(calls: int) -> Iterator[int]:
    """Yield the calls of a set, which is an integer with a bit for each, in order.

    >>> [*members(0b1011)]
    [0, 1, 3]
    """
    while calls:
        lowest = calls & -calls
        yield lowest.bit_length() - 1
        calls ^= lowest


class Missed(NamedTuple):
    """A need that a prompt did not meet, and a handle in that prompt that leads to the fact; `""`
    without one."""

    step: int
    need: Need
    handle: str = ""


@dataclass
class Walked:
    """The findings of one walk. Calls count from 0, messages are those of `TraceMessages`.

    Sets of calls are integers with a bit for each: those of each thread, and those `during` which
    each message was in the prompt. `left` are, for each call, the messages that only the prompt
    before it had. `needs` are those of all calls.
    """

    calls: list[Call] = field(default_factory=list)
    priced: list[PricedCall] = field(default_factory=list)
    threads: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    during: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    left: list[set[int]] = field(default_factory=list)
    missed: list[Missed] = field(default_factory=list)
    needs: list[Need] = field(default_factory=list)
    overflows: int = 0

    @property
    def lost(self) -> list[Missed]:
        """The unmet needs that no handle leads to."""
        return [item for item in self.missed if not item.handle]

    @property
    def turns_missing(self) -> int:
        """The number of turns with such a need."""
        return len({item.step for item in self.lost})


def walk(
    replay: Replay,
    messages: TraceMessages,
    pricing: Pricing,
    handles: Handles,
    is_read: Callable[[int], bool],
) -> Walked:
    """The findings of one walk over the prompts of a replay; each prompt only costs its changes. A
    need is met by a recorded message with its fact, or by a text of the strategy that really keeps
    it, or that has it and cannot be read as its result (`is_read` by its number).

    The window of an unknown model is never exceeded.
    """
    numbers, index = messages.numbers_of(replay), messages.index
    prompts: dict[str, ThreadPrompt] = defaultdict(lambda: ThreadPrompt(messages.tokens))
    since: dict[str, dict[int, int]] = defaultdict(dict)
    walked = Walked()
    for local in replay.calls:
        at, present = prompts[local.thread], since[local.thread]
        call = _renumbered(local, at, numbers)
        _change(walked, call, at, present)
        for item in call.tail:
            if item >= messages.recorded:
                messages.facts_in(item)  # read, so that it is known as a holder
        size = index.counting.prompt_tokens + call.tools_tokens + at.change(call)
        walked.overflows += index.window_tokens is not None and size > index.window_tokens
        walked.priced.append(pricing.price(call, at, size, messages.messages))
        at.last = call
        _judge(walked, call, present, messages, handles, is_read)
    for thread, present in since.items():
        for item, first in present.items():
            walked.during[item] |= walked.threads[thread] >> first << first
    return walked


def _renumbered(local: Call, at: ThreadPrompt, numbers: Sequence[int]) -> Call:
    """A call with the numbers of its trace, and all equal messages at its start kept."""
    tail = tuple(numbers[item] for item in local.tail)
    same = shared_length(tuple(at.numbers[local.keep :]), tail)
    tools = local.tools_tokens, local.tools_changed
    return Call(local.step, local.thread, local.keep + same, tail[same:], *tools)


def _change(walked: Walked, call: Call, at: ThreadPrompt, present: dict[int, int]) -> None:
    """Note a call, and what it removes from the prompt of its thread and adds to it.

    `present` are the messages in that prompt, each with the first call that had it.
    """
    number, dropped, came = len(walked.calls), set(at.numbers[call.keep :]), set(call.tail)
    left = {item for item in dropped - came if item in present}
    for item in left:
        first = present.pop(item)
        walked.during[item] |= walked.threads[call.thread] >> first << first
    for item in came - dropped:
        present.setdefault(item, number)
    walked.calls.append(call)
    walked.left.append(left)
    walked.threads[call.thread] |= 1 << number


def _judge(
    walked: Walked,
    call: Call,
    present: Mapping[int, int],
    messages: TraceMessages,
    handles: Handles,
    is_read: Callable[[int], bool],
) -> None:
    """Record the unmet needs of a turn: those that no message of its prompt has."""
    index = messages.index
    for need in index.needs.get(call.step, ()):
        walked.needs.append(need)
        if not present.keys().isdisjoint(index.holders[need.fact]):
            continue
        own = [item for item in messages.own_holders[index.facts[need.fact]] if item in present]
        if any(messages.keeps(item, need) or not is_read(item) for item in own):
            continue
        shown = [item for item in present if item >= messages.recorded] if handles else []
        handle = handles.giving(index.facts[need.fact], call.step, shown)
        walked.missed.append(Missed(call.step, need, handle))
