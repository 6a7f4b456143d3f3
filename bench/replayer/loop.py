"""(Trace, Strategy) → Run: the only loop. Everything is measured here, from outside; a strategy never reports on itself.

Sequential: what a strategy did at step k is what it finds at step k+1. What replay cannot know: the recorded actions stay fixed.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ..evidence.of_trace import TraceEvidence
from ..model import (
    AnyStep,
    Approval,
    ContextEdit,
    ContextReset,
    Decision,
    Failure,
    Message,
    ModelTurn,
    Note,
    Record,
    Reply,
    ResultOutcome,
    RouteDecision,
    Run,
    SystemTurn,
    ToolResult,
    ToolsChanged,
    Trace,
    UserTurn,
    as_text,
    compact_json,
)
from ..model.errors import StrategyError
from ..plugins.command import Process
from ..plugins.registry import Plugin
from ..strategies import AT_DEFAULT, RECORDED, Execution, Seen, Strategy, untruncated_record
from ..strategies.functions import started
from ..strategies.own_calls import OwnCalls
from ..strategies.routing import decides_here, execution_of, labelled_route, state_of
from ..text.lossless import gives_back
from ..text.scripts import expected_scripts
from .handed import can_change, decision_of, findings_of, fresh, own_future, record_of, reply_of, summary_of, texts
from .offered import Offered
from .prompts import MessageTokens, ThreadHistory, ThreadPrompt
from .shared import Broken, Shared, broken


class Side:
    """One of the two sides that are judged alike: the stored records and the untruncated ones."""

    def __init__(self) -> None:
        self.evaluate: Any = None
        self.results = 0
        self.executions: list[dict[str, Any]] = []
        """The records as routers are given them."""
        self.evaluations: list[dict[str, Any]] = []
        self.handed: list[dict[str, Any]] = []
        """The evaluations once more, as evaluators and routers are given them."""


class Replayer(Shared):
    """Replays one trace through any number of strategies; none sees what another changed."""

    def run(self, strategy: Strategy, steps: int | None = None) -> Run:
        """One replay, of all steps or of the first so many. A strategy that raises gives a Run with a `failure`, not an exception.

        A trace without model turns gives a Run without prompts: nothing to cost, though its results are still stored and judged.
        """
        state = _Replay(self, strategy)
        failure: Failure | None = None
        step: AnyStep | None = None
        goes_on = self.on_step or (lambda extra_s: None)
        try:
            goes_on(0.0)
            with state.asked.open():
                state.start()
                for step in self.evidence.trace.steps[:steps]:
                    goes_on(state.extra_s)
                    state.take(step)
                if steps is None:
                    goes_on(state.extra_s)
                    state.route_at("end", step)
        except BaseException as error:
            interrupted = isinstance(error, KeyboardInterrupt) and self.on_step is None
            if interrupted or not (strategy.own or isinstance(error, Broken | SystemExit)):
                raise
            told = error if isinstance(error, Broken) else Broken("strategy", error)
            failure = Failure(step=-1 if step is None else step.index, slot=told.slot, error=told.text)
        finally:
            state.close()
        return state.run(failure)


def replay(trace: Trace, strategy: Strategy) -> Run:
    """One trace replayed through one strategy: see `Replayer.run`."""
    return Replayer(TraceEvidence(trace)).run(strategy)


class _Replay:
    """The state of one replay: per-thread histories, records kept so far on both sides, and what the Run collects."""

    def __init__(self, replayer: Shared, strategy: Strategy) -> None:
        self.replayer, self.strategy, self.own = replayer, strategy, strategy.own
        self.trace = replayer.evidence.trace
        self.tokens = MessageTokens(replayer.base, own=self.own)
        self.window_tokens = replayer.prepared.window_tokens
        self.threads: dict[str, ThreadHistory] = {}
        self.processes: list[Process] = []
        self.decode: Any = None
        self.decoded: dict[str, str] = {}
        self.summarizer: Any = None
        self.store: Any = None
        self.consumer: Any = None
        self.routers: list[tuple[Plugin, Any, Any]] = []
        self.stored_side, self.full_side = Side(), Side()
        self.expected_scripts = expected_scripts(self.trace.labels.get("scripts"), self.trace.meta.get("manifest"))
        self.recorded_points = {(step.at, step.router) for step in self.trace.steps if isinstance(step, RouteDecision)}
        self.meta = self.trace.meta
        self.summary: Any = None
        self.output: Any = None
        self.results: list[ResultOutcome] = []
        self.decisions: list[Decision] = []
        self.notes: list[Note] = []
        self.offered = Offered(replayer.evidence.results, self.notes)
        self.asked = OwnCalls(self.offered.keep)
        self.recorded_state: dict[str, Any] = {}

    def start(self) -> None:
        """Start what fills the slots: state lives for this replay alone."""
        if self.strategy.broken:
            raise Broken("strategy", StrategyError(self.strategy.broken))
        plugins = self.strategy.plugins
        self.summarizer = self._start("summarizer")
        self.decode = next((plugin.attribute("decode") for plugin in plugins.get("summarizer", ())), None)
        for store in plugins.get("store", ()):
            self.store = self._started(store)[1]
        self.stored_side.evaluate, self.full_side.evaluate = self._start("evaluator"), self._start("evaluator")
        self.routers = [
            (plugin, self._started(plugin)[1], self._started(plugin)[1]) for plugin in plugins.get("routers", ())
        ]
        self.consumer = self._start("consumer")
        self.meta = self._handed(self.trace.meta) if self.routers else self.trace.meta

    def _handed(self, value: Any) -> Any:
        """A value as the strategy is given it: somebody's own code gets a copy, since it may do anything to what it is given."""
        return fresh(value) if self.own else value

    def _start(self, slot: str) -> Any:
        plugins = self.strategy.plugins.get(slot)
        return self._started(plugins[0])[1] if plugins else None

    def _started(self, plugin: Plugin) -> tuple[Any, Any]:
        """A fresh instance for this replay, and what does its work. A process is ended with the replay."""
        instance, call = started(plugin)
        if isinstance(instance, Process):
            self.processes.append(instance)
        self.offered.started(plugin, instance)
        return instance, call

    @property
    def extra_s(self) -> float:
        """The seconds that the processes of this strategy may take for one call each."""
        return sum(sum(process.limits) for process in self.processes)

    def close(self) -> None:
        for process in self.processes:
            process.close()

    def thread(self, step: AnyStep) -> ThreadHistory:
        if step.thread not in self.threads:
            plugins: tuple[Plugin, ...] = self.strategy.plugins.get("compactor", ())
            reads_on = bool(plugins) and plugins[0].attribute("needs_future", False)
            future = self.replayer.evidence.future if reads_on else None
            if future is not None and self.own:
                future = own_future(future)
            compact = self._started(plugins[0])[1] if plugins else self.replayer.recorded_compactor
            self.offered.to_thread(step.thread)
            per_call = bool(plugins) and plugins[0].attribute("mode", "history") == "per_call"
            self.threads[step.thread] = ThreadHistory(
                step.thread, self.tokens, compact, self.window_tokens, future, per_call=per_call
            )
        return self.threads[step.thread]

    def take(self, step: AnyStep) -> None:
        thread, self.asked.step, self.asked.free = self.thread(step), step.index, False
        if isinstance(step, ToolResult):
            self._result(step, thread)
            self.route_at("after_result", step)
            self.route_at("after_evaluation", step)
        elif isinstance(step, ModelTurn):
            self._prompt(step, thread)
            self.route_at("before_model", step)
            thread.join(self.tokens.base(step))
            self.route_at("after_model", step)
        elif isinstance(step, SystemTurn | UserTurn):
            thread.join(self.tokens.base(step))
            if isinstance(step, UserTurn):
                self.route_at("user_turn", step)
        elif isinstance(step, ToolsChanged):
            thread.set_tools(step.tools)
        elif isinstance(step, ContextReset | ContextEdit):
            thread.resets.append(step)
        elif isinstance(step, Approval):
            self.route_at("approval", step)
        else:
            self.recorded_state = self._handed(step.state)
            self.route_at(step.at, step, step)

    # ------------------------------------------------------------ results

    def _result(self, step: ToolResult, thread: ThreadHistory) -> None:
        base, own = self.tokens.base(step), self._handed(step)
        handed_out = own is not step and can_change(step) and any((self.summarizer, self.store, self.consumer))
        before = compact_json([own.data, own.arguments]) if handed_out else ""
        full = untruncated_record(step)
        record, stored = (full, full.value) if self.store is None else self._put(own, step)
        summary, shown = self._summarize(own)
        if shown is None:
            shown = self._as_kept(step, base, record)
        self.summary, self.output = summary, own.value
        reply = self._consume(own, summary)
        if handed_out and compact_json([own.data, own.arguments]) != before:
            what = "the strategy changed its input — copy what a result holds before editing it"
            raise Broken("strategy", StrategyError(what))
        message = base if shown == base.text else msgspec.structs.replace(base, text=shown)
        key = thread.join(message, base)
        showing = ("summarizer",) if record.handle else ("summarizer", "store")
        self.offered.look_at(showing, key, message, step.index)
        if self.decode is not None and shown != base.text and gives_back(self.decode, shown, own):
            self.decoded[key] = base.text if step.data is None else as_text(step.data)
        evaluation, evaluation_untruncated, extraction = self._judge(step, record, stored, full)
        self.results.append(
            ResultOutcome(
                step=step.index,
                call_id=step.call_id,
                shown=key,
                record=record,
                stored=stored,
                evaluation=evaluation,
                evaluation_untruncated=evaluation_untruncated,
                extraction=extraction,
                extraction_untruncated=self.replayer.extracted_from(full),
                reply=reply,
            )
        )

    def _as_kept(self, step: ToolResult, base: Message, record: Record) -> str:
        """The text of a result that no summary replaces: as the recording showed it where neither slot is filled, else as it is stored."""
        if self.store is not None and record.value != step.value:
            return as_text(record.value)
        return step.shown_by_recorder if self.summarizer is None else base.text

    def _judge(self, step: ToolResult, record: Record, stored: Any, full: Record) -> tuple[Any, Any, Any]:
        """Evaluation on the stored and on the untruncated record, extraction on the stored one."""
        read_back = record if stored is record.value else msgspec.structs.replace(record, value=stored)
        if record.handle and isinstance(stored, dict | list):
            read_back = msgspec.structs.replace(read_back, result_type="structured")
        extraction = self.replayer.extracted_from(full) if read_back is full else self.replayer.extract(read_back)
        return self._evaluate(self.stored_side, read_back), self._evaluate(self.full_side, full), extraction

    def _put(self, own: ToolResult, step: ToolResult) -> tuple[Record, Any]:
        with broken("store"):
            kept = self.offered.with_handle(record_of(self.store(own), own, step), step)
            stored = kept.value if kept.handle is None else self.offered.given_back(kept.handle, own, step)
            compact_json([stored, kept.metadata])  # what cannot be written down cannot be read back
        return kept, stored

    def _summarize(self, step: ToolResult) -> tuple[Any, str | None]:
        if self.summarizer is None:
            return None, None
        with broken("summarizer"):
            summary, shown, notes = summary_of(self.summarizer(step))
        self.notes.extend(Note(step=step.index, slot="summarizer", text=text) for text in notes)
        return summary, shown

    def _consume(self, step: ToolResult, summary: Any) -> Reply | None:
        if self.consumer is None:
            return None
        with broken("consumer"):
            return reply_of(self.consumer(Execution(step, self._handed(summary))))

    def _evaluate(self, side: Side, record: Record) -> dict[str, Any] | None:
        side.results += 1
        self.asked.free = side is self.full_side
        if self.routers:  # who alone are shown them
            side.executions.append(execution_of(self._handed(record)))
        if side.evaluate is None:
            return None
        with broken("evaluator"):
            found = findings_of(side.evaluate(self._handed(record), tuple(side.handed)))
        if found is not None:
            side.evaluations.append(found)
            side.handed.append(self._handed(found))
        return found

    # ------------------------------------------------------------ prompts

    def _prompt(self, step: ModelTurn, thread: ThreadHistory) -> None:
        with broken("compactor"):
            edits = thread.compact(step)
            for key in (key for splice in thread.prompts[-1].splices for key in splice.added):
                self.offered.look_at((step.thread,), key, self.tokens.messages[key], step.index, of_thread=True)
            if edits is None:
                return
            for written in edits.written:
                consumed = sum(self.tokens.tokens(message) - message.reasoning_tokens for message in written.read)
                self.asked.wrote(consumed, self.tokens.count(written.text))
            self.notes.extend(Note(step=step.index, slot="compactor", text=text) for text in texts(edits.notes))

    # ------------------------------------------------------------ routes

    def route_at(self, point: str, step: AnyStep | None, recorded: RouteDecision | None = None) -> None:
        """Run the routers of a decision point, recorded or natural, but for those whose decisions at a natural one the trace itself records."""
        for plugin, decide, decide_full in self.routers:
            name, at = plugin.entry.name, plugin.attribute("at", AT_DEFAULT)
            if not decides_here(name, at, point, recorded, self.recorded_points):
                continue
            with broken(f"router {name}"):
                answers = [way(state_of(self._seen(side, step))) for way, side in
                           ((decide, self.stored_side), (decide_full, self.full_side))]  # fmt: skip
                if at == RECORDED and None in answers:  # a decision that is another router's
                    continue
                (route, detail), (untruncated, _) = map(decision_of, answers)
            index = step.index if step is not None else -1
            self.decisions.append(
                Decision(
                    step=index,
                    router=name,
                    at=point,
                    route=route,
                    untruncated=untruncated,
                    loop=plugin.attribute("loop"),
                    recorded=recorded.taken if recorded is not None else None,
                    labelled=labelled_route(self.trace.labels, self.expected_scripts, str(index), route, detail),
                    detail=detail,
                )
            )

    def _seen(self, side: Side, step: AnyStep | None) -> Seen:
        """Return the state of one side at a decision point."""
        self.asked.free = side is self.full_side
        thread = None if step is None else self.threads.get(step.thread)
        history = [] if thread is None else thread.recording if side is self.full_side else thread.messages
        return Seen(
            step=self._handed(step),
            recorded=self._handed(self.recorded_state),
            meta=self.meta,
            results=side.results,
            executions=side.executions,
            evaluations=None if side.evaluate is None else side.handed,
            summary=self._handed(self.summary),
            output=self.output,
            prompt=ThreadPrompt(history),
        )

    # ------------------------------------------------------------ the end

    def run(self, failure: Failure | None) -> Run:
        prompts = [prompt for thread in self.threads.values() for prompt in thread.prompts]
        return Run(
            **self.replayer.about(self.strategy),
            messages=self.tokens.messages,
            message_tokens=self.tokens.message_tokens,
            decoded=self.decoded,
            prompts=tuple(sorted(prompts, key=lambda prompt: prompt.step)),
            results=tuple(self.results),
            decisions=tuple(self.decisions),
            writer_calls=tuple(self.asked.charged),
            handles=tuple(self.offered.kept),
            notes=tuple(self.notes),
            failure=failure,
        )
