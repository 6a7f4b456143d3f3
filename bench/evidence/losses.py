"""Losses that the samples of metrics tell of, result by result, by cause and by strategy; and findings that stored records change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from ..model import (
    Asked,
    Cause,
    Decision,
    Detail,
    FindingChange,
    Loss,
    Losses,
    Lost,
    MetricInfo,
    Missed,
    NeededAt,
    ResultOutcome,
    Sample,
    Told,
    ToolResult,
    Turned,
    compact_json,
    grouped,
)
from ..text.leaves import same
from ..text.wording import cut

Scored = Mapping[str, Sequence[Sample]]  # the samples of one run, by metric
NEEDED = "needed.recall"  # the metric whose samples name the turn that needed what is gone
LOST_IN_PROMPT, LOST_IN_STORE = "loss.fact_recall.end", "loss.fact_recall.stored"

MOST = 10  # the most losses of one metric that are kept
FACTS = 20
_FACT_CHARS = 120

MOST_CAUSES = 30  # the most causes of one case that are kept

PARTS = (
    ("loss.leaf_recall.end", "values of records"),
    ("loss.columns_kept.end", "columns of tables"),
    ("loss.rows_kept.end", "rows of tables"),
)
"""The parts that a structured result can lose, the largest last."""

KINDS = {
    "number": "numbers", "measure": "measures", "name": "names", "proper": "proper names", "path": "paths", "url": "addresses",
    "quoted": "quoted words", "date": "dates", "error": "errors", "exit_code": "exit codes", "span": "passages",
}  # fmt: skip
UNUSED = "facts that no later turn used"


def _uses(scored: Scored, metric: str = NEEDED) -> dict[int, list[tuple[NeededAt, Missed]]]:
    """The uses that found their fact gone: result's step → the turns that needed it."""
    samples = ((sample.step or 0, sample.detail) for sample in scored.get(metric, ()))
    missed = ((step, detail) for step, detail in samples if isinstance(detail, Missed))
    return grouped((detail.source, (NeededAt(turn=step, fact=detail.fact), detail)) for step, detail in missed)


def _lacking(scored: Scored, metric: str) -> dict[int, float]:
    """The steps of which something is lacking, with how much.

    >>> several = ((1, 2.0, 3.0), (2, 3.0, 3.0), (3, None, 3.0), (4, 1.0, None), (None, 1.0, 3.0))
    >>> _lacking({"m": [Sample(step=step, numerator=part, denominator=whole) for step, part, whole in several]}, "m")
    {1: 1.0}
    """
    return {
        sample.step: sample.denominator - sample.numerator
        for sample in scored.get(metric, ())
        if sample.step is not None and sample.numerator is not None and sample.denominator is not None
        if sample.denominator > sample.numerator
    }


def losses_of(
    results: Mapping[int, ToolResult], strategy: str, info: MetricInfo, scored: Scored
) -> Losses | None:  # fmt: skip
    """The worst losses that one metric found, those that most later turns needed first; None where it found none.

    `results` are the tool results by step.
    """
    found = _of_needs(scored, info.name)
    if not found and info.name.startswith("needed."):  # one that counts turns: the recalls tell what they missed
        found = _of_needs(scored, NEEDED)
    found = found or _of_shares(scored, info)
    if not found:
        return None
    found.sort(key=lambda loss: (-len(loss.needed_at), -loss.count, loss.step or 0))
    functions: dict[int | None, str] = {step: result.function for step, result in results.items()}
    worst = tuple(replace(_bounded(loss), function=functions.get(loss.step, "")) for loss in found[:MOST])
    return Losses(strategy=strategy, metric=info.name, worst=worst, places=len(found))


def _bounded(loss: Loss) -> Loss:
    needed = tuple(NeededAt(turn=item.turn, fact=item.fact[:_FACT_CHARS]) for item in loss.needed_at[:FACTS])
    wanted = {item.fact for item in needed}
    facts = sorted((fact[:_FACT_CHARS] for fact in loss.facts), key=lambda fact: fact not in wanted)[:FACTS]
    return replace(loss, facts=tuple(facts), needed_at=needed)


def _of_needs(scored: Scored, metric: str) -> list[Loss]:
    """One loss a result whose facts later turns missed."""
    by_step = {step: tuple(needed for needed, _ in uses) for step, uses in _uses(scored, metric).items()}
    return [
        Loss(step=step, facts=tuple(dict.fromkeys(item.fact for item in items)), count=len(items), needed_at=items)
        for step, items in by_step.items()
    ]


def _of_shares(scored: Scored, info: MetricInfo) -> list[Loss]:
    """One loss a sample that lacks something, or that counts something bad and can tell of it."""
    uses = _uses(scored)
    counts = info.better == "lower" and info.unit not in ("tokens", "usd")
    found = []
    for sample in scored.get(info.name, ()):
        if sample.numerator is None:
            continue
        if sample.denominator is not None:
            count = sample.denominator - sample.numerator
        else:
            count = sample.numerator if counts and sample.detail is not None else 0.0
        if count > 0:
            facts = sample.detail.facts if isinstance(sample.detail, Lost) else ()
            needs = {needed for needed, _ in uses.get(sample.step, ())} if sample.step is not None and facts else ()
            found.append(
                Loss(
                    step=sample.step,
                    facts=facts or _told(sample.detail),
                    count=count,
                    total=sample.denominator or 0.0,
                    needed_at=tuple(sorted(needs, key=lambda item: (item.turn, item.fact))),
                    differs=not facts,
                )
            )
    return found


def _told(detail: Detail | None) -> tuple[str, ...]:
    """The words of a sample's detail that names no facts."""
    if isinstance(detail, Turned):
        return (f"{detail.router} went to {detail.taken}, expected {detail.expected}",)
    if isinstance(detail, Asked) and detail.absent:
        return (f"{detail.question} {detail.expected} must not be in the {detail.where}",)
    if isinstance(detail, Asked):
        got = f", got {detail.got}" if detail.got else ""
        return (f"{detail.question} expected {detail.expected}{got}",)
    return (detail.text,) if isinstance(detail, Told) else ()


@dataclass(frozen=True)
class Damage:
    """The losses of one tool result under one strategy: uses that missed it, and facts lost in prompt and store."""

    strategy: str
    missed: tuple[NeededAt, ...]
    lost_in_prompt: float
    lost_in_store: float

    @property
    def badness(self) -> tuple[float, float]:
        """The order of damages, worst lowest: by uses that missed the result, then by facts lost."""
        return -len(self.missed), -(self.lost_in_prompt + self.lost_in_store)


def damages(samples: Mapping[str, Scored], results: Container[int]) -> dict[int, list[Damage]]:
    """Per result the damage that each strategy did; results without loss are left out.

    `results` are the steps of the tool results: what users and models had said is lost too, and shown elsewhere.
    """
    found: dict[int, list[Damage]] = {}
    for strategy, scored in samples.items():
        missed, in_prompt = _uses(scored), _lacking(scored, LOST_IN_PROMPT)
        in_store = _lacking(scored, LOST_IN_STORE)
        for step in sorted({*(step for step in missed if step in results), *in_prompt, *in_store}):
            gone = sorted((needed for needed, _ in missed.get(step, ())), key=lambda item: (item.turn, item.fact))
            damage = Damage(strategy, tuple(gone), in_prompt.get(step, 0.0), in_store.get(step, 0.0))
            found.setdefault(step, []).append(damage)
    return found


def causes(samples: Mapping[str, Scored], results: Mapping[int, ToolResult]) -> tuple[Cause, ...]:
    """Everything that some strategies (their samples by metric) lost on one case, grouped; what later turns missed most comes first.

    `results` are the tool results by step. Nothing lost: ().
    """
    found: dict[tuple[str, str, str], tuple[set[str], Counter[int]]] = {}  # strategies, and uses by step
    for strategy, scored in samples.items():
        missed = {step: [detail for _, detail in uses] for step, uses in _uses(scored).items()}
        parts = {step: what for metric, what in PARTS for step in _lacking(scored, metric)}
        for step in {*missed, *_lacking(scored, LOST_IN_PROMPT)}:
            uses = missed.get(step, [])
            what = _what(uses, parts.get(step, "")) if uses else UNUSED
            function = results[step].function if step in results else ""
            origin = uses[0].origin if uses and not function else ""
            strategies, places = found.setdefault((what, function, origin), (set(), Counter()))
            strategies.add(strategy)
            places[step] += len(uses)
    told = [
        Cause(what=what, function=function, origin=origin, strategies=tuple(sorted(strategies)), results=len(places),
              missed=places.total(), step=min(places, key=lambda step: (-places[step], step)))
        for (what, function, origin), (strategies, places) in found.items()
    ]  # fmt: skip
    return tuple(sorted(told, key=lambda item: (-item.missed, -item.results, item.what, item.function))[:MOST_CAUSES])


def _what(uses: Sequence[Missed], part: str) -> str:
    """The lost part of one message: that of its table or record, else facts of the kind that was missed most."""
    if part:
        return part
    kind = Counter(item.kind for item in uses).most_common(1)[0][0]
    return KINDS.get(kind, kind.replace("_", " "))


MAX_CHANGES = 10  # the most differences of one result that are listed
MAX_RESULTS = 4  # the most results of one run that are compared in detail
_VALUE_CHARS = 120
_DIFF_CHARS = 20_000  # findings longer than this as JSON are not compared in detail: deepdiff takes seconds on them


def judged(outcome: ResultOutcome) -> bool:
    """True if anything was evaluated or extracted from the untruncated record."""
    return outcome.evaluation_untruncated is not None or outcome.extraction_untruncated is not None


def agree(outcome: ResultOutcome) -> bool:
    """True if evaluation and extraction come out the same from both records."""
    evaluated = same_findings(outcome.evaluation_untruncated, outcome.evaluation)
    return evaluated and same_findings(outcome.extraction_untruncated, outcome.extraction)


def same_findings(untruncated: Any, stored: Any) -> bool:
    """True if two findings say the same; timestamps and the order of keys do not count, types do.

    >>> same_findings({"a": 1, "timestamp": 5}, {"a": 1}), same_findings({"a": 1}, {"a": 1.0})
    (True, False)
    """
    return same(_without_times(untruncated), _without_times(stored))


def _without_times(findings: Any) -> Any:
    """Findings without their timestamps, at any depth."""
    if isinstance(findings, dict):
        return {key: _without_times(item) for key, item in findings.items() if key != "timestamp"}
    if isinstance(findings, list | tuple):
        return [_without_times(item) for item in findings]
    return findings


def turned(decision: Decision) -> Turned:
    """A routing decision as samples and reports name it."""
    return Turned(router=decision.router, at=decision.at, expected=decision.expected, taken=decision.route,
                  expected_from=decision.expected_from)  # fmt: skip


def finding_changes(differing: Iterable[ResultOutcome]) -> tuple[FindingChange, ...]:
    """The changes of the first few outcomes whose findings differ. None differ: `()`."""
    return tuple(change for outcome in list(differing)[:MAX_RESULTS] for change in _changes(outcome))


def _changes(outcome: ResultOutcome) -> Iterator[FindingChange]:
    names = ("evaluation", "extraction")
    before = _without_times({name: getattr(outcome, f"{name}_untruncated") for name in names})
    after = _without_times({name: getattr(outcome, name) for name in names})
    if max(len(compact_json(before)), len(compact_json(after))) > _DIFF_CHARS:
        return
    from deepdiff import DeepDiff

    diff = DeepDiff(before, after, view="tree", ignore_nan_inequality=True, threshold_to_diff_deeper=0)
    found = [
        FindingChange(
            step=outcome.step,
            path=".".join(map(str, change.path(output_format="list"))),
            kind=kind,
            before=_shortened(change.t1),
            after=_shortened(change.t2),
        )
        for kind, of_kind in diff.items()
        for change in of_kind
    ]
    yield from sorted(found, key=lambda change: (change.path, change.kind))[:MAX_CHANGES]


def _shortened(value: Any) -> str:
    text = "" if type(value).__name__ == "NotPresent" else value if isinstance(value, str) else compact_json(value)
    return cut(text, _VALUE_CHARS)
