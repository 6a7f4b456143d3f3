"""What the command line prints. It does so here and nowhere else, so that no text from outside speaks to a terminal or to the log of a CI system."""

from __future__ import annotations

import sys

import click

from ..errors import sayable


def say(text: str = "", *, err: bool = False, coloured: bool = False) -> None:
    """Print a text, made `sayable`. `coloured`: its colours are ours, and what it shows of traces was made visible before."""
    click.echo(text if coloured else sayable(text), err=err)


def obey(command: str) -> None:
    """Print what is our own exactly as it is: a workflow command that GitHub is to obey, a script for a shell."""
    click.echo(command)


def escape_what_cannot_be_printed() -> None:
    """From here on a character that the terminal's encoding lacks is printed as its escape, and raises nothing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
