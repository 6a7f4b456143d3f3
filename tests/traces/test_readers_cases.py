"""Small files and what readers must make of them: `data/reader_cases.jsonl`, a case a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from reread import CASES, checked, content, document, read, said, sure, sure_of

from bench.model.errors import TraceError
from bench.plugins.registry import entries
from bench.traces import Confidence, Near

FILES = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


def cases(kind: str) -> pytest.MarkDecorator:
    chosen = [case for case in FILES if kind in case]
    return pytest.mark.parametrize("case", chosen, ids=[f"{case['reader']}-{case.get('of', '')}" for case in chosen])


@cases("says")
def test_a_file_gives_its_traces(tmp_path: Path, case: dict[str, Any]) -> None:
    """After a change that is meant, `python tests/reread.py` takes what is read now; read the diff."""
    name = case.get("name", "run.json")
    if case.get("alone"):
        assert sure_of(document(tmp_path, content(case), name)) == [case["reader"]]
    traces = read(case["reader"], tmp_path, content(case), name)
    assert said([checked(trace, tmp_path) for trace in traces]) == case["says"]


@cases("refused")
def test_a_bad_file_is_one_clear_line(tmp_path: Path, case: dict[str, Any]) -> None:
    with pytest.raises(TraceError) as caught:
        read(case["reader"], tmp_path, content(case), case.get("name", "run.json"))
    assert case["refused"] in str(caught.value)
    assert str(caught.value).startswith(case.get("name", "run.json"))
    assert "\n" not in str(caught.value)


@cases("sure")
def test_how_sure_a_reader_is(tmp_path: Path, case: dict[str, Any]) -> None:
    assert sure(case["reader"], document(tmp_path, content(case))) is Confidence[case["sure"]]


@cases("sure_of")
def test_which_readers_are_sure(tmp_path: Path, case: dict[str, Any]) -> None:
    assert sure_of(document(tmp_path, content(case), case.get("name", "run.json"))) == case["sure_of"]


@cases("lacks")
def test_what_a_file_lacks(tmp_path: Path, case: dict[str, Any]) -> None:
    sniffed = entries("reader")[case["reader"]].target().sniff(document(tmp_path, content(case)))
    assert isinstance(sniffed, Near)
    assert sniffed.lacks == (case["lacks"],)
