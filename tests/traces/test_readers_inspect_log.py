"""Inspect: evaluation logs as JSON and as zip files, a run a sample."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
from reread import FORMATS, document, read, sure_of

from bench.model.errors import TraceError

SMALL: dict[str, Any] = json.loads((FORMATS / "inspect_log.json").read_text())


def zipped(log: dict[str, Any], header: str = "header.json") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for sample in reversed(log["samples"]):
            file.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
        file.writestr("summaries.json", "[]")
        file.writestr(header, json.dumps({key: value for key, value in log.items() if key != "samples"}))
    return buffer.getvalue()


def zstandard_zip(log: dict[str, Any]) -> bytes:
    """The same entries stored with method 93, as newer versions of Inspect write them: stored first, then renamed in both headers."""
    zstandard = pytest.importorskip("zstandard")
    entries = {f"samples/{sample['id']}_epoch_1.json": json.dumps(sample).encode() for sample in log["samples"]}
    entries["header.json"] = json.dumps({key: value for key, value in log.items() if key != "samples"}).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as file:
        for name, data in entries.items():
            file.writestr(name, zstandard.ZstdCompressor().compress(data))
    raw = bytearray(buffer.getvalue())
    for info in zipfile.ZipFile(io.BytesIO(bytes(raw))).infolist():
        data = entries[info.filename]
        told = zlib.crc32(data).to_bytes(4, "little"), len(data).to_bytes(4, "little")
        central = raw.index(b"PK\x01\x02" + raw[raw.index(b"PK\x01\x02") + 4 : raw.index(b"PK\x01\x02") + 6])
        while raw[central + 46 : central + 46 + len(info.filename)] != info.filename.encode():
            central = raw.index(b"PK\x01\x02", central + 4)
        for place, offset in ((info.header_offset, 8), (central, 10)):
            raw[place + offset : place + offset + 2] = (93).to_bytes(2, "little")
            raw[place + offset + 6 : place + offset + 10] = told[0]
            raw[place + offset + 14 : place + offset + 18] = told[1]
    return bytes(raw)


@pytest.mark.parametrize("pack", [zipped, zstandard_zip])
def test_a_zip_file_says_the_same(tmp_path: Path, pack: Any) -> None:
    plain = read("inspect_log", tmp_path, SMALL)
    packed = read("inspect_log", tmp_path, pack(SMALL), "log.eval")
    assert [(one.steps, one.labels, one.meta, one.outcome, one.left_out) for one in packed] == [
        (one.steps, one.labels, one.meta, one.outcome, one.left_out) for one in plain
    ]
    assert sure_of(document(tmp_path, pack(SMALL), "log.eval")) == ["inspect_log"]


def test_bad_zip_files_are_one_clear_line(tmp_path: Path) -> None:
    whole = zipped(SMALL)
    with pytest.raises(TraceError, match="zip data is damaged or cut short"):
        read("inspect_log", tmp_path, whole[:400])
    broken = bytearray(whole)
    broken[80:90] = b"xxxxxxxxxx"
    with pytest.raises(TraceError, match=r"run\.json:samples/2_epoch_1\.json: cannot be unpacked"):
        read("inspect_log", tmp_path, bytes(broken))
    directory = whole.rindex(b"PK\5\6")
    for place, number, said in ((directory + 16, 1 << 24, "unpacked"), (whole.index(b"PK\1\2") + 6, 166, "damaged")):
        broken = bytearray(whole)  # where the directory is, and the version that an entry needs
        struct.pack_into("<H" if number < 1000 else "<I", broken, place, number)
        with pytest.raises(TraceError, match=said):
            read("inspect_log", tmp_path, bytes(broken), "log.eval")
    with pytest.raises(TraceError, match="holds no samples"):
        read("inspect_log", tmp_path, {**SMALL, "samples": []})


def test_a_flipped_bit_of_zstd_data_never_gives_another_trace(tmp_path: Path) -> None:
    whole = zstandard_zip(SMALL)
    wanted = [trace.steps for trace in read("inspect_log", tmp_path, whole, "log.eval")]
    entry = max(zipfile.ZipFile(io.BytesIO(whole)).infolist(), key=lambda info: info.compress_size)
    start = entry.header_offset + 30 + len(entry.filename)
    told = set()
    for place in range(start, start + entry.compress_size, 3):
        damaged = bytearray(whole)
        damaged[place] ^= 4
        try:
            found = read("inspect_log", tmp_path, bytes(damaged), "log.eval")
        except TraceError as error:
            told.add("checksum" if "zstd data is damaged (checksum) — copy or record it again" in str(error) else "")
        else:
            assert [trace.steps for trace in found] == wanted
    assert "checksum" in told


@pytest.mark.parametrize("pack", [zipped, zstandard_zip])
def test_an_encrypted_entry_is_refused(tmp_path: Path, pack: Any) -> None:
    whole = bytearray(pack(SMALL))
    for info in zipfile.ZipFile(io.BytesIO(bytes(whole))).infolist():
        whole[info.header_offset + 6] |= 1
    central = whole.index(b"PK\x01\x02")
    while central >= 0:
        whole[central + 8] |= 1
        central = whole.find(b"PK\x01\x02", central + 4)
    with pytest.raises(TraceError, match=r"log\.eval:header\.json: is encrypted — save it without a password"):
        read("inspect_log", tmp_path, bytes(whole), "log.eval")
