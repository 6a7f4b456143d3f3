"""Mistakes at the command line in one line each, with the right thing to write instead."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from pathlib import Path

import click
from click.exceptions import NoSuchCommand, NoSuchOption

from ..model.errors import one_line

LISTS = ("metrics", "strategies", "traces")
"""Things that `bench list` lists, for those who name one as a command."""

FORMATS = ("csv", "html", "json", "md", "markdown", "txt")

_STRANGER = re.compile(r"unexpected extra arguments? \(([^ )]+)")


def mistake_line(error: click.ClickException) -> str:
    """One line on a mistake that click found, with what to write instead."""
    context = getattr(error, "ctx", None) or click.get_current_context(silent=True)
    where = f"{context.command_path}: " if context else ""
    text = re.sub(r"is not a valid integer( range)?", "is not a whole number", one_line(error.format_message()))
    text = text.replace("is not a valid float range", "is not a number")
    text = text.replace("is not a valid share.", "is no share — write 5% or 0.05")
    if isinstance(error, NoSuchOption):
        text = f"No such option '{error.option_name}'.{_option(error.option_name, context)}"
    elif isinstance(error, NoSuchCommand):
        text = f"No such command '{error.command_name}'.{_command(error.command_name, error.possibilities or ())}"
    elif (stranger := _STRANGER.search(text)) and context is not None:
        flags = [option for option in context.command.params if isinstance(option, click.Option) and option.is_flag]
        text += "." + (_close(f"--{stranger[1]}", (name for flag in flags for name in flag.opts)) or _help(context))
    return where + text


def _options(context: click.Context) -> list[str]:
    return [
        name
        for item in context.command.params
        if isinstance(item, click.Option) and not item.hidden
        for name in item.opts
    ]


def _close(name: str, known: Iterable[str]) -> str:
    """The nearest name as a question; `""` where none is near."""
    known = [other for other in known if other.startswith("--")]
    longer = [other for other in known if other.startswith(name) or name.startswith(other)]
    similar = longer or difflib.get_close_matches(name, known, n=1, cutoff=0.75)
    return f" Did you mean '{similar[0]}'?" if similar else ""


def _option(name: str, context: click.Context | None) -> str:
    if context is None:
        return ""
    if name == "--traces":
        return " Write the path without an option"
    if near := _close(name if name.startswith("--") else f"-{name}", [*_options(context), "--help"]):
        return near
    if "--output" in _options(context) and name[2:] in FORMATS:
        return f" Write -o FILE.{name[2:]}"
    if name == "--format" and context.info_name == "audit":
        return " Write -o FILE.html, .md, .txt or .json"
    if name == "--format":
        return " Write the format before the path: FORMAT:PATH"
    return _help(context)


def _help(context: click.Context) -> str:
    return f" `{context.command_path} --help` has them all"


def _command(name: str, near: Iterable[str]) -> str:
    best = difflib.get_close_matches(name, list(near), n=1)
    meant = (
        f"bench run {name}"
        if Path(name).exists()
        else best[0]
        if best
        else f"bench list {name}"
        if name in LISTS
        else ""
    )
    if meant:
        return f" Did you mean '{meant}'?"
    return " `bench --help` has them all"
