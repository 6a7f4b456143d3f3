"""How far a run gets before a strategy first sends it somewhere else."""

from __future__ import annotations

from ..model import Run, Sample, Trace
from . import metric


@metric("routing.first_divergence", unit="fraction", better="higher", aggregate="pooled")
def first_divergence(trace: Trace, run: Run) -> list[Sample]:
    """Share of the routing decisions that come before the first one that went another way than expected.

    0–1; 1 where none did, so that a run that never diverges counts for all of its decisions and not for nothing. What comes after a divergence was
    replayed along the recorded run and proves little. One sample a run: its step, the number of the decision from 0, its router, expected
    and taken route are in the detail, the step is None where none diverged. No decisions: no samples.

    Source: design §4 "routing", §3 "a divergence is recorded, not followed"

    >>> from bench.metrics import example
    >>> first_divergence(*example())
    []
    """
    total = len(run.decisions)
    if not total:
        return []
    for number, decision in enumerate(run.decisions):
        if decision.route != decision.expected:
            detail = {
                "decision": number,
                "router": decision.router,
                "expected": decision.expected,
                "taken": decision.route,
                "expected_from": decision.expected_from,
            }
            return [Sample(numerator=float(number), denominator=float(total), step=decision.step, detail=detail)]
    return [Sample(numerator=float(total), denominator=float(total))]
