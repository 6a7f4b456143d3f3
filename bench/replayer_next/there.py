"""A replay in the child of somebody else's code: steps go there one by one, plain data comes back and is checked."""

from __future__ import annotations

import contextlib
import io
import json
import pickle
from typing import Any

import msgspec

from ..model import (
    AnyStep,
    Approval,
    Counting,
    Decision,
    Failure,
    Message,
    ModelTurn,
    Note,
    Record,
    Resolved,
    RouteDecision,
    ToolResult,
    UserTurn,
    WriterCall,
)
from ..model.errors import StrategyError, one_line
from ..model.replay import Call, StepOutcome
from ..plugins.child import Link
from ..plugins.worker import Answer, NoAnswer, Session
from ..strategies import Strategy, untruncated_record
from ..strategies.sandboxed import Place, Ready, made
from ..tokens.counting import TokenCounter
from .cassettes import offline, refused
from .loop import Loop
from .numbering import Recorded
from .outcomes import About, Broken, Outcomes

_encoded = json.JSONEncoder(check_circular=False).encode
_END = b"end"


class Made(msgspec.Struct, frozen=True, omit_defaults=True):
    """The outcomes of some steps, as the child says. `extra_s`: what its programs may take more."""

    written: tuple[Message, ...] = ()
    calls: tuple[Call, ...] = ()
    results: tuple[StepOutcome, ...] = ()
    decisions: tuple[Decision, ...] = ()
    own_calls: tuple[WriterCall, ...] = ()
    handles: tuple[Resolved, ...] = ()
    notes: tuple[Note, ...] = ()
    failure: Failure | None = None
    extra_s: float = 0.0


# ---------------------------------------------------------------- in the process that measures


class There:
    """One replay of a strategy in its child. `out` and `written` are as those of a Loop."""

    def __init__(self, about: About, strategy: Strategy) -> None:
        self.out, self.written, self.failure = Outcomes(), list[Message](), None
        self._about, self._strategy = about, strategy
        self._stored = "store" in strategy.plugins
        self._prompts: dict[str, int] = {}
        self._known = -1
        self._steps: set[int] = {-1}

    def replay(
        self, steps: list[tuple[Recorded, bytes]], counter: TokenCounter, *, ends: bool
    ) -> Failure | None:
        """Send the steps; the failure of a strategy that raised, broke its protocol, or did not answer.

        Steps at which nothing of the strategy runs go with the next one at which something does.
        """
        sandbox = self._strategy.sandbox
        about = self._about, counter.encoding, counter.counting
        waiting: list[tuple[Recorded, bytes]] = []
        acts = _acts(self._strategy)
        try:
            with sandbox.child.session(
                _open_replay, *sandbox.request, *about, count=counter.encoded
            ) as session:
                failure = self._asked(session, [])
                for item in steps:
                    waiting.append(item)
                    if isinstance(item[0].step, acts) and failure is None:
                        failure = self._asked(session, waiting)
                        waiting.clear()
                if failure is None and waiting:
                    failure = self._asked(session, waiting)
                return self._asked(session, [], _END) if ends and failure is None else failure
        except NoAnswer as why:
            told = f"{why} — a strategy returns or raises" if why.ended else str(why)
        except StrategyError as error:
            told = str(error)
        return Failure(step=max(self._steps), slot="strategy", error=told)

    def _asked(
        self, session: Session, sent: list[tuple[Recorded, bytes]], request: bytes = b""
    ) -> Failure | None:
        self._steps.update(recorded.step.index for recorded, _ in sent)
        body = session.ask(request + b"".join(one for _, one in sent), self._extra_s)
        try:
            made = msgspec.convert(json.loads(body), Made)
        except (ValueError, RecursionError) as error:
            raise StrategyError(f"its answer cannot be read: {one_line(error)}") from None
        self._extra_s = min(max(0.0, made.extra_s), 86400.0)
        self._add(made, [recorded for recorded, _ in sent])
        return made.failure

    _extra_s = 0.0

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
        if (
            not isinstance(step, ToolResult)
            or outcome.step != step.index
            or not self._is_known(outcome.shown)
        ):
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


# ---------------------------------------------------------------- in the child


def _open_replay(
    link: Link,
    ready: Ready | None,
    item: bytes,
    name: str | None,
    place: Place,
    about: About,
    encoding: str,
    counting: Counting,
) -> Answer:
    """A replay that takes the steps as they are sent."""
    counter = TokenCounter(encoding, counting, elsewhere=link.count)

    def count(given: Message | str) -> int:
        return counter.text(given) if isinstance(given, str) else counter.message(given)

    loop = Loop(about, made(ready, item, name, place), count, own=True)
    asking = contextlib.ExitStack()
    asking.enter_context(offline(place.base, loop.charge))
    last: list[AnyStep] = []

    def answer(request: bytes) -> bytes:
        failure = None
        written = len(loop.numbers.written)
        try:
            if not request:
                loop.start()
            elif request == _END:
                loop.end(last[-1] if last else None)
                asking.close()
            else:
                stream = io.BytesIO(request)
                while stream.tell() < len(request):
                    recorded: Recorded = pickle.load(stream)
                    last[:] = [recorded.step]
                    loop.take(recorded)
        except MemoryError:
            raise
        except BaseException as error:
            told = error if isinstance(error, Broken) else Broken("strategy", error)
            at = last[-1].index if last else -1
            failure = Failure(step=at, slot=told.slot, error=told.text)
        if why := refused():  # also where the code went on without an answer
            failure = Failure(step=last[-1].index if last else -1, slot="strategy", error=why)
        out, loop.out = loop.out, Outcomes()
        stored = "store" in loop.strategy.plugins
        results = out.results if stored else [_untouched(outcome) for outcome in out.results]
        given = Made(
            written=tuple(loop.numbers.written[written:]),
            calls=tuple(out.calls),
            results=tuple(results),
            decisions=tuple(out.decisions),
            own_calls=tuple(out.own_calls),
            handles=tuple(out.handles),
            notes=tuple(out.notes),
            failure=failure,
            extra_s=loop.extra_s,
        )
        return _encoded(msgspec.to_builtins(given)).encode("ascii")

    return answer


def _untouched(outcome: StepOutcome) -> StepOutcome:
    """An outcome without the untruncated record, which the process that measures has."""
    record = Record(step=outcome.step, call_id=outcome.call_id, function="", success=True)
    return msgspec.structs.replace(outcome, record=record, stored=None)


def sent(recorded: Recorded) -> bytes:
    """A step as it goes to a child: without the route that was taken, which a router is to choose."""
    step: Any = recorded.step
    if isinstance(step, RouteDecision):
        recorded = recorded._replace(step=msgspec.structs.replace(step, taken=""))
    return pickle.dumps(recorded, pickle.HIGHEST_PROTOCOL)
