"""A comparison: measures every run under every strategy, then adds the decision of the room
`comparison`, the gates, and the details that a report shows."""

from __future__ import annotations

import functools
import itertools
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from ..comparison.advice import with_decision
from ..comparison.baseline import ScoreFile
from ..comparison.gate_rules import parse_rule
from ..comparison.gates import JUDGE
from ..evidence.false_alarms import false_alarms
from ..files.git import top_of
from ..metrics import metric_infos
from ..model import GateRule, Signature, Trace
from ..model.advice import REFUSED, TODAY
from ..model.base import grouped
from ..model.compared import Compared, GateResult, Skipped
from ..model.detail import ReplayDetail
from ..model.errors import BenchError, LoadError, ScenarioError, SpecError, nearest, one_line
from ..model.scores import MeasuredRun
from ..strategies import Strategy, parse_strategy
from ..strategies.declaring import at_settings, declarations
from ..strategies.portfolio import REFERENCES
from ..strategies.user_code.sandboxed import Place, load_strategies
from ..text.facts import FACTS_VERSION
from ..tokens.counting import TokenCounter, encoding_for
from ..tokens.prices import prices_date
from ..tokens.usage import CALIBRATION_VERSION
from ..traces import Loaded, TraceSource
from ..traces.paths import recorded_files
from ..version import VERSION
from .cache import Cache, cache_path
from .executors import Workers
from .measuring import Measuring, RunSession, rare_collection
from .scenario import Scenario, with_probes

Progress = Callable[[int], None]
"""A callback that gets the number of runs done."""

_MISSED = "needed.missed_turns"
_RUNS_EACH, _RUNS_IN_ALL = 2, 4
"""For each strategy a report shows the prompts of so many runs, those with the most missed turns,
and of so many in all."""

_REPLAYED_TWICE = 3
"""How many runs with tool results are replayed a second time with user code: the first ones."""


@dataclass(frozen=True)
class RunOptions:
    """How a comparison is run and judged.

    Without `details` no prompts are prepared for a report to show. With `required`, gates that need
    earlier values fail if there are none; with `accepting`, those values are about to be replaced.
    """

    workers: Workers = field(default_factory=Workers)
    progress: Progress | None = None
    cache: Cache | None = None
    debug: bool = False
    details: bool = True
    required: bool = False
    accepting: bool = False


class Base(NamedTuple):
    """The earlier values to which a comparison is compared, and their name.

    `missing` has a sentence about each part that is gone since then, `note` is a line to show, and
    `imported` are the files that the code imported then.
    """

    scores: ScoreFile | None = None
    name: str = ""
    missing: Sequence[str] = ()
    note: str = ""
    imported: Set[str] = frozenset()


# ---------------------------------------------------------------- strategies and gates


def strategies_given(
    given: Any, place: Place, options: RunOptions, *, tolerant: bool = False
) -> list[Strategy]:
    """The strategies in a user's argument, one for each setting of a sweep.

    Raises SpecError for a sweep of more than 100 settings, and unless `tolerant` for a spec that
    names nothing or does not fit, and if none of the strategies with user code can be loaded.
    """
    settings = [setting for item in declarations(given) for setting in at_settings(item)]
    strategies = load_strategies(settings, place, debug=options.debug)
    if not tolerant:
        _require_loaded(strategies)
    return strategies


def _require_loaded(strategies: Sequence[Strategy]) -> None:
    """Raise SpecError for a mistake in a spec, and if user code is there and none can be loaded."""
    for item in strategies:
        if item.broken is not None and not isinstance(item.broken, LoadError):
            raise item.broken
    users = [item for item in strategies if item.broken or item.has_user_code]
    if users and all(item.broken for item in users):
        raise SpecError(f"{users[0].name}: {users[0].broken}")


def hidden_from_code(paths: Iterable[str], base: Path) -> tuple[str, ...]:
    """The real paths of the files that no strategy may read, since they show later steps: the
    recordings, and the cache with its logs."""
    files = [*recorded_files(paths, base)]
    if kept := cache_path():
        files += [Path(f"{kept}{ending}") for ending in ("", "-wal", "-shm")]
    return tuple(map(os.path.realpath, files))


def imported_files(strategies: Sequence[Strategy], top: Path) -> set[str]:
    """The files in a repository that strategies import and that are not empty, relative to its
    top."""
    sandboxes = (item.sandbox for item in strategies if item.sandbox is not None)
    files = {Path(file) for sandbox in sandboxes for file in sandbox.imported}
    inside = {file for file in files if file.is_relative_to(top) and file.stat().st_size}
    return {file.relative_to(top).as_posix() for file in inside}


def with_references(strategies: Sequence[Strategy]) -> tuple[Strategy, ...]:
    """The strategies, then the references that are not among them. Raises SpecError for a name
    taken twice."""
    names = [item.name for item in strategies]
    for item in strategies:
        if names.count(item.name) > 1:
            raise SpecError(f"two strategies are called {item.name!r} — give each its own name")
        is_taken = item.name in REFERENCES and item != parse_strategy(item.name)
        if is_taken or item.name == "today":  # as reports call the reference `recorded`
            what = f"strategy {item.name!r}: that name belongs to a reference strategy"
            raise SpecError(f"{what} — choose another")
    return (*strategies, *(parse_strategy(name) for name in REFERENCES if name not in names))


def rules_of(
    tables: Sequence[Mapping[str, Any]], strategies: Sequence[Strategy], where: str
) -> tuple[GateRule, ...]:
    """The gates of a scenario; a gate on a strategy with a sweep becomes one for each setting.

    Raises ScenarioError, which starts with `where`, also for a strategy that is neither declared
    nor a reference.
    """
    settings = grouped(
        (name, item.name) for item in strategies for name in (item.family, item.name)
    )
    known = dict.fromkeys((*settings, *REFERENCES))
    rules: list[GateRule] = []
    for number, table in enumerate(tables, 1):
        place = f"{where}: gates[{number}]" if where else f"gates[{number}]"
        rule = parse_rule(table, place, metric_infos())
        if not any(fnmatchcase(name, rule.strategy) for name in known):
            close = nearest(rule.strategy, known)
            raise ScenarioError(
                f"{place}: no strategy is called {one_line(rule.strategy)!r}{close}"
            )
        names = dict.fromkeys(settings.get(rule.strategy, (rule.strategy,)))
        rules += [msgspec.structs.replace(rule, strategy=name) for name in names]
    return tuple(rules)


# ---------------------------------------------------------------- a comparison


def compare_runs(
    plan: Scenario,
    strategies: Sequence[Strategy],
    source: Loaded | TraceSource,
    options: RunOptions,
    base: Base,
) -> Compared:
    """The comparison that a scenario asks for, of the recordings of `source`.

    Raises BenchError if there are no recordings, and for two with one name.
    """
    rules = rules_of(plan.gates, strategies, "" if plan.path is None else str(plan.path))
    everyone = with_references(strategies)
    measuring = Measuring(everyone, plan.model, options.cache)
    traces = with_probes(plan, source)
    measured = sorted(_measured(traces, measuring, options), key=lambda run: run.id)
    if not measured:
        raise BenchError("no recordings to replay — name at least one")
    names = tuple(item.name for item in strategies)
    compared = Compared(
        title=plan.title,
        file=plan.place,
        accept=_accepted_by(plan, base),
        asks=plan.asks,
        signature=_signature(measured, measuring),
        strategies=names,
        references=tuple(item.name for item in everyone if item.name not in names),
        specs={item.name: item.spec for item in everyone},
        runs=tuple(measured),
        metrics=metric_infos(),
        rules=rules,
        against=base.name,
        skipped=tuple(
            Skipped(
                path=os.path.normpath(plan.base / path),
                reason=reason,
                damaged=path in source.damaged,
            )
            for path, reason in source.skipped
        ),
        notes=tuple(_notes(plan, strategies, base)),
    )
    result = with_decision(
        compared,
        base.scores,
        rates=false_alarms(),
        portfolio=plan.portfolio,
        required=options.required,
        accepting=options.accepting,
    )
    details = _details(result, with_probes(plan, source), measuring, options)
    return msgspec.structs.replace(
        result,
        gates=(*result.gates, *_missing_parts(base, options)),
        details=tuple(details) if options.details else (),
    )


def _notes(plan: Scenario, strategies: Sequence[Strategy], base: Base) -> Iterator[str]:
    """Yield the lines to show about how the strategies ran, and what the earlier values lack."""
    for item in strategies:
        if item.in_process_reason:
            yield f"{item.name} ran in the process that compares: {item.in_process_reason}"
    if base.note:
        yield base.note
    if base.imported:
        top = (top_of(plan.base) or plan.base).resolve()
        if unused := sorted(base.imported - imported_files(strategies, top)):
            yield f"no longer imported: {', '.join(unused)}"


def _accepted_by(plan: Scenario, base: Base) -> str:
    """The command that accepts the values of now; "" if the earlier ones are no baseline of the
    scenario."""
    if plan.path is None or base.name not in ("", str(plan.baseline_path)):
        return ""
    return f"bench run {shlex.quote(os.path.relpath(plan.path))} --update-baseline"


def _missing_parts(base: Base, options: RunOptions) -> Iterator[GateResult]:
    """Yield a gate for each part that is gone since the earlier values; it fails if required."""
    outcome: Literal["fail", "skipped"] = "fail" if options.required else "skipped"
    for reason in base.missing:
        yield GateResult(rule=JUDGE, strategy="", outcome=outcome, reason=reason)


def _signature(runs: Sequence[MeasuredRun], measuring: Measuring) -> Signature:
    """The versions and settings that the numbers depend on."""
    return Signature(
        bench_version=VERSION,
        facts_version=FACTS_VERSION,
        prices_date=prices_date(),
        calibration=CALIBRATION_VERSION,
        model=measuring.model or "",
        encodings={run.id: run.facts.encoding for run in runs if run.facts.encoding},
    )


# ---------------------------------------------------------------- the runs


class Task(NamedTuple):
    """One recording to measure; with `again` user code is replayed a second time."""

    trace: Trace
    again: bool = False


def _measured(
    traces: Iterable[Trace], measuring: Measuring, options: RunOptions
) -> Iterator[MeasuredRun]:
    """Yield every run as it is measured. Raises BenchError for two recordings with one name."""
    ids: set[str] = set()

    def tasks() -> Iterator[Task]:
        """Yield each recording as a task."""
        to_replay_again = _REPLAYED_TWICE
        for trace in traces:
            if trace.id in ids:
                raise BenchError(f"two recordings are called {trace.id!r} — give each its own id")
            ids.add(trace.id)
            if options.workers.count > 1 and options.cache is None:
                # Reads the vocabulary here, before the workers are forked, and not in each.
                TokenCounter(encoding_for(trace.model or measuring.model)[0])
            yield Task(trace, again=to_replay_again > 0)
            to_replay_again -= bool(trace.results)

    for done, run in enumerate(options.workers.results(_measure, measuring, tasks()), 1):
        if options.progress:
            options.progress(done)
        yield run
    if options.cache is not None:
        options.cache.trim()


@rare_collection()
def _measure(measuring: Measuring, task: Task) -> MeasuredRun:
    """A measured run."""
    return RunSession(task.trace, measuring, task.again).measured()


# ---------------------------------------------------------------- details


def _details(
    result: Compared, traces: Iterable[Trace], measuring: Measuring, options: RunOptions
) -> Iterator[ReplayDetail]:
    """Yield the details of the strategies that a report opens, on the runs where they lose most."""
    opened = _strategies_in_detail(result)
    worst = (run for name in opened if name != TODAY for run in _worst_runs(result, name))
    chosen = [*dict.fromkeys(worst)][:_RUNS_IN_ALL]
    chosen_traces = (trace for trace in traces if trace.id in chosen)
    tasks = map(Task, itertools.islice(chosen_traces, len(chosen)))  # reads no file after the last
    work = functools.partial(_details_of, strategies=opened)
    by_run = dict(options.workers.results(work, measuring, tasks))
    for name in chosen:
        yield from by_run.get(name, ())


def _worst_runs(result: Compared, strategy: str) -> list[str]:
    """The few runs on which a strategy would have missed most turns, the worst first."""
    missed = []
    for run in result.runs:
        numbers = {score.strategy: score.numbers.get(_MISSED) for score in run.scores}
        number = numbers[strategy]
        missed.append((-((number and number.value) or 0.0), run.id))
    return [run_id for _, run_id in sorted(missed)[:_RUNS_EACH]]


@rare_collection()
def _details_of(
    measuring: Measuring, task: Task, *, strategies: tuple[str, ...]
) -> tuple[str, tuple[ReplayDetail, ...]]:
    """The id of a run, and the details of some strategies on it."""
    return task.trace.id, RunSession(task.trace, measuring, task.again).details(strategies)


def _strategies_in_detail(result: Compared) -> tuple[str, ...]:
    """The strategies that a report opens, of those that ran: those with a failed gate, those that
    its answer is about, the first one that saves but is refused, and today's."""
    advice = result.advice
    failed = (gate.strategy for gate in result.gates if gate.outcome == "fail")
    refused = [it.strategy for it in advice.ranked if it.saves and it.verdict in REFUSED]
    wanted = *failed, advice.subject, result.asks, *refused[:1], TODAY
    failing = {score.strategy for run in result.runs for score in run.scores if score.failure}
    known = {*result.everyone} - failing
    opened = [name for name in dict.fromkeys(wanted) if name in known]
    if len(opened) == 1:  # only today's
        opened = [
            name for name in dict.fromkeys((*opened, *result.strategies[:2])) if name in known
        ]
    return tuple(opened)
