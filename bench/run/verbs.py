"""The verbs: load, replay, score, measure, compare, check, render, run a scenario. One case is the unit of work; a comparison is many of them."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import heappush, heappushpop
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ..comparison.intervals import deltas
from ..comparison.judging import check as check
from ..comparison.rows import summarized
from ..comparison.score_files import scores_as_baseline
from ..comparison.tuning import judged_apart
from ..evidence.of_run import RunEvidence
from ..evidence.of_trace import TraceEvidence
from ..files.cache import Cache
from ..metrics import metrics
from ..model import (
    MAX_FAULT_RATE,
    MIN_FAR_RECALL,
    Against,
    Baseline,
    ByName,
    Case,
    CaseList,
    Columns,
    Comparison,
    Economy,
    MetricInfo,
    ModelTurn,
    Run,
    Sample,
    Signature,
    ToolResult,
    Trace,
)
from ..model.comparison import KEPT
from ..model.errors import BenchError, ResultsError, named_in_errors
from ..plugins.apart import Limits
from ..replayer.loop import Replayer
from ..reports import render as write_report
from ..reports.notebook import Compared
from ..strategies import Strategy
from ..strategies.earlier import strategies_at
from ..strategies.loading import put_together
from ..strategies.portfolio import PORTFOLIO
from ..strategies.sweeps import Declared, declared
from ..text.facts import FACTS_VERSION
from ..tokens.calibration import CALIBRATION_VERSION
from ..tokens.prices import prices_date
from ..traces import Loaded, load as read_traces
from ..version import VERSION
from .cache import CaseCache
from .case import Measuring, OracleCosts, replayed, scored
from .engines import Engine, Task, cases as measured_cases, processes
from .job import REFERENCES, Job, Progress, Running, Times, against_of, baseline_of, rules_of
from .scenario import (
    Scenario,
    ScenarioTraces,
    cache_named,
    declared_at,
    read_scenario,
    share_of,
    traces_given,
    unread_labels,
)
from .since import judge_at, orphaned

YARDSTICK = "keep_all"
"""The reference that loss is measured against."""

HELD_AGAINST = ("recorded", YARDSTICK)
"""The references that differences are stated against: what was run, then what loses nothing."""

Traces = str | Path | Trace | Loaded | Iterable[str | Path | Trace]
"""Traces as people pass them: a path or several, one Trace or several, or what `load` gives."""

Slots = str | Callable[..., Any] | Strategy | Mapping[str, Any]
Strategies = str | Callable[..., Any] | Strategy | Iterable[str | Callable[..., Any] | Strategy] | Mapping[str, Slots]
"""Strategies as people pass them: spec strings, functions or Strategies, or a mapping of names to these or to slots."""

AnyComparison = TypeVar("AnyComparison", bound=Comparison)
Labelled = Iterable[tuple[Trace, Mapping[str, Any]]]
"""Traces, each with the labels that a scenario adds."""


# ---------------------------------------------------------------- the verbs


def load(paths: str | Path | Sequence[str | Path], base: Path | None = None, *, limits: Limits | None = None) -> Loaded:
    """The traces of a path or several (`format:path`, or a path whose format is detected) and what was skipped. Errors: TraceError."""
    several = [paths] if isinstance(paths, str | Path) else paths
    return read_traces([str(path) for path in several], base or Path(), limits=limits)


def replay(trace: Trace, strategy: Any, *, limits: Limits | None = None) -> Run:
    """One trace through one strategy (a Strategy, its spec string, or a function). A strategy that raises gives a Run with a `failure`.

    One that a spec loads runs in a process of its own and may take what `limits` say; a function runs here.
    """
    (made,) = put_together([(None, strategy)], None, limits or Limits())
    replayer = Replayer(TraceEvidence(trace))
    if made.apart is None:
        return replayer.run(made)
    try:
        return replayed(replayer, made).run
    finally:
        made.apart.child.stop()


def score(trace: Trace, run: Run) -> dict[str, tuple[Sample, ...]]:
    """Every metric of one run, as samples by name; an old Run is scored without replaying its strategy.

    Raises ResultsError for a run of another trace.
    """
    steps = {step.index: type(step) for step in trace.steps}
    turns, results = {step.step for step in run.prompts}, {outcome.step for outcome in run.results}
    if any(steps.get(at) is not ModelTurn for at in turns) or any(steps.get(at) is not ToolResult for at in results):
        raise ResultsError(
            f"run of {run.trace_id!r}: its steps are not those of trace {trace.id!r} — give the trace that it was made from"
        )
    of_trace = TraceEvidence(trace, run.model)
    oracle = OracleCosts(Replayer(of_trace, calibrate=run.counting.calibrated))
    return scored(RunEvidence(of_trace, run, oracle_tokens=oracle), metrics().values())


def compare(
    traces: Traces,
    strategies: Strategies | None = None,
    *,
    title: str = "",
    gates: Sequence[Mapping[str, Any]] = (),
    seed: int = 0,
    jobs: int = 1,
    base: Path | None = None,
    progress: Progress | None = None,
    calibrate: bool = True,
    model: str | None = None,
    max_fault_rate: float = MAX_FAULT_RATE,
    min_far_recall: float = MIN_FAR_RECALL,
    cache: Economy = "provider",
    limits: Limits | None = None,
    times: Times | None = None,
    case_cache: Cache | None = None,
    engine: Engine | None = None,
) -> Compared:
    """Replay and score every trace under every strategy, the references added, and pair the results by case.

    `traces`: a path or several, what `load` gives, one Trace, or any number of them. `strategies`: a list of spec strings, functions (each is
    a summarizer) or Strategies, or a mapping of name → one of these, or of slots → specs or functions (None: the portfolio). `gates` are tables
    as a scenario has them; their verdicts are in the comparison. `jobs` is how many processes work on cases; the result is the same. Strategies
    found by a spec, in a file, a module or a command, run in processes anyhow, and may take what `limits` say; functions that are passed run in
    this process where `jobs` is 1. `progress` is called with (cases done, of how many), `times` is told what each strategy took. `case_cache` has
    what earlier runs measured, and is given what this one does (None: everything is measured). `engine` is where cases are measured (None: in `jobs`
    processes here). With `calibrate`
    tokens are counted as the usage that a trace recorded says, else by the plain rule; `model` is that of traces which name none, for their prices
    and encoding. To be recommended a strategy may leave at most
    `max_fault_rate` of the turns without something they used, and must keep `min_far_recall` of what was needed from far back.
    Prices are those under the provider's prompt `cache`, or with "none".
    Raises SpecError for two strategies of one name, BenchError for no traces, no strategies at all, or a share beyond 0 and 1.
    """
    limits = limits or Limits()
    portfolio = strategies is None
    strategies = {name: f"{name}={slots}" for name, slots in PORTFOLIO.items()} if strategies is None else strategies
    listed = isinstance(strategies, Iterable) and not isinstance(strategies, str)
    unnamed = ((None, item) for item in (strategies if listed else [strategies]))  # type: ignore[union-attr]
    given = declared(strategies.items() if isinstance(strategies, Mapping) else unnamed, base=base, limits=limits)
    if not given.strategies:
        raise BenchError("no strategies to compare — name at least one, keep_all for the references alone")
    found, loaded = traces_given(traces, base, limits)
    plan = Scenario(title, (), gates=tuple(map(dict, gates)), seed=seed, calibrate=calibrate, model=model,
                    max_fault_rate=share_of("max_fault_rate", max_fault_rate),
                    min_far_recall=share_of("min_far_recall", min_far_recall), cache=cache_named(cache))  # fmt: skip
    running = Running(jobs, progress, limits, times or Times(), case_cache, engine)
    job = Job(plan, given, rules_of(plan, given, ""), loaded, running)
    compared = _compared(((trace, {}) for trace in found), job)
    return judged_apart(compared, seed) if portfolio else compared


def render(comparisons: Comparison | Sequence[Comparison], path: Path | str) -> Path:
    """Write the report of one or more comparisons; the file's ending decides the format. Gives the path written."""
    return write_report([comparisons] if isinstance(comparisons, Comparison) else list(comparisons), Path(path))


def run_scenario(
    scenario: Scenario | Path | str,
    progress: Progress | None = None,
    *,
    against: str | None = None,
    accepting: bool = False,
    allow_inconclusive: bool = False,
    require_baseline: bool = False,
    jobs: int = 1,
    limits: Limits | None = None,
    times: Times | None = None,
    case_cache: Cache | None = None,
    engine: Engine | None = None,
) -> Compared:
    """A scenario from traces to verdicts: load, replay, score, compare with its baseline, check.

    `against` names a git revision: the strategies' files as they were there are replayed too, and are the baseline, and the gates of there are
    judged too; or a file that `bench run -o x.json` wrote, whose values are the baseline. `accepting` says that
    the baseline is about to be written anew, so that one that cannot be read is taken for none. `require_baseline`: gates that compare with one
    fail where there is none, and so does what was loosened or is gone since. `limits`, `times`, `case_cache` and `engine` are as in `compare`.
    """
    plan = scenario if isinstance(scenario, Scenario) else read_scenario(Path(scenario))
    where = str(plan.path or plan.title)
    running = Running(jobs, progress, limits or Limits(), times or Times(), case_cache, engine)
    with named_in_errors(where if plan.path else ""):
        scores = None if against is None or not Path(against).is_file() else Path(against)
        baseline: Baseline | None = None
        if scores is not None:
            baseline, against = scores_as_baseline(scores, plan.title), None
        elif against is None:  # before code that could write it anew
            baseline = baseline_of(plan, accepting)
        given = declared_by(plan, running.limits)
        asked = ScenarioTraces(plan, where, running.limits)
        job = Job(
            plan, given, rules_of(plan, given, where), asked, running, allow_inconclusive, require_baseline, baseline,
            gone=tuple(orphaned(plan)), name=KEPT if scores is None else scores.name,
        )  # fmt: skip
        if against is None:
            return _compared(asked, job)

        def written_at(base: Path, sha: str) -> Any:
            return declared_at(base / plan.path.name, f"{plan.path} at {sha[:9]}") if plan.path else None

        with strategies_at(against, given, written_at, plan.base, running.limits) as then:
            judge = judge_at(plan, then, job.rules, given.names)
            return _compared(asked, replace(job, earlier=then, judge=judge, gone=(*judge.gone, *job.gone)))


def declared_by(plan: Scenario, limits: Limits) -> Declared:
    """The strategies of a scenario, each at every setting. Errors: as `declared`."""
    each = plan.strategies.items()
    whole = {name for name, slots in each if isinstance(slots, str) or (not slots and name in REFERENCES)}
    items = [(None, slots or name) if name in whole else (name, slots) for name, slots in each]
    return declared(items, plan.base, limits)


# ---------------------------------------------------------------- how a comparison is made


def _compared(traces: Labelled, job: Job) -> Compared:
    plan, everyone, chosen = job.plan, job.everyone, tuple(metrics().values())
    measuring = Measuring(
        strategies=everyone,
        metrics=chosen,
        shown=frozenset(name for name in job.names if name not in REFERENCES) or frozenset(job.names),
        losses_for=frozenset(rule.metric for rule in job.rules),
        prompts_for=tuple(dict.fromkeys([*job.names, "recorded", YARDSTICK])),
        calibrate=plan.calibrate,
        model=plan.model,
        kept=None if job.running.cache is None else CaseCache(job.running.cache),
    )
    rows = Columns()
    cases = bounded(_measured(traces, measuring, job, rows))
    if not cases:
        raise BenchError("no traces to replay — name at least one")
    infos = {item.name: item.info for item in chosen}
    order = [item.name for item in everyone]
    drawn = Compared(
        title=plan.title,
        signature=_signature(cases, everyone, plan, [infos[rule.metric] for rule in job.rules if rule.metric in infos]),
        strategies=job.names,
        references=tuple(name for name in order if name not in job.names),
        cases=cases,
        rows=rows,
        summary=summarized(rows, infos),
        deltas=deltas(infos, rows, order, HELD_AGAINST, plan.seed),
        metrics=infos,
        rules=job.rules,
        damaged=tuple(job.source.damaged),
        skipped=(
            *job.source.skipped,
            *(() if job.earlier is None else job.earlier.skipped),
            *unread_labels(plan, cases),
        ),
        allow_inconclusive=job.allow_inconclusive,
        max_fault_rate=plan.max_fault_rate,
        min_far_recall=plan.min_far_recall,
        cache=plan.cache,
        asks=plan.asks,
    )
    return judged_against(drawn, against_of(drawn, job))


def judged_against(comparison: AnyComparison, against: Against) -> AnyComparison:
    """The comparison held against a baseline, with the verdicts of its gates."""
    held = msgspec.structs.replace(comparison, against=against)
    return msgspec.structs.replace(held, verdicts=check(held))


def _measured(traces: Labelled, measuring: Measuring, job: Job, rows: Columns) -> Iterator[Case]:
    """Every case, as it is done, without its rows, which go to `rows`; no more traces are held than are being worked on."""
    known: set[str] = set()
    running, source, began = job.running, job.source, time.time()

    def each() -> Iterator[Task]:
        for trace, labels in traces:
            if trace.id in known:
                raise BenchError(f"two traces are called {trace.id!r} — give each its own id")
            known.add(trace.id)
            yield Task(trace, labels, source.stored.get(trace.id))

    def heard(case: Case) -> None:
        for strategy in measuring.strategies:
            if not strategy.reference:
                running.times.add(strategy.name, case.runs[strategy.name].seconds)

    for done, case in enumerate(measured_cases(measuring, each(), running.engine or processes(running.jobs), heard), 1):
        if running.progress:
            running.progress(done, source.expected(len(known)))
        rows.add(case.rows)
        yield msgspec.structs.replace(case, rows=())
    if running.cache:
        running.cache.trim(began)


def _signature(
    cases: CaseList, strategies: Sequence[Strategy], plan: Scenario, gated: Sequence[MetricInfo]
) -> Signature:
    counted = {case.id: sorted({run.encoding for run in case.runs.values() if run.encoding}) for case in cases}
    return Signature(
        bench_version=VERSION,
        traces={case.id: case.recording.sha256 for case in cases},
        questions={case.id: case.questions_sha256 for case in cases if case.questions_sha256},
        strategies={item.name: str(item) for item in strategies},
        encodings=tuple(sorted({name for names in counted.values() for name in names})),
        case_encodings={case: tuple(names) for case, names in counted.items()},
        metrics={info.family: info.version for info in gated},
        facts_version=FACTS_VERSION,
        prices_date=prices_date(),
        seed=plan.seed,
        calibration=CALIBRATION_VERSION if plan.calibrate else "off",
        model=plan.model or "",
        code={spec: sha for item in strategies for spec, sha in item.code.items()},
    )


# ---------------------------------------------------------------- the cases that a report opens


OPENED = 200
"""The most cases whose prompts and results are held."""


def bounded(cases: Iterable[Case], most: int = OPENED) -> CaseList:
    """All cases, in the order of their names. Where they are more, only so many keep prompts and results, and the others are `abridged`.

    Kept are equal parts of those on which most strategies failed, that lost most, whose recordings are largest, and of a sample. Which they are
    does not depend on the order in which cases come.
    """
    found, wanted = ByName(), dict[str, int]()
    heaps: tuple[list[tuple[float, str, str]], ...] = ([], [], [], [])
    for case in cases:
        found[case.id] = case
        wanted[case.id] = len(heaps)
        drawn = hashlib.sha256(case.id.encode("utf-8", "replace")).hexdigest()
        failed = sum(run.failure is not None for run in case.runs.values())
        weights = (failed, case.results_needed, case.recording.counted_tokens, 0)
        for heap, weight in zip(heaps, weights, strict=True):
            item = (float(weight), drawn, case.id)
            if len(heap) < max(1, most // len(heaps)):
                heappush(heap, item)
                continue
            _, _, least = heappushpop(heap, item)
            wanted[least] -= 1
            if not wanted[least]:
                found[least] = msgspec.structs.replace(found[least], prompts=b"", results=(), abridged=True)
    return CaseList(found[name] for name in sorted(found))
