"""A scenario's judge as it was: its gates and questions, and the scenarios, baselines and recordings that are no longer what they were."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec

from ..comparison.judging import loosened, parse_rule, rules_on
from ..files.limits import read_regular
from ..model import GateRule, Source
from ..model.errors import BenchError, ScenarioError, TraceError, one_line
from ..plugins.spec import format_value, targets
from ..strategies.earlier import Earlier, as_written
from ..traces import TraceSource
from ..traces.paths import BY_PATH, given_files
from .scenario import Scenario, meant_as_scenario, table_at

_BASELINE = ".baseline.json"
_BESIDE = (".md", ".py", ".toml", ".txt")
"""Endings of what lies beside recordings, and is one only where a reader knows it."""
_SETTINGS = {"model": None, "calibrate": True, "cache": "provider"}
"""The keys of a scenario that change every number, with what they are where nothing is written."""
_NO_SOURCE = Source(format="", sha256="")
_POINTER = re.compile(rb"version https://git-lfs[^\n]{,100}\n(?:[^\n]{,100}\n){,9}?oid sha256:([0-9a-f]{64})\n")


@dataclass(frozen=True)
class JudgeThen:
    """A scenario's judge at a revision: its gates for the strategies of now, a clause on each thing that was loosened or is gone since, and the
    sha256 of every recording that it had; None where there was no such scenario.
    """

    rules: tuple[GateRule, ...] = ()
    gone: tuple[str, ...] = ()
    recordings: frozenset[str | None] | None = None


def orphaned(plan: Scenario) -> Iterator[str]:
    """A clause on each baseline beside a scenario's file whose own scenario is gone."""
    for file in sorted(plan.base.glob(f"*{_BASELINE}")) if plan.path is not None else ():
        if not file.with_name(f"{file.name.removesuffix(_BASELINE)}.toml").exists():
            yield f"{file.name} is a baseline whose scenario is gone"


def judge_at(plan: Scenario, then: Earlier, rules: Sequence[GateRule], made: Mapping[str, Sequence[str]]) -> JudgeThen:
    """The judge that a scenario had at a revision. `made` are the strategies that each declared name stands for now."""
    if plan.path is None:
        return JudgeThen()
    try:
        table = table_at(then.base / plan.path.name, f"{plan.path} at {then.sha[:9]}")
        now = table_at(plan.path, str(plan.path)) or {}
    except ScenarioError as error:
        return JudgeThen(gone=(str(error),))
    gone = [*_files_gone(plan, then)]
    if table is None:
        return JudgeThen(gone=tuple(gone))
    traces = [text for text in table.get("traces", ()) if isinstance(text, str)]
    gone += [f"traces {pattern!r} are no longer named" for pattern in sorted({*traces} - {*plan.traces})]
    recordings, others = _recordings(plan, then, traces)
    gone += [*others, *_read_otherwise(plan, then, traces)]
    known: list[GateRule] = []
    for number, gate in enumerate(table.get("gates", ()), 1):
        try:
            known.append(parse_rule(gate, f"gates[{number}]", number))
        except (BenchError, AttributeError) as error:
            gone.append(f"{error}: that gate of then cannot be judged now")
    gone += [*exchanged(_declared(table), _declared(now), known, made), *_asked_otherwise(table, now)]
    there = rules_on(known, made)
    names = [name for several in made.values() for name in several]
    return JudgeThen(there, (*loosened(rules, there, names), *gone), frozenset(recordings))


def exchanged(
    then: Mapping[str, str], now: Mapping[str, str], rules: Iterable[GateRule], made: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """A clause on each judged strategy, by its name as it was written, that is gone, or that runs other code than it did: settings may change."""
    patterns = [rule.strategy for rule in rules]
    for name, before in sorted(then.items()):
        called = [name, *made.get(name, ())]
        if not any(fnmatchcase(one, text) or fnmatchcase(one, f"{text}-*") for one in called for text in patterns):
            continue
        if name not in now:
            yield f"strategy {name}, which was judged, is gone"
        elif not targets(before) <= targets(now[name]):
            yield f"strategy {name}, which was judged, was {before} and is {now[name] or 'as recorded'}"


def _declared(table: Mapping[str, Any]) -> dict[str, str]:
    """A scenario's strategies as they are written, by name, at each of their settings."""
    try:
        return {
            name: "+".join(
                f"{slot}={format_value(tuple(given)) if isinstance(given, list) else given}"
                for slot, given in slots.items()
            )
            for name, slots in as_written(table.get("strategies", {}))
        }
    except (BenchError, AttributeError):
        return {}


def _asked_otherwise(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """A clause on each question, label and setting of then that is not one of now."""
    for probe in (probe for probe in then.get("probes", ()) if probe not in now.get("probes", ())):
        yield f"the probe {one_line(probe.get('question', ''))[:60]!r} is gone or asks something else"
    for case, said in then.get("labels", {}).items():
        if any(now.get("labels", {}).get(case, {}).get(name) != value for name, value in said.items()):
            yield f"the labels of {case} are gone or say something else"
    for key, usual in _SETTINGS.items():
        before, here = then.get(key, usual), now.get(key, usual)
        if before != here:
            yield f"{key} was {before!r} and is {here!r}"


def _files_gone(plan: Scenario, then: Earlier) -> Iterator[str]:
    """A clause on the scenario's baseline, and on each scenario of the repository, that is no longer where it was, nor under another name there."""
    top, folder = then.place.top, then.place.then
    if top is None or folder is None or plan.path is None or plan.baseline_path is None:
        return
    if (then.base / plan.baseline_path.name).exists() and not plan.baseline_path.exists():
        yield f"{plan.baseline_path.name} is gone"
    for file in sorted(folder.rglob("*.toml")):
        place = top / file.relative_to(folder)
        if not place.exists() and file.is_file() and meant_as_scenario(file):
            beside = (other for other in place.parent.glob("[!.]*.toml") if not (file.parent / other.name).exists())
            if not any(_sha256(other) == _sha256(file) for other in beside):
                yield f"scenario {Path(os.path.relpath(place, plan.base.resolve())).as_posix()} is gone"


def _recordings(plan: Scenario, then: Earlier, traces: Iterable[str]) -> tuple[set[str | None], list[str]]:
    """The sha256 of every recording that was there, as it was and as it is, and a clause on each that is gone or another one."""
    top, folder = then.place.top, then.place.then
    known: set[str | None] = set()
    gone: list[str] = []
    here: set[str | None] = set()
    for text in traces if top is not None and folder is not None else ():
        for given in _files(text, then.base):
            was = Path(then.place.of_then(given))
            place = Path(os.path.normpath(given))
            now = top / place.relative_to(folder) if place.is_relative_to(folder) else place  # type: ignore[operator,arg-type]
            before, after = _sha256(was), _sha256(now)
            known |= {before, after}
            if before in (None, after) or (was.suffix in _BESIDE and not _is_recording(was, text)):
                continue
            if after is None and before in (
                here := here or {_sha256(Path(file)) for text in plan.traces for file in _files(text, plan.base)}
            ):
                continue
            named = Path(os.path.relpath(now, plan.base.resolve())).as_posix()
            gone.append(f"recording {named} is {'gone' if after is None else 'another one'}")
    return known, list(dict.fromkeys(gone))


def _read_otherwise(plan: Scenario, then: Earlier, traces: Iterable[str]) -> Iterator[str]:
    """A clause on each recording of which the reader that a path names gives another trace than its own files of then do."""
    own = [text for text in traces if BY_PATH.fullmatch(text)]
    try:
        before, after = (
            {trace.id: msgspec.structs.replace(trace, source=_NO_SOURCE) for trace in TraceSource(own, base)}
            for base in (then.base, plan.base)
        )
    except BenchError as error:
        yield f"what a reader gave cannot be told: {error}"
    else:
        yield from (f"recording {case} is read otherwise" for case in sorted(before) if before[case] != after.get(case))


def _files(text: str, base: Path) -> list[str]:
    """The files on this machine that an entry of `traces` stands for; none where it stands for nothing."""
    try:
        return [str(file.path) for file in given_files(text, base).files if isinstance(file.path, Path)]
    except TraceError:
        return []


def _is_recording(file: Path, text: str) -> bool:
    """True if a reader knows a file."""
    try:
        return any(True for _ in TraceSource([str(file)]))
    except BenchError:
        return False


def _sha256(file: Path) -> str | None:
    """The sha256 of a file, or that of the file which a pointer of git stands for; None for no file."""
    try:
        data = read_regular(file)
    except (OSError, ValueError):
        return None
    pointer = _POINTER.match(data)
    return pointer[1].decode() if pointer else hashlib.sha256(data).hexdigest()
