"""Options that several commands have, each declared once, and what `run` does with its own."""

from __future__ import annotations

import functools
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from ..files.limits import VARIABLE, limit, limits_of
from ..files.writing import require_place
from ..model.errors import DEBUG, BenchError, ScenarioError, SpecError, TraceError, nearest
from .saying import progress_bar, say

if TYPE_CHECKING:
    from ..model.compared import Compared
    from ..run.scenario import Scenario

Command = Callable[..., Any]


FILE = click.Path(path_type=Path)


def _debug(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        os.environ[DEBUG] = "1"  # for the processes that measure runs too


def _limits(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> None:
    if values:
        limits_of(",".join(values))
        os.environ[VARIABLE] = ",".join(values)


def every_command(command: click.Command) -> click.Command:
    """A command with the options that all have."""
    command.params += [
        click.Option(["--debug"], is_flag=True, expose_value=False, is_eager=True, callback=_debug,
                     help="Show the traceback of errors, those of strategies too."),
        click.Option(["--limit"], multiple=True, metavar="NAME=N", expose_value=False, is_eager=True, callback=_limits,
                     help="Read more: size=2GB of a file once expanded, line=1GB of a JSON value, files=100000. "
                          "Let your own code take more: call=120 seconds a step, memory=8GB. Keep more: cache=20GB."),
    ]  # fmt: skip
    return command


def limited(command: Command) -> Command:
    """A command that runs code of its user: its parameters `call_s` and `memory_mib` are the limits `call` and `memory`."""

    @functools.wraps(command)
    def called(*given: Any, **named: Any) -> Any:
        return command(*given, call_s=float(limit("call")), memory_mib=limit("memory") // 2**20, **named)

    return called


def output(command: Command) -> Command:
    """A command with `-o` and `--format`: its parameters `outputs` and `form`."""
    file = click.option("-o", "--output", "outputs", multiple=True, type=FILE, metavar="FILE",
                        help="Write the report; the ending decides the format. `-`: print it. May be given several times.")  # fmt: skip
    form = click.option("--format", "form", metavar="NAME",
                        help="text, json, markdown, html, csv or junit, whatever the ending. Without -o it is printed.")  # fmt: skip
    return file(form(command))


def require_outputs(outputs: Sequence[Path], form: str | None) -> tuple[Path, ...]:
    """Return where reports go: standard output for a format without a file. Raises BenchError for a format that is none."""
    from ..reports import format_of

    wanted = tuple(outputs) or ((Path("-"),) if form is not None else ())
    for path in wanted:
        format_of(path, form)
    return wanted


def sorted_paths(texts: Sequence[str]) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """The scenarios and the traces among the paths of a command line. `-` is a trace on standard input; it is kept until the command ends.

    >>> sorted_paths(["a.toml", "runs/*.jsonl", "native:b.json"])
    ((PosixPath('a.toml'),), ('runs/*.jsonl', 'native:b.json'))
    """
    scenarios: list[Path] = []
    traces: list[str] = []
    for text in texts:
        path = Path(text)
        inside = sorted(path.glob("*.toml")) if text and path.is_dir() else []
        if inside:
            scenarios += inside
        elif path.suffix.lower() != ".toml":
            traces.append(_standard_input() if text == "-" else text)
        elif "*" in text and not path.is_absolute():
            matches = sorted(Path().glob(text))
            if not matches:
                raise ScenarioError(f"{text}: no file matches — check the folder or the pattern")
            scenarios += matches
        else:
            scenarios.append(path)
    for path in scenarios:
        if scenarios.count(path) > 1:
            raise ScenarioError(f"{path}: is given twice — leave one out")
    return tuple(scenarios), tuple(traces)


def _standard_input() -> str:
    """The path of a file with what standard input holds, which ends with the command."""
    data = sys.stdin.buffer.read()
    if not data.strip():
        raise TraceError("-: standard input is empty — give a file, or pipe a recording into it")
    folder = click.get_current_context().with_resource(tempfile.TemporaryDirectory())
    lines = data.strip().splitlines()
    path = Path(folder, "stdin.jsonl" if len(lines) > 1 and lines[0].rstrip().endswith(b"}") else "stdin.json")
    path.write_bytes(data)
    return str(path)


allow_inconclusive = click.option("--allow-inconclusive", is_flag=True, help="Exit 0 where a gate could not decide.")


def warn_unlisted(model: str | None) -> None:
    """Say that a model has no prices, with the nearest that has."""
    from ..tokens.prices import models, unit_prices

    if model is not None and unit_prices(model) is None:
        close = nearest(model, models()).partition(" — known")[0]
        say(f"warning: no prices are listed for the model {model!r}{close}; tokens are counted", err=True)


of_model = click.option(
    "--model", metavar="NAME", help="The model of recordings that name none: for prices, window and encoding.",
)  # fmt: skip

_REPLAYING: tuple[Callable[[Command], Command], ...] = (
    click.argument("paths", nargs=-1, metavar="[SCENARIO.toml|TRACES]..."),
    output,
    click.option("--strategy", "strategies", multiple=True, metavar="SPEC",
                 help="NAME=SLOT=SPEC(+SLOT=SPEC)*; a setting may be several: keep_last=5|10|20. Without one, about 20 are tried."),
    of_model,
    click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Processes that measure runs (default: one a core)."),
    click.option("--engine", default="processes", show_default=True, metavar="NAME",
                 help="Measure runs in `processes` here, as tasks of `dask`, or on the Dask scheduler at tcp://host:8786."),
    limited,
    click.option("--outside", is_flag=True, help="Let scenarios name traces outside their repository."),
)  # fmt: skip


@dataclass(frozen=True)
class Replaying:
    """The options of every command that replays."""

    scenarios: tuple[Path, ...]
    outputs: tuple[Path, ...]
    form: str | None
    traces: tuple[str, ...]
    strategies: tuple[str, ...]
    model: str | None
    jobs: int | None
    engine: str
    call_s: float
    memory_mib: int
    outside: bool

    def plans(self) -> list[Scenario]:
        """The scenarios of the files, or the one of the traces and strategies. Raises ScenarioError for neither or both."""
        changed: dict[str, Any] = {"model": self.model} if self.model else {}
        plans = [msgspec.structs.replace(plan, outside=self.outside, **changed) for plan in self._declared()]
        for model in dict.fromkeys(plan.model for plan in plans):
            warn_unlisted(model)
        return plans

    def _declared(self) -> list[Scenario]:
        from ..run.scenario import Scenario, read_scenario
        from ..strategies.portfolio import PORTFOLIO

        if self.scenarios and (self.traces or self.strategies):
            raise ScenarioError("give scenario files, or traces with --strategy, not both")
        if self.scenarios:
            return [read_scenario(path) for path in self.scenarios]
        if not self.traces:
            raise ScenarioError("nothing to replay — give a scenario file, or recordings")
        if not self.strategies:
            named: dict[str, Any] = {name: f"{name}={slots}" for name, slots in PORTFOLIO.items()}
            return [Scenario(title="Which strategy is cheapest?", traces=self.traces, strategies=named, portfolio=True)]
        slots: dict[str, Any] = {}
        for text in self.strategies:
            name = text.partition("=")[0].strip()
            if name in slots:
                raise SpecError(f"two strategies are called {name!r} — give each its own name")
            slots[name] = text
        return [Scenario(title="", traces=self.traces, strategies=slots)]

    def compared(self, plans: Sequence[Scenario], *, jobs: int | None = None, **more: Any) -> list[Compared]:
        """The comparison of each scenario, with a bar on a terminal."""
        from .. import run_scenario
        from ..plugins.worker import Limits
        from ..run.executors import dask
        from ..run.kept import kept_here

        processes = jobs or self.jobs or os.cpu_count() or 1
        if self.engine != "processes":
            if self.engine != "dask" and "://" not in self.engine:
                raise ScenarioError(f"--engine {self.engine}: write processes, dask, or tcp://host:8786")
            at = None if self.engine == "dask" else self.engine
            more.setdefault("executors", functools.partial(dask, at))
        more.setdefault("kept", kept_here())
        limits = Limits(self.call_s, self.memory_mib)
        with progress_bar("runs") as progress:
            return [run_scenario(plan, progress, jobs=processes, limits=limits, **more) for plan in plans]


def replaying(command: Command) -> Command:
    """A command with the options of `Replaying`, which it gets as its first argument, its own beside it."""

    @functools.wraps(command)
    def called(**given: Any) -> Any:
        given["outputs"] = require_outputs(given["outputs"], given["form"])
        given["scenarios"], given["traces"] = sorted_paths(given.pop("paths"))
        common = Replaying(**{item.name: given.pop(item.name) for item in fields(Replaying)})
        return command(common, **given)

    wrapped: Command = called
    for option in reversed(_REPLAYING):
        wrapped = option(wrapped)
    return wrapped


# ---------------------------------------------------------------- outputs held against inputs


def require_apart(outputs: Sequence[Path], inputs: Iterable[tuple[Path, str]], growing: Mapping[Path, str] | None = None) -> None:  # fmt: skip
    """Raise BenchError where a file to be written is one that is read, by whatever name, or a link or pipe itself.

    `inputs` are the files that are read, each with what it is; `growing` those that are added to in their place, which may be links.

    >>> require_apart([Path("a.json")], [(Path("./a.json"), "a trace of this run")])
    Traceback (most recent call last):
    bench.model.errors.BenchError: a.json: is a trace of this run, which writing it would destroy — give another file
    """
    growing = growing or {}
    for path in outputs:
        if outputs.count(path) > 1:
            raise BenchError(f"{path}: is given twice as an output — leave one out")
    outputs = [path for path in outputs if path != Path("-")]
    read = {os.path.realpath(path): what for path, what in inputs}
    added_to = {os.path.realpath(path): what for path, what in growing.items()}
    for path, taken in (*((path, read | added_to) for path in outputs), *((path, read) for path in growing)):
        what = taken.get(os.path.realpath(path))
        if what is not None:
            raise BenchError(f"{path}: is {what}, which writing it would destroy — give another file")
    require_place(outputs)


def inputs_of(plans: Sequence[Scenario], outputs: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """The files that scenarios are made of: themselves, their baselines, their traces.

    A file inside a folder of traces counts where it is a recording, or may be a damaged one: a report written there before is none.
    """
    from ..traces import files_of

    written = {os.path.realpath(path) for path in outputs}
    for plan in plans:
        if plan.path is not None and plan.baseline_path is not None:
            yield from ((plan.path, "a scenario of this run"), (plan.baseline_path, "a baseline of this run"))
        for text in plan.traces:
            try:
                files, named = files_of(text, plan.base)
            except TraceError:  # whoever reads them says so, and of which scenario they are
                continue
            for file in files:
                if os.path.realpath(file) in written and (named or _is_recording(file)):
                    yield file, "a trace of this run"


def _is_recording(path: Path) -> bool:
    from ..traces import load
    from ..traces.documents import Document

    try:
        return bool(load([str(path.absolute())]).traces)
    except TraceError:
        return Document(path).is_broken_json
