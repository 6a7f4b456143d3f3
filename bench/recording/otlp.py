"""A receiver for traces of OpenTelemetry: an agent that is instrumented already is recorded by one environment variable."""

from __future__ import annotations

import base64
from importlib import import_module
from pathlib import Path
from typing import Any

from ..model.errors import BenchError, one_line
from .servers import RecordingHandler, RecordingServer, json_of, unpacked_body

_KEPT = {"/v1/traces": "resourceSpans", "/v1/logs": "resourceLogs"}
_DROPPED = {"/v1/metrics"}
_REQUESTS = {
    "/v1/traces": ("trace", "ExportTraceServiceRequest"),
    "/v1/logs": ("logs", "ExportLogsServiceRequest"),
}
_IDS = {"traceId", "spanId", "parentSpanId"}
_PROTOBUF = "application/x-protobuf"


class OtlpReceiver(RecordingServer):
    """Takes OTLP over HTTP and appends each batch of spans and log records as a line of OTLP/JSON, which the reader `otel_genai` reads.

    Batches in protobuf need the package opentelemetry-proto and are refused without it, with what to do; metrics are taken and not kept.

    Source: opentelemetry.io/docs/specs/otlp, "OTLP/HTTP" and "JSON Protobuf Encoding"; PyPI `opentelemetry-proto` 1.45
    """

    def __init__(self, path: Path, *, host: str = "127.0.0.1", port: int = 4318, redact: bool = True) -> None:
        super().__init__((host, port), OtlpHandler, path, redact=redact)


def batch_of(path: str, body: bytes) -> dict[str, Any]:
    """A batch in protobuf, sent to `/v1/traces` or `/v1/logs`, as OTLP/JSON has it: ids in hexadecimal, everything else as protobuf's JSON.

    BenchError without the packages; ValueError for a body that is no such batch.
    """
    module, name = _REQUESTS[path]
    try:
        kind = getattr(import_module(f"opentelemetry.proto.collector.{module}.v1.{module}_service_pb2"), name)
        as_dict = import_module("google.protobuf.json_format").MessageToDict
        broken = import_module("google.protobuf.message").DecodeError
    except ImportError:
        what = "protobuf needs the extra bench[otlp] (pip install opentelemetry-proto)"
        raise BenchError(f"{what} — or set OTEL_EXPORTER_OTLP_PROTOCOL=http/json, where the exporter has it") from None
    try:
        batch: dict[str, Any] = _with_hexadecimal_ids(as_dict(kind.FromString(body)))
    except broken as error:
        raise ValueError(f"the body is no {name} in protobuf: {one_line(error)}") from None
    return batch


def _with_hexadecimal_ids(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: base64.b64decode(item).hex() if key in _IDS else _with_hexadecimal_ids(item)
            for key, item in value.items()
        }
    return [_with_hexadecimal_ids(item) for item in value] if isinstance(value, list) else value


class OtlpHandler(RecordingHandler):
    server: OtlpReceiver

    def do_POST(self) -> None:  # noqa: N802
        try:
            body = unpacked_body(self.body(), self.packing)
        except ValueError as error:
            self.close_connection = True
            self._refuse(400, 3, str(error))
            return
        path = self.path.partition("?")[0].rstrip("/")
        if path not in _KEPT and path not in _DROPPED:
            self._refuse(404, 5, f"{path} takes nothing — send to {', '.join(_KEPT)}")
        elif "json" in self.headers.get("Content-Type", ""):
            batch = json_of(body)
            if isinstance(batch, dict):
                self._keep(path, batch)
                self.answer(200, {"partialSuccess": {}})
            else:
                self._refuse(400, 3, "the body is no JSON object")
        else:
            try:
                self._keep(path, {} if path in _DROPPED else batch_of(path, body))
            except (BenchError, ValueError) as error:
                self._refuse(415 if isinstance(error, BenchError) else 400, 3, one_line(error))
            else:
                self.answer_bytes(200, _PROTOBUF, b"")  # an answer without a word in it: all of it was taken

    def _keep(self, path: str, batch: dict[str, Any]) -> None:
        if batch.get(_KEPT.get(path, "")):
            self.server.append(batch)

    def _refuse(self, status: int, code: int, why: str) -> None:
        self.answer(status, {"code": code, "message": f"bench record: {why}"})
