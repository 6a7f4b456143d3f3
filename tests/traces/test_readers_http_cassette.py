"""Cassettes of VCR in YAML, and the YAML they are written in."""

from __future__ import annotations

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
