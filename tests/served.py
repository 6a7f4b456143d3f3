"""A model provider on this machine: answers in OpenAI's chat interface and Anthropic's, streamed or not, and logs what it was asked and answered."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

WALLS = {"walls": 36, "length_m": 471.5}


class Provider(ThreadingHTTPServer):
    """Asks for the tool first, then answers with what the tool said. `log` holds (path, headers, request, answer) of each call. What is still to be
    sent, all but the first event of a stream, waits for `released`."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.log: list[tuple[str, dict[str, str], Any, Any]] = []
        self.released = threading.Event()
        self.released.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        done = any(_is_result(message) for message in request["messages"])
        anthropic = self.path.endswith("/messages")
        answer = (_anthropic if anthropic else _chat)(request, done)
        self.server.log.append(
            (self.path, {name.lower(): value for name, value in self.headers.items()}, request, answer)
        )
        if request.get("model") == "broken":
            return self._send(500, b'{"error": {"message": "broken"}}')
        if not request.get("stream"):
            self.server.released.wait(10)
            return self._send(200, json.dumps(answer).encode())
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in (_anthropic_events if anthropic else _chat_events)(answer):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))
            self.wfile.flush()
            self.server.released.wait(10)
        self.wfile.write(b"0\r\n\r\n")
        return None

    def do_GET(self) -> None:
        self._send(200, b'{"data": [{"id": "m-1"}]}')

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _is_result(message: dict[str, Any]) -> bool:
    content = message.get("content")
    return message["role"] == "tool" or (
        isinstance(content, list) and any(block["type"] == "tool_result" for block in content)
    )


def _chat(request: dict[str, Any], done: bool) -> dict[str, Any]:
    call = {"id": "call_1", "type": "function", "function": {"name": "count", "arguments": '{"of": "walls"}'}}
    message = (
        {"role": "assistant", "content": "36 walls, 471.5 m."}
        if done
        else {"role": "assistant", "content": None, "tool_calls": [call]}
    )
    usage = {"prompt_tokens": 20 + done, "completion_tokens": 7, "total_tokens": 27 + done}
    reason = "stop" if done else "tool_calls"
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m-1", "usage": usage,
            "choices": [{"index": 0, "message": message, "finish_reason": reason}]}  # fmt: skip


def _chat_events(answer: dict[str, Any]) -> Iterator[bytes]:
    message = answer["choices"][0]["message"]
    deltas: list[Any] = [{"role": "assistant"}]
    deltas += [{"content": char} for char in message["content"] or ""]
    for call in message.get("tool_calls", []):
        deltas.append(
            {
                "tool_calls": [
                    {
                        "index": 0,
                        "id": call["id"],
                        "type": "function",
                        "function": {"name": call["function"]["name"], "arguments": ""},
                    }
                ]
            }
        )
        deltas += [
            {"tool_calls": [{"index": 0, "function": {"arguments": char}}]} for char in call["function"]["arguments"]
        ]
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m-1"}
    chunks = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append(
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": answer["choices"][0]["finish_reason"]}]}
    )
    chunks.append({**head, "choices": [], "usage": answer["usage"]})
    yield from (f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks)
    yield b"data: [DONE]\n\n"


def _anthropic(request: dict[str, Any], done: bool) -> dict[str, Any]:
    call = {"type": "tool_use", "id": "toolu_1", "name": "count", "input": {"of": "walls"}}
    content = [{"type": "text", "text": "36 walls, 471.5 m."}] if done else [call]
    return {"id": "m", "type": "message", "role": "assistant", "model": "m-2", "content": content,
            "stop_reason": "end_turn" if done else "tool_use", "usage": {"input_tokens": 30 + done, "output_tokens": 9}}  # fmt: skip


def _anthropic_events(answer: dict[str, Any]) -> Iterator[bytes]:
    start = {**answer, "content": [], "stop_reason": None}
    block = answer["content"][0]
    text = block["type"] == "text"
    empty = {**block, "text": ""} if text else {**block, "input": {}}
    said = block["text"] if text else json.dumps(block["input"])
    deltas = [
        {"type": "text_delta", "text": char} if text else {"type": "input_json_delta", "partial_json": char}
        for char in said
    ]
    events: list[Any] = [
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": empty},
    ]
    events += [{"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas]
    events += [{"type": "content_block_stop", "index": 0},
               {"type": "message_delta", "delta": {"stop_reason": answer["stop_reason"]}, "usage": {"output_tokens": 9}},
               {"type": "message_stop"}]  # fmt: skip
    yield from (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)


@contextmanager
def serving(server: Any) -> Iterator[Any]:
    """A server that runs in a thread of its own until the block ends."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join(5)
        (server.close if hasattr(server, "close") else server.server_close)()
