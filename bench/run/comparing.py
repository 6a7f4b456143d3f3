"""A comparison: every run under every strategy, then decision, gates and details."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ..comparison.advice import with_decision
from ..comparison.baseline import ScoreFile
from ..comparison.gate_rules import parse_rule
from ..evidence.false_alarms import false_alarms
from ..metrics import metric_infos
from ..model import GateRule, Signature, Trace
from ..model.advice import TODAY
from ..model.base import grouped
from ..model.compared import Compared, Skipped
from ..model.detail import ReplayDetail
from ..model.errors import BenchError, ScenarioError, SpecError, nearest, one_line
from ..model.scores import MeasuredRun
from ..strategies import Strategy, parse_strategy
from ..strategies.declaring import at_settings, declarations
from ..strategies.portfolio import REFERENCES
from ..strategies.user_code.sandboxed import Place, load_strategies
from ..text.facts import FACTS_VERSION
from ..tokens.prices import prices_date
from ..tokens.usage import CALIBRATION_VERSION
from ..traces import Loaded, TraceSource
from ..traces.paths import recorded_files
from ..version import VERSION
from .cache import cache_path
from .measured_runs import MeasuredRuns, RunOptions
from .measuring import Measuring
from .scenario import Scenario

_MOST_DETAILED_RUNS = 4


def strategies_given(
    given: Any, place: Place, options: RunOptions, *, tolerant: bool = False
) -> list[Strategy]:
    """The strategies in a user's argument, one for each setting of a sweep.

    Raises SpecError as `load_strategies` does, for a sweep of more than 100 settings, and unless
    `tolerant` where none of those with user code can be loaded.
    """
    settings = [setting for one in declarations(given) for setting in at_settings(one)]
    strategies = load_strategies(settings, place, debug=options.debug, tolerant=tolerant)
    users = [one for one in strategies if one.broken or one.has_user_code]
    if users and not tolerant and all(one.broken for one in users):
        raise SpecError(f"{users[0].name}: {users[0].broken}")
    return strategies


def hidden_from_code(paths: Iterable[str], base: Path) -> tuple[str, ...]:
    """The real paths of the files that no strategy may read, since they show later steps: the
    recordings, and the cache with its logs."""
    files = [*recorded_files(paths, base)]
    if kept := cache_path():
        files += [Path(f"{kept}{ending}") for ending in ("", "-wal", "-shm")]
    return tuple(map(os.path.realpath, files))


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


class Base(NamedTuple):
    """The values that a comparison is compared with, and their name.

    If `required`, gates that need values fail without any; if `accepting`, the values are about to
    be replaced. `missing` is a clause on each part that is gone since, `note` a line to show;
    `imported` are the files that the code imported then.
    """

    scores: ScoreFile | None = None
    name: str = ""
    required: bool = False
    accepting: bool = False
    missing: Sequence[str] = ()
    note: str = ""
    imported: Set[str] = frozenset()


def compare_runs(
    plan: Scenario,
    strategies: Sequence[Strategy],
    traces: Iterable[Trace],
    source: Loaded | TraceSource,
    options: RunOptions,
    base: Base,
) -> Compared:
    """The comparison that a scenario asks for. `source` knows the skipped files when all traces
    were read.

    Raises BenchError without recordings, and for two with one name.
    """
    families = grouped(
        (name, item.name) for item in strategies for name in (item.family, item.name)
    )
    rules = rules_of(plan.gates, families, "" if plan.path is None else str(plan.path))
    everyone = with_references(strategies)
    measuring = Measuring(everyone, plan.model, options.cache)
    measured_runs = MeasuredRuns(measuring, options)
    measured = sorted(measured_runs.of(traces), key=lambda run: run.id)
    if not measured:
        raise BenchError("no recordings to replay — name at least one")
    names = tuple(item.name for item in strategies)
    here = (
        f"{item.name} ran in the process that compares: {item.in_process_reason}"
        for item in strategies
        if item.in_process_reason
    )
    compared = Compared(
        title=plan.title,
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
            Skipped(path=path, reason=reason, damaged=path in source.damaged)
            for path, reason in source.skipped
        ),
        notes=tuple(here),
    )
    result = with_decision(
        compared,
        base.scores,
        rates=false_alarms(),
        portfolio=plan.portfolio,
        required=base.required,
        accepting=base.accepting,
    )
    details = tuple(_details(result, measured_runs)) if options.details else ()
    return msgspec.structs.replace(result, details=details)


def rules_of(
    tables: Sequence[Mapping[str, Any]], families: Mapping[str, Sequence[str]], where: str
) -> tuple[GateRule, ...]:
    """The gates of a scenario, one for every setting of its strategy. `families` are the names of
    the settings by that of their strategy.

    Raises ScenarioError after `where`, also for a strategy that is neither declared nor a
    reference.
    """
    known = dict.fromkeys((*families, *REFERENCES))
    rules: list[GateRule] = []
    for number, table in enumerate(tables, 1):
        place = f"{where}: gates[{number}]" if where else f"gates[{number}]"
        rule = parse_rule(table, place, metric_infos())
        if not any(fnmatchcase(name, rule.strategy) for name in known):
            close = nearest(rule.strategy, known)
            raise ScenarioError(
                f"{place}: no strategy is called {one_line(rule.strategy)!r}{close}"
            )
        each = families.get(rule.strategy, (rule.strategy,))
        rules += [msgspec.structs.replace(rule, strategy=name) for name in dict.fromkeys(each)]
    return tuple(rules)


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


# ---------------------------------------------------------------- details


def _details(result: Compared, measured: MeasuredRuns) -> Iterator[ReplayDetail]:
    """Yield the details of the strategies that a report opens, on the runs where they lose most."""
    opened = _strategies_in_detail(result)
    worst = (run for name in opened if name != TODAY for run in measured.worst(name))
    yield from measured.details([*dict.fromkeys(worst)][:_MOST_DETAILED_RUNS], opened)


def _strategies_in_detail(result: Compared) -> tuple[str, ...]:
    """The strategies that a report opens: those with a failed gate, those that its answer is about,
    and today's."""
    advice = result.advice
    failed = (gate.strategy for gate in result.gates if gate.outcome == "fail")
    wanted = *failed, advice.subject, result.asks, advice.cheapest_rejected, TODAY
    opened = [name for name in dict.fromkeys(wanted) if name and name in result.everyone]
    if len(opened) == 1:  # today's alone
        opened = [*dict.fromkeys((*opened, *result.strategies[:2]))]
    return tuple(opened)
