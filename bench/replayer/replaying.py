"""(Trace, TraceIndex, Strategy) → Replay."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import msgspec

from ..evidence.future import Future, future_of
from ..model import (
    Decision,
    Record,
    RouteDecision,
    ToolsChanged,
    Trace,
)
from ..model.index import TraceIndex
from ..model.messages import recorded_messages
from ..model.replay import Replay, StepOutcome
from ..plugins.registry import build, entries
from ..strategies import Strategy, untruncated_record
from ..strategies.routing import labelled_route
from ..text.scripts import expected_scripts
from ..tokens.counting import TokenCounter
from . import unstable
from .in_child import ChildReplay, sent
from .loop import Loop
from .numbering import Recorded
from .outcomes import About, Broken, Outcomes, broken, failed
from .plain import copied


def replay(trace: Trace, index: TraceIndex, strategy: Strategy) -> Replay:
    """One trace replayed through one strategy; one that raises gives a `failure`, no exception."""
    return Replayer(trace, index).replay(strategy)


class Replayer:
    """Replays one trace through any number of strategies; none sees what another changed.

    `count` counts tokens as the index does; its memory is shared with whoever gives it.
    """

    def __init__(self, trace: Trace, index: TraceIndex, count: TokenCounter | None = None) -> None:
        self.trace, self.index = trace, index
        self.counter = count or TokenCounter(index.encoding, index.counting)
        self.steps = tuple(_recorded(trace, index))
        points = {(step.at, step.router) for step in trace.steps if isinstance(step, RouteDecision)}
        self.about = About(
            messages=len(index.tokens),
            framing=index.counting.prompt_tokens,
            window_tokens=index.window_tokens,
            meta=trace.meta,
            points=frozenset(points),
        )
        self._extractors = [(name, build("extractor", name).start()[1]) for name in entries("extractor")]
        self._extracted: dict[int, dict[str, Any] | None] = {}
        labelled = trace.labels.get("scripts"), trace.meta.get("manifest")
        self._scripts = expected_scripts(*labelled)

    @functools.cached_property
    def future(self) -> Future:
        """The needs of the whole recording, for a reference that reads them."""
        return future_of(self.trace, self.index)

    def replay(self, strategy: Strategy, *, twice: bool = True) -> Replay:
        """One replay; with `twice` of user code a second one too, of the first `unstable.STEPS` steps."""
        result = self._replayed(strategy)
        if not (twice and strategy.own) or result.failure is not None:
            return result
        again = self._replayed(strategy, unstable.STEPS)
        return msgspec.structs.replace(
            result, unstable_at=unstable.first_difference(result, again, self.about.messages)
        )

    def _replayed(self, strategy: Strategy, steps: int | None = None) -> Replay:
        """One replay, of all steps or of the first so many."""
        if strategy.sandbox is not None and not strategy.broken:
            child = ChildReplay(self.about, strategy)
            out = child.replay(self._sent[:steps], self.counter, ends=steps is None)
        else:
            out = self._replayed_here(strategy, steps)
        return self._assembled(strategy, out)

    def _replayed_here(self, strategy: Strategy, steps: int | None) -> Outcomes:
        reads_on = any(plugin.attribute("needs_future", False) for plugin in strategy.everything)
        future = self.future if reads_on and not strategy.own else None
        loop = Loop(self.about, strategy, self.counter.of, own=strategy.own, future=future)
        try:
            loop.start()
            for recorded in self.steps[:steps]:
                loop.take(recorded)
            if steps is None:
                loop.end()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if not (strategy.own or isinstance(error, Broken | SystemExit)):
                raise
            loop.out.failure = failed(error, loop.at)
        finally:
            loop.close()
        loop.out.written = loop.numbers.written
        return loop.out

    def _assembled(self, strategy: Strategy, out: Outcomes) -> Replay:
        """The Replay of some outcomes, with labels and extractions, which no child knows."""
        results: list[StepOutcome] = []
        failure = out.failure
        try:
            results.extend(map(self._extracted_from, out.results))
        except Broken as error:
            failure = failure or error.at(out.results[len(results)].step)
        return Replay(
            trace_sha256=self.trace.sha256,
            strategy=strategy.name,
            spec=strategy.spec,
            written=tuple(out.written),
            calls=tuple(out.calls),
            results=tuple(results),
            decisions=tuple(map(self._labelled, out.decisions)),
            own_calls=tuple(out.own_calls),
            handles=tuple(out.handles),
            notes=tuple(out.notes),
            failure=failure,
        )

    def _extracted_from(self, outcome: StepOutcome) -> StepOutcome:
        """The outcome with the findings extracted from the stored and from the untruncated record."""
        if not self._extractors:
            return outcome
        record, result = outcome.record, self._results[outcome.step]
        if outcome.step not in self._extracted:
            self._extracted[outcome.step] = self._extract(untruncated_record(result))
        full = self._extracted[outcome.step]
        stored = full
        if outcome.stored is not result.value or record.value is not result.value:
            result_type = record.result_type
            if record.handle and isinstance(outcome.stored, dict | list):
                result_type = "structured"
            read = msgspec.structs.replace(record, value=outcome.stored, result_type=result_type)
            stored = self._extract(read)
        if full is None and stored is None:
            return outcome
        return msgspec.structs.replace(outcome, extraction=stored, extraction_untruncated=full)

    @functools.cached_property
    def _sent(self) -> list[tuple[Recorded, bytes]]:
        """The steps as they go to a child: made once for all strategies."""
        return [(recorded, sent(recorded)) for recorded in self.steps]

    @functools.cached_property
    def _results(self) -> dict[int, Any]:
        return {result.index: result for result in self.trace.results}

    def _extract(self, record: Record) -> dict[str, Any] | None:
        with broken("extractor"):
            extracted = {name: extract(copied(record)) for name, extract in self._extractors}
        return {name: value for name, value in extracted.items() if value is not None} or None

    def _labelled(self, decision: Decision) -> Decision:
        """The decision with the route that was recorded there, and the one that the labels ask for."""
        step = self._decided.get(decision.step)
        labels, at = self.trace.labels, str(decision.step)
        label = labelled_route(labels, self._scripts, at, decision.route, decision.detail)
        if step is None and label is None:
            return decision
        recorded = None if step is None else step.taken
        return msgspec.structs.replace(decision, recorded=recorded, labelled=label)

    @functools.cached_property
    def _decided(self) -> dict[int, RouteDecision]:
        return {step.index: step for step in self.trace.steps if isinstance(step, RouteDecision)}


def _recorded(trace: Trace, index: TraceIndex) -> Iterable[Recorded]:
    """The steps of a trace with their numbered messages."""
    messages, full, seen = recorded_messages(trace, index.reasoning_tokens)
    for step in trace.steps:
        if step.index in full:
            one, other = (
                (messages[number], number, index.tokens[number]) for number in (full[step.index], seen[step.index])
            )
            yield Recorded(step, one, one if one[1] == other[1] else other)
        elif isinstance(step, ToolsChanged):
            yield Recorded(step, tools_tokens=index.tools_tokens.get(step.index, 0))
        else:
            yield Recorded(step)
