"""The replayer of one trace: (Trace, TraceIndex, Strategy) → Replay.

It starts a strategy's plug-ins, behind the `border` if they are user code, and runs the `loop`.
"""

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
"""A time or a random identifier, which may be in a stored value and differ in every run."""


class Replayer(Recording):
    """A recording that is replayed through any number of strategies, independently."""

    def replay(self, strategy: Strategy, *, again: bool = True) -> Replay:
        """The replay through a strategy. With `again` user code replays the first steps a second
        time, in a process that imports it anew and whose sets have another order."""
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

        User code gets copies and returns data, whether it runs in a child process or in this one.
        With `again` it runs in another child.
        """
        ledger = Ledger(Numbers(self.count.of, self.messages, self.index.tokens))

        def replay_behind(border: Border) -> Replay:
            return Loop(strategy, self, ledger, border.start).replay(before)

        if strategy.sandbox is not None:
            box = strategy.sandbox
            child, number = box.another if again else box.child, box.number
            # Wait for the end of a second replay's process: no other replay can look into it.
            with child.session(number, waits=again) as session:
                return replay_behind(Border(session.ask, ledger))
        if strategy.has_user_code:
            plugins = Plugins(strategy)

            def ask(*request: Any, count: Callable[[bytes], int]) -> bytes:
                copy = pickle.loads(pickle.dumps(request, pickle.HIGHEST_PROTOCOL))
                return plugins.answer(count, *copy)

            return replay_behind(Border(ask, ledger))

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
    steps = [] if again.failure is None else [again.failure.step]
    for parts in zip(_parts(replay, messages), _parts(again, messages), strict=True):
        for (step, *values, stored), (_, *values_again, stored_again) in zip(*parts, strict=False):
            if values != values_again or not _is_alike(stored, stored_again):
                steps.append(step)
                break
    return min(steps, default=None)


def _parts(replay: Replay, messages: int) -> tuple[Iterator[tuple[Any, ...]], ...]:
    """The calls, results and routes of a replay as tuples: the step, what another replay must
    repeat, and last the value that may contain times and random identifiers."""

    def content(number: int) -> Any:
        """The number of a recorded message; the role and text of a generated one, whose number may
        differ in another replay."""
        generated = None if number < messages else replay.written[number - messages]
        return (generated.role, generated.text) if generated else number

    calls = ((call.step, call.keep, [*map(content, call.tail)], None) for call in replay.calls)
    results = (
        (
            item.step,
            content(item.message),
            item.record.success,
            _is_alike(item.evaluation, item.evaluation_untruncated),
            item.stored,
        )
        for item in replay.results
    )
    routes = (
        (item.step, item.route, item.untruncated, item.detail.get("ranked"))
        for item in replay.decisions
    )
    return calls, results, routes


def _is_alike(value: Any, value_again: Any) -> bool:
    """True if two values are equal as JSON, apart from times and random identifiers. (In JSON every
    NaN is null, so two of them are equal.)"""
    text, text_again = compact_json(plain(value)), compact_json(plain(value_again))
    return text == text_again or _STAMP.sub("~", text) == _STAMP.sub("~", text_again)
