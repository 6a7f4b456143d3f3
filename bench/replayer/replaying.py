"""The replayer of one trace: (Trace, TraceIndex, Strategy) → Replay."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from ..evidence.contents import TraceContents
from ..evidence.future import Future, future_of
from ..model import (
    Decision,
    Failure,
    Record,
    RouteDecision,
    Trace,
)
from ..model.index import TraceIndex
from ..model.replay import Replay, StepOutcome
from ..plugins.registry import build, entries
from ..strategies import Strategy, untruncated_record
from ..strategies.routing import labelled_route
from ..text.scripts import expected_scripts
from ..tokens.counting import TokenCounter
from . import unstable
from .answers import Broken, in_slot
from .border import starts_in_child
from .loop import Loop, Outcomes, read_back
from .recording import Moment, frame_of, moments_of
from .serving import open_replay


class Replayer:
    """Replays one trace through any number of strategies, independently.

    `count` counts tokens as the index does; its memo, and `contents`, are shared with the caller.
    """

    def __init__(
        self,
        trace: Trace,
        index: TraceIndex,
        count: TokenCounter | None = None,
        contents: TraceContents | None = None,
    ) -> None:
        self.trace, self.index = trace, index
        self.counter = count or TokenCounter(index.encoding, index.counting)
        self._contents = contents or TraceContents(trace)
        self._frame, self._moments = frame_of(trace, index), [*moments_of(trace, index)]
        self._routes = {
            step.index: step.taken for step in trace.steps if isinstance(step, RouteDecision)
        }
        self._results = {result.index: result for result in trace.results}
        self._extractors: dict[str, Callable[[Record], Any]] = {}
        for name in entries("extractor"):
            _, self._extractors[name] = build("extractor", name).start()
        self._extracted: dict[int, dict[str, Any] | None] = {}
        self._scripts = expected_scripts(trace.labels.get("scripts"), trace.meta.get("manifest"))

    @functools.cached_property
    def future(self) -> Future:
        """The needs of the whole recording, for a reference that reads them."""
        return future_of(self.trace, self.index, self._contents)

    def replay(self, strategy: Strategy, *, twice: bool = True) -> Replay:
        """One replay; with `twice` the first steps of user code are replayed again."""
        first = self._replay_once(strategy)
        if not (twice and strategy.has_user_code) or first.failure is not None:
            return first
        again = self._replay_once(strategy, unstable.STEPS)
        return msgspec.structs.replace(
            first, unstable_at=unstable.first_difference(first, again, len(self.index.tokens))
        )

    def _replay_once(self, strategy: Strategy, before: int | None = None) -> Replay:
        """A replay of all steps, or of those before an index."""
        out = self._outcomes(strategy, before)
        results: list[StepOutcome] = []
        try:
            results.extend(map(self._with_findings, out.results))
        except Broken as error:
            step = out.results[len(results)].step
            out.failure = out.failure or Failure(step=step, slot=error.slot, error=error.text)
        return Replay(
            strategy=strategy.name,
            spec=strategy.spec,
            says=strategy.declaration.says,
            written=tuple(out.written),
            calls=tuple(out.calls),
            results=tuple(results),
            decisions=tuple(map(self._labelled_decision, out.decisions)),
            own_calls=tuple(out.own_calls),
            handles=tuple(out.handles),
            failure=out.failure,
            reads_future=_reads_future(strategy),
        )

    def _outcomes(self, strategy: Strategy, before: int | None) -> Outcomes:
        """The outcomes of the steps before an index (None: of all), from a child or this process."""
        moments: Iterable[Moment] = (
            each for each in self._moments if before is None or each.step.index < before
        )
        frame, sandbox = self._frame, strategy.sandbox
        if sandbox is not None:
            with sandbox.child.session(open_replay, sandbox.number, frame.plans) as session:
                starts = functools.partial(starts_in_child, session, frame.plans)
                loop = Loop(strategy, frame, self.counter, starts)
                return loop.outcomes(moments, ended=before is None)
        if _reads_future(strategy):
            frame = frame._replace(future=self.future)
        elif strategy.has_user_code:  # which may change what it is handed
            frame, moments = copy.deepcopy(frame), map(copy.deepcopy, moments)
        return Loop(strategy, frame, self.counter).outcomes(moments, ended=before is None)

    def _with_findings(self, outcome: StepOutcome) -> StepOutcome:
        """The outcome of a result, with the findings extracted from both of its records."""
        result = self._results[outcome.step]
        if outcome.step not in self._extracted:
            self._extracted[outcome.step] = self._extract(untruncated_record(result))
        full = found = self._extracted[outcome.step]
        if outcome.stored is not result.value:
            found = self._extract(read_back(outcome.record, outcome.stored))
        return msgspec.structs.replace(outcome, extraction=found, extraction_untruncated=full)

    def _extract(self, record: Record) -> dict[str, Any] | None:
        with in_slot("extractor"):
            findings = {name: extract(record) for name, extract in self._extractors.items()}
        return {name: value for name, value in findings.items() if value is not None} or None

    def _labelled_decision(self, decision: Decision) -> Decision:
        """The decision with the recorded route, and the route that the labels expect."""
        labels, at = self.trace.labels, str(decision.step)
        label = labelled_route(labels, self._scripts, at, decision.route, decision.detail)
        return msgspec.structs.replace(
            decision, recorded=self._routes.get(decision.step), labelled=label
        )


def _reads_future(strategy: Strategy) -> bool:
    """True if a plug-in of the strategy is given what later steps need."""
    return any(plugin.attribute("needs_future", False) for plugin in strategy.everything)
