"""Options that several commands have, each declared once; outputs that must not be inputs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..files.limits import VARIABLE, limits_of
from ..files.writing import require_place
from ..model.errors import DEBUG, BenchError, TraceError, nearest
from .saying import say

if TYPE_CHECKING:
    from ..run.scenario import Scenario

FILE = click.Path(path_type=Path)


def _debug(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        os.environ[DEBUG] = "1"  # for the processes that measure runs too


def _limits(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> None:
    if values:
        limits_of(",".join(values))
        os.environ[VARIABLE] = ",".join(values)
        from ..plugins.worker import Limits

        Limits()  # raises for too little


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


def warn_unlisted(model: str | None) -> None:
    """Say that a model has no prices, with the nearest that has."""
    from ..tokens.prices import models, unit_prices

    if model is not None and unit_prices(model) is None:
        close = nearest(model, models()).partition(" — known")[0]
        say(
            f"warning: no prices are listed for the model {model!r}{close}; tokens are counted",
            err=True,
        )


of_model = click.option(
    "--model", metavar="NAME", help="The model of recordings that name none: for prices, window and encoding.",
)  # fmt: skip


# ---------------------------------------------------------------- outputs that are no inputs


def require_apart(outputs: Sequence[Path], inputs: Iterable[tuple[Path, str]]) -> None:
    """Raise BenchError where a file to be written is one that is read, or a link or pipe.

    `inputs` are the files that are read, each with what it is.

    >>> require_apart([Path("a.json")], [(Path("./a.json"), "a trace of this run")])
    Traceback (most recent call last):
    bench.model.errors.BenchError: a.json: is a trace of this run, which writing it would destroy — give another file
    """
    for path in outputs:
        if outputs.count(path) > 1:
            raise BenchError(f"{path}: is given twice as an output — leave one out")
    outputs = [path for path in outputs if path != Path("-")]
    read = {os.path.realpath(path): what for path, what in inputs}
    for path in outputs:
        what = read.get(os.path.realpath(path))
        if what is not None:
            raise BenchError(
                f"{path}: is {what}, which writing it would destroy — give another file"
            )
    require_place(outputs)


def inputs_of(plans: Sequence[Scenario], outputs: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """The files that scenarios are made of: themselves, their baselines, their traces.

    A file inside a folder of traces counts where it is a recording, or may be a damaged one: a
    report written there before is none.
    """
    from ..traces import files_of

    written = {os.path.realpath(path) for path in outputs}
    for plan in plans:
        if plan.path is not None and plan.baseline_path is not None:
            yield from (
                (plan.path, "a scenario of this run"),
                (plan.baseline_path, "a baseline of this run"),
            )
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
