"""The loop: steps of a recording go in one by one, what a strategy makes of each comes out.

It knows nothing of later steps, so it can run in the process of somebody else's code. What replay
cannot know: the recorded actions stay as they were.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ..model import (
    AnyStep,
    Approval,
    ContextEdit,
    ContextReset,
    Decision,
    Message,
    ModelTurn,
    Note,
    Record,
    Reply,
    Resolved,
    RouteDecision,
    ToolResult,
    ToolsChanged,
    UserTurn,
    WriterCall,
    as_text,
    compact_json,
)
from ..model.errors import StrategyError, one_line
from ..model.replay import StepOutcome
from ..plugins.command import Process
from ..plugins.registry import Plugin, build
from ..strategies import AT_DEFAULT, RECORDED, Execution, Seen, Strategy, Window, untruncated_record
from ..strategies.functions import awaited, started
from ..strategies.offloading import offloaded_to
from ..strategies.routing import decides_here, execution_of, state_of
from ..tokens.counting import DEFAULT_WINDOW_TOKENS
from .answers import decision_of, findings_of, record_of, reply_of, summary_of, texts
from .numbering import Count, Numbers, Recorded
from .outcomes import About, Broken, Outcomes, broken
from .plain import copied, plain_data
from .thread import Thread


class Side:
    """One of the two sides that are judged alike: the stored records, and the untruncated ones."""

    def __init__(self) -> None:
        self.evaluate: Any = None
        self.results = 0
        self.executions: list[dict[str, Any]] = []
        self.evaluations: list[dict[str, Any]] = []


class Loop:
    """A strategy during one replay. `count` counts tokens; `future` is for a reference that reads it."""

    def __init__(
        self,
        about: About,
        strategy: Strategy,
        count: Count,
        *,
        own: bool = False,
        future: Any = None,
    ) -> None:
        self.about, self.strategy, self.own, self.future = about, strategy, own, future
        self.out = Outcomes()
        self.numbers = Numbers(about.messages, count, own=own)
        self._threads: dict[str, Thread] = {}
        self._processes: list[Process] = []
        self._summarizer: Any = None
        self._store: Any = None
        self._resolve: Any = None
        self._consumer: Any = None
        self._routers: list[tuple[Plugin, Any, Any]] = []
        self._stored, self._full = Side(), Side()
        self._state: dict[str, Any] = {}
        self._summary: Any = None
        self._output: Any = None
        self._offloaded: dict[str, str] = {}
        self._last: AnyStep | None = None
        self._free = False

    def start(self) -> None:
        """Start what fills the slots: their state lives for this replay alone."""
        if self.strategy.broken:
            raise Broken("strategy", StrategyError(self.strategy.broken))
        plugins = self.strategy.plugins
        self._summarizer, self._consumer = self._call("summarizer"), self._call("consumer")
        for store in plugins.get("store", ()):
            instance, self._store = self._started(store)
            self._resolve = getattr(instance, "resolve", None)
        self._stored.evaluate, self._full.evaluate = (
            self._call("evaluator"),
            self._call("evaluator"),
        )
        self._routers = [
            (plugin, self._started(plugin)[1], self._started(plugin)[1]) for plugin in plugins.get("routers", ())
        ]

    def close(self) -> None:
        """End the processes of command lines."""
        for process in self._processes:
            process.close()

    @property
    def extra_s(self) -> float:
        """The seconds that processes of command lines may take for one call each."""
        return sum(sum(process.limits) for process in self._processes)

    def _given(self, value: Any) -> Any:
        """A value as the strategy is given it: a copy for somebody else's code, which may edit it."""
        return copied(value) if self.own else value

    def _call(self, slot: str) -> Any:
        plugins = self.strategy.plugins.get(slot)
        return self._started(plugins[0])[1] if plugins else None

    def _started(self, plugin: Plugin) -> tuple[Any, Any]:
        instance, call = started(plugin)
        if isinstance(instance, Process):
            self._processes.append(instance)
        return instance, call

    def _thread(self, name: str) -> Thread:
        if name not in self._threads:
            plugins: tuple[Plugin, ...] = self.strategy.plugins.get("compactor", ())
            compact = self._started(plugins[0])[1] if plugins else None
            per_call = bool(plugins) and plugins[0].attribute("mode", "history") == "per_call"
            about = {
                "framing": self.about.framing,
                "max_tokens": self.about.window_tokens or DEFAULT_WINDOW_TOKENS,
                "future": self.future,
            }
            self._threads[name] = Thread(self.numbers, compact, _recorded_history, about, per_call=per_call)
        return self._threads[name]

    # ------------------------------------------------------------ steps

    def take(self, recorded: Recorded) -> None:
        """Take the next step. Raises Broken where the strategy fails at it."""
        self._last = step = recorded.step
        thread, self._free = self._thread(step.thread), False
        for known in dict.fromkeys((recorded.full, recorded.seen)):
            if known is not None:
                self.numbers.know(*known)
        with offloaded_to(self._keep):
            if isinstance(step, ToolResult):
                self._result(step, recorded, thread)
                self._route("after_result", step)
                self._route("after_evaluation", step)
            elif isinstance(step, ModelTurn):
                self._prompt(step, thread)
                self._route("before_model", step)
                _join(thread, recorded)
                self._route("after_model", step)
            elif isinstance(step, ToolsChanged):
                thread.change_tools(recorded.tools_tokens)
            elif isinstance(step, ContextReset | ContextEdit):
                thread.resets.append(step)
            elif isinstance(step, Approval):
                self._route("approval", step)
            elif isinstance(step, RouteDecision):
                self._state = self._given(step.state)
                self._route(step.at, step, step)
            else:
                _join(thread, recorded)
                if isinstance(step, UserTurn):
                    self._route("user_turn", step)

    def end(self) -> None:
        """The recording is over."""
        with offloaded_to(self._keep):
            self._route("end", self._last)

    @property
    def at(self) -> int:
        """The last step that was taken; -1 before the first."""
        return -1 if self._last is None else self._last.index

    def charge(self, read: int, written: int, model: str | None) -> None:
        """Charge a call of a model that the strategy itself made, unless the untruncated side did."""
        if not self._free:
            call = WriterCall(step=self.at, consumed_tokens=read, produced_tokens=written, model=model)
            self.out.own_calls.append(call)

    def _keep(self, handle: str, value: Any) -> None:
        """From this step on a handle stands for a value."""
        text = as_text(plain_data(value))
        if not self._free and self._offloaded.get(handle) != text:
            self._offloaded[handle] = text
            self.out.handles.append(Resolved(handle=handle, step=self.at, text=text))

    # ------------------------------------------------------------ results

    def _result(self, step: ToolResult, recorded: Recorded, thread: Thread) -> None:
        full_message, seen_message = recorded.messages
        own = self._given(step)
        full = untruncated_record(step)
        record, stored = (full, full.value) if self._store is None else self._put(own)
        summary, text = self._summarize(own)
        message = full_message
        if text is not None:
            message = _with_text(message, text)
        elif self._store is not None and record.value != step.value:
            message = _with_text(message, as_text(record.value))
        elif self._summarizer is None:
            message = seen_message
        self._summary, self._output = summary, own.value
        reply = self._consume(own, summary)
        if own is not step and _data(own) != _data(step):
            what = "the strategy changed its input — copy what a result holds before editing it"
            raise Broken("strategy", StrategyError(what))
        number = thread.join(message, full_message)
        read_back = record if stored is record.value else msgspec.structs.replace(record, value=stored)
        if record.handle and isinstance(stored, dict | list):
            read_back = msgspec.structs.replace(read_back, result_type="structured")
        self.out.results.append(
            StepOutcome(
                step=step.index,
                call_id=step.call_id,
                message=number,
                record=record,
                stored=stored,
                evaluation=self._evaluate(self._stored, read_back),
                evaluation_untruncated=self._evaluate(self._full, full),
                reply=reply,
            )
        )

    def _put(self, own: ToolResult) -> tuple[Record, Any]:
        with broken("store"):
            answer = self._store(own)
            kept = answer if isinstance(answer, Record) and not self.own else record_of(answer, own)
            stored = kept.value if kept.handle is None else self._behind(kept.handle)
            compact_json([stored, kept.metadata])  # what cannot be written cannot be read back
        return kept, stored

    def _behind(self, handle: str) -> Any:
        """The value behind a record's handle; None, with a note, where it does not resolve."""
        try:
            if self._resolve is None:
                raise StrategyError("the store has no method resolve(handle)")
            value = awaited(self._resolve(handle))
            return plain_data(value) if self.own else value
        except Exception as error:
            text = f"handle {handle} does not resolve: {type(error).__name__}: {one_line(error)}"
            self.out.notes.append(Note(step=self.at, slot="store", text=text))
            return None

    def _summarize(self, own: ToolResult) -> tuple[Any, str | None]:
        if self._summarizer is None:
            return None, None
        with broken("summarizer"):
            summary, message, notes = summary_of(self._summarizer(own))
        self._note("summarizer", notes)
        return summary, message

    def _note(self, slot: str, notes: tuple[str, ...]) -> None:
        self.out.notes += [Note(step=self.at, slot=slot, text=text) for text in notes]

    def _consume(self, own: ToolResult, summary: Any) -> Reply | None:
        if self._consumer is None:
            return None
        with broken("consumer"):
            return reply_of(self._consumer(Execution(own, self._given(summary))))

    def _evaluate(self, side: Side, record: Record) -> dict[str, Any] | None:
        side.results += 1
        self._free = side is self._full
        if self._routers:  # who alone are shown them
            side.executions.append(execution_of(self._given(record)))
        if side.evaluate is None:
            return None
        with broken("evaluator"):
            findings = findings_of(side.evaluate(self._given(record), tuple(side.evaluations)))
        if findings is not None:
            side.evaluations.append(self._given(findings))
        return findings

    # ------------------------------------------------------------ prompts and routes

    def _prompt(self, step: ModelTurn, thread: Thread) -> None:
        with broken("compactor"):
            call, edits = thread.call(step)
            self.out.calls.append(call)
            if edits is None:
                return
            asked = bool(self.out.own_calls) and self.out.own_calls[-1].step == step.index
            for written in () if asked else edits.written:  # a model that was asked is charged
                read = sum(self.numbers.count(m) - m.reasoning_tokens for m in written.read)
                wrote = WriterCall(
                    step=step.index,
                    consumed_tokens=read,
                    produced_tokens=self.numbers.count(written.text),
                )
                self.out.own_calls.append(wrote)
            self._note("compactor", texts(edits.notes))

    def _route(self, point: str, step: AnyStep | None, recorded: RouteDecision | None = None) -> None:
        """Let the routers of a decision point decide, on both sides."""
        for plugin, decide, decide_full in self._routers:
            name, at = plugin.entry.name, plugin.attribute("at", AT_DEFAULT)
            if not decides_here(name, at, point, recorded, self.about.points):
                continue
            with broken(f"router {name}"):
                answers = [
                    decide(state_of(self._seen(self._stored, step))),
                    decide_full(state_of(self._seen(self._full, step))),
                ]
                if at == RECORDED and None in answers:  # the decision of another router
                    continue
                (route, detail), (untruncated, _) = map(decision_of, answers)
            decision = Decision(
                step=-1 if step is None else step.index,
                router=name,
                at=point,
                route=route,
                untruncated=untruncated,
                loop=plugin.attribute("loop"),
                detail=detail,
            )
            self.out.decisions.append(decision)

    def _seen(self, side: Side, step: AnyStep | None) -> Seen:
        """The state of one side at a decision point."""
        self._free = side is self._full
        thread = None if step is None else self._threads.get(step.thread)
        history = [] if thread is None else thread.recording if side is self._full else thread.messages
        return Seen(
            step=self._given(step),
            recorded=self._given(self._state),
            meta=self._given(self.about.meta),
            results=side.results,
            executions=side.executions,
            evaluations=None if side.evaluate is None else side.evaluations,
            summary=self._given(self._summary),
            output=self._output,
            prompt=list(history),
        )


def _recorded_history(window: Window) -> Any:
    """The history as the recorded harness left it: what an empty slot does."""
    return build("compactor", "recorded").start()[1](window)


def _join(thread: Thread, recorded: Recorded) -> None:
    if recorded.full is not None:
        thread.join(recorded.full[0], recorded.full[0])


def _data(step: ToolResult) -> str:
    return compact_json([step.data, step.arguments])


def _with_text(message: Message, text: str) -> Message:
    return message if text == message.text else msgspec.structs.replace(message, text=text)
