"""What the rest of the run needed: every fact that a turn took from an earlier message, and whether its prompt still held it."""

from __future__ import annotations

from ..evidence.dependencies import DISTANCES, Dependency, within
from ..evidence.of_run import RunEvidence
from ..model import Lost, Missed, Sample
from . import LISTED, metric, missed

ORIGINS = ("user", "model", "result")


@metric(
    "needed.recall",
    unit="fraction",
    better="higher",
    aggregate="pooled",
    version=2,
    recall=True,
    origin=("", *ORIGINS),
    distance=("", *DISTANCES),
    when=lambda origin, distance: not (origin and distance),
)
def recall(evidence: RunEvidence, origin: str, distance: str) -> list[Sample]:
    """Share of dependencies that the prompt of their turn still held.

    0–1. A dependency is a fact in a model turn that an earlier message of its thread's full history held, whoever said it. `origin` looks at those
    that the user, the model or a tool result said first; `distance` at those last said 0 to 1 model turns ago (`near`), 2 to 5 (`mid`), 6 and more
    (`far`). One sample a turn for what was there, and one for each fact that was missing. What the detector cannot see (paraphrase, derived
    values) is in no number. No dependencies: no samples.

    Source: reuse distance and miss rate of cache research (Mattson et al. 1970)

    >>> from bench.metrics import example
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
    samples = [
        Sample(numerator=float(count), denominator=float(count), step=turn) for turn, count in held.items() if count
    ]
    samples += [Sample(numerator=0.0, denominator=1.0, step=item.turn, detail=missed(item)) for item in gone]
    return sorted(samples, key=lambda sample: sample.step or 0)


@metric("needed.faults", unit="turns", better="lower", aggregate="sum")
def faults(evidence: RunEvidence) -> list[Sample]:
    """Model turns with at least one dependency that their prompt did not hold.

    One sample a turn that depends on anything, 1 or 0, with the first fact that was missing. No dependencies: no samples.

    Source: page faults of virtual memory (Denning 1968)

    >>> from bench.metrics import example
    >>> [(sample.step, sample.numerator) for sample in faults(example())]
    [(3, 1.0)]
    """
    return [
        Sample(numerator=float(bool(gone)), step=turn, detail=gone[0] if gone else None)
        for turn, gone in _missed_by_turn(evidence).items()
    ]


@metric("needed.fault_rate", unit="fraction", better="lower", aggregate="pooled")
def fault_rate(evidence: RunEvidence) -> list[Sample]:
    """Share of model turns with at least one dependency that their prompt did not hold.

    0–1. One sample a run, over all of its model turns, those too that depend on nothing. No model turns: no samples.

    Source: page fault rate (Denning 1968)

    >>> from bench.metrics import example
    >>> [(sample.numerator, sample.denominator) for sample in fault_rate(example())]
    [(1.0, 2.0)]
    """
    turns = len(evidence.run.prompts)
    gone = sum(map(bool, _missed_by_turn(evidence).values()))
    return [Sample(numerator=float(gone), denominator=float(turns))] if turns else []


@metric("needed.survival", unit="fraction", better="higher", aggregate="pooled")
def survival(evidence: RunEvidence) -> list[Sample]:
    """Share of the dependencies whose every holder the strategy removed or rewrote that its own text still held.

    0–1. Its own text is a summary, a placeholder, the preview of a handle, a cut result. What messages hold that it left as they were is not
    counted, so that a summary is judged by what it adds. One sample a turn. Nothing removed or rewritten that was needed: no samples.

    Source: this project; the question is that of 002 Goal, what a summary keeps

    >>> from bench.metrics import example
    >>> [(sample.step, sample.numerator, sample.denominator) for sample in survival(example())]
    [(3, 1.0, 2.0)]
    """
    counts: dict[int, list[bool]] = {}
    for item in evidence.prompts.scan.judged:
        if not item.original:
            counts.setdefault(item.dependency.turn, []).append(item.present)
    return [
        Sample(numerator=float(sum(present)), denominator=float(len(present)), step=turn)
        for turn, present in counts.items()
    ]


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

    >>> from bench.metrics import example
    >>> refetches(example())
    []
    """
    return [
        Sample(
            numerator=float(bool(gone)),
            step=repeat.turn,
            call_id=repeat.call_id,
            detail=Lost(facts=gone[:LISTED]) if gone else None,
        )
        for repeat, gone in evidence.prompts.scan.repeats
    ]
