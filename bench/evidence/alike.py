"""What is measured once for all runs of a trace whose prompts are the same: many strategies show the same thing on many traces."""

from __future__ import annotations

from typing import Any

from ..model import Run, Trace


def alike(trace: Trace, run: Run) -> dict[str, Any]:
    """What is kept for this run and every other of its trace that showed the model exactly the same, by the name of whatever keeps it.

    The same are prompts, rounds of compaction, and the message that first showed each result. What a strategy stored, how it judged
    and where it went may differ: what is kept here must not depend on these. Empty on first sight.

    >>> import msgspec
    >>> from bench.metrics import example
    >>> trace, run = example()
    >>> alike(trace, run)["seen"] = True
    >>> alike(trace, msgspec.structs.replace(run, strategy="other")), alike(trace, msgspec.structs.replace(run, prompts=()))
    ({'seen': True}, {})
    """
    kept: dict[str, Any] | None = run.__dict__.get("_alike")
    if kept is None:
        kept = run.__dict__["_alike"] = trace.__dict__.setdefault("_alike", {}).setdefault(_shown_by(run), {})
    return kept


def _shown_by(run: Run) -> tuple[object, ...]:
    return (
        tuple((key, message.step, message.text) for key, message in run.held_messages.items()),
        tuple((prompt.thread, prompt.step, prompt.compacted, prompt.splices) for prompt in run.prompts),
        tuple((outcome.step, outcome.shown) for outcome in run.results),
        tuple(call.step for call in run.writer_calls),
    )
