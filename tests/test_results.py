"""What is kept on disk: read back as it was, whole or not at all, and refused with a place when it does not fit."""

from __future__ import annotations

import json

import msgspec
import pytest
from compared import comparison
from generated import traces
from handmade import SMALL, run_of
from hypothesis import given, settings

import bench
from bench.errors import ResultsError
from bench.files.results import baseline_of, read_baseline, read_runs, write_atomically, write_baseline, write_runs
from bench.model import Baseline, GateRule


@settings(max_examples=20)
@given(traces(extras=True))
def test_a_run_read_back_scores_the_same(tmp_path_factory, trace):
    path = tmp_path_factory.mktemp("runs") / "runs.jsonl"
    run = bench.replay(trace, "cut=summarizer=truncate:limit=40+store=by_function+evaluator=step_v1")
    write_runs([run], path)
    (kept,) = read_runs(path)
    assert msgspec.json.encode(kept) == msgspec.json.encode(run)
    assert bench.score(trace, kept) == bench.score(trace, run)


def test_runs_are_one_line_each_and_written_the_same_twice(tmp_path):
    runs = [run_of(SMALL[name], "keep_all") for name in ("structured", "threads", "unicode")]
    write_runs(runs, tmp_path / "a.jsonl")
    write_runs(runs, tmp_path / "b.jsonl")
    written = (tmp_path / "a.jsonl").read_bytes()
    assert written == (tmp_path / "b.jsonl").read_bytes()
    assert written.count(b"\n") == 3
    assert len(read_runs(tmp_path / "a.jsonl")) == 3


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda lines: [], "holds no run"),
        (lambda lines: [lines[0], lines[1][:-20]], ":2: "),
        (lambda lines: [lines[0], b"{}"], ":2: Object missing required field"),
        (lambda lines: [lines[0], b'{"schema":99}'], ":2: schema 99, this bench reads 1"),
        (lambda lines: [b'{"schema":"one"}'], ":1: Expected `int`, got `str`"),
        (lambda lines: [b"\xff\xfe"], ":1: "),
    ],
)
def test_runs_that_do_not_fit_are_refused_with_their_line(tmp_path, damage, says):
    path = tmp_path / "runs.jsonl"
    write_runs([run_of(SMALL["unicode"], "keep_all")] * 2, path)
    path.write_bytes(b"\n".join(damage(path.read_bytes().splitlines())))
    with pytest.raises(ResultsError) as caught:
        read_runs(path)
    assert str(caught.value).startswith(str(path))
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_runs_that_are_not_there(tmp_path):
    with pytest.raises(ResultsError, match=r"none\.jsonl: No such file"):
        read_runs(tmp_path / "none.jsonl")


# ---------------------------------------------------------------- baselines

RULES = (
    GateRule(metric="cost.prompt_tokens", max_increase="2%"),
    GateRule(metric="needed.recall", strategy="keep_all", max_drop=0.01),
    GateRule(metric="loss.fact_recall.end", min=0.5),
)


def test_a_baseline_holds_what_relative_gates_need_and_no_more():
    compared = comparison()
    accepted = baseline_of(compared, RULES)
    assert accepted.signature == compared.signature
    assert set(compared.strategies) <= set(accepted.values)
    assert {metric for metrics in accepted.values.values() for metric in metrics} == {
        "cost.prompt_tokens",
        "needed.recall",
    }
    cases = accepted.values["cut"]["cost.prompt_tokens"]
    assert cases == {"": 1500.0, "case cut": 600.0, "case two": 900.0}


def test_without_relative_gates_there_is_nothing_to_accept():
    assert baseline_of(comparison(), RULES[2:]).values == {}
    assert baseline_of(comparison(), ()).values == {}


def test_a_baseline_is_read_back_as_it_was_and_is_readable(tmp_path):
    accepted = baseline_of(comparison(), RULES)
    path = tmp_path / "one.baseline.json"
    write_baseline(accepted, path)
    assert read_baseline(path) == accepted
    text = path.read_text()
    assert text == json.dumps(json.loads(text), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def test_no_file_is_no_baseline(tmp_path):
    assert read_baseline(tmp_path / "none.baseline.json") is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "Input data was truncated"),
        ("{", "Input data was truncated"),
        ("[]", "Expected `object`, got `array`"),
        ('{"schema": 2}', "schema 2, this bench reads 1"),
        ('{"schema": 1}', "missing required field `signature`"),
        ('{"schema": 1, "values": {"s": 3}}', "accept a new one with --update-baseline"),
    ],
)
def test_a_baseline_that_cannot_be_read_is_no_baseline_to_be_ignored(tmp_path, text, says):
    path = tmp_path / "one.baseline.json"
    path.write_text(text)
    with pytest.raises(ResultsError) as caught:
        read_baseline(path)
    assert str(caught.value).startswith(str(path))
    assert says in str(caught.value)


def test_an_unmeasured_value_is_kept_as_such(tmp_path):
    accepted = Baseline(signature=comparison().signature, values={"s": {"m": {"": None, "a": 1.0}}})
    write_baseline(accepted, tmp_path / "b.json")
    assert read_baseline(tmp_path / "b.json").values["s"]["m"] == {"": None, "a": 1.0}


# ---------------------------------------------------------------- writing


def test_a_file_is_written_whole_and_its_folder_made(tmp_path):
    path = tmp_path / "new" / "folder" / "x.txt"
    write_atomically(path, b"one")
    write_atomically(path, b"two")
    assert path.read_bytes() == b"two"
    assert [item.name for item in path.parent.iterdir()] == ["x.txt"]


def test_what_cannot_be_written_is_said_and_leaves_nothing(tmp_path):
    (tmp_path / "file").write_text("a file")
    with pytest.raises(ResultsError, match="cannot be written"):
        write_atomically(tmp_path / "file" / "x.txt", b"one")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ResultsError, match="cannot be written"):
        write_atomically(tmp_path / "folder", b"one")
    assert sorted(item.name for item in tmp_path.iterdir()) == ["file", "folder"]


def test_a_write_that_breaks_off_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "x.txt"
    write_atomically(path, b"old")

    def full(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(ResultsError, match=r"x\.txt: cannot be written: No space left on device"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [item.name for item in tmp_path.iterdir()] == ["x.txt"]
