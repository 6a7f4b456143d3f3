"""A comparison: every run of some recordings under every strategy, then decision, gates and details."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import msgspec

from ..comparison.baseline import ScoreFile
from ..comparison.building import compared
from ..comparison.gate_rules import parse_rule
from ..evidence.false_alarms import false_alarms
from ..metrics import metrics
from ..model import Failure, GateRule, Signature, Trace
from ..model.compared import Compared, Skipped
from ..model.detail import ReplayDetail
from ..model.errors import BenchError, ScenarioError, SpecError, nearest, one_line
from ..model.index import TraceIndex
from ..model.metric import MetricInfo
from ..model.scores import MeasuredRun, Number, RunFacts, Score
from ..plugins.worker import Limits
from ..strategies import Strategy, strategy_of
from ..strategies.sandboxed import Place, put_together
from ..strategies.sweeps import at_settings
from ..text.facts import FACTS_VERSION
from ..tokens.counting import TokenCounter, encoding_for
from ..tokens.prices import prices_date
from ..tokens.usage import CALIBRATION_VERSION
from ..version import VERSION
from .executors import Workers
from .kept import Kept
from .measuring import Measuring, RunSession
from .scenario import Scenario
from .scoring import failed_score

REFERENCES = ("keep_all", "recorded", "drop_all", "clairvoyant", "floor")
"""The reference strategies that every comparison holds beside the declared ones, as bounds."""

Progress = Callable[[int, int | None], None]
"""Called with the runs done, and of how many (None: not known yet)."""

_HELD_CHARS = 20_000_000
"""The characters of recordings that are held until the details of a report are made."""

_REPLAYED_TWICE = 3
"""The runs with results on which user code is replayed a second time: the first ones, wherever they are measured."""

_MOST_DETAILED_RUNS, _RUNS_EACH = 4, 2


@dataclass(frozen=True)
class Running:
    """Settings that change nothing of the result: who measures runs, limits of user code, what is kept.

    Without `details` no prompts are prepared for a report to show.
    """

    workers: Workers = field(default_factory=Workers)
    limits: Limits = field(default_factory=Limits)
    progress: Progress | None = None
    kept: Kept | None = None
    debug: bool = False
    details: bool = True


class Declared(NamedTuple):
    """The strategies of a comparison, one for each setting, and by each declared name the names made of it."""

    strategies: tuple[Strategy, ...]
    names: dict[str, tuple[str, ...]]

    @property
    def with_references(self) -> tuple[Strategy, ...]:
        """These, then the references that are not among them. Raises SpecError for a name taken twice."""
        names = [item.name for item in self.strategies]
        for item in self.strategies:
            if names.count(item.name) > 1:
                raise SpecError(f"two strategies are called {item.name!r} — give each its own name")
            if item.name in REFERENCES and item != strategy_of(item.name):
                what = f"strategy {item.name!r}: that name belongs to a reference strategy"
                raise SpecError(f"{what} — choose another")
        return (*self.strategies, *(strategy_of(name) for name in REFERENCES if name not in names))


def declared(items: Iterable[tuple[str | None, Any]], place: Place, running: Running) -> Declared:
    """The strategies of some names (None: what is given has its own).

    Raises SpecError as `strategy_of` does, and for more than 100 settings of one.
    """
    settings = [(name, values, item) for name, given in items for values, item in at_settings(given)]
    each = put_together([(name, item) for name, _, item in settings], running.limits, place, debug=running.debug)
    strategies: list[Strategy] = []
    names: dict[str, tuple[str, ...]] = {}
    for (_, values, _), alone in zip(settings, each, strict=True):
        one = replace(alone, name="-".join((alone.name, *values)))
        strategies.append(one)
        for name in dict.fromkeys((alone.name, one.name)):
            names[name] = (*names.get(name, ()), one.name)
    return Declared(tuple(strategies), names)


Labelled = Iterable[tuple[Trace, Mapping[str, Any]]]
"""Recordings, each with the labels that a scenario adds."""


def answered(
    plan: Scenario,
    given: Declared,
    runs: Labelled,
    running: Running,
    skipped: Callable[[], Sequence[Skipped]],
    base: ScoreFile | None = None,
    *,
    against: str = "",
    required: bool = False,
) -> Compared:
    """The comparison that a scenario asks for. `skipped` gives what was left out, once all have been read.

    `base` is what it is held against, called `against`; `required`: without one the gates that
    need it fail. Raises BenchError for no recordings, and for two of one name.
    """
    rules = rules_of(plan.gates, given.names, "" if plan.path is None else str(plan.path))
    everyone = given.with_references
    measuring = Measuring(everyone, model=plan.model, calibrate=plan.calibrate)
    held: dict[str, _Task] = {}
    measured = sorted(_measured(runs, measuring, running, held), key=lambda run: run.id)
    if not measured:
        raise BenchError("no recordings to replay — name at least one")
    strategies = [item.name for item in given.strategies]
    result = compared(
        measured,
        title=plan.title,
        signature=_signature(measured, measuring),
        strategies=strategies,
        references=[item.name for item in everyone if item.name not in strategies],
        specs={item.name: item.spec for item in everyone},
        metrics=metric_infos(),
        rules=rules,
        asks=plan.asks,
        skipped=skipped(),
        basis="uncached" if plan.cache == "none" else "cached",
        portfolio=plan.portfolio,
        rates=false_alarms(),
        limits={"needed": plan.max_missed_turns, "far": plan.min_far_recall},
        base=base,
        against=against,
        required=required,
    )
    here = [f"{item.name} ran in the process that compares: {item.here}" for item in given.strategies if item.here]
    details = tuple(_details(result, held, measuring, running)) if running.details else ()
    return msgspec.structs.replace(result, details=details, notes=tuple(here))


def rules_of(
    tables: Sequence[Mapping[str, Any]], names: Mapping[str, tuple[str, ...]], where: str
) -> tuple[GateRule, ...]:
    """The gates of a scenario, each at every setting of its strategy.

    Raises ScenarioError after `where`, for a strategy too that is neither declared nor a reference.
    """
    known = dict.fromkeys((*names, *REFERENCES))
    rules: list[GateRule] = []
    for number, table in enumerate(tables, 1):
        place = f"{where}: gates[{number}]" if where else f"gates[{number}]"
        rule = parse_rule(table, place, metric_infos(), number)
        if not any(fnmatchcase(name, rule.strategy) for name in known):
            close = nearest(rule.strategy, known)
            raise ScenarioError(f"{place}: no strategy is called {one_line(rule.strategy)!r}{close}")
        each = names.get(rule.strategy, (rule.strategy,))
        rules += [msgspec.structs.replace(rule, strategy=name) for name in each]
    return tuple(rules)


@functools.cache
def metric_infos() -> dict[str, MetricInfo]:
    """Every metric as reports and gates know it."""
    infos = {}
    for name, item in metrics().items():
        pooled = item.aggregate == "mean over tasks"
        infos[name] = MetricInfo(
            name=name,
            unit="fraction" if item.unit == "share" else item.unit,
            better=item.better,
            aggregate="pooled" if pooled else "max" if name == "cost.peak_prompt_tokens" else "sum",
            title=item.title,
        )
    return infos


# ---------------------------------------------------------------- measuring


class _Plan(NamedTuple):
    """All that a process needs to measure any run."""

    measuring: Measuring
    kept: Kept | None


@dataclass(frozen=True)
class _Task:
    """One recording to measure, with the labels of the scenario; its index where it is known."""

    trace: Trace
    labels: Mapping[str, Any]
    twice: bool
    index: TraceIndex | None = None

    def session(self, plan: _Plan) -> RunSession:
        """The session that measures it."""
        return RunSession(self.trace, plan.measuring, plan.kept, labels=self.labels, index=self.index, twice=self.twice)


def _measured(runs: Labelled, measuring: Measuring, running: Running, held: dict[str, _Task]) -> Iterator[MeasuredRun]:
    """Yield every run as it is done, those that earlier ones kept at once.

    `held` gets the recordings as far as there is room.
    """
    plan, ready = _Plan(measuring, running.kept), list[MeasuredRun]()
    numbers: dict[str, Number] = {}

    def missing() -> Iterator[_Task]:
        for task in _tasks(runs, held if running.details else None):
            known = task.session(plan).known()
            if known is None:
                if running.workers.count > 1:  # a vocabulary that is read here is read in no worker
                    TokenCounter(encoding_for(task.trace.model or measuring.model)[0])
                yield task
            else:
                ready.append(_sharing(known, numbers))

    def results() -> Iterator[MeasuredRun]:
        for run, index in running.workers.results(_work, plan, missing(), functools.partial(_died, measuring)):
            if run.id in held:
                held[run.id] = replace(held[run.id], index=index)
            yield _sharing(run, numbers)
        yield from ready

    for done, run in enumerate(results(), 1):
        if running.progress:
            running.progress(done, None)
        yield run
    if running.kept is not None:
        running.kept.trim()


def _sharing(run: MeasuredRun, numbers: dict[str, Number]) -> MeasuredRun:
    """A run that shares equal numbers with all others, and equal tables of them among its strategies: most are equal."""
    scores: list[Score] = []
    for score in run.scores:
        table = {sys.intern(name): numbers.setdefault(repr(item), item) for name, item in score.numbers.items()}
        table = next((other.numbers for other in scores if _is_same(other.numbers, table)), table)
        checks = next((other.checks for other in scores if other.checks == score.checks), score.checks)
        scores.append(msgspec.structs.replace(score, numbers=table, checks=checks))
    return msgspec.structs.replace(run, scores=tuple(scores))


def _is_same(one: Mapping[str, Number], other: Mapping[str, Number]) -> bool:
    """True if two tables hold the very same numbers: 0.0 equals -0.0, and is written otherwise."""
    return one.keys() == other.keys() and all(one[name] is other[name] for name in one)


def _tasks(runs: Labelled, held: dict[str, _Task] | None) -> Iterator[_Task]:
    """Yield the recordings of a comparison. Raises BenchError for two of one name."""
    ids: set[str] = set()
    room, again = _HELD_CHARS, _REPLAYED_TWICE
    for trace, labels in runs:
        if trace.id in ids:
            raise BenchError(f"two recordings are called {trace.id!r} — give each its own id")
        ids.add(trace.id)
        again -= bool(trace.results)
        task = _Task(trace, labels, twice=again >= 0)
        size = sum(len(result.text) for result in trace.results) + 1000 * len(trace.steps)
        if held is not None and size <= room:
            room -= size
            held[trace.id] = task
        yield task


def _work(plan: _Plan, task: _Task) -> tuple[MeasuredRun, TraceIndex | None]:
    """A run measured, and its index where nothing else keeps it."""
    session = task.session(plan)
    return session.measured(), session.index if plan.kept is None else None


def _died(measuring: Measuring, task: _Task, problem: str) -> tuple[MeasuredRun, None]:
    """The run over which its process ended twice: every strategy has failed there."""
    failure = Failure(step=-1, slot="process", error=problem)
    facts = RunFacts(sha256=task.trace.sha256, format=task.trace.source.format, task=task.trace.task)
    scores = tuple(failed_score(item, failure) for item in measuring.strategies)
    return MeasuredRun(id=task.trace.id, facts=facts, scores=scores), None


def _signature(runs: Sequence[MeasuredRun], measuring: Measuring) -> Signature:
    return Signature(
        bench_version=VERSION,
        facts_version=FACTS_VERSION,
        prices_date=prices_date(),
        calibration=CALIBRATION_VERSION if measuring.calibrate else "off",
        model=measuring.model or "",
        encodings={run.id: run.facts.encoding for run in runs if run.facts.encoding},
    )


# ---------------------------------------------------------------- details


class _Shown(NamedTuple):
    """One recording of which a report shows the prompts, and the strategies that it shows."""

    task: _Task
    names: tuple[str, ...]


def _details(
    result: Compared, held: Mapping[str, _Task], measuring: Measuring, running: Running
) -> Iterator[ReplayDetail]:
    """Yield the details of the strategies that a report opens, on the runs where these lose most."""
    opened = _opened(result)
    runs: dict[str, None] = {}
    for name in opened:
        if name != result.today:
            numbers = {run: result.number(name, "needed.missed_turns", run) for run in held}
            missed = sorted((-(number.value or 0.0) if number else 0.0, run) for run, number in numbers.items())
            runs |= dict.fromkeys(run for _, run in missed[:_RUNS_EACH])
    shown = [_Shown(replace(held[run], twice=False), opened) for run in [*runs][:_MOST_DETAILED_RUNS]]
    plan = _Plan(measuring, running.kept)
    by_run = {item.task.trace.id: ready for item in shown if (ready := item.task.session(plan).kept_details(opened))}
    missing = [item for item in shown if item.task.trace.id not in by_run]
    by_run |= running.workers.results(_detailed, plan, missing, lambda item, why: (item.task.trace.id, ()))
    for item in shown:
        yield from by_run[item.task.trace.id]


def _opened(result: Compared) -> tuple[str, ...]:
    """The strategies that a report opens: the advised one, those that it is about, and today's."""
    advice = result.advice
    if advice is None:
        return ()
    wanted = advice.advised, result.asks, advice.cheapest_rejected, result.today
    opened = [name for name in dict.fromkeys(wanted) if name and name in result.everyone]
    return (*dict.fromkeys((*opened, *result.strategies[:2])),) if len(opened) == 1 else (*opened,)


def _detailed(plan: _Plan, shown: _Shown) -> tuple[str, tuple[ReplayDetail, ...]]:
    return shown.task.trace.id, shown.task.session(plan).details(shown.names)
