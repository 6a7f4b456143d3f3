"""Limits on inputs and on user code, and reading of files within them."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..model.errors import BenchError, ResultsError, nearest, nearest_file

LIMITS: dict[str, int] = {
    "size": 500_000_000,
    "line": 100_000_000,
    "files": 20_000,
    "cache": 2_000_000_000,
    "call": 120,
    "memory": 4_294_967_296,
}
"""The limits by name: bytes of a file once it is expanded, bytes of one JSON value (a line, or a
whole JSON file), files of a folder or pattern, bytes of the cache between runs, seconds of
user code at one step, bytes of memory of its process.
"""

LEAST = {"call": 1, "memory": 256 << 20}
"""The least amounts with which user code can run at all."""

VARIABLE = "BENCH_LIMITS"
"""The environment variable that `--limit` sets, for workers too: `size=2GB,files=100000`."""

_AMOUNT = re.compile(r"(\d{1,15})(|kb|mb|gb|k|m|g)", re.IGNORECASE)
_TIMES = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}


def limits_of(text: str) -> dict[str, int]:
    """The limits in a text. Raises BenchError for an unknown limit or an amount that is wrong or too
    small.

    >>> limits_of("size=2GB,files=100000"), limits_of("")
    ({'size': 2000000000, 'files': 100000}, {})
    """
    limits = {}
    for part in filter(None, text.split(",")):
        name, _, amount = part.strip().partition("=")
        match = _AMOUNT.fullmatch(amount.strip())
        if name not in LIMITS:
            raise BenchError(f"limit {name!r}: unknown{nearest(name, LIMITS)}")
        if match is None:
            raise BenchError(
                f"limit {name!r}: expected an amount such as 2GB or 100000, got {amount!r}"
            )
        limits[name] = int(match[1]) * _TIMES[match[2].lower().removesuffix("b")]
        if limits[name] < LEAST.get(name, 0):
            raise BenchError(f"limit {name!r}: is at least {LEAST[name]:,}, got {amount}")
    return limits


def limit(name: str, environment: Mapping[str, str] = os.environ) -> int:
    """The value of a limit in the environment, else its default.

    >>> limit("files", {}), limit("files", {"BENCH_LIMITS": "files=5k"})
    (20000, 5000)
    """
    return {**LIMITS, **limits_of(environment.get(VARIABLE, ""))}[name]


def how_to_raise(name: str) -> str:
    """The end of an error about a limit: how to raise it."""
    return f"if that is right, raise it with --limit {name}=N"


def read_regular(path: Path) -> bytes:
    """The bytes of a regular file.

    Raises OSError for a folder, a pipe, a device or a socket, which are not read, and for a file
    above the limit `size`.
    """
    descriptor = os.open(
        path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    )
    with os.fdopen(descriptor, "rb") as file:
        mode = os.fstat(descriptor)
        if stat.S_ISDIR(mode.st_mode):
            raise IsADirectoryError(0, "is a folder, not a file")
        if not stat.S_ISREG(mode.st_mode):
            raise OSError(0, "is no regular file (a pipe, a device or a socket)")
        most = limit("size")
        # A file of a few bytes is not given room for all that is allowed.
        piece = max(mode.st_size + 1, 1_000_000)
        data = joined(_pieces(file, piece), most) if mode.st_size <= most else None
    if data is None:
        raise OSError(0, f"has more than {most:,} bytes; {how_to_raise('size')}")
    return data


def read_result(path: Path) -> bytes:
    """The bytes of a results file. Raises ResultsError where it cannot be read."""
    try:
        return read_regular(path)
    except OSError as error:
        meant = nearest_file(path) or " — give a file that `bench run -o x.json` wrote"
        raise ResultsError(f"{path}: {error.strerror or error}{meant}") from None


def _pieces(file: Any, size: int) -> Iterator[bytes]:
    """Yield the pieces of a file. Raises OSError for a file without an end."""
    while data := file.read(size):
        yield data
    # A log of the kernel calls itself a regular file, and would have us wait for more.
    if data is None:
        raise OSError(0, "is no file with an end")


def joined(pieces: Iterable[bytes], most: int) -> bytes | None:
    """The joined pieces of an expanded file; None as soon as they exceed `most` bytes.

    >>> joined([b"ab", b"c"], 3), joined(iter(lambda: b"endless", b""), 1000)
    (b'abc', None)
    """
    parts, size = [], 0
    for piece in pieces:
        size += len(piece)
        if size > most:
            return None
        parts.append(piece)
    return b"".join(parts)
