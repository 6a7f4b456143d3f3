"""A strategy in any language: a long-running process, a line of JSON in, a line out. What goes wrong in it costs its own case alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from handmade import TABLE, conversation_of, result
from measured import MeasuredReplay, replay_of, replayed as run

import bench
from bench.files.limits import LIMITS
from bench.model import Failure, ModelTurn, ToolCall, Trace
from bench.model.errors import SpecError
from bench.strategies import parse_strategy
from bench.strategies.declaring import declaration
from bench.strategies.user_code.sandboxed import Place, load_strategies, stop

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
PYTHON = sys.executable
LINE = len("line 0 of 0")


def write(folder: Path, body: str) -> str:
    """A process whose answer to `request` is what the body leaves in `answer`; its command line."""
    loop = "import json, os, sys, time\ncalls = 0\nfor line in sys.stdin:\n    request = json.loads(line)\n    calls += 1\n    answer = None\n"
    tell = "    print(json.dumps({'answer': answer}), flush=True)\n"
    (folder / "process.py").write_text(loop + "".join(f"    {line}\n" for line in body.splitlines()) + tell)
    return f'command:"{PYTHON} process.py"'


def run_of(folder: Path, slot: str, body: str, settings: str = "", recorded: Trace | None = None) -> MeasuredReplay:
    return run(recorded or two_results(), parse_strategy(f"m={slot}={write(folder, body)}{settings}", folder))


def failure_of(folder: Path, body: str, settings: str = "") -> Failure:
    strategy = parse_strategy(f"m=summarizer={write(folder, body)}{settings}", folder)
    failure = replay_of(two_results(), strategy).failure
    assert failure is not None
    return failure


def two_results() -> Trace:
    return conversation_of([result("first text", index=2), result("second text", index=3)])


def calls(count: int, lines: int = 1) -> Trace:
    """A model that calls a tool so many times, each result of so many lines."""
    steps = []
    for turn in range(count):
        call = ToolCall(id=f"c{turn}", name="ls", arguments={"path": f"/{turn}"})
        steps.append(ModelTurn(index=2 + 2 * turn, tool_calls=(call,)))
        text = "\n".join(f"line {line} of {turn}" for line in range(lines))
        steps.append(result(text, index=3 + 2 * turn, call_id=call.id, function="ls"))
    return conversation_of(steps)


def texts_shown(found: MeasuredReplay) -> list[str]:
    return [found.messages[outcome.message].text for outcome in found.results]


def last_prompt(found: MeasuredReplay) -> list[str]:
    return [message.text for message in found.prompts[-1].messages]


# ---------------------------------------------------------------- each slot


def test_one_process_answers_all_calls_of_a_case(tmp_path):
    found = run_of(tmp_path, "summarizer", "answer = f\"{os.getpid()} {calls} {request['result']['text']}\"")
    (first, second) = [text.split(" ", 2) for text in texts_shown(found)]
    assert first[0] == second[0]
    assert [first[1:], second[1:]] == [["1", "first text"], ["2", "second text"]]


def test_each_case_has_a_process_of_its_own(tmp_path):
    strategy = parse_strategy(f"m=summarizer={write(tmp_path, 'answer = str(calls)')}", tmp_path)
    assert [texts_shown(run(two_results(), strategy)) for _ in range(2)] == [["1", "2"], ["1", "2"]]


def test_a_null_answer_leaves_a_result_unchanged(tmp_path):
    assert texts_shown(run_of(tmp_path, "summarizer", "pass")) == ["first text", "second text"]


def test_a_summarizer_command_gets_the_documented_request(tmp_path):
    recorded = conversation_of([result(None, index=2, data={"structuredOutput": [TABLE], "x": float("nan")})])
    (told,) = texts_shown(run_of(tmp_path, "summarizer", "answer = request", recorded=recorded))
    request = json.loads(told)
    assert request["slot"] == "summarizer"
    assert request["result"]["data"] == {"structuredOutput": [TABLE], "x": None}
    assert set(request["result"]) == {"step", "call_id", "function", "arguments", "success", "error", "text", "data"}


@pytest.mark.parametrize("mode", ["history", "per_call"])
def test_a_compactor_command_gets_messages_and_returns_messages(tmp_path, mode):
    found = run_of(tmp_path, "compactor", "answer = request['messages'][-3:]", f":mode={mode}", calls(4))
    assert len(last_prompt(found)) == 3
    same = run_of(tmp_path, "compactor", "answer = request['messages']", recorded=calls(4))
    assert same.calls == run(calls(4), "keep_all").calls


def test_every_slot_may_be_a_command(tmp_path):
    found = run_of(tmp_path, "store", "answer = {'kept': request['result']['text'][:5]}")
    assert found.results[0].record.value == {"kept": "first"}
    found = run_of(
        tmp_path, "evaluator", "answer = {'step': request['record']['step_index'], 'before': len(request['history'])}"
    )
    assert [item.evaluation for item in found.results] == [{"step": 2, "before": 0}, {"step": 3, "before": 1}]
    found = run_of(tmp_path, "routers", "answer = 'go' if request['state']['messages'] else 'none'", ":at=user_turn")
    assert [(item.at, item.route) for item in found.decisions] == [("user_turn", "go")]
    found = run_of(tmp_path, "routers", "answer = ['go', {'n': calls}]")
    assert [(item.at, item.detail["n"]) for item in found.decisions] == [("after_result", 1), ("after_result", 2)]
    found = run_of(tmp_path, "consumer", "answer = {'text': 'said', 'route': 'agent', 'state': {'a': 1}}")
    assert (found.results[0].reply.text, found.results[0].reply.route, found.results[0].reply.state) == (
        "said",
        "agent",
        {"a": 1},
    )


# ---------------------------------------------------------------- what goes wrong

BROKEN = {
    "print('hello', flush=True); continue": ("answered 'hello', expected a line", "standard error is free"),
    "print('[1]', flush=True); continue": ("answered '[1]', expected a line",),
    "print('{}', flush=True); continue": ("answered '{}', expected a line",),
    "print(json.dumps({'error': 'no table here'}), flush=True); continue": ("reports: no table here",),
    "sys.stdout.write('{\"answer\": 1}\\n' * 2); sys.stdout.flush(); continue": ("which no request asked for",),
    "sys.exit(3)": ("ended with exit code 3 before it answered",),
    "raise ValueError('bad row 7')": ("ended with exit code 1 before it answered: ValueError: bad row 7",),
    "os.kill(os.getpid(), 9)": ("ended with signal 9",),
    "os._exit(0)": ("ended with exit code 0",),
    "sys.stdout.write('{\"answer\": 1'); sys.stdout.flush(); sys.exit(0)": ("ended with exit code 0",),
}


@pytest.mark.parametrize(("body", "says"), BROKEN.items())
def test_a_fault_of_a_command_fails_only_its_case(tmp_path, body, says):
    failure = failure_of(tmp_path, body)
    assert all(text in failure.text for text in says)
    assert "\n" not in failure.error


def test_a_late_command_is_ended_with_its_children(tmp_path, monkeypatch):
    monkeypatch.setitem(LIMITS, "call", 2)
    monkeypatch.setenv("BENCH_WRITABLE", str(tmp_path))
    body = "import subprocess\nchild = subprocess.Popen(['sleep', '60'], start_new_session=True)\n"
    body += "open('child', 'w').write(str(child.pid))\ntime.sleep(60)"
    (strategy,) = load_strategies([declaration(f"m=summarizer={write(tmp_path, body)}")], Place(tmp_path))
    assert "took more than" in replay_of(two_results(), strategy).failure.error
    stop([strategy])
    assert has_ended(int((tmp_path / "child").read_text()))


def has_ended(process: int) -> bool:
    """True if a process has ended, or is about to: one that nobody has waited for yet is a zombie."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state in "ZX":
            return True
        time.sleep(0.05)
    return False


def test_no_process_outlives_its_case(tmp_path):
    line = write(tmp_path, "answer = str(os.getpid())")
    (strategy,) = load_strategies([declaration(f"m=summarizer={line}")], Place(tmp_path))
    assert has_ended(int(texts_shown(run(two_results(), strategy))[0]))
    stop([strategy])


def test_a_large_request_and_answer_get_through(tmp_path):
    text = "é" * 400_000
    found = run_of(
        tmp_path, "summarizer", "answer = request['result']['text']", recorded=conversation_of([result(text, index=2)])
    )
    assert texts_shown(found) == [text]


def test_a_command_runs_without_a_shell(tmp_path):
    (tmp_path / "echo.py").write_text(
        "import json, sys\nfor line in sys.stdin:\n    print(json.dumps({'answer': sys.argv[1]}), flush=True)\n"
    )
    strategy = parse_strategy(f"m=summarizer=command:\"{PYTHON} echo.py '$HOME; touch hacked'\"", tmp_path)
    assert texts_shown(run(two_results(), strategy))[0] == "$HOME; touch hacked"
    assert not (tmp_path / "hacked").exists()


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("command", 'names no program — write command:"node strategy.js"'),
        ("command:no_such_program_here", "there is no program 'no_such_program_here' — install it"),
        ('command:"python3 \'x"', "No closing quotation"),
        (f"command:{PYTHON}:timeout=3", "has no parameter 'timeout'"),
    ],
)
def test_a_wrong_command_is_named_before_the_replay(spec, says):
    with pytest.raises(SpecError, match=re.escape(says)):
        parse_strategy(f"m=summarizer={spec}")


# ---------------------------------------------------------------- the examples, each where its language is


def need(*programs: str) -> str:
    """The first of some programs that is there; the test is skipped where none is."""
    found = next((path for program in programs if (path := shutil.which(program))), None)
    if found is None:
        pytest.skip(f"none of these is installed: {', '.join(programs)}")
    return found


def example(language: str, line: str, slot: str, recorded: Trace, folder: Path | None = None) -> MeasuredReplay:
    settings = ":mode=per_call" if slot == "compactor" else ""  # what they mask is masked anew from the full history
    return run(
        recorded, parse_strategy(f"m={slot}=command:{json.dumps(line)}{settings}", folder or EXAMPLES / language)
    )


def masked(found: MeasuredReplay) -> list[str]:
    return [text for text in last_prompt(found) if "characters left out" in text]


def test_the_example_in_python_gives_its_documented_answers():
    first, *_ = texts_shown(example("python", f"{PYTHON} head_lines.py", "summarizer", calls(2, lines=12)))
    assert first.endswith("line 4 of 0\n[Showing 5 of 12 lines]")
    assert (
        masked(example("python", f"{PYTHON} head_lines.py", "compactor", calls(12)))
        == [f"[{LINE} characters left out]"] * 2
    )


def test_the_example_in_typescript_gives_its_documented_answers(tmp_path):
    source = EXAMPLES / "typescript" / "mask_results.ts"
    shutil.copy(source, tmp_path)
    node = shutil.which("node")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout if node else "v0.0"
    if node and tuple(map(int, version.strip("v\n").split(".")[:2])) >= (22, 6):
        line = f"{node} --experimental-strip-types {source.name}"
    else:
        runner = need("bun", "deno", "tsx")
        line = f"{runner} run --allow-all {source.name}" if "deno" in runner else f"{runner} {source.name}"
    assert (
        masked(example("typescript", line, "compactor", calls(12), tmp_path)) == [f"[{LINE} characters left out]"] * 2
    )


def test_the_example_in_go_gives_its_documented_answers(monkeypatch, tmp_path):
    go = need("go")
    monkeypatch.setenv("GOCACHE", cache := os.environ.get("GOCACHE", str(tmp_path)))
    monkeypatch.setenv("BENCH_WRITABLE", cache)
    first, *_ = texts_shown(example("go", f"{go} run head_tail.go", "summarizer", calls(1, lines=12)))
    assert first.splitlines()[4:7] == ["line 4 of 0", "[2 lines left out]", "line 7 of 0"]


SHIPPED = ("building_model", "analysis", "terminal", "terminal_beginnings")


def csharp(folder: Path) -> str:
    """The command line that runs the example, put into `folder`: by .NET's SDK, else compiled here and run by Mono."""
    shutil.copytree(EXAMPLES / "csharp", folder / "csharp")
    if shutil.which("dotnet") is None and shutil.which("mcs") and shutil.which("mono"):
        parts = ["mcs", "-langversion:7", "-r:System.Runtime.Serialization", "-r:System.Xml", "-out:summary.exe"]
        made = subprocess.run([*parts, "csharp/Program.cs"], cwd=folder, capture_output=True, text=True, check=False)
        assert (made.returncode, made.stdout, made.stderr) == (0, "", "")
        return "mono summary.exe"
    return f"{need('dotnet', 'mono')} run --project csharp"


@pytest.mark.slow
def test_the_example_in_csharp_equals_the_rule_of_document_001(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_WRITABLE", f"{tmp_path}:{Path.home()}")
    line = csharp(tmp_path)
    shipped = bench.load([str(ROOT / "traces" / folder) for folder in SHIPPED]).traces
    data = {"structuredOutput": [{"type": "text"}, TABLE]}
    hard = {
        "output": "",
        "structured_output": [{"type": "table", "data": '[{"a b":1.50,"":"\\u0001\\"","n":null},[]]'}],
    }
    broken = {"output": "\r\n".join("abcdefg"), "structured_output": [{"type": "table", "data": "[{"}]}
    given = [result(None, index=2 + at, data=item) for at, item in enumerate((data, hard, broken, [1, 2], {}))]
    made = conversation_of([*given, result(json.dumps(broken), index=7), result("{", index=8)])
    summaries = 0
    for recorded in (*shipped, made):
        theirs = texts_shown(example("csharp", line, "summarizer", recorded, tmp_path))
        assert theirs == texts_shown(run(recorded, parse_strategy("m=summarizer=output_summary")))
        summaries += sum(text.startswith('{"type":') for text in theirs)
    assert summaries > 100
