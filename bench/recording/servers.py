"""The parts that recording servers share: an address on this machine, bodies of requests, and the file that grows."""

from __future__ import annotations

import gzip
import json
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ..model.errors import BenchError
from .lines import Lines
from .redaction import Redactor

MAX_BODY = 512 * 1024 * 1024


class RecordingServer(ThreadingHTTPServer):
    """A server whose handlers append what they saw to one file: `append`, safe from several threads. `close` waits for the disk.

    Secrets are removed from what is appended where there is a `redactor`; what passes through is not changed.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler], path: Path, *, redact: bool
    ) -> None:
        try:
            super().__init__(address, handler)
        except OSError as error:
            what = f"{address[0]}:{address[1]}: cannot listen: {error.strerror or error}"
            raise BenchError(f"{what} — give another --port or --host") from None
        self.redact, self.recorded = redact, 0
        try:
            self.lines = Lines(path)
        except BenchError:
            self.server_close()
            raise

    @property
    def url(self) -> str:
        """The address for the agent, without a path."""
        return f"http://{self.server_address[0]!s}:{self.server_address[1]}"

    def append(self, value: Any) -> None:
        """Append one record as a line of JSON."""
        clean = Redactor().value(value) if self.redact else value
        self.lines.append(
            json.dumps(clean, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
        )
        self.recorded += 1

    def close(self) -> None:
        """Stop listening, wait until the disk has every record."""
        self.server_close()
        self.lines.close()


class RecordingHandler(BaseHTTPRequestHandler):
    """One request to a recording server. Nothing is printed for it."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""

    @property
    def packing(self) -> str:
        """The compression of the request's body, `""` for none."""
        return self.headers.get("Content-Encoding", "").lower()

    def body(self) -> bytes:
        """Read the body of the request, whether its length is given or it comes in chunks. ValueError for one that is too long or broken."""
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            parts: list[bytes] = []
            while size := int(self.rfile.readline(100).split(b";")[0], 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline(10)
                if sum(map(len, parts)) > MAX_BODY:
                    raise ValueError("the body is too long")
            self.rfile.readline(10)
            return b"".join(parts)
        length = int(self.headers.get("Content-Length") or 0)
        if not 0 <= length <= MAX_BODY:
            raise ValueError("the body is too long")
        return self.rfile.read(length)

    def answer(self, status: int, value: Any) -> None:
        self.answer_bytes(status, "application/json", json.dumps(value).encode())

    def answer_bytes(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def unpacked_body(body: bytes, encoding: str) -> bytes:
    """A body without its compression, gzip or deflate. ValueError for another one, or a broken one.

    >>> unpacked_body(gzip.compress(b"{}"), "gzip"), unpacked_body(b"{}", "")
    (b'{}', b'{}')
    """
    try:
        if encoding in ("gzip", "x-gzip"):
            return gzip.decompress(body)
        if encoding == "deflate":
            return zlib.decompress(body)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"the body is no {encoding}: {error}") from None
    if encoding not in ("", "identity"):
        raise ValueError(f"the body is packed as {encoding!r}, which is not read here")
    return body


def json_of(body: bytes) -> Any:
    """Parse a body as JSON; return its text where it is no JSON, None where it is empty."""
    text = body.decode("utf-8", "replace")
    try:
        return json.loads(text) if text else None
    except (ValueError, RecursionError):
        return text
