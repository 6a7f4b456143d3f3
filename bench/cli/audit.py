"""`bench audit`: what happened in recordings, without any strategy."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import click

from .options import FILE, limited, of_model, require_apart, warn_unlisted
from .saying import progress_bar, say


@click.command()
@click.argument("sessions", metavar="[FORMAT:]PATH...", nargs=-1, required=True)
@click.option("-o", "--output", "outputs", multiple=True, type=FILE, metavar="FILE",
              help="Write all of it: .html, .md, .txt or .json. May be given several times.")  # fmt: skip
@of_model
@limited
def audit(
    sessions: tuple[str, ...], outputs: tuple[Path, ...], model: str | None, call_s: float, memory_mib: int
) -> None:
    """Say what happened in recorded sessions: where the money went, what was shortened, what was read twice, what could be saved.

    PATH is a file, a folder (`~/.claude/projects`, `~/.codex/sessions`) or a pattern, in any format that is read. No strategy is needed.
    """
    from ..files.writing import write_together
    from ..plugins.apart import Limits
    from ..reports.audit import audit_bytes, audit_text, require_ending
    from ..run.auditing import audit as audited
    from ..text.wording import visible

    for path in outputs:
        require_ending(path)
    require_apart(outputs, [(Path(text), "a recording of this audit") for text in sessions])
    warn_unlisted(model)
    with progress_bar() as progress:
        found = audited(sessions, model=model, limits=Limits(call_s, memory_mib), progress=progress)
    terminal = sys.stdout.isatty()
    width = min(shutil.get_terminal_size().columns, 120) if terminal else 100
    say(audit_text(found.sessions, width=width, colour=terminal).rstrip())
    for file, reason in found.skipped[:3]:
        say(f"left out {visible(file)}: {visible(reason)}", err=True)
    if len(found.skipped) > 3:
        say(f"left out {len(found.skipped) - 3} more", err=True)
    write_together({path: audit_bytes(found.sessions, found.skipped, path) for path in outputs})
    for path in outputs:
        say(f"wrote {path}")
