"""A server beside somebody else's code, so that any client of a model is answered from the cassette, as `bench.ask` is.

It listens on this machine alone. OPENAI_BASE_URL and ANTHROPIC_BASE_URL name it to the code, and to the programs that the code starts.
"""

from __future__ import annotations

import json
import os
import select
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from ..model.errors import StrategyError, one_line
from .own_calls import OwnCalls

_CHAT, _MESSAGES = "/v1/chat/completions", "/v1/messages"


class ModelServer(HTTPServer):
    """Answers the calls of one replay at a time. It is bound before code is imported, since clients are often made at import."""

    request_queue_size = 128
    calls: OwnCalls | None = None
    process = 0
    busy = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        url = f"http://127.0.0.1:{self.server_port}"
        os.environ.update(
            OPENAI_BASE_URL=f"{url}/v1", ANTHROPIC_BASE_URL=url, NO_PROXY="127.0.0.1", no_proxy="127.0.0.1"
        )
        for key in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):  # clients refuse to be made without one
            os.environ.setdefault(key, "replayed")

    def answer_for(self, calls: OwnCalls) -> None:
        """From here on answer for this replay, in a thread of the process that replays."""
        self.calls = calls
        if self.process != os.getpid():
            self.process = os.getpid()
            threading.Thread(target=self.serve_forever, daemon=True).start()

    def get_request(self) -> Any:
        """The next client. From before it is taken from the queue until it is answered the server is busy."""
        self.busy = True
        return super().get_request()

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        self.busy = False

    def hear_all(self) -> None:
        """Wait until every request sent so far is answered, also one whose answer the code did not wait for; 5 seconds at most."""
        until = time.monotonic() + 5.0
        while self.process == os.getpid() and time.monotonic() < until:
            waits = select.select([self.socket], [], [], 0)[0]
            if not waits and not self.busy:  # in this order: it is busy before it takes one
                return
            time.sleep(0.001)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that went away."""


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer

    def do_POST(self) -> None:
        calls, body = self.server.calls, self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            if calls is None:
                raise StrategyError("a model is asked at import — ask it in a call")
            self._send(200, calls.body_for(_request(self.path, body)))
        except StrategyError as error:
            if calls is not None:
                calls.refused = str(error)
            self._send(400, {"error": {"type": "invalid_request_error", "message": str(error)}})

    def _send(self, status: int, value: dict[str, Any] | str) -> None:
        told = (value if isinstance(value, str) else json.dumps(value)).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/event-stream" if isinstance(value, str) else "application/json")
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


def _request(path: str, body: bytes) -> dict[str, Any]:
    """The request as cassettes hold it. Raises StrategyError for one that no cassette can hold."""
    try:
        found = json.loads(body)
        named = isinstance(found, dict) and isinstance(found.get("model"), str)
    except ValueError:
        named = False
    if not named:
        raise StrategyError(f"POST {one_line(path)[:80]} names no model, so that no cassette can answer it")
    place = path.partition("?")[0].rstrip("/")
    named_api = {_CHAT: {}, _MESSAGES: {"api": "anthropic"}}.get(place, {"path": place.removeprefix("/v1")})
    return {**found, **named_api}
