"""What is lost of each tool result as text: the facts of its untruncated self that are no longer there."""

from __future__ import annotations

from collections.abc import Sequence

from ..evidence.presence import LISTED, missing_from
from ..evidence.prompt_scan import prompt_scan
from ..model import ResultOutcome, Run, Sample, ToolResult, Trace, as_text
from ..text.facts import facts_of
from . import metric


@metric("loss.fact_recall.shown", unit="fraction", better="higher", aggregate="pooled", of_prompts=True)
def shown(trace: Trace, run: Run) -> list[Sample]:
    """Share of a tool result's facts that the first prompt after it holds, in any of its messages.

    0–1. One sample a tool result with facts and a later prompt in its thread; its detail lists up to 20 `lost` ones, and says where the trace
    itself recorded only cut output (`truncated_at_source`). No such result: no samples.

    Source: design §4 "loss"

    >>> from bench.metrics import example
    >>> [(sample.numerator, sample.denominator, sample.detail) for sample in shown(*example())]
    [(1.0, 2.0, {'lost': ['a/b.csv']})]
    """
    return _in_prompts(trace, run, "shown")


@metric("loss.fact_recall.end", unit="fraction", better="higher", aggregate="pooled", of_prompts=True)
def end(trace: Trace, run: Run) -> list[Sample]:
    """Share of a tool result's facts that the last prompt of its thread holds, in any of its messages.

    0–1. Samples as in `loss.fact_recall.shown`.

    Source: design §4 "loss"

    >>> from bench.metrics import example
    >>> [(sample.step, sample.numerator, sample.denominator) for sample in end(*example())]
    [(2, 1.0, 2.0)]
    """
    return _in_prompts(trace, run, "end")


@metric("loss.fact_recall.stored", unit="fraction", better="higher", aggregate="pooled")
def stored(trace: Trace, run: Run) -> list[Sample]:
    """Share of a tool result's facts that a later step can read back from what was stored.

    0–1. A record that is the untruncated value itself has lost nothing, whatever envelope its text came in. One sample a tool result with
    facts; detail as in `loss.fact_recall.shown`.

    Source: design §4 "loss"

    >>> from bench.metrics import example
    >>> [(sample.step, sample.numerator, sample.denominator) for sample in stored(*example())]
    [(2, 1.0, 2.0)]
    """
    outcomes = {outcome.step: outcome for outcome in run.results}
    samples = []
    for result in trace.results:
        outcome = outcomes.get(result.index)
        if outcome is not None:
            lost = _lost_in_store(result, outcome)
            samples.extend(_sample(result, len(lost), lost[:LISTED]))
    return samples


def _lost_in_store(result: ToolResult, outcome: ResultOutcome) -> list[str]:
    if outcome.stored is result.value:
        return []
    text = as_text(outcome.stored)
    if text in (result.text, as_text(result.value)):
        return []
    return missing_from(text, facts_of(result.text))


def _in_prompts(trace: Trace, run: Run, place: str) -> list[Sample]:
    standings = prompt_scan(trace, run).standings[place]
    return [
        sample
        for standing in standings
        for sample in _sample(standing.result, len(standing.gone), standing.gone[:LISTED])
    ]


def _sample(result: ToolResult, lost: int, listed: Sequence[str]) -> list[Sample]:
    """One sample, or none for a result without facts."""
    total = len(facts_of(result.text))
    if not total:
        return []
    detail: dict[str, object] = {"lost": list(listed)} if lost else {}
    if result.truncated_at_source:
        detail["truncated_at_source"] = True
    return [
        Sample(
            numerator=float(total - lost),
            denominator=float(total),
            step=result.index,
            call_id=result.call_id,
            detail=detail,
        )
    ]
