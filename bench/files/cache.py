"""The folders in which the bench keeps what it can make again."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder(name: str) -> Path:
    """The folder of one cache of the bench: below `XDG_CACHE_HOME`, by default `~/.cache`. It need
    not exist.
    """
    return (
        Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        / "agent-memory-bench"
        / name
    )
