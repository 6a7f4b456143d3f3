"""Decompression of gzip."""

from __future__ import annotations

import gzip
import io
import struct
import zlib

from ..files.limits import LIMITS, joined, limit, raised
from ..model.errors import TraceError, one_line

GZIP = b"\x1f\x8b"
"""The beginning of what gzip has packed."""
_EXPANDS, _SMALL = 200, 20_000_000  # a file may expand so many times, or to so many bytes
AGAIN = "copy or record it again"
DAMAGE = OSError, EOFError, RuntimeError, ValueError, struct.error, zlib.error
"""The errors that compressed data raises if it is damaged or has a password."""


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
    except DAMAGE as error:
        what = f"{name}: gzip data is damaged or cut short ({one_line(error)}) — {AGAIN}"
        raise TraceError(what) from None
    if data is None:
        raise TraceError(f"{name}: expands to more than {most:,} bytes — {raised('size')}")
    return data
