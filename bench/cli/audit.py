"""`bench audit`: what happened in recordings, without any strategy."""

from __future__ import annotations

from pathlib import Path

import click

from .options import FILE, all_tables, of_model, require_reports, warn_unlisted
from .saying import progress_line, say, screen


@click.command()
@click.argument("sessions", metavar="[FORMAT:]PATH...", nargs=-1, required=True)
@click.option("-o", "--output", "outputs", multiple=True, type=FILE, metavar="FILE",
              help="Write all of it: .html, .md or .json. May be given several times.")  # fmt: skip
@of_model
@all_tables
def audit(
    sessions: tuple[str, ...], outputs: tuple[Path, ...], model: str | None, verbose: bool
) -> None:
    """Show what recorded sessions cost, and what was lost in them.

    Where the prompt cache broke and why, what was cut, what was read twice. PATH is a file, a
    folder (`~/.claude/projects`, `~/.codex/sessions`) or a pattern.
    """
    from ..files.writing import write_together
    from ..model.compared import Skipped
    from ..reports import format_of
    from ..reports.audit import FORMATS, audit_rendered, audit_report
    from ..run.audits import audit as audited

    forms = {path: format_of(path, among=FORMATS) for path in outputs}
    require_reports(outputs)
    warn_unlisted(model)
    with progress_line() as progress:
        audits = audited(sessions, model=model, progress=progress)
    skipped = [Skipped(path=path, reason=reason) for path, reason in audits.skipped]
    write_together(
        {
            path: audit_rendered(audits.sessions, form, skipped).encode("utf-8", "replace")
            for path, form in forms.items()
        }
    )
    for path in outputs:
        say(f"wrote {path}")
    report = audit_report(audits.sessions, skipped)
    say(screen([report], verbose=verbose), coloured=True)
