"""GitHub Actions: annotations on the change, and the summary of the job."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..model.errors import BenchError, visible
from .saying import obey

if TYPE_CHECKING:
    from ..model.compared import Compared

MOST = 10
"""The most annotations of one kind that GitHub shows of one step."""

KINDS = {"fail": "error", "undecided": "warning", "skipped": "warning"}
"""The kind of annotation of each outcome of a gate; one that passed has none."""


def inside_actions() -> bool:
    """True if this process is a step of GitHub Actions."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


@contextmanager
def quoted_output() -> Iterator[None]:
    """Inside Actions: GitHub obeys no line that is printed in the block, such as one of a trace."""
    if not inside_actions():
        yield
        return
    token = secrets.token_hex(16)
    obey(f"::stop-commands::{token}")
    try:
        yield
    finally:
        obey(f"::{token}::")


def workflow_commands(
    comparisons: Sequence[Compared], files: Sequence[Path | None]
) -> Iterator[str]:
    """A workflow command for each gate that did not pass, on the file of its scenario.

    One that failed is an error, one that was skipped or is undecided a warning; nothing measured is
    an error too. At most ten of a kind: the last of more says how many are left out.
    """
    from ..comparison.gates import is_measured
    from ..reports.gates import gate_in_words
    from ..reports.reading import Reading

    commands: dict[str, list[str]] = {"error": [], "warning": []}
    for comparison, file in zip(comparisons, files, strict=True):
        if not is_measured(comparison):
            nothing = _command("error", file, comparison.title, "nothing was measured")
            commands["error"].append(nothing)
        for gate in comparison.gates:
            if kind := KINDS.get(gate.outcome):
                title = f"bench: {gate.rule.metric or 'baseline'}"
                words = gate_in_words(Reading(comparison), gate)
                commands[kind].append(_command(kind, file, title, words))
    for kind, texts in commands.items():
        left_out = len(texts) - MOST + 1
        if left_out > 1:
            more = _command(kind, None, "bench", f"and {left_out} more, see the log")
            texts[MOST - 1 :] = [more]
        yield from texts


def append_summary(comparisons: Sequence[Compared]) -> None:
    """Add the Markdown report to the job's summary; outside Actions nothing.

    Raises BenchError where that file cannot be written.
    """
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path or not inside_actions():
        return
    from ..reports import rendered

    try:
        with open(path, "a", encoding="utf-8", errors="backslashreplace") as summary:
            summary.write(f"{rendered(comparisons, 'markdown')}\n")
    except (OSError, ValueError) as error:
        raise BenchError(
            f"GITHUB_STEP_SUMMARY: {path}: {getattr(error, 'strerror', None) or error}"
        ) from None


def _command(kind: str, file: Path | None, title: str, message: str) -> str:
    place = f"file={_property(file.as_posix())}," if file is not None else ""
    return f"::{kind} {place}title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
