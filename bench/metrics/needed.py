"""What the rest of the run needed: each later use of something that a tool result had said, and whether the prompt still held it."""

from __future__ import annotations

from ..evidence.prompt_scan import prompt_scan
from ..evidence.uses import Use, uses
from ..model import Run, Sample, Trace
from . import metric


@metric("needed.recall", unit="fraction", better="higher", aggregate="pooled", of_prompts=True)
def recall(trace: Trace, run: Run) -> list[Sample]:
    """Share of first uses whose fact was in the prompt at that turn.

    0–1. A use is a fact in a model turn that first appeared in what the recorded model saw of a tool result; a first use is one that no turn
    of model, user or system had held before. One sample a turn for the uses that were there, and one for each that was missing, with fact,
    kind, source step and age in turns in its detail. A use whose fact is not in the untruncated result is left out; the first sample counts
    these as `recorded_only`. Nothing used: no samples.

    Source: design §4 "needed"; arXiv 2603.09023

    >>> from bench.metrics import example
    >>> for sample in recall(*example()):
    ...     print(sample.step, sample.numerator, sample.denominator, sample.detail)
    3 1.0 1.0 {}
    3 0.0 1.0 {'fact': 'a/b.csv', 'kind': 'path', 'source': 2, 'age': 0}
    """
    return _recall(trace, run, first=True)


@metric("needed.reuse_recall", unit="fraction", better="higher", aggregate="pooled", of_prompts=True)
def reuse_recall(trace: Trace, run: Run) -> list[Sample]:
    """Share of reuses whose fact was in the prompt at that turn.

    0–1. A reuse is a use of what some turn had already repeated. Samples as in `needed.recall`. Nothing reused: no samples.

    Source: design §4 "needed"

    >>> from bench.metrics import example
    >>> reuse_recall(*example())
    []
    """
    return _recall(trace, run, first=False)


@metric("needed.dangling_steps", unit="turns", better="lower", aggregate="sum", of_prompts=True)
def dangling_steps(trace: Trace, run: Run) -> list[Sample]:
    """Turns that lean on something gone: at least one use, first or again, that their prompt did not hold.

    One sample a turn that uses anything, 1 or 0. Nothing used: no samples.

    Source: design §4 "needed"

    >>> from bench.metrics import example
    >>> [(sample.step, sample.numerator) for sample in dangling_steps(*example())]
    [(3, 1.0)]
    """
    gone: dict[int, int] = {}
    for use, present in prompt_scan(trace, run).judged:
        gone[use.turn] = gone.get(use.turn, 0) + (not present)
    return [Sample(numerator=float(count > 0), step=turn) for turn, count in gone.items()]


@metric("needed.age", unit="turns", better="higher", aggregate="pooled", of_prompts=True)
def age(trace: Trace, run: Run) -> list[Sample]:
    """How many turns after its result a missing fact was needed, on average over all missing uses.

    From 0 up: 0 is the turn right after the result. Of two strategies that miss equally often, the higher one kept the recent past. One sample
    a missing use, first or again. Nothing missing: no samples.

    Source: design §4 "needed"

    >>> from bench.metrics import example
    >>> [(sample.numerator, sample.denominator) for sample in age(*example())]
    [(0.0, 1.0)]
    """
    return [
        Sample(numerator=float(_age(use)), denominator=1.0, step=use.turn, detail=_missed(use))
        for use, present in prompt_scan(trace, run).judged
        if not present
    ]


def _recall(trace: Trace, run: Run, *, first: bool) -> list[Sample]:
    held: dict[int, int] = {}
    missed: list[Use] = []
    for use, present in prompt_scan(trace, run).judged:
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
    samples.extend(Sample(numerator=0.0, denominator=1.0, step=use.turn, detail=_missed(use)) for use in missed)
    samples.sort(key=lambda sample: sample.step or 0)
    excluded = sum(use.recorded_only and use.first is first for use in uses(trace))
    if samples and excluded:
        detail = {**samples[0].detail, "recorded_only": excluded}
        samples[0] = Sample(
            numerator=samples[0].numerator, denominator=samples[0].denominator, step=samples[0].step, detail=detail
        )
    return samples


def _age(use: Use) -> int:
    return use.turn_number - use.source_turn


def _missed(use: Use) -> dict[str, str | int]:
    return {"fact": use.fact, "kind": use.kind, "source": use.source, "age": _age(use)}
