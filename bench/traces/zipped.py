"""JSON files inside a zip file."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from typing import Any

from ..files.limits import joined, limit, raised
from ..model.errors import TraceError
from .documents import Document, unzstd

_MAGIC = b"PK\x03\x04"
_ZSTD = 93  # the method's number in the zip format; Python knows it from 3.14 on
_LOCAL_HEADER = 30
_ENCRYPTED = 1  # the flag of an entry that needs a password


def is_zip(document: Document) -> bool:
    """True if a file begins as zip files do. Never raises: a file that cannot be read is none."""
    try:
        return document.disk_bytes.startswith(_MAGIC)
    except TraceError:
        return False


_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, struct.error)
"""All that Python raises over a zip file whose bytes are not what they were."""


class Zipped:
    """A zip file in memory, its entries read as JSON. Zstd inside needs the extra `zstd`. Errors:
    TraceError."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._expanded = 0
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(document.disk_bytes))
        except _DAMAGED as error:
            raise document.fail(f"zip data is damaged or cut short ({error}) — copy or record it again") from None

    def names(self) -> list[str]:
        """The names of its entries."""
        return self._zip.namelist()

    def json(self, name: str) -> Any:
        """The JSON value of an entry; complaints name the zip file and the entry."""
        inside = Document(self.document.path, f"{self.document.name}:{name}", self.document.below)
        return inside.decode(self._bytes(name, inside))

    def _bytes(self, name: str, inside: Document) -> bytes:
        info = self._zip.getinfo(name)
        self._expanded += info.file_size
        if self._expanded > limit("size"):
            raise inside.fail(f"the entries expand to more than {limit('size'):,} bytes — {raised('size')}")
        if info.flag_bits & _ENCRYPTED:
            raise inside.fail("is encrypted — save it without a password")
        try:
            return self._unzstd(info, inside) if info.compress_type == _ZSTD else self._zip.read(info)
        except _DAMAGED as error:
            raise inside.fail(f"cannot be unpacked ({error}) — copy or record it again") from None

    def _unzstd(self, info: zipfile.ZipInfo, inside: Document) -> bytes:
        raw = self.document.disk_bytes
        name, extra = struct.unpack_from("<HH", raw, info.header_offset + 26)
        start = info.header_offset + _LOCAL_HEADER + name + extra
        try:
            unpacked = joined(unzstd(raw[start : start + info.compress_size], inside.name), info.file_size)
        except ValueError as error:
            raise inside.fail(f"zstd data is {error} — copy or record it again") from None
        if unpacked is None or len(unpacked) != info.file_size:
            raise inside.fail("zstd data is not as long as it says — copy or record it again")
        if zlib.crc32(unpacked) != info.CRC:  # few of these zstd frames carry a checksum of their own
            raise inside.fail("zstd data is damaged (checksum) — copy or record it again")
        return unpacked
