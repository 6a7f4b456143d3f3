"""A host of models on this machine: enough of the interfaces of OpenAI and Anthropic, streamed or not, which remembers what it was asked."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from typing import Any

STREAMS: dict[str, list[dict[str, Any]]] = {
    "/v1/chat/completions": [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "few "}}]},
        {"choices": [{"index": 0, "delta": {"content": "words"}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        {"choices": [], "usage": {"prompt_tokens": 70, "completion_tokens": 3}},
    ],
    "/v1/responses": [
        {"type": "response.created", "response": {"id": "r", "status": "in_progress", "output": []}},
        {"type": "response.output_text.delta", "delta": "few words"},
        {"type": "response.completed", "response": {
            "id": "r", "status": "completed", "usage": {"input_tokens": 70, "output_tokens": 3, "total_tokens": 73},
            "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "few words"}]}]}},
    ],
    "/v1/messages": [
        {"type": "message_start", "message": {"role": "assistant", "content": [], "usage": {"input_tokens": 600, "cache_read_input_tokens": 400}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "brief"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 100}},
    ],
}  # fmt: skip


class Host(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, dict(self.headers), body))  # type: ignore[attr-defined]
        if body["model"] == "refused":
            self._reply(302, {}, location="http://127.0.0.1:9/elsewhere")
        elif body.get("stream"):
            told = STREAMS[self.path][: 2 if body["model"] == "cut" else None]
            told = told if body.get("stream_options") or self.path != "/v1/chat/completions" else told[:3]
            data = "".join(f"data: {json.dumps(event)}\n\n" for event in told)
            self._reply(200, data.encode(), content_type="text/event-stream; charset=utf-8")
        elif self.path == "/v1/messages":
            content = [{"type": "text", "text": "brief"}]
            self._reply(
                200, {"role": "assistant", "content": content, "usage": {"input_tokens": 1000, "output_tokens": 100}}
            )
        else:
            choices = [{"message": {"role": "assistant", "content": "few words"}}]
            self._reply(200, {"choices": choices, "usage": {"prompt_tokens": 70, "completion_tokens": 3}})

    def _reply(self, status: int, body: dict[str, Any] | bytes, **headers: str) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""
