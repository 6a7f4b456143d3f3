"""The history: every run kept in one file, with the commit it ran at, and who moved what."""

from __future__ import annotations

import contextlib
import datetime
import re
import sqlite3
import threading

import msgspec
import pytest
from compared import comparison
from repository import SCENARIO, SUMMARIZERS, WORSE, bench, commit, git, init

from bench.comparison.history import keeping, moments, moves, subjects, titles
from bench.files.git import Commit
from bench.model.errors import ResultsError
from bench.reports import build_blocks

AT = datetime.datetime(2026, 11, 21, 5, 0, tzinfo=datetime.UTC)
FIRST, SECOND = Commit("a" * 40, "first", False), Commit("b" * 40, "second", True)


def keep(made, path, commit, at):
    """Add one run to a history."""
    with keeping([made], path, commit, at):
        pass


def with_cost(tokens):
    """The comparison put together by hand, with another number of prompt tokens for `cut`."""
    made = comparison()
    summary = tuple(
        msgspec.structs.replace(row, value=tokens)
        if (row.strategy, row.metric) == ("cut", "cost.prompt_tokens")
        else row
        for row in made.summary
    )
    return msgspec.structs.replace(made, summary=summary)


def test_what_was_kept_comes_back_in_order_with_its_commit(tmp_path):
    path = tmp_path / "h.sqlite"
    keep(with_cost(1500.0), path, FIRST, AT)
    keep(with_cost(1400.0), path, SECOND, AT)
    title = comparison().title
    assert titles(path) == (title,)
    assert subjects(path) == {FIRST.sha: "first", SECOND.sha: "second"}
    cut = [item for item in moments(path, title) if (item.strategy, item.metric) == ("cut", "cost.prompt_tokens")]
    assert [(item.run, item.commit, item.dirty, item.at, item.value, item.changed) for item in cut] == [
        (1, FIRST.sha, False, "2026-11-21T05:00:00+00:00", 1500.0, ()),
        (2, SECOND.sha, True, "2026-11-21T05:00:00+00:00", 1400.0, ()),
    ]
    (move,) = moves(moments(path, title))
    assert (move.after.strategy, move.after.metric, move.after.commit) == ("cut", "cost.prompt_tokens", SECOND.sha)
    assert moments(path, "another title") == ()


def test_a_file_that_is_still_empty_becomes_a_history(tmp_path):
    path = tmp_path / "h.sqlite"
    path.touch()
    keep(comparison(), path, FIRST, AT)
    assert titles(path) == (comparison().title,)


def test_every_row_is_kept_and_can_be_asked_for_in_sql(tmp_path):
    path = tmp_path / "h.sqlite"
    made = comparison()
    keep(made, path, None, AT)
    with sqlite3.connect(path) as connection:
        kept = connection.execute("SELECT strategy, metric, case_id, value FROM scores").fetchall()
    connection.close()
    assert set(kept) == {(row.strategy, row.metric, row.case or "", row.value) for row in (*made.rows, *made.summary)}


def test_a_change_of_traces_or_settings_is_said_beside_the_value(tmp_path):
    path = tmp_path / "h.sqlite"
    made = comparison()
    keep(made, path, None, AT)
    signature = msgspec.structs.replace(made.signature, traces={"other": "00"}, bench_version="9")
    keep(msgspec.structs.replace(made, signature=signature), path, None, AT)
    assert {item.changed for item in moments(path, made.title) if item.run == 2} == {("bench version", "traces")}
    assert {item.changed for item in moments(path, made.title) if item.run == 1} == {()}


def test_runs_of_several_processes_at_once_are_all_kept(tmp_path):
    path = tmp_path / "h.sqlite"
    threads = [threading.Thread(target=keep, args=(comparison(), path, None, AT)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {item.run for item in moments(path, comparison().title)} == set(range(1, 9))


def test_one_that_another_process_writes_is_no_damaged_one(tmp_path, monkeypatch):
    path = tmp_path / "h.sqlite"
    keep(comparison(), path, None, AT)
    monkeypatch.setattr("bench.comparison.history._WAITS_S", 0.01)
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(ResultsError, match="another process has written it"):
            keep(comparison(), path, None, AT)


def test_what_is_no_history_is_refused_and_left_alone(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a database, and longer than a header of one " * 10)
    other = tmp_path / "other.sqlite"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE mine (x)")
    connection.commit()
    connection.close()
    for path in (text, other):
        before = path.read_bytes()
        with pytest.raises(ResultsError, match=r"history|not a database"):
            keep(comparison(), path, None, AT)
        assert path.read_bytes() == before
    with pytest.raises(ResultsError, match="no such file"):
        titles(tmp_path / "none.sqlite")
    assert not (tmp_path / "none.sqlite").exists()


def test_another_schema_is_refused(tmp_path):
    path = tmp_path / "h.sqlite"
    keep(comparison(), path, None, AT)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.commit()
    connection.close()
    with pytest.raises(ResultsError, match="schema 99, this bench reads 1"):
        titles(path)


def test_the_panel_draws_runs_and_names_the_commit_that_moved_a_value(tmp_path):
    path = tmp_path / "h.sqlite"
    for tokens, at in ((1500.0, FIRST), (1400.0, SECOND)):
        keep(with_cost(tokens), path, at, AT)
    made = comparison()
    shown = msgspec.structs.replace(made, history=moments(path, made.title))
    (panel,) = build_blocks(shown, ["changes"])
    said, table, *charts = panel.blocks
    assert said.text.startswith("2 runs kept; 1 value moved")
    assert [cell.text for cell in table.rows[0]] == [
        "2", "bbbbbbbbb+", "cut", "cost.prompt_tokens", "1\u202f500", "1\u202f400",
    ]  # fmt: skip
    points = {(point.series, point.x): point.y for chart in charts for point in chart.points if "tokens" in chart.title}
    assert (points["cut", 1.0], points["cut", 2.0]) == (1500.0, 1400.0)


@pytest.mark.slow
def test_the_command_line_keeps_runs_and_says_which_commit_moved_a_metric(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    git("init", "--quiet")
    init()
    start = commit("start")
    assert bench("run", SCENARIO, "--history", "kept/h.sqlite") == 0
    SUMMARIZERS.write_text(WORSE)
    worse = commit("keep a hundred characters")
    assert bench("run", SCENARIO, "--history", "kept/h.sqlite", "-o", "x.md") == 1
    assert "2 runs kept" in (tmp_path / "x.md").read_text()
    capsys.readouterr()

    assert bench("history", "kept/h.sqlite", "needed.recall", "--strategy", "mine") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["What the model sees of a tool result", "  mine"]
    assert start[:9] + " start  1" in lines[2]
    assert re.search(rf"{worse[:9]} keep a hundred characters  0\.\d+  -[\d.]+%$", lines[3])

    assert bench("history", "kept/h.sqlite") == 0
    said = capsys.readouterr().out
    moved = rf"mine needed\.recall: 1 → 0\.\d+ -[\d.]+%  at run 2, {worse[:9]} keep a hundred characters"
    assert re.search(moved, said)
    assert "cut_500 needed.recall" not in said, "what did not move is not listed"

    assert bench("history", "kept/h.sqlite", "needed.recal") == 2
    assert "did you mean needed.recall" in capsys.readouterr().err
    assert bench("history", "none.sqlite") == 2
    assert capsys.readouterr().err.startswith("error: none.sqlite: no such file — keep runs with")


@pytest.mark.slow
def test_json_and_baseline_do_not_know_of_the_history(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    init()
    assert bench("run", SCENARIO, "-o", "a.json") == 0
    assert bench("run", SCENARIO, "--history", "h.sqlite", "-o", "b.json") == 0
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


@pytest.mark.slow
def test_two_scenarios_of_one_title_would_be_one_line_in_a_history(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    init()
    other = SCENARIO.with_name("other.toml")
    other.write_text(SCENARIO.read_text())
    assert bench("run", SCENARIO, other, "--history", "h.sqlite") == 2
    assert "which is how a history tells them apart" in capsys.readouterr().err
    assert not (tmp_path / "h.sqlite").exists()
