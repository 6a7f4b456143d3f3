"""The end of `bench run`: its text for people, and annotations and the summary of a job in GitHub
Actions."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..model.errors import BenchError, visible
from .saying import say, say_command

if TYPE_CHECKING:
    from ..model.compared import Compared

_WORDS = {"fail": "failed", "undecided": "undecided", "pass": "passed", "skipped": "skipped"}


def print_outcome(
    comparisons: Sequence[Compared],
    files: Sequence[Path | None],
    text: str,
    code: int,
    *,
    option: str = "",
) -> None:
    """Print the notes, the text of the comparisons and their gates; in GitHub Actions annotate too.

    `files` are the scenario files of the comparisons. An `option` that was not given passes with
    damaged recordings.
    """
    from ..comparison.gates import is_measured
    from ..reports.gates import damaged_in_words, not_accepted

    for note in dict.fromkeys(note for item in comparisons for note in item.notes):
        say(f"note: {note}", err=True)
    say(text, coloured=True)
    for item in comparisons:
        if skipped := not_accepted(item):
            say(f"{item.title}: {skipped}" if len(comparisons) > 1 else skipped)
    if inside_actions():
        for line in workflow_commands(comparisons, files):
            say_command(line)
        _append_summary(comparisons)
    gates = [gate for item in comparisons for gate in item.gates]
    counted: Counter[str] = Counter(gate.outcome for gate in gates if gate.rule.metric)
    each = [f"{counted[outcome]} {word}" for outcome, word in _WORDS.items() if counted[outcome]]
    why = ["--require-baseline is not met"] * any(
        gate.outcome == "fail" and not gate.rule.metric for gate in gates
    )
    why += ["nothing was measured"] * (not all(map(is_measured, comparisons)))
    option = option if code == 3 else ""  # a failure stays one
    why += filter(None, dict.fromkeys(damaged_in_words(item, option) for item in comparisons))
    if len(comparisons) > 1 or gates or why:
        summary = f"Gates: {', '.join(each) or 'none declared'}"
        say(f"{'; '.join([summary, *why])} (exit {code})")


# ---------------------------------------------------------------- GitHub Actions


def inside_actions() -> bool:
    """True if this process is a step of GitHub Actions."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def workflow_commands(
    comparisons: Sequence[Compared], files: Sequence[Path | None]
) -> Iterator[str]:
    """Yield workflow commands for each scenario, on its file: an error with the failed gates, a
    warning with the skipped and undecided ones.

    It is an error, too, if nothing was measured.
    """
    from ..comparison.gates import is_measured
    from ..reports.gates import damaged_in_words, gates_in_words

    for compared, file in zip(comparisons, files, strict=True):
        failed = [] if is_measured(compared) else ["nothing was measured"]
        failed += gates_in_words(compared, "fail")
        waiting = gates_in_words(compared, "undecided", "skipped")
        waiting += filter(None, [damaged_in_words(compared)])
        for kind, lines in (("error", failed), ("warning", waiting)):
            if lines:
                yield annotation(kind, file, f"bench: {compared.title}", "\n".join(lines))


def _append_summary(comparisons: Sequence[Compared]) -> None:
    """Add the Markdown report to the job's summary. Raises BenchError where that file cannot be
    written."""
    from ..reports import rendered

    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    try:
        with open(path, "a", encoding="utf-8", errors="backslashreplace") as summary:
            summary.write(f"{rendered(comparisons, 'markdown')}\n")
    except (OSError, ValueError) as error:
        raise BenchError(
            f"GITHUB_STEP_SUMMARY: {path}: {getattr(error, 'strerror', None) or error}"
        ) from None


def annotation(kind: str, file: Path | None, title: str, message: str) -> str:
    """The workflow command that shows a message on a file, or on none."""
    place = f"file={_property(file.as_posix())}," if file is not None else ""
    return f"::{kind} {place}title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
