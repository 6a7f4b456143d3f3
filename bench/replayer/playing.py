"""Answers to HTTP requests of user code from a cassette of vcrpy."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..model.errors import LoadError, one_line
from ..traces.intakes.streams import assembled, events_of
from ..traces.intakes.usage import usage_in
from ..traces.values import Unread, as_dict, first_of, strict_json

_open = contextlib.ExitStack()


def play(path: Path, charge: Callable[[Any], object], refuse: Callable[[str], object]) -> None:
    """Answer requests from a cassette; `charge` gets the usage that each answer reports, `refuse` a
    clause on each request without an answer."""
    try:
        import vcr
    except ImportError:
        raise LoadError(f"{path.name}: needs vcrpy — pip install vcrpy") from None
    matched = ["method", "scheme", "host", "port", "path", "query", "body"]
    player = vcr.VCR(record_mode="none", match_on=matched)
    cassette = _open.enter_context(player.use_cassette(str(path), allow_playback_repeats=True))
    answer, knows = cassette.play_response, cassette.can_play_response_for

    def known(request: Any) -> bool:
        """True if the cassette has an answer to a request; otherwise it is noted as refused."""
        is_known = bool(knows(request))
        if not is_known:
            refuse(f"{path.name} holds no answer to {one_line(request.uri)}")
        return is_known

    def charged(request: Any) -> Any:
        """Play an answer, and charge the usage that it reports."""
        response = answer(request)
        used = usage_of(response.get("body", {}).get("string", b""))
        if used is not None:
            charge(used)
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
