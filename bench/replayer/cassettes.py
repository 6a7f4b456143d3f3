"""HTTP requests of user code: a cassette of recorded answers replies, all else is refused.

`playing` reads the cassette; it imports vcrpy, so only a strategy with a cassette imports it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from ..model.errors import StrategyError, one_line

CASSETTE = "model.cassette.yaml"
"""The file of recorded requests and answers, in the folder where a strategy's paths start."""

CHARGED: list[tuple[int, int, str | None]] = []
"""For each answer the tokens that its model read and wrote, as it reports them, and its name."""

REFUSED: list[str] = []
"""The errors about requests without an answer, also those that the code caught."""


def go_offline(base: Path) -> None:
    """From here on answer HTTP requests from the cassette; any other connection raises."""
    if os.access(base / CASSETTE, os.R_OK):
        from .playing import play

        play(base / CASSETTE, CHARGED.append, REFUSED.append)
    sys.addaudithook(_refuse)


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook that forbids connections while a strategy runs."""
    host: Any = ""
    if event == "socket.getaddrinfo":
        host, *_ = arguments
    elif event in ("socket.connect", "socket.sendto"):
        _, address, *_ = arguments
        host = address[0] if isinstance(address, tuple) else ""
    if host:
        what = f"it asks {one_line(host)}, and no request leaves a replay"
        REFUSED.append(f"{what} — record it with vcrpy into {CASSETTE} beside the scenario")
        raise StrategyError(REFUSED[-1])
