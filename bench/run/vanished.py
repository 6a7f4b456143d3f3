"""Parts of a scenario that a pull request took away or exchanged, which no gate of its own can see."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from ..files.limits import read_regular
from ..model.errors import TraceError, one_line
from ..traces.paths import given_files
from .scenario import Scenario, meant_as_scenario

_BASELINE = ".baseline.json"
_POINTER = re.compile(rb"version https://git-lfs[^\n]{,100}\n(?:[^\n]{,100}\n){,9}?oid sha256:([0-9a-f]{64})\n")
_SETTINGS = ("model", "calibrate", "cache")


def orphaned(plan: Scenario) -> Iterator[str]:
    """A clause on each baseline beside a scenario whose own scenario file is gone."""
    for file in sorted(plan.base.glob(f"*{_BASELINE}")) if plan.path else ():
        if not file.with_name(f"{file.name.removesuffix(_BASELINE)}.toml").exists():
            yield f"{file.name} is a baseline whose scenario is gone"


def vanished(plan: Scenario, then: Scenario) -> Iterator[str]:
    """A clause on each file, recording, question, label and setting that the scenario had and has no longer.

    `then` is the scenario as it was at a revision, with its files. A scenario or recording under
    another name has not vanished.
    """
    if then.baseline_path and then.baseline_path.exists() and not (plan.baseline_path or Path()).exists():
        yield f"{then.baseline_path.name} is gone"
    here = {_sha256(file) for file in plan.base.glob("*.toml")}
    for file in sorted(then.base.glob("*.toml")):
        exists = (plan.base / file.name).exists()
        if not exists and meant_as_scenario(file) and _sha256(file) not in here:
            yield f"scenario {file.name} is gone"
    now = {_sha256(file) for file in _recordings(plan)}
    for file in _recordings(then):
        if _sha256(file) not in now:
            yield f"recording {file.name} is gone or another one"
    for probe in then.probes:
        if probe not in plan.probes:
            yield f"the question {one_line(probe.question)[:60]!r} is gone or another one"
    for run, labels in then.labels.items():
        if any(plan.labels.get(run, {}).get(name) != value for name, value in labels.items()):
            yield f"the labels of {run} are gone or others"
    for key in _SETTINGS:
        if getattr(then, key) != getattr(plan, key):
            yield f"{key} was {getattr(then, key)!r} and is {getattr(plan, key)!r}"


def _recordings(plan: Scenario) -> Iterator[Path]:
    for text in plan.traces:
        try:
            files = given_files(text, plan.base).files
        except TraceError:
            continue
        yield from (file.path for file in files if isinstance(file.path, Path))


def _sha256(file: Path) -> str | None:
    """The sha256 of a file, or of the file that a pointer of git LFS stands for; None for no file."""
    try:
        data = read_regular(file)
    except (OSError, ValueError):
        return None
    pointer = _POINTER.match(data)
    return pointer[1].decode() if pointer else hashlib.sha256(data).hexdigest()
