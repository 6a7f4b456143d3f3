"""Audits of recordings, each from a replay of it as recorded and one with perfect foresight."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..evidence.session_audit import audit_of
from ..model import Trace
from ..model.audit import SessionAudit
from ..model.errors import BenchError
from ..strategies import parse_strategy
from ..traces.markers import cut_in
from .measuring import Measuring, RunSession, rare_collection
from .scenario import Traces, traces_given

if TYPE_CHECKING:
    from .comparing import Progress


@dataclass(frozen=True)
class Audits:
    """The audits of some recordings, sorted by id; and each skipped file, copy, and recording
    without model calls, with the reason."""

    sessions: tuple[SessionAudit, ...]
    skipped: tuple[tuple[str, str], ...] = ()


def audit(
    traces: Traces,
    base: Path | None = None,
    *,
    model: str | None = None,
    progress: Progress | None = None,
) -> Audits:
    """The audit of every recording; `traces` are given as to `compare`, and only one of several
    paths is in memory at a time.

    A recording without model calls is left out, and so is a copy of another one. `model` applies to
    recordings that name none. Raises TraceError for a path that cannot be read, BenchError if
    nothing is left.

    >>> from bench.metrics import example
    >>> audit(example().trace).sessions[0].charges.prompt_tokens
    40
    """
    source = traces_given(traces, base)
    left_out: list[tuple[str, str]] = []
    originals: dict[str, str] = {}  # the id of each recording by its hash
    counted: dict[str, str] = {}  # the session that is charged for each answer, by the answer's id

    def each() -> Iterator[SessionAudit]:
        """Yield the audit of each recording with a model call."""
        for done, trace in enumerate(source, 1):
            if originals.setdefault(trace.sha256, trace.id) != trace.id:
                left_out.append((trace.id, f"a copy of {originals[trace.sha256]}, counted there"))
            elif trace.model_turns:
                yield audited(trace, model, counted)
                for answer in filter(None, (turn.answer_id for turn in trace.model_turns)):
                    counted.setdefault(answer, trace.id)
            else:
                left_out.append((trace.id, "no model call was recorded"))
            if progress:
                progress(done)

    audits = sorted(each(), key=lambda item: item.id)
    skipped = (*source.skipped, *left_out)
    if not audits:
        why = "".join(f": {name}: {reason}" for name, reason in skipped[:1])
        raise BenchError(f"nothing to audit — no recording with a model call{why}")
    return Audits(tuple(audits), skipped)


@rare_collection()
def audited(
    trace: Trace, model: str | None = None, counted: Mapping[str, str] | None = None
) -> SessionAudit:
    """The audit of one recording; `counted` as in `audit_of`."""
    session = RunSession(trace, Measuring(model=model))
    minimum = session.evidence(parse_strategy("clairvoyant"))
    return audit_of(session.recorded, minimum, cut_in, counted or {})
