"""Results and words that a strategy changed, facts that it invented, failures that it hid: what decides if it may be shipped at all."""

from __future__ import annotations

from ..evidence.changed import hides_failure
from ..evidence.of_run import RunEvidence
from ..model import Lost, Sample, Told
from . import LISTED, example as example, metric, sample


@metric("changed.values", unit="values", better="lower", aggregate="sum")
def values(evidence: RunEvidence) -> list[Sample]:
    """Values that a message shows otherwise than the tool returned them, the model gave them, or the user and the system said them.

    Must be 0. A value of a message that shows a result is held against the result's record that it agrees with most, under the same key: JSON,
    Python literals, CSV, Markdown and aligned tables, TOON, lines `key: value`, and lines that are otherwise alike. Fewer digits, separators, units,
    other layout or order, and text cut short are no change; a value that is absent is lost and not changed. One sample a result with changed
    values, and one of 0 for all others. No prompts: no samples.

    Source: 004 Issue Analysis "incorrect scientific conclusions"

    >>> [sample.numerator for sample in values(example())]
    [0.0]
    """
    found: dict[int, dict[str, None]] = {}
    for own in evidence.own.texts:
        step = own.message.step
        if step is not None and (own.result is not None or own.message.kind in ("user", "system")):
            found.setdefault(step, {}).update(dict.fromkeys(map(str, evidence.of_trace.changes(step, own.text))))
    for step, changed in evidence.own.arguments.items():
        found.setdefault(step, {}).update(changed)
    samples = [
        sample(len(changes), step, detail=Lost(facts=tuple(changes)[:LISTED]))
        for step, changes in sorted(found.items())
        if changes
    ]
    return [*samples, sample(0)] if evidence.run.prompts else []


@metric("changed.invented", unit="fraction", better="lower", aggregate="pooled")
def invented(evidence: RunEvidence) -> list[Sample]:
    """Share of the facts in a strategy's own text that nothing before had said.

    0–1, at most 0.02. Its own text is every message that it wrote and every result that it rewrote. No inventions are names of handles, labels, and
    numbers that can be worked out: counts of what is there or left out, figures of columns, rounded numbers. A message of somebody else into which
    it puts an order to the reader counts whole. One sample a text with inventions, and one for all others, of at least one fact. No prompts: no
    samples.

    Source: "hallucination rate" of summarisation research (Maynez et al. 2020, arXiv 2005.00661)

    >>> [(sample.numerator, sample.denominator) for sample in invented(example())]
    [(0.0, 2.0)]
    """
    found = evidence.own.invented
    samples = [
        sample(item.count, item.own.prompt, of=item.total, detail=Lost(facts=item.facts[:LISTED]))
        for item in found
        if item.facts
    ]
    rest = sum(item.total for item in found if not item.facts)
    if rest or not samples:
        samples.append(sample(0, of=max(1, rest)))
    return samples if evidence.run.prompts else []


@metric("changed.errors_hidden", unit="results", better="lower", aggregate="sum")
def errors_hidden(evidence: RunEvidence) -> list[Sample]:
    """Results that failed and that some message shows without saying so.

    Must be 0. A result failed where its exit code, its flag or the beginning of its text says so. A message still says so with any word for a
    failure; one that says that something was left out, or that it is the same as an equal result before, hides nothing, but one that only says "ok"
    does. One sample a result that failed, 1 or 0, and one of 0. No prompts: no samples.

    Source: 004 §1.2: a step that failed must be seen to have failed

    >>> [sample.numerator for sample in errors_hidden(example())]
    [0.0]
    """
    hidden: dict[int, str] = {}
    for own in evidence.own.texts:
        failed = own.result if own.result is not None and own.result.index in evidence.of_trace.failed else None
        if failed is not None and hides_failure(failed, own.text):
            hidden.setdefault(failed.index, own.text)
    told = {step: Told(text=f"shown as {text[:200]!r}") for step, text in hidden.items()}
    samples = [
        sample(result.index in hidden, result.index, result.call_id, detail=told.get(result.index))
        for result in evidence.trace.results
        if result.index in evidence.of_trace.failed
    ]
    return [*samples, sample(0)] if evidence.run.prompts else []
