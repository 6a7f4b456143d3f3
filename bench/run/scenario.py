"""One TOML file: which traces, which strategies, what must hold; and the traces that it or somebody names. Paths in it are relative to the file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import msgspec

from ..evidence.probes import LABEL, Questions, problem_of
from ..files.limits import read_regular
from ..model import MAX_DEPTH, MAX_FAULT_RATE, MIN_FAR_RECALL, Case, Economy, Probe, Trace, UserTurn, nested, too_deep
from ..model.errors import BenchError, ScenarioError, SpecError, misfit, nearest, nearest_file, one_line, unpercent
from ..plugins.worker import Limits
from ..traces import Loaded, StoredTrace, TraceSource
from ..traces.paths import require_inside

_KEYS: dict[str, Any] = {
    "title": str, "asks": Any, "traces": tuple[str, ...], "strategies": dict[str, dict[str, Any]], "gates": tuple[dict[str, Any], ...],
    "labels": dict[str, dict[str, Any]], "probes": list[dict[str, Any]], "seed": int, "calibrate": bool,
    "model": str | None, "max_missed_turns": float, "min_far_recall": float, "cache": Any,
}  # fmt: skip
"""The keys of a scenario, with what each holds."""
_TELLING = ("traces", "strategies", "gates", "probes", "calibrate", "max_missed_turns", "min_far_recall")
"""The keys that tell a scenario from the TOML of anything else, which may well have a `title` or a `model`."""
_OLD = {
    "keep": "write max_missed_turns, the share of turns that may miss something (default 0.05)",
    "keep_far": "write min_far_recall, the share of what was needed from far back (default 0.9)",
}
"""Keys of earlier versions, each with what to write now."""
_TELLS = re.compile(rf"^[ \t]*(?:\[\[?[ \t]*)?[\"']?(?:{'|'.join(_TELLING)})[\"']?[ \t]*[=.\]]", re.MULTILINE)


@dataclass(frozen=True)
class Scenario:
    """A comparison to run: `strategies` maps a name to its slots (or to a whole spec string, on the command line), `labels` a case id to
    what is known about it. `gates` are tables as written, `probes` are questions asked of every strategy.
    With `calibrate` tokens are counted as the usage that a trace recorded says; `model` is that of traces which name none.
    A strategy is recommended with at most `max_missed_turns` of turns that miss something, and at least `min_far_recall` of what was needed from
    far back. Prices are those with the provider's prompt `cache`, or with none.
    `asks` is the strategy that the title asks about.

    `base` is the folder that relative paths start from; `path` the file, None for a scenario from the command line. `outside`: its traces may lie
    outside its repository, which a file cannot say of itself. `portfolio`: nobody named a strategy.
    """

    title: str
    traces: tuple[str, ...]
    strategies: dict[str, dict[str, Any] | str] = field(default_factory=dict)
    gates: tuple[dict[str, Any], ...] = ()
    labels: dict[str, dict[str, Any]] = field(default_factory=dict)
    probes: tuple[Probe, ...] = ()
    seed: int = 0
    calibrate: bool = True
    model: str | None = None
    asks: str = ""
    max_missed_turns: float = MAX_FAULT_RATE
    min_far_recall: float = MIN_FAR_RECALL
    cache: Economy = "provider"
    base: Path = Path()
    path: Path | None = None
    outside: bool = False
    portfolio: bool = False

    @property
    def baseline_path(self) -> Path | None:
        """The file of the accepted values, beside the scenario, `<name>.baseline.json`."""
        return None if self.path is None else self.path.with_suffix(".baseline.json")


def read_scenario(path: Path) -> Scenario:
    """A scenario from its file. Raises ScenarioError naming the file, the key and the nearest valid one."""
    try:
        table = _table(str(path), read_regular(path))
    except OSError as error:
        hint = nearest_file(path) or " — give the path of a scenario file"
        raise ScenarioError(f"{path}: {error.strerror or error}{hint}") from None
    for key in table:
        if key in _OLD:
            raise ScenarioError(f"{path}: `{key}` is no longer a key — {_OLD[key]}")
        if key not in _KEYS:
            raise ScenarioError(f"{path}: unknown key {key!r}{nearest(key, _KEYS)}")
    given = {key: _typed(path, key, table[key], wanted) for key, wanted in _KEYS.items() if key in table}
    if not given.get("traces") or not given.get("strategies"):
        missing = "strategies" if given.get("traces") else "traces"
        raise ScenarioError(f"{path}: `{missing}` is missing or empty — nothing to replay")
    asks = given.get("asks", "")
    if asks and asks not in given["strategies"]:
        known = nearest(str(asks), given["strategies"])
        raise ScenarioError(f"{path}: `asks`: no strategy is called {one_line(asks)!r}{known}")
    try:
        given |= {key: share_of(key, given[key]) for key in ("max_missed_turns", "min_far_recall") if key in given}
        given["cache"] = cache_named(given.get("cache", "provider"))
    except SpecError as error:
        raise ScenarioError(f"{path}: {error}") from None
    given |= {
        "asks": str(asks),
        "probes": _probes(path, given.get("probes", [])),
    }
    return Scenario(**{"title": path.stem, **given}, base=path.parent, path=path)


def table_at(path: Path, where: str) -> dict[str, Any] | None:
    """The table of a scenario's file as it was at a commit; None where there was no such file. Its keys are not looked at: another version of the
    bench may have had others. Raises ScenarioError for one that cannot be read, which `where` names.
    """
    try:
        return _table(where, read_regular(path)) if path.exists() else None
    except OSError as error:
        raise ScenarioError(f"{where}: {error.strerror or error}") from None


def declared_at(path: Path, where: str) -> dict[str, dict[str, Any]] | None:
    """The strategies that such a file declares; None where there was no such file. Raises ScenarioError."""
    table = table_at(path, where)
    return (
        None if table is None else _typed(where, "strategies", table.get("strategies", {}), dict[str, dict[str, Any]])
    )


def _table(where: str, data: bytes) -> dict[str, Any]:
    """The TOML of a scenario. Raises ScenarioError."""
    try:
        table = tomllib.loads(data.decode("utf-8").replace("\r\n", "\n"))
        if too_deep(table):
            raise RecursionError
        _require_numbers(table)
    except RecursionError:
        raise ScenarioError(f"{where}: is nested more than {MAX_DEPTH} levels deep — flatten it") from None
    except ValueError as error:  # TOML that is none, bytes that are not UTF-8, a whole number of thousands of digits
        raise ScenarioError(f"{where}: not TOML: {one_line(error)}") from None
    return table


def _require_numbers(table: dict[str, Any]) -> None:
    """Raise ValueError for a whole number that TOML does not have: above 64 bits it is no number to count or to compare with."""
    for value in nested(table):
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise ValueError(f"{one_line(value)[:30]} is no whole number of 64 bits")


def _probes(path: Path, tables: list[dict[str, Any]]) -> tuple[Probe, ...]:
    found = []
    for number, table in enumerate(tables, 1):
        where = f"{path}: probes[{number}]"
        for key in table:
            if key not in Probe.__struct_fields__:
                raise ScenarioError(f"{where}: unknown key {key!r}{nearest(key, Probe.__struct_fields__)}")
        try:
            probe = msgspec.convert(msgspec.to_builtins(table), Probe)  # a date of TOML becomes its text
        except msgspec.ValidationError as error:
            raise ScenarioError(f"{where}: {misfit(error)}") from None
        problem = problem_of(probe)
        if problem:
            raise ScenarioError(f"{where} ({one_line(probe.question)[:60]}): {problem}")
        found.append(probe)
    return tuple(found)


def is_collected(path: Path) -> bool:
    """True if a TOML file names both traces and strategies, or a baseline lies beside it: other projects have TOML too."""
    if path.with_suffix(".baseline.json").exists():
        return True
    try:
        text = read_regular(path).decode("utf-8", "replace")
    except (OSError, BenchError):
        return False
    return all(re.search(rf"^[ \t]*\[*[ \t]*[\"']?{key}\b", text, re.MULTILINE) for key in ("traces", "strategies"))


def meant_as_scenario(path: Path) -> bool:
    """True if a TOML file is a scenario, however broken: it has a key that only scenarios have. One that cannot be read may be one."""
    try:
        text = read_regular(path).decode("utf-8", "replace")
        return not tomllib.loads(text.replace("\r\n", "\n")).keys().isdisjoint(_TELLING)
    except ValueError:  # not TOML, or a whole number of thousands of digits
        return _TELLS.search(text) is not None
    except (OSError, RecursionError, BenchError):
        return True


def cache_named(name: Any) -> Economy:
    """The economy of that name. Raises SpecError for any other.

    >>> cache_named("none")
    'none'
    """
    found: Economy | None = next((known for known in get_args(Economy) if known == name), None)
    if found is None:
        raise SpecError(f'`cache`: {name!r} is no cache — write "provider" or "none"')
    return found


def share_of(name: str, share: float) -> float:
    """A share as it is given. Raises SpecError for one that is no number from 0 to 1.

    >>> share_of("min_far_recall", 1.5)
    Traceback (most recent call last):
    bench.model.errors.SpecError: `min_far_recall`: 1.5 is no share — write a number from 0 to 1
    """
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise SpecError(f"`{name}`: {share!r} is no share — write a number from 0 to 1")
    return share


def _typed(path: Path | str, key: str, value: Any, wanted: Any) -> Any:
    try:
        return msgspec.convert(unpercent(value) if wanted is float else value, wanted)
    except msgspec.ValidationError as error:
        raise ScenarioError(f"{path}: `{key}`: {misfit(error)}") from None


# ---------------------------------------------------------------- the traces of a scenario, and those that people pass


READ = ("routes", "scripts", LABEL)
"""The labels that the bench reads."""


def traces_given(traces: Any, base: Path | None, limits: Limits) -> tuple[Iterable[Trace], Loaded | TraceSource]:
    """The traces that somebody passed, and as what they were loaded, where that was done here or by `bench.load`."""
    if isinstance(traces, str | Path):
        traces = [traces]
    if isinstance(traces, Trace):
        return [traces], Loaded(())
    if isinstance(traces, Loaded):
        return traces.traces, traces
    if not isinstance(traces, Iterable):
        what = f"traces are paths, Traces, or what bench.load gives; got {type(traces).__name__}"
        raise BenchError(f"{what} — write bench.compare('runs/', …)")
    items = list(traces) if isinstance(traces, list | tuple) else traces
    if isinstance(items, list) and all(isinstance(item, str | Path) for item in items):
        found = TraceSource([str(item) for item in items], base or Path(), limits=limits)
        return found, found
    return _only_traces(items), Loaded(())


def _only_traces(items: Iterable[Any]) -> Iterator[Trace]:
    for item in items:
        if not isinstance(item, Trace):
            raise BenchError(f"expected a Trace among the traces, got {type(item).__name__} — load it with bench.load")
        yield item


def unread_labels(plan: Scenario, cases: Iterable[Case]) -> Iterator[tuple[str, str]]:
    """Each route that a scenario labels at a step where no router of any strategy decides, with why nothing reads it."""
    for case in cases:
        routes = plan.labels.get(case.id, {}).get("routes", {})
        read = {str(step) for run in case.runs.values() for step in run.routes.labelled}
        for step in sorted(set(routes) - read) if isinstance(routes, Mapping) else ():
            yield f"label of {case.id}, step {step}", "no router of any strategy decides there, so nothing reads it"


def _require_about(labels: Mapping[str, Any], trace: Trace, where: str) -> None:
    """Raise ScenarioError for a label that would go unread: a misspelt name, or a step that the trace has not (-1 is before its first)."""
    place = f"{where}: labels for case {trace.id!r}"
    for name, said in labels.items():
        close = nearest(name, READ)
        if name not in READ and "did you mean" in close:  # others may be read by somebody's own metrics
            raise ScenarioError(f"{place}: nothing reads {name!r}{close}")
        if name not in ("routes", "scripts"):
            continue
        if not isinstance(said, Mapping):
            raise ScenarioError(f'{place}: {name} = {said!r}: write a table of steps, `4 = "complete"`')
        steps = {str(step.index) for step in trace.steps if name == "routes" or isinstance(step, UserTurn)} | {"-1"}
        for step in said:
            if step not in steps:
                what = "step" if name == "routes" else "user's turn"
                raise ScenarioError(f"{place}: {name}: no {what} is {step!r} — `bench show` lists the steps of a trace")


@dataclass
class ScenarioTraces:
    """The traces of a scenario, each with what the scenario says and asks of it, read one file at a time.

    `skipped`, `damaged`, `sha256s` and `stored` are those of a `TraceSource`: whole once all have been read.
    """

    plan: Scenario
    where: str
    limits: Limits
    skipped: list[tuple[str, str]] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    sha256s: Mapping[str, str] = field(default_factory=dict)
    stored: Mapping[str, StoredTrace] = field(default_factory=dict)
    expected: Callable[[int], int] = int

    def __iter__(self) -> Iterator[tuple[Trace, Mapping[str, Any]]]:
        questions = Questions(self.plan.probes, self.where)
        if self.plan.path is not None and not self.plan.outside:
            require_inside(self.plan.traces, self.plan.base)
        source = TraceSource(self.plan.traces, self.plan.base, limits=self.limits, still=True)
        self.stored, self.expected = source.stored, source.expected
        known = set()
        for trace in source:
            known.add(trace.id)
            labels, probes = self.plan.labels.get(trace.id, {}), questions.of(trace)
            _require_about(labels, trace, self.where)
            yield trace, {**labels, **({LABEL: probes} if probes else {})}
        self.sha256s = source.sha256s
        self.skipped.extend(source.skipped)
        self.damaged.extend(source.damaged)
        for case in self.plan.labels:
            if case not in known:
                raise ScenarioError(f"{self.where}: labels for unknown case {case!r}{nearest(case, known)}")
        questions.require_asked()
