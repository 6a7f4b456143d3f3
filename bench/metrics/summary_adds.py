"""What the words of a summary are worth: the same strategy beside itself with a writer that says nothing."""

from __future__ import annotations

from collections import Counter

from ..evidence.dependencies import DISTANCES, within
from ..evidence.of_run import RunEvidence
from ..model import Sample
from . import metric


@metric("needed.summary_adds", unit="fraction", better="higher", aggregate="pooled", distance=("", *DISTANCES))
def summary_adds(evidence: RunEvidence, distance: str) -> list[Sample]:
    """How much more of the dependencies the prompts held than they would with empty summaries.

    −1 to 1: the recall of the strategy less that of the same strategy with the writer `empty`, replayed beside it. What a masked or windowed
    history keeps by itself is in both, so that only the words are left. Below 0 where a summary pushed out of the window what was needed.
    `distance` as in `needed.recall`. One sample a turn that depends on anything. A run in which nothing was summarised: no samples.

    Source: "The Complexity Trap" (arXiv 2508.21433): masking does as well as summaries

    >>> from bench.metrics import example
    >>> summary_adds(example(), "")
    []
    """
    silent = evidence.silent
    if silent is None or not evidence.run.writer_calls or silent.run.failure is not None:
        return []
    with_words, without, depends = (Counter[int]() for _ in range(3))
    for counts, run in ((with_words, evidence), (without, silent)):
        for item in run.prompts.scan.judged:
            if distance and not within(item.dependency.distance, distance):
                continue
            counts[item.dependency.turn] += item.present
            depends[item.dependency.turn] += run is evidence
    return [
        Sample(numerator=float(with_words[turn] - without[turn]), denominator=float(count), step=turn)
        for turn, count in depends.items()
        if count
    ]
