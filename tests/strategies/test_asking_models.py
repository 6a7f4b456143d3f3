"""Strategies that ask a model: recorded once from a real server, replayed without one, and charged for it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import HTTPServer
from pathlib import Path

import pytest
from handmade import opened, result, shell
from hosted import STREAMS, Host
from measured import measured
from served import serving

import bench
from bench.cli import main
from bench.model import ModelTurn, Run, Trace
from bench.model.errors import SpecError, StrategyError
from bench.recording.models import Hosts, address_of
from bench.strategies import parse_strategy
from bench.strategies.own_calls import Cassette, RecordedAnswer, recording_from
from bench.traces.formats.native import encode_trace

SUMMARY = """
import bench


def short(text: str) -> str:
    return bench.ask("small", "Shorten: " + text, temperature=0)


def claude(text: str) -> str:
    told = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}]
    return bench.ask("claude-sonnet-4-5", told, api="anthropic", cassette="claude.jsonl")


def judged(record: dict, history: list) -> dict:
    return {"said": bench.ask("small", "Judge")}


async def patient(text: str) -> str:
    return bench.ask("gpt-4o", "Shorten: " + text)


def refused(text: str) -> str:
    return bench.ask("refused", text)


def streamed(text: str) -> str:
    return bench.ask("small", "Shorten: " + text, stream=True)


def cut(text: str) -> str:
    return bench.ask("cut", text, stream=True)
"""


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    found = HTTPServer(("127.0.0.1", 0), Host)
    found.asked = []  # type: ignore[attr-defined]
    with serving(found):
        yield found


def host(server: HTTPServer) -> str:
    return f"http://127.0.0.1:{server.server_port}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(SUMMARY)
    return tmp_path


def trace() -> Trace:
    return opened([result("a long log " * 30, index=2), ModelTurn(index=3, content="471", model="gpt-4o")])


def replayed(folder: Path, function: str, slot: str = "summarizer") -> Run:
    return bench.replay(trace(), parse_strategy(f"mine={slot}=mine.py:{function}", folder))


def test_recorded_once_and_replayed_without_a_server(folder: Path, server: HTTPServer) -> None:
    with recording_from(Hosts([host(server)])):
        first = replayed(folder, "short")
    assert first.failure is None
    ((path, _, body),) = server.asked  # type: ignore[attr-defined]
    assert path == "/v1/chat/completions"
    assert (body["model"], body["temperature"]) == ("small", 0)
    server.shutdown()
    offline = replayed(folder, "short")
    assert "few words" in [message.text for message in offline.messages.values()]
    assert offline.writer_calls == first.writer_calls
    (call,) = offline.writer_calls
    assert (call.step, call.model, call.consumed_tokens, call.produced_tokens) == (2, "small", 70, 3)
    assert call.seconds is not None
    assert measured("cost.writer_seconds", trace(), offline)[0].numerator == call.seconds
    assert measured("cost.writer_tokens", trace(), offline)[0].numerator == 73.0


def test_a_call_is_priced_by_the_model_that_was_asked(folder: Path, server: HTTPServer) -> None:
    with recording_from(Hosts([f"anthropic={host(server)}"])):
        run = replayed(folder, "claude")
    ((path, headers, body),) = server.asked  # type: ignore[attr-defined]
    assert (path, body["system"], body["max_tokens"]) == ("/v1/messages", "Be brief.", 1024)
    assert [message["role"] for message in body["messages"]] == ["user"]
    assert headers["Anthropic-Version"] == "2023-06-01"
    priced = {sample.step: sample.numerator for sample in measured("cost.cost_usd", trace(), run)}
    assert priced[2] == pytest.approx((1000 * 3 + 100 * 15) / 1e6)  # claude-sonnet-4-5: $3 in, $15 out
    assert set(priced) == {2, 3, 4}
    refetched = {sample.step: sample.numerator for sample in measured("cost.with_refetches_usd", trace(), run)}
    assert refetched[2] == priced[2]


def test_a_model_without_a_price_leaves_the_dollars_open(folder: Path) -> None:
    kept = Cassette(folder / "model.cassette.jsonl", "model.cassette.jsonl", may_be_missing=True)
    told = trace().results[0].text
    kept.keep(
        {"model": "small", "messages": [{"role": "user", "content": f"Shorten: {told}"}], "temperature": 0},
        RecordedAnswer(text="x"),
    )
    run = replayed(folder, "short")
    (own,) = [sample for sample in measured("cost.cost_usd", trace(), run) if sample.step == 2]
    assert own.reason == "no prices are listed for small, which the strategy asked"
    assert run.writer_calls[0].produced_tokens == 1  # counted here where no provider counted
    assert measured("cost.writer_seconds", trace(), run)[0].reason == "the cassette names no time"


def test_an_async_function_asks_too_and_keys_go_to_the_named_host(
    folder: Path, server: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with recording_from(Hosts([host(server)])):
        run = replayed(folder, "patient")
    assert run.failure is None
    assert run.writer_calls[0].model == "gpt-4o"
    assert server.asked[0][1]["Authorization"] == "Bearer sk-test"  # type: ignore[attr-defined]


def test_the_untruncated_side_is_not_charged(folder: Path, server: HTTPServer) -> None:
    with recording_from(Hosts([host(server)])):
        run = replayed(folder, "judged", "evaluator")
    assert run.failure is None
    assert len(run.writer_calls) == 1


def test_a_stream_without_usage_is_counted_and_one_that_broke_off_is_not_kept(folder: Path, server: HTTPServer) -> None:
    with recording_from(Hosts([host(server)])):
        run, cut = replayed(folder, "streamed"), replayed(folder, "cut")
    assert [call.produced_tokens for call in run.writer_calls] == [2]
    assert run.writer_calls[0].consumed_tokens > 90
    assert replayed(folder, "streamed").writer_calls == run.writer_calls
    assert cut.failure is not None
    assert "broke off" in cut.failure.error
    assert b'"cut"' not in (folder / "model.cassette.jsonl").read_bytes()


def test_a_redirect_is_refused(folder: Path, server: HTTPServer) -> None:
    with recording_from(Hosts([host(server)])):
        run = replayed(folder, "refused")
    assert run.failure is not None
    assert ": 302 Found" in run.failure.error
    assert not (folder / "model.cassette.jsonl").exists()


def test_a_miss_is_the_strategys_failure_and_names_the_nearest_request(folder: Path) -> None:
    assert "no such cassette — record it with --record-model HOST" in replayed(folder, "short").failure.error
    kept = Cassette(folder / "model.cassette.jsonl", "model.cassette.jsonl", may_be_missing=True)
    text = f"Shorten: {trace().results[0].text}"
    kept.keep(
        {"model": "small", "messages": [{"role": "user", "content": "Other"}], "temperature": 0},
        RecordedAnswer(text="x"),
    )
    kept.keep(
        {"model": "small", "messages": [{"role": "user", "content": text}], "temperature": 1}, RecordedAnswer(text="x")
    )
    said = replayed(folder, "short").failure.error
    assert "model.cassette.jsonl holds no answer to this request of 'small'; the nearest of 2 is number 2" in said
    assert "first difference: recorded 'temperature: 1', now 'temperature: 0'" in said


def test_a_host_that_is_not_there_or_not_named(folder: Path) -> None:
    with recording_from(Hosts(["http://127.0.0.1:9"])):
        assert "http://127.0.0.1:9/v1/chat/completions: " in replayed(folder, "short").failure.error
        assert (
            "no host was named for api 'anthropic' — name it: --record-model anthropic=HOST"
            in replayed(folder, "claude").failure.error
        )


@pytest.mark.parametrize(
    "text", ["", "https://", "ftp://x", "http://x:port", "gemini=x", "http://me:pw@x", "http://x/v1?key=1", "a b"]
)
def test_what_names_no_host(text: str) -> None:
    with pytest.raises(SpecError, match="names no host"):
        address_of(text)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("api.openai.com", "https://api.openai.com/v1/chat/completions"),
        ("localhost:8000", "http://localhost:8000/v1/chat/completions"),
        ("https://x.example/openai/v1/", "https://x.example/openai/v1/chat/completions"),
        ("openai=x.example", "https://x.example/v1/chat/completions"),
        ("anthropic=https://api.anthropic.com/v1", "https://api.anthropic.com/v1/messages"),
    ],
)
def test_where_requests_go(text: str, address: str) -> None:
    assert address_of(text)[1] == address


def test_messages_are_role_and_content() -> None:
    with pytest.raises(StrategyError, match="a message has a role and a content, both text"):
        bench.ask("small", [{"role": "user", "content": 3}])  # type: ignore[dict-item]


# ---------------------------------------------------------------- the command


def run_command(folder: Path, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    (folder / "a.jsonl").write_bytes(encode_trace(opened(shell(3, start=2), id="a")))
    (folder / "s.toml").write_text('traces = ["a.jsonl"]\n[strategies]\nmine = { summarizer = "mine.py:short" }\n')
    with pytest.raises(SystemExit):
        main(["run", str(folder / "s.toml"), *more])
    return capsys.readouterr().out


def test_recording_is_an_act_of_the_command_line(
    folder: Path, server: HTTPServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "no such cassette" in run_command(folder, capsys)
    assert server.asked == []  # type: ignore[attr-defined]
    recorded = run_command(folder, capsys, "--record-model", host(server))
    assert len(server.asked) == 3  # type: ignore[attr-defined]
    assert "no such cassette" not in recorded
    assert (folder / "model.cassette.jsonl").exists()
    assert run_command(folder, capsys, "--jobs", "2") == recorded
    assert len(server.asked) == 3  # type: ignore[attr-defined]


@pytest.mark.parametrize("recording", [False, True])
@pytest.mark.parametrize("name", ["../../x.jsonl", "/tmp/outside-of-it.jsonl", "link.jsonl", "sub/../../../x.jsonl"])
def test_a_cassette_that_a_setting_names_lies_inside_the_repository(
    tmp_path: Path, server: HTTPServer, name: str, recording: bool
) -> None:
    inside = tmp_path / "repository" / "scenarios"
    inside.mkdir(parents=True)
    (inside.parent / ".git").mkdir()
    (inside / "mine.py").write_text(
        'import bench\n\n\ndef short(text: str, kept="c.jsonl"):\n    return bench.ask("small", text, cassette=kept)\n'
    )
    (tmp_path / "x.jsonl").write_text('{"bench_cassette": 1}\n')
    (inside / "link.jsonl").symlink_to(tmp_path / "x.jsonl")
    before = {*tmp_path.rglob("*")}
    strategy = parse_strategy(f'm=summarizer=mine.py:short:kept="{name}"', inside)
    with recording_from(Hosts([host(server)]) if recording else None):
        run = bench.replay(trace(), strategy)
    assert run.failure is not None
    said = f"{name}: lies outside {inside.parent} — a file that a strategy names lies inside"
    assert said in run.failure.error
    assert server.asked == []  # type: ignore[attr-defined]
    assert {path for path in tmp_path.rglob("*") if "__pycache__" not in str(path)} == before
    with recording_from(Hosts([host(server)])):
        kept = bench.replay(trace(), parse_strategy('m=summarizer=mine.py:short:kept="../shared.jsonl"', inside))
    assert kept.failure is None
    assert (inside.parent / "shared.jsonl").exists()


def test_the_template_of_the_page_asks_and_its_cassette_is_in_the_signature(tmp_path: Path, server: HTTPServer) -> None:
    page = (Path(__file__).parents[2] / "docs/strategies.md").read_text(encoding="utf-8")
    section = page.partition("## A function that calls a model\n")[2]
    (tmp_path / "mine.py").write_text(section.partition("```python\n")[2].partition("```")[0])
    assert list(parse_strategy("m=summarizer=mine.py:notes", tmp_path).code) == ["mine.py:notes"]
    with recording_from(Hosts([host(server)])):
        assert replayed(tmp_path, "notes").failure is None
    first = parse_strategy("m=summarizer=mine.py:notes", tmp_path).code
    assert list(first) == ["model.cassette.jsonl", "mine.py:notes"]
    (tmp_path / "model.cassette.jsonl").write_text('{"bench_cassette": 1}\n')
    assert parse_strategy("m=summarizer=mine.py:notes", tmp_path).code != first


def test_two_threads_do_not_share_what_is_charged(folder: Path) -> None:
    kept = Cassette(folder / "model.cassette.jsonl", "model.cassette.jsonl", may_be_missing=True)
    text = f"Shorten: {trace().results[0].text}"
    kept.keep(
        {"model": "small", "messages": [{"role": "user", "content": text}], "temperature": 0}, RecordedAnswer(text="x")
    )
    runs: list[Run] = []
    threads = [threading.Thread(target=lambda: runs.append(replayed(folder, "short"))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(run.writer_calls) for run in runs] == [1, 1]


# ---------------------------------------------------------------- clients of their own

CLIENTS = {
    "plain": """
import http.client, json, os, urllib.parse

URL = urllib.parse.urlsplit(os.environ["OPENAI_BASE_URL"])


def short(text: str) -> str:
    connection = http.client.HTTPConnection(URL.netloc)
    told = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Shorten: " + text}], "temperature": 0}
    connection.request("POST", URL.path + "/chat/completions", json.dumps(told), {"Content-Type": "application/json"})
    return json.loads(connection.getresponse().read())["choices"][0]["message"]["content"]
""",
    "anthropic": """
import json, os, urllib.request


def short(text: str) -> str:
    told = {"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": [{"role": "user", "content": text}]}
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(told).encode())
    return json.load(urllib.request.urlopen(request))["content"][0]["text"]
""",
    "openai": """
from openai import OpenAI

client = OpenAI()


def short(text: str) -> str:
    told = [{"role": "user", "content": "Shorten: " + text}]
    return client.chat.completions.create(model="gpt-4o-mini", messages=told).choices[0].message.content
""",
}
STREAMED = """
import http.client, json, os, urllib.parse

URL = urllib.parse.urlsplit(os.environ["ANTHROPIC_BASE_URL"])


def short(text: str) -> str:
    connection = http.client.HTTPConnection(URL.netloc)
    told = {"model": "m", "stream": True, "stream_options": {"include_usage": True}, "NAME": [{"role": "user", "content": text}]}
    connection.request("POST", "PATH", json.dumps(told), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    assert answer.headers["Content-Type"] == "text/event-stream"
    return answer.read().decode()
"""
CLIENTS |= {
    path: STREAMED.replace("PATH", path).replace("NAME", "input" if "responses" in path else "messages")
    for path in STREAMS
}


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_of_its_own_is_recorded_once_replayed_and_charged(
    tmp_path: Path, server: HTTPServer, capsys: pytest.CaptureFixture[str], client: str
) -> None:
    if client == "openai":
        pytest.importorskip("openai")
    (tmp_path / "mine.py").write_text(CLIENTS[client])
    refused = " ".join(run_command(tmp_path, capsys).split())
    assert "raised on a, in summarizer at step 3: model.cassette.jsonl: no such cassette — record it" in refused
    assert server.asked == []  # type: ignore[attr-defined]
    claude = client in ("anthropic", "/v1/messages")
    named = f"anthropic={host(server)}" if claude else host(server)
    recorded = run_command(tmp_path, capsys, "--record-model", named)
    asked = len(server.asked)  # type: ignore[attr-defined]
    assert asked == 3
    scores = tmp_path / "scores.json"
    assert run_command(tmp_path, capsys) == recorded
    run_command(tmp_path, capsys, "-o", str(scores))
    assert len(server.asked) == asked  # type: ignore[attr-defined]
    rows = {row["metric"]: row for row in json.loads(scores.read_text())["rows"] if row["strategy"] == "mine"}
    tokens = 3 * (1100 if claude else 73)
    assert rows["cost.writer_tokens"]["value"] == tokens
    assert rows["cost.cost_usd"]["value"] is None  # the recording names no priced model


def test_a_refused_call_fails_the_row_even_if_the_code_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = CLIENTS["plain"].replace("    return json", "    return 'fallback'\n    return json")
    (tmp_path / "mine.py").write_text(told)
    assert "no such cassette — record it" in " ".join(run_command(tmp_path, capsys).split())
