"""How every command that judges ends: print, write, annotate, and exit with what the verdicts come to."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from .github import append_summary, inside_actions, quoted_output, workflow_commands

if TYPE_CHECKING:
    from ..model import Comparison


def finish(
    comparisons: Sequence[Comparison],
    outputs: Sequence[Path],
    *,
    allow_inconclusive: bool = False,
    files: Sequence[Path | None] | None = None,
    shown: Sequence[str] | None = None,
    written: Sequence[str] | None = None,
) -> None:
    """Print the comparisons, write the reports, and end the process with the exit code of the verdicts.

    `files` are where the comparisons were declared, for annotations; `shown` and `written` the panels on the terminal and in files (None:
    the usual ones).
    """
    from ..gates import conclude
    from ..reports import TERMINAL_PANELS, render, terminal_text

    judged = [msgspec.structs.replace(item, allow_inconclusive=allow_inconclusive) for item in comparisons]
    conclusion = conclude(judged)
    with quoted_output():
        for comparison in judged:
            click.echo(terminal_text(comparison, TERMINAL_PANELS if shown is None else shown))
    for output in outputs:
        click.echo(f"wrote {render(judged, output, written)}")
    if inside_actions():
        for line in workflow_commands(judged, files or [None] * len(judged)):
            click.echo(line)
        append_summary(judged, conclusion.sentence, written)
    click.echo(conclusion.sentence)
    raise SystemExit(conclusion.exit_code)


@contextmanager
def progress_bar() -> Iterator[Callable[[int, int], None] | None]:
    """A bar on a terminal, nothing in CI or a pipe."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("replaying", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
