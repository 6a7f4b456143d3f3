"""Reading small files by one reader, and what must hold of every trace that a reader gives."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from bench.model import ModelTurn, ToolResult, Trace
from bench.plugins.registry import entries
from bench.traces import Confidence
from bench.traces.documents import Document
from bench.traces.formats.native import Native, encode_trace

FORMATS = Path(__file__).parents[1] / "data" / "formats"
"""Small files written by hand after the formats' documentation."""


def document(folder: Path, value: Any, name: str = "run.json") -> Document:
    """A file that holds a value as JSON, a text or bytes as they are."""
    path = folder / name
    path.write_bytes(
        value if isinstance(value, bytes) else (value if isinstance(value, str) else json.dumps(value)).encode()
    )
    return Document(path, name)


def read(reader: str, folder: Path, value: Any, name: str = "run.json") -> list[Trace]:
    """The traces that a reader reads in a file with a value."""
    return list(entries("reader")[reader].target().read(document(folder, value, name)))


def sure(reader: str, given: Document) -> Confidence:
    """The certainty of a reader about a file."""
    return entries("reader")[reader].target().sniff(given)


def sure_of(given: Document) -> list[str]:
    """The readers that are as sure of a file as any."""
    every = {name: sure(name, given) for name in entries("reader")}
    best = max(every.values())
    return [name for name, confidence in every.items() if confidence is best and best is not Confidence.NO]


def checked(trace: Trace, folder: Path) -> Trace:
    """A trace, after checking what must hold of all: it comes back whole from the native format, its indices rise, a result follows its call."""
    path = folder / "again.jsonl"
    named = Trace(**{name: getattr(trace, name) for name in Trace.__struct_fields__} | {"id": trace.id or "x"})
    path.write_bytes(encode_trace(named))
    (again,) = Native().read(Document(path))
    assert again == named
    assert again.sha256 == named.sha256
    indices = [step.index for step in trace.steps]
    assert indices == sorted(set(indices))
    made: Counter[str] = Counter()
    for step in trace.steps:
        if isinstance(step, ModelTurn):
            made.update(call.id for call in step.tool_calls)
        alone = "call of a result: the result stands alone" in trace.left_out
        if isinstance(step, ToolResult) and not alone:
            assert made[step.call_id], step
    return trace


def kinds(trace: Trace) -> Counter[str]:
    """The number of steps of each kind in a trace."""
    return Counter(type(step).__name__ for step in trace.steps)
