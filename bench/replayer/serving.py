"""The child's side of a replay: the loop runs there, is told one event after the other, and its
outcomes go back as plain data.
"""

from __future__ import annotations

import functools
import json
import pickle
from typing import TYPE_CHECKING

import msgspec

from ..model import Counting, Failure, Message
from ..model.replay import StepOutcome
from ..plugins.worker import Answer
from ..strategies import Strategy
from ..strategies.sandboxed import Ready
from ..tokens.counting import TokenCounter
from .cassettes import go_offline, refused
from .loop import Loop
from .outcomes import UNTRUNCATED, About
from .plain import plain_struct

if TYPE_CHECKING:
    from ..plugins.child import Link

_encoded = json.JSONEncoder(check_circular=False).encode


def open_loop(
    link: Link, ready: Ready, number: int, about: About, encoding: str, counting: Counting
) -> Answer:
    """A function that takes the events of one replay and answers with their outcomes."""
    counter = TokenCounter(encoding, counting, elsewhere=link.count)
    served = ServedLoop(ready.strategy(number), about, counter)
    go_offline(ready.place.base, lambda *used: served.loop.charge(*used))
    return served.answer


class ServedLoop:
    """The loop of one strategy, which starts with the first request."""

    def __init__(self, strategy: Strategy, about: About, counter: TokenCounter) -> None:
        self._strategy, self._about, self._counter = strategy, about, counter
        self._sent = 0  # the written messages that the other side has

    @functools.cached_property
    def loop(self) -> Loop:
        """The loop itself."""
        return Loop(self._about, self._strategy, self._counter.of)

    def answer(self, body: bytes) -> bytes:
        """The outcomes of some events. With them come the tokens of what was written before."""
        events, sizes = pickle.loads(body)
        self.loop.numbers.learn(sizes)
        out = self.loop.outcomes(events)
        out.written = [plain_struct(Message, one) for one in out.written[self._sent :]]
        self._sent += len(out.written)
        out.results = [self._crossing(outcome) for outcome in out.results]
        if refused():  # also where the code went on without an answer
            slot = out.failure.slot if out.failure else slot_of(self._strategy)
            out.failure = Failure(step=self.loop.at, slot=slot, error=refused())
        return _encoded(msgspec.to_builtins(out)).encode("ascii")

    def _crossing(self, outcome: StepOutcome) -> StepOutcome:
        """An outcome without values that stand in the recording, or twice."""
        if "store" not in self._strategy.plugins:
            return msgspec.structs.replace(outcome, record=UNTRUNCATED, stored=None)
        if outcome.record.handle is None:
            return msgspec.structs.replace(outcome, stored=None)
        return outcome


def slot_of(strategy: Strategy) -> str:
    """The slot to name where somebody's own code gave no answer; `strategy` for one of several."""
    own = [plugin for plugin in strategy.everything if plugin.own]
    if len(own) != 1:
        return "strategy"
    kind, name = own[0].entry.kind, own[0].entry.name
    return f"router {name}" if kind == "router" else kind
