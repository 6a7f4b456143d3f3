"""Where each fact of every tool result is: in the prompt, derivable from it, behind a handle, or lost."""

from __future__ import annotations

from ..evidence.presence import LISTED
from ..evidence.prompt_scan import Standing, prompt_scan
from ..evidence.tiers import Countable, derivable, retrievable, tiers, visible_handles
from ..model import Run, Sample, ToolResult, Trace
from ..text.facts import facts_of
from . import metric, once, with_rest


@metric("loss.in_context.shown", unit="fraction", better="higher", aggregate="pooled")
def in_context_shown(trace: Trace, run: Run) -> list[Sample]:
    """Share of the facts of tool results that the first prompt after their result holds.

    0–1; with the three other tiers it sums to 1. Held is what any message of the prompt holds. Whether a model can use all that it is
    shown is not known: an upper bound.
    One sample a result with facts out of context, and one for all others. No facts: no samples.

    Source: issue 4 "Tiers"; design §4 "tier"

    >>> from bench.metrics import example
    >>> [(sample.step, sample.numerator, sample.denominator) for sample in in_context_shown(*example())]
    [(2, 1.0, 2.0)]
    """
    return _of_results(trace, run, "in_context", "shown")


@metric("loss.derivable.shown", unit="fraction", better="higher", aggregate="pooled")
def derivable_shown(trace: Trace, run: Run) -> list[Sample]:
    """Share of the facts of tool results that the first prompt after their result does not hold, but that follow from it.

    0–1; with the three other tiers it sums to 1. Numbers alone, by the two rules that `bench.evidence.tiers` writes down: a count of
    the result's own that what is shown states, or a count or sum over a table all of whose rows are shown.
    One sample a result with facts in this tier, up to 20 of them in its detail, and one for all others. No facts: no samples.

    Source: issue 4 "Tiers"; design §4 "tier"

    >>> from bench.metrics import example
    >>> [(sample.step, sample.numerator, sample.denominator) for sample in derivable_shown(*example())]
    [(None, 0.0, 2.0)]
    """
    return _of_results(trace, run, "derivable", "shown")


@metric("loss.retrievable.shown", unit="fraction", better="higher", aggregate="pooled")
def retrievable_shown(trace: Trace, run: Run) -> list[Sample]:
    """Share of the facts of tool results that are behind a handle that the first prompt after their result shows.

    0–1; with the three other tiers it sums to 1. Not in the prompt, nor derivable from it; the handle stands there whole, and
    resolving it gave a value that holds the fact. Whether an agent would resolve it is not known: an upper bound.
    One sample a result with facts in this tier, up to 20 of them in its detail, and one for all others. No facts: no samples.

    Source: issue 4 "Tiers"; design §4 "tier"

    >>> from bench.metrics import example
    >>> [(sample.step, sample.numerator, sample.denominator) for sample in retrievable_shown(*example())]
    [(None, 0.0, 2.0)]
    """
    return _of_results(trace, run, "retrievable", "shown")


@metric("loss.lost.shown", unit="fraction", better="lower", aggregate="pooled")
def lost_shown(trace: Trace, run: Run) -> list[Sample]:
    """Share of the facts of tool results that the first prompt after their result neither holds nor gives a way to.

    0–1; with the three other tiers it sums to 1. Not in the prompt, not derivable from it, and not behind a handle that it shows
    and that resolves to the fact.
    One sample a result with facts in this tier, up to 20 of them in its detail, and one for all others. No facts: no samples.

    Source: issue 4 "Tiers"; design §4 "tier"

    >>> from bench.metrics import example
    >>> [(sample.step, sample.numerator, sample.denominator) for sample in lost_shown(*example())]
    [(2, 1.0, 2.0)]
    """
    return _of_results(trace, run, "lost", "shown")


@metric("loss.in_context.end", unit="fraction", better="higher", aggregate="pooled")
def in_context_end(trace: Trace, run: Run) -> list[Sample]:
    """Share of the facts of tool results that the last prompt of their thread holds.

    0–1. Samples as in `loss.in_context.shown`.

    Source: issue 4 "Tiers"; design §4 "tier"

    >>> from bench.metrics import example
    >>> [(sample.step, sample.numerator, sample.denominator) for sample in in_context_end(*example())]
    [(2, 1.0, 2.0)]
    """
    return _of_results(trace, run, "in_context", "end")


@metric("loss.derivable.end", unit="fraction", better="higher", aggregate="pooled")
def derivable_end(trace: Trace, run: Run) -> list[Sample]:
    """Share of the facts of tool results that the last prompt of their thread does not hold, but that follow from it.

    0–1. Samples as in `loss.derivable.shown`.

    Source: issue 4 "Tiers"; design §4 "tier"

    >>> from bench.metrics import example
    >>> [(sample.step, sample.numerator, sample.denominator) for sample in derivable_end(*example())]
    [(None, 0.0, 2.0)]
    """
    return _of_results(trace, run, "derivable", "end")


@metric("loss.retrievable.end", unit="fraction", better="higher", aggregate="pooled")
def retrievable_end(trace: Trace, run: Run) -> list[Sample]:
    """Share of the facts of tool results that are behind a handle that the last prompt of their thread shows.

    0–1. Samples as in `loss.retrievable.shown`.

    Source: issue 4 "Tiers"; design §4 "tier"

    >>> from bench.metrics import example
    >>> [(sample.step, sample.numerator, sample.denominator) for sample in retrievable_end(*example())]
    [(None, 0.0, 2.0)]
    """
    return _of_results(trace, run, "retrievable", "end")


@metric("loss.lost.end", unit="fraction", better="lower", aggregate="pooled")
def lost_end(trace: Trace, run: Run) -> list[Sample]:
    """Share of the facts of tool results that the last prompt of their thread neither holds nor gives a way to.

    0–1. Samples as in `loss.lost.shown`.

    Source: issue 4 "Tiers"; design §4 "tier"

    >>> from bench.metrics import example
    >>> [(sample.step, sample.numerator, sample.denominator) for sample in lost_end(*example())]
    [(2, 1.0, 2.0)]
    """
    return _of_results(trace, run, "lost", "end")


@metric("loss.in_context.needed", unit="fraction", better="higher", aggregate="pooled")
def in_context_needed(trace: Trace, run: Run) -> list[Sample]:
    """Share of the later uses of facts whose fact was in the prompt of that turn.

    0–1; with the three others of `.needed` it sums to 1. Uses as in `needed.recall`, first ones and reuses together. One sample for all.
    Nothing used: no samples.

    Source: issue 4 "Tiers"; design §4 "tier"

    >>> from bench.metrics import example
    >>> [(sample.step, sample.numerator, sample.denominator) for sample in in_context_needed(*example())]
    [(None, 1.0, 2.0)]
    """
    return _needed(trace, run, "in_context")


@metric("loss.derivable.needed", unit="fraction", better="higher", aggregate="pooled")
def derivable_needed(trace: Trace, run: Run) -> list[Sample]:
    """Share of the later uses of facts whose fact was not in the prompt of that turn but follows from it.

    0–1; with the three others of `.needed` it sums to 1. Uses as in `needed.recall`, first ones and reuses; tiers as in `loss.derivable.shown`.
    One sample a use in this tier, with its fact and source step, and one for all others. Nothing used: no samples.

    Source: issue 4 "Tiers"; design §4 "tier"

    >>> from bench.metrics import example
    >>> [(sample.step, sample.numerator, sample.denominator) for sample in derivable_needed(*example())]
    [(None, 0.0, 2.0)]
    """
    return _needed(trace, run, "derivable")


@metric("loss.retrievable.needed", unit="fraction", better="higher", aggregate="pooled")
def retrievable_needed(trace: Trace, run: Run) -> list[Sample]:
    """Share of the later uses of facts whose fact was behind a handle in the prompt of that turn.

    0–1; with the three others of `.needed` it sums to 1. Uses as in `needed.recall`, first ones and reuses; tiers as in `loss.retrievable.shown`.
    One sample a use in this tier, with its fact and source step, and one for all others. Nothing used: no samples.

    Source: issue 4 "Tiers"; design §4 "tier"

    >>> from bench.metrics import example
    >>> [(sample.step, sample.numerator, sample.denominator) for sample in retrievable_needed(*example())]
    [(None, 0.0, 2.0)]
    """
    return _needed(trace, run, "retrievable")


@metric("loss.lost.needed", unit="fraction", better="lower", aggregate="pooled")
def lost_needed(trace: Trace, run: Run) -> list[Sample]:
    """Share of the later uses of facts whose fact was neither in the prompt of that turn nor to be had from it.

    0–1; with the three others of `.needed` it sums to 1. Uses as in `needed.recall`, first ones and reuses; tiers as in `loss.lost.shown`.
    One sample a use in this tier, with its fact and source step, and one for all others. Nothing used: no samples.

    Source: issue 4 "Tiers"; design §4 "tier"

    >>> from bench.metrics import example
    >>> [(sample.step, sample.numerator, sample.denominator) for sample in lost_needed(*example())]
    [(3, 1.0, 1.0), (None, 0.0, 1.0)]
    """
    return _needed(trace, run, "lost")


_Judged = list[tuple[Standing, dict[str, tuple[str, ...]]]]
"""Results that have facts out of context, with these by tier."""


def _judged(trace: Trace, run: Run) -> dict[str, _Judged]:
    return once(run, "_tiers", lambda: _judge(trace, run))


def _judge(trace: Trace, run: Run) -> dict[str, _Judged]:
    visible, shown_by = visible_handles(trace, run)
    outcomes = {outcome.step: outcome for outcome in run.results}

    def judge(standing: Standing, reachable: bool) -> tuple[Standing, dict[str, tuple[str, ...]]]:
        result = standing.result

        def behind() -> list[str]:
            return retrievable(result, outcomes[result.index], standing.gone) if reachable else []

        return standing, tiers(standing, _derivable(trace, standing), behind)

    found: dict[str, _Judged] = {}
    for place in ("shown", "end"):
        steps = visible.get(place, frozenset())
        found[place] = [
            judge(standing, standing.result.index in steps)
            for standing in prompt_scan(trace, run).standings[place]
            if standing.gone
        ]
    found["needed"] = []
    for use, standing in prompt_scan(trace, run).missed:
        outcome = outcomes.get(use.source)
        handle = outcome.record.handle if outcome else None
        found["needed"].append(judge(standing, handle is not None and handle in shown_by.get(use.turn, ())))
    return found


def _derivable(trace: Trace, standing: Standing) -> frozenset[str]:
    """What follows from the texts that show a result, found once for all strategies that show the same."""
    if not standing.texts:
        return frozenset()
    known: dict[tuple[int, tuple[str, ...]], frozenset[str]] = once(trace, "_derivable", dict)
    key = standing.result.index, standing.texts
    if key not in known:
        countable, candidates = _countable(trace, standing.result)
        found = derivable(standing.result, standing.texts, candidates, countable) if candidates else ()
        known[key] = frozenset(found)
    return known[key]


def _countable(trace: Trace, result: ToolResult) -> tuple[Countable, list[str]]:
    """What can be counted in a result, and which of its facts could follow from that at all."""
    known: dict[int, tuple[Countable, list[str]]] = once(trace, "_countable", dict)
    if result.index not in known:
        numbers = [fact for fact, kind in facts_of(result.text).items() if kind == "number"]
        countable = Countable(result)
        known[result.index] = countable, countable.candidates(numbers)
    return known[result.index]


def _of_results(trace: Trace, run: Run, tier: str, place: str) -> list[Sample]:
    total = sum(len(facts_of(standing.result.text)) for standing in prompt_scan(trace, run).standings[place])
    samples = []
    count = total if tier == "in_context" else 0
    for standing, by_tier in _judged(trace, run)[place]:
        result, facts = standing.result, by_tier.get(tier, ())
        of_result = len(facts_of(result.text))
        if tier == "in_context":
            count -= len(standing.gone)
            kept = of_result - len(standing.gone)
        elif facts:
            count += len(facts)
            kept = len(facts)
        else:
            continue
        samples.append(
            Sample(
                numerator=float(kept),
                denominator=float(of_result),
                step=result.index,
                call_id=result.call_id,
                detail={"facts": list(facts[:LISTED])} if facts else {},
            )
        )
    return with_rest(samples, float(count), float(total))


def _needed(trace: Trace, run: Run, tier: str) -> list[Sample]:
    found = prompt_scan(trace, run)
    total = len(found.judged)
    if tier == "in_context":
        return with_rest([], float(total - len(found.missed)), float(total))
    samples = [
        Sample(numerator=1.0, denominator=1.0, step=use.turn, detail={"fact": use.fact, "source": use.source})
        for (use, _), (_, by_tier) in zip(found.missed, _judged(trace, run)["needed"], strict=True)
        if tier in by_tier
    ]
    return with_rest(samples, float(len(samples)), float(total))
