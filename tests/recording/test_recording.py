"""Agents recorded while they run, each a real loop against a real server on this machine, compared with the server's own log."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from planted import secrets
from served import WALLS, Provider, serving

from bench.cli import main
from bench.model import text_of
from bench.recording.otlp import OtlpReceiver
from bench.recording.proxy import Proxy
from bench.traces import load

ROOT = Path(__file__).parents[2]
KEY = next(secret for kind, secret, _ in secrets(5) if kind == "openai")
SPANS = ROOT / "tests" / "data" / "formats" / "otel_genai" / "openinference.json"
TOOLS = [{"type": "function", "function": {"name": "count", "parameters": {"type": "object"}}}]


def ask(url: str, path: str, body: dict, **headers: str) -> tuple[int, str]:
    """One POST; gives status and body, a streamed one read to its end."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=20)
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json", **headers})
    answer = connection.getresponse()
    try:
        return answer.status, answer.read().decode()
    finally:
        connection.close()


CALL = {"id": "call_1", "type": "function", "function": {"name": "count", "arguments": '{"of": "walls"}'}}
USE = {"type": "tool_use", "id": "toolu_1", "name": "count", "input": {"of": "walls"}}
AGENTS = {
    "openai": (
        "/v1/chat/completions",
        {"model": "m-1", "tools": TOOLS},
        [{"role": "system", "content": "You count."}, {"role": "user", "content": "How many walls?"}],
        [
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "call_1", "content": json.dumps(WALLS)},
        ],
    ),
    "anthropic": (
        "/v1/messages",
        {"model": "m-2", "max_tokens": 99, "system": "You count."},
        [{"role": "user", "content": "How many walls?"}],
        [
            {"role": "assistant", "content": [USE]},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": json.dumps(WALLS)}],
            },
        ],
    ),
}
"""For each interface where an agent asks, with what beside its messages, those of its first call, and what its second one has besides."""


def agent(url: str, interface: str, *, stream: bool) -> None:
    """An agent that asks, runs the tool, and asks again."""
    path, body, begin, more = AGENTS[interface]
    for messages in (begin, begin + more):
        ask(url, path, {**body, "messages": messages, "stream": stream}, Authorization=f"Bearer {KEY}")


# ---------------------------------------------------------------- the proxy


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("interface", AGENTS)
def test_an_agent_behind_the_proxy_is_recorded_as_the_provider_saw_it(tmp_path, interface, stream):
    with serving(Provider()) as provider, serving(Proxy(provider.url, tmp_path / "log.jsonl")) as proxy:
        agent(proxy.url, interface, stream=stream)
    (trace,) = load([str(tmp_path / "log.jsonl")]).traces
    kinds = [type(step).__name__ for step in trace.steps if type(step).__name__ != "ToolsChanged"]
    assert kinds == ["SystemTurn", "UserTurn", "ModelTurn", "ToolResult", "ModelTurn"]
    assert len(provider.log) == len(trace.model_turns) == 2
    for (_, headers, _, answer), turn in zip(provider.log, trace.model_turns, strict=True):
        usage = answer["usage"]
        assert turn.usage.prompt_tokens == usage.get("prompt_tokens", usage.get("input_tokens"))
        assert turn.usage.completion_tokens == usage.get("completion_tokens", usage.get("output_tokens"))
        assert headers["authorization"] == f"Bearer {KEY}", "the key reaches the provider"
    assert trace.model_turns[0].tool_calls[0].arguments == {"of": "walls"}
    assert trace.results[0].data == WALLS
    assert text_of(trace.model_turns[1].content) == "36 walls, 471.5 m."
    assert trace.left_out == {}
    assert KEY not in (tmp_path / "log.jsonl").read_text()


def test_a_stream_passes_through_unchanged_and_other_requests_too(tmp_path):
    body = {"model": "m-1", "messages": [{"role": "user", "content": "x"}], "stream": True}
    with serving(Provider()) as provider, serving(Proxy(provider.url, tmp_path / "log.jsonl")) as proxy:
        assert ask(proxy.url, "/v1/chat/completions", body) == ask(provider.url, "/v1/chat/completions", body)
        connection = http.client.HTTPConnection(urlsplit(proxy.url).netloc, timeout=20)
        connection.request("GET", "/v1/models")
        assert json.loads(connection.getresponse().read()) == {"data": [{"id": "m-1"}]}
        connection.close()
    assert len((tmp_path / "log.jsonl").read_text().splitlines()) == 1


def test_a_provider_that_fails_or_is_not_there_is_told_and_recorded(tmp_path):
    body = {"model": "broken", "messages": [{"role": "user", "content": "x"}]}
    with serving(Provider()) as provider, serving(Proxy(provider.url, tmp_path / "log.jsonl")) as proxy:
        assert ask(proxy.url, "/v1/chat/completions", body)[0] == 500
    with serving(Proxy(provider.url, tmp_path / "log.jsonl")) as proxy:
        status, said = ask(proxy.url, "/v1/chat/completions", body)
        assert status == 502
        assert "did not answer" in said
    records = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [record["status"] for record in records] == [500, 502]


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_that_the_agent_did_not_wait_for_is_marked(tmp_path, stream):
    body = {"model": "m-1", "messages": [{"role": "user", "content": "x"}], "stream": stream}
    with serving(Provider()) as provider, serving(Proxy(provider.url, tmp_path / "log.jsonl")) as proxy:
        provider.released.clear()
        connection = http.client.HTTPConnection(urlsplit(proxy.url).netloc, timeout=20)
        connection.request("POST", "/v1/chat/completions", json.dumps(body))
        if stream:
            with connection.getresponse() as answer:
                answer.read(6)
        connection.close()
        provider.released.set()
        ask(proxy.url, "/v1/chat/completions", body)
        until = time.monotonic() + 10
        while proxy.recorded < 2 and time.monotonic() < until:
            time.sleep(0.01)
    records = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert sorted(record.get("agent_gone", False) for record in records) == [False, True]


def test_calls_side_by_side_are_all_recorded_whole(tmp_path):
    with serving(Provider()) as provider, serving(Proxy(provider.url, tmp_path / "log.jsonl")) as proxy:
        bodies = [
            {"model": "m-1", "stream": at % 2 == 0, "messages": [{"role": "user", "content": f"{at} " + "x" * 20_000}]}
            for at in range(20)
        ]
        threads = [threading.Thread(target=ask, args=(proxy.url, "/v1/chat/completions", body)) for body in bodies]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    records = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert {record["request"]["messages"][0]["content"] for record in records} == {
        body["messages"][0]["content"] for body in bodies
    }


def test_secrets_in_what_passes_are_removed_from_the_log_alone(tmp_path):
    body = {"model": "m-1", "messages": [{"role": "user", "content": f"use {KEY}"}]}
    with serving(Provider()) as provider:
        for redact, name in ((True, "clean"), (False, "whole")):
            with serving(Proxy(provider.url, tmp_path / f"{name}.jsonl", redact=redact)) as proxy:
                ask(proxy.url, "/v1/chat/completions", body)
    assert [KEY in str(request) for _, _, request, _ in provider.log] == [True, True]
    assert KEY not in (tmp_path / "clean.jsonl").read_text()
    assert KEY in (tmp_path / "whole.jsonl").read_text()


@pytest.mark.parametrize("ended_by", [signal.SIGINT, signal.SIGKILL])
def test_the_command_serves_until_it_is_ended_and_has_written_every_call(tmp_path, ended_by):
    with serving(Provider()) as provider:
        command = f"{sys.executable} -m bench record --proxy --upstream {provider.url} --port 0 -o log.jsonl".split()
        running = subprocess.Popen(
            command,
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
        )
        url = running.stdout.readline().split("give the agent ")[1].split()[0]
        agent(url, "anthropic", stream=True)
        running.send_signal(ended_by)
        said, _ = running.communicate(timeout=20)
    if ended_by == signal.SIGINT:
        assert running.returncode == 0
        assert "recorded 2 into log.jsonl" in said
    assert len(load([str(tmp_path / "log.jsonl")]).traces[0].model_turns) == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("-o", "x.jsonl"), "nothing to record"),
        (("--proxy", "-o", "x.jsonl"), "needs --upstream"),
        (("--proxy", "--upstream", "api.openai.com", "-o", "x.jsonl"), "is no address"),
        (("--otlp", "-o", "x.jsonl.gz"), "ends in .jsonl"),
        (("--otlp", "--upstream", "http://x", "-o", "x.jsonl"), "--otlp has none"),
    ],
)
def test_what_cannot_be_recorded_is_one_line(tmp_path, monkeypatch, capsys, arguments, said):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["record", *arguments])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


# ---------------------------------------------------------------- OpenTelemetry


def test_spans_that_an_agent_sends_become_its_trace(tmp_path):
    told = json.loads(SPANS.read_text(encoding="utf-8").replace("You count walls.", f"You count walls. {KEY}"))
    with serving(OtlpReceiver(tmp_path / "spans.jsonl", port=0)) as receiver:
        for batch in told["resourceSpans"]:
            assert ask(receiver.url, "/v1/traces", {"resourceSpans": [batch]})[0] == 200
        assert ask(receiver.url, "/v1/metrics", {"resourceMetrics": []})[0] == 200
    (trace,), (same,) = (load([str(path)]).traces for path in (tmp_path / "spans.jsonl", SPANS))
    assert trace.source.format == "otel_genai"
    assert trace.model_turns == same.model_turns
    assert trace.results == same.results
    said = (tmp_path / "spans.jsonl").read_text()
    assert "REDACTED_" in said
    assert KEY not in said


def test_what_the_receiver_does_not_take_is_said(tmp_path):
    with serving(OtlpReceiver(tmp_path / "spans.jsonl", port=0)) as receiver:
        status, said = ask(receiver.url, "/v1/traces", {}, **{"Content-Type": "application/x-protobuf"})
        assert status in (400, 415)  # by whether opentelemetry-proto is there
        assert "protobuf" in said
        assert ask(receiver.url, "/v1/profiles", {})[0] == 404
        assert ask(receiver.url, "/v1/traces", {}, **{"Content-Encoding": "gzip"})[0] == 400
    assert (tmp_path / "spans.jsonl").read_bytes() == b""
