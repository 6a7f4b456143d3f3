"""The command line: a thin layer over the verbs.

Every error is one line on standard error and exit 2; no traceback reaches a user.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import NoReturn

import click

from .. import __version__
from ..model.errors import BenchError, debugged, defect, one_line
from .audit import audit
from .importing import import_
from .listing import list_
from .options import every_command
from .outcome import annotation, inside_actions
from .run import run
from .saying import hush, prepare_streams, say, say_command
from .show import show
from .starter_files import init

_NOBODY_READS = 141
"""The exit code if the reader of the output has gone away, as shells use it."""


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="bench")
@click.pass_context
def cli(context: click.Context) -> None:
    """Replay recorded agent runs through memory strategies; measure cost and loss; gate changes."""
    if context.invoked_subcommand is None:
        say(context.get_help())


for command in (run, audit, init, list_, import_, show):
    cli.add_command(every_command(command))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, and turn every error into one line and an exit code."""
    prepare_streams()
    given = None if arguments is None else list(arguments)
    try:
        code = cli.main(given, prog_name="bench", standalone_mode=False)
    except BenchError as error:
        debugged(error)
        _fail(one_line(error), error.exit_code)
    except click.ClickException as error:
        _fail(_mistake(error), 2)
    except (click.Abort, KeyboardInterrupt):
        _fail("interrupted", 130)
    except SystemExit as error:  # click's own: 1 is a broken pipe, and would say that a gate failed
        hush()
        raise SystemExit(_NOBODY_READS if error.code == 1 else error.code) from None
    except MemoryError:
        _fail("there is not enough memory for this", 2)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        _fail(one_line(f"{place}{error.strerror or error}"), 2)
    except BaseException as error:  # exit code 1 says that a gate failed, and 0 that all hold
        debugged(error)
        _fail(defect(error), 2)
    if code is not None:
        raise SystemExit(code)


def _mistake(error: click.ClickException) -> str:
    """The message for a mistake that click found, with the command and its help."""
    context = getattr(error, "ctx", None) or click.get_current_context(silent=True)
    path = context.command_path if context else "bench"
    return f"{path}: {one_line(error.format_message())} See `{path} --help`."


def _fail(message: str, code: int) -> NoReturn:
    """Print an error and exit."""
    hush()
    with contextlib.suppress(OSError):  # nobody reads it, and the exit code still counts
        say(f"error: {message}", err=True)
        if inside_actions():
            say_command(annotation("error", None, "bench", message))
    hush()
    raise SystemExit(code)
