"""Small files and what readers must make of them: `data/reader_cases.jsonl`, a case a line."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from reread import CASES, checked, content, document, loaded, read, said, sure, sure_of

from bench.model.errors import TraceError
from bench.plugins.registry import entries
from bench.traces import Confidence, Near

FILES = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


def cases(kind: str) -> pytest.MarkDecorator:
    chosen = [case for case in FILES if kind in case and ("load" in case) == (kind == "load")]
    names = [f"{case.get('reader', 'load')}-{case.get('of', '')}" for case in chosen]
    return pytest.mark.parametrize("case", chosen, ids=names)


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


@cases("load")
def test_files_give_their_traces(tmp_path: Path, case: dict[str, Any]) -> None:
    found = loaded(case, tmp_path)
    if "refused" in case:
        assert case["refused"] in found["refused"]
        assert "\n" not in found["refused"]
    else:
        assert found == {key: case[key] for key in found}


def test_a_flipped_bit_of_zstd_data_never_gives_another_trace(tmp_path: Path) -> None:
    (case,) = (case for case in FILES if case.get("of") == "a zip file whose entries zstd packed")
    whole, told = content(case), set()
    entry = max(zipfile.ZipFile(io.BytesIO(whole)).infolist(), key=lambda info: info.compress_size)
    start = entry.header_offset + 30 + len(entry.filename)
    for place in range(start, start + entry.compress_size, 3):
        damaged = bytearray(whole)
        damaged[place] ^= 4
        try:
            found = said(read("inspect_log", tmp_path, bytes(damaged), "log.eval"))
        except TraceError as error:
            told.add("zstd data is damaged (checksum) — copy or record it again" in str(error))
        else:
            assert found == case["says"]
    assert True in told
