"""A scenario held against a git revision: its file, code and gates there, and what is gone."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ..files.git import resolve, top_of, unpack
from ..files.limits import read_regular
from ..model.errors import BenchError, ScenarioError, TraceError, one_line
from ..strategies import Strategy
from ..strategies.declaring import declaration
from ..strategies.sandboxed import Place, stop
from ..traces.paths import given_files
from .comparing import Declared, declared
from .measured_runs import Running
from .scenario import Scenario, is_scenario, read_scenario

_BASELINE = ".baseline.json"
_POINTER = re.compile(
    rb"version https://git-lfs[^\n]{,100}\n(?:[^\n]{,100}\n){,9}?oid sha256:([0-9a-f]{64})\n"
)
_OF_NOW = ("traces", "base", "path", "title")


@dataclass(frozen=True)
class Earlier:
    """A scenario as it was at a revision: its settings, strategies and gates of then, on the
    recordings of now that were there.

    `missing` is a clause on each part that the scenario no longer has, `added` names what it had
    not yet, `new_files` are its recordings that were not there, `imported` are the files of the
    repository at `top` that its code imports.
    """

    sha: str
    plan: Scenario
    given: Declared
    missing: tuple[str, ...]
    added: tuple[str, ...]
    new_files: frozenset[Path]
    imported: frozenset[str]
    top: Path

    def notes(self, now: Sequence[Strategy]) -> Iterator[str]:
        """A line on what is new, and one on the files that are no longer imported."""
        unused = sorted(self.imported - _imported(now, self.top))
        for what, names in (("new", self.added), ("no longer imported", unused)):
            if names:
                yield f"{what}: {', '.join(names)}"


def strategies_of(
    plan: Scenario, running: Running, place: Place, *, tolerant: bool = False
) -> Declared:
    """The strategies of a scenario; `tolerant`: one that cannot be put together is broken."""
    written = [declaration(slots or name, name) for name, slots in plan.strategies.items()]
    return declared(written, place, running, tolerant=tolerant)


@contextlib.contextmanager
def earlier(plan: Scenario, revision: str, running: Running) -> Iterator[Earlier]:
    """Inside the block a scenario can be run as it was at a revision.

    Raises BenchError for a revision that this clone does not have, ScenarioError for one without
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
        then = _scenario_in(files, plan.path.resolve().relative_to(top), revision)
        moved = msgspec.structs.replace(then, **{name: getattr(plan, name) for name in _OF_NOW})
        given = strategies_of(moved, running, Place(then.base, top, files), tolerant=True)
        try:
            before, now = parts_of(then, plan), parts_of(plan, plan)
            missing = [*_broken(given.strategies, sha), *_stale(given.strategies, top, files)]
            missing += [f"{before[key]} is gone or another one" for key in before if key not in now]
            new = [key for key in now if key not in before and key[0] == "recording"]
            yield Earlier(
                sha,
                moved,
                given,
                tuple(missing),
                tuple(now[key] for key in new),
                new_recordings(plan, then),
                frozenset(_imported(given.strategies, files)),
                top,
            )
        finally:
            stop(given.strategies)


def _broken(strategies: Sequence[Strategy], sha: str) -> Iterator[str]:
    """A clause on each strategy that cannot be put together at a revision."""
    yield from (f"{item.name} at {sha[:9]}: {item.broken}" for item in strategies if item.broken)


def _stale(strategies: Sequence[Strategy], top: Path, files: Path) -> Iterator[str]:
    """A clause on each file that is not imported from the `files` of a revision, but as it is now.

    A finder of an editable install has its own paths, and looks into no folder.
    """
    for name in sorted(_imported(strategies, top)):
        if not (top / name).is_relative_to(files):
            yield f"{name} is imported as it is now"


def _scenario_in(files: Path, inside: Path, revision: str) -> Scenario:
    """The scenario among the files of a revision. Raises ScenarioError where it is not there."""
    if not (files / inside).is_file():
        hint = "name a revision that has it, or a score file"
        raise ScenarioError(f"{inside} is not in {revision} — {hint}")
    return read_scenario(files / inside)


def _imported(strategies: Sequence[Strategy], top: Path) -> set[str]:
    """The files with any code that strategies import, relative to the top of their repository."""
    files = {Path(file) for item in strategies for file in item.imported}
    inside = {file for file in files if file.is_relative_to(top) and file.stat().st_size}
    return {file.relative_to(top).as_posix() for file in inside}


# ---------------------------------------------------------------- what is gone or other


def orphaned(plan: Scenario) -> Iterator[str]:
    """A clause on each baseline beside a scenario whose own scenario file is gone."""
    for file in sorted(plan.base.glob(f"*{_BASELINE}")) if plan.path else ():
        if not file.with_name(f"{file.name.removesuffix(_BASELINE)}.toml").exists():
            yield f"{file.name} is a baseline whose scenario is gone"


def parts_of(plan: Scenario, now: Scenario) -> dict[tuple[object, ...], str]:
    """A clause on each part of a scenario: settings, questions, recordings, files beside it.

    A part that is another one has another key. The name of a file is no part of the key where its
    bytes say which it is, so that it may be called otherwise `now`.
    """
    parts: dict[tuple[object, ...], str] = {
        ("setting", "model", plan.model): f"model = {plan.model!r}"
    }
    for probe in plan.probes:
        parts["question", repr(probe)] = f"the question {one_line(probe.question)[:60]!r}"
    for file in _recordings(plan):
        parts["recording", _sha256(file)] = f"recording {file.name}"
    for file in sorted(plan.base.glob("*.toml")):
        if is_scenario(file):
            is_here = (now.base / file.name).exists()
            if is_here:
                parts["scenario", file.name] = f"scenario {file.name}"
            if plan is now or not is_here:
                parts["scenario", _sha256(file)] = f"scenario {file.name}"
    if plan.baseline_path and plan.baseline_path.exists():
        parts["baseline",] = plan.baseline_path.name
    return parts


def new_recordings(plan: Scenario, then: Scenario) -> frozenset[Path]:
    """The recordings that were not there, neither their bytes nor a file of that path.

    They have no value before, so what they would add to a mean on both sides hides no loss on the
    others. Empty where no recording was there, as nothing would be left to compare.
    """
    hashes = {_sha256(file) for file in _recordings(then)}
    paths = {os.path.relpath(file, then.base) for file in _recordings(then)}
    new = {
        file: _sha256(file) not in hashes and os.path.relpath(file, plan.base) not in paths
        for file in _recordings(plan)
    }
    return frozenset() if all(new.values()) else frozenset(file for file in new if new[file])


def _recordings(plan: Scenario) -> Iterator[Path]:
    """Yield the files of a scenario's recordings; none for a path that cannot be read."""
    for text in plan.traces:
        with contextlib.suppress(TraceError):
            yield from (
                file.path
                for file in given_files(text, plan.base).files
                if isinstance(file.path, Path)
            )


def _sha256(file: Path) -> str | None:
    """The sha256 of a file, or of the file that a pointer of git LFS stands for; None for no file."""
    try:
        data = read_regular(file)
    except (OSError, ValueError):
        return None
    pointer = _POINTER.match(data)
    return pointer[1].decode() if pointer else hashlib.sha256(data).hexdigest()
