"""What a comparison is held against: a baseline, a score file, or the scenario at a git revision."""

from __future__ import annotations

import contextlib
import hashlib
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from ..comparison.baseline import read_scores, score_file_of
from ..files.git import resolve, top_of, unpack
from ..files.limits import read_regular
from ..metrics import metric_infos
from ..model.errors import BenchError, ResultsError, TraceError, one_line
from ..strategies import Strategy
from ..strategies.user_code.sandboxed import Place, stop
from ..traces.paths import given_files
from .comparing import (
    Base,
    RunOptions,
    compare_scenario,
    hidden_from_code,
    imported_files,
    strategies_given,
)
from .scenario import Scenario, is_scenario, read_scenario

_BASELINE = ".baseline.json"
_POINTER = re.compile(
    rb"version https://git-lfs[^\n]{,100}\n(?:[^\n]{,100}\n){,9}?oid sha256:([0-9a-f]{64})\n"
)
_OF_NOW = ("traces", "base", "path", "title")


def base_of(plan: Scenario, against: str | None, options: RunOptions) -> Base:
    """The values to compare a scenario with.

    Without `against` they are those of its baseline, else of a score file, or of a git revision.
    Raises BenchError for one that is neither or that this clone does not have.
    """
    if against is None:
        return _baseline_of(plan, options)
    if not against.endswith(".json"):
        return _base_at(plan, against, options)
    if not Path(against).is_file():
        what = f"{against}: no such file"
        raise BenchError(f"{what} — write it with `bench run -o {against}`, or name a revision")
    return Base(read_scores(Path(against), plan.title), against)


def _baseline_of(plan: Scenario, options: RunOptions) -> Base:
    """The values of a scenario's baseline; an unreadable one that is to be replaced is none."""
    missing = [*_orphaned(plan)] if options.required else []
    scores, path = None, plan.baseline_path
    if path is not None:
        try:
            scores = read_scores(path, plan.title)
        except ResultsError:
            if not options.accepting:
                raise
    name = path.as_posix() if path and scores else ""
    return Base(scores, name, missing)


# ---------------------------------------------------------------- a revision


def _base_at(plan: Scenario, revision: str, options: RunOptions) -> Base:
    """The values of a scenario as it was at a git revision: its settings, strategies and gates,
    replayed on those recordings of now that existed. A scenario that is new keeps its baseline.
    """
    if plan.path is None:
        raise BenchError("--against a revision needs a scenario file — name one, or a score file")
    top = (top_of(plan.base) or plan.base).resolve()
    sha = resolve(top, revision)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        files = Path(folder).resolve() / "files"
        unpack(sha, top, files)
        inside = plan.path.resolve().relative_to(top)
        earlier = _earlier(files, top, inside)
        gone = [*_missing_scenarios(files, top, inside, everywhere=earlier is None)]
        if earlier is None:
            own = _baseline_of(plan, options)
            note = f"{inside} is not in {revision}, so it is judged with its own baseline"
            return own._replace(missing=[*own.missing, *map(_is_gone, gone)], note=note)
        then = read_scenario(earlier)
        moved = msgspec.structs.replace(then, **{name: getattr(plan, name) for name in _OF_NOW})
        place = Place(then.base, top, files, hidden_from_code(moved.traces, moved.base))
        given = strategies_given(moved.strategies, place, options, tolerant=True)
        try:
            replaced, new = _changed_recordings(then, plan)
            missing = [*_load_problems(given, sha, top, files)]
            missing += map(_is_gone, [*_removed(then, plan), *replaced, *gone])
            quiet = replace(options, details=False, required=False, accepting=False)
            result = compare_scenario(moved, given, quiet, Base(), left_out=new)
            imported = imported_files(given, files)
        finally:
            stop(given)
    scores, name = score_file_of(result, metric_infos()), f"{revision} ({sha[:9]})"
    return Base(scores, name, missing, imported=imported)


def _is_gone(part: str) -> str:
    return f"{part} is gone or another one"


def _load_problems(
    strategies: Sequence[Strategy], sha: str, top: Path, files: Path
) -> Iterator[str]:
    """Yield a clause on each strategy that cannot be loaded from the `files` of a revision, and on
    each file that is imported as it is now, as an editable install may cause."""
    for item in strategies:
        if item.broken:
            yield f"{item.name} at {sha[:9]}: {item.broken}"
    for name in sorted(imported_files(strategies, top)):
        if not (top / name).is_relative_to(files):
            yield f"{name} is imported as it is now"


# ---------------------------------------------------------------- what is gone or other


def _orphaned(plan: Scenario) -> Iterator[str]:
    """Yield a clause on each baseline in a scenario's folder, or in one above in its repository,
    whose own scenario file is gone."""
    base = plan.base.resolve()
    for folder in _upwards(base, top_of(base) or base) if plan.path else ():
        for file in sorted(folder.glob(f"*{_BASELINE}")):
            if not file.with_name(f"{file.name.removesuffix(_BASELINE)}.toml").is_file():
                yield f"{file.name} is a baseline whose scenario is gone"


def _upwards(folder: Path, top: Path) -> list[Path]:
    """A folder and those above it, up to the top."""
    return [one for one in (folder, *folder.parents) if one.is_relative_to(top.resolve())]


def _earlier(files: Path, top: Path, inside: Path) -> Path | None:
    """The file that a scenario `inside` a repository has in the `files` of a revision: the one of
    its name, else the same text under a name that is gone now; None for a new scenario."""
    if (files / inside).is_file():
        return files / inside
    others = (
        file for file in sorted(files.rglob("*.toml")) if _sha256(file) == _sha256(top / inside)
    )
    moved = (file for file in others if not (top / file.relative_to(files)).is_file())
    return min(moved, key=lambda file: file.parent != files / inside.parent, default=None)


def _missing_scenarios(files: Path, top: Path, inside: Path, *, everywhere: bool) -> Iterator[str]:
    """Yield the scenarios that a revision has in `files` and that are gone now: those beside a
    scenario or in a folder above, or `everywhere`, where a new scenario may have come from."""
    folders = [files] if everywhere else _upwards((files / inside).parent, files)
    there = (file for it in folders for file in it.glob("**/*.toml" if everywhere else "*.toml"))
    for file in sorted(there):
        now = top / file.relative_to(files)
        beside = (
            it for folder in {now.parent, (top / inside).parent} for it in folder.glob("*.toml")
        )
        is_here = now.is_file() or _sha256(file) in map(_sha256, beside)
        if is_scenario(file) and not is_here:
            yield f"scenario {file.name}"


def _removed(then: Scenario, now: Scenario) -> Iterator[str]:
    """Yield each part of a scenario, but recordings, that is gone or replaced now."""
    if then.model != now.model:
        yield f"model = {then.model!r}"
    asked = [probe.question for probe in then.probes if probe not in now.probes]
    yield from (f"the question {one_line(question)[:60]!r}" for question in asked)
    before, baseline = then.baseline_path, now.baseline_path
    if before and before.exists() and not (baseline and baseline.is_file()):
        yield before.name


def _changed_recordings(then: Scenario, now: Scenario) -> tuple[list[str], frozenset[Path]]:
    """The recordings that are gone, or that another reader reads now; and the files of new ones.

    New ones are left out of the earlier run, so that they cannot hide a loss on the others; none
    is new if all are, since nothing would be left to compare.
    """
    before, after = _recordings(then), _recordings(now)
    new = frozenset(file for sha256, (file, _) in after.items() if sha256 not in before)
    replaced = [
        f"recording {file.name}"
        for sha256, (file, reader) in before.items()
        if sha256 not in after or after[sha256][1] != reader
    ]
    return replaced, new if len(new) < len(after) else frozenset()


def _recordings(plan: Scenario) -> dict[str | None, tuple[Path, tuple[str | None, ...]]]:
    """The files of a scenario's recordings by their hash, each with its reader: the named format,
    and the hash of its file. Without those that cannot be read."""
    files: dict[str | None, tuple[Path, tuple[str | None, ...]]] = {}
    for text in plan.traces:
        with contextlib.suppress(TraceError):
            given = given_files(text, plan.base)
            code, _, _ = (given.format or "").rpartition(":")
            reader = given.format, _sha256(plan.base / code)
            for file in given.files:  # of two that read a file the first one does
                files.setdefault(_sha256(file.path), (file.path, reader))
    return files


def _sha256(file: Path) -> str | None:
    """The sha256 of a file, or the one in its git LFS pointer; None if it cannot be read."""
    try:
        data = read_regular(file)
    except (OSError, ValueError):
        return None
    pointer = _POINTER.match(data)
    return pointer[1].decode() if pointer else hashlib.sha256(data).hexdigest()
