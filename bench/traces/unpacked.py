"""Decompression of gzip, and of the entries of zip files."""

from __future__ import annotations

import gzip
import importlib
import io
import struct
import zlib
from typing import Any

from ..files.limits import LIMITS, how_to_raise, joined, limit
from ..model.errors import TraceError, one_line

GZIP = b"\x1f\x8b"
"""The beginning of what gzip has packed."""
_EXPANDS, _SMALL = 200, 20_000_000  # a file may expand so many times, or to so many bytes
_DAMAGE = OSError, EOFError, RuntimeError, ValueError, struct.error, zlib.error
"""The errors that compressed data raises if it is damaged or has a password."""
_ZSTD_METHOD = 93  # of an entry; Python knows it from 3.14 on
_NAME_LENGTH, _LOCAL_HEADER = 26, 30  # bytes from the beginning of an entry


def _damaged(place: str, what: str, error: BaseException) -> TraceError:
    return TraceError(f"{place}: {what} ({one_line(error)}) — copy or record it again")


def unpacked(raw: bytes, name: str) -> bytes:
    """The bytes of a file, decompressed if needed. Raises TraceError for damaged data, and for data
    that expands to more than its size allows."""
    if not raw.startswith(GZIP):
        return raw
    most = limit("size")
    most = most if most > LIMITS["size"] else min(most, max(_SMALL, _EXPANDS * len(raw)))
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
            data = joined(iter(lambda: file.read(1_000_000), b""), most)
    except _DAMAGE as error:
        raise _damaged(name, "gzip data is damaged or cut short", error) from None
    if data is None:
        raise TraceError(f"{name}: expands to more than {most:,} bytes — {how_to_raise('size')}")
    return data


class ZipEntries:
    """The entries of a zip file by name. `name` is the file's, for errors. Raises TraceError."""

    def __init__(self, raw: bytes, name: str) -> None:
        import zipfile  # on use: it makes each fork of user code larger

        self._raw, self._name, self._expanded = raw, name, 0
        self._damage = *_DAMAGE, zipfile.BadZipFile
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(raw))
        except self._damage as error:
            raise _damaged(name, "zip data is damaged or cut short", error) from None
        self.names = self._zip.namelist()

    def data(self, entry: str) -> bytes:
        """The bytes of an entry."""
        info, most, place = self._zip.getinfo(entry), limit("size"), f"{self._name}:{entry}"
        self._expanded += info.file_size
        if self._expanded > most:
            what = f"the entries expand to more than {most:,} bytes"
            raise TraceError(f"{place}: {what} — {how_to_raise('size')}")
        try:
            is_zstd = info.compress_type == _ZSTD_METHOD
            return self._of_zstd(info) if is_zstd else self._zip.read(info)
        except self._damage as error:
            raise _damaged(place, "cannot be unpacked", error) from None

    def _of_zstd(self, info: Any) -> bytes:
        """The bytes of an entry in zstd, by an extra: older Pythons do not know it."""
        try:
            zstandard: Any = importlib.import_module("zstandard")
        except ImportError:
            what = "zstd needs the extra bench[zstd] — pip install zstandard"
            raise TraceError(f"{self._name}: {what}") from None
        lengths = struct.unpack_from("<HH", self._raw, info.header_offset + _NAME_LENGTH)
        start = info.header_offset + _LOCAL_HEADER + sum(lengths)
        packed = self._raw[start : start + info.compress_size]
        try:
            data: bytes = zstandard.ZstdDecompressor().stream_reader(packed).read(info.file_size)
        except zstandard.ZstdError as error:
            raise ValueError(error) from None
        if zlib.crc32(data) != info.CRC:
            raise ValueError("its checksum is another")
        return data
