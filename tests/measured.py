"""What strategies do with a trace and what metrics measure of it, for tests: runs by spec, samples by metric, and what these add up to.

What depends on the trace alone is found once for the trace asked about last, as it is within a case.
"""

from __future__ import annotations

from bench.comparison.rows import aggregate
from bench.evidence.of_run import RunEvidence
from bench.evidence.of_trace import TraceEvidence

from bench.evidence.dependencies import Dependency
from bench.evidence.oracle import Need
from bench.metrics import metric_of
from bench.model import Run, Sample, Trace
from bench.replayer.loop import Replayer
from bench.strategies import parse_strategy
from bench.tokens.counting import TokenCounter

COUNT = TokenCounter()
"""Counts tokens in the default encoding."""

_traces: list[Replayer] = []  # of the trace asked about last
_runs: dict[int, RunEvidence] = {}  # of its runs, each held here, so that no other gets the same id


def replayer_of(recording: Trace) -> Replayer:
    """What replays a trace; the same one until another trace is asked about."""
    if not _traces or _traces[0].evidence.trace is not recording:
        _traces[:] = [Replayer(TraceEvidence(recording))]
        _runs.clear()
    return _traces[0]


def evidence_of(recording: Trace, run: Run) -> RunEvidence:
    """The evidence of a run; the same object until another trace is asked about."""
    of_trace = replayer_of(recording).evidence
    if id(run) not in _runs:
        _runs[id(run)] = RunEvidence(of_trace, run)
    return _runs[id(run)]


def run_of(recording: Trace, strategy: str) -> Run:
    """The run of one strategy, which must not have failed."""
    run = replayer_of(recording).run(parse_strategy(strategy))
    assert run.failure is None, run.failure
    return run


def dependencies_of(recording: Trace) -> tuple[Dependency, ...]:
    """Every dependency of a trace."""
    return replayer_of(recording).evidence.dependencies


def needs_of(recording: Trace) -> tuple[Need, ...]:
    """Every need of a trace."""
    return replayer_of(recording).evidence.needs


def measured(name: str, recording: Trace, run: Run) -> list[Sample]:
    """The samples of one metric."""
    return list(metric_of(name).samples(evidence_of(recording, run)))


def value(name: str, recording: Trace, run: Run) -> tuple[float | None, float]:
    """The value of one metric, and how much was measured."""
    return aggregate(metric_of(name).info, measured(name, recording, run))
