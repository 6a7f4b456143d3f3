"""GitHub Actions: annotations on the change, and the summary of the job."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ..model.errors import BenchError, visible
from .saying import obey

if TYPE_CHECKING:
    from ..model.compared import Compared

MOST = 10
"""The most annotations of one kind that GitHub shows of one step."""

KINDS = {"fail": "error", "undecided": "warning", "skipped": "warning"}


def inside_actions() -> bool:
    """True if this process is a step of GitHub Actions."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


@contextmanager
def quoted_output() -> Iterator[None]:
    """Inside Actions: what is printed here is text only.

    A line from a trace that looks like a workflow command is not obeyed.
    """
    if not inside_actions():
        yield
        return
    token = secrets.token_hex(16)
    obey(f"::stop-commands::{token}")
    try:
        yield
    finally:
        obey(f"::{token}::")


def workflow_commands(comparisons: Sequence[Compared], files: Sequence[Path | None]) -> list[str]:
    """A workflow command for each gate that failed (an error), or was skipped or could not be
    judged (a warning), on its scenario's file.

    At most ten of a kind, which is what GitHub shows; the last of more says how many are left out.
    One that measured nothing is an error.
    """
    from ..comparison.gates import is_measured
    from ..reports.junit import message
    from ..reports.reading import Reading

    by_level: dict[str, list[str]] = {"error": [], "warning": []}
    for comparison, file in zip(comparisons, files, strict=True):
        if not is_measured(comparison):
            by_level["error"].append(_command("error", file, comparison.title, "nothing was measured"))
        reading = Reading(comparison)
        for gate in comparison.gates:
            kind = KINDS.get(gate.outcome)
            if kind is not None:
                by_level[kind].append(
                    _command(
                        kind,
                        file,
                        f"bench: {gate.rule.metric or 'baseline'}",
                        f"{gate.strategy}: {message(reading, gate)}",
                    )
                )
    lines = []
    for kind, commands in by_level.items():
        lines += commands if len(commands) <= MOST else commands[: MOST - 1]
        if len(commands) > MOST:
            lines.append(_command(kind, None, "bench", f"and {len(commands) - MOST + 1} more, see the log"))
    return lines


def summary_files() -> dict[Path, str]:
    """The file that the summary of the job is added to, with what it is; none outside Actions, and
    where there is none.
    """
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    return {Path(path): "the summary of this job"} if path and inside_actions() else {}


@contextmanager
def opened_summary() -> Iterator[TextIO | None]:
    """The summary of the job, open to be added to: None where there is none.

    Raises BenchError where it cannot be, before anything is written.
    """
    file = next(iter(summary_files()), None)
    if file is None:
        yield None
        return
    try:
        descriptor = _without_waiting(file)
    except (OSError, ValueError) as error:
        raise _unwritten(file, error) from None
    summary = os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace")
    try:
        yield summary
    finally:
        with suppress(OSError):  # a full disk was reported where it was written to
            summary.close()


def append_summary(summary: TextIO | None, comparisons: Sequence[Compared], sentence: str) -> None:
    """Add the Markdown report to the job's summary, where there is one.

    Raises BenchError where that file cannot be written.
    """
    if summary is None:
        return
    from ..reports import rendered

    try:
        summary.write(f"{rendered(comparisons, 'markdown')}\n{sentence}\n")
        summary.flush()
    except OSError as error:
        raise _unwritten(next(iter(summary_files())), error) from None


def _unwritten(file: Path, error: OSError | ValueError) -> BenchError:
    return BenchError(f"GITHUB_STEP_SUMMARY: {file}: {getattr(error, 'strerror', None) or error}")


def _without_waiting(path: Path) -> int:
    """Opens a file to be added to; a pipe that nobody reads is an OSError, not a wait for somebody."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, 0o666)
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
