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
    """From here on answer HTTP requests from a cassette. `charge` gets the usage that each answer
    reports, `refuse` the error about each request that has no answer."""
    try:
        import vcr
    except ImportError:
        raise LoadError(f"{path.name}: needs vcrpy — pip install vcrpy") from None
    compared = ["method", "scheme", "host", "port", "path", "query", "body"]
    player = vcr.VCR(record_mode="none", match_on=compared)
    cassette = _open.enter_context(player.use_cassette(str(path), allow_playback_repeats=True))
    play_response, can_play = cassette.play_response, cassette.can_play_response_for

    def can_play_or_refuse(request: Any) -> bool:
        """True if the cassette has an answer to a request; any other is noted as refused."""
        has_answer = bool(can_play(request))
        if not has_answer:
            refuse(f"{path.name} holds no answer to {one_line(request.uri)}")
        return has_answer

    def play_and_charge(request: Any) -> Any:
        """Play an answer, and charge the usage that it reports."""
        response = play_response(request)
        usage = usage_of(response.get("body", {}).get("string", b""))
        if usage is not None:
            charge(usage)
        return response

    cassette.play_response, cassette.can_play_response_for = play_and_charge, can_play_or_refuse


def usage_of(body: bytes | str) -> tuple[int, int, str | None] | None:
    """The tokens that a model read and wrote, and its name, from the body of its answer; None if it
    reports no usage. The answer may be a stream of events.

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
