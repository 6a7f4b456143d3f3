"""The bench's own format: a header and a line per step for each trace. Round-trips exactly."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterable, Set
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, get_args

import msgspec

from ...files.writing import write_together
from ...model import SCHEMA_VERSION, AnyStep, Trace
from ...model.errors import one_line
from .. import Document, Traces, register
from ..lines import FIELDS, KEY, Header, encode_trace as encode_trace
from ..values import Unread, as_dict
from . import Format


@register("reader", "native")
class Native(Format):
    """Traces in the bench's own format, one or several in a file, with the source that they were
    recorded from; a header begins the next one.

    Errors name the line and the path in it; another schema version is refused. Written by
    `write_traces`.

    Not kept: nothing of what the bench measures; files, pictures and sound are counted.

    Source: docs/traces.md "Native traces". Tested: schema 1
    """

    def marked(self, document: Document) -> object:
        return KEY in as_dict(document.head)

    def read(self, document: Document) -> Traces:
        """The file's traces in their order, each with its recorded `source`."""
        runs: list[_Run] = []
        for number, line in document.lines():
            value = document.decode(line, number)
            if KEY in as_dict(value) or not runs:
                runs.append(_Run(document, number, value))
            else:
                runs[-1].add(number, value)
        return [run.trace() for run in runs]


_HEADER = set(Header.__struct_fields__)
_STEPS = {
    kind.__struct_config__.tag: {"kind", *kind.__struct_fields__} for kind in get_args(AnyStep)
}
"""The members of a step, by its kind."""


class _Run:
    """A trace while its lines are read. TraceError for a line that does not belong there."""

    def __init__(self, document: Document, number: int, value: Any) -> None:
        self.document, self.unread = document, Unread()
        self.steps: list[AnyStep] = []
        version = as_dict(value).get(KEY)
        if version != SCHEMA_VERSION or isinstance(version, bool):
            what = f"schema {one_line(version)[:40]} is not {SCHEMA_VERSION}"
            what = f"{what} — write the trace again with this version of bench"
            raise document.fail(what, line=number, path=f"$.{KEY}")
        self.header: Header = self._typed(number, value, Header, _HEADER)

    def add(self, number: int, value: Any) -> None:
        """Add the step on a line."""
        members = _STEPS.get(str(as_dict(value).get("kind")))
        step: AnyStep = self._typed(number, value, AnyStep, members)
        last = self.steps[-1].index if self.steps else -1
        if step.index <= last:
            what = f"expected more than {last}, got {step.index}"
            what = f"{what} — steps are in order, each index once"
            raise self.document.fail(what, line=number, path="$.index")
        self.steps.append(step)

    def trace(self) -> Trace:
        """The trace, with the counts of what was left out of its lines."""
        self.unread.add_all(self.header.left_out)
        about = {field: getattr(self.header, field) for field in FIELDS}
        return Trace(steps=tuple(self.steps), **{**about, "left_out": self.unread.counts})

    def _typed(self, number: int, value: Any, kind: Any, members: Set[str] | None) -> Any:
        if members is not None and not value.keys() <= members:
            self.unread.extra_keys(value, members, "a native trace")
            value = {key: value[key] for key in value if key in members}
        try:
            return msgspec.convert(value, kind, str_keys=True)
        except msgspec.ValidationError as error:
            raise self.document.fail(str(error).replace("`", ""), line=number) from None
        except UnicodeEncodeError:
            what = "a lone surrogate (\\ud800–\\udfff) stands where a number or a name belongs"
            raise self.document.fail(what, line=number) from None


def write_traces(traces: Iterable[Trace], path: str | Path) -> None:
    """Write traces into one native file, compressed if the name ends in `.gz`; a failed write
    leaves no partial file.

    The traces may be an iterator; only their encoded bytes stay in memory. The same traces give the
    same bytes, no time or name inside. Raises TraceError for one that cannot be written as JSON.
    """
    target, buffer = Path(path), io.BytesIO()
    file: AbstractContextManager[Any] = nullcontext(buffer)
    if target.suffix == ".gz":
        file = gzip.GzipFile(filename="", fileobj=buffer, mode="wb", compresslevel=6, mtime=0)
    with file as opened:
        for trace in traces:
            opened.write(encode_trace(trace))
    write_together({target: buffer.getvalue()})
