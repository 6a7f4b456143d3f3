"""The bench's own format: JSON Lines, one header line and one line per step, optionally compressed.
Round-trips exactly."""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Iterable, Set
from contextlib import ExitStack
from pathlib import Path
from typing import Any, get_args

import msgspec

from ...files.writing import write_together
from ...model import SCHEMA_VERSION, AnyStep, Trace
from ...model.errors import one_line
from .. import Confidence, Document, Traces, certain_if, register
from ..lines import KEY, Header, encode_trace as encode_trace, trace_of
from ..values import Unread, as_dict, dicts

_PLACE = re.compile(r" - at `(?:key in )?(\$.*?)`$")


@register("reader", "native")
class Native:
    """Traces in the bench's own format, one or several in a file, with the source that they were
    recorded from; a header begins the next one.

    Errors name the line and the path in it; another schema version is refused. Written by
    `write_trace`.

    Not kept: nothing of what the bench measures; files, pictures and sound are counted.

    Source: docs/traces.md "Native traces". Tested: schema 1
    """

    def sniff(self, document: Document) -> Confidence:
        """CERTAIN for a header of the bench."""
        head = document.head
        keys = head.keys() if isinstance(head, dict) else set()
        return certain_if(KEY in keys)

    def read(self, document: Document) -> Traces:
        """The file's traces in their order, each with its recorded `source`."""
        lines = _Lines(document)
        header: Header | None = None
        steps: list[AnyStep] = []
        for number, line in document.lines():
            value = document.decode(line, number)
            if header is None or KEY in as_dict(value):
                if header is not None:
                    yield trace_of(lines.counted(header), steps)
                header, steps = lines.header(number, value), []
                continue
            step = lines.step(number, value)
            if steps and step.index <= steps[-1].index:
                what = f"expected more than {steps[-1].index}, got {step.index} — steps are in order, each index once"
                raise document.fail(what, line=number, path="$.index")
            steps.append(step)
        if header is not None:
            yield trace_of(lines.counted(header), steps)


_RETIRED = {"outcome", "agent", "options", "finish_reason", "duration_s"}
"""Members that earlier versions wrote, and that nothing ever read."""
_HEADER = set(Header.__struct_fields__)
_STEPS = {
    step.__struct_config__.tag: {"kind", *step.__struct_fields__} for step in get_args(AnyStep)
}
"""The members of a step, by its kind."""


class _Lines:
    """Reads a file's lines as headers and steps; `unread` counts the unknown members of the current
    trace."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.unread = Unread()

    def header(self, number: int, value: Any) -> Header:
        """The header on a line. TraceError for anything else, or another schema."""
        version, self.unread = as_dict(value).get(KEY), Unread()
        if version is None:
            what = f'expected a header {{"{KEY}": {SCHEMA_VERSION}, "id": …, "source": …}} — not a native trace'
            raise self.document.fail(what, line=number)
        if version != SCHEMA_VERSION or isinstance(version, bool):
            what = f"schema {one_line(version)[:40]} is not {SCHEMA_VERSION}"
            what = f"{what} — write the trace again with this version of bench"
            raise self.document.fail(what, line=number, path=f"$.{KEY}")
        header: Header = self._typed(number, value, Header, _HEADER)
        if not header.id:
            raise self.document.fail("expected a name, got an empty one", line=number, path="$.id")
        return header

    def step(self, number: int, value: Any) -> AnyStep:
        """The step on a line."""
        members = _STEPS.get(str(as_dict(value).get("kind")))
        step: AnyStep = self._typed(number, value, AnyStep, members)
        return step

    def counted(self, header: Header) -> Header:
        """A header with the counts of what was left out of it and its steps."""
        self.unread.add_all(header.left_out)
        return msgspec.structs.replace(header, left_out=self.unread.counts)

    def _typed(self, number: int, value: Any, kind: Any, members: Set[str] | None) -> Any:
        """The value on a line as a `kind` with these `members` (None for an unknown kind of step).
        TraceError with the place of a wrong value."""
        if members is not None and not value.keys() <= members:
            self.unread.extra_keys(value, members | _RETIRED, "a native trace")
            value = {key: value[key] for key in value if key in members}
        if isinstance(as_dict(value).get("content"), list):
            value = value | _content_of(value["content"])
        try:
            return msgspec.convert(value, kind, str_keys=True)
        except msgspec.ValidationError as error:
            place = _PLACE.search(str(error))
            what = str(error)[: place.start()] if place else str(error)
            what = (what[:1].lower() + what[1:]).replace("`", "")
            raise self.document.fail(what, line=number, path=place[1] if place else "$") from None
        except UnicodeEncodeError:
            what = "a lone surrogate (\\ud800–\\udfff) stands where a number or a name belongs"
            raise self.document.fail(what, line=number) from None


def _content_of(listed: list[Any]) -> dict[str, Any]:
    """The text and the number of other parts of a content that earlier versions wrote as a list of
    parts; `{}` for other lists."""
    parts = dicts(listed)
    if parts != listed:
        return {}
    texts = [part for part in parts if part.get("type") == "text"]
    joined = "\n".join(str(part.get("text")) for part in texts)
    return {"content": joined, "non_text": len(parts) - len(texts)}


def write_trace(trace: Trace, path: str | Path) -> None:
    """Write a trace in the native format, compressed if the name ends in `.gz`; a failed write
    leaves no partial file.

    The same trace gives the same bytes, no time or name inside. Raises TraceError if the trace
    cannot be written as JSON.
    """
    write_traces([trace], path)


def write_traces(traces: Iterable[Trace], path: str | Path) -> None:
    """Write several traces into one native file, otherwise like `write_trace`. The traces may be an
    iterator; only their encoded bytes stay in memory."""
    target, buffer = Path(path), io.BytesIO()
    with ExitStack() as stack:
        file: Any = buffer
        if target.suffix == ".gz":
            packed = gzip.GzipFile(filename="", fileobj=buffer, mode="wb", compresslevel=6, mtime=0)
            file = stack.enter_context(packed)
        for trace in traces:
            file.write(encode_trace(trace))
    write_together({target: buffer.getvalue()})
