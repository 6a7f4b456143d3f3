"""What a run inside GitHub Actions says beyond its output: annotations on the change, and the summary of the job."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import BenchError, visible
from .saying import obey

if TYPE_CHECKING:
    from ..model import Comparison

MOST = 10
"""How many annotations of one kind GitHub shows of one step."""

KINDS = {"fail": "error", "inconclusive": "warning", "skipped": "warning"}


def inside_actions() -> bool:
    """Whether this process is a step of GitHub Actions."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


@contextmanager
def quoted_output() -> Iterator[None]:
    """Inside Actions: what is printed here is text only. A line from a trace that looks like a workflow command is not obeyed."""
    if not inside_actions():
        yield
        return
    token = secrets.token_hex(16)
    obey(f"::stop-commands::{token}")
    try:
        yield
    finally:
        obey(f"::{token}::")


def workflow_commands(comparisons: Sequence[Comparison], files: Sequence[Path | None]) -> list[str]:
    """A workflow command for each verdict that failed (an error), or was skipped or could not be judged (a warning), on its scenario's file.

    At most ten of a kind, which is what GitHub shows; the last of more says how many are left out. One that measured nothing is an error.
    """
    from ..gates import measured_anything
    from ..reports.loss.sentences import loss_lines, told

    found: dict[str, list[str]] = {"error": [], "warning": []}
    for comparison, file in zip(comparisons, files, strict=True):
        if not measured_anything(comparison):
            found["error"].append(_command("error", file, comparison.title, "nothing was measured"))
        for verdict in comparison.verdicts:
            kind = KINDS.get(verdict.outcome)
            if kind is not None and not (verdict.outcome == "inconclusive" and comparison.allow_inconclusive):
                message = "\n".join((told(verdict), *loss_lines(verdict)[1:]))
                found[kind].append(_command(kind, file, f"bench: {verdict.gate}", message))
    lines = []
    for kind, commands in found.items():
        lines += commands if len(commands) <= MOST else commands[: MOST - 1]
        if len(commands) > MOST:
            lines.append(_command(kind, None, "bench", f"and {len(commands) - MOST + 1} more, see the log"))
    return lines


def summary_files() -> dict[Path, str]:
    """The file that the summary of the job is added to, with what it is; none outside Actions, and where there is none."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    return {Path(path): "the summary of this job"} if path and inside_actions() else {}


def append_summary(comparisons: Sequence[Comparison], sentence: str, panels: Sequence[str] | None = None) -> None:
    """Add the Markdown report to the job's summary, where there is one. Raises BenchError where that file cannot be written."""
    file = next(iter(summary_files()), None)
    if file is None:
        return
    from ..reports import rendered

    text = rendered(comparisons, "markdown", panels)
    shown = text if isinstance(text, str) else text.decode()
    try:
        with open(file, "a", encoding="utf-8", errors="backslashreplace", opener=_without_waiting) as summary:
            summary.write(f"{shown}\n{sentence}\n")
    except OSError as error:
        raise BenchError(f"GITHUB_STEP_SUMMARY: {error.strerror or error}") from None


def _without_waiting(path: str, flags: int) -> int:
    """Opens a file; a pipe that nobody reads is an OSError, not a wait for somebody."""
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o666)
    if hasattr(os, "O_NONBLOCK"):
        os.set_blocking(descriptor, True)
    return descriptor


def _command(kind: str, file: Path | None, title: str, message: str) -> str:
    place = f"file={_property(file.as_posix())}," if file is not None else ""
    return f"::{kind} {place}title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
