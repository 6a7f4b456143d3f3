"""An agent in Python, recorded by itself against a real server on this machine."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from planted import secrets
from served import WALLS, Provider, serving

import bench
from bench.model import ModelTurn, ToolResult, UserTurn
from bench.model.errors import BenchError
from bench.traces import load

ROOT = Path(__file__).parents[2]
KEY = next(secret for kind, secret, _ in secrets(5) if kind == "openai")
TOOLS = [{"type": "function", "function": {"name": "count", "parameters": {"type": "object"}}}]


def test_an_agent_in_python_is_recorded(tmp_path):
    openai = pytest.importorskip("openai")
    path = tmp_path / "run.jsonl"
    with serving(Provider()) as provider, bench.record(path, labels={"task": "walls"}) as run:
        client = openai.OpenAI(base_url=f"{provider.url}/v1", api_key=KEY)
        count = run.tool(lambda of: WALLS, name="count")
        messages = [{"role": "user", "content": f"How many walls? {KEY}"}]
        run.user(messages[0]["content"])
        run.tools(TOOLS)
        while True:
            answer = client.chat.completions.create(model="m-1", messages=messages, tools=TOOLS)
            run.answer(answer)
            message = answer.choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                break
            for call in message.tool_calls:
                told = count(**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(told)})
        run.outcome(success=True)
    (trace,) = load([str(path)]).traces
    assert [turn.usage.prompt_tokens for turn in trace.model_turns] == [
        answer["usage"]["prompt_tokens"] for *_, answer in provider.log
    ]
    (result,) = trace.results
    assert (result.call_id, result.data, result.arguments) == ("call_1", WALLS, {"of": "walls"})
    assert result.duration_s >= 0
    assert trace.outcome.success
    assert trace.meta == {"redacted": {"model_key": 1}}
    assert trace.steps[0].content == "How many walls? REDACTED_MODEL_KEY_1"


def test_tools_that_fail_or_wait_are_recorded_and_behave_as_before(tmp_path):
    with bench.record(tmp_path / "run.jsonl") as run:

        @run.tool
        def divide(a: int, b: int = 0) -> float:
            return a / b

        @run.tool
        async def fetch(path: Path) -> set[int]:
            return {len(str(path))}

        with pytest.raises(ZeroDivisionError):
            divide(1)
        assert asyncio.run(fetch(Path("abc"))) == {3}
        run.model(
            tool_calls=[
                {"id": "a", "name": "divide", "arguments": {"a": 4, "b": 2}},
                {"id": "b", "name": "divide", "arguments": {"a": 8, "b": 2}},
            ]
        )
        assert (divide(8, b=2), divide(4, 2)) == (4.0, 2.0)
    failed, waited, second, first = load([str(tmp_path / "run.jsonl")]).traces[0].results
    assert (failed.success, failed.error, failed.arguments) == (False, "ZeroDivisionError: division by zero", {"a": 1})
    assert (waited.function, waited.arguments, waited.seen) == ("fetch", {"path": "abc"}, "{3}")
    assert (second.call_id, first.call_id) == ("b", "a")


CRASH = """
import os, signal, bench
run = bench.record("run.jsonl")
run.user("go")
for number in range(50):
    run.model(f"turn {number}", tool_calls=[{"id": f"c{number}", "name": "f"}])
    run.result("f", "x" * 5000)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_crash_loses_no_finished_step(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", CRASH], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False
    )
    assert done.returncode == -signal.SIGKILL
    trace = load([str(tmp_path / "run.jsonl")]).traces[0]
    assert [type(step) for step in trace.steps] == [UserTurn, *[ModelTurn, ToolResult] * 50]
    assert [result.call_id for result in trace.results] == [f"c{number}" for number in range(50)]


def test_steps_of_several_threads_are_in_order(tmp_path):
    with bench.record(tmp_path / "run.jsonl") as run:
        threads = [
            threading.Thread(target=lambda name=f"t{at}": [run.user(f"{name} {n}", thread=name) for n in range(50)])
            for at in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    steps = load([str(tmp_path / "run.jsonl")]).traces[0].steps
    assert [step.index for step in steps] == list(range(200))
    assert all(
        [step.content for step in steps if step.thread == f"t{at}"] == [f"t{at} {n}" for n in range(50)]
        for at in range(4)
    )


def test_a_recording_never_overwrites(tmp_path):
    (tmp_path / "run.jsonl").write_text("something")
    with pytest.raises(BenchError, match="holds something already"):
        bench.record(tmp_path / "run.jsonl")
    with pytest.raises(BenchError, match=r"ends in \.jsonl"):
        bench.record(tmp_path / "run.json")
    with bench.record(tmp_path / "new.jsonl") as run, pytest.raises(BenchError, match="an answer is expected"):
        run.answer({"walls": 3})


def test_the_events_of_a_stream_are_an_answer(tmp_path: Path) -> None:
    told = [{"content": "Thirty"}, {"content": "-six."}]
    events = [{"id": "a", "model": "m", "choices": [{"index": 0, "delta": delta}]} for delta in told]
    events.append({"id": "a", "choices": [], "usage": {"prompt_tokens": 4, "completion_tokens": 2}})
    with bench.record(tmp_path / "run.jsonl") as run:
        run.user("How many walls?")
        run.answer(iter(events))
        with pytest.raises(BenchError, match="an answer is expected"):
            run.answer(iter([{"no": "event"}]))
    turn = load([str(tmp_path / "run.jsonl")]).traces[0].model_turns[0]
    assert (turn.content, turn.finish_reason, turn.usage.prompt_tokens) == ("Thirty-six.", "stream_cut", 4)
