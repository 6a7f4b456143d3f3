"""The verbs: load, compare, run a scenario, render. A comparison is made by `comparing.py`; here is what people pass."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from ..comparison.baseline import ScoreFile, read_scores, score_file_of
from ..comparison.gates import JUDGE
from ..files.git import outermost_of, resolve, unpack
from ..files.writing import write_together
from ..model import CacheSetting, Trace
from ..model.compared import Compared, GateResult, Skipped
from ..model.errors import BenchError, ResultsError, ScenarioError, SpecError, named_in_errors
from ..plugins.worker import Limits
from ..strategies import Strategy
from ..strategies.portfolio import PORTFOLIO
from ..strategies.sandboxed import Place, stop
from ..traces import Loaded, load as read_traces
from .comparing import Executors, Progress, Question, Running, answered, declared, metric_infos, rules_of
from .kept import Kept
from .scenario import Scenario, Share, checked, questioned, read_scenario, source_of, traces_given
from .vanished import orphaned, vanished

Traces = str | Path | Trace | Loaded | Iterable[str | Path | Trace]
"""Recordings as people pass them: a path or several, one Trace or several, or what `load` gives."""

Strategies = str | Callable[..., Any] | Strategy | Iterable[Any] | Mapping[str, Any]
"""Strategies as people pass them: spec strings, functions or Strategies, or a mapping of names to these or to slots."""


def load(paths: str | Path | Sequence[str | Path], base: Path | None = None, *, limits: Limits | None = None) -> Loaded:
    """The recordings of a path or several (`format:path`, or a path whose format is detected) and what was skipped.

    Raises TraceError for a path that cannot be read.
    """
    several = [paths] if isinstance(paths, str | Path) else paths
    return read_traces([str(path) for path in several], base or Path(), limits=limits)


def compare(
    traces: Traces,
    strategies: Strategies | None = None,
    *,
    title: str = "",
    gates: Sequence[Mapping[str, Any]] = (),
    jobs: int = 1,
    base: Path | None = None,
    progress: Progress | None = None,
    calibrate: bool = True,
    model: str | None = None,
    max_missed_turns: float | None = None,
    min_far_recall: float | None = None,
    cache: str = "provider",
    limits: Limits | None = None,
    executors: Executors | None = None,
    kept: Kept | None = None,
    against: Path | str | None = None,
    debug: bool = False,
) -> Compared:
    """Replay every recording under every strategy, the references added, and decide.

    `strategies`: a list of spec strings, functions (each a summarizer) or Strategies, or a mapping
    of name → one of these, or of slots → specs or functions; None: the portfolio. `gates` are tables
    as a scenario has them. `jobs` processes measure runs; the result is the same. Somebody's own
    code runs in processes of its own, within `limits`; with `debug` functions run in this one.
    `model` is that of recordings which name none. A strategy may leave `max_missed_turns` of the
    turns without something they used, and must keep `min_far_recall` of what was needed from far
    back. `cache` "none" decides by the price without a cache. `against` is a score file.
    Raises SpecError for two strategies of one name, BenchError for no recordings or strategies.
    """
    given = PORTFOLIO if strategies is None else strategies
    running = Running(jobs, limits or Limits(), progress, executors, kept, debug)
    place = Place((base or Path()).resolve())
    strategies_built, names = declared(_items(given, portfolio=strategies is None), place, running)
    if not strategies_built:
        raise BenchError("no strategies to compare — name at least one, keep_all for the references alone")
    source, loaded = traces_given(traces, base, running.limits)
    question = Question(
        title=title,
        strategies=strategies_built,
        rules=rules_of(gates, names, ""),
        model=model,
        calibrate=calibrate,
        max_missed_turns=checked("max_missed_turns", max_missed_turns, Share | None),
        min_far_recall=checked("min_far_recall", min_far_recall, Share | None),
        cache=checked("cache", cache, CacheSetting),
        portfolio=strategies is None,
    )
    scores = None if against is None else read_scores(Path(against), title)
    nothing: Mapping[str, Any] = {}
    runs = ((trace, nothing) for trace in source)
    return answered(
        runs, question, running, lambda: _skipped(loaded), scores, against="" if against is None else str(against)
    )


def render(comparisons: Compared | Sequence[Compared], path: Path | str, form: str | None = None) -> Path:
    """Write the report of one or more comparisons; the file's ending decides the format, unless `form` names one. Gives the path written."""
    from ..reports import format_of, pieces

    target = Path(path)
    several = [comparisons] if isinstance(comparisons, Compared) else list(comparisons)
    text = "".join(pieces(several, format_of(target, form)))
    write_together({target: text.encode("utf-8", "replace")})
    return target


def run_scenario(
    scenario: Scenario | Path | str,
    progress: Progress | None = None,
    *,
    against: str | None = None,
    accepting: bool = False,
    require_baseline: bool = False,
    jobs: int = 1,
    limits: Limits | None = None,
    executors: Executors | None = None,
    kept: Kept | None = None,
) -> Compared:
    """A scenario from recordings to gates.

    `against` names a git revision, whose scenario with its own files is replayed too and is the
    baseline; or a file that `bench run -o x.json` wrote. `accepting` says that the baseline is about
    to be written anew, so that one that cannot be read is taken for none. `require_baseline`: gates
    that compare with one fail where there is none, and so does what was loosened or is gone since.
    """
    plan = scenario if isinstance(scenario, Scenario) else read_scenario(Path(scenario))
    where = str(plan.path or plan.title)
    running = Running(jobs, limits or Limits(), progress, executors, kept)
    with named_in_errors(where if plan.path else ""):
        changes: list[str] = []
        notes: tuple[str, ...] = ()
        given = _declared(plan, running, Place(plan.base.resolve()))
        if against is not None and Path(against).is_file():
            scores, name = read_scores(Path(against), plan.title), against
        elif against is not None:
            sha, scores, changes, unused = _scores_at(plan, against, running, given[0])
            notes = (f"no longer imported: {', '.join(unused)}",) if unused else ()
            name = f"{against} ({sha[:9]})"
        else:
            scores = _baseline_of(plan, accepting)
            name = "" if scores is None or plan.baseline_path is None else plan.baseline_path.name
            changes = [*orphaned(plan)] if require_baseline else []
        result = _ran(plan, where, running, given, scores, name, require_baseline)
    outcome: Literal["fail", "skipped"] = "fail" if require_baseline else "skipped"
    more = [GateResult(rule=JUDGE, strategy="", outcome=outcome, reason=change) for change in changes]
    return msgspec.structs.replace(result, gates=(*result.gates, *more), notes=(*result.notes, *notes))


_Declared = tuple[tuple[Strategy, ...], dict[str, tuple[str, ...]]]


def _declared(plan: Scenario, running: Running, place: Place) -> _Declared:
    """The strategies of a scenario, and the names made of each."""
    return declared(_named([(name, slots or name) for name, slots in plan.strategies.items()]), place, running)


def _ran(
    plan: Scenario,
    where: str,
    running: Running,
    given: _Declared,
    scores: ScoreFile | None,
    against: str,
    required: bool,
) -> Compared:
    strategies, names = given
    question = Question(
        title=plan.title,
        strategies=strategies,
        rules=rules_of(plan.gates, names, where),
        asks=plan.asks,
        model=plan.model,
        calibrate=plan.calibrate,
        max_missed_turns=plan.max_missed_turns,
        min_far_recall=plan.min_far_recall,
        cache=plan.cache,
        portfolio=plan.portfolio,
    )
    source = source_of(plan, running.limits)
    runs = questioned(plan, source, where)
    return answered(runs, question, running, lambda: _skipped(source), scores, against=against, required=required)


def _scores_at(
    plan: Scenario, revision: str, running: Running, now: Sequence[Strategy]
) -> tuple[str, ScoreFile, list[str], list[str]]:
    """The hash of a revision, the scores of a scenario as it was there, what vanished since, and files that `now` imports no longer.

    Its file and its code are those of the revision, its recordings and labels those of now.
    """
    if revision.endswith(".json"):
        raise BenchError(f"{revision}: no such file — write it with `bench run -o {revision}`, or name a revision")
    if plan.path is None:
        raise BenchError("--against a revision needs a scenario file — name one, or a score file")
    top = (outermost_of(plan.base) or plan.base).resolve()
    sha = resolve(top, revision)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        files = Path(folder).resolve() / "files"
        unpack(sha, top, files, Path(folder).resolve() / "index")
        inside = plan.path.resolve().relative_to(top)
        then_path = files / inside
        if not then_path.is_file():
            raise ScenarioError(f"{inside} is not in {revision} — name a revision that has it, or a score file")
        then = read_scenario(then_path)
        same = {name: getattr(plan, name) for name in ("traces", "base", "path", "title", "labels")}
        moved = msgspec.structs.replace(then, **same)
        place = Place(then_path.parent, top, files)
        broken: dict[str, str] = {}
        try:
            given = _declared(moved, running, place)
        except SpecError:
            broken = _broken(moved, running, place)
            sound = {name: slots for name, slots in then.strategies.items() if name not in broken}
            given = _declared(msgspec.structs.replace(moved, strategies=sound), running, place)
        try:
            names = given[1] | {name: (name,) for name in broken}
            where = f"{inside} at {sha[:9]}"
            result = _ran(moved, where, running, (given[0], names), None, "", required=False)
        finally:
            stop(given[0])
        unused = sorted(_imported(given[0], files) - _imported(now, top))
        changes = [f"{name} at {sha[:9]}: {why}" for name, why in broken.items()]
        return sha, score_file_of(result, metric_infos()), [*changes, *vanished(plan, then)], unused


def _broken(plan: Scenario, running: Running, place: Place) -> dict[str, str]:
    """The strategies of a scenario that cannot be put together, each with why."""
    broken = {}
    for name, slots in plan.strategies.items():
        try:
            one = msgspec.structs.replace(plan, strategies={name: slots})
            stop(_declared(one, running, place)[0])
        except SpecError as error:
            broken[name] = str(error)
    return broken


def _imported(strategies: Sequence[Strategy], top: Path) -> set[str]:
    """The files that strategies import, from the top of their repository; packages by their modules."""
    files = {Path(file) for item in strategies for file in item.imported}
    named = {file for file in files if file.is_relative_to(top)}
    modules = {file for file in named if file.name != "__init__.py" or not _inside(file, named)}
    return {file.relative_to(top).as_posix() for file in modules}


def _inside(package: Path, files: set[Path]) -> bool:
    """True if a file other than the package's own lies in its folder."""
    return any(file != package and file.is_relative_to(package.parent) for file in files)


def _baseline_of(plan: Scenario, accepting: bool) -> ScoreFile | None:
    if plan.baseline_path is None:
        return None
    try:
        return read_scores(plan.baseline_path, plan.title)
    except ResultsError:
        if accepting:
            return None
        raise


def _items(given: Any, *, portfolio: bool) -> list[tuple[str | None, Any]]:
    if portfolio:
        return [(None, f"{name}={slots}") for name, slots in given.items()]
    if isinstance(given, Mapping):
        return list(given.items())
    if isinstance(given, str) or not isinstance(given, Iterable):
        return [(None, given)]
    return [(None, item) for item in given]


def _named(items: Sequence[tuple[str, Any]]) -> list[tuple[str | None, Any]]:
    """The strategies of a scenario; one written as a whole spec, or a reference by its name, has its own name."""
    return [(None if isinstance(slots, str) else name, slots) for name, slots in items]


def _skipped(source: Any) -> list[Skipped]:
    damaged = set(source.damaged)
    return [Skipped(path=path, reason=reason, damaged=path in damaged) for path, reason in source.skipped]
