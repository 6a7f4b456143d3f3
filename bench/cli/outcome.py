"""The end of every command that judges: print, write, annotate, and exit with the code of the
gates.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .github import append_summary, inside_actions, opened_summary, quoted_output, workflow_commands
from .saying import Show, obey, progress_bar, say

if TYPE_CHECKING:
    from ..model.compared import Compared

NARROWEST, WIDEST, WIDTH = 60, 140, 100
"""The fewest and the most columns of a terminal that are used, and those of a pipe."""

STREAM = Path("-")
"""The name of standard output among the files that reports go to."""


class Concluded(SystemExit):
    """The end of a command that judged: the one way to exit codes 0 and 1 that a gate stands
    behind.
    """


def finish(
    comparisons: Sequence[Compared],
    outputs: Sequence[Path],
    *,
    files: Sequence[Path | None] | None = None,
    beside: Mapping[Path, bytes] | None = None,
    lines: Sequence[str] = (),
    form: str | None = None,
    verbose: bool = False,
    allow_undecided: bool = False,
) -> None:
    """Print the comparisons, write the reports, and end the process with the exit code of the
    gates.

    Everything is made, and the summary of the job is open, before anything is written, and what is
    written is written together: the reports, and `beside` (baselines that were accepted). `lines`
    are about these. `files` are where the comparisons were declared, for annotations; `form` the
    format of reports, whatever their endings. A report on standard output is all that is printed
    there.
    """
    from ..comparison.gates import exit_code
    from ..reports import first_line
    from ..reports.text import terminal_text

    code = exit_code(comparisons, allow_undecided=allow_undecided)
    sentence = first_line(comparisons[0]) if len(comparisons) == 1 else gates_line(comparisons, code)
    width = min(max(shutil.get_terminal_size((WIDTH, 24)).columns, NARROWEST), WIDEST)
    with opened_summary() as summary:
        with ExitStack() as placed, progress_bar("writing reports, kB", after="") as progress:
            text = terminal_text(comparisons, verbose=verbose, width=width, colour=_in_colour())
            streamed = placed.enter_context(written_reports(comparisons, outputs, form, beside, progress))
        if streamed is not None:
            print_report(streamed, sentence)
            raise Concluded(code)
        for line in lines:
            say(line)
        for output in outputs:
            say(f"wrote {output}")
        for note in dict.fromkeys(note for item in comparisons for note in item.notes):
            say(f"note: {note}", err=True)
        with quoted_output():
            say(text.rstrip("\n"), coloured=True)
        if inside_actions():
            for line in workflow_commands(comparisons, files or [None] * len(comparisons)):
                obey(line)
            append_summary(summary, comparisons, sentence)
    if len(comparisons) > 1 or comparisons[0].gates:
        say(gates_line(comparisons, code))
    raise Concluded(code)


def gates_line(comparisons: Sequence[Compared], code: int) -> str:
    """The gates of some comparisons in one line: how many passed, failed, could not be decided,
    were skipped.
    """
    outcomes = [gate.outcome for item in comparisons for gate in item.gates]
    counts = {
        word: outcomes.count(outcome)  # type: ignore[arg-type]
        for outcome, word in (
            ("fail", "failed"),
            ("undecided", "undecided"),
            ("pass", "passed"),
            ("skipped", "skipped"),
        )
    }
    counted = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    return f"Gates: {counted or 'none declared'} (exit {code})"


@contextmanager
def written_reports(
    comparisons: Sequence[Compared],
    outputs: Sequence[Path],
    form: str | None,
    beside: Mapping[Path, bytes] | None = None,
    progress: Show | None = None,
) -> Iterator[bytes | None]:
    """The reports, and `beside`, complete before a block and in their places after it; gives the
    report to be printed, None for none.

    `progress` is called with the kB written.
    """
    from ..files.writing import written_together
    from ..reports import format_of, pieces

    done = 0

    def encoded(parts: Iterator[str]) -> Iterator[bytes]:
        nonlocal done
        for part in parts:
            data = part.encode("utf-8", "replace")
            done += len(data)
            if progress:
                progress(done // 1000, None)
            yield data

    reports = {output: encoded(pieces(comparisons, format_of(output, form))) for output in outputs}
    streamed = reports.pop(STREAM, None)
    with written_together({**(beside or {}), **reports}):
        yield None if streamed is None else b"".join(streamed)


def print_report(report: bytes, sentence: str) -> None:
    """Print a report alone; the sentence goes beside it."""
    say(sentence, err=True)
    with quoted_output():
        sys.stdout.flush()
        sys.stdout.buffer.write(report)
        sys.stdout.buffer.flush()


def _in_colour() -> bool:
    """True if what is printed goes to somebody who sees colours and has not said otherwise
    (https://no-color.org).
    """
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
