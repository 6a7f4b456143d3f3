"""An audit as a report: the cost of recorded sessions, their results and their cache."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

import msgspec

from ..model.audit import SessionAudit
from ..model.base import json_bytes
from ..model.compared import Skipped
from ..model.errors import BenchError, nearest
from .audit_costs import cost, dearest, parts, turns
from .audit_events import breaks, rereads, shortenings, trust
from .blocks import Report, Section
from .numbers import listed, of, shortened
from .sessions import Sessions

FORMATS = {"html": "html", "markdown": "markdown", "text": "text"}
"""The formats of an audit beside JSON: the module that writes each."""

_SECTIONS = (
    ("cost", "Cost", "", cost),
    ("turns", "By turn", "Cost by turn", turns),
    ("contents", "Prompts", "Parts of the prompts", parts),
    ("dearest", "Dearest results", "The ten dearest results", dearest),
    ("cache", "Cache breaks", "Cache breaks", breaks),
    ("shortened", "Shortened", "What was shortened or cut", shortenings),
    ("rereads", "Read twice", "Results that were read twice", rereads),
    ("trust", "Trust", "Trust", trust),
)
"""The sections in order: anchor, short name, heading, and the blocks of some sessions."""


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


def audit_report(audits: Sequence[SessionAudit], skipped: Sequence[Skipped] = ()) -> Report:
    """The audit of some sessions as a report; without any, the files that could not be read."""
    sessions = Sessions(tuple(audits), tuple(skipped))
    subject = shortened(audits[0].id, 40) if len(audits) == 1 else of(len(audits), "session")
    formats = sorted({one.format for one in audits if one.format})
    models = sorted({one.model for one in audits if one.model})
    about = [listed(formats, 3), listed(models, 3), of(sessions.calls, "model call")]
    sections = tuple(
        Section(anchor, name, heading, blocks)
        for anchor, name, heading, blocks_of in _SECTIONS
        if (blocks := tuple(blocks_of(sessions)))
    )
    title = f"Where did the tokens of {subject} go?"
    return Report(title, " · ".join(filter(None, about)), sessions.verdict, sections)
