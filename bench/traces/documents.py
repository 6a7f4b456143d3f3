"""Input files: their bytes, and their JSON with places to point at."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import io
import itertools
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..files.limits import LIMITS, joined, limit, raised, read_regular
from ..model import MAX_DEPTH, too_deep
from ..model.errors import TraceError, nearest_file, one_line
from .decoded import NotJson, as_dict, decode, dicts

_CHECK = " — check the path (a scenario's paths start at its own folder)"
_BOM = b"\xef\xbb\xbf"
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_SKIPPED = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")
"""The beginning of a frame of zstd that holds something else, such as a seek table."""
_LEFT_BY_GIT = (b"<<<<<<< ", b"version https://git-lfs.github.com/spec/")
_OBJECTS = re.compile(rb'\s*(\[\s*)?\{\s*["}]')
_SNIFFED = 1000  # members of a list that a format is recognised by
_SNIFFED_LINES = 200
_EXPANDS, _SMALL = 200, 20_000_000  # a compressed file may expand so many times, or to so many bytes


class Document:
    """One input file. `name` is how it was given (for messages), `below` its path under the given
    folder (for ids and sources), `beside` the files given with it from the same folder, itself
    among them, in order; nothing for a file that was named.

    Everything is read on first use and once; a file that cannot be read or decoded raises
    TraceError, one line with the place.
    """

    def __init__(
        self, path: Path, name: str | None = None, below: str | None = None, beside: Sequence[Path] = ()
    ) -> None:
        self.path = path
        self.beside = beside
        self.name = path.as_posix() if name is None else name
        self.below = path.name if below is None else below

    def fail(self, what: str, *, line: int | None = None, path: str = "") -> TraceError:
        """The error that names this file, the line and the path in the value: `runs/a.jsonl:41
        $.role: …`. To be raised."""
        place = self.name if line is None else f"{self.name}:{line}"
        return TraceError(one_line(f"{place}{' ' + path if path else ''}: {what}"))

    @functools.cached_property
    def disk_bytes(self) -> bytes:
        """The bytes as they are on disk."""
        try:
            return read_regular(self.path)
        except FileNotFoundError:
            raise self.fail(f"no such file{nearest_file(self.path) or _CHECK}") from None
        except IsADirectoryError:
            raise self.fail("is a folder, not a file") from None
        except ValueError:  # a null character
            raise self.fail("is no path of a file") from None
        except OSError as error:
            raise self.fail(f"cannot be read: {error.strerror or error} — check the file and its permissions") from None

    @functools.cached_property
    def sha256(self) -> str:
        """The sha256 of the bytes on disk."""
        return hashlib.sha256(self.disk_bytes).hexdigest()

    @property
    def data(self) -> bytes:
        """The bytes, decompressed where they begin as gzip or zstd do, without a byte order mark."""
        if isinstance(self._expanded, TraceError):
            raise self._expanded
        return self._expanded

    @property
    def text(self) -> str:
        """The whole file as text. TraceError where it is not UTF-8."""
        try:
            return self.data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.fail(f"is not UTF-8 (byte {error.start}) — save the file as UTF-8") from None

    def opening(self, size: int) -> str:
        """So many bytes (-1: all) as text, to tell a format by; `""` where the file cannot be read."""
        try:
            return self.data[: None if size < 0 else size].decode("utf-8", "replace").replace("\r\n", "\n")
        except TraceError:
            return ""

    @functools.cached_property
    def _expanded(self) -> bytes | TraceError:
        """The bytes, or why there are none: every reader asks, and a bomb expands once."""
        raw = self.disk_bytes
        try:
            if raw.startswith(_GZIP):
                raw = self._joined(_gunzipped(raw), "gzip data is damaged or cut short ({})")
            elif raw.startswith(_ZSTD) or _SKIPPED.match(raw):
                raw = self._joined(unzstd(raw, self.name), "zstd data is {}")
            raw = raw.removeprefix(_BOM)
            return raw if raw.strip() else self.fail("is empty — nothing was recorded; record it again")
        except TraceError as error:
            return error

    def _joined(self, pieces: Iterator[bytes], damaged: str) -> bytes:
        """Expanded data as one, no more than may be by the size of the compressed."""
        most = limit("size")
        most = most if most > LIMITS["size"] else min(most, max(_SMALL, _EXPANDS * len(self.disk_bytes)))
        try:
            data = joined(pieces, most)
        except (OSError, EOFError, ValueError, zlib.error) as error:
            raise self.fail(f"{damaged.format(error)} — copy or record it again") from None
        if data is None:
            raise self.fail(f"expands to more than {most:,} bytes — {raised('size')}")
        return data

    @functools.cached_property
    def json(self) -> Any:
        """The whole file as one JSON value."""
        return self.decode(self.data)

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """The lines that are not blank, each with its number (from 1)."""
        start, number = 0, 0
        while start <= len(self.data):  # split() would copy the whole file
            end = self.data.find(b"\n", start)
            end = len(self.data) if end < 0 else end
            line, start, number = self.data[start:end], end + 1, number + 1
            if line and not line.isspace():
                yield number, line

    @functools.cached_property
    def _beginning(self) -> tuple[Any, bool]:
        """The value of the first line, and True, where it is one and more lines follow; else that
        of the whole file, and False."""
        first = list(itertools.islice(self.lines(), 2))
        if len(first) == 2:
            with contextlib.suppress(TraceError):
                return self.decode(first[0][1], first[0][0]), True
        return self.json, False

    @functools.cached_property
    def problem(self) -> TraceError | None:
        """The error of reading the file as JSON or JSON Lines (by its first line); None without
        one."""
        try:
            _ = self._beginning
        except TraceError as error:
            return error
        return None

    @property
    def is_json_lines(self) -> bool:
        """True if the file is JSON Lines: the first line is a complete value and more lines follow."""
        return self.problem is None and self._beginning[1]

    @functools.cached_property
    def head(self) -> Any:
        """The value to recognise a format by: the first line's value of a JSON Lines file, else the
        one value, of a list the first 1,000 members; None where it is not JSON."""
        value = None if self.problem is not None else self._beginning[0]
        return value[:_SNIFFED] if isinstance(value, list) else value

    @property
    def first(self) -> dict[str, Any]:
        """The object to recognise a format by: the head, or the first member of the list that it
        is; `{}` for none."""
        return as_dict(self.head[0] if isinstance(self.head, list) and self.head else self.head)

    @functools.cached_property
    def first_objects(self) -> list[dict[str, Any]]:
        """The objects among the first 200 lines, or of the one list or value that the file is; `[]`
        for none."""
        if self.problem is None and not self.is_json_lines:
            return dicts(self.head if isinstance(self.head, list) else [self.head])
        values: list[Any] = []
        with contextlib.suppress(TraceError):  # where it cannot be read at all
            for number, line in itertools.islice(self.lines(), _SNIFFED_LINES):
                with contextlib.suppress(TraceError):
                    values.append(self.decode(line, number))
        return dicts(values)

    @property
    def is_broken_json(self) -> bool:
        """True if the file is damaged rather than something else: it cannot be read, and starts as
        JSON objects do or as compressed data, is called `.jsonl`, or is called `.json` and is empty
        or what git leaves of it (marks of a conflict, a pointer to its large files)."""
        if self.problem is None:
            return False
        raw, endings, expanded = self.disk_bytes.removeprefix(_BOM), self.path.suffixes, self._expanded
        if isinstance(expanded, TraceError) and raw.startswith((_GZIP, _ZSTD)):
            return True
        left = ".json" in endings and (not raw.strip() or raw.startswith(_LEFT_BY_GIT))
        return (
            left or ".jsonl" in endings or bool(_OBJECTS.match(raw if isinstance(expanded, TraceError) else expanded))
        )

    def decode(self, data: bytes, line: int | None = None) -> Any:
        """One JSON value out of this file's bytes, `line` being where they start. Lone surrogates
        are read, NaN is refused.

        Limits: the bytes of one value, and how deep it is nested.
        """
        if len(data) > limit("line"):
            raise self.fail(f"a JSON value of more than {limit('line'):,} bytes — {raised('line')}", line=line)
        try:
            value = decode(data)
            deep = data.count(b"[") + data.count(b"{") > MAX_DEPTH and too_deep(value)
        except RecursionError:
            deep = True
        except NotJson as error:
            raise self.fail(one_line(error), line=(line or 1) + error.lines_before) from None
        except ValueError as error:  # a whole number of thousands of digits
            raise self.fail(one_line(error), line=line) from None
        if deep:
            raise self.fail(f"is nested more than {MAX_DEPTH} levels deep — flatten it", line=line)
        return value


def _gunzipped(raw: bytes) -> Iterator[bytes]:
    import gzip

    with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
        yield from iter(lambda: file.read(1_000_000), b"")


def optional_zstandard(name: str) -> Any:
    """The `zstandard` package, which is an extra; TraceError naming the extra where it is not
    installed."""
    try:
        return importlib.import_module("zstandard")
    except ImportError:
        raise TraceError(f"{name}: zstd needs the extra bench[zstd] — pip install zstandard") from None


_FED = 4096  # bytes of zstd data at a time: each may expand many thousand times


def unzstd(raw: bytes, name: str) -> Iterator[bytes]:
    """Expand zstd data, piece by piece. Raises ValueError, `damaged (why)` or `cut short`;
    TraceError without the extra."""
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
        raise ValueError(f"damaged ({error})") from None
    if not frame.eof:  # the library's simpler interfaces take a cut file for a whole one
        raise ValueError("cut short")
