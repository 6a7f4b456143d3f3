"""An audit as a report: the cost of recorded sessions, their results and their cache."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence

import msgspec

from ..model.audit import SessionAudit
from ..model.base import json_bytes
from ..model.compared import Skipped
from ..model.errors import BenchError, nearest
from . import audit_costs as costs, audit_events as events
from .audit_reading import AuditReading
from .blocks import Block, Report, Section

FORMATS = {"html": "html", "markdown": "markdown", "text": "text"}
"""The formats of an audit beside JSON: the module that writes each."""

_Part = Callable[[AuditReading], Iterable[Block]]
_PARTS: tuple[tuple[str, str, str, _Part], ...] = (
    ("cost", "Cost", "", costs.cost),
    ("turns", "By turn", "Cost by turn", costs.turns),
    ("contents", "Prompts", "Parts of the prompts", costs.contents),
    ("dearest", "Dearest results", "The ten dearest results", costs.dearest),
    ("cache", "Cache breaks", "Cache breaks", events.cache),
    ("shortened", "Shortened", "History that was shortened, results that were cut", events.shortened),
    ("rereads", "Read twice", "Results that were read twice", events.rereads),
    ("trust", "Trust", "Trust", events.trust),
)
"""The sections: anchor, short name, heading, blocks."""


def audit_rendered(sessions: Sequence[SessionAudit], form: str, skipped: Sequence[Skipped] = ()) -> str:
    """An audit in a format: html, markdown, text, or json (the values as they are).

    Raises BenchError for another.
    """
    if require_form(form) == "json":
        values = {"sessions": sessions, "skipped": skipped}
        return msgspec.json.format(json_bytes(values), indent=1).decode() + "\n"
    writer = importlib.import_module(f".{FORMATS[form]}", __package__)
    return "".join(writer.render([audit_report(sessions, skipped)]))


def require_form(form: str) -> str:
    """A format that an audit can be written in. Raises BenchError for another."""
    if form not in FORMATS and form != "json":
        raise BenchError(f"unknown format {form!r} of an audit{nearest(form, [*FORMATS, 'json'])}")
    return form


def audit_report(sessions: Sequence[SessionAudit], skipped: Sequence[Skipped] = ()) -> Report:
    """The audit of some sessions as a report; without any, the files that could not be read."""
    audit = AuditReading(sessions, skipped)
    sections = [
        Section(anchor, name, heading, blocks)
        for anchor, name, heading, part in _PARTS
        if (blocks := tuple(part(audit)))
    ]
    return Report(audit.title, audit.about, audit.verdict, tuple(sections))
