"""The entries of zip files.

They are apart from gzip, since `zipfile` imports what makes each fork of user code larger.
"""

from __future__ import annotations

import importlib
import io
import struct
import zipfile
import zlib
from typing import Any

from ..files.limits import limit, raised
from ..model.errors import TraceError, one_line
from .unpacked import AGAIN, DAMAGE

_ZSTD_METHOD = 93  # of an entry; Python knows it from 3.14 on
_NAME_LENGTH, _LOCAL_HEADER = 26, 30  # bytes from the beginning of an entry


class ZipEntries:
    """The entries of a zip file by name. `name` is the file's, for errors. Raises TraceError."""

    def __init__(self, raw: bytes, name: str) -> None:
        self._raw, self._name, self._expanded = raw, name, 0
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(raw))
        except (*DAMAGE, zipfile.BadZipFile) as error:
            what = f"zip data is damaged or cut short ({one_line(error)})"
            raise TraceError(f"{name}: {what} — {AGAIN}") from None
        self.names = self._zip.namelist()

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
        except (*DAMAGE, zipfile.BadZipFile) as error:
            what = f"cannot be unpacked ({one_line(error)})"
            raise TraceError(f"{place}: {what} — {AGAIN}") from None

    def _of_zstd(self, info: zipfile.ZipInfo) -> bytes:
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
