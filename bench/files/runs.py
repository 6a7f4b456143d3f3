"""Runs on disk: scoring them again needs neither the strategies nor a replay."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from ..errors import ResultsError, one_line
from ..model import Run
from .versioned import read_bytes, require_schema
from .writing import write_atomically


def write_runs(runs: Iterable[Run], path: Path) -> None:
    """Runs as JSON lines, one a run; scoring them again needs neither the strategies nor a replay."""
    write_atomically(path, b"".join(msgspec.json.encode(run) + b"\n" for run in runs))


def read_runs(path: Path) -> tuple[Run, ...]:
    """The runs of a file that `write_runs` wrote. Raises ResultsError naming the line and path of what does not fit."""
    runs = []
    decoder = msgspec.json.Decoder(Run)
    for number, line in enumerate(read_bytes(path).splitlines(), 1):
        require_schema(path, line, number)
        try:
            runs.append(decoder.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ResultsError(f"{path}:{number}: {one_line(error)} — replay the scenario again") from None
    if not runs:
        raise ResultsError(f"{path}: holds no run")
    return tuple(runs)
