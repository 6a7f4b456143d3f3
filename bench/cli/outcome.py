"""The end of a command with gates: its output and its exit code."""

from __future__ import annotations

import os
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .github import append_summary, inside_actions, workflow_commands
from .saying import obey, say

if TYPE_CHECKING:
    from ..model.compared import Compared

NARROWEST, WIDEST, WIDTH = 60, 140, 100
"""The fewest and the most columns to use on a terminal, and the columns for a pipe."""


class Concluded(SystemExit):
    """The end of a command with gates, with their exit code."""


def screen(comparisons: Sequence[Compared], *, verbose: bool) -> str:
    """The text of comparisons for standard output, in its width; in colour on a terminal with
    colours, unless NO_COLOR is set."""
    from ..reports.text import terminal_text

    width = min(max(shutil.get_terminal_size((WIDTH, 24)).columns, NARROWEST), WIDEST)
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    colour = sys.stdout.isatty() and not plain
    return terminal_text(comparisons, verbose=verbose, width=width, colour=colour)


def print_outcome(
    comparisons: Sequence[Compared], files: Sequence[Path | None], text: str, code: int
) -> None:
    """Print the notes, the text of the comparisons and their gates; in GitHub Actions annotate too.

    `files` are the scenario files of the comparisons.
    """
    from ..reports.gates import not_accepted

    for note in dict.fromkeys(note for item in comparisons for note in item.notes):
        say(f"note: {note}", err=True)
    say(text.rstrip("\n"), coloured=True)
    for item in comparisons:
        if skipped := not_accepted(item):
            say(f"{item.title}: {skipped}" if len(comparisons) > 1 else skipped)
    if inside_actions():
        for line in workflow_commands(comparisons, files):
            obey(line)
        append_summary(comparisons)
    if len(comparisons) > 1 or comparisons[0].gates:
        say(_gates_line(comparisons, code))


def _gates_line(comparisons: Sequence[Compared], code: int) -> str:
    """The gates of some comparisons in one line: the number of each outcome."""
    outcomes: Counter[str] = Counter(gate.outcome for item in comparisons for gate in item.gates)
    words = {"fail": "failed", "undecided": "undecided", "pass": "passed", "skipped": "skipped"}
    counts = [f"{outcomes[outcome]} {word}" for outcome, word in words.items() if outcomes[outcome]]
    return f"Gates: {', '.join(counts) or 'none declared'} (exit {code})"
