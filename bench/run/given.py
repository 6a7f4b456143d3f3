"""The traces that people pass, and those that a scenario names with what it says and asks of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..evidence.probes import LABEL, Questions
from ..model import Case, Trace, UserTurn
from ..model.errors import BenchError, ScenarioError, nearest
from ..plugins.apart import Limits
from ..traces import Loaded, StoredTrace, TraceSource
from ..traces.paths import require_inside
from .scenario import Scenario

READ = ("routes", "scripts", LABEL)
"""The labels that the bench reads."""


def traces_given(traces: Any, base: Path | None, limits: Limits) -> tuple[Iterable[Trace], Loaded | TraceSource]:
    """The traces that somebody passed, and as what they were loaded, where that was done here or by `bench.load`."""
    if isinstance(traces, str | Path):
        traces = [traces]
    if isinstance(traces, Trace):
        return [traces], Loaded(())
    if isinstance(traces, Loaded):
        return traces.traces, traces
    if not isinstance(traces, Iterable):
        what = f"traces are paths, Traces, or what bench.load gives; got {type(traces).__name__}"
        raise BenchError(f"{what} — write bench.compare('runs/', …)")
    items = list(traces) if isinstance(traces, list | tuple) else traces
    if isinstance(items, list) and all(isinstance(item, str | Path) for item in items):
        found = TraceSource([str(item) for item in items], base or Path(), limits=limits)
        return found, found
    return _only_traces(items), Loaded(())


def _only_traces(items: Iterable[Any]) -> Iterator[Trace]:
    for item in items:
        if not isinstance(item, Trace):
            raise BenchError(f"expected a Trace among the traces, got {type(item).__name__} — load it with bench.load")
        yield item


def unread_labels(plan: Scenario, cases: Iterable[Case]) -> Iterator[tuple[str, str]]:
    """Each route that a scenario labels at a step where no router of any strategy decides, with why nothing reads it."""
    for case in cases:
        routes = plan.labels.get(case.id, {}).get("routes", {})
        read = {str(step) for run in case.runs.values() for step in run.routes.labelled}
        for step in sorted(set(routes) - read) if isinstance(routes, Mapping) else ():
            yield f"label of {case.id}, step {step}", "no router of any strategy decides there, so nothing reads it"


def _require_about(labels: Mapping[str, Any], trace: Trace, where: str) -> None:
    """Raise ScenarioError for a label that would go unread: a misspelt name, or a step that the trace has not (-1 is before its first)."""
    place = f"{where}: labels for case {trace.id!r}"
    for name, said in labels.items():
        close = nearest(name, READ)
        if name not in READ and "did you mean" in close:  # others may be read by somebody's own metrics
            raise ScenarioError(f"{place}: nothing reads {name!r}{close}")
        if name not in ("routes", "scripts"):
            continue
        if not isinstance(said, Mapping):
            raise ScenarioError(f'{place}: {name} = {said!r}: write a table of steps, `4 = "complete"`')
        steps = {str(step.index) for step in trace.steps if name == "routes" or isinstance(step, UserTurn)} | {"-1"}
        for step in said:
            if step not in steps:
                what = "step" if name == "routes" else "user's turn"
                raise ScenarioError(f"{place}: {name}: no {what} is {step!r} — `bench show` lists the steps of a trace")


@dataclass
class ScenarioTraces:
    """The traces of a scenario, each with what the scenario says and asks of it, read one file at a time.

    `skipped`, `damaged`, `sha256s` and `stored` are those of a `TraceSource`: whole once all have been read.
    """

    plan: Scenario
    where: str
    limits: Limits
    skipped: list[tuple[str, str]] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    sha256s: Mapping[str, str] = field(default_factory=dict)
    stored: Mapping[str, StoredTrace] = field(default_factory=dict)
    expected: Callable[[int], int] = int

    def __iter__(self) -> Iterator[tuple[Trace, Mapping[str, Any]]]:
        questions = Questions(self.plan.probes, self.where)
        if self.plan.path is not None and not self.plan.outside:
            require_inside(self.plan.traces, self.plan.base)
        source = TraceSource(self.plan.traces, self.plan.base, limits=self.limits, still=True)
        self.stored, self.expected = source.stored, source.expected
        known = set()
        for trace in source:
            known.add(trace.id)
            labels, probes = self.plan.labels.get(trace.id, {}), questions.of(trace)
            _require_about(labels, trace, self.where)
            yield trace, {**labels, **({LABEL: probes} if probes else {})}
        self.sha256s = source.sha256s
        self.skipped.extend(source.skipped)
        self.damaged.extend(source.damaged)
        for case in self.plan.labels:
            if case not in known:
                raise ScenarioError(f"{self.where}: labels for unknown case {case!r}{nearest(case, known)}")
        questions.require_asked()
