"""Whether the run would still have been routed correctly."""

from __future__ import annotations

from ..model import Decision, Run, Sample, Trace
from . import metric

ABORT = "abort"
"""The route that ends a run because of a critical failure."""


@metric("routing.accuracy", unit="fraction", better="higher", aggregate="pooled")
def accuracy(trace: Trace, run: Run) -> list[Sample]:
    """Share of routing decisions that went where they should have gone.

    0–1. Expected is the labelled route, else the recorded one, else what the same router decides on untruncated records; the detail says which
    (`expected_from`), with `router`, `at`, `expected` and `taken`. One sample a decision; no routers: no samples.

    Source: design §4 "routing"

    >>> from bench.metrics import example
    >>> accuracy(*example())
    []
    """
    return [
        Sample(
            numerator=float(decision.route == decision.expected),
            denominator=1.0,
            step=decision.step,
            detail={
                "router": decision.router,
                "at": decision.at,
                "expected": decision.expected,
                "taken": decision.route,
                "expected_from": decision.expected_from,
            },
        )
        for decision in run.decisions
    ]


@metric("routing.missed_aborts", unit="decisions", better="lower", aggregate="sum")
def missed_aborts(trace: Trace, run: Run) -> list[Sample]:
    """Decisions that should have aborted the run and did not.

    One sample a decision whose expected route is `abort`, 1 or 0. No abort expected: no samples.

    Source: design §4 "routing"

    >>> from bench.metrics import example
    >>> missed_aborts(*example())
    []
    """
    return [_wrong(decision) for decision in run.decisions if decision.expected == ABORT]


@metric("routing.false_aborts", unit="decisions", better="lower", aggregate="sum")
def false_aborts(trace: Trace, run: Run) -> list[Sample]:
    """Decisions that aborted the run and should not have.

    One sample a decision whose expected route is not `abort`, 1 or 0. No such decision: no samples.

    Source: design §4 "routing"

    >>> from bench.metrics import example
    >>> false_aborts(*example())
    []
    """
    return [
        Sample(numerator=float(decision.route == ABORT), step=decision.step, detail={"router": decision.router})
        for decision in run.decisions
        if decision.expected != ABORT
    ]


def _wrong(decision: Decision) -> Sample:
    return Sample(
        numerator=float(decision.route != decision.expected), step=decision.step, detail={"router": decision.router}
    )
