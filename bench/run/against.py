"""A scenario at a git revision: its file, code and gates at that time, and the parts that are
missing now."""

from __future__ import annotations

import contextlib
import hashlib
import re
import tempfile
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ..files.git import resolve, top_of, unpack
from ..files.limits import read_regular
from ..model.errors import BenchError, ScenarioError, TraceError, one_line
from ..strategies import Strategy
from ..strategies.user_code.sandboxed import Place, stop
from ..traces.paths import given_files
from .comparing import hidden_from_code, strategies_given
from .measured_runs import RunOptions
from .scenario import Scenario, is_scenario, read_scenario

_BASELINE = ".baseline.json"


class NewScenarioError(ScenarioError):
    """The revision does not have the scenario; `missing` as in ScenarioAtRevision."""

    missing: tuple[str, ...] = ()


_POINTER = re.compile(
    rb"version https://git-lfs[^\n]{,100}\n(?:[^\n]{,100}\n){,9}?oid sha256:([0-9a-f]{64})\n"
)
_OF_NOW = ("traces", "base", "path", "title")


@dataclass(frozen=True)
class ScenarioAtRevision:
    """A scenario as it was at a revision: its earlier settings, strategies and gates, on those
    recordings of now that existed.

    `missing` is a clause on each part that the scenario no longer has, `new_files` are the
    recordings added since, `imported` the files of the repository that its code imports.
    """

    sha: str
    plan: Scenario
    given: Sequence[Strategy]
    missing: tuple[str, ...]
    new_files: frozenset[Path]
    imported: frozenset[str]


@contextlib.contextmanager
def scenario_at(plan: Scenario, revision: str, options: RunOptions) -> Iterator[ScenarioAtRevision]:
    """A context with a scenario as it was at a revision, ready to run.

    Raises BenchError for a revision that this clone does not have, NewScenarioError for one without
    the scenario.
    """
    if revision.endswith(".json"):
        raise BenchError(
            f"{revision}: no such file — write it with `bench run -o {revision}`, or name a revision"
        )
    if plan.path is None:
        raise BenchError("--against a revision needs a scenario file — name one, or a score file")
    top = (top_of(plan.base) or plan.base).resolve()
    sha = resolve(top, revision)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        files = Path(folder).resolve() / "files"
        unpack(sha, top, files, files.with_name("index"))
        inside = plan.path.resolve().relative_to(top)
        earlier = _earlier(files, top, inside)
        absent = [
            f"scenario {name} is gone or another one"
            for name in _missing_scenarios(files, top, inside, everywhere=earlier is None)
        ]
        if earlier is None:
            error = NewScenarioError(f"{inside} is not in {revision}")
            error.missing = tuple(absent)
            raise error
        then = read_scenario(earlier)
        moved = msgspec.structs.replace(then, **{name: getattr(plan, name) for name in _OF_NOW})
        place = Place(then.base, top, files, hidden_from_code(moved.traces, moved.base))
        given = strategies_given(moved.strategies, place, options, tolerant=True)
        try:
            broken = (item for item in given if item.broken)
            missing = [f"{item.name} at {sha[:9]}: {item.broken}" for item in broken]
            missing += _stale(given, top, files)
            missing += [f"{part} is gone or another one" for part in _removed(then, plan)] + absent
            yield ScenarioAtRevision(
                sha,
                moved,
                given,
                tuple(missing),
                _new_recordings(then, plan),
                frozenset(_imported_files(given, files)),
            )
        finally:
            stop(given)


def _stale(strategies: Sequence[Strategy], top: Path, files: Path) -> Iterator[str]:
    """Yield a clause on each file that is imported as it is now instead of from the `files` of a
    revision.

    An editable install with its own import finder can cause that.
    """
    for name in sorted(_imported_files(strategies, top)):
        if not (top / name).is_relative_to(files):
            yield f"{name} is imported as it is now"


def no_longer_imported(imported: Set[str], now: Sequence[Strategy], base: Path) -> str:
    """A line on the files that were `imported` and that the strategies of now do not import; `""`
    without any."""
    top = (top_of(base) or base).resolve()
    unused = sorted(imported - _imported_files(now, top)) if imported else ()
    return f"no longer imported: {', '.join(unused)}" if unused else ""


def _imported_files(strategies: Sequence[Strategy], top: Path) -> set[str]:
    """The files that strategies import and that are not empty, relative to the top of their
    repository."""
    sandboxes = (item.sandbox for item in strategies if item.sandbox is not None)
    files = {Path(file) for sandbox in sandboxes for file in sandbox.imported}
    inside = {file for file in files if file.is_relative_to(top) and file.stat().st_size}
    return {file.relative_to(top).as_posix() for file in inside}


# ---------------------------------------------------------------- what is gone or other


def orphaned(plan: Scenario) -> Iterator[str]:
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
            yield file.name


def _removed(then: Scenario, now: Scenario) -> Iterator[str]:
    """Yield a clause on each part of a scenario that is gone or replaced now."""
    if then.model != now.model:
        yield f"model = {then.model!r}"
    asked = [probe.question for probe in then.probes if probe not in now.probes]
    yield from (f"the question {one_line(question)[:60]!r}" for question in asked)
    recordings = _recordings(now)
    for sha256, (file, reader) in _recordings(then).items():
        if sha256 not in recordings or recordings[sha256][1] != reader:
            yield f"recording {file.name}"
    before, baseline = then.baseline_path, now.baseline_path
    if before and before.exists() and not (baseline and baseline.is_file()):
        yield before.name


def _new_recordings(then: Scenario, now: Scenario) -> frozenset[Path]:
    """The recordings that were added since.

    They are left out of the earlier run, so that they cannot hide a loss on the others. Empty if
    all recordings are new, since nothing would be left to compare.
    """
    known, files = _recordings(then), _recordings(now)
    new = frozenset(file for sha256, (file, _) in files.items() if sha256 not in known)
    return new if len(new) < len(files) else frozenset()


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
