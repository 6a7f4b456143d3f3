"""How every command that judges ends: print, write, annotate, and exit with what the verdicts come to."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .github import append_summary, inside_actions, quoted_output, workflow_commands

if TYPE_CHECKING:
    from ..model import Comparison

    Keeping = Callable[[Sequence[Comparison]], AbstractContextManager[Sequence[Comparison]]]


class Concluded(SystemExit):
    """The end of a command that judged: the one way to exit codes 0 and 1 that a verdict stands behind."""


def finish(
    comparisons: Sequence[Comparison],
    outputs: Sequence[Path],
    *,
    files: Sequence[Path | None] | None = None,
    shown: Sequence[str] | None = None,
    written: Sequence[str] | None = None,
    beside: Mapping[Path, bytes] | None = None,
    said: Sequence[str] = (),
    keeping: Keeping = nullcontext,
) -> None:
    """Print the comparisons, write the reports, and end the process with the exit code of the verdicts.

    Everything is made before anything is written, and what is written is written together: the reports, `beside` (baselines that were accepted),
    and the history, which `keeping` writes at the end of its block. `said` are lines about these. `files` are where the comparisons were
    declared, for annotations; `shown` and `written` the panels on the terminal and in files (None: the usual ones).
    """
    from ..files.writing import write_together
    from ..gates import conclude
    from ..reports import TERMINAL_PANELS, report_bytes, terminal_text
    from ..reports.text import scenarios_text

    with keeping(comparisons) as comparisons:
        conclusion = conclude(comparisons)
        texts = [terminal_text(item, TERMINAL_PANELS if shown is None else shown) for item in comparisons]
        reports = {output: report_bytes(comparisons, output, written) for output in outputs}
        write_together({**(beside or {}), **reports})
    for line in said:
        click.echo(line)
    with quoted_output():
        for text in texts:
            click.echo(text)
    for output in outputs:
        click.echo(f"wrote {output}")
    if inside_actions():
        for line in workflow_commands(comparisons, files or [None] * len(comparisons)):
            click.echo(line)
        append_summary(comparisons, conclusion.sentence, written)
    with quoted_output():
        if len(comparisons) > 1 and "ranking" in (TERMINAL_PANELS if shown is None else shown):
            click.echo(scenarios_text([(item.title or "Comparison", item) for item in comparisons]))
    click.echo(conclusion.sentence)
    raise Concluded(conclusion.exit_code)


@contextmanager
def progress_bar() -> Iterator[Callable[[int, int | None], None] | None]:
    """A bar with rate and time left on a terminal, nothing in CI or a pipe."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"),
               TimeElapsedColumn(), TimeRemainingColumn())  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("cases", total=None, rate="")

        def show(done: int, total: int | None) -> None:
            speed = bar.tasks[0].speed
            bar.update(task, completed=done, total=total, rate=f"{speed:.1f}/s" if speed else "")

        yield show
