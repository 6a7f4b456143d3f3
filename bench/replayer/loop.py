"""The loop: steps of a recording go in one by one, what a strategy makes of each comes out.

It knows nothing of later steps, and somebody's own code is told of each through the border. What
replay cannot know: the recorded actions stay as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
    Reply,
    Resolved,
    RouteDecision,
    ToolResult,
    UserTurn,
    WriterCall,
    as_text,
    compact_json,
)
from ..model.errors import StrategyError
from ..model.replay import Call, StepOutcome
from ..plugins.registry import Plugin, build
from ..strategies import AT_DEFAULT, RECORDED, Execution, Strategy, untruncated_record
from ..strategies.offloading import offloaded_to
from ..strategies.routing import decides_here, execution_of, state_of
from ..tokens.counting import DEFAULT_WINDOW_TOKENS, TokenCounter
from .answers import started
from .border import Border
from .failures import Broken, InSlot
from .numbering import Asked, Event, Numbers, Recorded
from .plain import plain_data
from .thread import Frame, Thread


@dataclass(frozen=True)
class About:
    """All that a replay knows of a recording before its first step.

    Messages that it writes are numbered from `messages` on. `framing` are the tokens of an empty
    prompt, `meta` the plan and the manifest that routers choose from, `points` the decision points
    (with the router, where known) at which it recorded decisions.
    """

    messages: int
    framing: int
    window_tokens: int | None
    meta: dict[str, Any]
    points: frozenset[tuple[str, str | None]]


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
    """One router, with an instance for each side."""

    plugin: Plugin
    decide: Callable[..., Any]
    decide_untruncated: Callable[..., Any]

    @property
    def name(self) -> str:
        return self.plugin.entry.name

    @property
    def at(self) -> str:
        """The point at which it decides."""
        at: str = self.plugin.attribute("at", AT_DEFAULT)
        return at


class Loop:
    """A strategy during one replay: what fills its slots is started, and its state lives this long.

    `future` is for a reference that reads it.
    """

    def __init__(
        self, about: About, strategy: Strategy, counter: TokenCounter, future: Any = None
    ) -> None:
        self.about, self.strategy, self.future = about, strategy, future
        self.numbers = Numbers(about.messages, counter.of)
        self.out = Outcomes(self.numbers.written)
        self._border = Border(strategy, counter, self.numbers.count, self.charge, self.offload)
        self._threads: dict[str, Thread] = {}
        self._store, self._summarize, self._consume = map(
            self._code, ("store", "summarizer", "consumer")
        )
        self._stored = Side(self._code("evaluator", "stored"))
        self._full = Side(self._code("evaluator", "full"))
        self._side = self._stored  # the one at work: calls of models by the other are not charged
        self._routers = [
            Router(plugin, *(self._started("routers", place, side) for side in ("stored", "full")))
            for place, plugin in enumerate(strategy.plugins.get("routers", ()))
        ]
        self._state: dict[str, Any] = {}  # as the last decision was recorded
        self._taken: dict[str | None, str] = {}  # the last recorded route of each router
        self._summary: Any = None  # of the last result, and its untruncated value
        self._output: Any = None
        self._offloaded: dict[str, str] = {}  # texts by handle
        self._last: AnyStep | None = None

    def _code(self, slot: str, instance: str = "") -> Any:
        """An instance of what fills a slot; None for an empty one."""
        return self._started(slot, 0, instance) if self.strategy.plugins.get(slot) else None

    def _started(self, slot: str, place: int, instance: str) -> Callable[..., Any]:
        plugin = self.strategy.plugins[slot][place]
        return self._border.code(slot, place, instance) if plugin.own else started(plugin)

    def _thread(self, name: str) -> Thread:
        """The thread of a name, with a compactor of its own."""
        if name not in self._threads:
            plugins = self.strategy.plugins.get("compactor", ())
            per_call = any(plugin.attribute("mode", "history") == "per_call" for plugin in plugins)
            window_tokens = self.about.window_tokens or DEFAULT_WINDOW_TOKENS
            frame = Frame(self.about.framing, window_tokens, self.future)
            compact = self._code("compactor", name)
            recorded = started(build("compactor", "recorded"))
            self._threads[name] = Thread(self.numbers, compact, recorded, frame, per_call=per_call)
        return self._threads[name]

    # ------------------------------------------------------------ steps

    def outcomes(self, events: Iterable[Event]) -> Outcomes:
        """The outcomes of some events. A strategy that raises ends them with its failure."""
        try:
            if self.strategy.broken:
                raise Broken("strategy", StrategyError(self.strategy.broken))
            with self._border, offloaded_to(self.offload):
                for event in events:
                    self.take(event)
        except Broken as error:
            self.out.failure = Failure(step=self.at, slot=error.slot, error=error.text)
        return self.out

    def take(self, event: Event) -> None:
        """Take the next event of the recording. Raises Broken."""
        if event is None:
            self._route("end", self._last)
        elif isinstance(event, Recorded):
            self._take(event, self._begin(event.step))
        else:
            self._ask(event, self._begin(event.step))

    def _ask(self, asked: Asked, thread: Thread) -> None:
        """The model is about to be called, or a route to be taken: nobody knows the answer yet."""
        step = asked.step
        if isinstance(step, RouteDecision):
            self._state = step.state
            self._route(step.at, step, step)
        else:
            self._prompt(asked, thread)
            self._route("before_model", step)

    def _take(self, recorded: Recorded, thread: Thread) -> None:
        """Take a step, of a model turn or a routing decision its answer."""
        step = recorded.step
        if recorded.full is not None and recorded.seen is not None:
            self.numbers.know(*recorded.full)
            if recorded.seen is not recorded.full:
                self.numbers.know(*recorded.seen)
        if isinstance(step, ToolResult):
            self._result(step, recorded, thread)
            self._route("after_result", step)
            self._route("after_evaluation", step)
        elif isinstance(step, ContextReset | ContextEdit):
            thread.resets.append(step)
        elif isinstance(step, Approval):
            self._route("approval", step)
        elif isinstance(step, RouteDecision):
            self._taken[step.router] = step.taken
        elif recorded.full is not None:
            thread.join(recorded.full[0], recorded.full[0])
        if isinstance(step, ModelTurn | UserTurn):
            self._route("after_model" if isinstance(step, ModelTurn) else "user_turn", step)

    def _begin(self, step: AnyStep) -> Thread:
        self._last, self._side = step, self._stored
        return self._thread(step.thread)

    @property
    def at(self) -> int:
        """The last step that was taken; -1 before the first."""
        return -1 if self._last is None else self._last.index

    def charge(self, read: int, written: int, model: str | None) -> None:
        """Charge a call of a model that the strategy itself made, unless the untruncated side did."""
        if self._side is self._stored:
            call = WriterCall(
                step=self.at, consumed_tokens=read, produced_tokens=written, model=model
            )
            self.out.own_calls.append(call)

    def offload(self, handle: str, value: Any) -> None:
        """From this step on a handle stands for a value."""
        text = as_text(plain_data(value))
        if self._side is self._stored and self._offloaded.get(handle) != text:
            self._offloaded[handle] = text
            self.out.handles.append(Resolved(handle=handle, step=self.at, text=text))

    # ------------------------------------------------------------ results

    def _result(self, step: ToolResult, recorded: Recorded, thread: Thread) -> None:
        """Store, summarize, consume and evaluate a result, and let what is shown of it join."""
        full = recorded.record or untruncated_record(step)
        record, stored = (full, full.value) if self._store is None else self._put(step)
        summary = self._summary_of(step)
        self._summary, self._output = summary, step.value
        reply = self._reply_to(step, summary)
        message = self._message_of(step, recorded, record, summary)
        outcome = StepOutcome(
            step=step.index,
            call_id=step.call_id,
            message=thread.join(message, recorded.messages[0]),
            record=record,
            stored=stored,
            evaluation=self._evaluate(self._stored, read_back(record, stored)),
            evaluation_untruncated=self._evaluate(self._full, full),
            reply=reply,
        )
        self.out.results.append(outcome)

    def _message_of(
        self, step: ToolResult, recorded: Recorded, record: Record, summary: Any
    ) -> Message:
        """The message that shows a result: its summary, else what the store keeps of it.

        Where neither slot is filled, it is what the recorded model saw.
        """
        untruncated, seen = recorded.messages
        if summary is not None:
            text = as_text(summary)
        elif self._store is not None and record.value != step.value:
            text = as_text(record.value)
        else:
            return seen if self._summarize is None else untruncated
        return untruncated if text == untruncated.text else _with_text(untruncated, text)

    def _put(self, step: ToolResult) -> tuple[Record, Any]:
        """The record that the store keeps, and the value that can be read back."""
        with InSlot("store"):
            record, behind = self._store(step)
            stored = record.value if record.handle is None else behind
            compact_json(stored)  # what cannot be written cannot be read back
        return record, stored

    def _summary_of(self, step: ToolResult) -> Any:
        """The summarizer's answer; None for an empty slot too."""
        if self._summarize is None:
            return None
        with InSlot("summarizer"):
            return self._summarize(step)

    def _reply_to(self, step: ToolResult, summary: Any) -> Reply | None:
        if self._consume is None:
            return None
        with InSlot("consumer"):
            reply: Reply = self._consume(Execution(step, summary))
        return reply

    def _evaluate(self, side: Side, record: Record) -> dict[str, Any] | None:
        """The findings of the evaluator on one side; the record joins its history."""
        side.results += 1
        self._side = side
        if self._routers:  # who alone are shown them
            side.executions.append(execution_of(record))
        if side.evaluate is None:
            return None
        with InSlot("evaluator"):
            findings: dict[str, Any] | None = side.evaluate(record, tuple(side.evaluations))
        if findings is not None:
            side.evaluations.append(findings)
        return findings

    # ------------------------------------------------------------ prompts and routes

    def _prompt(self, asked: Asked, thread: Thread) -> None:
        """Let the compactor rework the prompt of a turn, and charge its summaries."""
        with InSlot("compactor"):
            call, edits = thread.call(asked)
            self.out.calls.append(call)
            if edits is None:
                return
            charged = bool(self.out.own_calls) and self.out.own_calls[-1].step == call.step
            for written in () if charged else edits.written:  # not what a model itself said
                read = sum(
                    self.numbers.count(item) - item.reasoning_tokens for item in written.read
                )
                self.charge(read, self.numbers.count(written.text), None)

    def _route(
        self, point: str, step: AnyStep | None, recorded: RouteDecision | None = None
    ) -> None:
        """Let the routers that decide at a point do so."""
        for router in self._routers:
            if decides_here(router.name, router.at, point, recorded, self.about.points):
                with InSlot(f"router {router.name}"):
                    self._decide(router, point, step)

    def _decide(self, router: Router, point: str, step: AnyStep | None) -> None:
        """Let one router decide, from what is stored and from untruncated results; a decision that
        is another router's is left out.
        """
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
            loop=router.plugin.attribute("loop"),
            detail=detail,
        )
        self.out.decisions.append(decision)

    def _state_at(self, side: Side, step: AnyStep | None) -> dict[str, Any]:
        """The state of one side at a decision point."""
        self._side = side
        thread = None if step is None else self._threads.get(step.thread)
        prompt: list[Message] = []
        if thread is not None:
            prompt = list(thread.recording if side is self._full else thread.messages)
        return state_of(
            step,
            recorded=self._state,
            meta=self.about.meta,
            results=side.results,
            executions=side.executions,
            evaluations=None if side.evaluate is None else side.evaluations,
            summary=self._summary,
            output=self._output,
            prompt=prompt,
            route=self._taken.get(step.router) if isinstance(step, RouteDecision) else None,
        )


def read_back(record: Record, stored: Any) -> Record:
    """A record as a later step reads it: with the value that is behind its handle."""
    if record.handle is None and stored is record.value:
        return record
    is_data = record.handle is not None and isinstance(stored, dict | list)
    result_type = "structured" if is_data else record.result_type
    return msgspec.structs.replace(record, value=stored, result_type=result_type)


def _with_text(message: Message, text: str) -> Message:
    return msgspec.structs.replace(message, text=text)
