"""Baselines on disk: accepted values beside a scenario, small and readable in a diff."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ..errors import ResultsError, one_line
from ..model import SCHEMA_VERSION, Baseline
from .versioned import read_bytes, require_schema
from .writing import write_atomically


def write_baseline(baseline: Baseline, path: Path) -> None:
    """A baseline as indented JSON with sorted keys: small, and readable in a diff."""
    encoded = msgspec.json.encode({**msgspec.to_builtins(baseline), "schema": SCHEMA_VERSION}, order="sorted")
    write_atomically(path, msgspec.json.format(encoded, indent=2) + b"\n")


def read_baseline(path: Path) -> Baseline | None:
    """The baseline of a file; None where there is no file. Raises ResultsError for one that cannot be read."""
    if not path.exists():
        return None
    data, again = read_bytes(path), "accept a new one with --update-baseline"
    require_schema(path, data, again=again)
    try:
        return msgspec.json.decode(data, type=Baseline)
    except msgspec.DecodeError as error:
        raise ResultsError(f"{path}: {one_line(error)} — {again}") from None
