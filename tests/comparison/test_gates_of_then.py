"""A change that loosens, moves or removes its own judge: the gates of the revision are judged too, and what is gone is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from orders import ORDERS
from repository import bench, commit, git

GATE = '[[gates]]\nmetric = "loss.fact_recall.shown"\nstrategy = "mine"\nmax_drop = "5%"\n'
HEAD = """traces = ["orders.jsonl"]
strategies.mine = { summarizer = "truncate:limit=5000" }
strategies.other = { summarizer = "truncate:limit=5000" }
"""
SCENARIO = Path("a.toml")


@pytest.fixture(autouse=True)
def repository(tmp_path, monkeypatch):
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, "/dev/null")
    monkeypatch.chdir(tmp_path)
    git("init", "--quiet")
    Path("orders.jsonl").write_text(ORDERS)
    SCENARIO.write_text(HEAD + GATE)
    Path("b.toml").write_text(HEAD + GATE)
    commit("start")


def judged(*options: str) -> tuple[int, str]:
    """The exit code, and what the verdicts say."""
    code = bench("run", SCENARIO, "--jobs", 1, "-o", "x.json", *options)
    return code, " | ".join(f"{item['gate']}: {item['sentence']}" for item in json.loads(Path("x.json").read_text())["verdicts"])  # fmt: skip


def loosened():
    SCENARIO.write_text(HEAD + GATE.replace("5%", "99%"))
    return "is now max_drop = '99%'"


def deleted():
    SCENARIO.write_text(HEAD)
    return "is gone"


def moved():
    SCENARIO.write_text(HEAD + GATE.replace("mine", "other"))
    return "no longer judges mine"


CHANGES = [loosened, deleted, moved]


@pytest.mark.slow  # three replays
@pytest.mark.parametrize("change", CHANGES)
def test_a_gate_of_the_revision_is_judged_whatever_became_of_it(change):
    named = change()
    code, said = judged("--against", "HEAD")
    assert code == 0, said
    assert named in said
    code, said = judged("--against", "HEAD", "--require-baseline")
    assert code == 1
    SCENARIO.write_text(SCENARIO.read_text().replace("5000", "60", 1))
    code, said = judged("--against", "HEAD")
    assert code == 1, said
    assert "(a gate of HEAD" in said


@pytest.mark.slow  # three replays
@pytest.mark.parametrize("change", CHANGES)
def test_a_gate_that_was_accepted_is_named_when_it_allows_more(change):
    assert bench("run", SCENARIO, "--update-baseline") == 0
    assert judged("--require-baseline")[0] == 0
    named = change()
    code, said = judged()
    assert code == 0
    assert named in said
    assert judged("--require-baseline")[0] == 1
    if change is not deleted:
        assert bench("run", SCENARIO, "--update-baseline") == 0
        assert judged("--require-baseline")[0] == 0, "accepted, explicitly"


@pytest.mark.slow  # six replays
def test_a_judged_name_that_runs_other_code_is_named():
    named = "strategy mine, which was judged, was summarizer=truncate:limit=5000 and is summarizer=untruncated"
    for options in (["--against", "HEAD"], []):
        SCENARIO.write_text(HEAD + GATE)
        assert bench("run", SCENARIO, "--update-baseline") == 0
        written("limit=5000", "limit=4000")()
        assert named[:35] not in judged(*options, "--require-baseline")[1], "a setting may change"
        written("truncate:limit=4000", "untruncated")()
        assert (judged(*options)[0], judged(*options, "--require-baseline")[0]) == (0, 1)
        assert named in judged(*options)[1]


@pytest.mark.slow  # two replays
def test_a_reader_that_a_path_names_is_held_against_what_it_was():
    read = "class Mine(Native):\n    def read(self, document):\n        return map(shaped, super().read(document))\n"
    Path("mine.py").write_text(f"from bench.traces.formats.native import Native\nfrom shape import shaped\n{read}")
    Path("shape.py").write_text("def shaped(trace):\n    return trace\n")
    SCENARIO.write_text(HEAD.replace("orders.jsonl", "mine.py:Mine:orders.jsonl") + GATE)
    commit("own reader")
    assert judged("--against", "HEAD", "--require-baseline")[0] == 0
    easier = "msgspec.structs.replace(trace, steps=trace.steps[1:])"
    Path("shape.py").write_text(f"import msgspec\ndef shaped(trace):\n    return {easier}\n")
    code, said = judged("--against", "HEAD", "--require-baseline")
    assert (code, "recording orders is read otherwise" in said) == (1, True), said


def test_a_stricter_gate_is_no_news():
    SCENARIO.write_text(HEAD + GATE.replace("5%", "1%"))
    code, said = judged("--against", "HEAD", "--require-baseline")
    assert code == 0, said
    assert "is now" not in said


@pytest.mark.parametrize(
    ("gone", "named"),
    [
        ("b.toml", "scenario b.toml is gone"),
        ("a.baseline.json", "a.baseline.json is gone"),
        ("orders.jsonl", "recording orders.jsonl is another one"),
    ],
)
def test_what_vanished_is_named_and_fails_where_a_baseline_is_required(gone, named):
    Path("a.baseline.json").write_text("{}")
    commit("more")
    if gone == "orders.jsonl":
        Path(gone).write_text(Path(gone).read_text().replace("W128", "W127"))
    else:
        Path(gone).unlink()
    code, said = judged("--against", "HEAD", "--require-baseline")
    assert code == 1
    assert named in said


def moved_to(place, moved="b.toml"):
    def change():
        Path(place).parent.mkdir(exist_ok=True)
        Path(moved).rename(place)

    return change


def moved_and_gone():
    moved_to("calls.jsonl", "orders.jsonl")()
    Path("others.jsonl").unlink()


def a_link():
    Path("orders.jsonl").rename("easy")
    Path("easy").write_text(ORDERS.replace("W128", "W127"))
    Path("orders.jsonl").symlink_to("easy")


def written(old, new):
    def change():
        assert old in SCENARIO.read_text()
        SCENARIO.write_text(SCENARIO.read_text().replace(old, new))

    return change


def another_recording():
    Path("orders.jsonl").write_text(ORDERS.replace("W128", "W127"))


ASKS = """traces = [{traces}]
seed = 0
strategies.mine = {{ summarizer = "truncate:limit=4000|5000" }}
[[probes]]
question = "How much is it?"
expected = 128.25
type = "number"
"""


@pytest.mark.slow  # two replays
@pytest.mark.parametrize(
    ("traces", "change", "named"),
    [
        ("orders.jsonl", moved_to("attic/b.toml"), "scenario b.toml is gone"),
        ("orders.jsonl", moved_to(".b.toml"), "scenario b.toml is gone"),
        ("orders.jsonl", moved_to("b.toml.off"), "scenario b.toml is gone"),
        ("orders.jsonl", moved_to("c.toml"), ""),  # it is there, as it was
        ("*s.jsonl", moved_to("calls.jsonl", "orders.jsonl"), ""),
        ("*s.jsonl", moved_and_gone, "recording others.jsonl is gone"),
        ("orders.jsonl", a_link, "recording orders.jsonl is another one"),
        (".", another_recording, "recording orders.jsonl is another one"),
        ("*s.jsonl", another_recording, "recording orders.jsonl is another one"),
        ("{here}/orders.jsonl", another_recording, "recording orders.jsonl is another one"),
        ("orders.jsonl", written("128.25", "127.25"), "the probe 'How much is it?' is gone or asks something else"),
        ("orders.jsonl", written("4000|5000", "5000|6000"), "strategy mine-4000, which was judged, is gone"),
        (".", written("seed", 'model = "gpt-4o"\nseed'), "model was None and is 'gpt-4o'"),
    ],
)
def test_what_is_asked_and_of_which_recordings_is_that_of_the_revision(traces, change, named):
    SCENARIO.write_text(ASKS.format(traces=repr(traces.format(here=Path.cwd()))) + GATE.replace('"mine"', '"mine*"'))
    Path("b.toml").write_text(HEAD + GATE + "# b")
    Path("others.jsonl").write_text(ORDERS.replace('"id": "orders"', '"id": "others"').replace("W128", "W126"))
    commit("asked")
    change()
    code, said = judged("--against", "HEAD", "--require-baseline")
    assert (named in said, "the judge is that of" in said, "a.toml is" in said) == (True, bool(named), False), said
    assert (code == 1) == bool(named), said


@pytest.mark.slow  # many replays
def test_new_recordings_make_up_for_none():
    easy = [json.dumps({**step, "id": "n"} if "id" in step else step) for step in map(json.loads, ORDERS.splitlines())]
    SCENARIO.write_text(
        HEAD.replace("orders.jsonl", "*.jsonl")
        + GATE.replace("5%", "50%")
        + GATE.replace('max_drop = "5%"', "min = 0.5")
    )
    commit("all recordings")
    for number in range(30):
        text = "\n".join(easy).replace('"n"', f'"n{number}"').replace("Which", f"{number} which")
        Path(f"n{number}.jsonl").write_text(
            text.replace(json.loads(easy[3])["seen"], " ".join(f"W{number}{one}" for one in range(10, 19)))
        )
    written("5000", "60")()
    code, said = judged("--against", "HEAD")
    assert code == 1
    assert "new cases, not judged" in said
    assert "over the cases that HEAD" in said


def test_an_orphaned_baseline_is_found():
    Path("gone.baseline.json").write_text("{}")
    assert bench("run", SCENARIO, "--update-baseline") == 0
    code, said = judged()
    assert code == 0
    assert "gone.baseline.json is a baseline whose scenario is gone" in said
    assert judged("--require-baseline")[0] == 1


def test_a_strategy_that_was_judged_and_is_gone_is_named():
    SCENARIO.write_text(SCENARIO.read_text().replace('"mine"\nmax', '"*"\nmax'))
    commit("all are judged")
    SCENARIO.write_text(SCENARIO.read_text().replace("strategies.other", "strategies.another"))
    code, said = judged("--against", "HEAD", "--require-baseline")
    assert code == 1
    assert "strategy other, which was judged, is gone" in said
