"""What the rest of the run needed: each later use of something that a tool result had said, and whether the prompt still held it."""

from __future__ import annotations

from ..evidence.of_run import RunEvidence
from ..evidence.uses import Use
from ..model import Lost, Missed, Sample
from . import LISTED, metric


@metric("needed.recall", unit="fraction", better="higher", aggregate="pooled")
def recall(evidence: RunEvidence) -> list[Sample]:
    """Share of first uses whose fact was in the prompt at that turn.

    0–1. A use is a fact in a model turn that first appeared in what the recorded model saw of a tool result; a first use is one that no turn
    of model, user or system had held before. One sample a turn for the uses that were there, and one for each that was missing, with fact,
    kind, source step and age in turns in its detail. A use whose fact is not in the untruncated result is left out. Nothing used: no samples.

    Source: arXiv 2603.09023

    >>> from bench.metrics import example
    >>> for sample in recall(example()):
    ...     print(sample.step, sample.numerator, sample.denominator, sample.detail)
    3 1.0 1.0 None
    3 0.0 1.0 Missed(fact='a/b.csv', kind='path', source=2, age=0)
    """
    return _recall(evidence, first=True)


@metric("needed.reuse_recall", unit="fraction", better="higher", aggregate="pooled")
def reuse_recall(evidence: RunEvidence) -> list[Sample]:
    """Share of reuses whose fact was in the prompt at that turn.

    0–1. A reuse is a use of what some turn had already repeated. Samples as in `needed.recall`. Nothing reused: no samples.

    Source: arXiv 2603.09023

    >>> from bench.metrics import example
    >>> reuse_recall(example())
    []
    """
    return _recall(evidence, first=False)


@metric("needed.dangling_steps", unit="turns", better="lower", aggregate="sum")
def dangling_steps(evidence: RunEvidence) -> list[Sample]:
    """Turns that lean on something gone: at least one use, first or again, that their prompt did not hold.

    One sample a turn that uses anything, 1 or 0. Nothing used: no samples.

    Source: page faults of virtual memory (Denning 1968)

    >>> from bench.metrics import example
    >>> [(sample.step, sample.numerator) for sample in dangling_steps(example())]
    [(3, 1.0)]
    """
    gone: dict[int, int] = {}
    for use, present in evidence.prompts.scan.judged:
        gone[use.turn] = gone.get(use.turn, 0) + (not present)
    return [Sample(numerator=float(count > 0), step=turn) for turn, count in gone.items()]


@metric("needed.refetches", unit="calls", better="lower", aggregate="sum")
def refetches(evidence: RunEvidence) -> list[Sample]:
    """Repeated calls whose earlier answer the strategy had dropped by then: the run asks again for what it had been told.

    A repeated call has the function and arguments (or the command) of an earlier one of its thread, and gives at least one fact that the
    earlier result had told the recorded model as well. It counts where the prompt of its turn lacks such a fact. One sample a repeated
    call, 1 or 0, with up to 20 of the facts that were gone. A call repeated to see a change counts too: it cannot be told from one repeated to be
    reminded. No repeated calls: no samples.

    Source: cache misses that are fetched again (Denning 1968)

    >>> from bench.metrics import example
    >>> refetches(example())
    []
    """
    return [
        Sample(
            numerator=float(bool(gone)), step=repeat.turn, call_id=repeat.call_id, detail=Lost(facts=gone[:LISTED]) if gone else None
        )
        for repeat, gone in evidence.prompts.scan.repeats
    ]  # fmt: skip


def _recall(evidence: RunEvidence, *, first: bool) -> list[Sample]:
    held: dict[int, int] = {}
    missed: list[Use] = []
    for use, present in evidence.prompts.scan.judged:
        if use.first is not first:
            continue
        held.setdefault(use.turn, 0)
        if present:
            held[use.turn] += 1
        else:
            missed.append(use)
    samples = [
        Sample(numerator=float(count), denominator=float(count), step=turn) for turn, count in held.items() if count
    ]
    samples.extend(
        Sample(
            numerator=0.0,
            denominator=1.0,
            step=use.turn,
            detail=Missed(fact=use.fact, kind=use.kind, source=use.source, age=use.age),
        )
        for use in missed
    )
    return sorted(samples, key=lambda sample: sample.step or 0)
