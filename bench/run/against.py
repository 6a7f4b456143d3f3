"""A scenario held against a git revision: what its file, its code and its gates there give, and
what is gone since.
"""

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
from ..model.compared import Compared
from ..model.errors import BenchError, ScenarioError, SpecError, TraceError, one_line
from ..strategies import Strategy
from ..strategies.sandboxed import Place, stop
from ..traces.paths import given_files
from .comparing import Declared, declared
from .measured_runs import Running
from .scenario import Scenario, is_scenario, read_scenario

_BASELINE = ".baseline.json"
_POINTER = re.compile(
    rb"version https://git-lfs[^\n]{,100}\n(?:[^\n]{,100}\n){,9}?oid sha256:([0-9a-f]{64})\n"
)
_OF_NOW = ("traces", "base", "path", "title", "labels")
_SETTINGS = ("model", "calibrate", "cache", "max_missed_turns", "min_far_recall")


@dataclass(frozen=True)
class Earlier:
    """A scenario as it was at a revision: its settings, strategies and gates of then, on the
    recordings of now that were there, with the labels of now.

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
        """A line on what is judged now and was not, and one on the files that the strategies of now
        no longer import.
        """
        unused = sorted(self.imported - _imported(now, self.top))
        for what, names in (("new", self.added), ("no longer imported", unused)):
            if names:
                yield f"{what}: {', '.join(names)}"


def strategies_of(plan: Scenario, running: Running, place: Place) -> Declared:
    """The strategies of a scenario. One written as a whole spec, or a reference by its name, has
    its own name.
    """
    items = [(name, slots or name) for name, slots in plan.strategies.items()]
    return declared(
        [(None if isinstance(slots, str) else name, slots) for name, slots in items], place, running
    )


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
        given, broken = _sound(moved, running, Place(then.base, top, files))
        missing = [f"{name} at {sha[:9]}: {why}" for name, why in broken.items()]
        missing += vanished(plan, then)
        try:
            imported = frozenset(_imported(given.strategies, files))
            yield Earlier(
                sha,
                moved,
                given,
                tuple(missing),
                tuple(added(plan, then)),
                new_recordings(plan, then),
                imported,
                top,
            )
        finally:
            stop(given.strategies)


def _scenario_in(files: Path, inside: Path, revision: str) -> Scenario:
    """The scenario among the files of a revision. Raises ScenarioError where it is not there."""
    if not (files / inside).is_file():
        hint = "name a revision that has it, or a score file"
        raise ScenarioError(f"{inside} is not in {revision} — {hint}")
    return read_scenario(files / inside)


def _sound(plan: Scenario, running: Running, place: Place) -> tuple[Declared, dict[str, str]]:
    """The strategies of a scenario that can be put together, and why the others cannot, by name."""
    try:
        return strategies_of(plan, running, place), {}
    except SpecError:  # one by one, to learn which
        pass
    broken: dict[str, str] = {}
    names: dict[str, tuple[str, ...]] = {name: (name,) for name in plan.strategies}
    strategies: list[Strategy] = []
    for name, slots in plan.strategies.items():
        alone = msgspec.structs.replace(plan, strategies={name: slots})
        try:
            given = strategies_of(alone, running, place)
        except SpecError as error:
            broken[name] = str(error)
        else:
            strategies += given.strategies
            names |= given.names
    return Declared(tuple(strategies), names), broken


def _imported(strategies: Sequence[Strategy], top: Path) -> set[str]:
    """The files that strategies import, relative to the top of their repository.

    The `__init__.py` of a package is left out where another file of it is imported.
    """
    files = {
        Path(file)
        for item in strategies
        for file in item.imported
        if Path(file).is_relative_to(top)
    }
    folders = {file.parent for file in files if file.name != "__init__.py"}
    return {
        file.relative_to(top).as_posix()
        for file in files
        if file.name != "__init__.py"
        or not any(folder.is_relative_to(file.parent) for folder in folders)
    }


# ---------------------------------------------------------------- what is gone or other


def changed_specs(compared: Compared) -> Iterator[str]:
    """A line on each strategy that has another spec than in the baseline: gates hold for that of
    now.
    """
    for name, before in compared.specs_before.items():
        now = compared.specs.get(name, before)
        if now != before:
            yield f"{name} was {before} and is {now}"


def orphaned(plan: Scenario) -> Iterator[str]:
    """A clause on each baseline beside a scenario whose own scenario file is gone."""
    for file in sorted(plan.base.glob(f"*{_BASELINE}")) if plan.path else ():
        if not file.with_name(f"{file.name.removesuffix(_BASELINE)}.toml").exists():
            yield f"{file.name} is a baseline whose scenario is gone"


def vanished(plan: Scenario, then: Scenario) -> Iterator[str]:
    """A clause on each file, recording, question, label and setting that the scenario had.

    `then` is the scenario as it was at a revision, with its files. A scenario or recording under
    another name has not vanished.
    """
    yield from _vanished_files(plan, then)
    for probe in then.probes:
        if probe not in plan.probes:
            yield f"the question {one_line(probe.question)[:60]!r} is gone or another one"
    for run, labels in then.labels.items():
        if any(plan.labels.get(run, {}).get(name) != value for name, value in labels.items()):
            yield f"the labels of {run} are gone or others"
    for key in _SETTINGS:
        if getattr(then, key) != getattr(plan, key):
            yield f"{key} was {getattr(then, key)!r} and is {getattr(plan, key)!r}"


def _vanished_files(plan: Scenario, then: Scenario) -> Iterator[str]:
    """A clause on the baseline, and on each scenario beside it and recording, that is gone."""
    baseline = then.baseline_path
    if baseline and baseline.exists() and not (plan.baseline_path or Path()).exists():
        yield f"{baseline.name} is gone"
    here = {_sha256(file) for file in plan.base.glob("*.toml")}
    for file in sorted(then.base.glob("*.toml")):
        is_here = (plan.base / file.name).exists() or _sha256(file) in here
        if not is_here and is_scenario(file):
            yield f"scenario {file.name} is gone"
    now = {_sha256(file) for file in _recordings(plan)}
    for file in _recordings(then):
        if _sha256(file) not in now:
            yield f"recording {file.name} is gone or another one"


def added(plan: Scenario, then: Scenario) -> Iterator[str]:
    """The recordings and labels that the scenario has and had not: easy ones raise a mean."""
    before = {_sha256(file) for file in _recordings(then)}
    yield from (file.name for file in _recordings(plan) if _sha256(file) not in before)
    for run, labels in plan.labels.items():
        names = labels.keys() - then.labels.get(run, {}).keys()
        yield from (f"{name} of {run}" for name in sorted(names))


def new_recordings(plan: Scenario, then: Scenario) -> frozenset[Path]:
    """The recordings that were not there, neither their bytes nor a file of that path.

    They have no value before, so what they would add to a mean on both sides hides no loss on the
    others. Empty where no recording was there, as nothing would be left to compare.
    """
    before = {_sha256(file) for file in _recordings(then)}
    paths = {os.path.relpath(file, then.base) for file in _recordings(then)}
    here = {*_recordings(plan)}
    new = {
        file
        for file in here
        if _sha256(file) not in before and os.path.relpath(file, plan.base) not in paths
    }
    return frozenset(new if new != here else ())


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
