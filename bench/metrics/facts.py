"""Facts of tool results that are no longer there: in prompts, in the store, after compactions; behind a handle or lost."""

from __future__ import annotations

from ..evidence.of_run import RunEvidence
from ..model import Lost, ResultOutcome, Sample, ToolResult
from ..text.fact_kinds import states
from . import LISTED, example as example, metric, missed, of_result, sample, with_rest

PLACES = ("shown", "end", "stored")
KINDS = ("number", "name", "proper", "path", "url", "quoted", "date", "error", "measure", "exit_code")


@metric(
    "loss.fact_recall",
    unit="fraction",
    better="higher",
    aggregate="pooled",
    recall=True,
    kind=("", *KINDS),
    place=PLACES,
    when=lambda kind, place: not kind or place == "end",
)
def fact_recall(evidence: RunEvidence, kind: str, place: str) -> list[Sample]:
    """Share of a tool result's facts that are still there.

    0–1. `place`: `shown`, the first prompt after the result, in any of its messages; `end`, the last prompt of its thread; `stored`, what a
    later step can read back from the store (a record that is the untruncated value itself has lost nothing). `kind` looks at facts of one
    kind alone: those of the pattern, `measure` (a number that a unit follows, `36.5 mm`; also counted as number or name, and looked for
    without its unit), and `exit_code` (the code that the result states, stated again in such words in a message that shows it).
    One sample a result with facts and a later prompt in its thread; with a kind one for each result that lost some, and one for all others.
    No such result: no samples.

    Source: the recall of a set of keywords, as in "needle in a haystack" tests (Kamradt 2023); here every fact is a needle

    >>> [(sample.numerator, sample.denominator, sample.detail.facts) for sample in fact_recall(example(), "", "shown")]
    [(1.0, 2.0, ('a/b.csv',))]
    >>> [(sample.numerator, sample.denominator) for sample in fact_recall(example(), "path", "end")]
    [(0.0, 1.0)]
    """
    if kind == "exit_code":
        return _exit_codes(evidence)
    if kind:
        return _of_kind(evidence, kind, place)
    if place == "stored":
        return _stored(evidence)
    facts = evidence.texts.facts
    return [
        of_result(held.result, total - len(held.gone), total, held.gone)
        for held in evidence.prompts.scan.results[place]
        if (total := len(facts(held.result.text)))
    ]


def _stored(evidence: RunEvidence) -> list[Sample]:
    samples = []
    for result in evidence.trace.results:
        outcome, total = evidence.outcomes.get(result.index), len(evidence.texts.facts(result.text))
        if outcome is not None and total:
            lost = _lost_in_store(evidence, result, outcome)
            samples.append(of_result(result, total - len(lost), total, lost))
    return samples


def _lost_in_store(evidence: RunEvidence, result: ToolResult, outcome: ResultOutcome) -> list[str]:
    if outcome.stored is result.value:
        return []
    text = evidence.of_trace.stored_text(result, outcome)
    return [] if text == result.text else evidence.of_trace.lost_of(result, text)


def _of_kind(evidence: RunEvidence, kind: str, place: str) -> list[Sample]:
    kinds = evidence.of_trace.kinds
    samples = []
    kept = total = 0
    for held, lost_of in evidence.prompts.lost_by_kind[place]:
        facts, lost = kinds[held.result.index].get(kind, ()), lost_of.get(kind, ())
        kept, total = kept + len(facts) - len(lost), total + len(facts)
        if lost:
            samples.append(of_result(held.result, len(facts) - len(lost), len(facts), lost))
    return with_rest(samples, float(kept), float(total))


def _exit_codes(evidence: RunEvidence) -> list[Sample]:
    codes = evidence.of_trace.exit_codes
    samples = []
    total = 0
    for held in evidence.prompts.scan.results["end"]:
        code = codes.get(held.result.index)
        if code is not None:
            total += 1
            if not held.whole and not states(held.texts, code):
                samples.append(of_result(held.result, 0, 1, [str(code)]))
    return with_rest(samples, float(total - len(samples)), float(total))


TIER_PLACES = ("shown", "end", "needed")


@metric("loss.retrievable", unit="fraction", better="higher", aggregate="pooled", version=4, place=TIER_PLACES)
def retrievable(evidence: RunEvidence, place: str) -> list[Sample]:
    """Share of facts that are not in the prompt but behind a handle that it shows.

    0–1. The handle stands in the prompt whole, and resolving it gave a value that holds the fact. Whether an agent would resolve it is not known:
    an upper bound. `place`: `shown` and `end`, facts of results at their first and last prompt; `needed`, dependencies of later turns. One sample a
    result (or dependency) with such facts, and one for all others. No facts (no dependencies): no samples.

    Source: MemGPT (arXiv 2310.08560): what is paged out can be paged in

    >>> [(sample.step, sample.numerator, sample.denominator) for sample in retrievable(example(), "shown")]
    [(None, 0.0, 2.0)]
    """
    return _of_tier(evidence, "retrievable", place)


@metric("loss.lost", unit="fraction", better="lower", aggregate="pooled", version=4, place=TIER_PLACES)
def lost(evidence: RunEvidence, place: str) -> list[Sample]:
    """Share of facts that the prompt neither holds nor gives a way to.

    0–1. Not in any message of the prompt, and not behind a handle that it shows and that resolves to the fact. `place` and samples as in
    `loss.retrievable`.

    Source: MemGPT (arXiv 2310.08560)

    >>> [(sample.step, sample.numerator, sample.denominator) for sample in lost(example(), "needed")]
    [(3, 1.0, 1.0), (None, 0.0, 1.0)]
    """
    return _of_tier(evidence, "lost", place)


def _of_tier(evidence: RunEvidence, tier: str, place: str) -> list[Sample]:
    scan = evidence.prompts.scan
    if place == "needed":
        gone = [item for item, behind in evidence.missed if bool(behind) == (tier == "retrievable")]
        samples, total = [sample(1, item.turn, of=1, detail=missed(item)) for item in gone], len(scan.judged)
    else:
        counts = {held.result.index: len(evidence.texts.facts(held.result.text)) for held in scan.results[place]}
        samples, total = [], sum(counts.values())
        for item in evidence.tiers[place]:
            if facts := item.facts[tier]:
                at, call_id = item.held.result.index, item.held.result.call_id
                samples.append(sample(len(facts), at, call_id, of=counts[at], detail=Lost(facts=facts[:LISTED])))
    return with_rest(samples, sum(item.numerator or 0.0 for item in samples), float(total))


COLLAPSED = 0.5  # below this share of facts a history has collapsed


@metric("loss.compactions", unit="fraction", better="higher", aggregate="pooled", number=("1", "2", "3"))
def compactions(evidence: RunEvidence, number: str) -> list[Sample]:
    """Share of the facts told so far that the prompt of the first (second, third) compaction still holds.

    0–1. A compaction is a prompt for which the strategy took out or rewrote something of the history, or wrote a summary, once a fact was told.
    Facts are those of all results before it, one that two results tell counted twice; held is what any message holds. One sample a
    thread with so many compactions. None: no samples.

    Source: 002 Current Behavior: a summary is summarised again with what is old

    >>> compactions(example(), "1")
    []
    """
    place = int(number) - 1
    counted = [found[place] for found in evidence.prompts.scan.compactions.values() if len(found) > place]
    return [sample(item.kept, item.step, of=item.total) for item in counted]


@metric("loss.collapse_compaction", unit="compactions", better="higher", aggregate="pooled")
def collapse_compaction(evidence: RunEvidence) -> list[Sample]:
    """Number of the first compaction that left fewer than half of the facts told so far, from 1, the mean over threads.

    From 1 up. One sample a thread that collapsed, at the step of that compaction. Never collapsed: no samples, so that a strategy without a value
    never did.

    Source: 002 Current Behavior

    >>> collapse_compaction(example())
    []
    """
    samples = []
    for found in evidence.prompts.scan.compactions.values():
        collapsed = [sample(at, item.step, of=1) for at, item in enumerate(found, 1) if item.recall < COLLAPSED]
        samples += collapsed[:1]
    return samples
