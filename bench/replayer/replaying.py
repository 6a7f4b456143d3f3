"""(Trace, TraceIndex, Strategy) → Replay."""

from __future__ import annotations

import functools
from typing import Any

import msgspec

from ..evidence.contents import TraceContents
from ..evidence.future import Future, future_of
from ..model import (
    Decision,
    Failure,
    Record,
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
from .loop import Loop, Outcomes, read_back
from .recording import Recording


class Replayer:
    """Replays one trace through any number of strategies; none sees what another changed.

    `count` counts tokens as the index does; its memory, and `contents`, are shared with whoever
    gives them.
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
        self._recording = Recording(trace, index)
        self._results = {result.index: result for result in trace.results}
        self._extractors = [
            (name, build("extractor", name).start()[1]) for name in entries("extractor")
        ]
        self._extracted: dict[int, dict[str, Any] | None] = {}
        self._scripts = expected_scripts(trace.labels.get("scripts"), trace.meta.get("manifest"))

    @functools.cached_property
    def future(self) -> Future:
        """The needs of the whole recording, for a reference that reads them."""
        return future_of(self.trace, self.index, self._contents)

    def replay(self, strategy: Strategy, *, twice: bool = True) -> Replay:
        """One replay; with `twice` the first steps of user code are replayed again."""
        first = self._replayed(strategy)
        if not (twice and strategy.own) or first.failure is not None:
            return first
        again = self._replayed(strategy, unstable.STEPS)
        return msgspec.structs.replace(
            first, unstable_at=unstable.first_difference(first, again, len(self.index.tokens))
        )

    def _replayed(self, strategy: Strategy, before: int | None = None) -> Replay:
        """One replay, of all steps or of those before an index."""
        out = self._outcomes(strategy, before)
        results: list[StepOutcome] = []
        try:
            results.extend(map(self._extracted_from, out.results))
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
            decisions=tuple(map(self._labelled, out.decisions)),
            own_calls=tuple(out.own_calls),
            handles=tuple(out.handles),
            failure=out.failure,
        )

    def _outcomes(self, strategy: Strategy, before: int | None) -> Outcomes:
        reads_on = any(
            not plugin.own and plugin.attribute("needs_future", False)
            for plugin in strategy.everything
        )
        future = self.future if reads_on else None
        return Loop(self._recording, strategy, self.counter, future).outcomes(before)

    def _extracted_from(self, outcome: StepOutcome) -> StepOutcome:
        """The outcome with the findings extracted from the stored and from the untruncated record."""
        result = self._results[outcome.step]
        if outcome.step not in self._extracted:
            self._extracted[outcome.step] = self._extract(untruncated_record(result))
        full = stored = self._extracted[outcome.step]
        if outcome.stored is not result.value:
            stored = self._extract(read_back(outcome.record, outcome.stored))
        return msgspec.structs.replace(outcome, extraction=stored, extraction_untruncated=full)

    def _extract(self, record: Record) -> dict[str, Any] | None:
        with in_slot("extractor"):
            findings = {name: extract(record) for name, extract in self._extractors}
        return {name: value for name, value in findings.items() if value is not None} or None

    def _labelled(self, decision: Decision) -> Decision:
        """The decision with the route that was recorded there, and the one that the labels ask for."""
        step = self._recording.decisions.get(decision.step)
        labels, at = self.trace.labels, str(decision.step)
        label = labelled_route(labels, self._scripts, at, decision.route, decision.detail)
        return msgspec.structs.replace(
            decision, recorded=None if step is None else step.taken, labelled=label
        )
