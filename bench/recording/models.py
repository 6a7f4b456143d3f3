"""Hosts that answer for a model while a cassette is recorded: named on the command line, and nowhere else."""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from ..model import compact_json
from ..model.errors import SpecError, StrategyError, one_line
from ..strategies.cassettes import RecordedAnswer

KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
"""The chat interfaces, each with the environment variable that holds its key."""

PATHS = {"openai": ("/v1", "/chat/completions"), "anthropic": ("", "/v1/messages")}
"""For each interface what a host alone stands for, and where requests go below that."""

USAGE = (("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens"))
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
        """Return the host's answer to a request. Raises StrategyError where there is none."""
        api = str(request.get("api", "openai"))
        if api not in self.addresses:
            known = f"name it: --record-model {api}=HOST" if api in PATHS else f"known: {', '.join(PATHS)}"
            raise StrategyError(f"no host was named for api {api!r} — {known}")
        body, url = {key: value for key, value in request.items() if key not in ("api", "path")}, self.addresses[api]
        if "path" in request:
            url = url.removesuffix(PATHS["openai"][1]) + request["path"]
        began = time.monotonic()
        data = _posted(
            url, compact_json(_for_anthropic(body) if api == "anthropic" else body), _headers(api, self._keys[api])
        )
        took, usage = round(time.monotonic() - began, 3), data.get("usage")
        spent = [usage.get(old, usage.get(new)) if isinstance(usage, dict) else None for old, new in USAGE]
        read, written = (number if type(number) is int and number >= 0 else None for number in spent)
        return RecordedAnswer(text=_text(api, data), input_tokens=read, output_tokens=written, seconds=took, body=data)


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


def _posted(url: str, body: str, headers: Mapping[str, str]) -> dict[str, Any]:
    opener = urllib.request.build_opener(_NoRedirect)
    try:
        with opener.open(urllib.request.Request(url, body.encode(), dict(headers)), timeout=TIMEOUT_S) as reply:
            found = json.loads(reply.read())
    except urllib.error.HTTPError as error:
        with error:
            said = one_line(error.read(500).decode(errors="replace"))
        raise StrategyError(
            f"{url}: {error.code} {error.reason}: {said} — check the host, the model and the key"
        ) from None
    except (OSError, ValueError) as error:
        raise StrategyError(f"{url}: {one_line(error)} — check the host") from None
    if not isinstance(found, dict):
        raise StrategyError(f"{url}: expected a JSON object, got {type(found).__name__} — check the host")
    return found


def _text(api: str, data: Mapping[str, Any]) -> str:
    """The text of an answer; `""` where there is none."""
    try:
        if api == "openai":
            return str(data["choices"][0]["message"]["content"] or "")
        return "".join(block["text"] for block in data["content"] if block["type"] == "text")
    except (KeyError, IndexError, TypeError):
        return ""
