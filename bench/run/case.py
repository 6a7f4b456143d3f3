"""One case: a trace under every strategy, measured. The unit of work of a comparison."""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from ..comparison.rows import case_row, row_of
from ..evidence.case import case_of
from ..evidence.of_run import PromptEvidence, RunEvidence, prompts_sent, same_prompts
from ..evidence.of_trace import TraceEvidence
from ..evidence.recording import recording_shown
from ..evidence.shown import calls_of_run, run_shown
from ..metrics import Metric
from ..model import CallShown, Case, Failure, RecordingShown, Run, RunShown, Sample, Trace, compact_json
from ..model.errors import StrategyError, debugged, one_line
from ..plugins.apart import Link, NoAnswer
from ..plugins.touched import Touched, touched
from ..replayer.loop import Replayer
from ..replayer.sending import SentRun, packed, there, unpacked, written
from ..replayer.stability import unstable_at
from ..strategies import Strategy, has_writer, parse_strategy, with_empty_writer
from ..strategies.loading import Ready, made
from ..text.texts import Remembered
from .cache import CaseCache, identity, key_of

RECORDED = "recorded"
"""The reference strategy that is what the recorded system itself did."""

Scored = Mapping[str, Sequence[Sample]]
"""Samples by metric."""

COLLECTED = 20_000, 10, 10
"""The new objects after which Python looks for garbage while a case is measured, and how often it looks through older ones."""


@dataclass(frozen=True)
class Measuring:
    """The settings with which every case of a comparison is measured.

    `shown` are the strategies that reports look at closely, `losses_for` the metrics whose losses are kept, `results_shown` how many results of
    a case are shown beside what was kept of them, `prompts_for` the strategies whose prompts can be opened. `calibrate`: tokens are counted as
    the usage that a trace recorded says; `model` is that of traces which name none. `kept` are values of earlier runs.
    """

    strategies: tuple[Strategy, ...]
    metrics: tuple[Metric, ...]
    shown: frozenset[str] = frozenset()
    losses_for: frozenset[str] = frozenset()
    results_shown: int = 8
    prompts_for: tuple[str, ...] = ()
    calibrate: bool = True
    model: str | None = None
    kept: CaseCache | None = field(default=None, compare=False)


def labelled(trace: Trace, labels: Mapping[str, Any] | None) -> Trace:
    """A trace with what a scenario adds to its labels."""
    return msgspec.structs.replace(trace, labels={**trace.labels, **labels}) if labels else trace


class Replayed(msgspec.Struct, frozen=True):
    """The runs of a strategy on one trace: its run, the step at which a second one differs (None: nowhere), where it summarised the run whose
    summaries say nothing, and what somebody else's code looked at meanwhile.
    """

    run: Run
    unstable_at: int | None = None
    silent: Run | None = None
    touched: tuple[Touched, ...] = ()


def replayed(replayer: Replayer, strategy: Strategy) -> Replayed:
    """One strategy replayed: here, or where a spec loads it in its child process. All that runs a strategy's code."""
    if strategy.apart is None or strategy.broken:
        run = replayer.run(strategy)
        silent = replayer.run(with_empty_writer(strategy)) if run.writer_calls and has_writer(strategy) else None
        return Replayed(run, unstable_at(replayer, strategy, run), silent)
    child = strategy.apart.child
    try:
        asked = strategy.apart.request, strategy.name, _files(strategy), replayer.as_bytes
        body = child.ask(_replay, *asked, count=replayer.counter.encoded)
        sent = msgspec.convert(json.loads(body), ChildCase)
        silent = None if sent.silent is None else unpacked(sent.silent, strategy, replayer)
        return Replayed(unpacked(sent.run, strategy, replayer), sent.unstable_at, silent, (sent.touched,))
    except NoAnswer as why:
        problem = (
            strategy.apart.late() if why.late else f"{why} — a strategy returns or raises" if why.ended else str(why)
        )
    except StrategyError as error:
        problem = str(error)
    except (ValueError, RecursionError):
        problem = "its answer is no run"
    return Replayed(replayer.run(replace(strategy, broken=problem)))


class ChildCase(msgspec.Struct, frozen=True):
    """The message of a child process."""

    run: SentRun
    unstable_at: int | None
    silent: SentRun | None
    touched: Touched


def _files(strategy: Strategy) -> list[str]:
    """The hashes of the files that a strategy's specs name."""
    return sorted(plugin.code_sha256 for plugin in strategy.everything if plugin.code_sha256)


def _replay(link: Link, ready: Ready | None, request: Any, name: str, files: list[str], trace: bytes) -> bytes:
    """In a child: a strategy replayed, if its files are those of where it was asked for, which may be another machine."""
    strategy = replace(made(ready, *request), name=name)
    if _files(strategy) != files:
        raise StrategyError("its file is another one here — give every worker the same files")
    replayer = there(trace, link.count, link.step, weighs="compactor" in strategy.plugins)
    found, untouched = replayed(replayer, strategy), "store" not in strategy.plugins
    silent = None if found.silent is None else packed(found.silent, replayer, untouched=untouched)
    request[2].require_then()
    return written(ChildCase(packed(found.run, replayer, untouched=untouched), found.unstable_at, silent, touched()))


def measure(
    trace: Trace,
    measuring: Measuring,
    labels: Mapping[str, Any] | None = None,
) -> Case:
    """One trace under every strategy, as a Case: rows, and what reports show. Nothing else of the trace and its runs is kept.

    `labels` are what a scenario adds to those of the trace (routes, probes): they change what is asked of a recording, not the recording.

    >>> from bench.metrics import example, metric_of
    >>> chosen = Measuring((parse_strategy("keep_all"),), (metric_of("needed.recall"),))
    >>> [(row.metric, row.value) for row in measure(example().trace, chosen).rows]
    [('needed.recall', 1.0)]
    """
    return measured(trace, measuring, labels).case


def measured(trace: Trace, measuring: Measuring, labels: Mapping[str, Any] | None = None) -> MeasuredCase:
    """As `measure`, with what somebody else's code looked at."""
    with few_collections():
        return _OneCase(trace, measuring, labels).made()


@contextlib.contextmanager
def few_collections() -> Iterator[None]:
    """Let Python look for cycles of garbage less often: nearly all that a case finds stays until its end, and is looked through in vain."""
    before = gc.get_threshold()
    gc.set_threshold(*COLLECTED)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@dataclass(frozen=True)
class MeasuredCase:
    """A case, and what somebody else's code looked at while it was measured."""

    case: Case
    touched: tuple[Touched, ...] = ()


class StrategyPart(msgspec.Struct, frozen=True):
    """One strategy on one trace: all that a case needs of it, whatever the other strategies do. `sent_sha256` is of what the model was shown."""

    run: SentRun
    samples: dict[str, tuple[Sample, ...]]
    calls: tuple[CallShown, ...]
    shown: RunShown
    sent_sha256: str
    touched: tuple[Touched, ...] = ()


class _OneCase:
    """A case that is being measured."""

    def __init__(self, trace: Trace, measuring: Measuring, labels: Mapping[str, Any] | None) -> None:
        self.measuring, self.labels = measuring, labels
        self.about = about(trace, measuring, labels)
        self.sha256 = trace.sha256
        self.of_trace = TraceEvidence(labelled(trace, labels), measuring.model)
        self.replayer = Replayer(self.of_trace, calibrate=measuring.calibrate)
        self.oracle = OracleCosts(self.replayer)
        self.shared: dict[Any, PromptEvidence] = {}
        self.hashed = Remembered(_sha256)

    def made(self) -> MeasuredCase:
        """The case. Its parts are kept."""
        measuring, each = self.measuring, [self.part(strategy) for strategy in self.measuring.strategies]
        evidence = {found.run.strategy: found for found, _ in each}
        parts = {found.run.strategy: part for found, part in each}
        recorded = parts.get(RECORDED)
        costs = [] if recorded is None else [item.numerator for item in recorded.samples.get("cost.cost_usd", ())]
        our_usd = None if not costs or None in costs else sum(cost for cost in costs if cost is not None)
        case = case_of(
            self.of_trace,
            self.recording(our_usd),
            evidence,
            {name: part.samples for name, part in parts.items()},
            {name: part.calls for name, part in parts.items()},
            shown=measuring.shown,
            losses_for=[item.info for item in measuring.metrics if item.name in measuring.losses_for],
            results_shown=measuring.results_shown,
            prompts_for=measuring.prompts_for,
        )
        case = msgspec.structs.replace(
            case,
            questions_sha256=_sha256(compact_json(self.labels)) if self.labels else "",
            rows=tuple(
                case_row(item.info, found.run, parts[name].samples[item.name])
                for name, found in evidence.items()
                for item in measuring.metrics
            ),
            runs={
                name: msgspec.structs.replace(
                    part.shown,
                    same_prompts=recorded is not None
                    and not part.shown.failure
                    and part.sent_sha256 == recorded.sent_sha256,
                )
                for name, part in parts.items()
            },
        )
        return MeasuredCase(case, tuple(item for part in parts.values() for item in part.touched))

    def part(self, strategy: Strategy) -> tuple[RunEvidence, StrategyPart]:
        """A strategy on this trace, as it was kept, or measured now and kept."""
        measuring = self.measuring
        kept = measuring.kept
        names = [item.name for item in measuring.metrics]
        key = key_of("part", self.about, identity(strategy), names) if kept else None
        known: StrategyPart | None = kept.get(key) if kept else None
        if known is not None:
            run = unpacked(known.run, strategy, self.replayer)
            return RunEvidence(self.of_trace, run, None, self.oracle, self.replayer.counter), known
        began = time.perf_counter()
        done = replayed(self.replayer, strategy)
        seconds = time.perf_counter() - began
        found, samples = _measured(
            done, strategy, self.of_trace, self.replayer, self.oracle, self.shared, measuring.metrics
        )
        calls = tuple(calls_of_run(found))
        shown = run_shown(found, calls, samples)
        sent = "" if found.run.failure else repr(prompts_sent(found.run, self.hashed))
        part = StrategyPart(
            run=packed(found.run, self.replayer, untouched="store" not in strategy.plugins),
            samples=samples,
            calls=calls,
            shown=msgspec.structs.replace(shown, unstable_at=done.unstable_at, seconds=seconds),
            sent_sha256=_sha256(sent),
            touched=done.touched,
        )
        if kept and not is_doubtful(part.shown):
            kept.put(key, part, part.touched)
        return found, part

    def recording(self, our_usd: float | None) -> RecordingShown:
        """The figures of the recording itself."""
        kept, key = self.measuring.kept, key_of("recording", self.about)
        shown: RecordingShown | None = kept.get(key) if kept else None
        if shown is None:
            shown = recording_shown(self.of_trace, self.replayer.counter, self.replayer.prepared.calibration)
            if kept:
                kept.put(key, shown)
        return msgspec.structs.replace(shown, sha256=self.sha256, our_usd=our_usd)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def about(trace: Trace, measuring: Measuring, labels: Mapping[str, Any] | None) -> Any:
    """The part of a key that a trace is, with what is asked of it and how its tokens are counted."""
    return [trace.id, trace.sha256, trace.source, labels or {}, measuring.calibrate, measuring.model or ""]


def case_key(trace: Any, measuring: Measuring) -> str | None:
    """The key of a case in the cache, `trace` being what it is `about`; None where it cannot be kept."""
    strategies = [identity(item) for item in measuring.strategies]
    if None in strategies:
        return None
    settings = [sorted(measuring.shown), sorted(measuring.losses_for), measuring.results_shown,
                measuring.prompts_for]  # fmt: skip
    return key_of("case", trace, strategies, [item.name for item in measuring.metrics], settings)


def is_doubtful(run: RunShown) -> bool:
    """True for a run that may come out otherwise next time: it failed, which may be the machine's doing, or is unstable."""
    return run.failure is not None or run.unstable_at is not None


def unmeasured(case: str, measuring: Measuring, sha256: str, problem: str) -> Case:
    """The case of a trace that could not be measured at all, whatever the strategy: every row says why."""
    failure = Failure(step=-1, slot="process", error=problem)
    names = [strategy.name for strategy in measuring.strategies]
    return Case(
        id=case,
        recording=RecordingShown(sha256=sha256),
        rows=tuple(row_of(item.info, name, case, reason=problem) for name in names for item in measuring.metrics),
        runs={name: RunShown(failure=failure) for name in names},
    )


class OracleCosts:
    """The cost of a reference that reads the future, on one trace: prompt tokens, told to reach a share of dependencies. Each is replayed once."""

    def __init__(self, replayer: Replayer) -> None:
        self._replayer = replayer
        self._known: dict[tuple[str, float], int] = {}

    def __call__(self, reference: str, recall: float) -> int:
        if (reference, recall) not in self._known:
            run = self._replayer.run(
                parse_strategy(f"{reference}_at=summarizer=untruncated+compactor={reference}:recall={recall!r}")
            )
            self._known[reference, recall] = sum(prompt.tokens for prompt in run.prompts)
        return self._known[reference, recall]


def _measured(
    done: Replayed,
    strategy: Strategy,
    of_trace: TraceEvidence,
    replayer: Replayer,
    oracle: OracleCosts,
    shared: dict[Any, PromptEvidence],
    chosen: Sequence[Metric],
) -> tuple[RunEvidence, dict[str, tuple[Sample, ...]]]:
    """A strategy's run with its samples. A run from a child process that cannot be measured is that strategy's failure."""
    same = same_prompts(done.run)
    prompts = shared.get(same) or PromptEvidence(of_trace, done.run)
    if strategy.apart is None:  # nobody else's evidence comes from a child process
        shared[same] = prompts
    silent = None if done.silent is None else functools.partial(_silent, done.silent, of_trace, replayer)
    found = RunEvidence(of_trace, done.run, prompts, oracle, replayer.counter, silent)
    try:
        return found, scored(found, chosen)
    except Exception as error:
        if strategy.apart is None or strategy.broken:
            raise
        debugged(error)
        why = replace(strategy, broken=f"its run cannot be measured: {type(error).__name__}: {one_line(error)}")
        return _measured(Replayed(replayer.run(why)), why, of_trace, replayer, oracle, shared, chosen)


def _silent(run: Run, of_trace: TraceEvidence, replayer: Replayer) -> RunEvidence:
    """The run of a strategy with a writer that says nothing."""
    return RunEvidence(of_trace, run, count=replayer.counter)


def scored(evidence: RunEvidence, chosen: Iterable[Metric]) -> dict[str, tuple[Sample, ...]]:
    """Return the samples of some metrics for one run; none where the strategy raised."""
    return {item.name: () if evidence.run.failure is not None else item.samples(evidence) for item in chosen}
