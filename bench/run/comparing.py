"""A comparison: every run of some recordings under every strategy, then the decision, the gates, and the details that a report shows."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from ..comparison.baseline import ScoreFile
from ..comparison.building import compared
from ..comparison.gates import parse_rule
from ..evidence.detail import detail_of, missed_by_origin
from ..evidence.false_alarms import false_alarms
from ..metrics import metrics
from ..model import Failure, GateRule, Signature, Trace
from ..model.compared import Compared, Skipped
from ..model.detail import ReplayDetail
from ..model.errors import BenchError, ScenarioError, SpecError, nearest, one_line
from ..model.metric import MetricInfo
from ..model.scores import Check, Finding, MeasuredRun, Number, RunFacts, Score
from ..plugins.worker import Limits
from ..strategies import Strategy, strategy_of
from ..strategies.sandboxed import Place, put_together
from ..strategies.sweeps import at_settings
from ..text.facts import FACTS_VERSION
from ..tokens.prices import prices_date
from ..tokens.usage import CALIBRATION_VERSION
from ..version import VERSION
from .executors import measured_by, measured_here, processes
from .kept import Kept
from .measuring import Measuring, RunSession, labelled, measure

REFERENCES = ("keep_all", "recorded", "drop_all", "clairvoyant", "floor")
"""The reference strategies that every comparison holds beside the declared ones, as bounds."""

Progress = Callable[[int, int | None], None]
"""Called with the runs done, and of how many (None: not known yet)."""

Executors = Callable[[int], Any]

_HELD_CHARS = 50_000_000
"""The characters of recordings that are held until the details of a report are made."""

_REPLAYED_TWICE = 3
"""The runs with results on which user code is replayed a second time: the first ones, wherever they are measured."""

_MOST_DETAILED_RUNS, _RUNS_EACH = 6, 3


@dataclass(frozen=True)
class Running:
    """Settings that change nothing of the result: where runs are measured, limits of user code, what is kept."""

    jobs: int = 1
    limits: Limits = field(default_factory=Limits)
    progress: Progress | None = None
    executors: Executors | None = None
    kept: Kept | None = None
    debug: bool = False


@dataclass(frozen=True)
class Question:
    """A question about some recordings: title, strategies, gates, and the settings that belong to the answer."""

    title: str
    strategies: tuple[Strategy, ...]
    rules: tuple[GateRule, ...] = ()
    asks: str = ""
    model: str | None = None
    calibrate: bool = True
    max_missed_turns: float | None = None
    min_far_recall: float | None = None
    cache: str = "provider"
    portfolio: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The declared strategies."""
        return tuple(item.name for item in self.strategies)

    @property
    def everyone(self) -> tuple[Strategy, ...]:
        """The declared strategies, then the references that are not declared. Raises SpecError for a name taken twice."""
        for name in self.names:
            if self.names.count(name) > 1:
                raise SpecError(f"two strategies are called {name!r} — give each its own name")
        for item in self.strategies:
            if item.name in REFERENCES and item != strategy_of(item.name):
                what = f"strategy {item.name!r}: that name belongs to a reference strategy"
                raise SpecError(f"{what} — choose another")
        references = (strategy_of(name) for name in REFERENCES if name not in self.names)
        return (*self.strategies, *references)


Labelled = Iterable[tuple[Trace, Mapping[str, Any]]]
"""Recordings, each with the labels that a scenario adds."""


def answered(
    runs: Labelled,
    question: Question,
    running: Running,
    skipped: Callable[[], Sequence[Skipped]],
    base: ScoreFile | None = None,
    *,
    against: str = "",
    required: bool = False,
) -> Compared:
    """The comparison of some recordings. `skipped` gives what was left out, once all have been read.

    `base` is what it is held against, called `against`; `required`: without one the gates that
    need it fail. Raises BenchError for no recordings, and for two of one name.
    """
    held: dict[str, tuple[Trace, Mapping[str, Any]]] = {}
    measuring = Measuring(question.everyone, model=question.model, calibrate=question.calibrate)
    measured = sorted(_measured(runs, measuring, running, held), key=lambda run: run.id)
    if not measured:
        raise BenchError("no recordings to replay — name at least one")
    infos = metric_infos()
    limits = {"needed": question.max_missed_turns, "far": question.min_far_recall}
    order = [item.name for item in question.everyone]
    found = compared(
        measured,
        title=question.title,
        signature=_signature(measured, question),
        strategies=question.names,
        references=[name for name in order if name not in question.names],
        specs={item.name: item.spec for item in question.everyone},
        metrics=infos,
        rules=question.rules,
        asks=question.asks,
        skipped=skipped(),
        basis="uncached" if question.cache == "none" else "cached",
        portfolio=question.portfolio,
        rates=false_alarms(),
        limits={rule: limit for rule, limit in limits.items() if limit is not None},  # type: ignore[misc]
        base=base,
        against=against,
        required=required,
    )
    return msgspec.structs.replace(found, details=tuple(_details(found, held, measuring)), notes=_notes(question))


def declared(
    items: Iterable[tuple[str | None, Any]], place: Place, running: Running
) -> tuple[tuple[Strategy, ...], dict[str, tuple[str, ...]]]:
    """The strategies of some names (None: what is given has its own), one for each setting, and the names made of each.

    Raises SpecError as `strategy_of` does, and for more than 100 settings of one.
    """
    settings = [(name, values, item) for name, given in items for values, item in at_settings(given)]
    each = put_together([(name, item) for name, _, item in settings], running.limits, place, debug=running.debug)
    strategies: list[Strategy] = []
    names: dict[str, tuple[str, ...]] = {}
    for (_, values, _), alone in zip(settings, each, strict=True):
        one = replace(alone, name="-".join((alone.name, *values)))
        strategies.append(one)
        for known in dict.fromkeys((alone.name, one.name)):
            names[known] = (*names.get(known, ()), one.name)
    return tuple(strategies), names


def rules_of(
    tables: Sequence[Mapping[str, Any]], names: Mapping[str, tuple[str, ...]], where: str
) -> tuple[GateRule, ...]:
    """The gates of a scenario, each at every setting of its strategy.

    Raises ScenarioError after `where`, for a strategy too that is neither declared nor a reference.
    """
    infos, head = metric_infos(), f"{where}: " if where else ""
    found: list[GateRule] = []
    for number, table in enumerate(tables, 1):
        place = f"{head}gates[{number}]"
        rule = parse_rule(table, place, infos, number)
        known = dict.fromkeys((*names, *REFERENCES))
        if not any(fnmatchcase(name, rule.strategy) for name in known):
            close = nearest(rule.strategy, known)
            raise ScenarioError(f"{place}: no strategy is called {one_line(rule.strategy)!r}{close}")
        for name in names.get(rule.strategy, (rule.strategy,)):
            found.append(msgspec.structs.replace(rule, strategy=name))
    return tuple(found)


@functools.cache
def metric_infos() -> dict[str, MetricInfo]:
    """Every metric as reports and gates know it."""
    found = {}
    for name, item in metrics().items():
        pooled = item.aggregate == "mean over tasks"
        found[name] = MetricInfo(
            name=name,
            unit="fraction" if item.unit == "share" else item.unit,
            better=item.better,
            aggregate="pooled" if pooled else "max" if name == "cost.peak_prompt_tokens" else "sum",
            title=item.title,
        )
    return found


# ---------------------------------------------------------------- measuring


@dataclass(frozen=True)
class _Plan:
    """All that a process needs to measure any run."""

    measuring: Measuring
    kept: Kept | None


@dataclass(frozen=True)
class _Task:
    trace: Trace
    labels: Mapping[str, Any]
    twice: bool


def _measured(
    runs: Labelled,
    measuring: Measuring,
    running: Running,
    held: dict[str, tuple[Trace, Mapping[str, Any]]],
) -> Iterator[MeasuredRun]:
    """Yield every run as it is done; `held` keeps the recordings as far as there is room."""
    known: set[str] = set()
    room, again = _HELD_CHARS, _REPLAYED_TWICE

    def tasks() -> Iterator[_Task]:
        nonlocal room, again
        for trace, labels in runs:
            if trace.id in known:
                raise BenchError(f"two recordings are called {trace.id!r} — give each its own id")
            known.add(trace.id)
            size = sum(len(result.text) for result in trace.results) + 1000 * len(trace.steps)
            if size <= room:
                room -= size
                held[trace.id] = trace, labels
            again -= bool(trace.results)
            yield _Task(trace, labels, twice=again >= 0)

    plan = _Plan(measuring, running.kept)
    if running.executors is None and running.jobs <= 1:
        each = measured_here(_work, plan, tasks())
    else:
        died = functools.partial(_died, measuring)
        each = measured_by(running.executors or processes, running.jobs, _work, plan, tasks(), died)
    for done, run in enumerate(each, 1):
        if running.progress:
            running.progress(done, None)
        yield run
    if running.kept is not None:
        running.kept.trim()


def _work(plan: _Plan, task: _Task) -> MeasuredRun:
    return measure(task.trace, plan.measuring, task.labels, plan.kept, twice=task.twice)


def _died(measuring: Measuring, task: _Task, problem: str) -> MeasuredRun:
    """The run over which its process ended twice: every strategy has failed there."""
    failure = Failure(step=-1, slot="process", error=problem)
    numbers = {name: Number(None, 0.0, problem) for name in metrics()}
    ran = Check(hits=1, of=1, findings=(Finding(None, problem),))
    scores = tuple(
        Score(strategy=item.name, numbers=numbers, checks={"ran": ran}, failure=failure)
        for item in measuring.strategies
    )
    facts = RunFacts(sha256=task.trace.sha256, format=task.trace.source.format, task=task.trace.task)
    return MeasuredRun(id=task.trace.id, facts=facts, scores=scores)


def _signature(runs: Sequence[MeasuredRun], question: Question) -> Signature:
    counted = {run.id: run.facts.encoding for run in runs if run.facts.encoding}
    return Signature(
        bench_version=VERSION,
        traces={run.id: run.facts.sha256 for run in runs},
        questions={run.id: run.questions_sha256 for run in runs if run.questions_sha256},
        strategies={item.name: str(item) for item in question.everyone},
        encodings=tuple(sorted({*counted.values()})),
        case_encodings={run: (encoding,) for run, encoding in counted.items()},
        facts_version=FACTS_VERSION,
        prices_date=prices_date(),
        seed=0,
        calibration=CALIBRATION_VERSION if question.calibrate else "off",
        model=question.model or "",
    )


def _notes(question: Question) -> tuple[str, ...]:
    """Notes on strategies that ran otherwise than in a sandbox."""
    here = [f"{item.name} ran in the process that compares: {item.here}" for item in question.strategies if item.here]
    return tuple(here)


# ---------------------------------------------------------------- details


def _details(
    found: Compared, held: Mapping[str, tuple[Trace, Mapping[str, Any]]], measuring: Measuring
) -> Iterator[ReplayDetail]:
    """Yield the details of the strategies that a report opens, on the runs where these lose most."""
    advice = found.advice
    if advice is None:
        return
    opened = dict.fromkeys(
        name
        for name in (advice.advised, found.asks, advice.cheapest_rejected, found.today)
        if name and name in found.everyone
    )
    if len(opened) == 1:
        opened |= dict.fromkeys(name for name in found.strategies[:2] if name)
    chosen = list(dict.fromkeys(_worst(found, [name for name in opened if name != found.today], held)))
    strategies = [item for item in measuring.strategies if item.name in opened]
    for run in chosen[:_MOST_DETAILED_RUNS]:
        trace, labels = held[run]
        session = RunSession(labelled(trace, labels), measuring, twice=False)
        replays = []
        for strategy in strategies:
            with contextlib.suppress(BenchError):
                replays.append(session.evidence(strategy))
        replays = [evidence for evidence in replays if evidence.replay.failure is None]
        missed: dict[int, list[str]] = {}
        for evidence in replays:
            for step, facts in missed_by_origin(evidence).items():
                missed.setdefault(step, []).extend(facts)
        yield from (detail_of(evidence, missed) for evidence in replays)


def _worst(found: Compared, names: Sequence[str], held: Mapping[str, Any]) -> Iterator[str]:
    """Yield the runs where some strategies miss most, a few of each."""
    for name in names:
        missed = []
        for run in found.runs:
            if run.id in held:
                number = found.number(name, "needed.missed_turns", run.id)
                missed.append((-(number.value or 0.0) if number else 0.0, run.id))
        yield from (run for _, run in sorted(missed)[:_RUNS_EACH])
