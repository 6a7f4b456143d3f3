"""The earlier values for a comparison: of a baseline, a score file, or an older git revision."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec

from ..comparison.baseline import read_scores, score_file_of
from ..comparison.gates import with_way
from ..files.git import resolve, top_of, unpack
from ..metrics import metric_infos
from ..model.errors import BenchError, ResultsError
from ..strategies.user_code.sandboxed import Place, stop
from ..traces.paths import recorded_files
from .comparing import (
    Base,
    RunOptions,
    compare_runs,
    hidden_from_code,
    imported_files,
    strategies_given,
)
from .scenario import Scenario, is_scenario, read_scenario, source_of

_BASELINE = ".baseline.json"


def base_of(plan: Scenario, against: str | None, options: RunOptions) -> Base:
    """The values to compare a scenario with: those of its baseline, or of the score file or the git
    revision that `against` names.

    Raises BenchError if `against` is neither, and for a revision that this clone does not have.
    """
    if against is None:
        return _baseline_of(plan, options)
    if not against.endswith(".json"):
        return _base_at(plan, against, options)
    if not Path(against).is_file():
        what = f"{against}: no such file"
        raise BenchError(f"{what} — write it with `-o {against}`, or name a revision")
    return Base(read_scores(Path(against), plan.place), against)


def _baseline_of(plan: Scenario, options: RunOptions) -> Base:
    """The values of a scenario's baseline. An unreadable one counts as none if it is to be
    replaced."""
    missing = [*_orphaned(plan)] if options.required else []
    scores, path = None, plan.baseline_path
    if path is not None:
        try:
            scores = read_scores(path)
        except ResultsError:
            if not options.accepting:
                raise
    name = str(path) if path and scores else ""
    return Base(scores, name, missing)


def _orphaned(plan: Scenario) -> Iterator[str]:
    """Yield a sentence about each baseline without its scenario file, in a scenario's folder and
    those above it in the repository."""
    base = plan.base.resolve()
    top = (top_of(base) or base).resolve()
    for folder in (base, *base.parents) if plan.path else ():
        for file in sorted(folder.glob(f"*{_BASELINE}")) if folder.is_relative_to(top) else ():
            stem = file.name.removesuffix(_BASELINE)
            if not file.with_name(f"{stem}.toml").is_file():
                own, lost = map(_here, (file, file.with_name(f"{stem}.toml")))
                way = f"restore {lost}, or delete the baseline too: `git rm {own}`"
                yield with_way(f"the baseline {own} has no scenario any more", way)


def _base_at(plan: Scenario, revision: str, options: RunOptions) -> Base:
    """The values of a scenario as it was at a git revision, with its strategies, gates and (if they
    are in the repository) recordings. A scenario that is new since then keeps its baseline."""
    if plan.path is None:
        raise BenchError("--against a revision needs a scenario file — name one, or a score file")
    top = (top_of(plan.base) or plan.base).resolve()
    sha = resolve(top, revision)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        files = Path(folder).resolve() / "files"
        unpack(sha, top, files)
        missing = [
            with_way(f"scenario {it} is gone", f"restore it: `git checkout {revision} -- {it}`")
            for it in _gone_scenarios(files, top)
        ]
        if not (files / plan.place).is_file():
            baseline = _baseline_of(plan, options)
            note = f"{plan.place} is not in {revision}, so it is judged with its own baseline"
            return baseline._replace(missing=[*baseline.missing, *missing], note=note)
        then = read_scenario(files / plan.place)
        hidden = (
            *hidden_from_code(then.traces, then.base),
            *hidden_from_code(plan.traces, plan.base),
        )
        place = Place(then.base, top, files, hidden)
        strategies = strategies_given(then.strategies, place, options, tolerant=True)
        if not any(recorded_files(then.traces, then.base)):  # they are not in the repository
            then = msgspec.structs.replace(then, traces=plan.traces, base=plan.base)
        try:
            quiet = replace(options, details=False, required=False, accepting=False)
            result = compare_runs(then, strategies, source_of(then), quiet, Base())
            broken = [f"{it.name} at {sha[:9]}: {it.broken}" for it in strategies if it.broken]
            imported, current = imported_files(strategies, files), imported_files(strategies, top)
        finally:
            stop(strategies)
    current -= {name for name in current if (top / name).is_relative_to(files)}
    # An editable install can make the old code import a file of today.
    not_old = [f"{name} is imported as it is now" for name in sorted(current)]
    scores, name = score_file_of(result, metric_infos()), f"{revision} ({sha[:9]})"
    return Base(scores, name, [*broken, *not_old, *missing], imported=imported)


def _gone_scenarios(files: Path, top: Path) -> Iterator[str]:
    """Yield each scenario in the `files` of a revision that is gone from the repository."""
    for file in sorted(files.rglob("*.toml")):
        now = top / file.relative_to(files)
        if is_scenario(file) and not now.is_file():
            yield _here(now)


def _here(file: Path) -> str:
    """A file as a command here would name it."""
    return shlex.quote(os.path.relpath(file))
