"""Cassettes of VCR in YAML, and the YAML they are written in."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path

import pytest
from reread import FORMATS, checked

from bench.model import RouteDecision
from bench.traces import load
from bench.traces.yaml_blocks import YamlError, yaml_value

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


def test_recorded_cassettes(shared_traces: Path, tmp_path: Path) -> None:
    """Counted again in the text of the files: calls by their addresses, prompt sizes as the provider told them."""
    paths = sorted((shared_traces / "openllmetry").rglob("*.yaml"))
    assert len(paths) == 10
    for path in paths:
        text = path.read_text()
        traces = [checked(trace, tmp_path) for trace in load([path.as_posix()]).traces]
        calls = len(
            re.findall(r"^    uri: https://api\.openai\.com/v1/(?:responses|chat/completions)$", text, re.MULTILINE)
        )
        turns = [turn for trace in traces for turn in trace.model_turns]
        answered = [
            turn for turn in turns if turn.model is not None
        ]  # a prompt may hold an answer that the cassette does not
        assert len(answered) == calls
        told = [int(count) for count in re.findall(r'\\?"input_tokens\\?":\s*(\d+)', text)]
        told += [
            json.loads(gzip.decompress(base64.b64decode(block)))["usage"]["input_tokens"]
            for block in re.findall(r"string: !!binary \|\n((?:        \S+\n)+)", text)
        ]
        assert sorted(turn.usage.prompt_tokens for turn in answered if turn.usage) == sorted(told)
    (recipe, again) = load(["openllmetry/**/test_recipe_agents_hierarchy.yaml"], shared_traces).traces
    assert [step.taken for step in recipe.steps if isinstance(step, RouteDecision)] == ["Recipe Editor Agent"]
    assert [turn.agent for turn in recipe.model_turns] == ["Main Chat Agent", *["Recipe Editor Agent"] * 3]
    assert len(again.model_turns) == 3
