"""The command line: a thin layer over the verbs.

Every error is one line on standard error and exit 2; no traceback reaches a user.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import traceback
from collections.abc import Sequence
from typing import Any

import click

from .. import __version__
from ..model.errors import DEBUG, BenchError, debugged, defect, one_line
from .audit import audit
from .importing import import_
from .listing import list_
from .mistakes import mistake_line
from .options import every_command
from .outcome import Concluded
from .run import run
from .saying import hush, prepare_streams, say
from .show import show
from .starter_files import init

COMPLETING = "_BENCH_COMPLETE"
"""The variable that a shell sets to ask for completions."""


class _Unheard(BaseException):
    """Whoever read what is printed has gone away."""


class _Group(click.Group):
    """A group of commands that ends quietly where nobody reads what it prints.

    Click would exit with 1, which says that a gate failed.
    """

    def make_context(self, *given: Any, **named: Any) -> click.Context:
        """The context of a command line; its help may be what nobody reads."""
        try:
            return super().make_context(*given, **named)
        except BrokenPipeError:
            raise _Unheard from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise _Unheard from None


@click.group(cls=_Group, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="bench")
@click.pass_context
def cli(context: click.Context) -> None:
    """Replay recorded agent runs through memory strategies; measure cost and loss; gate changes."""
    if context.invoked_subcommand is None:
        say(context.get_help())


for command in (run, audit, init, list_, import_, show):
    cli.add_command(every_command(command))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, and turn every error into one line and an exit code.

    A thread that code left behind does not keep this process from ending; what such code raises
    where nobody can catch it is one line.
    """
    sys.unraisablehook = _unraisable
    threading.excepthook = _unraisable
    known = set(threading.enumerate())
    try:
        _run(arguments)
    except SystemExit as done:
        if any(not thread.daemon for thread in threading.enumerate() if thread not in known):
            hush()
            os._exit(done.code if isinstance(done.code, int) else 0)
        raise


def _unraisable(raised: Any) -> None:
    """Print one line on an error that nobody can catch: of a thread, or of `__del__`.

    It changes no result and no exit code.
    """
    error = raised.exc_value
    if os.environ.get(DEBUG):
        traceback.print_exception(error)
        return
    with contextlib.suppress(Exception):  # at the end of a process much is missing already
        what = f"{type(error).__name__}: {one_line(error)}"
        say(f"warning: code that was loaded raised beside its calls: {what} — `--debug` shows where", err=True)


def _run(arguments: Sequence[str] | None) -> None:
    """Run a command, and end the process with its exit code."""
    prepare_streams()
    try:
        cli.main(None if arguments is None else list(arguments), prog_name="bench", standalone_mode=False)
    except BenchError as error:
        debugged(error)
        _fail(one_line(error), error.exit_code)
    except click.exceptions.Exit as done:
        raise SystemExit(done.exit_code) from None
    except click.ClickException as error:
        _fail(mistake_line(error), 2)
    except (click.Abort, KeyboardInterrupt):
        _fail("interrupted", 130)
    except _Unheard:
        hush()
        raise SystemExit(141) from None
    except (MemoryError, OSError) as error:
        _fail(f"{type(error).__name__}: {one_line(error)}", 2)
    except Concluded:
        raise
    except SystemExit as error:
        if COMPLETING in os.environ:  # a shell asked what a line may go on with, and click answered
            raise SystemExit(2 if error.code else 0) from None
        _fail(f"code that was loaded wanted to exit with {one_line(error)} — a plug-in must not", 2)
    except BaseException as error:  # whatever it is: exit code 1 says that a gate failed, and 0 that all hold
        debugged(error)
        _fail(f"{COMPLETING}: {one_line(error)}" if COMPLETING in os.environ else defect(error), 2)


def _fail(message: str, code: int) -> None:
    hush()
    with contextlib.suppress(OSError):  # nobody reads it, and the exit code still counts
        say(f"error: {message}", err=True)
    hush()
    raise SystemExit(code)
