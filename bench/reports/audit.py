"""An audit as a report: the cost of recorded sessions, their results and their cache."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

import msgspec

from ..model.audit import SessionAudit
from ..model.base import json_bytes
from ..model.compared import Skipped
from ..model.errors import BenchError, nearest
from .audit_reading import AuditReading
from .audit_sections import sections
from .blocks import Report
from .numbers import listed, of

FORMATS = {"html": "html", "markdown": "markdown", "text": "text"}
"""The formats of an audit beside JSON: the module that writes each."""


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
    audit = AuditReading(tuple(sessions), tuple(skipped))
    one = sessions[0].id if len(sessions) == 1 else of(len(sessions), "session")
    formats = sorted({one.format for one in sessions if one.format})
    models = sorted({one.model for one in sessions if one.model})
    about = [*(listed(names, 3) for names in (formats, models) if names), of(audit.calls, "model call")]
    return Report(f"Where did the tokens of {one} go?", " · ".join(about), audit.verdict, tuple(sections(audit)))
