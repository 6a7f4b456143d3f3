"""HTTP requests of user code, answered offline from a cassette of vcrpy."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..model.errors import StrategyError, one_line

CASSETTE = "model.cassette.yaml"
"""The file of recorded requests and answers, in the folder that a strategy's paths start from."""

Charge = Callable[[int, int, str | None], None]
_open = contextlib.ExitStack()
_refused: list[str] = []


def require_answered() -> None:
    """Raise StrategyError if a request had no answer, even if the code went on."""
    if _refused:
        raise StrategyError(_refused[0])


def go_offline(base: Path, charge: Charge) -> None:
    """From here on answer HTTP from the cassette, and forbid any other connection.

    `charge` gets the tokens that a model read and wrote, as reported in each answer. A request that
    the cassette does not have, and any other connection, raises where it is made.
    """
    if os.access(f"{base}/{CASSETTE}", os.R_OK):
        _play(base / CASSETTE, charge)
    sys.addaudithook(_refuse)


def _play(path: Path, charge: Charge) -> None:
    """Answer requests from a cassette, and charge the usage reported in each answer."""
    try:
        import vcr
    except ImportError:
        raise StrategyError(f"{path.name}: needs vcrpy — pip install vcrpy") from None
    matched = ["method", "scheme", "host", "port", "path", "query", "body"]
    player = vcr.VCR(record_mode="none", match_on=matched)
    cassette = _open.enter_context(player.use_cassette(str(path), allow_playback_repeats=True))
    play, knows = cassette.play_response, cassette.can_play_response_for

    def known(request: Any) -> bool:
        """True if the cassette has an answer to a request; otherwise it is noted as refused."""
        is_known = bool(knows(request))
        if not is_known:
            _refused.append(f"{path.name} holds no answer to {one_line(request.uri)}")
        return is_known

    def charged(request: Any) -> Any:
        """Play an answer, and charge the usage that it reports."""
        response = play(request)
        used = usage_of(response.get("body", {}).get("string", b""))
        if used is not None:
            charge(*used)
        return response

    cassette.play_response, cassette.can_play_response_for = charged, known


def usage_of(body: bytes | str) -> tuple[int, int, str | None] | None:
    """The tokens read and written as an answer reports them, and its model; None without usage.

    In streamed events the last report counts.

    >>> usage_of(b'{"model": "m", "usage": {"input_tokens": 9, "output_tokens": 2}}')
    (9, 2, 'm')
    >>> usage_of("no JSON") is None
    True
    """
    text = body if isinstance(body, str) else body.decode("utf-8", "replace")
    lines = [line[5:] for line in text.splitlines() if line.startswith("data:")] or [text]
    usage: dict[str, int] = {}
    model: str | None = None
    for line in lines:
        with contextlib.suppress(ValueError, AttributeError):
            event = json.loads(line)
            event = event.get("message") or event.get("response") or event
            model = event.get("model") or model
            usage |= {key: n for key, n in (event.get("usage") or {}).items() if isinstance(n, int)}
    read = usage.get("prompt_tokens", usage.get("input_tokens"))
    written = usage.get("completion_tokens", usage.get("output_tokens"))
    return None if read is None and written is None else (read or 0, written or 0, model)


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
        _refused.append(f"{what} — record it with vcrpy into {CASSETTE} beside the scenario")
        raise StrategyError(_refused[-1])
