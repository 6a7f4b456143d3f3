"""The bench's own format: JSON Lines, one header line and one line per step, optionally compressed.
Round-trips exactly."""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import msgspec

from ...files.writing import write_atomically
from ...model import SCHEMA_VERSION, AnyStep, Trace
from ...model.errors import TraceError, one_line
from .. import Confidence, Document, Traces, certain_if, register
from ..lines import HEADER, KEY, STEP, Header, encode_trace as encode_trace, trace_of, typed
from ..unpacked import optional_zstandard

_PLACE = re.compile(r" - at `(?:key in )?(\$.*?)`$")


@register("reader", "native")
class Native:
    """Traces in the bench's own format, one or several in a file, with the source that they were
    recorded from; a header begins the next one.

    Errors name the line and the path in it; another schema version is refused. Written by
    `write_trace`.

    Not kept: nothing of what the bench measures; files, pictures and sound are sizes and hashes.

    Source: docs/traces.md "Native traces". Tested: schema 1
    """

    def sniff(self, document: Document) -> Confidence:
        head = document.head
        keys = head.keys() if isinstance(head, dict) else set()
        return certain_if(KEY in keys)

    def read(self, document: Document) -> Traces:
        """The file's traces in their order, each with its recorded `source`."""
        lines = document.lines()
        header = _header(document, *next(lines))
        steps: list[AnyStep] = []
        for number, line in lines:
            if _begins_a_trace(document, number, line):
                yield trace_of(header, steps)
                header, steps = _header(document, number, line), []
                continue
            step = _typed(document, number, line, STEP)
            if steps and step.index <= steps[-1].index:
                what = f"expected more than {steps[-1].index}, got {step.index} — steps are in order, each index once"
                raise document.fail(what, line=number, path="$.index")
            steps.append(step)
        yield trace_of(header, steps)


def _begins_a_trace(document: Document, number: int, line: bytes) -> bool:
    """True if a line is another header; a step may well speak of one in its text."""
    if KEY.encode() not in line:
        return False
    raw = document.decode(line, number)
    return isinstance(raw, dict) and KEY in raw


def _header(document: Document, number: int, line: bytes) -> Header:
    """The header on a line; TraceError for none, or one of another schema."""
    raw = document.decode(line, number)
    version = raw.get(KEY) if isinstance(raw, dict) else None
    if version is None:
        what = f'expected a header {{"{KEY}": {SCHEMA_VERSION}, "id": …, "source": …}} — not a native trace'
        raise document.fail(what, line=number)
    if version != SCHEMA_VERSION or isinstance(version, bool):
        what = f"schema {one_line(version)[:40]} is not {SCHEMA_VERSION}"
        what = f"{what} — write the trace again with this version of bench"
        raise document.fail(what, line=number, path=f"$.{KEY}")
    header: Header = _typed(document, number, line, HEADER)
    if not header.id:
        raise document.fail("expected a name, got an empty one", line=number, path="$.id")
    return header


def _typed(document: Document, number: int, line: bytes, decoder: msgspec.json.Decoder[Any]) -> Any:
    """The value on a line, checked against its type; TraceError with the place of a misfit."""
    document.decode(line, number)  # its limits, and what a decoder of types does not tell
    try:
        return typed(line, decoder)
    except msgspec.ValidationError as error:
        raise _misfit(document, number, error) from None
    except UnicodeEncodeError:
        what = "a lone surrogate (\\ud800–\\udfff) stands where a number or a name belongs"
        raise document.fail(what, line=number) from None


def _misfit(document: Document, number: int, error: msgspec.ValidationError) -> TraceError:
    text = str(error)
    place = _PLACE.search(text)
    what = text[: place.start()] if place else text
    what = (what[:1].lower() + what[1:]).replace("`", "")
    return document.fail(what, line=number, path=place.group(1) if place else "$")


def write_trace(trace: Trace, path: str | Path) -> None:
    """Write a trace in the native format, compressed where the name ends in `.gz` or `.zst`; whole
    or not at all.

    The same trace gives the same bytes, no time or name inside. Raises TraceError where the trace
    cannot be written as JSON.
    """
    write_traces([trace], path)


def write_traces(traces: Iterable[Trace], path: str | Path) -> None:
    """Write several traces into one native file, else as `write_trace`. The traces may come one by
    one; what is kept of them is compressed."""
    target, buffer = Path(path), io.BytesIO()
    with _packing(target, buffer) as packed:
        for trace in traces:
            packed.write(encode_trace(trace))
    write_atomically(target, buffer.getvalue())


def _packing(target: Path, buffer: io.BytesIO) -> AbstractContextManager[Any]:
    """The file that packs bytes into a buffer as the ending of a name says, and leaves the buffer
    open."""
    if target.suffix == ".gz":
        return gzip.GzipFile(filename="", fileobj=buffer, mode="wb", compresslevel=6, mtime=0)
    if target.suffix == ".zst":
        compressor = optional_zstandard(target.as_posix()).ZstdCompressor(level=3)
        return compressor.stream_writer(buffer, closefd=False)  # type: ignore[no-any-return]
    return nullcontext(buffer)
