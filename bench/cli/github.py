"""GitHub Actions: annotations on the change, and the summary of the job."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..model.errors import BenchError, visible

if TYPE_CHECKING:
    from ..model.compared import Compared


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
    from ..reports.gates import gates_in_words

    for compared, file in zip(comparisons, files, strict=True):
        failed = [] if is_measured(compared) else ["nothing was measured"]
        failed += gates_in_words(compared, "fail")
        waiting = gates_in_words(compared, "undecided", "skipped")
        for kind, lines in (("error", failed), ("warning", waiting)):
            if lines:
                yield _command(kind, file, f"bench: {compared.title}", "\n".join(lines))


def append_summary(comparisons: Sequence[Compared]) -> None:
    """Add the Markdown report to the job's summary; outside Actions do nothing.

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
