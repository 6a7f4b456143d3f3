"""Files of earlier versions: every shape ever written is read; what a later version wrote is refused with what to do."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import bench
from bench.comparison.baselines import read_baseline
from bench.comparison.history import moments, titles
from bench.comparison.score_files import read_scores
from bench.model.errors import BenchError
from bench.strategies.own_calls import Cassette

OLD = Path(__file__).parents[1] / "data" / "old"
READ = {
    "trace": lambda path: bench.load([str(path)]).traces,
    "baseline": lambda path: [read_baseline(path)],
    "scores": read_scores,
    "history": lambda path: moments(path, titles(path)[0]),
    "cassette": lambda path: [Cassette(path, path.name)],
}


def kind(path: Path) -> str:
    return "baseline" if ".baseline." in path.name else path.name.partition("_")[0]


FILES = sorted(path for path in OLD.iterdir() if path.suffix != ".md")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_of_an_earlier_version_is_read(path):
    assert len(READ[kind(path)](path)) > 0


def test_there_is_one_of_each_kind():
    assert {kind(path) for path in FILES} == set(READ)


def test_what_they_said_is_still_there():
    (trace,) = READ["trace"](OLD / "trace_2026-11-21.jsonl")
    assert trace.id == "empty_plan"
    old, new = (read_baseline(OLD / f"2026-11-2{day}.baseline.json") for day in (1, 2))
    assert old.signature.facts_version == "1", "a field that had another name"
    assert old.rows
    assert new.signature.case_encodings
    assert {moment.strategy for moment in moments(OLD / "history_2026-11-21.sqlite", "")} >= {"keep_all", "drop_all"}
    asked = {
        "model": "gpt-4o-mini",
        "messages": [{"role": "system", "content": "Write notes."}, {"role": "user", "content": "user: go"}],
    }
    assert Cassette(OLD / "cassette_2026-11-21.jsonl", "c.jsonl").answer(asked).text == "Aim: go."


@pytest.mark.parametrize(
    ("name", "before", "after", "what_next"),
    [
        ("trace_2026-11-21.jsonl", '"bench_trace":1', '"bench_trace":9', "write the trace again with this version"),
        ("2026-11-22.baseline.json", '"schema": 1', '"schema": 9', "accept a new one with --update-baseline"),
        ("cassette_2026-11-21.jsonl", '"bench_cassette":1', '"bench_cassette":9', "record it again"),
    ],
)
def test_a_file_of_a_later_version_is_refused_with_what_to_do(tmp_path, name, before, after, what_next):
    text = (OLD / name).read_text()
    assert before in text
    (tmp_path / name).write_text(text.replace(before, after, 1))
    with pytest.raises(BenchError, match=what_next):
        READ[kind(tmp_path / name)](tmp_path / name)


def test_a_history_of_a_later_version_is_refused(tmp_path):
    path = Path(shutil.copy(OLD / "history_2026-11-21.sqlite", tmp_path / "history_later.sqlite"))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 9")
    with pytest.raises(BenchError, match="schema 9, this bench reads 1 — keep a new history"):
        titles(path)
