"""Scenarios: TOML files that name traces, strategies and gates; paths are relative to the file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from ..evidence.probes import LABEL, Questions, problem_of
from ..files.git import top_of
from ..files.limits import read_regular
from ..model import MAX_DEPTH, Probe, Trace, nested, too_deep
from ..model.errors import BenchError, ScenarioError, misfit, nearest, nearest_file, one_line
from ..traces import Loaded, TraceSource
from ..traces.paths import require_inside


class ScenarioFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys of a scenario's file.

    `strategies` maps a name to its slots (or to a whole spec string, on the command line). `gates`
    are tables as written, `probes` questions for every strategy. `model` applies to traces that
    name none. `asks` is the strategy that the title asks about.
    """

    title: str = ""
    traces: tuple[str, ...] = ()
    strategies: dict[str, dict[str, Any] | str] = {}
    gates: tuple[dict[str, Any], ...] = ()
    probes: tuple[Probe, ...] = ()
    model: str | None = None
    asks: str = ""


class Scenario(ScenarioFile, frozen=True, kw_only=True):
    """A comparison to run.

    `base` is the folder that relative paths start from; `path` the file, None for a scenario from
    the command line. `outside` allows traces outside its repository; a file cannot set it.
    `portfolio` is True if the user named no strategy.
    """

    base: Path = Path()
    path: Path | None = None
    outside: bool = False
    portfolio: bool = False

    @property
    def baseline_path(self) -> Path | None:
        """The file of the accepted values, beside the scenario, `<name>.baseline.json`."""
        return None if self.path is None else self.path.with_suffix(".baseline.json")

    @property
    def place(self) -> str:
        """The path of the file in its repository, or as it was given outside of one; "" for no
        file."""
        if self.path is None:
            return ""
        top = top_of(self.base)
        folder = self.base.resolve().relative_to(top.resolve()) if top else self.base
        return (folder / self.path.name).as_posix()


_INDEX = re.compile(r"\[(\d+)\]")


def read_scenario(path: Path) -> Scenario:
    """A scenario from its file. Raises ScenarioError that names the file and the key."""
    try:
        table = _table(read_regular(path))
        written = msgspec.convert(table, ScenarioFile)
    except OSError as error:
        hint = nearest_file(path) or " — give the path of a scenario file"
        raise ScenarioError(f"{path}: {error.strerror or error}{hint}") from None
    except RecursionError:
        what = f"is nested more than {MAX_DEPTH} levels deep — flatten it"
        raise ScenarioError(f"{path}: {what}") from None
    except msgspec.ValidationError as error:
        raise ScenarioError(f"{path}: {_problem(error)}") from None
    except ValueError as error:  # no TOML, no UTF-8, a whole number of thousands of digits
        raise ScenarioError(f"{path}: not TOML: {one_line(error)}") from None
    for problem in _problems(written):
        raise ScenarioError(f"{path}: {problem}")
    fields = {name: getattr(written, name) for name in ScenarioFile.__struct_fields__}
    return Scenario(**fields | {"title": written.title or path.stem}, base=path.parent, path=path)


def _problems(written: ScenarioFile) -> Iterator[str]:
    """Yield the problem with each missing or wrong part of a scenario."""
    for name in ("traces", "strategies"):
        if not getattr(written, name):
            yield f"`{name}` is missing or empty — nothing to replay"
    if written.asks and written.asks not in written.strategies:
        known = nearest(written.asks, written.strategies)
        yield f"`asks`: no strategy is called {one_line(written.asks)!r}{known}"
    for number, probe in enumerate(written.probes, 1):
        if problem := problem_of(probe):
            yield f"probes[{number}] ({one_line(probe.question)[:60]}): {problem}"


def _table(data: bytes) -> dict[str, Any]:
    """The table of a scenario's TOML, with dates as texts. Raises RecursionError or ValueError."""
    table = tomllib.loads(data.decode("utf-8-sig").replace("\r\n", "\n"))
    if too_deep(table):
        raise RecursionError
    for value in nested(table):
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise ValueError(f"{one_line(value)[:30]} is no whole number of 64 bits")
    values: dict[str, Any] = msgspec.to_builtins(table)
    return values


def _problem(error: msgspec.ValidationError) -> str:
    """The message for an unknown key, with the nearest known one, or for a value that does not fit,
    such as one table where there may be several.

    >>> _problem(msgspec.ValidationError("Object contains unknown field `trace`"))
    "unknown key 'trace' — did you mean traces?"
    """
    message, _, place = str(error).partition(" - at `$")
    place = _INDEX.sub(lambda match: f"[{int(match[1]) + 1}]", place.strip(".`"))  # from 1
    if message.startswith("Object contains unknown field"):
        _, key, *_ = message.split("`")
        known = Probe.__struct_fields__ if place else ScenarioFile.__struct_fields__
        problem = f"unknown key {key!r}{nearest(key, known)}"
        return f"{place}: {problem}" if place else problem
    if place in ("gates", "probes") and message == "Expected `array`, got `object`":
        return f"[{place}] is one table — write [[{place}]]"
    return misfit(ValueError(f"{message} - at `{place}`" if place else message))


def is_scenario(path: Path) -> bool:
    """True if a file looks like a scenario: it has a baseline, or the keys `traces` and
    `strategies`, even if it cannot be parsed."""
    if path.with_suffix(".baseline.json").exists():
        return True
    try:
        text = read_regular(path).decode("utf-8-sig", "replace")
    except (OSError, BenchError):
        return False
    keys = ("traces", "strategies")
    return all(re.search(rf"^[ \t]*\[*[ \t]*[\"']?{key}\b", text, re.MULTILINE) for key in keys)


# ---------------------------------------------------------------- recordings


Traces = str | Path | Trace | Loaded | Iterable[str | Path | Trace]
"""Recordings as people pass them: one or more paths or Traces, or what `load` returns."""


def traces_given(traces: Any, base: Path | None) -> Loaded | TraceSource:
    """The traces in a user's argument, with the skipped files."""
    if isinstance(traces, Loaded):
        return traces
    items = [traces] if isinstance(traces, str | Path | Trace) else traces
    if isinstance(items, list | tuple) and all(isinstance(item, str | Path) for item in items):
        return TraceSource(items, base)
    if not isinstance(items, Iterable):
        what = f"traces are paths, Traces, or what bench.load gives; got {type(traces).__name__}"
        raise BenchError(f"{what} — write 'runs/', for example")
    loaded = tuple(items)
    if other := [item for item in loaded if not isinstance(item, Trace)]:
        what = f"expected a Trace among the traces, got {type(other[0]).__name__}"
        raise BenchError(f"{what} — load it with bench.load")
    return Loaded(loaded)


def source_of(plan: Scenario) -> TraceSource:
    """The traces of a scenario, one file at a time. Raises TraceError for a file outside its
    repository."""
    if plan.path is not None and not plan.outside:
        require_inside(plan.traces, plan.base)
    return TraceSource(plan.traces, plan.base)


def with_probes(plan: Scenario, traces: Loaded | TraceSource) -> Iterator[Trace]:
    """Yield each trace with its probes among its labels. Raises ScenarioError for a probe that
    belongs to no trace, unless it may belong to one that is damaged."""
    questions = Questions(plan.probes, str(plan.path or plan.title))
    for trace in traces:
        probes = questions.of(trace)
        labels = {**trace.labels, LABEL: probes}
        yield msgspec.structs.replace(trace, labels=labels) if probes else trace
    if not traces.damaged:
        questions.require_asked()
