"""Facts that the rest of the run needed: every fact that a turn took from an earlier message, and if its prompt still held it."""

from __future__ import annotations

from collections import Counter

from ..evidence.dependencies import DISTANCES, Dependency, within
from ..evidence.of_run import RunEvidence
from ..model import Lost, Missed, Sample, Told, grouped
from . import LISTED, example as example, metric, missed, sample

ORIGINS = ("user", "model", "result")

NOISE_FLOOR = (0.004, 0.029)
"""Fault rates that the detector gives where nothing was missed: of 122 recordings that ran without the text in question."""


@metric(
    "needed.recall",
    unit="fraction",
    better="higher",
    aggregate="pooled",
    version=4,
    recall=True,
    origin=("", *ORIGINS),
    distance=("", *DISTANCES),
    when=lambda origin, distance: not (origin and distance),
)
def recall(evidence: RunEvidence, origin: str, distance: str) -> list[Sample]:
    """Share of dependencies that the prompt of their turn still held.

    0–1. A dependency is a fact in a model turn that an earlier message of its thread had said, whoever said it, and that the recorded prompt of the
    turn held: what the recorded model could not see, it did not need. Where a recording does not say what the model saw, the full history
    counts. In a strategy's own text a fact of a field (a scalar of a structured result) is held only with its key, its column's name or a value that
    identifies its record in the same line or sentence, or where the field can be read back. `origin` looks at those
    that the user, the model or a tool result said first; `distance` at those last said 0 to 1 model turns ago (`near`), 2 to 5 (`mid`), 6 and more
    (`far`). One sample a turn for what was there, and one for each fact that was missing. What the detector cannot see (paraphrase, derived
    values) is in no number. No dependencies: no samples.

    Source: reuse distance and miss rate of cache research (Mattson et al. 1970)

    >>> for sample in recall(example(), "", "near"):
    ...     print(sample.step, sample.numerator, sample.denominator, sample.detail)
    3 1.0 1.0 None
    3 0.0 1.0 Missed(fact='a/b.csv', kind='path', source=2, origin='result', distance=0)
    """
    held: dict[int, int] = {}
    gone: list[Dependency] = []
    for item in evidence.prompts.scan.judged:
        wanted = item.dependency
        if (origin and wanted.origin != origin) or (distance and not within(wanted.distance, distance)):
            continue
        held.setdefault(wanted.turn, 0)
        if item.present:
            held[wanted.turn] += 1
        else:
            gone.append(wanted)
    samples = [sample(count, turn, of=count) for turn, count in held.items() if count]
    samples += [sample(0, item.turn, of=1, detail=missed(item)) for item in gone]
    return sorted(samples, key=lambda item: item.step or 0)


@metric("needed.faults", unit="turns", better="lower", aggregate="sum", version=3)
def faults(evidence: RunEvidence) -> list[Sample]:
    """Model turns with at least one dependency that their prompt did not hold.

    One sample a turn that depends on anything, 1 or 0, with the first fact that was missing. No dependencies: no samples.

    Source: page faults of virtual memory (Denning 1968)

    >>> [(sample.step, sample.numerator) for sample in faults(example())]
    [(3, 1.0)]
    """
    by_turn = _missed_by_turn(evidence).items()
    return [sample(bool(gone), turn, detail=gone[0] if gone else None) for turn, gone in by_turn]


@metric("needed.fault_rate", unit="fraction", better="lower", aggregate="pooled", version=3)
def fault_rate(evidence: RunEvidence) -> list[Sample]:
    """Share of model turns with at least one dependency that their prompt did not hold.

    0–1. The headline: a rate of 0.05 says that 1 turn in 20 would have missed something it used. One sample a run, over all of its model turns,
    those too that depend on nothing. Rates up to 0.029 (`NOISE_FLOOR`) may be noise of the detector. A fault is no forecast of an extra turn. No
    model turns: no samples.

    Source: page fault rate (Denning 1968)

    >>> [(sample.numerator, sample.denominator) for sample in fault_rate(example())]
    [(1.0, 2.0)]
    """
    turns = len(evidence.run.prompts)
    gone = sum(map(bool, _missed_by_turn(evidence).values()))
    return [sample(gone, of=turns)] if turns else []


@metric("needed.survival", unit="fraction", better="higher", aggregate="pooled", version=3)
def survival(evidence: RunEvidence) -> list[Sample]:
    """Share of the dependencies whose every holder the strategy removed or rewrote that its own text still held.

    0–1. Its own text is a summary, a placeholder, the preview of a handle, a cut result; facts of fields need their key there, see
    `needed.recall`. What messages hold that it left as they were is not counted, so that a summary is judged by what it adds. One sample a turn.
    Nothing removed or rewritten that was needed: no samples.

    Source: this project; the question is that of 002 Goal, what a summary keeps

    >>> [(sample.step, sample.numerator, sample.denominator) for sample in survival(example())]
    [(3, 1.0, 2.0)]
    """
    judged = evidence.prompts.scan.judged
    altered = grouped((item.dependency.turn, item.present) for item in judged if not item.original)
    return [sample(sum(present), turn, of=len(present)) for turn, present in altered.items()]


def _missed_by_turn(evidence: RunEvidence) -> dict[int, list[Missed]]:
    found: dict[int, list[Missed]] = {}
    for item in evidence.prompts.scan.judged:
        gone = found.setdefault(item.dependency.turn, [])
        if not item.present:
            gone.append(missed(item.dependency))
    return found


@metric("needed.refetches", unit="calls", better="lower", aggregate="sum")
def refetches(evidence: RunEvidence) -> list[Sample]:
    """Repeated calls whose earlier answer the strategy had dropped by then: the run asks again for what it had been told.

    A repeated call has the function and arguments (or the command) of an earlier one of its thread, and gives at least one fact that the
    earlier result had told the recorded model as well. It counts where the prompt of its turn lacks such a fact. One sample a repeated
    call, 1 or 0, with up to 20 of the facts that were gone. A call repeated to see a change counts too: it cannot be told from one repeated to be
    reminded. No repeated calls: no samples.

    Source: cache misses that are fetched again (Denning 1968)

    >>> refetches(example())
    []
    """
    return [
        sample(bool(gone), repeat.turn, repeat.call_id, detail=Lost(facts=gone[:LISTED]) if gone else None)
        for repeat, gone in evidence.prompts.scan.repeats
    ]


UNKNOWN = "nothing may be replayed here, so the reference is not known"


@metric("needed.tokens_over_oracle", unit="tokens", better="lower", aggregate="sum", version=4)
def tokens_over_oracle(evidence: RunEvidence) -> list[Sample]:
    """Prompt tokens beyond the fewest with which a verbatim selection reaches the same `needed.recall` on the same case.

    The selection is `floor:recall=…`: system turns and needed facts until they are needed last, the facts given up that cost most. It is a good
    selection, not a proven optimum, and it does not rewrite: below 0 a strategy beat it. No dependencies: no sample.

    Source: the clairvoyant optimum of cache research (Belady 1966)

    >>> tokens_over_oracle(example())[0].numerator
    20.0
    """
    return _beyond(evidence, "floor")


@metric("needed.tokens_over_clairvoyant", unit="tokens", better="lower", aggregate="sum", version=4)
def tokens_over_clairvoyant(evidence: RunEvidence) -> list[Sample]:
    """Prompt tokens beyond those of `clairvoyant` told to reach the same `needed.recall` on the same case.

    `clairvoyant:recall=…` keeps the whole conversation and of each result the lines still needed, so a strategy that drops conversation can
    be below 0. No dependencies: no sample.

    Source: the clairvoyant optimum of cache research (Belady 1966)

    >>> tokens_over_clairvoyant(example())[0].numerator
    20.0
    """
    return _beyond(evidence, "clairvoyant")


def _beyond(evidence: RunEvidence, reference: str) -> list[Sample]:
    judged = [item.present for item in evidence.prompts.scan.judged]
    if not judged:
        return []
    if evidence.oracle_tokens is None:
        return [Sample(numerator=None, reason=UNKNOWN)]
    theirs = evidence.oracle_tokens(reference, sum(judged) / len(judged))
    ours = sum(prompt.tokens for prompt in evidence.run.prompts)
    told = Told(text=f"{reference} needs {theirs} tokens for {sum(judged)} of {len(judged)}")
    return [sample(ours - theirs, detail=told)]


@metric(
    "needed.summary_adds", unit="fraction", better="higher", aggregate="pooled", version=2, distance=("", *DISTANCES)
)
def summary_adds(evidence: RunEvidence, distance: str) -> list[Sample]:
    """Share of the dependencies that the prompts held only thanks to the words of summaries.

    −1 to 1: the recall of the strategy less that of the same strategy with the writer `empty`, replayed beside it. What a masked or windowed
    history keeps by itself is in both, so that only the words are left. Below 0 where a summary pushed out of the window what was needed.
    `distance` as in `needed.recall`. One sample a turn that depends on anything. A run in which nothing was summarised: no samples.

    Source: "The Complexity Trap" (arXiv 2508.21433): masking does as well as summaries

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
    return [sample(with_words[turn] - without[turn], turn, of=count) for turn, count in depends.items() if count]
