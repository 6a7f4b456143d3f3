"""Bytes out of compressed files: gzip, zstd, and the entries of a zip file."""

from __future__ import annotations

import gzip
import importlib
import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

from ..files.limits import LIMITS, joined, limit, raised
from ..model.errors import TraceError, one_line

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_SKIPPED = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")
"""The beginning of a frame of zstd that holds something else, such as a seek table."""
_EXPANDS, _SMALL = 200, 20_000_000  # a file may expand so many times, or to so many bytes
_FED = 4096  # bytes of zstd data at a time: each may expand many thousand times
_ZSTD_METHOD = 93  # of an entry of a zip file; Python knows it from 3.14 on
_NAME_LENGTH, _LOCAL_HEADER = 26, 30  # bytes from the beginning of an entry of a zip file
_AGAIN = "copy or record it again"
_DAMAGE = (OSError, EOFError, RuntimeError, ValueError, struct.error, zlib.error,
           zipfile.BadZipFile)  # fmt: skip
"""All that is raised over packed data whose bytes are not what they were, or that has a
password."""


def is_packed(raw: bytes) -> bool:
    """True if bytes begin as gzip or zstd do."""
    return raw.startswith((_GZIP, _ZSTD)) or bool(_SKIPPED.match(raw))


def unpacked(raw: bytes, name: str) -> bytes:
    """The bytes of a file, expanded where they are packed. Raises TraceError for damaged data, for
    more than may be by the size of the packed, and for zstd where its package is not installed."""
    if not is_packed(raw):
        return raw
    is_gzip = raw.startswith(_GZIP)
    most = limit("size")
    most = most if most > LIMITS["size"] else min(most, max(_SMALL, _EXPANDS * len(raw)))
    try:
        data = joined(_gunzipped(raw) if is_gzip else _unzstd(raw, name), most)
    except _DAMAGE as error:
        kind = "gzip" if is_gzip else "zstd"
        what = f"{name}: {kind} data is damaged or cut short ({one_line(error)}) — {_AGAIN}"
        raise TraceError(what) from None
    if data is None:
        raise TraceError(f"{name}: expands to more than {most:,} bytes — {raised('size')}")
    return data


def _gunzipped(raw: bytes) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
        yield from iter(lambda: file.read(1_000_000), b"")


def optional_zstandard(name: str) -> Any:
    """The `zstandard` package, which is an extra; TraceError naming the extra where it is not
    installed."""
    try:
        return importlib.import_module("zstandard")
    except ImportError:
        what = "zstd needs the extra bench[zstd] — pip install zstandard"
        raise TraceError(f"{name}: {what}") from None


def _unzstd(raw: bytes, name: str) -> Iterator[bytes]:
    """Expanded zstd data, piece by piece; ValueError where it is damaged or cut short."""
    zstandard = optional_zstandard(name)
    decompressor = zstandard.ZstdDecompressor()
    frame, waiting = decompressor.decompressobj(), b""
    try:
        for start in range(0, len(raw), _FED):
            waiting = raw[start : start + _FED]
            while waiting:
                frame = decompressor.decompressobj() if frame.eof else frame
                yield frame.decompress(waiting)
                waiting = frame.unused_data if frame.eof else b""
    except zstandard.ZstdError as error:
        raise ValueError(error) from None
    if not frame.eof:  # the library's simpler interfaces take a cut file for a whole one
        raise ValueError("it ends within a frame")


class ZipEntries:
    """The entries of a zip file by name. `name` is the file's, for errors. Raises TraceError."""

    def __init__(self, raw: bytes, name: str) -> None:
        self._raw, self._name, self._expanded = raw, name, 0
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(raw))
        except _DAMAGE as error:
            what = f"zip data is damaged or cut short ({one_line(error)})"
            raise TraceError(f"{name}: {what} — {_AGAIN}") from None

    @property
    def names(self) -> list[str]:
        """The names of the entries."""
        return self._zip.namelist()

    def data(self, entry: str) -> bytes:
        """The bytes of an entry."""
        info, most, place = self._zip.getinfo(entry), limit("size"), f"{self._name}:{entry}"
        self._expanded += info.file_size
        if self._expanded > most:
            what = f"the entries expand to more than {most:,} bytes"
            raise TraceError(f"{place}: {what} — {raised('size')}")
        try:
            is_zstd = info.compress_type == _ZSTD_METHOD
            return self._of_zstd(info) if is_zstd else self._zip.read(info)
        except _DAMAGE as error:
            what = f"cannot be unpacked ({one_line(error)})"
            raise TraceError(f"{place}: {what} — {_AGAIN}") from None

    def _of_zstd(self, info: zipfile.ZipInfo) -> bytes:
        """The bytes of an entry that zstd packed, which older Pythons do not know."""
        lengths = struct.unpack_from("<HH", self._raw, info.header_offset + _NAME_LENGTH)
        start = info.header_offset + _LOCAL_HEADER + sum(lengths)
        packed = self._raw[start : start + info.compress_size]
        data = joined(_unzstd(packed, self._name), info.file_size)
        if data is None or zlib.crc32(data) != info.CRC:
            raise ValueError("its checksum is another")
        return data
