"""HTTP requests of user code, answered offline from a cassette of vcrpy."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import Any

from ..model.errors import LoadError, StrategyError, one_line
from ..traces.intakes.streams import assembled, events_of
from ..traces.intakes.usage import usage_in
from ..traces.values import Unread, as_dict, first_of, strict_json

CASSETTE = "model.cassette.yaml"
"""The file of recorded requests and answers, in the folder that a strategy's paths start from."""

CHARGED: list[tuple[int, int, str | None]] = []
"""The tokens that a model read and wrote, as reported in each answer, and its name."""

REFUSED: list[str] = []
"""The requests that had no answer, even if the code went on."""

_open = contextlib.ExitStack()


def go_offline(base: Path) -> None:
    """From here on answer HTTP from the cassette, and forbid any other connection.

    A request that the cassette does not have, and any other connection, raises where it is made.
    """
    if os.access(base / CASSETTE, os.R_OK):
        _play(base / CASSETTE)
    sys.addaudithook(_refuse)


def _play(path: Path) -> None:
    """Answer requests from a cassette, and charge the usage reported in each answer."""
    try:
        import vcr
    except ImportError:
        raise LoadError(f"{path.name}: needs vcrpy — pip install vcrpy") from None
    matched = ["method", "scheme", "host", "port", "path", "query", "body"]
    player = vcr.VCR(record_mode="none", match_on=matched)
    cassette = _open.enter_context(player.use_cassette(str(path), allow_playback_repeats=True))
    play, knows = cassette.play_response, cassette.can_play_response_for

    def known(request: Any) -> bool:
        """True if the cassette has an answer to a request; otherwise it is noted as refused."""
        is_known = bool(knows(request))
        if not is_known:
            REFUSED.append(f"{path.name} holds no answer to {one_line(request.uri)}")
        return is_known

    def charged(request: Any) -> Any:
        """Play an answer, and charge the usage that it reports."""
        response = play(request)
        used = usage_of(response.get("body", {}).get("string", b""))
        if used is not None:
            CHARGED.append(used)
        return response

    cassette.play_response, cassette.can_play_response_for = charged, known


def usage_of(body: bytes | str) -> tuple[int, int, str | None] | None:
    """The tokens read and written as an answer reports them, streamed or not, and its model; None
    without usage.

    >>> usage_of(b'{"model": "m", "usage": {"input_tokens": 9, "output_tokens": 2}}')
    (9, 2, 'm')
    >>> usage_of("no JSON") is None
    True
    """
    text = body if isinstance(body, str) else body.decode("utf-8", "replace")
    answer = as_dict(assembled(events_of(text)) or strict_json(text))
    usage = usage_in(first_of(answer, ("usage", "usageMetadata")), Unread())
    if usage is None:
        return None
    return usage.prompt_tokens, usage.completion_tokens, first_of(answer, ("model", "modelVersion"))


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
