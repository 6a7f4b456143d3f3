"""Spans of OpenTelemetry: OTLP JSON, or spans as Python's console exporter prints them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ..values import Unread, as_dict, as_list, dicts, first_of, text, time_of
from .tree import Span

_FAILED = (2, "STATUS_CODE_ERROR", "ERROR")
_DIGITS = re.compile(r"-?[0-9]{1,25}")
_SCALARS = ("stringValue", "boolValue", "doubleValue", "bytesValue")
_WRAPPERS = {"message", "tool_call", "message_content", "tool", "image"}
_LEVELS = (
    ("resourceSpans", "resource_spans", "batches"),
    ("scopeSpans", "scope_spans", "instrumentationLibrarySpans"),
    ("spans",),
)


class OtelSpan(NamedTuple):
    """One span of a trace: its place, name, times and error, and its attributes, decoded."""

    trace: str
    place: Span
    attributes: dict[str, Any]

    def first(self, *keys: str) -> Any:
        """The first attribute, among `keys`, that is present; None without one."""
        return first_of(self.attributes, keys)

    def text(self, *keys: str) -> str:
        """The first attribute, among `keys`, that is a text and not empty; `""` where none is."""
        return next(filter(None, (text(self.attributes.get(key)) for key in keys)), "")

    def below(self, prefix: str) -> Any:
        """The attributes `prefix.…` as one value: nested objects, or lists where all names are
        numbers; None without any."""
        values: dict[str, Any] = {}
        for key, value in self.attributes.items():
            if key.startswith(f"{prefix}."):
                inner = values
                *outer, last = key[len(prefix) + 1 :].split(".")
                for name in outer:
                    inner = inner.setdefault(name, {})
                    inner = inner if isinstance(inner, dict) else {}
                inner[last] = value
        return _listed(values) if values else None


def _listed(value: Any) -> Any:
    """A value with objects turned into lists where all names are numbers, and without
    OpenInference's wrapping of list members."""
    if not isinstance(value, dict):
        return value
    if value and all(name.isdecimal() and len(name) < 10 for name in value):
        return [_listed(value[name]) for name in sorted(value, key=int)]
    if len(value) == 1 and not _WRAPPERS.isdisjoint(value):
        return _listed(*value.values())
    return {name: _listed(item) for name, item in value.items()}


def spans_of(values: Iterable[Any], unread: Unread) -> list[OtelSpan]:
    """Every span in some values (OTLP JSON, or printed spans, also in lists), in order of start.
    Log records are counted."""
    spans: list[OtelSpan] = []
    for value in values:
        for record in dicts(value if isinstance(value, list) else [value]):
            printed = [record] if as_dict(record.get("context")) else _inside(record, *_LEVELS)
            spans += [_span(span, unread) for span in printed]
            unread.add("list of log records", len(dicts(record.get("resourceLogs"))))
    return sorted(spans, key=lambda one: one.place.start or 0.0)


def _inside(value: dict[str, Any], *levels: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """The objects under nested lists; each level names the keys that its list may have."""
    for item in dicts(first_of(value, levels[0])):
        yield from _inside(item, *levels[1:]) if len(levels) > 1 else [item]


def _span(span: dict[str, Any], unread: Unread) -> OtelSpan:
    """A span from OTLP, or from the console exporter, which puts the ids in a context."""
    ids, status = {**span, **as_dict(span.get("context"))}, as_dict(span.get("status"))
    details = [_attributes(event.get("attributes")) for event in dicts(span.get("events"))]
    reasons = [status.get("message"), status.get("description")]
    reasons += [event.get("exception.message") for event in details]
    failed = first_of(status, ("code", "status_code")) in _FAILED
    place = Span(
        id=_id(first_of(ids, ("spanId", "span_id"))),
        parent=_id(first_of(span, ("parentSpanId", "parent_span_id", "parent_id"))),
        name=text(span.get("name")) or "",
        start=_time(first_of(span, ("startTimeUnixNano", "start_time")), unread),
        end=_time(first_of(span, ("endTimeUnixNano", "end_time")), unread),
        error=next(filter(None, map(text, reasons)), "failed") if failed else None,
    )
    trace = _id(first_of(ids, ("traceId", "trace_id")))
    return OtelSpan(trace, place, _attributes(span.get("attributes")))


def _attributes(listed: Any) -> dict[str, Any]:
    if isinstance(listed, dict):
        return {key: _plain(value) for key, value in listed.items()}
    return {str(item.get("key")): _plain(item.get("value")) for item in dicts(listed)}


def _plain(value: Any) -> Any:
    """A value without OTLP's wrapping; any other value as it is."""
    if not isinstance(value, dict):
        return value
    for name in _SCALARS:
        if name in value:
            return value[name]
    if "intValue" in value:
        number = value["intValue"]
        return int(number) if isinstance(number, str) and _DIGITS.fullmatch(number) else number
    if "arrayValue" in value:
        return [_plain(item) for item in as_list(as_dict(value["arrayValue"]).get("values"))]
    if "kvlistValue" in value:
        return _attributes(as_dict(value["kvlistValue"]).get("values"))
    return value or None


def _id(value: Any) -> str:
    return (text(value) or "").removeprefix("0x").lower()


def _time(value: Any, unread: Unread) -> float | None:
    """Seconds since the epoch from nanoseconds, or from a time as `time_of` reads it."""
    nanos = int(value) if isinstance(value, str) and _DIGITS.fullmatch(value) else value
    return float(nanos) / 1e9 if type(nanos) in (int, float) else time_of(value, unread)
