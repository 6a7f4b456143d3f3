"""What samples say was lost, result by result: what a verdict names when a gate fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ..model import Asked, Detail, Loss, Losses, Lost, MetricInfo, Missed, NeededAt, Sample, Told, Trace, Turned

NEEDS = ("needed.recall",)
"""The metrics whose samples name the turn that needed what is gone."""

MOST = 10
"""How many losses of one metric are kept."""

FACTS = 20
_FACT_CHARS = 120


def losses_of(trace: Trace, strategy: str, info: MetricInfo, samples: Mapping[str, Sequence[Sample]]) -> Losses | None:
    """The worst losses that one metric found, those that most later turns needed first; None where it found none.

    `samples` are those of every metric of the run, by name.
    """
    functions: dict[int | None, str] = {result.index: result.function for result in trace.results}
    found = [replace(loss, function=functions.get(loss.step, "")) for loss in _losses(info, samples)]
    if not found:
        return None
    found.sort(key=lambda loss: (-len(loss.needed_at), -loss.count, loss.step or 0))
    return Losses(strategy=strategy, metric=info.name, worst=tuple(map(_bounded, found[:MOST])), places=len(found))


def _bounded(loss: Loss) -> Loss:
    needed = tuple(NeededAt(turn=item.turn, fact=item.fact[:_FACT_CHARS]) for item in loss.needed_at[:FACTS])
    wanted = {item.fact for item in needed}
    facts = sorted((fact[:_FACT_CHARS] for fact in loss.facts), key=lambda fact: fact not in wanted)[:FACTS]
    return replace(loss, facts=tuple(facts), needed_at=needed)


def _losses(info: MetricInfo, samples: Mapping[str, Sequence[Sample]]) -> list[Loss]:
    own = samples.get(info.name, ())
    missed = missed_by_source(own)
    if not missed and info.name.startswith("needed."):  # one that counts turns: what they missed is told by the recalls
        missed = missed_by_source([sample for name in NEEDS for sample in samples.get(name, ())])
    if missed:
        return [
            Loss(step=step, facts=tuple(dict.fromkeys(item.fact for item in needs)), count=len(needs), needed_at=tuple(needs))
            for step, needs in missed.items()
        ]  # fmt: skip
    needed = missed_by_source([sample for name in NEEDS for sample in samples.get(name, ())])
    counts = info.better == "lower" and info.unit not in ("tokens", "usd")
    found = []
    for sample in own:
        count = _lost_count(sample, counts)
        if count > 0:
            facts = sample.detail.facts if isinstance(sample.detail, Lost) else ()
            needs = needed.get(sample.step, []) if sample.step is not None and facts else []
            found.append(
                Loss(
                    step=sample.step,
                    facts=facts or told(sample.detail),
                    count=count,
                    total=sample.denominator or 0.0,
                    needed_at=tuple(sorted(set(needs), key=lambda item: (item.turn, item.fact))),
                    differs=not facts,
                )
            )
    return found


def _lost_count(sample: Sample, counts: bool) -> float:
    """How much a sample says was lost: what a share lacks, or what a metric that counts something bad counted and can tell of."""
    if sample.numerator is None:
        return 0.0
    if sample.denominator is not None:
        return sample.denominator - sample.numerator
    return sample.numerator if counts and sample.detail is not None else 0.0


def missed_by_source(samples: Sequence[Sample]) -> dict[int, list[NeededAt]]:
    """The uses that found their fact gone: result's step → the turns that needed it."""
    found: dict[int, list[NeededAt]] = {}
    for sample in samples:
        if isinstance(sample.detail, Missed):
            found.setdefault(sample.detail.source, []).append(NeededAt(turn=sample.step or 0, fact=sample.detail.fact))
    return found


def told(detail: Detail | None) -> tuple[str, ...]:
    """What a sample's detail says where it names no facts, in a few words each.

    >>> told(Turned(router="r", at="end", expected="next", taken="stop", expected_from="recorded"))
    ('r went to stop, expected next',)
    """
    if isinstance(detail, Turned):
        return (f"{detail.router} went to {detail.taken}, expected {detail.expected}",)
    if isinstance(detail, Asked) and detail.absent:
        return (f"{detail.question} {detail.expected} must not be in the {detail.where}",)
    if isinstance(detail, Asked):
        got = f", got {detail.got}" if detail.got else ""
        return (f"{detail.question} expected {detail.expected}{got}",)
    return (detail.text,) if isinstance(detail, Told) else ()
