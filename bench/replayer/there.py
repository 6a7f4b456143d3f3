"""A replay in the child of somebody else's code: steps go there one by one, plain data comes back and is checked."""

from __future__ import annotations

import json
import pickle
from typing import Any

import msgspec

from ..model import Approval, Failure, Message, ModelTurn, RouteDecision, ToolResult, UserTurn
from ..model.errors import StrategyError, one_line
from ..model.replay import Call, StepOutcome
from ..plugins.worker import NoAnswer, Session
from ..strategies import Strategy, untruncated_record
from ..tokens.counting import TokenCounter
from .numbering import Recorded
from .outcomes import About, Outcomes
from .serving import END, Made, open_replay


class There:
    """One replay of a strategy in its child. `out` and `written` are as those of a Loop."""

    def __init__(self, about: About, strategy: Strategy) -> None:
        self.out, self.written, self.failure = Outcomes(), list[Message](), None
        self._about, self._strategy = about, strategy
        self._stored = "store" in strategy.plugins
        self._prompts: dict[str, int] = {}
        self._known = -1
        self._steps: set[int] = {-1}
        self._asked_once, self._extra_s = False, 0.0

    def replay(self, steps: list[tuple[Recorded, bytes]], counter: TokenCounter, *, ends: bool) -> Failure | None:
        """Send the steps; the failure of a strategy that raised, broke its protocol, or did not answer.

        Steps at which nothing of the strategy runs go with the next one at which something does.
        """
        sandbox = self._strategy.sandbox
        about = self._about, counter.encoding, counter.counting
        waiting: list[tuple[Recorded, bytes]] = []
        acts = _acts(self._strategy)
        failure: Failure | None = None
        try:
            with sandbox.child.session(open_replay, *sandbox.request, *about, count=counter.encoded) as session:
                for item in steps:
                    waiting.append(item)
                    if failure is None and isinstance(item[0].step, acts):
                        failure = self._asked(session, waiting)
                        waiting.clear()
                if failure is None and (waiting or not self._asked_once):
                    failure = self._asked(session, waiting)
                if failure is None and ends and "routers" in self._strategy.plugins:
                    failure = self._asked(session, [], END)
                return failure
        except NoAnswer as why:
            told = f"{why} — a strategy returns or raises" if why.ended else str(why)
        except StrategyError as error:
            told = str(error)
        return Failure(step=max(self._steps), slot="strategy", error=told)

    def _asked(self, session: Session, sent: list[tuple[Recorded, bytes]], request: bytes = b"") -> Failure | None:
        self._asked_once = True
        self._steps.update(recorded.step.index for recorded, _ in sent)
        body = session.ask(request + b"".join(one for _, one in sent), self._extra_s)
        try:
            made = msgspec.convert(json.loads(body), Made)
        except (ValueError, RecursionError) as error:
            raise StrategyError(f"its answer cannot be read: {one_line(error)}") from None
        self._extra_s = min(max(0.0, made.extra_s), 86400.0)
        self._add(made, [recorded for recorded, _ in sent])
        return made.failure

    def _add(self, made: Made, sent: list[Recorded]) -> None:
        """Take what a strategy made of some steps. Raises StrategyError for what it cannot be."""
        self.written += made.written
        calls, results = iter(made.calls), iter(made.results)
        for recorded in sent:
            step = recorded.step
            if isinstance(step, ModelTurn) and (call := next(calls, None)) is not None:
                self.out.calls.append(self._call(call, step))
            numbers = [known[1] for known in (recorded.full, recorded.shown) if known is not None]
            self._known = max([self._known, *numbers])
            if isinstance(step, ToolResult) and (outcome := next(results, None)) is not None:
                self.out.results.append(self._outcome(outcome, step))
        turns = sum(isinstance(recorded.step, ModelTurn) for recorded in sent)
        kept = sum(isinstance(recorded.step, ToolResult) for recorded in sent)
        complete = (len(made.calls), len(made.results)) == (turns, kept) or made.failure is not None
        others: tuple[Any, ...] = (*made.decisions, *made.own_calls, *made.handles, *made.notes)
        known = all(item.step in self._steps for item in others)
        known = known and all(one.step is None or one.step in self._steps for one in made.written)
        if not (complete and known) or next(calls, None) or next(results, None):
            raise StrategyError("its answer does not belong to these steps")
        for name in ("decisions", "own_calls", "handles", "notes"):
            getattr(self.out, name).extend(getattr(made, name))

    def _call(self, call: Call, step: ModelTurn) -> Call:
        size = self._prompts.get(call.thread, 0)
        known = all(self._is_known(number) for number in call.tail)
        if (call.step, call.thread) != (step.index, step.thread) or not known:
            raise StrategyError("its prompt holds messages that do not exist yet")
        if not 0 <= call.keep <= size:
            raise StrategyError("its prompt keeps more than there was")
        self._prompts[call.thread] = call.keep + len(call.tail)
        return call

    def _outcome(self, outcome: StepOutcome, step: ToolResult) -> StepOutcome:
        if not isinstance(step, ToolResult) or outcome.step != step.index or not self._is_known(outcome.shown):
            raise StrategyError("its outcome is of another result")
        same = {"step": step.index, "call_id": step.call_id, "function": step.function}
        record = msgspec.structs.replace(outcome.record, **same)
        stored = outcome.stored
        if not self._stored:
            record = untruncated_record(step)
            stored = record.value
        return msgspec.structs.replace(outcome, call_id=step.call_id, record=record, stored=stored)

    def _is_known(self, number: int) -> bool:
        first = self._about.messages
        return 0 <= number <= self._known or first <= number < first + len(self.written)


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
