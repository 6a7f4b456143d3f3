"""Mistakes at the command line in one line each, with a name near the wrong one."""

from __future__ import annotations

from pathlib import Path

import click
from click.exceptions import NoSuchCommand, NoSuchOption

from ..model.errors import one_line


def mistake_line(error: click.ClickException) -> str:
    """One line on a mistake that click found, with what to write instead."""
    context = getattr(error, "ctx", None) or click.get_current_context(silent=True)
    path = context.command_path if context else "bench"
    text = one_line(error.format_message())
    if isinstance(error, NoSuchCommand) and Path(error.command_name).exists():
        text += f" Did you mean 'bench run {error.command_name}'?"
    elif isinstance(error, NoSuchCommand | NoSuchOption) and not error.possibilities:
        text += f" `{path} --help` has them all"
    return f"{path}: {text}"
