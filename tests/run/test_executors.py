"""Executors: the same results everywhere, and a process that dies is an error."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import sqlite3
import subprocess
import threading
import time
from typing import Any

import msgspec
import pytest
from handmade import compose
from hypothesis import given, strategies as st

from bench.evidence.index import index_trace
from bench.metrics import example
from bench.model.errors import BenchError
from bench.replayer.replaying import Replayer
from bench.run.cache import Cache, key_of, replay_digest, user_cache
from bench.run.executors import Workers
from bench.run.measuring import Measuring, RunSession
from bench.strategies import build_strategy, parse_strategy
from bench.strategies.declaring import declaration


def work(plan, task):
    if task == "dies":
        os._exit(9)
    if task == "sleeps":
        time.sleep(120)
    if task == "raises":
        raise BenchError("no such thing")
    return plan, str(task)


def by_processes(*comparisons):
    with Workers(2) as workers:
        return [sorted(workers.results(work, "plan", tasks)) for tasks in comparisons]


def test_several_processes_give_the_same_result_as_one():
    tasks = [*map(str, range(20))]
    assert by_processes(tasks, [], ["a"]) == [sorted(Workers().results(work, "plan", tasks)), [], [("plan", "a")]]


def test_a_process_that_dies_ends_the_comparison_and_not_the_next_one():
    with Workers(2) as workers:
        with pytest.raises(BenchError):
            list(workers.results(work, "plan", ["1", "dies", *"23"]))
        assert [*workers.results(work, "plan", ["a"])] == [("plan", "a")]


def interrupted():
    with Workers(2) as workers:
        assert next(workers.results(work, "plan", ["sleeps", "1"])) == ("plan", "1")
        raise KeyboardInterrupt


def test_an_interrupt_ends_the_workers_at_once_and_no_other_process():
    other = multiprocessing.get_context("fork").Process(target=time.sleep, args=(120,))
    other.start()
    began = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted()
        assert other.is_alive()
        assert time.monotonic() - began < 60
    finally:
        other.kill()


def test_an_error_of_the_bench_is_raised_in_the_calling_process():
    with pytest.raises(BenchError, match="no such thing"):
        by_processes(["1", "raises"])
    lock = threading.Lock()
    with Workers(2) as workers:  # it cannot be sent
        assert [*workers.results(lambda plan, task: (plan(), task), lambda: lock, ["1"])] == [(lock, "1")]


# ---------------------------------------------------------------- what is kept


PLAIN = st.recursive(st.none() | st.integers(-9, 9) | st.text(max_size=3), lambda inner: st.lists(inner, max_size=3))


@given(st.dictionaries(st.text(max_size=8), PLAIN))
def test_a_cached_replay_is_returned_unchanged(tmp_path_factory, values):
    cache = Cache(tmp_path_factory.mktemp("kept") / "k.sqlite")
    for name, value in values.items():
        cache.put(value, "a", name)
    again = pickle.loads(pickle.dumps(cache))
    assert {name: again.get(Any, "a", name) for name in values} == values
    assert again.get(Any, "a", "another name that nobody has") is None
    with sqlite3.connect(cache.path) as damaged:
        damaged.execute("UPDATE value SET body = substr(body, 1, length(body) - 1)")
    assert {again.get(Any, "a", name) for name in values} <= {None}
    cache.put("\ud800", "a", "no UTF-8")
    assert cache.get(Any, "a", "no UTF-8") is None


def test_a_cached_replay_is_not_repeated(tmp_path, monkeypatch):
    trace, cache = example().trace, Cache(tmp_path / "k.sqlite")
    strategies = (parse_strategy("keep_all"), parse_strategy("ends=summarizer=head_tail:head=1,tail=1"))
    measuring = Measuring(strategies, cache=cache)
    session = RunSession(trace, measuring)
    first, details = session.measured(), session.details(["ends"])
    for name in ("index_trace", "Replayer", "TraceSession"):
        monkeypatch.delattr(f"bench.run.measuring.{name}")
    again = RunSession(trace, measuring)
    assert (again.measured(), again.details(["ends"])) == (first, details)
    routed = msgspec.structs.replace(trace, labels={"routes": {"1": "end"}})
    for asked, by in ((trace, Measuring(strategies, "gpt-4o", cache)), (routed, measuring)):
        with pytest.raises(NameError):
            RunSession(asked, by).measured()


def test_user_code_is_never_cached(tmp_path):
    cache, texts = Cache(tmp_path / "k.sqlite"), ["a/b.csv", "another"]
    scores = [
        RunSession(
            example().trace,
            Measuring((compose("mine", {"summarizer": lambda result, text=text: text}),), cache=cache),
        ).measured()
        for text in (*texts, *texts)
    ]
    assert scores[:2] == scores[2:]
    assert scores[0] != scores[1]


def test_a_cache_that_a_repository_holds_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "k.sqlite"))
    user_cache().put("poison", "a")
    for command in ("init -q", "add k.sqlite"):
        subprocess.run(["git", "-C", str(tmp_path), *command.split()], check=True)
    with pytest.raises(BenchError, match="is part of a repository, which could decide by it"):
        user_cache()


def test_a_damaged_cache_file_fails_nothing(tmp_path, monkeypatch):
    (tmp_path / "k.sqlite").write_bytes(b"no database at all, but longer than a header " * 20)
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "k.sqlite"))
    cache = user_cache()
    cache.put("1", "a")
    assert cache.get(str, "a") is None
    assert Cache(tmp_path / "k.sqlite" / "below").get(str, "a") is None
    cache.trim()


def test_a_cache_above_its_limit_is_emptied(tmp_path, monkeypatch):
    cache = Cache(tmp_path / "k.sqlite")
    cache.put(os.urandom(1000), "a")
    for most, is_left in ((2000, True), (500, False)):
        monkeypatch.setattr("bench.run.cache.limit", lambda name, most=most: most)
        cache.trim()
        assert (cache.get(bytes, "a") is not None) == is_left


def test_the_digest_of_a_replay_depends_on_its_effects():
    trace = example().trace
    index = index_trace(trace)
    one, same, other = (
        Replayer(trace, index).replay(build_strategy(declaration(spec, name)))
        for spec, name in (("keep_all", "a"), ("keep_all", "b"), ("drop_all", "a"))
    )
    assert replay_digest(one) == replay_digest(same) != replay_digest(other)
    assert key_of("x", 1) != key_of("x", 2) != key_of("y", 2)
