"""The loop of a replay: steps of a recording go in one by one, a strategy's outcome of each comes
out.

Nothing here looks at later steps. The recorded actions stay as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import msgspec

from ..model import (
    AnyStep,
    Approval,
    ContextEdit,
    ContextReset,
    Decision,
    Failure,
    Message,
    ModelTurn,
    Record,
    Resolved,
    RouteDecision,
    ToolResult,
    UserTurn,
    WriterCall,
    as_text,
)
from ..model.errors import StrategyError
from ..model.outcome import OUTPUT, SUMMARY
from ..model.replay import Call, StepOutcome
from ..plugins.registry import build
from ..strategies import (
    AT_DEFAULT,
    RECORDED,
    Execution,
    NewHistory,
    Strategy,
    Window,
    untruncated_record,
)
from ..strategies.forms import execution_mapping
from ..strategies.histories import with_text
from ..strategies.offloading import offloaded_to
from ..strategies.routing import decides_here
from ..tokens.counting import TokenCounter
from .answers import Broken, in_slot, slot_function
from .numbering import Numbers
from .plain import plain_data
from .recording import Frame, Moment
from .thread import Thread


class Outcomes(msgspec.Struct):
    """The outcomes of a replay. `written` are the strategy's messages; no findings are extracted
    yet."""

    written: list[Message] = []
    calls: list[Call] = []
    results: list[StepOutcome] = []
    decisions: list[Decision] = []
    own_calls: list[WriterCall] = []
    handles: list[Resolved] = []
    failure: Failure | None = None


class Side:
    """The evaluations of one side: the stored records, or the untruncated ones."""

    def __init__(self, evaluate: Any) -> None:
        self.evaluate = evaluate
        self.results = 0
        self.executions: list[dict[str, Any]] = []
        self.evaluations: list[dict[str, Any]] = []


class Router(NamedTuple):
    """One router, with an instance for each side; it decides at a point."""

    name: str
    at: str
    loop: str | None
    decide: Callable[..., Any]
    decide_untruncated: Callable[..., Any]


Start = Callable[[Any], Callable[..., Any]]
"""A function from a plug-in to a function from the values of its slot to its answer."""


class Loop:
    """A strategy during one replay, with started plug-ins and their state.

    `starts(loop)` is the function that starts a plug-in: here, or in a child process.
    """

    def __init__(
        self,
        strategy: Strategy,
        frame: Frame,
        counter: TokenCounter,
        starts: Callable[[Loop], Start] = lambda loop: slot_function,
    ) -> None:
        self._strategy, self._frame, self._start = strategy, frame, starts(self)
        self._numbers = Numbers(counter.of, frame.messages)
        self._out = Outcomes()
        self._threads: dict[str, Thread] = {}
        self._store, self._summarize, self._consume = map(
            self._start_slot, ("store", "summarizer", "consumer")
        )
        self._stored, self._full = (Side(self._start_slot("evaluator")) for _ in range(2))
        self._side = self._stored  # the one at work: calls of models by the other are not charged
        self._routers = [
            Router(
                plugin.name,
                plugin.attribute("at", AT_DEFAULT),
                plugin.attribute("loop"),
                *(self._start(plugin), self._start(plugin)),
            )
            for plugin in strategy.plugins.get("routers", ())
        ]
        self._state: dict[str, Any] = {}  # as the last decision was recorded
        self._taken: dict[str | None, str] = {}  # the last recorded route of each router
        self._last_result: dict[str, Any] = {}  # its summary, and its untruncated value
        self._offloaded: dict[str, tuple[str, Any]] = {}  # by handle the text and the value
        self._last: AnyStep | None = None

    def _start_slot(self, slot: str) -> Any:
        """The started plug-in of a slot; None for an empty slot."""
        plugins = self._strategy.plugins.get(slot)
        return self._start(plugins[0]) if plugins else None

    def _thread(self, name: str) -> Thread:
        """The thread with a name; each has its own compactor."""
        if name not in self._threads:
            plugins = self._strategy.plugins.get("compactor", ())
            per_call = any(plugin.attribute("mode", "history") == "per_call" for plugin in plugins)
            compact = self._start_slot("compactor")
            self._threads[name] = Thread(
                self._numbers, compact, _recorded_history, self._frame, per_call=per_call
            )
        return self._threads[name]

    # ------------------------------------------------------------ steps

    def outcomes(self, moments: Iterable[Moment], *, ended: bool) -> Outcomes:
        """The outcomes of some moments; with `ended` also those of the recording's end.

        A strategy that raises ends them with its failure.
        """
        try:
            if self._strategy.broken:
                raise Broken("strategy", StrategyError(self._strategy.broken))
            with offloaded_to(self._offload):
                for moment in moments:
                    self._last, self._side = moment.step, self._stored
                    self._before_answer(moment) if moment.asks else self._replay_step(moment)
                if ended:
                    self._route("end", self._last)
        except Broken as error:
            self._out.failure = Failure(step=self._last_index, slot=error.slot, error=error.text)
        self._out.written = self._numbers.written
        return self._out

    def _before_answer(self, moment: Moment) -> None:
        """Make the prompt or the state before a model call or a routing decision, whose answer is
        not known yet."""
        step = moment.step
        if isinstance(step, RouteDecision):
            self._state = step.state
            self._route(step.at, step, step)
        else:
            self._prompt(moment)
            self._route("before_model", step)

    def _replay_step(self, moment: Moment) -> None:
        """Replay one step; for a model turn or a routing decision, the answer that was recorded."""
        step, message, (tokens, seen_tokens) = moment.step, moment.message, moment.tokens
        if message is not None and moment.seen is not None:
            self._numbers.record(message, tokens)
            if moment.seen is not message:
                self._numbers.record(moment.seen, seen_tokens)
        if isinstance(step, ToolResult):
            self._result(step, moment)
            self._route("after_result", step)
            self._route("after_evaluation", step)
        elif isinstance(step, ContextReset | ContextEdit):
            self._thread(step.thread).resets.append(step)
        elif isinstance(step, Approval):
            self._route("approval", step)
        elif isinstance(step, RouteDecision):
            self._taken[step.router] = step.taken
        elif message is not None:
            self._thread(step.thread).join(message, message)
        if isinstance(step, ModelTurn | UserTurn):
            self._route("after_model" if isinstance(step, ModelTurn) else "user_turn", step)

    @property
    def _last_index(self) -> int:
        """The index of the last replayed step; -1 before the first."""
        return -1 if self._last is None else self._last.index

    def count(self, item: Message | str) -> int:
        """The tokens of a text or a message."""
        return self._numbers.count(item)

    def charge(self, read: int, written: int, model: str | None) -> None:
        """Charge a model call that the strategy itself made; calls for the untruncated side are
        free."""
        if self._side is self._stored:
            call = WriterCall(
                step=self._last_index, consumed_tokens=read, produced_tokens=written, model=model
            )
            self._out.own_calls.append(call)

    def _offload(self, handle: str, value: Any) -> None:
        """Let a handle stand for a value from this step on."""
        data = plain_data(value) if self._strategy.has_user_code else value
        text = as_text(data)
        known, _ = self._offloaded.get(handle, (None, None))
        if self._side is self._stored and known != text:
            self._offloaded[handle] = text, data
            self._out.handles.append(Resolved(handle=handle, step=self._last_index, text=text))

    # ------------------------------------------------------------ results

    def _result(self, step: ToolResult, moment: Moment) -> None:
        """Store, summarize, consume and evaluate a result, and add its message to the thread."""
        full = untruncated_record(step)
        record, stored = (full, full.value) if self._store is None else self._put(step)
        summary = self._answer("summarizer", self._summarize, step)
        self._last_result = {SUMMARY: summary, OUTPUT: step.value}
        reply = self._answer("consumer", self._consume, Execution(step, summary))
        shown, untruncated = self._messages_of(moment, record, summary)
        outcome = StepOutcome(
            step=step.index,
            call_id=step.call_id,
            message=self._thread(step.thread).join(shown, untruncated),
            record=record,
            stored=stored,
            evaluation=self._evaluate(self._stored, read_back(record, stored)),
            evaluation_untruncated=self._evaluate(self._full, full),
            reply=reply,
        )
        self._out.results.append(outcome)

    def _evaluate(self, side: Side, record: Record) -> Any:
        """The findings of the evaluator on one side; the record is added to that side's history."""
        self._side = side
        side.results += 1
        if self._routers:  # who alone are shown them
            execution = execution_mapping(record)
            side.executions.append({key: execution[key] for key in execution if key != "arguments"})
        findings = self._answer("evaluator", side.evaluate, record, tuple(side.evaluations))
        if findings is not None:
            side.evaluations.append(findings)
        return findings

    def _answer(self, slot: str, code: Any, *given: Any) -> Any:
        """The answer of a slot's plug-in; None for an empty slot."""
        if code is None:
            return None
        with in_slot(slot):
            return code(*given)

    def _messages_of(self, moment: Moment, record: Record, summary: Any) -> tuple[Message, Message]:
        """The message that shows a result, and the untruncated one.

        It shows the summary, else the stored value; if neither slot is filled, the text that the
        recorded model saw.
        """
        untruncated, seen, step = moment.message, moment.seen, moment.step
        assert isinstance(step, ToolResult)
        assert untruncated
        assert seen
        if summary is not None:
            text = as_text(summary)
        elif self._store is not None and record.value != step.value:
            text = as_text(record.value)
        else:
            return (seen if self._summarize is None else untruncated), untruncated
        is_all = text == untruncated.text
        return untruncated if is_all else with_text(untruncated, text), untruncated

    def _put(self, step: ToolResult) -> tuple[Record, Any]:
        """The stored record of a result, and the value that can be read back."""
        with in_slot("store"):
            record = self._store(step)
            stored = record.value
            if record.handle is not None:
                _, stored = self._offloaded.get(record.handle, ("", None))
        return record, stored

    # ------------------------------------------------------------ prompts and routes

    def _prompt(self, moment: Moment) -> None:
        """Let the compactor rewrite the prompt of a turn, and charge its summaries."""
        with in_slot("compactor"):
            call, answer = self._thread(moment.step.thread).call(moment)
            self._out.calls.append(call)
            if answer is None:
                return
            charged = bool(self._out.own_calls) and self._out.own_calls[-1].step == call.step
            for written in () if charged else answer.written:  # not what a model itself said
                read = sum(
                    self._numbers.count(item) - item.reasoning_tokens for item in written.read
                )
                self.charge(read, self._numbers.count(written.text), None)

    def _route(
        self, point: str, step: AnyStep | None, recorded: RouteDecision | None = None
    ) -> None:
        """Let the routers that decide at a point do so."""
        for router in self._routers:
            if decides_here(router.name, router.at, point, recorded, self._frame.points):
                with in_slot(f"router {router.name}"):
                    self._decide(router, point, step)

    def _decide(self, router: Router, point: str, step: AnyStep | None) -> None:
        """Let one router decide, once on the stored records and once on the untruncated ones."""
        answer = router.decide(self._state_at(self._stored, step))
        other = router.decide_untruncated(self._state_at(self._full, step))
        if router.at == RECORDED and None in (answer, other):
            return
        (route, detail), (untruncated, _) = answer, other
        decision = Decision(
            step=-1 if step is None else step.index,
            router=router.name,
            at=point,
            route=route,
            untruncated=untruncated,
            loop=router.loop,
            detail=detail,
        )
        self._out.decisions.append(decision)

    def _state_at(self, side: Side, step: AnyStep | None) -> dict[str, Any]:
        """The recorded state with the records of one side in it; `step` is None at the end.

        It has the keys that documents 003 and 004 name.
        """
        self._side = side
        plans = self._frame.plans
        state: dict[str, Any] = {
            "current_step_index": side.results,
            "execution_plan": plans.get("execution_plan", {}),
            **self._state,
            "execution_history": list(side.executions),
            "step": step,
            **self._last_result,
        }
        if "manifest" in plans:
            state["manifest"] = plans["manifest"]
        if side.evaluate is not None:
            state["last_step_evaluation"] = side.evaluations[-1] if side.evaluations else {}
            state["step_evaluation_history"] = list(side.evaluations)
        if step is not None:
            thread = self._thread(step.thread)
            state["prompt"] = list(thread.recording if side is self._full else thread.messages)
        if isinstance(step, RouteDecision) and step.router in self._taken:
            state["recorded_route"] = self._taken[step.router]
        return state


def _recorded_history(window: Window) -> NewHistory | None:
    """The history as the recorded harness left it at the resets of a window."""
    answer: NewHistory | None = slot_function(build("compactor", "recorded"))(window)
    return answer


def read_back(record: Record, stored: Any) -> Record:
    """A record as a later step reads it, with the value behind its handle."""
    if record.handle is None:
        return record
    result_type = "structured" if isinstance(stored, dict | list) else record.result_type
    return msgspec.structs.replace(record, value=stored, result_type=result_type)
