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

STREAM = Path("-")
"""The name of standard output among the files that reports go to."""


class Concluded(SystemExit):
    """The end of a command that judged, with the exit code of the gates."""


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
    """Print the comparisons, write the reports, and exit with the code of the gates.

    The reports and `beside` (baselines that were accepted) are made before any is written, and
    written together. `lines` are about these. `files` are where the comparisons were declared, for
    annotations; `form` the format of reports, whatever their endings. A report on standard output
    is all that is printed there.
    """
    from ..comparison.gates import exit_code
    from ..reports import first_line
    from ..reports.text import terminal_text

    code = exit_code(comparisons, allow_undecided=allow_undecided)
    sentence = (
        first_line(comparisons[0]) if len(comparisons) == 1 else gates_line(comparisons, code)
    )
    width = min(max(shutil.get_terminal_size((WIDTH, 24)).columns, NARROWEST), WIDEST)
    text = terminal_text(comparisons, verbose=verbose, width=width, colour=_in_colour())
    streamed = write_reports(comparisons, outputs, form, beside)
    if streamed is not None:
        print_report(streamed, sentence)
        raise Concluded(code)
    for line in (*lines, *(f"wrote {output}" for output in outputs)):
        say(line)
    for note in dict.fromkeys(note for item in comparisons for note in item.notes):
        say(f"note: {note}", err=True)
    with quoted_output():
        say(text.rstrip("\n"), coloured=True)
    if inside_actions():
        for line in workflow_commands(comparisons, files or [None] * len(comparisons)):
            obey(line)
        append_summary(comparisons, sentence)
    if len(comparisons) > 1 or comparisons[0].gates:
        say(gates_line(comparisons, code))
    raise Concluded(code)


def gates_line(comparisons: Sequence[Compared], code: int) -> str:
    """The gates of some comparisons in one line: the number of each outcome."""
    outcomes: Counter[str] = Counter(gate.outcome for item in comparisons for gate in item.gates)
    words = {"fail": "failed", "undecided": "undecided", "pass": "passed", "skipped": "skipped"}
    counts = [f"{outcomes[outcome]} {word}" for outcome, word in words.items() if outcomes[outcome]]
    return f"Gates: {', '.join(counts) or 'none declared'} (exit {code})"


def write_reports(
    comparisons: Sequence[Compared],
    outputs: Sequence[Path],
    form: str | None,
    beside: Mapping[Path, bytes] | None = None,
) -> bytes | None:
    """Write the reports, and `beside`; gives the report that is to be printed, None for none."""
    from ..files.writing import write_together
    from ..reports import format_of, pieces

    reports = {
        output: (
            part.encode("utf-8", "replace") for part in pieces(comparisons, format_of(output, form))
        )
        for output in outputs
    }
    streamed = reports.pop(STREAM, None)
    write_together({**(beside or {}), **reports})
    return None if streamed is None else b"".join(streamed)


def print_report(report: bytes, sentence: str) -> None:
    """Print a report alone; the sentence goes beside it."""
    say(sentence, err=True)
    with quoted_output():
        sys.stdout.flush()
        sys.stdout.buffer.write(report)
        sys.stdout.buffer.flush()


def _in_colour() -> bool:
    """True if standard output is a terminal that shows colours, and NO_COLOR is not set."""
    return (
        sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )
