"""The bench's own format: JSON Lines, one header line and one line per step, optionally compressed. Round-trips exactly."""

from __future__ import annotations

import gzip
import io
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import msgspec

from ..errors import TraceError, one_line
from ..files.documents import Document, optional_zstandard
from ..files.writing import write_atomically
from ..model import SCHEMA_VERSION, AnyStep, Outcome, Source, Trace, Value, plain
from ..plugins.registry import register
from . import Confidence, Keeps, Near, by_marks

_KEY = "bench_trace"
_PLACE = re.compile(r" - at `(?:key in )?(\$.*?)`$")


class Header(Value, frozen=True, kw_only=True):
    """The first line: the schema version and everything of a trace but its steps."""

    bench_trace: int
    id: str
    source: Source
    labels: dict[str, Any] = {}
    meta: dict[str, Any] = {}
    outcome: Outcome | None = None
    left_out: dict[str, int] = {}


_STEP: msgspec.json.Decoder[Any] = msgspec.json.Decoder(AnyStep)
_HEADER = msgspec.json.Decoder(Header)
_SAID = tuple(field for field in Header.__struct_fields__ if field != _KEY)
"""What a header says of a trace."""


@register("reader", "native")
class Native:
    """Traces in the bench's own format, one or several in a file, with the source that they were recorded from; a header begins the next one.

    Errors name the line and the path in it; another schema version is refused. Written by `write_trace`.

    Source: docs/formats.md "Native traces"
    """

    keeps = Keeps(
        results="untruncated",
        also=(
            "cuts",
            "usage",
            "times",
            "errors",
            "outcome",
            "labels",
            "routes",
            "reasoning",
            "threads",
            "resets",
            "tools",
            "approvals",
            "model",
        ),
        never="nothing of what the bench measures; files, pictures and sound are sizes and hashes",
        tested="schema 1",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        """CERTAIN for a header line; a step without one is near."""
        head = document.head
        keys = head.keys() if isinstance(head, dict) else set()
        if _KEY in keys:
            return Confidence.CERTAIN
        step = {"kind", "index"} <= keys or {"id", "source"} <= keys
        return by_marks({"a step or a header's other keys": step, f"a first line with {_KEY!r}": False})

    def read(self, document: Document) -> Iterator[Trace]:
        """The file's traces in their order, each with its recorded `source`."""
        lines = document.lines()
        header = _header(document, *next(lines))
        steps: list[AnyStep] = []
        for number, line in lines:
            if _begins_a_trace(document, number, line):
                yield _trace(header, steps)
                header, steps = _header(document, number, line), []
                continue
            step = _typed(document, number, line, _STEP)
            if steps and step.index <= steps[-1].index:
                what = f"expected more than {steps[-1].index}, got {step.index} — steps are in order, each index once"
                raise document.fail(what, line=number, path="$.index")
            steps.append(step)
        yield _trace(header, steps)


def _trace(header: Header, steps: list[AnyStep]) -> Trace:
    return Trace(steps=tuple(steps), **{field: getattr(header, field) for field in _SAID})


def _begins_a_trace(document: Document, number: int, line: bytes) -> bool:
    """Whether a line is another header; a step may well speak of one in its text."""
    if _KEY.encode() not in line:
        return False
    raw = document.decode(line, number)
    return isinstance(raw, dict) and _KEY in raw


def _header(document: Document, number: int, line: bytes) -> Header:
    raw = document.decode(line, number)
    version = raw.get(_KEY) if isinstance(raw, dict) else None
    if version is None:
        raise document.fail(
            f'expected a header {{"{_KEY}": {SCHEMA_VERSION}, "id": …, "source": …}} — not a native trace', line=number
        )
    if version != SCHEMA_VERSION or isinstance(version, bool):
        what = f"schema {one_line(version)[:40]} is not {SCHEMA_VERSION}"
        raise document.fail(f"{what} — write the trace again with this version of bench", line=number, path=f"$.{_KEY}")
    header: Header = _typed(document, number, line, _HEADER)
    if not header.id:
        raise document.fail("expected a name, got an empty one", line=number, path="$.id")
    return header


def _typed(document: Document, number: int, line: bytes, decoder: msgspec.json.Decoder[Any]) -> Any:
    document.decode(line, number)  # its limits, and what a decoder of types does not tell
    try:
        return decoder.decode(line)
    except msgspec.ValidationError as error:
        raise _misfit(document, number, error) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raw = document.decode(line, number)  # says where it is broken, unless it is merely rare (a lone surrogate)
    try:
        return msgspec.convert(raw, decoder.type)
    except msgspec.ValidationError as error:
        raise _misfit(document, number, error) from None
    except UnicodeEncodeError:
        raise document.fail(
            "a lone surrogate (\\ud800–\\udfff) stands where a number or a name belongs", line=number
        ) from None


def _misfit(document: Document, number: int, error: msgspec.ValidationError) -> TraceError:
    text = str(error)
    place = _PLACE.search(text)
    what = text[: place.start()] if place else text
    what = (what[:1].lower() + what[1:]).replace("`", "")
    return document.fail(what, line=number, path=place.group(1) if place else "$")


def encode_trace(trace: Trace) -> bytes:
    """A trace as uncompressed native bytes; the same trace gives the same bytes.

    Raises TraceError for a value that JSON would change (NaN, a tuple, a key that is no string), naming the step.

    >>> encode_trace(Trace(id="a", source=Source(format="native"), steps=()))
    b'{"bench_trace":1,"id":"a","source":{"format":"native"}}\\n'
    """
    header = Header(bench_trace=SCHEMA_VERSION, **{field: getattr(trace, field) for field in _SAID})
    lines = [_line(trace, "header", header, _HEADER)]
    lines += [_line(trace, f"step {step.index}", step, _STEP) for step in trace.steps]
    return b"".join(line + b"\n" for line in lines)


def _line(trace: Trace, what: str, value: Header | AnyStep, decoder: msgspec.json.Decoder[Any]) -> bytes:
    try:
        try:
            read_back = decoder.decode(msgspec.json.encode(value))
            line = msgspec.json.encode(
                plain(read_back)
            )  # a whole number given for a float is written as what it is read as
        except UnicodeEncodeError:  # a lone surrogate: legal as a JSON escape, not in UTF-8
            read_back = msgspec.convert(
                json.loads(json.dumps(msgspec.to_builtins(value), allow_nan=False)), decoder.type
            )
            line = json.dumps(plain(read_back), separators=(",", ":")).encode()
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
        raise TraceError(f"trace {trace.id!r}, {what}: cannot be written: {one_line(error)}") from None
    if read_back != value:
        raise TraceError(
            f"trace {trace.id!r}, {what}: holds a value that JSON would change (NaN, infinity, a tuple, a key that is "
            "no string) — write null, a list or a string"
        )
    return line


def write_trace(trace: Trace, path: str | Path) -> None:
    """Write a trace in the native format, compressed where the name ends in `.gz` or `.zst`; whole or not at all.

    The same trace gives the same bytes, no time or name inside. Raises TraceError where the trace cannot be written as JSON.
    """
    write_traces([trace], path)


def write_traces(traces: Iterable[Trace], path: str | Path) -> None:
    """Write several traces into one native file, else as `write_trace`. The traces may come one by one; what is kept of them is compressed."""
    target, buffer = Path(path), io.BytesIO()
    with _packing(target, buffer) as packed:
        for trace in traces:
            packed.write(encode_trace(trace))
    write_atomically(target, buffer.getvalue())


def _packing(target: Path, buffer: io.BytesIO) -> AbstractContextManager[Any]:
    """What packs bytes into a buffer as the ending of a name says, and leaves the buffer open."""
    if target.suffix == ".gz":
        return gzip.GzipFile(filename="", fileobj=buffer, mode="wb", compresslevel=6, mtime=0)
    if target.suffix == ".zst":
        compressor = optional_zstandard(target.as_posix()).ZstdCompressor(level=3)
        return compressor.stream_writer(buffer, closefd=False)  # type: ignore[no-any-return]
    return nullcontext(buffer)
