"""Asking again: calls of the recorded run for something it had been told, which under a strategy it would have had to ask again."""

from __future__ import annotations

from ..evidence.presence import LISTED
from ..evidence.prompt_scan import prompt_scan
from ..model import Run, Sample, Trace
from . import metric


@metric("needed.refetches", unit="calls", better="lower", aggregate="sum", of_prompts=True)
def refetches(trace: Trace, run: Run) -> list[Sample]:
    """Repeated calls whose earlier answer the strategy had dropped by then: the run asks again for what it had been told.

    A repeated call has the function and arguments (or the command) of an earlier one of its thread, and gives at least one fact that the
    earlier result had told the recorded model as well. It counts where the prompt of its turn lacks such a fact. One sample a repeated
    call, 1 or 0, with command, `earlier` step and how many of the facts told `of` were gone in its detail, up to 20 of them listed. A call
    repeated to see a change counts too: it cannot be told from one repeated to be reminded. No repeated calls: no samples.

    Source: issue 4 "Needed"; design §4 "needed"

    >>> from bench.metrics import example
    >>> refetches(*example())
    []
    """
    return [
        Sample(
            numerator=float(bool(gone)),
            step=repeat.turn,
            call_id=repeat.call_id,
            detail={
                "command": repeat.command,
                "earlier": repeat.earlier.index,
                "gone": len(gone),
                "of": len(repeat.told),
                "lost": list(gone[:LISTED]),
            },
        )
        for repeat, gone in prompt_scan(trace, run).repeats
    ]
