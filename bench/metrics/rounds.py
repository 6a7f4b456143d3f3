"""What survives each round of compaction of one run: a summary of a summary, and the round where it collapses."""

from __future__ import annotations

from ..evidence.prompt_scan import prompt_scan
from ..model import Run, Sample, Trace
from . import metric

COLLAPSED = 0.5
"""Below this share of facts a history has collapsed."""


@metric("loss.compactions.1", unit="fraction", better="higher", aggregate="pooled", of_prompts=True)
def first(trace: Trace, run: Run) -> list[Sample]:
    """Share of the facts told so far that the prompt of the first round of compaction still holds.

    0–1. A round is a prompt for which the strategy took out or rewrote something of the history, or wrote a summary, once a fact was told.
    Facts are the facts of all results before it, one that two results tell counted twice; held is what any message holds. One sample a
    thread with such a round; its detail has the whole `curve`: step and share of every round. No rounds: no samples.

    Source: issue 4 "Rounds"

    >>> from bench.metrics import example
    >>> first(*example())
    []
    """
    samples = []
    for number, sample in enumerate(_of_round(trace, run, 1)):
        rounds = list(prompt_scan(trace, run).rounds.values())[number]
        curve = [{"step": item.step, "recall": round(item.recall, 4)} for item in rounds]
        samples.append(
            Sample(
                numerator=sample.numerator, denominator=sample.denominator, step=sample.step, detail={"curve": curve}
            )
        )
    return samples


@metric("loss.compactions.2", unit="fraction", better="higher", aggregate="pooled", of_prompts=True)
def second(trace: Trace, run: Run) -> list[Sample]:
    """Share of the facts told so far that the prompt of the second round of compaction still holds.

    0–1. Samples as in `loss.compactions.1`, without the curve.

    Source: issue 4 "Rounds"

    >>> from bench.metrics import example
    >>> second(*example())
    []
    """
    return _of_round(trace, run, 2)


@metric("loss.compactions.3", unit="fraction", better="higher", aggregate="pooled", of_prompts=True)
def third(trace: Trace, run: Run) -> list[Sample]:
    """Share of the facts told so far that the prompt of the third round of compaction still holds.

    0–1. Samples as in `loss.compactions.1`, without the curve.

    Source: issue 4 "Rounds"

    >>> from bench.metrics import example
    >>> third(*example())
    []
    """
    return _of_round(trace, run, 3)


@metric("loss.collapse_compaction", unit="rounds", better="higher", aggregate="pooled", of_prompts=True)
def collapse_round(trace: Trace, run: Run) -> list[Sample]:
    """Which round of compaction first left fewer than half of the facts told so far, counted from 1, on average over threads.

    From 1 up. One sample a thread that collapsed, at the step of that round; its detail has the share left. Never collapsed: no samples, so that
    a strategy without a value never did.

    Source: issue 4 "Rounds"

    >>> from bench.metrics import example
    >>> collapse_round(*example())
    []
    """
    samples = []
    for rounds in prompt_scan(trace, run).rounds.values():
        for number, item in enumerate(rounds, start=1):
            if item.recall < COLLAPSED:
                detail = {"recall": round(item.recall, 4), "rounds": len(rounds)}
                samples.append(Sample(numerator=float(number), denominator=1.0, step=item.step, detail=detail))
                break
    return samples


def _of_round(trace: Trace, run: Run, number: int) -> list[Sample]:
    """One sample a thread that has a round of this number."""
    return [
        Sample(
            numerator=float(rounds[number - 1].kept),
            denominator=float(rounds[number - 1].total),
            step=rounds[number - 1].step,
        )
        for rounds in prompt_scan(trace, run).rounds.values()
        if len(rounds) >= number
    ]
