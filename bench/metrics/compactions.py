"""What survives each compaction of one run: a summary of a summary, and the compaction where it collapses."""

from __future__ import annotations

from ..evidence.of_run import RunEvidence
from ..model import Sample
from . import metric

COLLAPSED = 0.5
"""Below this share of facts a history has collapsed."""


@metric("loss.compactions", unit="fraction", better="higher", aggregate="pooled", number=("1", "2", "3"))
def compactions(evidence: RunEvidence, number: str) -> list[Sample]:
    """Share of the facts told so far that the prompt of the first (second, third) compaction still holds.

    0–1. A compaction is a prompt for which the strategy took out or rewrote something of the history, or wrote a summary, once a fact was told.
    Facts are those of all results before it, one that two results tell counted twice; held is what any message holds. One sample a
    thread with so many compactions. None: no samples.

    Source: 002 Current Behavior: a summary is summarised again with what is old

    >>> from bench.metrics import example
    >>> compactions(example(), "1")
    []
    """
    place = int(number) - 1
    return [
        Sample(numerator=float(found[place].kept), denominator=float(found[place].total), step=found[place].step)
        for found in evidence.prompts.scan.compactions.values()
        if len(found) > place
    ]


@metric("loss.collapse_compaction", unit="compactions", better="higher", aggregate="pooled")
def collapse_compaction(evidence: RunEvidence) -> list[Sample]:
    """Which compaction first left fewer than half of the facts told so far, counted from 1, on average over threads.

    From 1 up. One sample a thread that collapsed, at the step of that compaction. Never collapsed: no samples, so that a strategy without a value
    never did.

    Source: 002 Current Behavior

    >>> from bench.metrics import example
    >>> collapse_compaction(example())
    []
    """
    samples = []
    for found in evidence.prompts.scan.compactions.values():
        for number, item in enumerate(found, start=1):
            if item.recall < COLLAPSED:
                samples.append(Sample(numerator=float(number), denominator=1.0, step=item.step))
                break
    return samples
