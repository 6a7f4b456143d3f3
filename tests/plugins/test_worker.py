"""The one process boundary: what somebody else's code does costs its own answers, and it sees no later step."""

from __future__ import annotations

import ctypes
import os
import pickle
import pty
import sys
import tempfile
import threading
import time

import pytest
from handmade import conversation_of, result
from hostile import CALLED, CODES, REASONS, answers
from warm import processes_in

from bench.evidence.index import index_trace
from bench.files import limits as files_limits
from bench.model import ModelTurn, UserTurn
from bench.model.errors import SpecError
from bench.plugins import worker
from bench.plugins.worker import Child, NoAnswer
from bench.replayer.replaying import Replayer
from bench.run.cache import user_cache
from bench.run.verbs import compare
from bench.strategies.declaring import declaration
from bench.strategies.user_code.sandboxed import load_strategies, stop
from bench.tokens.counting import TokenCounter
from bench.traces.formats.native import encode_trace

LIMITS = {"call": 2, "memory": 800 << 20}
WIDE = {"call": 20, "memory": 2000 << 20}
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
    replayer = Replayer(trace := conversation_of(STEPS, id="one"), index_trace(trace))
    strategies = []

    def replay_each(code, specs, name="mine.py", limits=LIMITS):
        """The replays of several strategies of one file: one child answers each in a fork of its own."""
        (tmp_path / name).write_text(code)
        named = [declaration(spec.format(f'"{name}"'), f"s{at}") for at, spec in enumerate(specs)]
        for name, most in limits.items():
            monkeypatch.setitem(files_limits.LIMITS, name, most)
        added = load_strategies(named)
        strategies.extend(added)
        return list(map(replayer.replay, added))

    def replay(code, spec="summarizer={}:f", name="mine.py", limits=LIMITS):
        (only,) = replay_each(code, [spec], name, limits)
        return only

    replay.each, replay.stop = replay_each, lambda: stop(strategies)
    yield replay
    stop(strategies)


def texts(replay):
    return [message.text for message in replay.written]


def check_row(name, replay, printed):
    """A replay by hostile code failed for its own reason, and printed nothing that a terminal or a CI system obeys."""
    if name in REASONS:
        assert replay.failure is not None, name
        assert REASONS[name] in replay.failure.error, name
    assert "\n::" not in f"\n{printed.out}\n{printed.err}", name
    assert "\x1b" not in printed.out + printed.err, name
    assert len(printed.err) < 1_100_000, name
    assert sys.getrecursionlimit() >= 1000, name


@pytest.mark.slow  # some hang until the limit
@pytest.mark.parametrize("name", CODES)
def test_hostile_code_fails_only_its_own_run_and_leaves_nothing(name, replayed, tmp_path, capfd):
    replay = replayed(CODES[name], name="bad.py")
    replayed.stop()
    check_row(name, replay, capfd.readouterr())
    assert not processes_in(tmp_path)


@pytest.mark.slow  # some hang until the limit
def test_a_hostile_call_fails_only_its_own_run(replayed, capfd):
    """All in one file, so that one child answers each in a fork of its own; the honest one comes last."""
    honest = "def last(given): return given.text[:20]\n"
    code = "".join(one.replace(" f(given)", f" f{at}(given)") for at, one in enumerate(CALLED.values())) + honest
    names = [*(f"f{at}" for at in range(len(CALLED))), "last"]
    *replays, last = replayed.each(code, [f"summarizer={{}}:{name}" for name in names])
    printed = capfd.readouterr()
    for name, replay in zip(CALLED, replays, strict=True):
        check_row(name, replay, printed)
    assert texts(last) == [TEXT[:20]] * 2


@pytest.mark.slow
def test_code_that_was_late_is_asked_no_more(tmp_path, monkeypatch):
    monkeypatch.setitem(files_limits.LIMITS, "call", 1)
    (tmp_path / "mine.py").write_text("import time\ndef f(given): time.sleep(600)\n")
    runs = [conversation_of(STEPS, id=name) for name in "ab"]
    found = compare(runs, {"mine": f"summarizer={tmp_path}/mine.py:f"})
    assert "so it was not asked again" in found.runs[1].scores[0].failure.error


@pytest.mark.slow
def test_code_runs_correctly_in_a_process_that_hostile_code_used(replayed):
    for code in list(CODES.values())[::12]:
        replayed(code, name="bad.py")
    fine = replayed("def f(given): return given.text[:20]\n", name="fine.py")
    assert fine.failure is None
    assert texts(fine) == [TEXT[:20]] * 2


SEARCHES = """import gc, os, pathlib, re, select, sys
def seen(text): return " ".join(re.findall("index=.|call_id=...|of them.{6}", text))
def objects(given):
    return seen(str([o for o in gc.get_objects() if type(o).__name__ in ('ToolResult', 'ModelTurn')]))
def frames(given):
    frame, texts = sys._getframe(), ''
    while frame:
        texts += repr(frame.f_locals)
        frame = frame.f_back
    return seen(texts)
def modules(given): return seen(''.join(repr(vars(m)) for m in [*sys.modules.values()] if m))
def pipe(given):
    data = b''
    for n in range(3, 64):
        try:
            if select.select([n], [], [], 0)[0]: data += os.read(n, 1 << 20)
        except OSError: pass
    return seen(repr(data))
def memory(given):
    number, texts = os.getppid(), []
    for _ in range(4):
        number = int(pathlib.Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[1])
    try:
        for line in open(f"/proc/{number}/maps"):
            if "rw-p" in line:
                begin, end = (int(part, 16) for part in line.split()[0].split("-"))
                with open(f"/proc/{number}/mem", "rb", 0) as memory:
                    memory.seek(begin)
                    texts.append(seen(repr(memory.read(min(end - begin, 1 << 28)))))
    except OSError as error:
        texts.append(repr(error))
    return "".join(texts)
"""
"""Functions that search what stands in their process (in their parent's memory) for later steps."""
WAYS = ("objects", "frames", "modules", "pipe", "memory")


@pytest.mark.slow
def test_the_child_process_does_not_have_later_steps(replayed):
    """The first result is replayed before the second one is sent: its mark is nowhere."""
    for replay in replayed.each(SEARCHES, [f"summarizer={{}}:{way}" for way in WAYS[:-1]], limits=WIDE):
        assert replay.failure is None
        (first,) = (message.text for message in replay.written if message.step == 2)
        assert "index=5" not in first
        assert "call_id='d'" not in first


@pytest.mark.slow
def test_the_child_process_has_no_answer_of_a_model_before_its_prompt(replayed):
    """Neither what the model is about to say, nor how long the run is; and the process that measures cannot be read."""
    code = SEARCHES
    for way in WAYS:
        code += f"def of_{way}(messages): return [*messages, {{'role': 'user', 'content': 'in: ' + {way}(messages)}}]\n"
    for replay in replayed.each(code, [f"compactor={{}}:of_{way}" for way in WAYS], limits=WIDE):
        assert replay.failure is None, replay.failure
        assert replay.written[0].text.startswith("in: ")
        assert "of them alone" not in replay.written[0].text


def test_a_router_is_not_told_the_route_that_was_recorded(replayed):
    code = "class f:\n    at = 'user_turn'\n    def decide(self, state): return repr(state.get('step'))\n"
    found = replayed(code, "routers={}:f")
    assert found.failure is None
    assert {decision.step for decision in found.decisions} <= {
        step.index for step in conversation_of(STEPS).steps if isinstance(step, UserTurn)
    }


@pytest.mark.slow
def test_a_replay_begins_with_the_code_as_it_was_imported(replayed):
    alone = "state = []\ndef f(given):\n    state.append(1)\n    return str(len(state))\n"
    assert texts(replayed(alone)) == texts(replayed(alone)) == ["1", "2"]


FORGED = {
    "a message of nobody": "out['value']['messages'].append(999)",
    "a message that comes later": "out['value']['messages'].append(1 + max(out['value']['messages']))",
    "a message before the first": "out['value']['messages'].append(-1)",
    "half a message": "out['value']['messages'].append({'role': 'user'})",
    "a summary of nobody's messages": "out['value']['written'] = [[[999], 'x']]",
    "tokens that are no number": "out['value']['commands'] = 'x'",
    "another kind of answer": "out['value'] = 7",
    "no value that can be looked at": "for _ in range(300): out['value'] = [out['value']]",
    "no list of handles": "out['offloaded'] = 7",
    "a handle without a name": "out['offloaded'] = [['', 1]]",
    "fewer tokens than none": "out['charged'] = [[-9, 0, None]]",
}


@pytest.mark.slow
@pytest.mark.parametrize("what", FORGED)
def test_a_forged_answer_is_refused(what, replayed):
    """The answer is data: the child may answer anything, but with no other messages than there are."""
    code = "import json, bench.replayer.border as border\nencoded = border.encoded\ndef forged(out):\n"
    code += f"    out = json.loads(encoded(out))\n    {FORGED[what]}\n    return json.dumps(out).encode()\n"
    code += "border.encoded = forged\ndef f(window): return list(window.messages)\nf.form = 'Window'\n"
    found = replayed(code, "compactor={}:f")
    assert found.failure is not None
    assert found.failure.error.startswith(("its ", "offload: "))
    assert found.failure.slot == "compactor"


def test_code_that_describes_itself_as_nothing_is_still_user_code(tmp_path):
    code = (
        "import bench.strategies.user_code.loaded as loaded\nloaded._description = lambda one: loaded.Description()\n"
    )
    (tmp_path / "mine.py").write_text(code + "def f(given): return 'x'\n")
    (mine,) = load_strategies([declaration(f'mine=summarizer="{tmp_path}/mine.py":f')])
    mine.sandbox.child.stop()
    assert (mine.broken, mine.has_user_code, mine.shipped) == (None, True, False)


def test_the_child_process_counts_tokens_as_the_parent_does(replayed):
    code = "from bench.model import Message\ndef f(window):\n"
    code += "    counts = [window.count(m) for m in window.messages[:2]]\n"
    code += "    counts.append(window.count('You run commands.'))\n"
    code += "    return [*window.messages, Message(role='user', kind='made', text=str(counts))]\nf.form = 'Window'\n"
    found = replayed(code, "compactor={}:f")
    counter = TokenCounter()
    texts_of = ("You run commands.", "Follow the files to the end.")
    counts = [*(counter.text(text) + 3 for text in texts_of), counter.text(texts_of[0])]
    assert found.written[0].text == str(counts)


@pytest.mark.parametrize(
    ("added", "reason"),
    [
        ("Message(role='user', kind='made', text='x', reasoning_tokens=-9999)", "cannot be read"),
        ("'x'", "must be Message values, got str"),
    ],
)
def test_anything_added_to_a_prompt_must_be_a_message(added, reason, replayed):
    code = "from bench.model import Message\nfrom bench.strategies import NewHistory\nf = lambda window: "
    code += f"NewHistory([*window.messages, {added}])\nf.form = 'Window'\n"
    found = replayed(code, "compactor={}:f")
    assert found.failure is not None
    assert found.failure.slot == "compactor"
    assert reason in found.failure.error


@pytest.mark.parametrize(("size", "is_too_much"), [(6_000_000, False), (14_000_000, True)])
def test_an_answer_above_the_limit_is_refused(size, is_too_much, replayed):
    found = replayed(f"def f(given): return 'x' * {size}\n", limits={"call": 60, "memory": 800 << 20})
    assert is_too_much == bool(found.failure)
    assert found.failure is None or "have more than 26,214,400 bytes" in found.failure.error


def test_a_file_that_cannot_be_imported_fails_its_own_rows(tmp_path, monkeypatch):
    """All alone it ends the command, as a missing file or name always does."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fine.py").write_text("def f(given): return 'x'\n")
    (tmp_path / "bad.py").write_text("import os\nLIMIT = os.environ['NOT_SET']\ndef f(given): return 'x'\n")
    (tmp_path / "ends.py").write_text("import os\nos._exit(3)\n")
    specs = {name: f"summarizer={name}.py:f" for name in ("fine", "bad", "ends")}
    (run,) = compare(conversation_of(STEPS, id="one"), specs).runs
    failed = {score.strategy: score.failure.error for score in run.scores if score.failure}
    assert failed.keys() == {"bad", "ends"}
    assert failed["bad"] == "bad.py:2: cannot be imported: KeyError: 'NOT_SET'"
    for given, says in (
        ({"bad": specs["bad"]}, "^bad: bad.py:2: cannot be imported: KeyError: 'NOT_SET'$"),
        ({"ends": specs["ends"], "bad": specs["bad"]}, "^ends: .*exit code 3"),
        ({**specs, "gone": "summarizer=gone.py:f"}, "^gone.py: No such file"),
        ({**specs, "named": "summarizer=fine.py:g"}, "^fine.py has no function 'g'"),
        ({**specs, "module": "summarizer=gone.there:f"}, "^module 'gone.there' cannot be imported"),
    ):
        with pytest.raises(SpecError, match=says):
            compare(conversation_of(STEPS, id="one"), given)


LOCK, NUMBER = threading.Lock(), 7


def process(given):
    return f"{os.getpid()} {NUMBER}"


def locked(given):
    with LOCK:
        return process(given)


def test_a_function_runs_in_a_child_process_if_it_can_be_sent_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys.modules["__main__"], "locked", locked, raising=False)
    monkeypatch.setattr(locked, "__module__", "__main__")  # which is sent with what it uses
    trace = conversation_of(STEPS, id="one")
    replayer = Replayer(trace, index_trace(trace))
    there, here, debugged = (
        *load_strategies([declaration(process, "there"), declaration(locked, "here")]),
        *load_strategies([declaration(process, "debugged")], debug=True),
    )
    own = f"{os.getpid()} 7"
    assert [set(texts(replayer.replay(one))) == {own} for one in (there, here, debugged)] == [False, True, True]
    assert (there.in_process_reason, bool(here.in_process_reason), bool(debugged.in_process_reason)) == ("", True, True)
    there.sandbox.child.stop()
    (tmp_path / "mine.py").write_text("def f(given): return given.text\n")
    (run,) = compare(trace, {"here": {"summarizer": locked, "store": "mine.py:f"}}, jobs=2).runs
    assert [score.failure for score in run.scores if score.strategy == "here"] == [None]


def test_a_replay_imports_nothing(replayed):
    """A module that the child process did not import would be imported again in the fork of every run."""
    code = "import sys\ndef f(messages): return [{'role': 'user', 'content': str(sys.modules.keys() - KNOWN)}]\n"
    found = replayed(code + "KNOWN = set(sys.modules)\n", "compactor={}:f")
    assert set(texts(found)) == {"set()"}


@pytest.mark.slow
def test_waiting_for_the_parent_counts_as_time_of_the_call(replayed):
    code = "def f(window):\n    while True: window.count('counted ' * 9999)\nf.form = 'Window'\n"
    assert "took more than" in replayed(code, "compactor={}:f", limits={"call": 1}).failure.error


def test_a_child_answers_one_session_after_another():
    child = Child(answers)
    try:
        for _ in range(3):
            with child.session() as session:
                assert [session.ask(text) for text in (b"1", b"2")] == [b"1", b"12"]
        with pytest.raises(NoAnswer), child.session(waits=True) as session:
            session.ask(b"fail")
        with child.session(waits=True) as session:
            assert session.ask(b"3") == b"3"
        assert session.pipe.recv(1) == b""  # nobody has the other end
    finally:
        child.stop()


def draws():
    drawn = os.urandom(8)
    return lambda link: drawn


def test_a_forked_process_shares_what_was_imported():
    def asked(child):
        with child.session() as session:
            return session.ask()

    child = Child(draws)
    first, sent, (reads, writes) = asked(child), pickle.dumps(child), os.pipe()
    if os.fork() == 0:
        os.write(writes, asked(pickle.loads(sent)))
        os._exit(0)
    os.wait()
    copy = pickle.loads(sent)
    assert os.read(reads, 8) == first == asked(child) != asked(copy)
    child.stop()
    copy.stop()


def test_a_copy_of_a_child_has_a_process_of_its_own():
    child = Child(answers)
    copy = pickle.loads(pickle.dumps(child))
    try:
        with child.session() as one, copy.session() as other:
            assert [each.ask(text) for text in (b"1", b"2") for each in (one, other)] == [b"1", b"1", b"12", b"12"]
        copy.stop()
        with child.session() as again:
            assert again.ask(b"3") == b"3"
    finally:
        child.stop()
        copy.stop()


def hangs():
    return lambda link, request=b"": time.sleep(600) if request else b"%d" % os.getpid()


@pytest.mark.slow
def test_a_late_session_ends_where_the_system_ends_no_process(monkeypatch):
    monkeypatch.setattr(worker, "_MODULE", "elsewhere")
    with Child(hangs, worker.Limits(call_s=3)).session() as session:
        place = f"/proc/{int(session.ask())}"
        with pytest.raises(NoAnswer):
            session.ask(b"hang")
    until = time.monotonic() + 9
    while os.path.exists(place) and time.monotonic() < until:
        time.sleep(0.05)
    assert not os.path.exists(place)


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
    found = replayed(CALLS_A_MODEL, limits={"call": 20})
    assert found.failure is None, found.failure
    assert texts(found) == ["short", "short"]
    assert [(call.step, call.consumed_tokens, call.produced_tokens, call.model) for call in found.own_calls] == [
        (2, 40, 3, "m"),
        (4, 40, 3, "m"),
    ]


WRITES = """import os, tempfile
def f(given):
    with tempfile.NamedTemporaryFile() as file, open(os.devnull, 'w') as null: file.write(b'x'), null.write('x')
    return ' '.join([given.text[:5], *sorted(name for name in os.environ if name.startswith(('GITHUB', 'MY')))])
def notes(given):
    os.chmod(tempfile.mkdtemp(), 0), tempfile.mkstemp()
    return len(os.listdir(os.environ['TMPDIR']))
def new(given): open('new.txt', 'w')
def old(given): open('old.txt', 'a')
def deletes(given): os.remove('old.txt')
def moved(given): os.rename('old.txt', 'new.txt')
def cut(given): os.truncate('old.txt', 0)
def opens_a_terminal(given): open(os.environ['A_TERMINAL'], 'w')
def linked(given): os.link('old.txt', tempfile.mkdtemp() + '/x')
def of_another(given): open('bench-child-other')
"""


def test_code_writes_in_its_temporary_folder_alone(replayed, tmp_path, monkeypatch):
    for name in ("GITHUB_ENV", "MY_SETTING"):
        monkeypatch.setenv(name, str(tmp_path / "old.txt"))
    (tmp_path / "old.txt").write_text("a")
    ends = pty.openpty()
    monkeypatch.setenv("A_TERMINAL", os.ttyname(ends[1]))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "bench-child-other").touch()
    names = ["new", "old", "deletes", "moved", "cut", "opens_a_terminal", "linked", "of_another"]
    fine, noted, again, *others = replayed.each(
        WRITES, [f"summarizer={{}}:{name}" for name in ("f", "notes", "notes", *names)]
    )
    assert texts(fine) == ["found MY_SETTING"] * 2
    assert texts(noted) == texts(again) == ["2", "4"]  # no session finds what another one wrote
    if worker_rules() >= 4:  # the kernel can forbid it
        assert [name for name, found in zip(names, others, strict=True) if found.failure is None] == []
        assert "it may write in its temporary folder" in others[0].failure.error
        monkeypatch.setenv("BENCH_WRITABLE", str(tmp_path))
        assert replayed(WRITES, "summarizer={}:new").failure is None
    replayed.stop()
    assert [path.name for path in tmp_path.glob("bench-*")] == ["bench-child-other"]
    list(map(os.close, ends))


def test_code_cannot_read_the_recordings(tmp_path, monkeypatch):
    """What would show it later steps: the files of the recordings, at import too, and the cache."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "kept.sqlite"))
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/a.jsonl").write_bytes(encode_trace(conversation_of(STEPS)))
    reads = "def read(seen=''):\n    for name in ('runs/a.jsonl', 'kept.sqlite', 'runs/mine.py'):\n"
    reads += "        try: seen += open(name, errors='replace').read(9)\n        except PermissionError: seen += '-'\n"
    calls = "early = read()\ndef f(given): raise ValueError(early + read())\n"
    (tmp_path / "runs/mine.py").write_text(f"{reads}    return seen\n{calls}")
    compare("runs", "keep_all", cache=user_cache())
    compared = compare("runs", "f=summarizer=runs/mine.py:f")
    (error,) = (score.failure.error for score in compared.runs[0].scores if score.failure)
    assert "--def read(--def read(" in error or worker_rules() < 4


def worker_rules():
    return ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1)


CONNECTS = "import socket\ndef f(given):\n    socket.socket().connect(('127.0.0.1', 9))\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "cassette", "named"),
    [
        (CALLS_A_MODEL, "", "it asks model.example, "),
        (CONNECTS, "", "it asks 127.0.0.1, "),
        (CALLS_A_MODEL, RECORDED.replace("found", "other"), "no answer to http://model.example/v1/chat"),
    ],
)
def test_a_request_without_a_recorded_answer_is_refused_by_name(code, cassette, named, replayed, tmp_path):
    if cassette:
        pytest.importorskip("vcr")
        (tmp_path / "model.cassette.yaml").write_text(cassette)
    swallows = "def g(given):\n    try: return f(given)\n    except Exception: return 'x'\n"
    for found in replayed.each(code + swallows, ["summarizer={}:f", "summarizer={}:g"], limits={"call": 20}):
        assert found.failure is not None
        assert named in found.failure.error
