"""The verbs of the Python interface: compare, run a scenario, render."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ..comparison.baseline import read_scores
from ..files.writing import write_together
from ..model.compared import Compared
from ..model.errors import BenchError, debugging, named_in_errors
from ..plugins.worker import PRINTED
from ..strategies.portfolio import PORTFOLIO
from ..strategies.user_code.sandboxed import Place
from .against import base_of
from .cache import Cache
from .comparing import Base, RunOptions, compare_runs, hidden_from_code, strategies_given
from .executors import PROCESSES, Workers
from .scenario import Scenario, Traces, read_scenario, source_of, traces_given

Strategies = str | Callable[..., Any] | Iterable[Any] | Mapping[str, Any]
"""Strategies as people pass them: one, several, or names with these or with slots."""


def compare(
    traces: Traces,
    strategies: Strategies | None = None,
    *,
    title: str = "",
    gates: Sequence[Mapping[str, Any]] = (),
    jobs: int = 1,
    engine: str = PROCESSES,
    base: Path | None = None,
    model: str | None = None,
    cache: Cache | None = None,
    against: Path | str | None = None,
    debug: bool = False,
    details: bool = True,
) -> Compared:
    """Replay every recording under every strategy, the references added, and decide.

    `strategies`: a list of spec strings or functions (each a summarizer), or a mapping of name →
    one of these, or of slots → specs or functions; None: the portfolio. `gates` are tables as a
    scenario has them. `jobs` processes measure runs, or workers of the Dask scheduler whose address
    is the `engine`; the result is the same. User code runs in separate processes; with `debug`
    functions run in this one, and tracebacks are printed to standard error. Without `details`
    reports show no prompts. `model` applies to recordings that name none. `against` is a score
    file. Raises SpecError for two strategies with one name, BenchError without recordings or
    strategies.
    """
    plan = Scenario(
        title=title, gates=tuple(map(dict, gates)), model=model, portfolio=strategies is None
    )
    scores = None if against is None else read_scores(Path(against))
    PRINTED.clear()  # each comparison of a long session shows what its code prints
    with debugging(debug), Workers(jobs, engine) as workers:
        options = RunOptions(workers, cache=cache, debug=debug, details=details)
        source = traces_given(traces, base)
        here = (base or Path()).resolve()
        place = Place(here, hidden=hidden_from_code(source.paths, here))
        given = strategies_given(PORTFOLIO if strategies is None else strategies, place, options)
        if not given:
            raise BenchError(
                "no strategies to compare — name at least one, keep_all for the references alone"
            )
        return compare_runs(plan, given, source, options, Base(scores, str(against or "")))


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
    *,
    against: str | None = None,
    accepting: bool = False,
    require_baseline: bool = False,
    jobs: int = 1,
    engine: str = PROCESSES,
    cache: Cache | None = None,
) -> Compared:
    """The comparison of a scenario, from its recordings to its gates.

    `against` names a git revision, whose scenario with its own files is replayed too and is the
    baseline; or a file that `bench run -o x.json` wrote. With `accepting` the baseline is about to
    be replaced, so an unreadable one is ignored. With `require_baseline` gates that need a baseline
    fail without one, and so do replaced and missing parts; the cache is not read, since the judged
    code may have written it. Other settings are those of `compare`.
    """
    plan = scenario if isinstance(scenario, Scenario) else read_scenario(Path(scenario))
    with Workers(jobs, engine) as workers:
        options = RunOptions(workers, None, cache, required=require_baseline, accepting=accepting)
        (result,) = run_scenarios([plan], options, against)
    return result


def run_scenarios(
    plans: Sequence[Scenario], options: RunOptions, against: str | None = None
) -> list[Compared]:
    """The comparison of each scenario, as of `run_scenario`.

    Where several have one title, their files tell them apart. All baselines are read, and the
    revision is replayed, before code of any scenario runs, which could change them.
    """
    if options.required:
        options = dataclasses.replace(options, cache=None)
    titles = Counter(plan.title for plan in plans)
    plans = [
        replace(plan, title=f"{plan.title} ({plan.path})") if titles[plan.title] > 1 else plan
        for plan in plans
    ]
    bases = []
    for plan in plans:
        with named_in_errors(str(plan.path or "")):
            bases.append(base_of(plan, against, options))
    results = []
    for plan, base in zip(plans, bases, strict=True):
        with named_in_errors(str(plan.path or "")):
            place = Place(plan.base.resolve(), hidden=hidden_from_code(plan.traces, plan.base))
            given = strategies_given(plan.strategies, place, options)
            results.append(compare_runs(plan, given, source_of(plan), options, base))
    return results
