"""Writers: the summary that a trace holds, and a model's, recorded from a real server once and replayed without one."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from measured import COUNT, measured

import bench
from bench.cli import main
from bench.model import ContextReset, Message, ModelTurn, Run, Source, SystemTurn, Trace, UserTurn
from bench.model.errors import SpecError, StrategyError
from bench.plugins.registry import build
from bench.recording.models import Hosts
from bench.replayer.loop import replay
from bench.strategies import compose
from bench.strategies.own_calls import Cassette, RecordedAnswer, recording_from
from bench.traces.formats.native import encode_trace

# ---------------------------------------------------------------- recorded


def trace_of(*summaries: str | None, thread: str = "main") -> Trace:
    """Twelve turns of a conversation; before turn 4 and 8 the recorded harness reset its context, with these summaries."""
    steps: list[Any] = [SystemTurn(index=0, content="You help.", thread=thread)]
    told = list(summaries)
    for turn in range(12):
        if turn in (4, 8) and told:
            steps.append(ContextReset(index=len(steps), summary=told.pop(0), kept=(0,), thread=thread))
        steps.append(UserTurn(index=len(steps), content=f"Question {turn}: " + "word " * 20, thread=thread))
        steps.append(ModelTurn(index=len(steps), content=f"RecordedAnswer {turn}", thread=thread))
    return Trace(id="t", source=Source(format="native"), steps=tuple(steps))


def made(run: Run) -> list[str]:
    return [message.text for message in run.messages.values() if message.kind == "made"]


def test_the_recorded_summary_is_the_latest_one_so_far() -> None:
    run = replay(
        trace_of("first notes", "second notes"),
        compose("s", {"compactor": "summarize_old:writer=recorded,max_tokens=250,keep_last=2"}),
    )
    assert run.failure is None
    assert made(run) == ["first notes", "second notes"]
    produced = [call.produced_tokens for call in run.writer_calls]
    assert set(produced) == {COUNT.text("first notes"), COUNT.text("second notes")}
    assert sum(sample.numerator or 0 for sample in measured("cost.writer_tokens", trace_of(), run)) > 0


def test_a_reset_without_a_summary_keeps_the_one_before() -> None:
    run = replay(
        trace_of("first notes", None),
        compose("s", {"compactor": "separate_commands:writer=recorded,max_tokens=300,keep_last=2"}),
    )
    assert (run.failure, made(run)) == (None, ["first notes"])


@pytest.mark.parametrize("trace", [trace_of(), trace_of(None, None), trace_of("late", thread="other")])
def test_a_trace_without_a_summary_so_far_is_a_named_failure(trace: Trace) -> None:
    run = replay(trace, compose("s", {"compactor": "summarize_old:writer=recorded,max_tokens=100,keep_last=2"}))
    assert run.failure is not None
    assert "holds no recorded summary — use another writer" in run.failure.error


# ---------------------------------------------------------------- empty


@pytest.mark.parametrize("name", ["summarize_old", "separate_commands", "separate_commands_deployed"])
def test_an_empty_summary_is_a_message_that_says_nothing(name: str) -> None:
    told = replay(trace_of(), compose("s", {"compactor": f"{name}:max_tokens=250,keep_last=2"}))
    silent = replay(trace_of(), compose("s", {"compactor": f"{name}:max_tokens=250,keep_last=2,writer=empty"}))
    assert silent.failure is None
    assert set(made(silent)) == {""}
    assert silent.writer_calls[0].produced_tokens == 0
    assert silent.writer_calls[0].consumed_tokens == told.writer_calls[0].consumed_tokens > 0
    assert sum(prompt.tokens for prompt in silent.prompts) < sum(prompt.tokens for prompt in told.prompts)


# ---------------------------------------------------------------- model


class Endpoint(BaseHTTPRequestHandler):
    """Enough of an OpenAI-compatible server: one answer a request, which it remembers."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, body))  # type: ignore[attr-defined]
        if body["model"] == "refused":
            self._reply(401, {"error": {"message": "no such key", "type": "auth"}})
            return
        text = None if body["model"] == "silent" else f"Notes {len(self.server.asked)}"  # type: ignore[attr-defined]
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        self._reply(
            200, {"id": "x", "object": "chat.completion", "created": 0, "model": body["model"], "choices": [choice]}
        )

    def _reply(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    """A real HTTP server on this machine; `asked` is what it was asked."""
    found = HTTPServer(("127.0.0.1", 0), Endpoint)
    found.asked = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield found
    found.shutdown()
    thread.join()
    found.server_close()


def address(server: HTTPServer) -> str:
    return f"http://127.0.0.1:{server.server_port}/v1"


def recording(server: HTTPServer) -> Any:
    """The server as the host that answers while a cassette is recorded."""
    return recording_from(Hosts([address(server)]))


def writer(cassette: Path, model: str = "small", **more: Any) -> Any:
    settings = {"cassette": cassette.name, "model": model, **more}
    given = ",".join(f'{key}="{value}"' for key, value in settings.items())
    return build("writer", f"model:{given}", cassette.parent).start()[1]


def history(*texts: str) -> list[Message]:
    return [Message(role="user", text=text, kind="user") for text in texts]


def test_recorded_from_a_server_and_replayed_without_one(tmp_path: Path, server: HTTPServer) -> None:
    asked: list[Any] = server.asked  # type: ignore[attr-defined]
    cassette, trace = tmp_path / "notes.cassette.jsonl", trace_of()

    def run() -> Run:
        spec = "model:cassette=notes.cassette.jsonl,model=small"
        slots = {"compactor": f'summarize_old:max_tokens=250,keep_last=2,writer="{spec}"'}
        return replay(trace, compose("s", slots, tmp_path))

    with recording(server):
        first = run()
    assert first.failure is None
    assert made(first) == [f"Notes {number}" for number in range(1, len(asked) + 1)]
    assert {path for path, _ in asked} == {"/v1/chat/completions"}
    assert "Question 0" in asked[0][1]["messages"][1]["content"]
    count, kept = len(asked), cassette.read_bytes()
    assert count > 1

    with recording(server):
        again = run()
    assert (made(again), len(asked), cassette.read_bytes()) == (made(first), count, kept)  # nothing is asked twice

    server.shutdown()
    offline = run()
    assert (offline.failure, made(offline)) == (None, made(first))
    assert offline.writer_calls == first.writer_calls  # its tokens and its time are in the cassette
    assert {call.model for call in first.writer_calls} == {"small"}
    assert all(call.seconds is not None and call.seconds >= 0 for call in first.writer_calls)
    assert [call.produced_tokens for call in first.writer_calls] == [COUNT.text(text) for text in made(first)]


def test_two_writers_record_into_one_cassette(tmp_path: Path, server: HTTPServer) -> None:
    cassette = tmp_path / "c.jsonl"
    with recording(server):
        one, two = (writer(cassette) for _ in range(2))
        texts = one(history("a")), two(history("b"))
    assert [writer(cassette)(history(text)) for text in "ab"] == list(texts) == ["Notes 1", "Notes 2"]


def test_a_miss_names_the_nearest_request(tmp_path: Path, server: HTTPServer) -> None:
    cassette = tmp_path / "c.jsonl"
    with recording(server):
        record = writer(cassette)
        record(history("one", "two", "three"))
        record(history("walls", "doors"))
    with pytest.raises(StrategyError) as error:
        writer(cassette)(history("walls", "windows"))
    message = str(error.value)
    assert "the nearest of 2 is number 2" in message
    assert "first difference: recorded 'doors', now 'windows'" in message
    assert message.endswith("record it with --record-model HOST")
    assert "\n" not in message


@pytest.mark.parametrize(("model", "says"), [("refused", "no such key"), ("silent", "gave no text for model 'silent'")])
def test_an_endpoint_that_gives_nothing_is_named(tmp_path: Path, server: HTTPServer, model: str, says: str) -> None:
    cassette = tmp_path / "c.jsonl"
    with pytest.raises(StrategyError, match=says), recording(server):
        writer(cassette, model)(history("a"))
    assert not cassette.exists()


def test_a_missing_cassette_is_told_before_a_replay() -> None:
    with pytest.raises(SpecError, match=r"gone\.jsonl: no such cassette — record it with --record-model HOST"):
        build("compactor", 'summarize_old:writer="model:cassette=gone.jsonl,model=m"')


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "is empty"),
        ("{", "cut short"),
        ("[1]\n", "expected object"),
        ('{"bench_cassette": 2}\n', "$.bench_cassette: expected 1"),
        ('{"bench_cassette": 1}\n{"request": 3}\n', ":2 $.request"),
        (
            '{"bench_cassette": 1}\n{"request": {"model": "m", "messages": [{"content": 1}]}}\n',
            "answer: expected string",
        ),
        (
            '{"bench_cassette": 1}\n{"request": {"model": "m", "messages": []}, "answer": 3}\n',
            ":2 $.answer: expected string",
        ),
    ],
)
def test_a_damaged_cassette_is_refused_with_its_place(tmp_path: Path, text: str, place: str) -> None:
    cassette = tmp_path / "c.jsonl"
    cassette.write_text(text)
    with pytest.raises(SpecError) as error:
        writer(cassette)
    assert place in str(error.value)
    assert "\n" not in str(error.value)


def test_a_cassette_lies_beside_its_scenario_and_is_in_the_signature(tmp_path: Path) -> None:
    folder = tmp_path / "scenarios"
    folder.mkdir()
    compactor = 'summarize_old:max_tokens=300,keep_last=2,writer="model:cassette=c.jsonl,model=small"'
    with pytest.raises(SpecError, match="no such cassette"):
        compose("s", {"compactor": compactor}, folder)
    codes = []
    for answer in ("one", "two"):
        (folder / "c.jsonl").unlink(missing_ok=True)
        kept, told = Cassette(folder / "c.jsonl", "c.jsonl", may_be_missing=True), history("a")
        kept.keep(
            {"model": "small", "messages": [{"role": "user", "content": told[0].text}]}, RecordedAnswer(text=answer)
        )
        strategy = compose("s", {"compactor": compactor}, folder)
        codes.append(strategy.code)
        run = replay(trace_of(), strategy)
        assert run.failure is not None
        assert "c.jsonl holds no answer to this request" in run.failure.error
    assert [list(code) for code in codes] == [["c.jsonl"], ["c.jsonl"]]
    assert codes[0] != codes[1]


def test_a_private_writer_lies_beside_its_scenario_too(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def write(messages):\n    return 'my notes'\n")
    strategy = compose("s", {"compactor": 'summarize_old:max_tokens=250,keep_last=2,writer="mine.py:write"'}, tmp_path)
    assert (made(replay(trace_of(), strategy))[0], list(strategy.code)) == ("my notes", ["mine.py"])


def test_an_empty_cassette_says_so(tmp_path: Path) -> None:
    cassette = tmp_path / "c.jsonl"
    cassette.write_text('{"bench_cassette": 1}\n')
    with pytest.raises(StrategyError, match="it is empty"):
        writer(cassette)(history("a"))


# ---------------------------------------------------------------- what a scenario may not do

STRANGER = """
title = "From a stranger"
traces = ["t.jsonl"]

[strategies]
s = {{ compactor = 'summarize_old:max_tokens=100,keep_last=2,writer="model:{settings}"' }}
"""


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ('record=true,base_url=\\"ADDRESS\\",cassette=\\"../../x\\"', "has no parameter"),
        ('base_url=\\"ADDRESS\\"', "has no parameter 'base_url'"),
        ("record=true", "has no parameter 'record'"),
        ('cassette=\\"../../x.jsonl\\"', "lies outside"),
        ('cassette=\\"../.git/hooks/x\\"', "ends in .jsonl"),
        ('cassette=\\"/tmp/x.jsonl\\"', "lies outside"),
        ('cassette=\\"link.jsonl\\"', "lies outside"),
        ("model=small", "no such cassette"),
    ],
)
@pytest.mark.parametrize("recording", [False, True])
def test_a_scenario_cannot_record_or_reach_outside(
    tmp_path: Path, server: HTTPServer, monkeypatch: pytest.MonkeyPatch, settings: str, says: str, recording: bool
) -> None:
    """It names an address and a cassette elsewhere: no request leaves, nothing is written, nothing outside is read. Recording does not open it."""
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    outside = tmp_path / "outside.jsonl"
    outside.write_text('{"bench_cassette": 1}\n')
    inside = tmp_path / "repository" / "scenarios"
    inside.mkdir(parents=True)
    (inside.parent / ".git").mkdir()
    (inside / "link.jsonl").symlink_to(outside)
    (inside / "t.jsonl").write_bytes(encode_trace(trace_of()))
    (inside / "s.toml").write_text(STRANGER.format(settings=settings.replace("ADDRESS", address(server))))
    before = {path for path in tmp_path.rglob("*") if path.name != "notes"}
    if recording and says == "no such cassette":
        return
    elsewhere = Hosts(["http://127.0.0.1:9/v1"])
    with recording_from(elsewhere) if recording else nullcontext(), pytest.raises(SpecError, match=says):
        bench.run_scenario(inside / "s.toml")
    assert server.asked == []  # type: ignore[attr-defined]
    assert {*tmp_path.rglob("*")} == before
    assert outside.read_text() == '{"bench_cassette": 1}\n'


def test_the_command_line_records_from_the_host_that_it_names(
    tmp_path: Path, server: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t.jsonl").write_bytes(encode_trace(trace_of()))
    (tmp_path / "s.toml").write_text(STRANGER.format(settings='cassette=\\"c.jsonl\\",model=small'))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        main(["run", "s.toml", "--record-model", address(server)])
    asked = len(server.asked)  # type: ignore[attr-defined]
    assert asked > 0
    assert (tmp_path / "c.jsonl").exists()
    with pytest.raises(SystemExit):
        main(["run", "s.toml"])
    assert len(server.asked) == asked  # type: ignore[attr-defined]
