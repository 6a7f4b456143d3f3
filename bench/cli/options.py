"""Options that several commands share, and checks of output files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from ..files.limits import VARIABLE, limits_of
from ..files.writing import require_place
from ..model.errors import DEBUG, BenchError, nearest
from .saying import warn

FILE = click.Path(path_type=Path)


def _debug(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    """Set `--debug` in the environment."""
    if value:
        os.environ[DEBUG] = "1"  # for the processes that measure runs too


def _limits(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> None:
    """Set the limits that `--limit` gives in the environment."""
    if values:
        limits_of(",".join(values))
        os.environ[VARIABLE] = ",".join(values)


_LIMITS = """Read more: size=2GB of a file once expanded, line=1GB of a JSON value, files=100000. Let
your own code take more: call=300 seconds a step, memory=8GB. Keep more: cache=20GB."""


def every_command(command: click.Command) -> click.Command:
    """A command with the options that all have."""
    command.params += [
        click.Option(["--debug"], is_flag=True, expose_value=False, is_eager=True, callback=_debug,
                     help="Show the traceback of errors, those of strategies too."),
        click.Option(["--limit"], multiple=True, metavar="NAME=N", expose_value=False, is_eager=True,
                     callback=_limits, help=_LIMITS),
    ]  # fmt: skip
    return command


def warn_unlisted(model: str | None) -> None:
    """Warn about a model without prices, and name the nearest one with prices."""
    from ..tokens.prices import models, unit_prices

    if model is not None and unit_prices(model) is None:
        close = nearest(model, models(), "")
        warn(f"no prices are listed for the model {model!r}{close}; tokens are counted")


of_model = click.option(
    "--model", metavar="NAME",
    help="The model of recordings that name none: for prices, window and encoding.",
)  # fmt: skip
all_tables = click.option("-v", "--verbose", is_flag=True, help="Print every section.")


# ---------------------------------------------------------------- outputs


_BEGINS = b'"first_line"'  # stands in the first bytes of each report in JSON


def require_reports(outputs: Sequence[Path]) -> None:
    """Raise BenchError if a report would replace a JSON file that is not a report, such as a
    recording."""
    require_place(outputs)
    for path in outputs:
        if path.suffix.lower() == ".json" and path.is_file():
            with path.open("rb") as file:
                is_report = _BEGINS in file.read(40)
            if not is_report:
                what = "is no report, and writing one there would destroy it"
                raise BenchError(f"{path}: {what} — give another file")
