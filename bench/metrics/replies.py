"""What the agent could not say after an execution."""

from __future__ import annotations

from ..model import Run, Sample, Trace
from . import metric


@metric("routing.reply_errors", unit="replies", better="lower", aggregate="sum")
def reply_errors(trace: Trace, run: Run) -> list[Sample]:
    """Replies that could not be made: no summary was given, and the raw output was too long to be shown.

    One sample a reply, 1 or 0. No consumer, or no execution: no samples.

    Source: strategies.md §1 "Consumer"

    >>> from bench.metrics import example
    >>> reply_errors(*example())
    []
    """
    return [
        Sample(
            numerator=float(outcome.reply.path == "error"),
            step=outcome.step,
            call_id=outcome.call_id,
            detail={"reply": outcome.reply.text} if outcome.reply.path == "error" else {},
        )
        for outcome in run.results
        if outcome.reply is not None
    ]
