"""An audit as a report.

What recorded sessions cost, and what happened to their results and their cache.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from ..model.audit import SessionAudit
from ..model.base import json_bytes
from ..model.compared import Skipped
from ..model.errors import BenchError, nearest
from . import audit_costs as costs, audit_events as events
from .audit_reading import AuditReading
from .blocks import Block, Report, Section

FORMATS = {"html": "html", "markdown": "markdown", "text": "terminal"}
"""The formats of an audit beside JSON: the module that writes each."""

_Part = Callable[[AuditReading], Iterable[Block]]


def audit_rendered(sessions: Sequence[SessionAudit], form: str, skipped: Sequence[Skipped] = ()) -> str:
    """An audit in a format: html, markdown, text, or json (the values as they are).

    Raises BenchError for another.
    """
    if require_form(form) == "json":
        found = {"sessions": sessions, "skipped": skipped}
        return msgspec.json.format(json_bytes(found), indent=1).decode() + "\n"
    writer = importlib.import_module(f".{FORMATS[form]}", __package__)
    return "".join(writer.render([audit_report(sessions, skipped)]))


def require_form(form: str) -> str:
    """A format that an audit can be written in. Raises BenchError for another."""
    if form not in FORMATS and form != "json":
        raise BenchError(f"unknown format {form!r} of an audit{nearest(form, [*FORMATS, 'json'])}")
    return form


def audit_report(sessions: Sequence[SessionAudit], skipped: Sequence[Skipped] = ()) -> Report:
    """What happened in some sessions as a report; without any, what could not be read."""
    audit = AuditReading(sessions, skipped)
    sections = [
        Section(anchor, name, heading, blocks)
        for anchor, name, heading, make in _parts(audit)
        if (blocks := tuple(make(audit)))
    ]
    return Report(audit.title, audit.about, audit.verdict, tuple(sections), "")


def _parts(audit: AuditReading) -> Iterator[tuple[str, str, str, _Part]]:
    """The sections: anchor, short name, heading, blocks."""
    yield "cost", "Cost", "", costs.cost
    yield "turns", "By turn", "Price by turn" if audit.priced else "Tokens by turn", costs.turns
    yield "contents", "Prompts", "Parts of the prompts", costs.contents
    yield "dearest", "Dearest results", "The ten dearest results", costs.dearest
    yield "cache", "Cache breaks", "Cache breaks", events.cache
    yield (
        "shortened",
        "Shortened",
        "History that was shortened, results that were cut",
        events.shortened,
    )
    yield "rereads", "Read twice", "Results that were read twice", events.rereads
    yield "trust", "Trust", "Trust", events.trust
