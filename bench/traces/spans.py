"""Spans of OpenTelemetry: OTLP JSON, or spans as consoles print them, and as Phoenix and Jaeger
give them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .content import first_of
from .decoded import as_dict, dicts
from .parts import Unread
from .records import text, time_of

Attributes = dict[str, Any]

_FAILED = (2, "STATUS_CODE_ERROR", "ERROR")
_DIGITS = re.compile(r"-?[0-9]{1,25}")
_SCALARS = ("stringValue", "boolValue", "doubleValue", "bytesValue")
_LEVELS = (
    ("resourceSpans", "resource_spans", "batches"),
    ("scopeSpans", "scope_spans", "instrumentationLibrarySpans"),
    ("spans",),
)


@dataclass(frozen=True)
class OtelSpan:
    """One span, its attributes decoded; `events` are each a name and attributes."""

    trace: str
    id: str
    parent: str
    name: str
    start: float | None
    end: float | None
    attributes: Attributes
    error: str | None = None
    events: list[tuple[str, Attributes]] = field(default_factory=list)

    def first(self, *keys: str) -> Any:
        """The first of some attributes that is there; None where none is."""
        return first_of(self.attributes, keys)

    def text(self, *keys: str) -> str:
        """The first of some attributes that is a text with something in it; `""` where none is."""
        return next(
            (value for key in keys if isinstance(value := self.attributes.get(key), str) and value),
            "",
        )

    def below(self, prefix: str) -> Any:
        """The attributes `prefix.…` as one value: objects by name, lists where all names are
        numbers; None where there are none."""
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
    if not isinstance(value, dict):
        return value
    if value and all(name.isdecimal() and len(name) < 10 for name in value):
        return [_listed(value[name]) for name in sorted(value, key=int)]
    return {name: _listed(item) for name, item in value.items()}


def spans_of(values: Iterable[Any], unread: Unread) -> list[OtelSpan]:
    """Every span of some values (OTLP JSON, or printed spans, also in lists) in the order in which
    they began. Log records are counted."""
    spans: list[OtelSpan] = []
    for value in values:
        for record in dicts(value if isinstance(value, list) else [value]):
            within = record["trace"] if isinstance(record.get("trace"), dict) else record
            printed = [span for span in (record, *dicts(record.get("spans"))) if _context(span)]
            jaegers = map(_of_jaeger, _inside(record, ("data",), ("spans",)))
            spans += [
                _span(span, unread) for span in printed or [*jaegers, *_inside(within, *_LEVELS)]
            ]
            unread.add("list of log records", len(dicts(record.get("resourceLogs"))))
    return sorted(spans, key=lambda span: span.start or 0.0)


def _inside(value: dict[str, Any], *levels: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    for item in dicts(first_of(value, levels[0])):
        yield from _inside(item, *levels[1:]) if len(levels) > 1 else [item]


def _of_jaeger(span: dict[str, Any]) -> dict[str, Any]:
    """A span as Jaeger gives it, in the words of OTLP; its times are in microseconds."""
    start, took = (
        span.get(key) if type(span.get(key)) is int else None for key in ("startTime", "duration")
    )
    tags = {str(tag.get("key")): tag.get("value") for tag in dicts(span.get("tags"))}
    above = next(iter(dicts(span.get("references"))), {})
    return {
        **{
            "traceId": span.get("traceID"),
            "spanId": span.get("spanID"),
            "parentSpanId": above.get("spanID"),
        },
        **{"name": span.get("operationName"), "attributes": tags},
        "startTimeUnixNano": start and start * 1000,
        "endTimeUnixNano": start and took is not None and (start + took) * 1000,
        "status": {
            "code": tags.get("otel.status_code"),
            "message": tags.get("otel.status_description"),
        },
    }


def _context(span: dict[str, Any], *above: str) -> dict[str, Any]:
    """The context of a printed span, by Python's name of it or JavaScript's; `{}` where it has
    none."""
    return as_dict(first_of(span, above or ("context", "spanContext")))


def _span(span: dict[str, Any], unread: Unread) -> OtelSpan:
    """A span as OTLP has it; as the SDKs print it, its ids in a context; or as Phoenix gives it,
    its attributes nested and the kind of OpenInference beside them."""
    ids, parent = {**span, **_context(span)}, _context(span, "parent", "parentSpanContext")
    status = as_dict(span.get("status"))
    events = [_event(event) for event in dicts(span.get("events"))]
    code = first_of(status, ("code", "status_code")) or span.get("status_code")
    reasons = [span.get("status_message"), status.get("message"), status.get("description")]
    reasons += [details.get("exception.message") for name, details in events if name == "exception"]
    kind = (
        {"openinference.span.kind": span["span_kind"]}
        if isinstance(span.get("span_kind"), str)
        else {}
    )
    above = first_of({**parent, **span}, ("parentSpanId", "parent_span_id", "parent_id"))
    return OtelSpan(
        trace=_id(first_of(ids, ("traceId", "trace_id"))),
        id=_id(first_of(ids, ("spanId", "span_id"))),
        parent=_id(above or first_of(parent, ("span_id", "spanId"))),
        name=text(span.get("name")) or "",
        start=_time(
            first_of(
                span, ("startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime")
            ),
            unread,
        ),
        end=_time(
            first_of(span, ("endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime")), unread
        ),
        attributes={**kind, **dict(_flat(_attributes(span.get("attributes"))))},
        error=next(filter(None, map(text, reasons)), "failed") if code in _FAILED else None,
        events=events,
    )


def _flat(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Attributes that are nested, under their whole names; lists of anything but objects, and what
    the GenAI conventions nest, stay as they are."""
    listed = (
        isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)
    )
    if key.startswith("gen_ai.") or not (
        listed or (isinstance(value, dict) and (value or not key))
    ):
        yield key, value
        return
    for name, inner in enumerate(value) if isinstance(value, list) else value.items():
        yield from _flat(inner, f"{key}.{name}" if key else str(name))


def _event(event: dict[str, Any]) -> tuple[str, Attributes]:
    details = _attributes(event.get("attributes"))
    name = text(first_of(event, ("name", "eventName"))) or str(details.get("event.name", ""))
    body = _plain(event.get("body"))
    return name, {
        **details,
        **(body if isinstance(body, dict) else {} if body is None else {"content": body}),
    }


def _attributes(listed: Any) -> Attributes:
    if isinstance(listed, dict):
        return {key: _plain(value) for key, value in listed.items()}
    return {str(item.get("key")): _plain(item.get("value")) for item in dicts(listed)}


def _plain(value: Any) -> Any:
    """A value as OTLP wraps it; anything else is itself."""
    if not isinstance(value, dict):
        return value
    for name in _SCALARS:
        if name in value:
            return value[name]
    if "intValue" in value:
        number = value["intValue"]
        return int(number) if isinstance(number, str) and _DIGITS.fullmatch(number) else number
    if "arrayValue" in value:
        return [_plain(item) for item in dicts(as_dict(value["arrayValue"]).get("values"))]
    if "kvlistValue" in value:
        return _attributes(as_dict(value["kvlistValue"]).get("values"))
    return value or None


def _id(value: Any) -> str:
    written = format(value, "x") if type(value) is int else text(value) or ""
    return written.removeprefix("0x").lower()


def _time(value: Any, unread: Unread) -> float | None:
    """Seconds since the epoch from nanoseconds, from seconds and nanoseconds, or from a time as
    `time_of` reads it."""
    if isinstance(value, list) and [type(part) for part in value] == [int, int]:
        return float(value[0] + value[1] / 1e9)
    number = int(value) if isinstance(value, str) and _DIGITS.fullmatch(value) else value
    return float(number) / 1e9 if type(number) in (int, float) else time_of(number, unread)
