"""The verbs of the Python interface: compare, run a scenario, render."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from ..comparison.baseline import ScoreFile, read_scores, score_file_of
from ..comparison.gates import JUDGE
from ..files.writing import write_together
from ..metrics import metric_infos
from ..model.compared import Compared, GateResult
from ..model.errors import BenchError, ResultsError, named_in_errors
from ..plugins.worker import PRINTED
from ..strategies import Strategy
from ..strategies.portfolio import PORTFOLIO
from ..strategies.user_code.sandboxed import Place
from .against import NewScenarioError, no_longer_imported, orphaned, scenario_at
from .cache import Cache
from .comparing import Base, compare_runs, hidden_from_code, strategies_given
from .executors import Workers, shared_workers
from .measured_runs import Progress, RunOptions
from .scenario import Scenario, Traces, read_scenario, source_of, traces_given, with_probes

Strategies = str | Callable[..., Any] | Iterable[Any] | Mapping[str, Any]
"""Strategies as people pass them: one, several, or names with these or with slots."""


def compare(
    traces: Traces,
    strategies: Strategies | None = None,
    *,
    title: str = "",
    gates: Sequence[Mapping[str, Any]] = (),
    jobs: int | Workers = 1,
    base: Path | None = None,
    progress: Progress | None = None,
    model: str | None = None,
    cache: Cache | None = None,
    against: Path | str | None = None,
    debug: bool = False,
    details: bool = True,
) -> Compared:
    """Replay every recording under every strategy, the references added, and decide.

    `strategies`: a list of spec strings or functions (each a summarizer), or a mapping of name →
    one of these, or of slots → specs or functions; None: the portfolio. `gates` are tables as a
    scenario has them. `jobs` processes (or Workers, which several comparisons may share) measure
    runs; the result is the same. User code runs in separate processes; with `debug` functions run
    in this one. Without `details` reports show no prompts. `model` applies to recordings that name
    none. `against` is a score file. Raises SpecError for two strategies with one name, BenchError
    without recordings or strategies.
    """
    plan = Scenario(
        title=title, gates=tuple(map(dict, gates)), model=model, portfolio=strategies is None
    )
    scores = None if against is None else read_scores(Path(against), title)
    PRINTED.clear()  # each comparison of a long session shows what its code prints
    with shared_workers(jobs) as workers:
        options = RunOptions(workers, progress, cache, debug, details)
        each, source = traces_given(traces, base)
        here = (base or Path()).resolve()
        place = Place(here, hidden=hidden_from_code(source.paths, here))
        given = strategies_given(PORTFOLIO if strategies is None else strategies, place, options)
        if not given:
            raise BenchError(
                "no strategies to compare — name at least one, keep_all for the references alone"
            )
        return compare_runs(plan, given, each, source, options, Base(scores, str(against or "")))


def render(comparisons: Compared | Sequence[Compared], path: Path | str) -> Path:
    """Write the report of comparisons; returns the path, whose ending decides the format."""
    from ..reports import format_of, pieces

    target = Path(path)
    several = [comparisons] if isinstance(comparisons, Compared) else list(comparisons)
    parts = pieces(several, format_of(target))
    write_together({target: (part.encode("utf-8", "replace") for part in parts)})
    return target


def run_scenario(
    scenario: Scenario | Path | str,
    progress: Progress | None = None,
    *,
    against: str | None = None,
    accepting: bool = False,
    require_baseline: bool = False,
    jobs: int | Workers = 1,
    cache: Cache | None = None,
    details: bool = True,
) -> Compared:
    """The comparison of a scenario, from its recordings to its gates.

    `against` names a git revision, whose scenario with its own files is replayed too and is the
    baseline; or a file that `bench run -o x.json` wrote. With `accepting` the baseline is about to
    be replaced, so an unreadable one is ignored. With `require_baseline` gates that need a baseline
    fail without one, and so do replaced and missing parts; the cache is not read, since the judged
    code may have written it. Other settings are those of `compare`.
    """
    plan = scenario if isinstance(scenario, Scenario) else read_scenario(Path(scenario))
    with shared_workers(jobs) as workers:
        options = RunOptions(workers, progress, cache, details=details)
        empty = Base(required=require_baseline, accepting=accepting)
        (result,) = run_scenarios([plan], options, empty, against)
    return result


def run_scenarios(
    plans: Sequence[Scenario], options: RunOptions, empty: Base, against: str | None = None
) -> list[Compared]:
    """The comparison of each scenario, as of `run_scenario`; `empty` has the settings of baselines.

    All baselines are read, and the revision is replayed, before code of any scenario runs, which
    could change them.
    """
    if empty.required:
        options = dataclasses.replace(options, cache=None)
    bases = []
    for plan in plans:
        with named_in_errors(str(plan.path or "")):
            bases.append(_base(plan, against, options, empty))
    results = []
    for plan, base in zip(plans, bases, strict=True):
        with named_in_errors(str(plan.path or "")):
            results.append(_judged(plan, options, base))
    return results


def _judged(plan: Scenario, options: RunOptions, base: Base) -> Compared:
    """The comparison of a scenario with its base, and a result on each part that is missing."""
    place = Place(plan.base.resolve(), hidden=hidden_from_code(plan.traces, plan.base))
    given = strategies_given(plan.strategies, place, options)
    result = _ran(plan, given, options, base)
    unused = no_longer_imported(base.imported, given, plan.base)
    outcome: Literal["fail", "skipped"] = "fail" if base.required else "skipped"
    more = [
        GateResult(rule=JUDGE, strategy="", outcome=outcome, reason=clause)
        for clause in base.missing
    ]
    return msgspec.structs.replace(
        result,
        gates=(*result.gates, *more),
        notes=(*result.notes, *filter(None, [base.note, unused])),
    )


def _base(plan: Scenario, against: str | None, options: RunOptions, empty: Base) -> Base:
    """The values to compare with: those of the baseline, of a file, or of a replayed revision."""
    if against is None:
        scores = _baseline_of(plan, empty.accepting)
        name = plan.baseline_path.as_posix() if scores and plan.baseline_path else ""
        missing = [*orphaned(plan)] if empty.required else []
        return empty._replace(scores=scores, name=name, missing=missing)
    if against.endswith(".json") and Path(against).is_file():
        return empty._replace(scores=read_scores(Path(against), plan.title), name=against)
    try:
        with scenario_at(plan, against, options) as then:
            quietly = dataclasses.replace(options, details=False)
            result = _ran(then.plan, then.given, quietly, Base(), then.new_files)
    except NewScenarioError as new:
        base = _base(plan, None, options, empty)
        note = f"{new}, so it is judged with its own baseline"
        return base._replace(missing=[*base.missing, *new.missing], note=note)
    scores = score_file_of(result, metric_infos())
    name = f"{against} ({then.sha[:9]})"
    parts = empty._replace(missing=then.missing, imported=then.imported)
    return parts._replace(scores=scores, name=name)


def _ran(
    plan: Scenario,
    given: Sequence[Strategy],
    options: RunOptions,
    base: Base,
    left_out: Container[Path] = (),
) -> Compared:
    """The comparison of a scenario with loaded strategies.

    The recordings in `left_out` are not replayed.
    """
    source = source_of(plan)
    traces = (trace for trace in source if source.file not in left_out)
    return compare_runs(plan, given, with_probes(plan, traces), source, options, base)


def _baseline_of(plan: Scenario, accepting: bool) -> ScoreFile | None:
    """The baseline of a scenario; None without one, and for an unreadable one that is to be
    replaced."""
    if plan.baseline_path is None:
        return None
    try:
        return read_scores(plan.baseline_path, plan.title)
    except ResultsError:
        if accepting:
            return None
        raise
