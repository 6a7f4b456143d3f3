"""A replay in the child of somebody else's code: steps go there one by one, and plain data comes back."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import msgspec

from ..model import AnyStep, Approval, Failure, ModelTurn, RouteDecision, ToolResult, ToolsChanged, UserTurn
from ..model.errors import StrategyError, one_line
from ..model.replay import Call, StepOutcome
from ..plugins.worker import NoAnswer, Session
from ..strategies import Strategy, untruncated_record
from ..tokens.counting import TokenCounter
from .numbering import Recorded
from .outcomes import About, Outcomes
from .serving import END, open_replay

_Answer = TypeVar("_Answer", Call, StepOutcome)
_OTHERS = "its answer does not belong to these steps"
_FAR = 1 << 40
"""The first number of a written message in a child, which is not told how long the recording is."""

_TIMES, _MORE = 100, 10_000_000
"""The bytes that a strategy may answer: so many times what it was given, and so many more. All are measured here."""


class Part(NamedTuple):
    """A part of a step as it goes to a child, in bytes too: a model turn is asked for, and then answered."""

    item: Recorded | ModelTurn
    body: bytes

    @property
    def step(self) -> AnyStep:
        """The step that it is of."""
        return self.item if isinstance(self.item, ModelTurn) else self.item.step


def parts_of(recorded: Recorded) -> Iterator[Part]:
    """The parts of a step. The route that was taken, which a router is to choose, is left out."""
    step: Any = recorded.step
    if isinstance(step, ModelTurn):
        yield _part(bare(step))
    if isinstance(step, RouteDecision):
        recorded = recorded._replace(step=msgspec.structs.replace(step, taken=""))
    yield _part(recorded)


def _part(item: Recorded | ModelTurn) -> Part:
    return Part(item, pickle.dumps(item, pickle.HIGHEST_PROTOCOL))


def bare(turn: ModelTurn) -> ModelTurn:
    """A model turn before it is answered."""
    return ModelTurn(index=turn.index, thread=turn.thread, model=turn.model)


class ChildReplay:
    """One replay of a strategy in its child. What comes back is checked against the steps that went."""

    def __init__(self, about: About, strategy: Strategy) -> None:
        self.out = Outcomes()
        self._about, self._strategy = about, strategy
        self._prompts: dict[str, int] = {}
        self._tools: dict[str, tuple[int, bool]] = {}
        self._known = self._at = -1
        self._room = _MORE

    def replay(self, parts: Iterable[Part], counter: TokenCounter, *, ends: bool) -> Outcomes:
        """The outcomes, with a failure where the strategy raised, broke its protocol or did not answer.

        Parts at which nothing of the strategy runs go with the next one at which something does.
        """
        sandbox, out, waiting = self._strategy.sandbox, self.out, list[Part]()
        about = msgspec.structs.replace(self._about, messages=_FAR), counter.encoding, counter.counting
        routes = "routers" in self._strategy.plugins
        try:
            with sandbox.child.session(open_replay, *sandbox.request, *about, count=counter.encoded) as session:
                for part in parts:
                    waiting.append(part)
                    if self._acts_at(part):
                        self._ask(session, waiting)
                        waiting.clear()
                    if out.failure is not None:
                        return out
                self._ask(session, waiting)
                if routes and ends and out.failure is None:
                    self._ask(session, [], END)
        except (NoAnswer, StrategyError) as why:
            text = f"{why} — a strategy returns or raises" if isinstance(why, NoAnswer) and why.ended else str(why)
            out.failure = Failure(step=self._at, slot="strategy", error=text)
        return out

    def _acts_at(self, part: Part) -> bool:
        """True if something of the strategy runs at a part."""
        filled, item = self._strategy.plugins.keys(), part.item
        if isinstance(item, ModelTurn):
            return not filled.isdisjoint({"compactor", "routers"})
        if "routers" in filled:
            return isinstance(item.step, ToolResult | ModelTurn | UserTurn | Approval | RouteDecision)
        return isinstance(item.step, ToolResult) and filled != {"compactor"}

    def _ask(self, session: Session, parts: list[Part], request: bytes = b"") -> None:
        """Send some parts, and take what the strategy made of them. Raises StrategyError for what it cannot be."""
        here = {self._at, *(part.step.index for part in parts)}
        self._at = max(here)
        request += b"".join(part.body for part in parts)
        body = session.ask(request)
        self._room += _TIMES * len(request) - len(body)
        if self._room < 0:
            raise StrategyError(f"it answers more than {_TIMES} times as much as it was given, and {_MORE:,} bytes")
        try:
            answer = msgspec.convert(json.loads(body), Outcomes)
        except (ValueError, RecursionError) as error:
            raise StrategyError(f"its answer cannot be read: {one_line(error)}") from None
        if failure := answer.failure:
            at = failure.step if failure.step in here else self._at
            self.out.failure = Failure(step=at, slot=one_line(failure.slot), error=one_line(failure.error))
        if any(message.step is not None and message.step > self._at for message in answer.written):
            raise StrategyError(_OTHERS)
        self.out.written += answer.written
        for name in ("decisions", "own_calls", "handles", "notes"):
            items = getattr(answer, name)
            if not {item.step for item in items} <= here:
                raise StrategyError(_OTHERS)
            getattr(self.out, name).extend(items)
        calls, results = iter(answer.calls), iter(answer.results)
        for part in parts:
            if isinstance(part.item, ModelTurn):
                self.out.calls += [self._call(call, part.item) for call in self._next(calls)]
                continue
            step, *known = part.item[:3]
            self._known = max([self._known, *(one[1] for one in known if one is not None)])
            if isinstance(step, ToolsChanged):
                self._tools[step.thread] = part.item.tools_tokens, True
            if isinstance(step, ToolResult):
                self.out.results += [self._outcome(outcome, step) for outcome in self._next(results)]
        if next(calls, None) or next(results, None):
            raise StrategyError(_OTHERS)

    def _next(self, answers: Iterator[_Answer]) -> list[_Answer]:
        """The next answer; none where the strategy failed before it. Raises StrategyError where it should be there."""
        items = list(islice(answers, 1))
        if not items and self.out.failure is None:
            raise StrategyError(_OTHERS)
        return items

    def _call(self, call: Call, turn: ModelTurn) -> Call:
        if (call.step, call.thread) != (turn.index, turn.thread):
            raise StrategyError("its prompt is of another turn")
        if not 0 <= call.keep <= self._prompts.get(call.thread, 0):
            raise StrategyError("its prompt keeps more than there was")
        self._prompts[call.thread] = call.keep + len(call.tail)
        tail, (tokens, changed) = tuple(map(self._number, call.tail)), self._tools.get(call.thread, (0, False))
        self._tools[call.thread] = tokens, False
        return msgspec.structs.replace(call, tail=tail, tools_tokens=tokens, tools_changed=changed)

    def _outcome(self, outcome: StepOutcome, step: ToolResult) -> StepOutcome:
        if outcome.step != step.index:
            raise StrategyError("its outcome is of another result")
        number, record, stored = self._number(outcome.message), untruncated_record(step), step.value
        if "store" in self._strategy.plugins:
            same = {"step": step.index, "call_id": step.call_id, "function": step.function}
            record, stored = msgspec.structs.replace(outcome.record, **same), outcome.stored
        return msgspec.structs.replace(outcome, call_id=step.call_id, message=number, record=record, stored=stored)

    def _number(self, number: int) -> int:
        """The number of a message as it is outside of the child. Raises StrategyError for one that does not exist."""
        if 0 <= number <= self._known:
            return number
        if _FAR <= number < _FAR + len(self.out.written):
            return number - _FAR + self._about.messages
        raise StrategyError("its prompt holds messages that do not exist yet")
