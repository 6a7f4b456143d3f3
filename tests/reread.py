"""Reading small files by one reader, and what must hold of every trace that a reader gives."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from bench.model import ModelTurn, ToolResult, Trace
from bench.model.errors import TraceError
from bench.plugins.registry import entries
from bench.traces import Confidence, confidence_of, load
from bench.traces.documents import Document
from bench.traces.formats.native import Native, encode_trace
from bench.traces.lines import KEY

FORMATS = Path(__file__).parent / "data" / "formats"
"""Small files written by hand after the formats' documentation."""


def document(folder: Path, value: Any, name: str = "run.json") -> Document:
    """A file that holds a value as JSON, a text or bytes as they are."""
    path = folder / name
    path.write_bytes(
        value if isinstance(value, bytes) else (value if isinstance(value, str) else json.dumps(value)).encode()
    )
    return Document(path, name)


def read(reader: str, folder: Path, value: Any, name: str = "run.json") -> list[Trace]:
    """What a reader reads in a value written to a file."""
    return list(entries("reader")[reader].target().read(document(folder, value, name)))


def sure(reader: str, given: Document) -> Confidence:
    """How sure a reader is of a file."""
    return confidence_of(entries("reader")[reader].target().sniff(given))


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
    """How many steps of each kind a trace has."""
    return Counter(type(step).__name__ for step in trace.steps)


# ---------------------------------------------------------------- what the samples say

READ = FORMATS.parent / "read"
"""What readers make of the samples, as native lines without their source. `python tests/reread.py` takes it as it is now; read the diff."""


def told(path: Path, name: str) -> str:
    """The traces of a sample as native lines, without the source."""
    lines = b"".join(map(encode_trace, load([f"{name}:{path}"]).traces)).decode().splitlines()
    return "".join(re.sub(r'"source":\{[^}]*\}', '"source":{}', line, count=1) + "\n" for line in lines)


CASES = FORMATS.parent / "reader_cases.jsonl"
"""Small files, one a line, each with its reader and what it must give: traces (`says`), a refusal, how sure readers are, what it lacks;
or several files, and what `load` gives of them."""


def content(case: dict[str, Any]) -> Any:
    """The file of a case: a value to be written as JSON, a text, or bytes."""
    return case["value"] if "value" in case else case["text"] if "text" in case else case["bytes"].encode("latin-1")


def said(traces: list[Trace]) -> list[list[Any]]:
    """Traces as JSON: a header without the source, and the steps."""
    found = []
    for trace in traces:
        header, *steps = map(json.loads, encode_trace(msgspec.structs.replace(trace, id=trace.id or "x")).splitlines())
        found.append([{key: value for key, value in header.items() if key not in ("source", KEY)}, *steps])
    return found


def laid(case: dict[str, Any], folder: Path) -> Path:
    """A folder with the files of a case: samples (`{"sample": …}`), bytes (`{"bytes": …}`), texts, or values as JSON, no two of the same bytes."""
    for number, (name, held) in enumerate(case["files"].items()):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(held, dict) and "sample" in held:
            (shutil.copytree if (FORMATS / held["sample"]).is_dir() else shutil.copy)(FORMATS / held["sample"], path)
        elif isinstance(held, dict) and "bytes" in held:
            path.write_bytes(held["bytes"].encode("latin-1"))
        else:
            path.write_text(held if isinstance(held, str) else json.dumps(held) + "\n" * number, encoding="utf-8")
    return folder


def loaded(case: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What `load` makes of the files of a case."""
    try:
        found = load(case["load"], laid(case, folder), strict=case.get("strict", False))
    except TraceError as error:
        return {"refused": str(error)}
    assert list(found.sha256s) == [trace.id for trace in found.traces]
    origins = [[trace.source.format, trace.source.path] for trace in found.traces]
    skipped = [list(item) for item in found.skipped]
    return {"says": said(list(found.traces)), "from": origins, "skipped": skipped, "damaged": list(found.damaged)}


def accept() -> None:
    """Write what the built-in readers make of each sample, and of the cases that say something."""
    cases = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        for number, case in enumerate(cases):
            if "load" in case and "says" in case:
                case |= loaded(case, Path(folder, str(number)))
            elif "says" in case:
                case["says"] = said(read(case["reader"], Path(folder), content(case), case.get("name", "run.json")))
    CASES.write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
    for path in sorted(path for path in FORMATS.rglob("*.*") if path.suffix != ".md" or path.stem in entries("reader")):
        name = (path.relative_to(FORMATS).parts[0]).split(".")[0]
        target = READ / name / f"{path.name}.jsonl"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(told(path, name), encoding="utf-8")


if __name__ == "__main__":
    accept()
