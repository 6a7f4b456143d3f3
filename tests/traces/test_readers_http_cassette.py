"""Cassettes of VCR in YAML, and the YAML they are written in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from reread import FORMATS

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
