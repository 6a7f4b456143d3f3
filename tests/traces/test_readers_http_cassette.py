"""Cassettes of VCR in YAML, and the YAML they are written in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from reread import FORMATS

from bench.model import Usage
from bench.traces import load
from bench.traces.formats.http_cassette import YamlError, yaml_value

SMALL = (FORMATS / "http_cassette" / "agents.yaml").read_text()


@pytest.mark.parametrize(
    "text",
    [
        "a: *b\n",
        "a: &b [1]\nc: *b\n",
        "--- 1\n--- 2\n",
        "a: !tag x\n",
        "a: 'x' y\n",
        "a:\n  b: 1\n c: 2\n",
        "- " * 400 + "x",
        'a: "x\n',
    ],
)
def test_yaml_that_is_refused(text: str) -> None:
    with pytest.raises(YamlError):
        yaml_value(text)


def test_a_key_that_a_mapping_has_twice_is_counted(tmp_path: Path) -> None:
    assert yaml_value("a:\n  b: 1\n  'b': 2\n  c: 3\na: x\nb: y\n") == ({"a": "x", "b": "y"}, 2)
    path = tmp_path / "x.yaml"
    path.write_text(f"{SMALL}interactions:\n{SMALL.split('interactions:', 1)[1]}")
    assert (
        load([str(path)]).traces[0].left_out["key that an object has twice: the last one counts"] == 2
    )  # `version` stands at the end too


@pytest.mark.parametrize("spoken", [{}, {"content": [{"type": "thinking", "thinking": "Somewhere cold."}]}])
def test_calls_plan_and_results_of_cohere_are_read(tmp_path: Path, spoken: dict[str, object]) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "weather", "arguments": '{"in": "Toronto"}'}}
    asked = {"role": "assistant", "tool_plan": "I look it up.", "tool_calls": [call], **spoken}
    told = {"role": "tool", "tool_call_id": "c", "content": [{"type": "document", "document": {"data": "20 C"}}]}
    messages = [{"role": "user", "content": "How warm is it?"}, asked, told]
    usage = {"billed_units": {"input_tokens": 2}, "tokens": {"input_tokens": 120, "output_tokens": 30}}
    answer = {"message": {"role": "assistant", "content": [{"type": "text", "text": "20 C."}]}, "usage": usage}
    log = ({"messages": messages[:1]}, {"message": asked, "usage": usage}), ({"messages": messages}, answer)
    path = tmp_path / "cohere.jsonl"
    path.write_text("".join(json.dumps({"request": request, "response": given}) + "\n" for request, given in log))
    _, turn, result, last = load([str(path)]).traces[0].steps
    assert (turn.tool_calls[0].arguments, turn.reasoning) == ({"in": "Toronto"}, "I look it up.")
    assert (result.seen, last.content, last.usage.prompt_tokens) == ("20 C", "20 C.", 120)


@pytest.mark.parametrize(
    ("uri", "asked", "answer"),
    [
        ("v2", {"messages": [{"role": "user", "content": "Why?"}]}, [
            'data: {"type": "message-start", "id": "1", "delta": {"message": {"role": "assistant", "content": [], "tool_calls": []}}}',
            'data: {"type": "content-start", "index": 0, "delta": {"message": {"content": {"type": "text", "text": ""}}}}',
            'data: {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "Be"}}}}',
            'data: {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "cause."}}}}',
            'data: {"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": {"id": "c", "function": {"name": "f"}}}}}',
            'data: {"type": "tool-call-delta", "index": 0, "delta": {"message": {"tool_calls": {"function": {"arguments": "{\\"a\\": 1}"}}}}}',
            'data: {"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": {"tokens": {"input_tokens": 9, "output_tokens": 4}}}}',
        ]),
        ("v1", {"message": "Why?", "chat_history": [{"role": "CHATBOT", "message": "Ask."}]}, [
            '{"event_type": "text-generation", "text": "Because."}',
            '{"event_type": "stream-end", "response": {"text": "Because.", "finish_reason": "COMPLETE",'
            ' "tool_calls": [{"name": "f", "parameters": {"a": 1}}], "meta": {"tokens": {"input_tokens": 9, "output_tokens": 4}}}}',
        ]),
    ],
)  # fmt: skip
def test_streams_of_both_interfaces_of_cohere_are_read(
    tmp_path: Path, uri: str, asked: object, answer: list[str]
) -> None:
    request = {"uri": f"https://api.cohere.com/{uri}/chat", "body": json.dumps(asked)}
    response = {"body": {"string": "\n\n".join(answer)}}
    path = tmp_path / "c.yaml"
    path.write_text("interactions:\n- request:\n    " + json.dumps(request) + "\n  response: " + json.dumps(response))
    turn = load([str(path)]).traces[0].model_turns[-1]
    assert (turn.content, turn.finish_reason, turn.usage) == (
        "Because.",
        "COMPLETE",
        Usage(prompt_tokens=9, completion_tokens=4),
    )
    assert [(call.name, call.arguments) for call in turn.tool_calls] == [("f", {"a": 1})]
