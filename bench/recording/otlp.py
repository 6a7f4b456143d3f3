"""A receiver for traces of OpenTelemetry: an agent that is instrumented already is recorded by one environment variable."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from .lines import Lines
from .servers import RecordingServer, answer_json, body_of, json_of, unpacked_body

_KEPT = {"/v1/traces": "resourceSpans", "/v1/logs": "resourceLogs"}
_DROPPED = {"/v1/metrics"}


class OtlpReceiver(RecordingServer):
    """Takes OTLP over HTTP in JSON and appends each batch of spans and log records as a line that the reader `otel_genai` reads.

    Batches in protobuf are refused with what to set; metrics are taken and not kept.

    Source: opentelemetry.io/docs/specs/otlp, "OTLP/HTTP"
    """

    def __init__(self, path: Path, *, host: str = "127.0.0.1", port: int = 4318, redact: bool = True) -> None:
        super().__init__((host, port), _Handler, Lines(path), redact=redact)

    @property
    def url(self) -> str:
        """What OTEL_EXPORTER_OTLP_ENDPOINT is set to."""
        return f"http://{self.server_address[0]!s}:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: OtlpReceiver

    def do_POST(self) -> None:
        try:
            body = unpacked_body(body_of(self), self.headers.get("Content-Encoding", "").lower())
        except ValueError as error:
            self.close_connection = True
            answer_json(self, 400, {"code": 3, "message": f"bench record: {error}"})
            return
        path = self.path.partition("?")[0].rstrip("/")
        if path not in _KEPT and path not in _DROPPED:
            answer_json(
                self, 404, {"code": 5, "message": f"bench record: {path} takes nothing — send to {', '.join(_KEPT)}"}
            )
        elif "json" not in self.headers.get("Content-Type", ""):
            answer_json(
                self,
                415,
                {"code": 3, "message": "bench record: takes JSON — set OTEL_EXPORTER_OTLP_PROTOCOL=http/json"},
            )
        else:
            self._take(path, json_of(body))

    def _take(self, path: str, batch: Any) -> None:
        if not isinstance(batch, dict):
            answer_json(self, 400, {"code": 3, "message": "bench record: the body is no JSON object"})
            return
        if path in _KEPT and batch.get(_KEPT[path]):
            self.server.append(batch)
        answer_json(self, 200, {"partialSuccess": {}})

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed for a request."""
