"""The replayer of one trace: (Trace, TraceIndex, Strategy) → Replay."""

from __future__ import annotations

import functools
from collections.abc import Callable

import msgspec

from ..evidence.contents import TraceContents
from ..model import Failure, Trace
from ..model.errors import one_line
from ..model.index import TraceIndex
from ..model.replay import Replay
from ..strategies import Strategy
from ..strategies.user_code.functions import SlotFunction
from ..tokens.counting import TokenCounter
from . import unstable
from .border import Border
from .ledger import Ledger
from .loop import Loop
from .numbering import Numbers
from .recording import Recording
from .serving import Plugins, answer_call
from .threads import Start


class Replayer:
    """Replays one trace through any number of strategies, independently.

    `count` counts tokens as the index does; its memo, and `contents`, are shared with the caller.
    """

    def __init__(
        self,
        trace: Trace,
        index: TraceIndex,
        count: TokenCounter | None = None,
        contents: TraceContents | None = None,
    ) -> None:
        counter = count or TokenCounter(index.encoding, index.counting)
        self._recording = Recording(trace, index, counter, contents or TraceContents(trace))

    def replay(self, strategy: Strategy, *, again: bool = True) -> Replay:
        """One replay; with `again` the first steps of user code are replayed a second time, by a
        process that imports it anew and has its sets in another order."""
        if strategy.broken:
            failure = Failure(step=-1, slot="strategy", error=one_line(strategy.broken))
            return Replay(strategy=strategy.name, spec=strategy.spec, failure=failure)
        first = self._replay_once(strategy)
        if not (again and strategy.has_user_code) or first.failure is not None:
            return first
        second = self._replay_once(strategy, unstable.STEPS, again=True)
        recorded = len(self._recording.messages)
        return msgspec.structs.replace(
            first, unstable_at=unstable.first_difference(first, second, recorded)
        )

    def _replay_once(
        self, strategy: Strategy, before: int | None = None, *, again: bool = False
    ) -> Replay:
        """A replay of all steps, or of those before an index.

        User code gets copies and gives data, in a child process or in this one; with `again` in
        another child.
        """
        recording = self._recording
        tokens = recording.index.tokens
        ledger = Ledger(Numbers(recording.counter.of, recording.messages, tokens))

        def replay(start: Start, finish: Callable[[], None] = lambda: None) -> Replay:
            return Loop(strategy, recording, ledger, start).replay(before, finish)

        def over(border: Border) -> Replay:
            finish = (border.finish,) if strategy.has_programs else ()
            return replay(border.start, *finish)

        if strategy.sandbox is not None:
            box = strategy.sandbox
            child, number = box.another if again else box.child, box.number
            with child.session(functools.partial(answer_call, number)) as session:
                return over(Border(session.ask, ledger))
        if strategy.has_user_code:
            return over(Border(Plugins(strategy).answer, ledger))
        return replay(lambda slot, place: SlotFunction(strategy.plugins[slot][place]))
