"""Hosts that answer for a model while a cassette is recorded: named on the command line, and nowhere else."""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..model import compact_json
from ..model.errors import SpecError, StrategyError, TraceError, one_line
from ..strategies.own_calls import RecordedAnswer
from ..traces.documents import Document, Node
from ..traces.parts import Unread
from ..traces.requests import answer_of
from ..traces.streams import CUT, assembled, events_of

KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
"""The chat interfaces, each with the environment variable that holds its key."""

PATHS = {"openai": ("/v1", "/chat/completions"), "anthropic": ("", "/v1/messages")}
"""For each interface what a host alone stands for, and where requests go below that."""

MAX_TOKENS = 1024
"""The most tokens of an answer: Anthropic's interface requires the field."""

TIMEOUT_S = 120.0
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Hosts:
    """The hosts that were named, `HOST` or `anthropic=HOST` each, as what answers a request. Raises SpecError for what is no address.

    >>> Hosts(["anthropic=localhost:8000"]).addresses
    {'anthropic': 'http://localhost:8000/v1/messages'}
    """

    def __init__(self, named: Sequence[str]) -> None:
        self.addresses = dict(map(address_of, named))
        self._keys = {api: os.environ.get(name) for api, name in KEYS.items()}

    def __call__(self, request: Mapping[str, Any]) -> RecordedAnswer:
        api = str(request.get("api", "openai"))
        if api not in self.addresses:
            known = f"name it: --record-model {api}=HOST" if api in PATHS else f"known: {', '.join(PATHS)}"
            raise StrategyError(f"no host was named for api {api!r} — {known}")
        body, url = {key: value for key, value in request.items() if key not in ("api", "path")}, self.addresses[api]
        if "path" in request:
            url = url.removesuffix(PATHS["openai"][1]) + request["path"]
        began = time.monotonic()
        sent = compact_json(_for_anthropic(body) if api == "anthropic" else body)
        given = _posted(url, sent, _headers(api, self._keys[api]))
        took = round(time.monotonic() - began, 3)
        data = assembled(events_of(given)) if isinstance(given, str) else given
        try:
            said = answer_of(Node(Document(Path(), url), None, "$", data), Unread())
        except TraceError as error:
            raise StrategyError(f"{error} — check the host") from None
        if isinstance(given, str) and (said is None or said.finish_reason == CUT):
            what = f"{url}: the streamed answer broke off, or is in no form that is known"
            raise StrategyError(f"{what} — check the host")
        spent = said.usage if said else None
        return RecordedAnswer(
            text=said.text if said else "",
            input_tokens=spent.prompt_tokens if spent else None,
            output_tokens=spent.completion_tokens if spent else None,
            seconds=took,
            body=given,
        )


def address_of(text: str) -> tuple[str, str]:
    """The interface of a host as it is named, and the address that its requests go to. Raises SpecError.

    >>> address_of("api.openai.com"), address_of("anthropic=http://127.0.0.1:8000")
    (('openai', 'https://api.openai.com/v1/chat/completions'), ('anthropic', 'http://127.0.0.1:8000/v1/messages'))
    """
    api, _, rest = text.partition("=")
    api, address = (api, rest) if api in PATHS else ("openai", text)
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if (
        not host
        or parts.scheme not in ("", "http", "https")
        or parts.query
        or parts.username
        or "=" in host
        or " " in host
    ):
        known = "api.openai.com, http://127.0.0.1:8000/v1, or anthropic=HOST"
        raise SpecError(f"--record-model {one_line(text)}: names no host — write {known}")
    scheme = parts.scheme or ("http" if host in LOOPBACK else "https")
    alone, below = PATHS[api]
    path = parts.path.rstrip("/") or alone
    return api, f"{scheme}://{parts.netloc}{path.removesuffix('/v1') if api == 'anthropic' else path}{below}"


def _for_anthropic(body: Mapping[str, Any]) -> dict[str, Any]:
    """A request as Anthropic's interface takes it: what the system says is no message, and an answer has a limit."""
    said = "\n\n".join(item["content"] for item in body["messages"] if item["role"] == "system")
    messages = [item for item in body["messages"] if item["role"] != "system"]
    return {"max_tokens": MAX_TOKENS, **body, "messages": messages, **({"system": said} if said else {})}


def _headers(api: str, key: str | None) -> dict[str, str]:
    headers = {"content-type": "application/json"}
    if api == "anthropic":
        return {**headers, "anthropic-version": "2023-06-01", **({"x-api-key": key} if key else {})}
    return {**headers, **({"authorization": f"Bearer {key}"} if key else {})}


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is an error: the key goes to the host that was named, and to no other."""

    def redirect_request(self, *given: Any) -> None:
        """None: nothing is asked elsewhere."""


def _posted(url: str, body: str, headers: Mapping[str, str]) -> dict[str, Any] | str:
    """The answer of a host: an object, or a stream of events as its text."""
    opener = urllib.request.build_opener(_NoRedirect)
    try:
        with opener.open(urllib.request.Request(url, body.encode(), dict(headers)), timeout=TIMEOUT_S) as reply:
            told = reply.read().decode()
            found = told if reply.headers.get_content_type() == "text/event-stream" else json.loads(told)
    except urllib.error.HTTPError as error:
        with error:
            said = one_line(error.read(500).decode(errors="replace"))
        what = f"{url}: {error.code} {error.reason}: {said}"
        raise StrategyError(f"{what} — check the host, the model and the key") from None
    except (OSError, ValueError, HTTPException) as error:
        raise StrategyError(f"{url}: {one_line(error)} — check the host") from None
    if not isinstance(found, dict | str):
        raise StrategyError(f"{url}: expected a JSON object, got {type(found).__name__} — check the host")
    return found
