"""A replay in the child of somebody else's code: steps go there one by one, and plain data comes back."""

from __future__ import annotations

import json
import pickle
from typing import Any

import msgspec

from ..model import Approval, Failure, ModelTurn, RouteDecision, ToolResult, UserTurn
from ..model.errors import StrategyError, one_line
from ..model.replay import Call, StepOutcome
from ..plugins.worker import NoAnswer, Session
from ..strategies import Strategy, untruncated_record
from ..tokens.counting import TokenCounter
from .numbering import Recorded
from .outcomes import About, Outcomes
from .serving import END, open_replay

Sent = tuple[Recorded, bytes]
"""A step with its bytes as they go to a child."""


class ChildReplay:
    """One replay of a strategy in its child. What comes back is checked against the steps that went."""

    def __init__(self, about: About, strategy: Strategy) -> None:
        self.out = Outcomes()
        self._about, self._strategy = about, strategy
        self._prompts: dict[str, int] = {}
        self._known = -1
        self._steps: set[int] = {-1}
        self._has_asked = False

    def replay(self, steps: list[Sent], counter: TokenCounter, *, ends: bool) -> Outcomes:
        """The outcomes of the steps, with a failure where the strategy raised, broke its protocol or did not answer.

        Steps at which nothing of the strategy runs go with the next one at which something does.
        """
        sandbox, out = self._strategy.sandbox, self.out
        about = self._about, counter.encoding, counter.counting
        waiting: list[Sent] = []
        acts = _acts(self._strategy)
        try:
            with sandbox.child.session(open_replay, *sandbox.request, *about, count=counter.encoded) as session:
                for item in steps:
                    waiting.append(item)
                    if out.failure is None and isinstance(item[0].step, acts):
                        self._ask(session, waiting)
                        waiting.clear()
                if out.failure is None and (waiting or not self._has_asked):
                    self._ask(session, waiting)
                if out.failure is None and ends and "routers" in self._strategy.plugins:
                    self._ask(session, [], END)
        except (NoAnswer, StrategyError) as why:
            ended = isinstance(why, NoAnswer) and why.ended
            text = f"{why} — a strategy returns or raises" if ended else str(why)
            out.failure = Failure(step=max(self._steps), slot="strategy", error=text)
        return out

    def _ask(self, session: Session, sent: list[Sent], request: bytes = b"") -> None:
        self._has_asked = True
        self._steps.update(recorded.step.index for recorded, _ in sent)
        body = session.ask(request + b"".join(one for _, one in sent), self.out.extra_s)
        try:
            answer = msgspec.convert(json.loads(body), Outcomes)
        except (ValueError, RecursionError) as error:
            raise StrategyError(f"its answer cannot be read: {one_line(error)}") from None
        self._take(answer, [recorded for recorded, _ in sent])
        self.out.extra_s = min(max(0.0, answer.extra_s), 86400.0)
        self.out.failure = answer.failure

    def _take(self, answer: Outcomes, sent: list[Recorded]) -> None:
        """Take what a strategy made of some steps. Raises StrategyError for what it cannot be."""
        self.out.written += answer.written
        calls, results = iter(answer.calls), iter(answer.results)
        is_complete = answer.failure is not None
        for recorded in sent:
            step = recorded.step
            if isinstance(step, ModelTurn) and (call := next(calls, None)) is not None:
                self.out.calls.append(self._call(call, step))
            numbers = [known[1] for known in (recorded.full, recorded.seen) if known is not None]
            self._known = max([self._known, *numbers])
            if isinstance(step, ToolResult) and (outcome := next(results, None)) is not None:
                self.out.results.append(self._outcome(outcome, step))
        acted = sum(isinstance(recorded.step, ModelTurn | ToolResult) for recorded in sent)
        is_complete = is_complete or len(answer.calls) + len(answer.results) == acted
        others: tuple[Any, ...] = (*answer.decisions, *answer.own_calls, *answer.handles, *answer.notes)
        steps = {item.step for item in (*others, *answer.written) if item.step is not None}
        if not (is_complete and steps <= self._steps) or next(calls, None) or next(results, None):
            raise StrategyError("its answer does not belong to these steps")
        for name in ("decisions", "own_calls", "handles", "notes"):
            getattr(self.out, name).extend(getattr(answer, name))

    def _call(self, call: Call, step: ModelTurn) -> Call:
        size = self._prompts.get(call.thread, 0)
        is_known = all(self._is_known(number) for number in call.tail)
        if (call.step, call.thread) != (step.index, step.thread) or not is_known:
            raise StrategyError("its prompt holds messages that do not exist yet")
        if not 0 <= call.keep <= size:
            raise StrategyError("its prompt keeps more than there was")
        self._prompts[call.thread] = call.keep + len(call.tail)
        return call

    def _outcome(self, outcome: StepOutcome, step: ToolResult) -> StepOutcome:
        if outcome.step != step.index or not self._is_known(outcome.message):
            raise StrategyError("its outcome is of another result")
        same = {"step": step.index, "call_id": step.call_id, "function": step.function}
        record, stored = msgspec.structs.replace(outcome.record, **same), outcome.stored
        if "store" not in self._strategy.plugins:
            record = untruncated_record(step)
            stored = record.value
        return msgspec.structs.replace(outcome, call_id=step.call_id, record=record, stored=stored)

    def _is_known(self, number: int) -> bool:
        first = self._about.messages
        return 0 <= number <= self._known or first <= number < first + len(self.out.written)


def _acts(strategy: Strategy) -> tuple[type, ...]:
    """The kinds of steps at which something of a strategy runs."""
    filled = strategy.plugins.keys()
    if "routers" in filled:
        return ToolResult, ModelTurn, UserTurn, Approval, RouteDecision
    results = () if filled <= {"compactor"} else (ToolResult,)
    return *results, *((ModelTurn,) if "compactor" in filled else ())


def sent(recorded: Recorded) -> bytes:
    """A step as it goes to a child: without the route that was taken, which a router is to choose."""
    step: Any = recorded.step
    if isinstance(step, RouteDecision):
        recorded = recorded._replace(step=msgspec.structs.replace(step, taken=""))
    return pickle.dumps(recorded, pickle.HIGHEST_PROTOCOL)
