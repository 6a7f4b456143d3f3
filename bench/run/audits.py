"""Audits of recordings: each replayed as it was, and once more with perfect foresight."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..evidence.session_audit import audit_of
from ..model import Trace
from ..model.audit import SessionAudit
from ..model.errors import BenchError
from ..strategies import parse_strategy
from ..traces import Paths, TraceSource
from ..traces.markers import cut_in
from .measuring import Measuring, RunSession, rare_collection

if TYPE_CHECKING:
    from .measured_runs import Progress


@dataclass(frozen=True)
class Audits:
    """The audits of some recordings, by id, and the files that were left out, each with the reason."""

    sessions: tuple[SessionAudit, ...]
    skipped: tuple[tuple[str, str], ...] = ()


def audit(
    paths: Paths,
    base: Path | None = None,
    *,
    model: str | None = None,
    progress: Progress | None = None,
) -> Audits:
    """The audit of every recording of some paths; one at a time is in memory.

    A recording without model calls is left out. `model` is that of recordings which name none.
    Raises TraceError for a path that cannot be read, BenchError where nothing is left.

    >>> from bench.metrics import example
    >>> audited(example().trace).charges.prompt_tokens
    40
    """
    source = TraceSource(paths, base)
    silent: list[tuple[str, str]] = []

    def each() -> Iterator[SessionAudit]:
        for done, trace in enumerate(source, 1):
            if trace.model_turns:
                yield audited(trace, model)
            else:
                silent.append((trace.id, "no model call was recorded"))
            if progress:
                progress(done, None)

    audits = sorted(each(), key=lambda item: item.id)
    skipped = (*source.skipped, *silent)
    if not audits:
        first = f": {skipped[0][0]}: {skipped[0][1]}" if skipped else ""
        raise BenchError(f"nothing to audit — no recording with a model call{first}")
    return Audits(tuple(audits), skipped)


@rare_collection()
def audited(trace: Trace, model: str | None = None) -> SessionAudit:
    """The audit of one recording."""
    session = RunSession(trace, Measuring((), model=model))
    minimum = session.evidence(parse_strategy("clairvoyant"))
    return audit_of(session.recorded, minimum, cut_in)
