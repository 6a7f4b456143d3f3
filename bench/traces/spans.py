"""Spans of OpenTelemetry: OTLP JSON with its log records, or spans as consoles print them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .decoded import as_dict, dicts
from .documents import Node
from .nodes import at, first_of, moment

_FAILED = (2, "STATUS_CODE_ERROR", "ERROR")
_WHOLE = re.compile(r"-?[0-9]{1,25}")
_SCALARS = ("stringValue", "boolValue", "doubleValue", "bytesValue")


@dataclass(frozen=True)
class TracedSpan:
    """One span of OpenTelemetry, its attributes decoded; `events` are its own and the log records that name it, each a name and attributes."""

    place: Node
    trace: str
    id: str
    parent: str
    name: str
    start: float | None
    end: float | None
    attributes: dict[str, Any]
    error: str | None = None
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def made(self, key: str, value: Any) -> Node:
        """A value put together from attributes that begin with a key."""
        return self.place.made(value, f".attributes[{key}]")

    def first(self, *keys: str) -> Node:
        """The first of some attributes that is there, knowing its place; a node of null where none is."""
        key = next((key for key in keys if self.attributes.get(key) is not None), keys[-1])
        return self.made(key, self.attributes.get(key))

    def text(self, *keys: str) -> str:
        """The first of some attributes that is a text with something in it; `""` where none is."""
        return next((value for key in keys if isinstance(value := self.attributes.get(key), str) and value), "")

    def below(self, prefix: str) -> Any:
        """Return the attributes `prefix.…` as one value: objects by name, lists where all names are numbers; None where there are none."""
        found: dict[str, Any] = {}
        for key, value in self.attributes.items():
            if key.startswith(f"{prefix}."):
                inner = found
                *outer, last = key[len(prefix) + 1 :].split(".")
                for name in outer:
                    inner = inner.setdefault(name, {})
                    if not isinstance(inner, dict):
                        inner = {}
                inner[last] = value
        return _listed(found) if found else None


def _listed(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if value and all(name.isdecimal() for name in value):
        return [_listed(value[name]) for name in sorted(value, key=int)]
    return {name: _listed(item) for name, item in value.items()}


def spans_of(values: Sequence[Node]) -> list[TracedSpan]:
    """Return every span of some values (OTLP JSON with its log records, or spans as consoles print them) in the order in which they began.

    TraceError for a member of the wrong type.
    """
    found: list[TracedSpan] = []
    records: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for value in values:
        for single in value.items() if isinstance(value.value, list) else [value]:
            inner = single["trace"] if single.has("trace") else single
            alone = [single, *single["spans"].items()] if single.has("spans") else [single]
            printed = [span for span in alone if at(span, "context", "trace_id").value is not None]
            found += map(_printed, printed) if printed else map(_exported, _inside(inner, *_SPANS))
            for record in _inside(single, ("resourceLogs",), ("scopeLogs",), ("logRecords",)):
                records.setdefault(_id(record["spanId"]), []).append(_event(record))
    for span in found:
        span.events.extend(records.get(span.id, ()))
    return sorted(found, key=lambda span: span.start or 0.0)


_SPANS = (
    ("resourceSpans", "resource_spans", "batches"),
    ("scopeSpans", "scope_spans", "instrumentationLibrarySpans"),
    ("spans",),
)


def _inside(value: Node, *levels: tuple[str, ...]) -> Iterator[Node]:
    for item in first_of(value, *levels[0]).items():
        yield from _inside(item, *levels[1:]) if len(levels) > 1 else [item]


def _exported(span: Node) -> TracedSpan:
    events = [_event(event) for event in span["events"].items()]
    failed = at(span, "status", "code").value in _FAILED
    told = [details.get("exception.message") for name, details in events if name == "exception"]
    error = at(span, "status", "message").text_or_none() or next(filter(None, told), None) or "failed"
    return TracedSpan(
        place=span,
        trace=_id(first_of(span, "traceId", "trace_id")),
        id=_id(first_of(span, "spanId", "span_id")),
        parent=_id(first_of(span, "parentSpanId", "parent_span_id")),
        name=span["name"].text_or_none() or "",
        start=_nanoseconds(first_of(span, "startTimeUnixNano", "start_time_unix_nano")),
        end=_nanoseconds(first_of(span, "endTimeUnixNano", "end_time_unix_nano")),
        attributes=_attributes(span["attributes"]),
        error=str(error) if failed else None,
        events=events,
    )


def _printed(span: Node) -> TracedSpan:
    """A span as the console exporter prints it, or as Phoenix gives it: attributes as plain JSON, perhaps nested, times as texts; the kind of
    OpenInference may stand beside the attributes."""
    events = [(event["name"].text_or_none() or "", event["attributes"].value or {}) for event in span["events"].items()]
    failed = (span["status_code"].value or at(span, "status", "status_code").value) in _FAILED
    kind = {"openinference.span.kind": span["span_kind"].value} if isinstance(span["span_kind"].value, str) else {}
    held = span["attributes"].object() if span["attributes"].value is not None else {}
    why = span["status_message"].text_or_none() or at(span, "status", "description").text_or_none()
    return TracedSpan(
        place=span,
        trace=_id(at(span, "context", "trace_id")),
        id=_id(at(span, "context", "span_id")),
        parent=_id(span["parent_id"]) or _id(at(span, "parent", "span_id")),
        name=span["name"].text_or_none() or "",
        start=_time(span["start_time"]),
        end=_time(span["end_time"]),
        attributes={**kind, **dict(_flat(held))},
        error=(why or "failed") if failed else None,
        events=[(name, details) for name, details in events if isinstance(details, dict)],
    )


def _flat(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Attributes that are nested, under their whole names; lists of anything but objects, and what the GenAI conventions nest, stay as they are."""
    listed = isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)
    if key.startswith("gen_ai.") or not (listed or (isinstance(value, dict) and (value or not key))):
        yield key, value
        return
    for name, inner in enumerate(value) if isinstance(value, list) else value.items():
        yield from _flat(inner, f"{key}.{name}" if key else str(name))


def _event(event: Node) -> tuple[str, dict[str, Any]]:
    details = _attributes(event["attributes"])
    name = first_of(event, "name", "eventName").text_or_none() or str(details.get("event.name", ""))
    body = _plain(event["body"].value)
    return name, {**details, **(body if isinstance(body, dict) else {} if body is None else {"content": body})}


def _attributes(node: Node) -> dict[str, Any]:
    return {item["key"].text(): _plain(item["value"].value) for item in node.items()}


def _plain(value: Any) -> Any:
    """A value as OTLP wraps it; anything else is itself."""
    if not isinstance(value, dict):
        return value
    for name in _SCALARS:
        if name in value:
            return value[name]
    if "intValue" in value:
        whole = value["intValue"]
        return int(whole) if isinstance(whole, str) and _WHOLE.fullmatch(whole) else whole
    for name in ("arrayValue", "kvlistValue"):
        if name in value:
            items = dicts(as_dict(value[name]).get("values"))
            if name == "arrayValue":
                return [_plain(item) for item in items]
            return {str(item.get("key")): _plain(item.get("value")) for item in items}
    return value or None


def _id(node: Node) -> str:
    return (
        (format(node.value, "x") if type(node.value) is int else node.text_or_none() or "").removeprefix("0x").lower()
    )


def _time(node: Node) -> float | None:
    return node.value / 1e9 if type(node.value) is int else moment(node)


def _nanoseconds(node: Node) -> float | None:
    value = node.value
    whole = int(value) if isinstance(value, str) and _WHOLE.fullmatch(value) else value
    if whole is not None and type(whole) is not int:
        raise node.expected("a number of nanoseconds")
    return None if whole is None else whole / 1e9
