"""Printing on the command line.

Everything is printed here, so that no text from outside can control a terminal or the log of a CI
system.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from ..model.errors import not_obeyed, sayable

if TYPE_CHECKING:
    from ..reports.blocks import Report

NARROWEST, WIDEST = 60, 140
"""The fewest and the most columns to use on a terminal."""


def say(text: str = "", *, err: bool = False, coloured: bool = False) -> None:
    """Print a text, made `sayable`.

    A `coloured` text has our own colours, and its parts from traces were made visible before.
    """
    click.echo(not_obeyed(text) if coloured else sayable(text), err=err)


def warn(text: str) -> None:
    """Print a warning on standard error."""
    say(f"warning: {text}", err=True)


def screen(reports: Sequence[Report], *, verbose: bool) -> str:
    """The text of reports for standard output, in its width; in colour on a terminal with colours,
    unless NO_COLOR is set."""
    from ..reports.text import WIDTH, render

    width = min(max(shutil.get_terminal_size((WIDTH, 24)).columns, NARROWEST), WIDEST)
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    colour = sys.stdout.isatty() and not plain
    return "".join(render(reports, verbose=verbose, width=width, colour=colour)).rstrip("\n")


def say_command(command: str) -> None:
    """Print a workflow command for GitHub, exactly as it is."""
    click.echo(command)


def prepare_streams() -> None:
    """Make sure that printing never raises.

    A stream that was closed goes nowhere, and a character that the encoding lacks is printed as its
    escape.

    What is closed is opened to nowhere: else the next file that is opened would get its number, and
    what is printed.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
    sys.stdout = sys.stdout or io.StringIO()
    sys.stderr = sys.stderr or io.StringIO()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def hush() -> None:
    """From here on drop output that cannot be printed, because the disk is full or the reader is
    gone."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            with contextlib.suppress(OSError, ValueError):
                os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


# ---------------------------------------------------------------- progress


@contextlib.contextmanager
def progress_line() -> Iterator[Callable[[int], None] | None]:
    """A function that shows how many are done, on a line that is erased after the block.

    None where standard error is not a terminal.
    """
    if not sys.stderr.isatty() or os.environ.get("CI"):
        yield None
        return

    def show(done: int) -> None:
        click.echo(f"\r{done:,} runs", err=True, nl=False)

    try:
        yield show
    finally:
        click.echo("\r\x1b[K", err=True, nl=False)
