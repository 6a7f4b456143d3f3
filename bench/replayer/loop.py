"""(Trace, Strategy) → Run: the only loop. Everything is measured here, from outside; a strategy never reports on itself.

Sequential: what a strategy did at step k is what it finds at step k+1. What replay cannot know: the recorded actions stay fixed.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ..errors import StrategyError, one_line
from ..evidence.calibration import calibrated
from ..evidence.of_trace import TraceEvidence
from ..model import (
    AnyStep,
    Approval,
    ContextReset,
    Decision,
    Failure,
    ModelTurn,
    Note,
    Record,
    ReplyMade,
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
from ..plugins.command import Process
from ..plugins.registry import Plugin, build, entries
from ..strategies import AT_DEFAULT, RECORDED, Edits, Execution, Reply, Seen, Strategy, Summary, untruncated_record
from ..strategies.functions import started
from ..strategies.models import ModelCalls
from ..strategies.routing import decides_here, route_of, state_left, state_of
from ..text.lossless import gives_back
from ..tokens.counting import TokenCounter, encoding_for
from ..tokens.prices import window_tokens
from .handed import fresh, of_trace, own_record, own_result, own_step
from .judging import Broken, Side
from .prompts import BaseMessages, MessageTokens, ThreadHistory, View


class Replayer:
    """Replays one trace through any number of strategies; none sees what another changed. Without `calibrate` tokens follow the plain rule."""

    def __init__(self, evidence: TraceEvidence, *, calibrate: bool = True) -> None:
        self.evidence = evidence
        self.encoding, self.encoding_assumed = encoding_for(evidence.model)
        plain = TokenCounter(self.encoding)
        self.calibration = calibrated(
            evidence.trace, plain, evidence.model, assumed=self.encoding_assumed, fit=calibrate
        )
        self.counter = plain.calibrated(self.calibration.counting)
        self.base = BaseMessages(self.counter, self.calibration.sizes)
        self.extractors = [(name, build("extractor", name).start()[1]) for name in entries("extractor")]
        self.extracted: dict[int, dict[str, Any] | None] = {}
        """What is extracted from each untruncated record, by step."""

    def run(self, strategy: Strategy, steps: int | None = None) -> Run:
        """One replay, of all steps or of the first so many. A strategy that raises gives a Run with a `failure`, not an exception.

        A trace without model turns gives a Run without prompts: nothing to cost, though its results are still stored and judged.
        """
        state = _Replay(self, strategy)
        failure: Failure | None = None
        step: AnyStep | None = None
        try:
            with state.asked.open():
                for step in self.evidence.trace.steps[:steps]:
                    state.take(step)
                if steps is None:
                    state.route_at("end", step)
        except (Broken, SystemExit) as error:  # a strategy that exits must not end the bench with its exit code
            broken = error if isinstance(error, Broken) else Broken("strategy", StrategyError(f"exited with {error}"))
            failure = Failure(step=-1 if step is None else step.index, slot=broken.slot, error=broken.text)
        finally:
            state.close()
        return state.run(failure)


def replay(trace: Trace, strategy: Strategy) -> Run:
    """One trace replayed through one strategy: see `Replayer.run`."""
    return Replayer(TraceEvidence(trace)).run(strategy)


class _Replay:
    """The state of one replay: per-thread histories, records kept so far on both sides, and what the Run collects."""

    def __init__(self, replayer: Replayer, strategy: Strategy) -> None:
        self.replayer, self.strategy = replayer, strategy
        self.trace = replayer.evidence.trace
        self.tokens = MessageTokens(replayer.base)
        self.window_tokens = window_tokens(replayer.evidence.model)
        self.threads: dict[str, ThreadHistory] = {}
        self.processes: list[Process] = []
        self.summarizer = self._start("summarizer")
        self.decode = next((plugin.attribute("decode") for plugin in strategy.plugins.get("summarizer", ())), None)
        self.decoded: dict[str, str] = {}
        store = strategy.plugins.get("store")
        self.store_instance: Any = None
        self.store: Any = None
        if store:
            self.store_instance, self.store = self._started(store[0])
        self.stored_side, self.full_side = Side(self._start("evaluator")), Side(self._start("evaluator"))
        self.recorded_points = {(step.at, step.router) for step in self.trace.steps if isinstance(step, RouteDecision)}
        self.routers = [
            (plugin.entry.name, plugin.attribute("at", AT_DEFAULT), self._started(plugin)[1], self._started(plugin)[1])
            for plugin in strategy.plugins.get("routers", ())
        ]
        self.consumer = self._start("consumer")
        self.meta = fresh(self.trace.meta) if self.routers else self.trace.meta
        self.summary: Any = None
        self.output: Any = None
        self.results: list[ResultOutcome] = []
        self.decisions: list[Decision] = []
        self.asked = ModelCalls(strategy.base, replayer.counter)
        self.notes: list[Note] = []
        self.recorded_state: dict[str, Any] = {}

    def _start(self, slot: str) -> Any:
        plugins = self.strategy.plugins.get(slot)
        return self._started(plugins[0])[1] if plugins else None

    def _started(self, plugin: Plugin) -> tuple[Any, Any]:
        """A fresh instance for this replay, and what does its work. A process is ended with the replay."""
        instance, call = started(plugin)
        if isinstance(instance, Process):
            self.processes.append(instance)
        return instance, call

    def close(self) -> None:
        """End what runs beside the replay."""
        for process in self.processes:
            process.close()

    def thread(self, step: AnyStep) -> ThreadHistory:
        if step.thread not in self.threads:
            plugins: tuple[Plugin, ...] = self.strategy.plugins.get("compactor", ())
            future = self.replayer.evidence.future if plugins and plugins[0].attribute("needs_future", False) else None
            compact = self._started(plugins[0])[1] if plugins else None
            per_call = bool(plugins) and plugins[0].attribute("mode", "history") == "per_call"
            self.threads[step.thread] = ThreadHistory(
                step.thread, self.tokens, compact, self.window_tokens, future, per_call=per_call
            )
        return self.threads[step.thread]

    def take(self, step: AnyStep) -> None:
        """One step of the recording, whatever its kind."""
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
        elif isinstance(step, ContextReset):
            thread.resets.append(step)
        elif isinstance(step, Approval):
            self.route_at("approval", step)
        else:
            self.recorded_state = fresh(step.state)
            self._decide(step.at, step, step)

    # ------------------------------------------------------------ results

    def _result(self, step: ToolResult, thread: ThreadHistory) -> None:
        base, own = self.tokens.base(step), own_result(step)
        handed_out = own is not step and any((self.summarizer, self.store, self.consumer))
        before = compact_json([own.data, own.arguments]) if handed_out else ""
        full = untruncated_record(own)
        record, stored = (full, full.value) if self.store is None else self._put(own)
        summary = self._summarize(own)
        shown = None if summary is None else as_text(summary)
        if shown is None:
            shown = base.text if self.store is None else as_text(record.value)
        self.summary, self.output = summary, full.value
        reply = self._consume(own, summary)
        if handed_out and compact_json([own.data, own.arguments]) != before:
            what = "the strategy changed its input — copy what a result holds before editing it"
            raise Broken("strategy", StrategyError(what))
        message = base if shown == base.text else msgspec.structs.replace(base, text=shown)
        key = thread.join(message, base)
        if self.decode is not None and shown != base.text and gives_back(self.decode, shown, own):
            self.decoded[key] = base.text if step.data is None else as_text(step.data)
        evaluation, evaluation_untruncated, extraction = self._judge(step, record, stored, full)
        self.results.append(
            ResultOutcome(
                step=step.index,
                call_id=step.call_id,
                shown=key,
                record=of_trace(record, own, step),
                stored=step.data if stored is own.data else stored,
                evaluation=evaluation,
                evaluation_untruncated=evaluation_untruncated,
                extraction=extraction,
                extraction_untruncated=self._extracted(full),
                reply=reply,
            )
        )

    def _judge(self, step: ToolResult, record: Record, stored: Any, full: Record) -> tuple[Any, Any, Any]:
        """Evaluation on the stored and on the untruncated record, extraction on the stored one."""
        read_back = record if stored is record.value else msgspec.structs.replace(record, value=stored)
        if record.handle and isinstance(stored, dict | list):
            read_back = msgspec.structs.replace(read_back, result_type="structured")
        extraction = self._extracted(full) if read_back is full else self._extract(read_back)
        return self._evaluate(self.stored_side, read_back), self._evaluate(self.full_side, full), extraction

    def _put(self, step: ToolResult) -> tuple[Record, Any]:
        try:
            kept = self.store(step)
            if not isinstance(kept, Record):
                kept = msgspec.structs.replace(
                    untruncated_record(step),
                    value=kept,
                    result_type="structured" if isinstance(kept, dict | list) else "text",
                )
            stored = kept.value if kept.handle is None else self._resolve(step, kept.handle)
            compact_json(stored)  # what cannot be written down cannot be read back
        except Exception as error:
            raise Broken("store", error) from error
        return kept, stored

    def _resolve(self, step: ToolResult, handle: str) -> Any:
        """What a handle gives back; None, with a note, for one that resolves to nothing: a later step could read nothing either."""
        try:
            return self.store_instance.resolve(handle)
        except Exception as error:
            text = f"handle {handle} does not resolve: {type(error).__name__}: {one_line(error)}"
            self.notes.append(Note(step=step.index, slot="store", text=text))
            return None

    def _summarize(self, step: ToolResult) -> Any:
        if self.summarizer is None:
            return None
        try:
            summary = self.summarizer(step)
            if isinstance(summary, Summary):
                self.notes.extend(Note(step=step.index, slot="summarizer", text=text) for text in summary.notes)
                summary = summary.shown
            as_text(summary)  # what cannot be written down cannot be shown
            return summary
        except Exception as error:
            raise Broken("summarizer", error) from error

    def _consume(self, step: ToolResult, summary: Any) -> ReplyMade | None:
        """The consumer's reply to one execution."""
        if self.consumer is None:
            return None
        try:
            reply = self.consumer(Execution(step, summary))
            if not isinstance(reply, Reply):
                raise StrategyError(
                    f"a consumer gives a Reply, got {type(reply).__name__} — or return a mapping with text, state and route"
                )
            compact_json(reply.state)
            return ReplyMade(text=reply.text, path=reply.path, state=fresh(dict(reply.state)), route=reply.route)
        except Exception as error:
            raise Broken("consumer", error) from error

    def _evaluate(self, side: Side, record: Record) -> dict[str, Any] | None:
        side.results += 1
        self.asked.free = side is self.full_side
        if self.routers:  # who alone are shown them
            side.records.append(own_record(record))
        if side.evaluate is None:
            return None
        try:
            answer = side.evaluate(own_record(record), tuple(side.evaluations))
            if answer is None:
                return None
            found: dict[str, Any] = dict(answer)
            compact_json(found)
            side.evaluations.append(fresh(found))
            return found
        except Exception as error:
            raise Broken("evaluator", error) from error

    def _extracted(self, full: Record) -> dict[str, Any] | None:
        """What is extracted from an untruncated record: the same for every strategy."""
        known = self.replayer.extracted
        if full.step not in known:
            known[full.step] = self._extract(full)
        return known[full.step]

    def _extract(self, record: Record) -> dict[str, Any] | None:
        try:
            found = {name: extract(own_record(record)) for name, extract in self.replayer.extractors}
        except Exception as error:
            raise Broken("extractor", error) from error
        return {name: value for name, value in found.items() if value is not None} or None

    # ------------------------------------------------------------ prompts

    def _prompt(self, step: ModelTurn, thread: ThreadHistory) -> None:
        try:
            edits = thread.compact(step)
        except Exception as error:
            raise Broken("compactor", error) from error
        if isinstance(edits, Edits):
            for written in edits.written:
                consumed = sum(self.tokens.tokens(message) - message.reasoning_tokens for message in written.read)
                produced = self.tokens.counter.text(written.text)
                self.asked.wrote(consumed, produced)
            self.notes.extend(Note(step=step.index, slot="compactor", text=text) for text in edits.notes)

    # ------------------------------------------------------------ routes

    def route_at(self, point: str, step: AnyStep | None) -> None:
        """Run the routers of a natural decision point, but for those whose decisions at that point the trace itself records."""
        self._decide(point, step, None)

    def _decide(self, point: str, step: AnyStep | None, recorded: RouteDecision | None) -> None:
        for name, at, decide, decide_full in self.routers:
            if not decides_here(name, at, point, recorded, self.recorded_points):
                continue
            try:
                answers = [way(state_of(self._seen(side, step))) for way, side in
                           ((decide, self.stored_side), (decide_full, self.full_side))]  # fmt: skip
                if at == RECORDED and None in answers:  # a decision that is another router's
                    continue
                (route, detail), (untruncated, _) = map(route_of, answers)
            except Exception as error:
                raise Broken(f"router {name}", error) from error
            index = step.index if step is not None else -1
            labels = self.trace.labels.get("routes", {})
            self.decisions.append(
                Decision(
                    step=index,
                    router=name,
                    at=point,
                    route=route,
                    untruncated=untruncated,
                    recorded=recorded.taken if recorded is not None else None,
                    labelled=labels.get(str(index)) if isinstance(labels, dict) else None,
                    detail=detail,
                )
            )

    def _seen(self, side: Side, step: AnyStep | None) -> Seen:
        """What one side knows at a decision point."""
        thread, self.asked.free = None if step is None else self.threads.get(step.thread), side is self.full_side
        history = [] if thread is None else thread.recording if side is self.full_side else thread.messages
        return Seen(
            step=None if step is None else own_step(step),
            recorded=self.recorded_state,
            meta=self.meta,
            results=side.results,
            records=side.records,
            evaluations=None if side.evaluate is None else side.evaluations,
            summary=self.summary,
            output=self.output,
            prompt=View(history),
        )

    # ------------------------------------------------------------ the end

    def run(self, failure: Failure | None) -> Run:
        """What the replay collected, as a Run."""
        prompts = sorted(
            (prompt for thread in self.threads.values() for prompt in thread.prompts), key=lambda p: p.step
        )
        left = state_left(self._seen(self.stored_side, None))
        return Run(
            trace_id=self.trace.id,
            trace_sha256=self.trace.sha256,
            strategy=self.strategy.name,
            spec=self.strategy.spec,
            encoding=self.replayer.encoding,
            encoding_assumed=self.replayer.encoding_assumed,
            counting=self.replayer.counter.counting,
            model=self.replayer.evidence.model,
            messages=self.tokens.messages,
            message_tokens=self.tokens.message_tokens,
            decoded=self.decoded,
            prompts=tuple(prompts),
            results=tuple(self.results),
            decisions=tuple(self.decisions),
            writer_calls=tuple(self.asked.charged),
            notes=tuple(self.notes),
            final_route=self.decisions[-1].route if self.decisions else None,
            final_state=left,
            failure=failure,
        )
