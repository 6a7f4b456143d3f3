"""Traces as lines of JSON: the native format, and the answer of a reader's process."""

from __future__ import annotations

import itertools
import json
from typing import Any

import msgspec

from ..model import SCHEMA_VERSION, AnyStep, Source, Trace, Value, plain
from ..model.errors import TraceError, one_line

KEY = "bench_trace"


class Header(Value, frozen=True, kw_only=True):
    """The first line: the schema version and everything in a trace except its steps."""

    bench_trace: int
    id: str
    source: Source
    labels: dict[str, Any] = {}
    meta: dict[str, Any] = {}
    left_out: dict[str, int] = {}


STEP: msgspec.json.Decoder[Any] = msgspec.json.Decoder(AnyStep)
HEADER = msgspec.json.Decoder(Header)
_FIELDS = tuple(field for field in Header.__struct_fields__ if field != KEY)
"""The fields of a trace that are in its header."""


def encode_trace(trace: Trace) -> bytes:
    """A trace as uncompressed native bytes; the same trace gives the same bytes.

    Raises TraceError, naming the step, for a step out of order and for a value that JSON would
    change (NaN, a tuple, a key that is not a string).

    >>> encode_trace(Trace(id="a", source=Source(format="native"), steps=()))
    b'{"bench_trace":1,"id":"a","source":{"format":"native"}}\\n'
    """
    about = {field: getattr(trace, field) for field in _FIELDS}
    header = Header(bench_trace=SCHEMA_VERSION, **about)
    for before, after in itertools.pairwise(step.index for step in trace.steps):
        if after <= before:
            what = f"step {after} follows step {before}"
            raise TraceError(f"trace {trace.id!r}: {what} — steps are in order, each index once")
    lines = [_line(trace, "header", header, HEADER)]
    lines += [_line(trace, f"step {step.index}", step, STEP) for step in trace.steps]
    return b"".join(line + b"\n" for line in lines)


def _line(
    trace: Trace, name: str, value: Header | AnyStep, decoder: msgspec.json.Decoder[Any]
) -> bytes:
    """The line of a header or a step. TraceError if reading it back would give another value."""
    place = f"trace {trace.id!r}, {name}"
    try:
        try:
            read_back = decoder.decode(msgspec.json.encode(value))
            # a whole number given for a float is written as what it is read as
            line = msgspec.json.encode(plain(read_back))
        except UnicodeEncodeError:  # a lone surrogate: legal as a JSON escape, not in UTF-8
            written = json.dumps(msgspec.to_builtins(value), allow_nan=False)
            read_back = typed(written.encode(), decoder)
            line = json.dumps(plain(read_back), separators=(",", ":")).encode()
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
        raise TraceError(f"{place}: cannot be written: {one_line(error)}") from None
    if read_back != value:
        what = "holds what JSON would change (NaN, infinity, a tuple, a key that is no string)"
        raise TraceError(f"{place}: {what} — write null, a list or a string")
    return line


def decode_trace(data: bytes) -> Trace:
    """The trace that `encode_trace` wrote."""
    header, *steps = data.splitlines()
    return trace_of(typed(header, HEADER), [typed(line, STEP) for line in steps])


def typed(line: bytes, decoder: msgspec.json.Decoder[Any]) -> Any:
    """The value on a line, of a decoder's type. Raises msgspec.ValidationError for another type."""
    try:
        return decoder.decode(line)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # a lone surrogate, perhaps
        return msgspec.convert(json.loads(line), decoder.type, str_keys=True)


def trace_of(header: Header, steps: list[AnyStep]) -> Trace:
    """The trace of a header and its steps."""
    return Trace(steps=tuple(steps), **{field: getattr(header, field) for field in _FIELDS})
