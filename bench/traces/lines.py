"""Traces as lines of JSON, as the native format has them."""

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


FIELDS = tuple(field for field in Header.__struct_fields__ if field != KEY)
"""The fields of a trace that are in its header."""


def encode_trace(trace: Trace) -> bytes:
    """A trace as uncompressed native bytes; the same trace gives the same bytes.

    Raises TraceError, naming the step, for a step out of order and for a value that JSON would
    change (NaN, a tuple, a key that is not a string).

    >>> encode_trace(Trace(id="a", source=Source(format="native"), steps=()))
    b'{"bench_trace":1,"id":"a","source":{"format":"native"}}\\n'
    """
    about = {field: getattr(trace, field) for field in FIELDS}
    header = Header(bench_trace=SCHEMA_VERSION, **about)
    for before, after in itertools.pairwise(step.index for step in trace.steps):
        if after <= before:
            what = f"step {after} follows step {before}"
            raise TraceError(f"trace {trace.id!r}: {what} — steps are in order, each index once")
    lines = [_line(trace, "header", header, Header)]
    lines += [_line(trace, f"step {step.index}", step, AnyStep) for step in trace.steps]
    return b"".join(line + b"\n" for line in lines)


def _line(trace: Trace, name: str, value: Header | AnyStep, kind: Any) -> bytes:
    """The line of a header or a step. TraceError if reading it back would give another value."""
    place = f"trace {trace.id!r}, {name}"
    try:
        try:
            read_back = msgspec.json.decode(msgspec.json.encode(value), type=kind)
            # a whole number given for a float is written as what it is read as
            line = msgspec.json.encode(plain(read_back))
        except UnicodeEncodeError:  # a lone surrogate: legal as a JSON escape, not in UTF-8
            written = json.dumps(msgspec.to_builtins(value), allow_nan=False)
            read_back = msgspec.convert(json.loads(written), kind, str_keys=True)
            line = json.dumps(plain(read_back), separators=(",", ":")).encode()
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
        raise TraceError(f"{place}: cannot be written: {one_line(error)}") from None
    if read_back != value:
        what = "holds what JSON would change (NaN, infinity, a tuple, a key that is no string)"
        raise TraceError(f"{place}: {what} — write null, a list or a string")
    return line
