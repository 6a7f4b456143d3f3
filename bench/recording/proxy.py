"""A proxy between an agent and its model provider that writes down each call: for agents in any language."""

from __future__ import annotations

import contextlib
import http.client
import socket
import ssl
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..model.errors import BenchError
from ..traces.streams import assembled, events_of
from .servers import RecordingHandler, RecordingServer, json_of, unpacked_body

_OWN = {"host", "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
        "transfer-encoding", "upgrade", "content-length", "accept-encoding", "expect"}  # fmt: skip
"""Headers that belong to one connection, or that the proxy sets itself."""

_TIMEOUT_S = 900


class Proxy(RecordingServer):
    """Passes every request on to `upstream` and its answer back, streamed ones as they come, and appends each POST with its answer to a log
    that the reader `request_log` reads. Headers, which hold the keys, are passed on and not written.

    Source: platform.openai.com/docs/api-reference (streaming); docs.anthropic.com, "Streaming Messages"; RFC 9110 7.6.1 (headers of a connection)
    """

    def __init__(
        self, upstream: str, path: Path, *, host: str = "127.0.0.1", port: int = 0, redact: bool = True
    ) -> None:
        self.upstream = urlsplit(upstream)
        if self.upstream.scheme not in ("http", "https") or not self.upstream.hostname:
            raise BenchError(f"{upstream}: is no address of a provider — give one such as https://api.openai.com")
        super().__init__((host, port), ProxyHandler, path, redact=redact)

    def connect(self) -> http.client.HTTPConnection:
        host, port = self.upstream.hostname or "", self.upstream.port
        if self.upstream.scheme == "https":
            return http.client.HTTPSConnection(host, port, timeout=_TIMEOUT_S, context=ssl.create_default_context())
        return http.client.HTTPConnection(host, port, timeout=_TIMEOUT_S)


class ProxyHandler(RecordingHandler):
    server: Proxy
    gone = False  # if the agent went away before it had the whole answer

    def _pass(self) -> None:
        try:
            body = self.body()
        except ValueError as error:
            self.close_connection = True
            self.answer(400, {"error": {"message": f"bench record: {error}"}})
            return
        started, self.gone = time.time(), False
        connection = self.server.connect()
        try:
            headers = {name: value for name, value in self.headers.items() if name.lower() not in _OWN}
            headers |= {"Accept-Encoding": "identity", "Content-Length": str(len(body))}
            connection.request(self.command, self.server.upstream.path.rstrip("/") + self.path, body, headers)
            answer = connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            why = f"{self.server.upstream.netloc} did not answer: {error or type(error).__name__}"
            said = {"error": {"message": f"bench record: {why}"}}
            self._record(body, 502, said, started)
            self.answer(502, said)
            return
        with contextlib.closing(connection):
            self._answer(answer, lambda parts: self._record(body, answer.status, self._read(answer, parts), started))

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = do_OPTIONS = _pass  # noqa: N815

    def _answer(self, answer: http.client.HTTPResponse, record: Callable[[bytes], None]) -> None:
        """Pass an answer on: one of a told length when it is whole, a streamed one as it comes. It is recorded before the agent has its end, so
        that no call that the agent saw the end of is lost. An agent that has gone does not end the recording."""
        told = answer.getheader("Content-Length")
        bare = self.command == "HEAD" or answer.status in (204, 304)
        body = b""
        if told is not None and not bare:
            with contextlib.suppress(OSError, http.client.HTTPException):
                body = answer.read()
            self.gone = self._left()
            record(body)
        self.send_response(answer.status, answer.reason)
        for name, value in answer.getheaders():
            if name.lower() not in _OWN | {"date", "server"}:
                self.send_header(name, value)
        streamed = told is None and not bare
        self.send_header(*(("Transfer-Encoding", "chunked") if streamed else ("Content-Length", told or "0")))
        try:
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            self.close_connection = self.gone = True
        if streamed:
            self._stream(answer, record)
        elif bare:
            record(b"")

    def _stream(self, answer: http.client.HTTPResponse, record: Callable[[bytes], None]) -> None:
        parts: list[bytes] = []
        whole = False
        try:
            while part := answer.read1(65536):
                parts.append(part)
                if not self.close_connection and not self._sent(b"%x\r\n%b\r\n" % (len(part), part)):
                    self.close_connection = self.gone = True
            whole = True
        except (OSError, http.client.HTTPException):
            self.close_connection = True  # the provider broke off: the agent sees it as it is, without an end
        record(b"".join(parts))
        if whole and not self.close_connection and not self._sent(b"0\r\n\r\n"):
            self.close_connection = True

    def _left(self) -> bool:
        """True if the agent closed its connection while it waited."""
        try:
            return not self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except OSError as error:
            return not isinstance(error, BlockingIOError)

    def _sent(self, data: bytes) -> bool:
        try:
            self.wfile.write(data)
        except OSError:
            return False
        return True

    def _read(self, answer: http.client.HTTPResponse, body: bytes) -> Any:
        """Return the content of an answer: JSON, an assembled stream, or its text."""
        try:
            body = unpacked_body(body, (answer.getheader("Content-Encoding") or "").lower())
        except ValueError as error:
            return f"not read: {error}"
        value = json_of(body)
        return (assembled(events_of(value)) or value) if isinstance(value, str) else value

    def _record(self, body: bytes, status: int, answer: Any, started: float) -> None:
        if self.command == "POST":
            request: Any = None
            with contextlib.suppress(ValueError):
                request = json_of(unpacked_body(body, self.packing))
            said = {"startTime": started, "endTime": time.time(), "path": self.path, "status": status}
            said |= {"agent_gone": True} if self.gone else {}
            self.server.append({**said, "request": request, "response": answer})
