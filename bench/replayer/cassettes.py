"""HTTP requests of user code: only a cassette answers, and other connections are refused."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from ..model.errors import StrategyError, one_line

CASSETTE = "model.cassette.yaml"
"""The file of recorded requests and answers, in the folder that a strategy's paths start from."""

CHARGED: list[tuple[int, int, str | None]] = []
"""The tokens that a model read and wrote, as reported in each answer, and its name."""

REFUSED: list[str] = []
"""The requests that had no answer, even if the code went on."""


def go_offline(base: Path) -> None:
    """From here on answer HTTP from the cassette, and forbid any other connection.

    A request that the cassette does not have, and any other connection, raises where it is made.
    """
    if os.access(base / CASSETTE, os.R_OK):
        from .playing import play

        play(base / CASSETTE, CHARGED.append, REFUSED.append)
    sys.addaudithook(_refuse)


def _refuse(event: str, given: tuple[Any, ...]) -> None:
    """An audit hook that forbids connections while a strategy runs."""
    host: Any = ""
    if event == "socket.getaddrinfo":
        host, *_ = given
    elif event in ("socket.connect", "socket.sendto"):
        _, address, *_ = given
        host = address[0] if isinstance(address, tuple) else ""
    if host:
        what = f"it asks {one_line(host)}, and no request leaves a replay"
        REFUSED.append(f"{what} — record it with vcrpy into {CASSETTE} beside the scenario")
        raise StrategyError(REFUSED[-1])
