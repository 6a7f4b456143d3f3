"""One walk over the prompts of a replay: their prices, and the time of each message in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_

from ..model.messages import shared_length
from ..model.replay import Call, Replay
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


def with_one_of(numbers: Iterable[int], during: Mapping[int, int]) -> int:
    """The calls whose prompts have one of some messages.

    >>> with_one_of([1, 2, 3], {1: 0b1, 2: 0b100})
    5
    """
    return reduce(or_, map(during.__getitem__, during.keys() & numbers), 0)


@dataclass
class Walked:
    """The findings of one walk. Calls count from 0, messages are those of `TraceMessages`.

    Sets of calls are integers with a bit for each: those of each thread, and those `during` which
    each message was in the prompt. `left` are, for each call, the messages that only the prompt
    before it had.
    """

    calls: list[Call] = field(default_factory=list)
    priced: list[PricedCall] = field(default_factory=list)
    threads: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    during: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    left: list[set[int]] = field(default_factory=list)
    overflows: int = 0


def walk(replay: Replay, messages: TraceMessages, pricing: Pricing) -> Walked:
    """The findings of one walk over the prompts of a replay; each prompt only costs its changes.

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
        size = index.counting.prompt_tokens + call.tools_tokens + at.change(call)
        walked.overflows += index.window_tokens is not None and size > index.window_tokens
        walked.priced.append(pricing.price(call, at, size, messages.messages))
        at.last = call
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
