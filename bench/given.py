"""The traces that people pass, and those that a scenario names with what it says and asks of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .errors import BenchError, ScenarioError, nearest
from .evidence.probes import LABEL, Questions
from .model import Trace
from .plugins.apart import Limits
from .scenario import Scenario
from .traces import Loaded, load as read_traces
from .traces.paths import require_inside


def traces_given(traces: Any, base: Path | None, limits: Limits) -> tuple[Iterable[Trace], Sequence[tuple[str, str]]]:
    """The traces that somebody passed, and what was skipped on the way."""
    if isinstance(traces, str | Path):
        traces = [traces]
    if isinstance(traces, Trace):
        return [traces], ()
    if isinstance(traces, Loaded):
        return traces.traces, traces.skipped
    if not isinstance(traces, Iterable):
        what = f"traces are paths, Traces, or what bench.load gives; got {type(traces).__name__}"
        raise BenchError(f"{what} — write bench.compare('runs/', …)")
    items = list(traces) if isinstance(traces, list | tuple) else traces
    if isinstance(items, list) and all(isinstance(item, str | Path) for item in items):
        found = read_traces([str(item) for item in items], base or Path(), limits=limits)
        return found.traces, found.skipped
    return _only_traces(items), ()


def _only_traces(items: Iterable[Any]) -> Iterator[Trace]:
    for item in items:
        if not isinstance(item, Trace):
            raise BenchError(f"expected a Trace among the traces, got {type(item).__name__} — load it with bench.load")
        yield item


@dataclass
class Asked:
    """The traces of a scenario, each with what the scenario says and asks of it. `skipped` fills as they are read."""

    plan: Scenario
    where: str
    limits: Limits
    skipped: list[tuple[str, str]] = field(default_factory=list)

    def __iter__(self) -> Iterator[tuple[Trace, Mapping[str, Any]]]:
        questions = Questions(self.plan.probes, self.where)
        if self.plan.path is not None and not self.plan.outside:
            require_inside(self.plan.traces, self.plan.base)
        loaded = read_traces(self.plan.traces, self.plan.base, limits=self.limits)
        self.skipped.extend(loaded.skipped)
        known = set()
        for trace in loaded.traces:
            known.add(trace.id)
            probes = questions.of(trace)
            yield trace, {**self.plan.labels.get(trace.id, {}), **({LABEL: probes} if probes else {})}
        for case in self.plan.labels:
            if case not in known:
                raise ScenarioError(f"{self.where}: labels for unknown case {case!r}{nearest(case, known)}")
        questions.require_asked()
