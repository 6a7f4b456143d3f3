"""An odd value in a session log costs itself: it is counted, and what else the log holds is read."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from examples import EXAMPLES
from hypothesis import given, settings, strategies as st

from bench.model import ContextEdit, ContextReset, Trace
from bench.plugins.registry import entries
from bench.run.audits import audit
from bench.traces import Document, load

FORMATS = Path(__file__).parents[1] / "data" / "formats"
LINES = {
    "claude_code": next((FORMATS / "claude_code").glob("*cafe.jsonl")),
    "codex": FORMATS / "codex" / "rollout.jsonl",
    "pi": next((FORMATS / "pi").glob("*.jsonl")),
    "copilot": FORMATS / "copilot" / "session.jsonl",
}
WHOLE = {
    "gemini_cli": FORMATS / "gemini_cli" / "session.json",
    "opencode": FORMATS / "opencode.json",
    "atif": FORMATS / "atif.harbor.json",
    "copilot": FORMATS / "copilot" / "chat.json",
}
CONTAINERS = {("schema_version",), ("steps",), ("messages",), ("requests",)}
"""Places without which a log is of another format, or holds nothing."""
ODD = st.sampled_from(["12", 12.5, -3, "soon", [], ["x"], {}, {"a": 1}, True, None, "", 10**30])


def read(reader: str, path: Path) -> Trace:
    (trace,) = entries("reader")[reader].target().read(Document(path))
    return trace


def left_out(trace: Trace) -> int:
    return sum(trace.left_out.values())


@pytest.mark.parametrize("reader", LINES)
def test_only_a_half_written_last_line_is_lost(reader: str, tmp_path: Path) -> None:
    whole = LINES[reader].read_bytes().rstrip(b"\n")
    before, _, last = whole.rpartition(b"\n")
    (tmp_path / "without.jsonl").write_bytes(before + b"\n")
    (tmp_path / "half.jsonl").write_bytes(before + b"\n" + last[: len(last) // 2])
    without, half = (read(reader, tmp_path / f"{name}.jsonl") for name in ("without", "half"))
    assert half.steps == without.steps
    assert left_out(half) == left_out(without) + 1
    assert load([str(tmp_path / "half.jsonl")]).traces[0].steps == half.steps


@pytest.mark.parametrize("reader", LINES)
@pytest.mark.parametrize("line", [b"5", b'"text"', b"[1]", b"{broken", b"null"])
def test_only_a_line_that_is_not_an_object_is_lost(reader: str, line: bytes, tmp_path: Path) -> None:
    lines = LINES[reader].read_bytes().splitlines()
    (tmp_path / "even.jsonl").write_bytes(b"\n".join(lines))
    (tmp_path / "odd.jsonl").write_bytes(b"\n".join([lines[0], line, *lines[1:]]))
    before, odd = (read(reader, tmp_path / f"{name}.jsonl") for name in ("even", "odd"))
    assert odd.steps == before.steps
    assert left_out(odd) == left_out(before) + 1


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path] * bool(path) + [leaf for key, item in pairs for leaf in leaves(item, (*path, key))]


def changed(value: Any, path: tuple[Any, ...], odd: Any) -> Any:
    new = copy.deepcopy(value)
    inner = new
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = odd
    return new


def test_copies_and_forks_of_a_session_are_charged_once(tmp_path: Path) -> None:
    whole = LINES["claude_code"].read_bytes()
    (tmp_path / "z.jsonl").write_bytes(whole)
    alone = audit([tmp_path]).sessions[0].charges
    (tmp_path / "zz.jsonl").write_bytes(whole[: len(whole) // 2])
    (copied,) = audit([tmp_path]).sessions
    assert (copied.id, copied.charges) == ("z", alone)
    (tmp_path / "fork.jsonl").write_bytes(whole.replace(b"cafe", b"0000"))
    fork, first = audit([tmp_path]).sessions
    assert [{turn.counted_in for turn in first.turns}, fork.charges] == [{fork.id}, alone]


@pytest.mark.parametrize("reader", [*LINES, *WHOLE])
@settings(max_examples=2 * EXAMPLES, deadline=None)
@given(data=st.data())
def test_a_session_with_any_unusual_value_is_read(
    reader: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Wherever an odd value stands, the rest is read: no error but that nothing was recorded, no step made up."""
    path = {**WHOLE, **LINES}[reader] if data.draw(st.booleans()) else {**LINES, **WHOLE}[reader]
    text = path.read_text(encoding="utf-8")
    values = list(map(json.loads, text.splitlines())) if path.suffix == ".jsonl" else json.loads(text)
    place, odd = data.draw(st.sampled_from(leaves(values))), data.draw(ODD)
    new = changed(values, place, odd)
    file = tmp_path_factory.mktemp("odd") / path.name
    file.write_text("\n".join(map(json.dumps, new)) if path.suffix == ".jsonl" else json.dumps(new), encoding="utf-8")
    if place in CONTAINERS or (reader == "copilot" and len(place) <= 3):
        return  # all that was recorded
    trace = read(reader, file)
    file.write_bytes(path.read_bytes())
    before = read(reader, file)
    assert len(trace.steps) <= len(before.steps) + 2
    assert len(trace.model_turns) >= len(before.model_turns) - 2 or left_out(trace) > left_out(before)


@pytest.mark.parametrize(
    ("key", "odd"), [("input_tokens", "12"), ("output_tokens", 12.5), ("cache_read_input_tokens", -1)]
)
def test_an_invalid_count_leaves_the_other_counts(key: str, odd: Any, tmp_path: Path) -> None:
    usage = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 3, key: odd}
    answer = {"role": "assistant", "id": "m", "stop_reason": "end_turn", "content": "done", "usage": usage}
    asked = {"type": "user", "message": {"role": "user", "content": "go"}, "timestamp": "soon", "uuid": "a"}
    lines = [{"sessionId": "s", **asked}, {"type": "assistant", "sessionId": "s", "uuid": "b", "message": answer}]
    (tmp_path / "s.jsonl").write_text("\n".join(map(json.dumps, lines)))
    trace = read("claude_code", tmp_path / "s.jsonl")
    assert len(trace.steps) == 2
    assert trace.left_out.keys() == {f"odd count {key!r}", "time that cannot be read"}


def wrote(reader: str, path: Path, *lines: dict[str, Any]) -> Trace:
    path.write_text("\n".join(map(json.dumps, lines)))
    return read(reader, path)


def test_results_that_claude_code_cleared_on_the_way_are_an_edit(tmp_path: Path) -> None:
    lines = list(map(json.loads, LINES["claude_code"].read_text().splitlines()))
    (result, *_) = read("claude_code", LINES["claude_code"]).results
    mark = {"type": "system", "subtype": "microcompact_boundary", "uuid": "m1", "timestamp": "2026-05-09T10:00:00Z"}
    about = {"microcompactMetadata": {"compactedToolIds": [result.call_id]}}
    trace = wrote("claude_code", tmp_path / "a.jsonl", *lines, {**lines[1], **mark, **about})
    edits = [step.shown for step in trace.steps if isinstance(step, ContextEdit)]
    assert edits == [{result.index: "[Old tool result content cleared]"}]


def test_outputs_that_swe_agent_no_longer_sent_are_an_edit_before_the_first_turn_without_them() -> None:
    edits = [it for it in read("swe", FORMATS / "swe/agent.traj").steps if isinstance(it, ContextEdit)]
    assert [(it.index, it.shown) for it in edits] == [(5, {4: "Old environment output: (1 lines omitted)"})]


def test_prompts_of_opencode_have_the_tail_of_a_compaction_and_the_output_of_what_was_stopped() -> None:
    trace = read("opencode", WHOLE["opencode"])
    assert [step.kept for step in trace.steps if isinstance(step, ContextReset)] == [(7, 8, 9, 10, 11)]
    assert trace.results[1].seen == "wc: wall.csv: No such file"


def test_going_back_in_gemini_cli_is_a_reset(tmp_path: Path) -> None:
    trace = wrote(
        "gemini_cli",
        tmp_path / "a.jsonl",
        {"sessionId": "s", "projectHash": "h"},
        {"id": "u1", "type": "user", "content": "go"},
        {"id": "g1", "type": "gemini", "content": "done"},
        {"$set": {"lastUpdated": "2026-01-01T00:00:05Z"}},
        {"id": "u2", "type": "user", "content": "bad"},
        {"$rewindTo": "u2"},
        {"id": "u3", "type": "user", "content": "better"},
    )
    assert [step.kept for step in trace.steps if isinstance(step, ContextReset)] == [(0, 1)]
    assert not trace.left_out


def test_a_new_history_in_gemini_cli_is_a_reset_if_it_lacks_messages() -> None:
    trace = read("gemini_cli", FORMATS / "gemini_cli" / "compressed.jsonl")
    assert [step.kept for step in trace.steps if isinstance(step, ContextReset)] == [(0, 6, 7)]
    assert [step.shown for step in trace.steps if isinstance(step, ContextEdit)] == [{3: "<masked>"}]
    assert (len(trace.steps), len(trace.model_turns)) == (11, 4)


def test_turns_that_codex_took_back_are_a_reset() -> None:
    marks = LINES["codex"].read_text().count("thread_rolled_back")
    trace = read("codex", LINES["codex"])
    resets = [step for step in trace.steps if isinstance(step, ContextReset)]
    assert marks == sum(reset.summary is None for reset in resets) == 1
    assert resets[-1].kept == (3, 13, 17)  # the last text of a turn, as a compaction keeps it


def test_copilots_lines_of_changes_are_applied() -> None:
    assert [step.content for step in read("copilot", LINES["copilot"]).steps] == ["How many walls?", "36 walls."]
