"""The end of a command that judges: print, write, annotate, exit with the code of the gates."""

from __future__ import annotations

import os
import shutil
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .github import append_summary, inside_actions, quoted_output, workflow_commands
from .saying import obey, say

if TYPE_CHECKING:
    from ..model.compared import Compared

NARROWEST, WIDEST, WIDTH = 60, 140, 100
"""The fewest and the most columns of a terminal that are used, and those of a pipe."""


class Concluded(SystemExit):
    """The end of a command that judged, with the exit code of the gates."""


def finish(
    comparisons: Sequence[Compared],
    outputs: Sequence[Path],
    *,
    files: Sequence[Path | None],
    beside: Mapping[Path, bytes],
    lines: Sequence[str],
    verbose: bool,
    allow_undecided: bool,
) -> None:
    """Print the comparisons, write the reports, and exit with the code of the gates.

    The reports and `beside` (baselines that were accepted) are made before any is written, and
    written together. `lines` are about these. `files` are where the comparisons were declared, for
    annotations.
    """
    from ..comparison.gates import exit_code
    from ..files.writing import write_together
    from ..reports import format_of, pieces
    from ..reports.text import terminal_text

    code = exit_code(comparisons, allow_undecided=allow_undecided)
    width = min(max(shutil.get_terminal_size((WIDTH, 24)).columns, NARROWEST), WIDEST)
    text = terminal_text(comparisons, verbose=verbose, width=width, colour=_in_colour())
    reports = {
        output: (part.encode("utf-8", "replace") for part in pieces(comparisons, format_of(output)))
        for output in outputs
    }
    write_together({**beside, **reports})
    for line in (*lines, *(f"wrote {output}" for output in outputs)):
        say(line)
    for note in dict.fromkeys(note for item in comparisons for note in item.notes):
        say(f"note: {note}", err=True)
    with quoted_output():
        say(text.rstrip("\n"), coloured=True)
    if inside_actions():
        for line in workflow_commands(comparisons, files):
            obey(line)
        append_summary(comparisons)
    if len(comparisons) > 1 or comparisons[0].gates:
        say(_gates_line(comparisons, code))
    raise Concluded(code)


def _gates_line(comparisons: Sequence[Compared], code: int) -> str:
    """The gates of some comparisons in one line: the number of each outcome."""
    outcomes: Counter[str] = Counter(gate.outcome for item in comparisons for gate in item.gates)
    words = {"fail": "failed", "undecided": "undecided", "pass": "passed", "skipped": "skipped"}
    counts = [f"{outcomes[outcome]} {word}" for outcome, word in words.items() if outcomes[outcome]]
    return f"Gates: {', '.join(counts) or 'none declared'} (exit {code})"


def _in_colour() -> bool:
    """True if standard output is a terminal that shows colours, and NO_COLOR is not set."""
    return (
        sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )
