"""The loop: steps of a recording go in one by one, what a strategy makes of each comes out.

Nothing here looks at later steps. What replay cannot know: the recorded actions stay as they were.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
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
    compact_json,
)
from ..model.errors import StrategyError
from ..model.outcome import OUTPUT, SUMMARY
from ..model.replay import Call, StepOutcome
from ..plugins.registry import build
from ..strategies import AT_DEFAULT, RECORDED, Execution, Strategy, untruncated_record
from ..strategies.forms import execution_mapping
from ..strategies.offloading import offloaded_to
from ..strategies.routing import decides_here
from ..tokens.counting import TokenCounter
from .answers import Broken, in_slot, started
from .border import Border
from .numbering import Numbers
from .plain import plain_data
from .recording import Asked, Recording
from .thread import Frame, Thread


@dataclass
class Outcomes:
    """The outcomes of the steps so far: the parts of a Replay."""

    written: list[Message]
    calls: list[Call] = field(default_factory=list)
    results: list[StepOutcome] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    own_calls: list[WriterCall] = field(default_factory=list)
    handles: list[Resolved] = field(default_factory=list)
    failure: Failure | None = None


class Side:
    """One of the two sides that are judged alike: the stored records, and the untruncated ones."""

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


class Loop:
    """A strategy during one replay: what fills its slots is started, and its state lives this long.

    `future` is for a reference that reads it.
    """

    def __init__(
        self, recording: Recording, strategy: Strategy, counter: TokenCounter, future: Any = None
    ) -> None:
        self._recording, self._strategy = recording, strategy
        self._numbers = Numbers(recording.messages, counter.of)
        self.out = Outcomes(self._numbers.written)
        self._border = Border(strategy, counter, self._numbers.count, self._charge, self._offload)
        self._frame = Frame(recording.framing, recording.window_tokens, future)
        self._threads: dict[str, Thread] = {}
        self._store, self._summarize, self._consume = map(
            self._started, ("store", "summarizer", "consumer")
        )
        self._stored, self._full = (
            Side(self._started("evaluator", name)) for name in ("stored", "full")
        )
        self._side = self._stored  # the one at work: calls of models by the other are not charged
        self._routers = [
            Router(
                plugin.entry.name,
                plugin.attribute("at", AT_DEFAULT),
                plugin.attribute("loop"),
                *(self._started("routers", side, place) for side in ("stored", "full")),
            )
            for place, plugin in enumerate(strategy.plugins.get("routers", ()))
        ]
        self._state: dict[str, Any] = {}  # as the last decision was recorded
        self._taken: dict[str | None, str] = {}  # the last recorded route of each router
        self._last_result: dict[str, Any] = {}  # its summary, and its untruncated value
        self._offloaded: dict[str, tuple[str, Any]] = {}  # by handle the text and the value
        self._last: AnyStep | None = None

    def _started(self, slot: str, instance: str = "", place: int = 0) -> Any:
        """An instance of what fills a slot; None for an empty one."""
        plugins = self._strategy.plugins.get(slot)
        if not plugins:
            return None
        is_own = plugins[place].own
        return self._border.code(slot, place, instance) if is_own else started(plugins[place])

    def _thread(self, name: str) -> Thread:
        """The thread of a name, with a compactor of its own."""
        if name not in self._threads:
            plugins = self._strategy.plugins.get("compactor", ())
            per_call = any(plugin.attribute("mode", "history") == "per_call" for plugin in plugins)
            compact = self._started("compactor", name)
            recorded = started(build("compactor", "recorded"))
            self._threads[name] = Thread(
                self._numbers, compact, recorded, self._frame, per_call=per_call
            )
        return self._threads[name]

    # ------------------------------------------------------------ steps

    def outcomes(self, before: int | None = None) -> Outcomes:
        """The outcomes of all steps, or of those before an index.

        A strategy that raises ends them with its failure.
        """
        try:
            if self._strategy.broken:
                raise Broken("strategy", StrategyError(self._strategy.broken))
            with self._border, offloaded_to(self._offload):
                for step in self._recording.steps:
                    if before is not None and step.index >= before:
                        return self.out
                    self._last, self._side = step, self._stored
                    if isinstance(step, Asked):
                        self._ask(self._recording.asked[step.index])
                    self._take(step)
                if before is None:
                    self._route("end", self._last)
        except Broken as error:
            self.out.failure = Failure(step=self._at, slot=error.slot, error=error.text)
        return self.out

    def _ask(self, step: Asked) -> None:
        """The model is about to be called, or a route to be taken: nobody knows the answer yet."""
        if isinstance(step, RouteDecision):
            self._state = step.state
            self._route(step.at, step, step)
        else:
            self._prompt(step)
            self._route("before_model", step)

    def _take(self, step: AnyStep) -> None:
        """Take a step, of a model turn or a routing decision its answer."""
        message = self._recording.message(step.index)
        if isinstance(step, ToolResult):
            self._result(step)
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
    def _at(self) -> int:
        """The last step that was taken; -1 before the first."""
        return -1 if self._last is None else self._last.index

    def _charge(self, read: int, written: int, model: str | None) -> None:
        """Charge a call of a model that the strategy itself made, unless the untruncated side did."""
        if self._side is self._stored:
            call = WriterCall(
                step=self._at, consumed_tokens=read, produced_tokens=written, model=model
            )
            self.out.own_calls.append(call)

    def _offload(self, handle: str, value: Any) -> None:
        """From this step on a handle stands for a value."""
        text = as_text(plain_data(value))
        known, _ = self._offloaded.get(handle, (None, None))
        if self._side is self._stored and known != text:
            self._offloaded[handle] = text, value
            self.out.handles.append(Resolved(handle=handle, step=self._at, text=text))

    # ------------------------------------------------------------ results

    def _result(self, step: ToolResult) -> None:
        """Store, summarize, consume and evaluate a result, and let what is shown of it join."""
        full = untruncated_record(step)
        record, stored = (full, full.value) if self._store is None else self._put(step)
        summary = self._answer("summarizer", self._summarize, step)
        self._last_result = {SUMMARY: summary, OUTPUT: step.value}
        reply = self._answer("consumer", self._consume, Execution(step, summary))
        shown, untruncated = self._messages_of(step, record, summary)
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
        self.out.results.append(outcome)

    def _evaluate(self, side: Side, record: Record) -> Any:
        """The findings of the evaluator on one side; the record joins its history."""
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
        """The answer of what fills a slot; None for an empty one."""
        if code is None:
            return None
        with in_slot(slot):
            return code(*given)

    def _messages_of(
        self, step: ToolResult, record: Record, summary: Any
    ) -> tuple[Message, Message]:
        """The message that shows a result, and the untruncated one.

        It shows the summary, else what the store keeps; where neither slot is filled, what the
        recorded model saw.
        """
        untruncated = self._recording.message(step.index)
        seen = self._recording.message(step.index, seen=True)
        assert untruncated
        assert seen
        if summary is not None:
            text = as_text(summary)
        elif self._store is not None and record.value != step.value:
            text = as_text(record.value)
        else:
            return (seen if self._summarize is None else untruncated), untruncated
        is_all = text == untruncated.text
        return untruncated if is_all else _with_text(untruncated, text), untruncated

    def _put(self, step: ToolResult) -> tuple[Record, Any]:
        """The record that the store keeps, and the value that can be read back."""
        with in_slot("store"):
            record = self._store(step)
            stored = record.value
            if record.handle is not None:
                _, stored = self._offloaded.get(record.handle, ("", None))
            compact_json(stored)  # what cannot be written cannot be read back
        return record, stored

    # ------------------------------------------------------------ prompts and routes

    def _prompt(self, turn: ModelTurn) -> None:
        """Let the compactor rework the prompt of a turn, and charge its summaries."""
        with in_slot("compactor"):
            call, edits = self._thread(turn.thread).call(turn, *self._recording.tools[turn.index])
            self.out.calls.append(call)
            if edits is None:
                return
            charged = bool(self.out.own_calls) and self.out.own_calls[-1].step == call.step
            for written in () if charged else edits.written:  # not what a model itself said
                read = sum(
                    self._numbers.count(item) - item.reasoning_tokens for item in written.read
                )
                self._charge(read, self._numbers.count(written.text), None)

    def _route(
        self, point: str, step: AnyStep | None, recorded: RouteDecision | None = None
    ) -> None:
        """Let the routers that decide at a point do so."""
        for router in self._routers:
            if decides_here(router.name, router.at, point, recorded, self._recording.points):
                with in_slot(f"router {router.name}"):
                    self._decide(router, point, step)

    def _decide(self, router: Router, point: str, step: AnyStep | None) -> None:
        """Let one router decide, on what is stored and on the untruncated results."""
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
        self.out.decisions.append(decision)

    def _state_at(self, side: Side, step: AnyStep | None) -> dict[str, Any]:
        """The recorded state with the records of one side in it; `step` is None at the end.

        It has the keys that documents 003 and 004 name.
        """
        self._side = side
        plans = self._recording.plans
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


def read_back(record: Record, stored: Any) -> Record:
    """A record as a later step reads it: with the value that is behind its handle."""
    if record.handle is None:
        return record
    result_type = "structured" if isinstance(stored, dict | list) else record.result_type
    return msgspec.structs.replace(record, value=stored, result_type=result_type)


def _with_text(message: Message, text: str) -> Message:
    return msgspec.structs.replace(message, text=text)
