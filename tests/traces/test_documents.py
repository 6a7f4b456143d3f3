"""Input files: what can be wrong with one is said with its place, and a file is written whole or not at all."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from bench.files.writing import write_together
from bench.model.errors import BenchError, TraceError
from bench.traces.documents import Document
from bench.traces.values import Unread, time_of


def document(folder: Path, data: bytes) -> Document:
    path = folder / "a.json"
    path.write_bytes(data)
    return Document(path, "runs/a.json")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "runs/a.json: is empty — "),
        (b"\xef\xbb\xbf\n", "runs/a.json: is empty — "),
        (b'{"a": 1,\n "b": }', "runs/a.json:2: not JSON at column 7: Expecting value"),
        (b'{"a": 1,\n "b": "x', "runs/a.json:2: ends in the middle of a JSON value — "),
        (b"[1, 2", "runs/a.json:1: ends in the middle of a JSON value — "),
        (b'{"a": "NaN",\n"b": NaN}', "runs/a.json:1: NaN is not a JSON number — write null instead"),
        (b'{"a": -Infinity}', "runs/a.json:1: -Infinity is not a JSON number"),
        (b'{"a": 1e400}', "runs/a.json:1: 1e400 is not a JSON number"),
        (b'{\n"a": "\xe9"}', "runs/a.json:2: byte 7 of the line is not UTF-8 (0xe9) — save the file as UTF-8"),
        ("[]".encode("utf-16"), "runs/a.json:1: byte 1 of the line is not UTF-8 (0xff)"),
        (b"[" * 100_000, "runs/a.json: is nested more than 200 levels deep"),
        (b"[" + b"9" * 5000 + b"]", "runs/a.json:1: 9999"),
        (b"\x1f\x8bnothing", "runs/a.json: gzip data is damaged or cut short"),
    ],
)
def test_an_error_has_its_line_number(tmp_path: Path, data: bytes, message: str) -> None:
    broken = document(tmp_path, data)
    with pytest.raises(TraceError) as caught:
        _ = broken.json
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
    assert broken.head is None
    assert broken.problem is not None


def test_a_folder_or_a_missing_path_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="Is a directory"):
        _ = Document(tmp_path).data
    with pytest.raises(TraceError, match="no such file"):
        _ = Document(tmp_path / "gone").data


@pytest.mark.parametrize(
    ("data", "is_lines", "head"),
    [
        (b'{"a": 1}\n{"b": 2}\n', True, {"a": 1}),
        (b'\n{"a": 1}\r\n\r\n{"b', True, {"a": 1}),
        (b'{"a": 1}\n', False, {"a": 1}),
        (b'{\n"a": 1}\n', False, {"a": 1}),
        (b'\xef\xbb\xbf["\\ud800"]', False, ["\ud800"]),
    ],
)
def test_json_lines_are_recognised_by_the_first_line(tmp_path: Path, data: bytes, is_lines: bool, head: object) -> None:
    found = document(tmp_path, data)
    assert (found.is_json_lines, found.head, found.problem) == (is_lines, head, None)


@pytest.mark.parametrize(
    ("data", "broken"),
    [(b'{"a": [', True), (b'[\n {"a": 1}, {', True), (b"\x1f\x8bxx", True), (b'{"a": 1}', False), (b"", True)],
)
def test_damaged_json_is_distinguished_from_other_text(tmp_path: Path, data: bytes, broken: bool) -> None:
    assert document(tmp_path, data).is_broken_json is broken
    (tmp_path / "README").write_text("[![badge](x)](y)")
    assert not Document(tmp_path / "README").is_broken_json


@pytest.mark.parametrize(
    ("name", "data", "broken"),
    [
        ("a.jsonl", b"<<<<<<< HEAD\n{}\n", True),
        ("a.jsonl", b"words", True),
        ("a.jsonl.gz", b"version https://git-lfs.github.com/spec/v1", True),
        ("a.jsonl", b"{}\n{}\n", False),
        ("README.md", b"<<<<<<< HEAD", False),
        ("README.md", b"", False),
    ],
)
def test_a_damaged_file_is_recognised_by_its_name(tmp_path: Path, name: str, data: bytes, broken: bool) -> None:
    (tmp_path / name).write_bytes(data)
    assert Document(tmp_path / name).is_broken_json is broken


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "a.json"
    write_together({target: b"old"})

    def full(source: object, destination: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(BenchError, match=r"a\.json: cannot be written: No space left on device"):
        write_together({target: b"new"})
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize(
    ("value", "seconds"),
    [(1767225600, 1767225600), (1767225600500, 1767225600.5), ("2026-01-01T00:00:00Z", 1767225600), (0, 0), (-5.5, -5.5), (None, None)],
)  # fmt: skip
def test_a_number_too_large_for_seconds_is_milliseconds(value: object, seconds: float | None) -> None:
    assert time_of(value, Unread()) == seconds


def test_a_compressed_bomb_is_refused_before_it_fills_memory(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="expands to more than 20,000,000 bytes"):
        _ = document(tmp_path, gzip.compress(b"\n" * 21_000_000)).data
