"""Executors: the same results everywhere, and a process that dies costs the task that it worked on alone."""

from __future__ import annotations

import os
import pickle
import threading
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from bench.evidence.index import index_trace
from bench.metrics import example
from bench.model.errors import BenchError
from bench.model.index import TraceIndex
from bench.replayer.replaying import replay
from bench.run.executors import measured_by, measured_here, processes
from bench.run.kept import Kept, key_of, replay_digest
from bench.strategies import strategy_of


def work(plan, task):
    if task == "dies":
        os._exit(9)
    if isinstance(task, Path) and not task.exists():
        task.write_text("once")
        os._exit(9)
    if task == "raises":
        raise BenchError("no such thing")
    return plan, str(task)


def died(task, why):
    return "died", str(task)


def by_processes(tasks, workers=2):
    return sorted(measured_by(processes, workers, work, "plan", tasks, died))


def test_processes_give_what_this_one_gives():
    tasks = [*map(str, range(20))]
    assert by_processes(tasks) == sorted(measured_here(work, "plan", tasks))
    assert by_processes([]) == []


@pytest.mark.slow
def test_a_process_that_dies_costs_its_own_task(tmp_path):
    tasks = [*map(str, range(10)), "dies", *map(str, range(10, 20)), tmp_path / "once", "20"]
    found = by_processes(tasks)
    others = [task for task in tasks if task != "dies"]
    assert found == sorted([("died", "dies"), *(("plan", str(task)) for task in others)])


def test_an_error_of_the_bench_is_raised_where_it_was_asked_for():
    with pytest.raises(BenchError, match="no such thing"):
        by_processes(["1", "raises"])
    lock = threading.Lock()
    with pytest.raises(BenchError):
        list(measured_by(processes, 1, work, lambda: lock, ["1"], died))


# ---------------------------------------------------------------- what is kept


@given(st.dictionaries(st.binary(max_size=8), st.binary(max_size=200)))
def test_what_is_kept_is_given_back(tmp_path_factory, values):
    kept = Kept(tmp_path_factory.mktemp("kept") / "k.sqlite")
    for key, body in values.items():
        kept.put(key, body)
    again = pickle.loads(pickle.dumps(kept))
    assert {key: again.get(key) for key in values} == values
    assert again.get(b"another key that nobody has") is None


def test_a_value_is_made_once_and_comes_back_equal(tmp_path):
    trace, kept, made = example().trace, Kept(tmp_path / "k.sqlite"), []

    def make():
        made.append(1)
        return index_trace(trace)

    def value(*about, **settings):
        return kept.value(TraceIndex, ("index", trace.sha256, *about), make, **settings)

    first, second = value(), value()
    assert (first, made) == (second, [1])
    assert value("another model", wanted=lambda value: False) == first
    assert value("another model") == value("another model")
    assert made == [1, 1, 1]


def test_a_file_that_is_none_fails_nothing(tmp_path):
    (tmp_path / "k.sqlite").write_bytes(b"no database at all, but longer than a header " * 20)
    kept = Kept(tmp_path / "k.sqlite")
    kept.put(b"a", b"1")
    assert kept.get(b"a") is None
    assert Kept(tmp_path / "k.sqlite" / "below").get(b"a") is None
    kept.trim()


def test_the_oldest_go_first(tmp_path, monkeypatch):
    kept = Kept(tmp_path / "k.sqlite")
    for number in range(40):
        kept.put(b"%d" % number, os.urandom(1000))
    kept.get(b"0")
    monkeypatch.setattr("bench.run.kept.limit", lambda name: 20_000)
    kept.trim()
    left = [number for number in range(40) if kept.get(b"%d" % number) is not None]
    assert 0 in left
    assert len(left) < 20
    assert left[1:] == [*range(41 - len(left), 40)]


def test_a_replay_has_the_digest_of_what_it_does():
    trace = example().trace
    index = index_trace(trace)
    one, same, other = (
        replay(trace, index, strategy_of(spec, name))
        for spec, name in (("keep_all", "a"), ("keep_all", "b"), ("drop_all", "a"))
    )
    assert replay_digest(one) == replay_digest(same) != replay_digest(other)
    assert key_of("x", 1) != key_of("x", 2) != key_of("y", 2)
