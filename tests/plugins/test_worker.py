"""The one process boundary: what somebody else's code does costs its own answers, and it sees no later step."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
from handmade import opened, result
from hostile import CODES, SAYS

from bench.evidence.index import index_trace
from bench.model import ModelTurn, UserTurn
from bench.plugins import worker
from bench.plugins.worker import Child, Limits, NoAnswer
from bench.replayer.replaying import Replayer
from bench.strategies.sandboxed import put_together

LIMITS = Limits(0.6, 800)
TEXT = "found 4711 rows in /data/x.csv, 4712 in /data/y.csv "
STEPS = [
    result(TEXT * 4, index=2),
    ModelTurn(index=3, content="4711 of them alone"),
    result(TEXT, index=4, call_id="d"),
    ModelTurn(index=5, content="4712 in /data/y.csv"),
]


@pytest.fixture
def replayed(tmp_path, monkeypatch):
    """A function that replays a strategy of a file's code on a short recording."""
    monkeypatch.chdir(tmp_path)
    replayer = Replayer(trace := opened(STEPS, id="one"), index_trace(trace))
    made = []

    def replay(code, spec="summarizer={}:f", name="mine.py", limits=LIMITS, **given):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(code)
        (strategy,) = put_together([("mine", spec.format(f'"{name}"'))], limits, **given)
        made.append(strategy)
        return replayer.replay(strategy)

    def stop():
        for strategy in made:
            if strategy.sandbox is not None:
                strategy.sandbox.child.stop()

    replay.stop = stop
    yield replay
    stop()


def texts(replay):
    return [message.text for message in replay.written]


def processes_in(folder):
    """The processes that work in a folder, where the system tells."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cwd"):
        try:
            theirs = place.resolve() == folder and place.parent.name != str(os.getpid())
            found += [place] if theirs else []
        except OSError:
            continue
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", CODES)
def test_hostile_code_costs_its_own_row_and_leaves_nothing_slow_because_some_hang(name, replayed, tmp_path, capfd):
    found = replayed(CODES[name], name="bad.py")
    if name in SAYS:
        assert found.failure is not None
        assert SAYS[name] in found.failure.error
    if name.startswith("left"):
        replayed.stop()
        assert not processes_in(tmp_path)
    said = capfd.readouterr()
    assert "\n::" not in f"\n{said.out}\n{said.err}"
    assert "\x1b" not in said.out + said.err
    assert sys.getrecursionlimit() >= 1000


@pytest.mark.slow
def test_honest_code_is_replayed_in_the_process_that_hostile_code_was_given_to(replayed):
    for code in list(CODES.values())[::12]:
        replayed(code, name="bad.py")
    fine = replayed("def f(given): return given.text[:20]\n", name="fine.py")
    assert fine.failure is None
    assert texts(fine) == [TEXT[:20]] * 2


FUTURE = {
    "objects": "import gc\ndef f(given):\n    return str([o for o in gc.get_objects() if type(o).__name__ in ('ToolResult', 'ModelTurn')])\n",
    "frames": "import sys\ndef f(given):\n    frame, said = sys._getframe(), ''\n    while frame:\n"
    "        said += repr(frame.f_locals)\n        frame = frame.f_back\n    return said\n",
    "the pipe": "import os, select, socket\ndef f(given):\n    said = b''\n    for n in range(3, 64):\n        try:\n"
    "            if select.select([n], [], [], 0)[0]: said += os.read(n, 1 << 20)\n        except OSError: pass\n    return repr(said)\n",
    "every module": "import sys\ndef f(given): return ''.join(repr(vars(m)) for m in [*sys.modules.values()] if m)[:10_000_000]\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("way", FUTURE)
def test_a_step_that_comes_later_does_not_exist_where_the_code_runs(way, replayed):
    """The first result is replayed before the second one is sent: its mark is nowhere."""
    found = replayed(FUTURE[way], limits=Limits(20.0, 2000))
    assert found.failure is None
    (first,) = (message.text for message in found.written if message.step == 2)
    assert "index=5" not in first
    assert "call_id='d'" not in first


@pytest.mark.slow
@pytest.mark.parametrize("way", [*FUTURE, "memory"])
def test_what_a_model_will_answer_does_not_exist_before_its_prompt(way, replayed):
    """Neither what the model is about to say, nor how long the run is; and the process that measures cannot be read."""
    code = FUTURE.get(way, MEMORY) + "def g(messages): return [*messages, {'role': 'user', 'content': f(messages)}]\n"
    found = replayed(code, "compactor={}:g", limits=Limits(20.0, 2000))
    assert found.failure is None, found.failure
    assert "of them alone" not in found.written[0].text


MEMORY = """import pathlib, os
def f(given):
    number, texts = os.getppid(), []
    for _ in range(2):
        number = int(pathlib.Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[1])
    try:
        for line in open(f"/proc/{number}/maps"):
            if "rw-p" in line:
                begin, end = (int(part, 16) for part in line.split()[0].split("-"))
                with open(f"/proc/{number}/mem", "rb", 0) as memory:
                    memory.seek(begin)
                    data = memory.read(min(end - begin, 1 << 28))
                place = data.find(b" of them al" + b"one")
                texts.append(repr(data[max(place, 0) :][:40]))
    except OSError as error:
        texts.append(repr(error))
    return "".join(texts)
"""


def test_a_router_is_not_told_the_route_that_was_recorded(replayed):
    code = "class f:\n    at = 'user_turn'\n    def decide(self, state): return repr(state.get('step'))\n"
    found = replayed(code, "routers={}:f")
    assert found.failure is None
    assert {decision.step for decision in found.decisions} <= {
        step.index for step in opened(STEPS).steps if isinstance(step, UserTurn)
    }


@pytest.mark.slow
def test_what_a_strategy_is_given_is_its_own(replayed):
    code = "def f(given):\n    given.arguments['x'] = 1\n    return given.text\n"
    found = replayed(code)
    assert found.failure is not None
    alone = "state = []\ndef f(given):\n    state.append(1)\n    return str(len(state))\n"
    assert texts(replayed(alone)) == texts(replayed(alone)) == ["1", "2"]


FORGED = {
    "a message of nobody": "value={'messages': [999]}",
    "a message before the first": "value={'replace': [[0, -1]]}",
    "another value": "value=[1, 2]",
    "another kind of answer": "handles=7",
    "fewer tokens than none": "charges=[(-9, 0, None)]",
    "half a message": "messages=[{'role': 'user'}]",
}


@pytest.mark.slow
@pytest.mark.parametrize("what", FORGED)
def test_a_forged_answer_is_refused(what, replayed):
    """The answer is data: the child may answer anything, but with no message that never crossed."""
    code = "import json, bench.replayer.serving as t\nt._encoded = lambda answer: json.dumps({**answer, "
    code += f"**dict({FORGED[what]})}})\ndef f(window): return list(window.messages)\nf.form = 'Window'\n"
    found = replayed(code, "compactor={}:f")
    assert found.failure is not None
    assert found.failure.error.startswith("its ")


def test_a_message_does_not_cost_less_than_nothing(replayed):
    code = "from bench.model import Message\ndef f(window):\n"
    code += "    return [*window.messages, Message(role='user', kind='made', text='x', reasoning_tokens=-9999)]\nf.form = 'Window'\n"
    found = replayed(code, "compactor={}:f")
    assert found.failure is not None
    assert found.failure.slot == "compactor"


def test_a_function_that_is_passed_runs_in_a_child_and_one_that_cannot_be_sent_runs_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trace = opened(STEPS)
    replayer = Replayer(trace, index_trace(trace))
    number = 7

    def process(given):
        return f"{os.getpid()} {number}"

    lock = worker.threading.Lock()

    def locked(given):
        with lock:
            return f"{os.getpid()} {number}"

    there, here, debugged = (
        *put_together([("there", process), ("here", locked)], LIMITS),
        *put_together([("debugged", process)], LIMITS, debug=True),
    )
    own = f"{os.getpid()} 7"
    assert [set(texts(replayer.replay(one))) == {own} for one in (there, here, debugged)] == [False, True, True]
    assert (there.here, bool(here.here), bool(debugged.here)) == ("", True, True)
    there.sandbox.child.stop()


@pytest.mark.slow
def test_what_is_asked_of_the_process_that_measures_is_in_the_time_of_the_call(replayed):
    code = "def f(window):\n    while True: window.count('counted ' * 9999)\nf.form = 'Window'\n"
    assert "took more than" in replayed(code, "compactor={}:f", limits=Limits(0.3)).failure.error


@pytest.mark.slow
def test_waiting_is_not_processor_time(replayed):
    waits = "import time\ndef f(given): time.sleep(0.4)\n"
    works = "import time\ndef f(given):\n    until = time.process_time() + 0.4\n    while time.process_time() < until: pass\n"
    assert replayed(waits, limits=Limits(0.2)).failure is None
    assert replayed(works, limits=Limits(0.2)).failure is not None


def test_a_child_answers_one_session_after_another():
    child = Child(time.gmtime, Limits(5.0))
    try:
        for _ in range(3):
            with child.session(opened_answers) as session:
                assert [session.ask(b"1"), session.ask(b"2")] == [b"1", b"12"]
        with pytest.raises(NoAnswer), child.session(opened_answers) as session:
            session.ask(b"fail")
    finally:
        child.stop()


def opened_answers(link, ready):
    said = bytearray()

    def answer(request):
        if request == b"fail":
            raise ValueError
        said.extend(request)
        return bytes(said)

    return answer


CALLS_A_MODEL = """import json, urllib.request
def f(given):
    body = json.dumps({"model": "m", "text": given.text[:5]}).encode()
    request = urllib.request.Request("http://model.example/v1/chat", body, {"Content-Type": "application/json"})
    return json.loads(urllib.request.urlopen(request).read())["said"]
"""
RECORDED = """interactions:
- request:
    body: '{"model": "m", "text": "found"}'
    headers: {}
    method: POST
    uri: http://model.example/v1/chat
  response:
    body: {string: '{"said": "short", "model": "m", "usage": {"prompt_tokens": 40, "completion_tokens": 3}}'}
    headers: {}
    status: {code: 200, message: OK}
version: 1
"""


@pytest.mark.slow
def test_a_model_is_answered_from_a_cassette_and_charged(replayed, tmp_path):
    pytest.importorskip("vcr")
    (tmp_path / "model.cassette.yaml").write_text(RECORDED)
    found = replayed(CALLS_A_MODEL, limits=Limits(20.0))
    assert found.failure is None, found.failure
    assert texts(found) == ["short", "short"]
    assert [(call.step, call.consumed_tokens, call.produced_tokens, call.model) for call in found.own_calls] == [
        (2, 40, 3, "m"),
        (4, 40, 3, "m"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("cassette", ["", RECORDED.replace("found", "other")])
def test_a_request_without_a_recorded_answer_is_refused_by_name(cassette, replayed, tmp_path):
    pytest.importorskip("vcr")
    if cassette:
        (tmp_path / "model.cassette.yaml").write_text(cassette)
    swallows = CALLS_A_MODEL.replace("def f(given):", "def asked(given):")
    swallows += "def f(given):\n    try: return asked(given)\n    except Exception: return 'x'\n"
    for code in (CALLS_A_MODEL, swallows):
        found = replayed(code, limits=Limits(20.0))
        assert found.failure is not None
        assert "model.example" in found.failure.error
