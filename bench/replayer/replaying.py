"""The replayer of one trace: (Trace, TraceIndex, Strategy) → Replay."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import msgspec

from ..model import Failure, compact_json, plain
from ..model.errors import one_line
from ..model.replay import Replay
from ..strategies import Strategy
from ..strategies.user_code.functions import SlotFunction
from .border import Border, Plugins
from .loop import Loop
from .recording import Recording
from .state import Ledger, Numbers

STEPS = 40
"""The number of steps of a trace to replay a second time."""

_STAMP = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\b[0-9a-f]{32}\b|\b1[5-9]\d{8}(?:\d{3})?(?:\.\d+)?\b"
)
"""A time or a random identifier, with which a stored value may be stamped."""


class Replayer(Recording):
    """A recording that is replayed through any number of strategies, independently."""

    def replay(self, strategy: Strategy, *, again: bool = True) -> Replay:
        """One replay; with `again` the first steps of user code are replayed a second time, by a
        process that imports it anew and has its sets in another order."""
        if strategy.broken:
            failure = Failure(step=-1, slot="strategy", error=one_line(strategy.broken))
            return Replay(strategy=strategy.name, spec=strategy.spec, failure=failure)
        first = self._replay_once(strategy)
        if not (again and strategy.has_user_code) or first.failure is not None:
            return first
        second = self._replay_once(strategy, STEPS, again=True)
        step = first_difference(first, second, len(self.messages))
        return msgspec.structs.replace(first, unstable_at=step)

    def _replay_once(
        self, strategy: Strategy, before: int | None = None, *, again: bool = False
    ) -> Replay:
        """A replay of all steps, or of those before an index.

        User code gets copies and gives data, in a child process or in this one; with `again` in
        another child.
        """
        ledger = Ledger(Numbers(self.count.of, self.messages, self.index.tokens))

        def over(border: Border) -> Replay:
            return Loop(strategy, self, ledger, border.start).replay(before)

        if strategy.sandbox is not None:
            box = strategy.sandbox
            child, number = box.another if again else box.child, box.number
            # No other replay can look into the process of a second one.
            with child.session(number, waits=again) as session:
                return over(Border(session.ask, ledger))
        if strategy.has_user_code:
            plugins = Plugins(strategy)

            def ask(*request: Any, count: Callable[[bytes], int]) -> bytes:
                copy = pickle.loads(pickle.dumps(request, pickle.HIGHEST_PROTOCOL))
                return plugins.answer(count, *copy)

            return over(Border(ask, ledger))

        def start(slot: str, place: int) -> SlotFunction:
            plugin = strategy.plugins[slot][place]
            if plugin.attribute("needs_future", False):
                plugin = replace(plugin, arguments={"future": self.future})
            return SlotFunction(plugin)

        return Loop(strategy, self, ledger, start).replay(before)


# ---------------------------------------------------------------- two replays


def first_difference(replay: Replay, again: Replay, messages: int) -> int | None:
    """The first step at which two replays differ; None if they agree.

    The second one may be shorter. Times and random identifiers in stored values may differ.
    `messages` is the number of recorded messages.
    """
    differing = [] if again.failure is None else [again.failure.step]
    for parts in zip(_parts(replay, messages), _parts(again, messages), strict=True):
        for (step, *one), (_, *same) in zip(*parts, strict=False):
            if one[:-1] != same[:-1] or not _is_alike(one[-1], same[-1]):
                differing.append(step)
                break
    return min(differing, default=None)


def _parts(replay: Replay, messages: int) -> tuple[Iterator[tuple[Any, ...]], ...]:
    """The parts of a replay that can reach a prompt, a route or a gate, each after its step and
    before what may have times and random identifiers."""

    def shows(number: int) -> Any:
        """A recorded message by its number, a generated one by its text: its number may differ."""
        own = number - messages
        return number if own < 0 else (replay.written[own].role, replay.written[own].text)

    calls = ((call.step, call.keep, [*map(shows, call.tail)], None) for call in replay.calls)
    results = (
        (
            item.step,
            shows(item.message),
            item.record.success,
            _is_alike(item.evaluation, item.evaluation_untruncated),
            item.stored,
        )
        for item in replay.results
    )
    routes = (
        (one.step, one.route, one.untruncated, one.detail.get("ranked")) for one in replay.decisions
    )
    return calls, results, routes


def _is_alike(one: Any, other: Any) -> bool:
    """True if two values are equal as JSON, in which one NaN equals another, but for times and
    random identifiers."""
    texts = [compact_json(plain(value)) for value in (one, other)]
    return texts[0] == texts[1] or _STAMP.sub("~", texts[0]) == _STAMP.sub("~", texts[1])
