"""Messages, requests and answers of every interface become the same messages; what is odd costs itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.model import ToolCall
from bench.traces import load
from bench.traces.intakes.content import blocks_of
from bench.traces.intakes.exchange import answers_of, prompt_of
from bench.traces.intakes.messages import is_item, messages
from bench.traces.steps import ReadMessage
from bench.traces.values import Unread

ASKED = ReadMessage("user", "How many walls?")
CALL = ToolCall(id="c", name="count", arguments={"of": "walls"})
GIVEN = {"type": "function", "id": "c", "function": {"name": "count", "arguments": '{"of": "walls"}'}}
USE = {"type": "tool_use", "id": "c", "name": "count", "input": {"of": "walls"}}
PROMPTS: dict[str, Any] = {
    "chat": {"messages": [{"role": "user", "content": "How many walls?"}, {"role": "assistant", "content": "", "tool_calls": [GIVEN]},
                          {"role": "tool", "tool_call_id": "c", "content": "36"}]},
    "responses": {"input": [{"role": "user", "content": [{"type": "input_text", "text": "How many walls?"}]},
                            {"type": "function_call", "call_id": "c", "name": "count", "arguments": '{"of": "walls"}'},
                            {"type": "function_call_output", "call_id": "c", "output": "36"}]},
    "anthropic": {"messages": [{"role": "user", "content": "How many walls?"}, {"role": "assistant", "content": [USE]},
                               {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "36"}]}]},
    "converse": {"messages": [{"role": "user", "content": [{"text": "How many walls?"}]},
                              {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c", "name": "count", "input": {"of": "walls"}}}]},
                              {"role": "user", "content": [{"toolResult": {"toolUseId": "c", "content": [{"text": "36"}]}}]}]},
    "langchain": {"messages": [{"type": "human", "content": "How many walls?"},
                               {"type": "ai", "content": "", "tool_calls": [{"id": "c", "name": "count", "args": {"of": "walls"}}]},
                               {"type": "tool", "tool_call_id": "c", "content": "36"}]},
}  # fmt: skip


@pytest.mark.parametrize("interface", PROMPTS)
def test_a_prompt_is_the_same_in_every_interface(interface: str) -> None:
    read = prompt_of(PROMPTS[interface], unread := Unread())
    assert [(item.role, item.content, item.calls, item.call_id) for item in read] == [
        ("user", "How many walls?", (), ""),
        ("assistant", "", (CALL,), ""),
        ("tool", "36", (), "c"),
    ]
    assert unread.counts == {}


def test_parts_without_ids_are_read_as_those_of_gemini() -> None:
    parts = [
        {"functionCall": {"name": "count", "args": {"of": "walls"}}},
        {"functionResponse": {"name": "count", "response": {"error": "no walls"}}},
        {"functionResponse": {"name": "count", "response": {"walls": 36}}},
        {"text": "Count.", "thought": True},
        {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
        {"hologram": 1},
    ]
    blocks = blocks_of(parts, unread := Unread())
    assert blocks.calls == [ToolCall(id="", name="count", arguments={"of": "walls"})]
    assert [(item.content, item.failed) for item in blocks.results] == [("no walls", True), ('{"walls":36}', False)]
    assert (blocks.reasoning, blocks.other) == ("Count.", ["picture"])
    assert unread.counts == {"part of no known kind": 1}
    (asked,) = prompt_of({"contents": [{"parts": [{"text": "go"}]}]}, Unread())  # without a role, too
    assert (asked.role, asked.content) == ("user", "go")


def test_keys_of_newer_models_are_known() -> None:
    item = {"type": "message", "role": "assistant", "phase": "commentary", "content": [{"type": "output_text", "text": "a"}]}  # fmt: skip
    use = {"role": "assistant", "content": [{**USE, "caller": {"type": "direct"}}], "tool_calls": [{**GIVEN, "caller": {"type": "direct"}}]}  # fmt: skip
    note = {"type": "agent_message", "author": "planner", "content": [{"type": "input_text", "text": "go"}]}
    assert is_item(note)
    read = messages([item, use, note], unread := Unread())
    assert [(said.role, said.content) for said in read] == [("assistant", "a"), ("assistant", ""), ("user", "go")]  # fmt: skip
    assert unread.counts == {}


@pytest.mark.parametrize("odd", [{"input_tokens": "9"}, {"input_tokens": 9, "cache_read_input_tokens": "4"}])
def test_an_invalid_token_count_is_counted_once(odd: dict[str, Any]) -> None:
    answers_of({"role": "assistant", "content": [{"type": "text", "text": "36"}], "usage": odd}, unread := Unread())
    assert sum(unread.counts.values()) == 1


def test_a_conversation_stored_by_the_server_is_one_run(tmp_path: Path) -> None:
    """Each answer names the one before it; the last goes back to the first."""
    after = {"a": None, "b": "a", "c": "b", "d": "a"}
    items = {name: [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": f"A{name}"}]}] for name in after}  # fmt: skip
    values = [{"id": name, "input": f"Q{name}", "output": items[name], "previous_response_id": before} for name, before in after.items()]  # fmt: skip
    path = tmp_path / "chain.json"
    path.write_text(json.dumps(values))
    (trace,) = load([str(path)]).traces
    *steps, reset, asked, answer = trace.steps
    assert [step.content for step in steps] == ["Qa", "Aa", "Qb", "Ab", "Qc", "Ac"]
    assert (reset.kept, reset.summary, asked.content, answer.content) == ((0, 1), None, "Qd", "Ad")


@pytest.mark.parametrize("session", [True, False])
def test_the_stated_costs_of_calls_add_up_to_that_of_the_run(session: bool, tmp_path: Path) -> None:
    records = [
        {"messages": [{"role": "user", "content": f"Count {at}."}], "response": {"choices": [{"message": {"role": "assistant", "content": "36"}}]},
         "response_cost": usd, "session_id": "s" if session else str(at)}
        for at, usd in enumerate((0.1, 0.2, None))
    ]  # fmt: skip
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    costs = [trace.meta.get("cost_usd") for trace in load([str(path)]).traces]
    assert costs == ([0.3] if session else [0.1, 0.2, None])
