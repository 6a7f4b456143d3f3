"""The end of every command that judges: print, write, annotate, and exit with the code of the verdicts."""

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
    from ..model import Comparison

NARROWEST, WIDEST = 60, 140
"""The fewest and the most columns of a terminal that are used."""


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
    form: str | None = None,
) -> None:
    """Print the comparisons, write the reports, and end the process with the exit code of the verdicts.

    Everything is made, and the summary of the job is open, before anything is written, and what is written is written together: the reports,
    and `beside` (baselines that were accepted). `said` are lines about these.
    `files` are where the comparisons were declared, for annotations; `shown` and `written` the panels on the terminal and in files (None: the
    usual ones); `form` the format of reports, whatever their endings. A report on standard output is all that is printed there.
    """
    from ..comparison.judging import conclude
    from ..reports import REPLAY_LIMIT
    from ..reports.blocks import Prose
    from ..reports.decision_sentence import advice_text
    from ..reports.figures import scenarios_blocks
    from ..reports.text import TERMINAL_PANELS, WIDTH, drawn, terminal_text

    panels = TERMINAL_PANELS if shown is None else shown
    brief = len(comparisons) > 1 and "ranking" in panels
    width = min(max(shutil.get_terminal_size((WIDTH, 24)).columns, NARROWEST), WIDEST)
    colour = _in_colour()
    with opened_summary() as summary:
        with (
            ExitStack() as placed,
            progress_bar("writing reports, kB", after="") as progress,
        ):
            conclusion = conclude(comparisons)
            texts = [terminal_text(item, panels, width=width, colour=colour, brief=brief) for item in comparisons]
            reports = written_reports(comparisons, outputs, form, written, beside, progress)
            streamed = placed.enter_context(reports)
        if streamed is not None:
            print_report(streamed, conclusion.sentence)
            raise Concluded(conclusion.exit_code)
        for line in said:
            say(line)
        if brief:
            named = [(item.title or "Comparison", item) for item in comparisons]
            with quoted_output():
                blocks = (*scenarios_blocks(named), Prose(REPLAY_LIMIT, "muted"))
                say("\n".join(drawn(blocks, width, colour=colour)), coloured=colour)
        with quoted_output():
            for text in texts:
                say(text, coloured=colour)
        for output in outputs:
            say(f"wrote {output}")
        if inside_actions():
            for line in workflow_commands(comparisons, files or [None] * len(comparisons)):
                obey(line)
            append_summary(summary, comparisons, conclusion.sentence, written)
    if len(comparisons) == 1 and not comparisons[0].verdicts and conclusion.exit_code == 0:
        say(advice_text(comparisons[0]))  # what stays on the screen is the answer
    else:
        say(conclusion.sentence)
    raise Concluded(conclusion.exit_code)


@contextmanager
def written_reports(
    comparisons: Sequence[Comparison],
    outputs: Sequence[Path],
    form: str | None,
    panels: Sequence[str] | None = None,
    beside: Mapping[Path, bytes] | None = None,
    progress: Show | None = None,
) -> Iterator[bytes | None]:
    """The reports, and `beside`, complete before a block and in their places after it; gives the report to be printed, None for none.

    `progress` is told of kB written.
    """
    from ..files.writing import written_together
    from ..reports import STREAM, report_pieces

    done = 0

    def told(pieces: Iterator[bytes]) -> Iterator[bytes]:
        nonlocal done
        for piece in pieces:
            done += len(piece)
            if progress:
                progress(done // 1000, None)
            yield piece

    reports = {output: told(report_pieces(comparisons, output, panels, form)) for output in outputs}
    streamed = reports.pop(STREAM, None)
    with written_together({**(beside or {}), **reports}):
        yield None if streamed is None else b"".join(streamed)


def print_report(report: bytes, sentence: str) -> None:
    """Print a report alone; the sentence over the gates goes beside it."""
    say(sentence, err=True)
    with quoted_output():
        sys.stdout.flush()
        sys.stdout.buffer.write(report)
        sys.stdout.buffer.flush()


def _in_colour() -> bool:
    """True if what is printed goes to somebody who sees colours and has not said otherwise (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
