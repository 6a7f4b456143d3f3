"""The ways to record that docs/traces.md shows, each with the tool itself: what it writes is read as the run that was made."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from bench.model import ModelTurn, SystemTurn, ToolResult, Trace, UserTurn
from bench.traces import load

TOOLS = [
    {
        "type": "function",
        "function": {"name": "count", "parameters": {"type": "object", "properties": {"of": {"type": "string"}}}},
    }
]
CALL = {"id": "c1", "type": "function", "function": {"name": "count", "arguments": '{"of": "walls"}'}}
ANSWERS: list[dict[str, Any]] = [
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "assistant", "content": "36 walls."},
]
ASKED: list[dict[str, Any]] = [
    {"role": "system", "content": "You count."},
    {"role": "user", "content": "How many walls?"},
]
SHOWN = {"role": "tool", "tool_call_id": "c1", "content": '{"count": 36}'}


class Provider(BaseHTTPRequestHandler):
    """Enough of OpenAI's chat interface: a call, and an answer once there is a result."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        message = ANSWERS[any(item["role"] == "tool" for item in body["messages"])]
        usage = {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        answer = {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": "gpt-4o",
            "choices": [choice],
            "usage": usage,
        }
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Provider)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def agent(url: str) -> None:
    """An agent of two calls, which speaks to a provider itself."""
    for messages in (ASKED, [*ASKED, ANSWERS[0], SHOWN]):
        body = json.dumps({"model": "gpt-4o", "messages": messages, "tools": TOOLS}).encode()
        request = urllib.request.Request(f"{url}/chat/completions", body, {"content-type": "application/json"})
        with urllib.request.urlopen(request) as response:
            response.read()


def is_the_run(path: Path) -> bool:
    (trace,) = load([str(path)]).traces
    return run_of(trace) == ["You count.", "How many walls?", ["count", {"of": "walls"}], '{"count": 36}', "36 walls."]


def run_of(trace: Trace) -> list[Any]:
    found: list[Any] = []
    for step in trace.steps:
        if isinstance(step, SystemTurn | UserTurn):
            found.append(step.content)
        elif isinstance(step, ModelTurn):
            found += [[call.name, call.arguments] for call in step.tool_calls] or [step.content]
        elif isinstance(step, ToolResult):
            found.append(step.text)
    return found


@pytest.mark.filterwarnings("ignore")
def test_a_cassette_of_vcr_is_read(provider: str, tmp_path: Path) -> None:
    vcr = pytest.importorskip("vcr")
    with vcr.use_cassette(str(tmp_path / "walls.yaml"), filter_headers=["authorization", "x-api-key"]):
        agent(provider)
    assert is_the_run(tmp_path / "walls.yaml")


def test_spans_of_open_telemetry_are_read(tmp_path: Path) -> None:
    pytest.importorskip("opentelemetry.sdk")
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor

    def parts(message: dict[str, Any]) -> dict[str, Any]:
        calls = [
            {
                "type": "tool_call",
                "id": call["id"],
                "name": call["function"]["name"],
                "arguments": json.loads(call["function"]["arguments"]),
            }
            for call in message.get("tool_calls", [])
        ]
        text = [{"type": "text", "content": message["content"]}] if message["content"] else []
        shown = [{"type": "tool_call_response", "id": message.get("tool_call_id"), "response": message["content"]}]
        return {"role": message["role"], "parts": shown if message["role"] == "tool" else [*text, *calls]}

    with (tmp_path / "spans.jsonl").open("w") as file:
        spans = TracerProvider()
        one_line = ConsoleSpanExporter(out=file, formatter=lambda span: span.to_json(indent=None) + "\n")
        spans.add_span_processor(SimpleSpanProcessor(one_line))
        tracer = spans.get_tracer("agent")
        with tracer.start_as_current_span("invoke_agent"):
            for messages, answer in ((ASKED, ANSWERS[0]), ([*ASKED, ANSWERS[0], SHOWN], ANSWERS[1])):
                with tracer.start_as_current_span("chat gpt-4o") as span:
                    span.set_attribute("gen_ai.operation.name", "chat")
                    span.set_attribute("gen_ai.request.model", "gpt-4o")
                    span.set_attribute("gen_ai.input.messages", json.dumps(list(map(parts, messages))))
                    span.set_attribute("gen_ai.output.messages", json.dumps([parts(answer)]))
        spans.shutdown()
    assert is_the_run(tmp_path / "spans.jsonl")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_log_of_litellm_is_read(provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    litellm = pytest.importorskip("litellm")

    def log(kwargs: Any, response: Any, start: Any, end: Any) -> None:
        with (tmp_path / "log.jsonl").open("a") as file:
            file.write(json.dumps(kwargs["standard_logging_object"], default=str) + "\n")

    monkeypatch.setattr(litellm, "success_callback", [log])
    for number, messages in enumerate((ASKED, [*ASKED, ANSWERS[0], SHOWN]), 1):
        litellm.completion(model="openai/gpt-4o", api_base=provider, api_key="none", messages=messages, tools=TOOLS)
        until(
            lambda number=number: (
                (tmp_path / "log.jsonl").exists() and len((tmp_path / "log.jsonl").read_text().splitlines()) >= number
            )
        )
    assert is_the_run(tmp_path / "log.jsonl")


@pytest.mark.slow
def test_a_har_file_of_mitmproxy_is_read(provider: str, tmp_path: Path) -> None:
    command = shutil.which("mitmdump")
    if command is None:
        pytest.skip("mitmproxy is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    har = tmp_path / "walls.har"
    options = [
        "--mode",
        f"reverse:{provider.removesuffix('/v1')}",
        "--listen-port",
        str(port),
        "--set",
        f"hardump={har}",
    ]
    with subprocess.Popen([command, *options], stdout=subprocess.DEVNULL) as proxy:
        until(lambda: listens(port))
        agent(f"http://127.0.0.1:{port}/v1")
        proxy.terminate()
    assert is_the_run(har)


def listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def until(is_so: Any) -> None:
    """Wait until something is so; at most 30 seconds."""
    end = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)
