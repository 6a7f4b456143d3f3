"""What stays as it is costs nothing again: messages that an answer repeats, threads, lines in which many cells are looked for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from bench.evidence.of_trace import TraceEvidence
from bench.replayer.prompts import BaseMessages, MessageTokens, ThreadHistory, base_message, message_key
from generated import traces
from handmade import opened, result
from hypothesis import given, strategies as st

from bench.evidence import side_by_side
from bench.evidence.spoken import spoken
from bench.model import Message, ModelTurn, UserTurn
from bench.replayer import prompts
from bench.text import texts
from bench.text.decode import decoded
from bench.text.texts import Texts
from bench.tokens.counting import TokenCounter
from bench.traces.formats.native import encode_trace

ROOT = Path(__file__).parents[2]
MESSAGES = [Message(role="user", text=f"m {number % 5}", kind="user", step=number) for number in range(12)]
HISTORY = st.lists(st.sampled_from(MESSAGES), unique_by=id, max_size=12)


@given(shared=st.integers(0, 12), old=HISTORY, new=HISTORY, many=st.sampled_from([1, 2, 3, 256]))
def test_edits_behind_what_two_histories_share_are_those_of_comparing_all(shared, old, new, many) -> None:
    head = MESSAGES[:shared]
    old, new = ([*head, *(item for item in rest if item not in head)] for rest in (old, new))
    before, prompts._MANY = prompts._MANY, many
    try:
        start = prompts._alike(old, new)
    finally:
        prompts._MANY = before
    assert old[:start] == new[:start]
    assert start == min(len(old), len(new)) or old[start] is not new[start]
    behind = prompts._splices(old[start:], new[start:], message_key)
    assert prompts._further(start, behind) == prompts._splices(old, new, message_key)


@pytest.mark.parametrize("per_call", [False, True])
def test_an_answer_that_repeats_the_history_is_looked_at_where_it_differs(monkeypatch, per_call) -> None:
    asked: list[Message] = []
    key = MessageTokens.key
    monkeypatch.setattr(MessageTokens, "key", lambda self, message: asked.append(message) or key(self, message))
    ledger = MessageTokens(BaseMessages(TokenCounter()))
    history = ThreadHistory("main", ledger, lambda window: list(window.messages), None, None, per_call)
    for turn in range(300):
        history.join(base_message(UserTurn(index=2 * turn, content=f"message {turn}")))
        history.compact(ModelTurn(index=2 * turn + 1))
    assert len(asked) < 300 * 10
    assert history.prompts[-1].tokens == TokenCounter().counting.prompt_tokens + sum(
        ledger.message_tokens[key(ledger, message)] for message in history.messages
    )


@given(recording=traces(extras=True))
def test_what_a_thread_had_said_is_that_of_searching_all_steps(recording) -> None:
    evidence = TraceEvidence(recording)
    for turn in recording.model_turns:
        mine = [step for step in recording.steps if step.thread == turn.thread and spoken(step)]
        assert evidence.spoken[turn.thread] == [(step.index, spoken(step)[0]) for step in mine]


PIECES = st.sampled_from(
    ["a", "ab", "7", "1,250", "1250", "1.5", " ", "\n\n", "\n", "-", "/", "Wall", "wall", "[1,", "]", '"', "\\n", "é"]
)


@given(
    line=st.lists(PIECES, max_size=20).map("".join),
    cells=st.lists(st.lists(PIECES, min_size=1, max_size=4).map("".join), max_size=5),
)
def test_a_cell_stands_in_a_line_as_any_fact_does(line, cells) -> None:
    known = Texts()
    for cell in cells:
        other = Texts().unescaped(line)
        slow = Texts().holds(line, cell) or (bool(other) and Texts().holds(other, cell))
        if not any(char == "_" or char.isalnum() for char in cell):
            slow = cell in line
        assert [side_by_side._stands(line, cell, known) for _ in range(2)] == [slow, slow]


def test_a_line_is_read_once_for_all_rows_of_a_table(monkeypatch) -> None:
    line, read = "x 1 y " * 5000, []
    monkeypatch.setattr(texts, "decoded", lambda text: read.append(text) or decoded(text))
    table = [{"name": f"Level {number}", "room": f"Room {number}"} for number in range(20)]
    assert side_by_side.beside(table, line) is not None
    assert read.count(line) == 1


@pytest.mark.slow
def test_a_warning_about_an_encoding_changes_no_row_and_no_exit_code(tmp_path: Path) -> None:
    """Python can be told to raise wherever a file is opened without one, and a run ends its children after its exit code is decided."""
    recording = opened([result("found 4711 rows " * 4, index=2), ModelTurn(index=3, content="4711")], id="facts")
    (tmp_path / "facts.jsonl").write_bytes(encode_trace(recording))
    (tmp_path / "cut.py").write_text("def cut(result):\n    return result.text[:8]\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error::EncodingWarning",
                   "PYTHONWARNDEFAULTENCODING": "1"}  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "bench", "run", "--traces", "facts.jsonl", "--jobs", "1", "--strategy", "cut=summarizer=cut.py:cut"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, "Warning" in done.stdout + done.stderr) == (0, False), done.stderr


def test_an_error_while_children_are_ended_leaves_the_exit_code(tmp_path: Path) -> None:
    code = "import bench.cli as c\ndef end(): raise OSError('no')\nc.end_below = end\nc.main()"
    for arguments, exit_code in ((["list", "strategies"], 0), (["run", "no.toml"], 2)):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, encoding="utf-8", timeout=60, check=False,
        )  # fmt: skip
        assert (done.returncode, "Traceback" in done.stderr) == (exit_code, False)
