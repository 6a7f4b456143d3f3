"""What a strategy dropped on one case, in words: which result lost which facts, and which later step needed them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...model import Comparison, Sample
from ..blocks import counted, visible

NEEDS = ("needed.recall", "needed.reuse_recall")
NAMED = 3
"""How many facts a sentence names, and how many results a verdict's detail names."""

LISTED = 10
_FACT_CHARS = 60


@dataclass(frozen=True)
class Dropped:
    """What was dropped: the worst of it as one clause (`""`: nothing was), all of it as lines, worst first."""

    clause: str = ""
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Loss:
    """What one result (or one turn, for a metric without results) lost: facts by name, how many of how many, and who needed them.

    `differs`: a metric that names no facts but what came out otherwise; `facts` are its own words then.
    """

    step: int | None
    facts: tuple[str, ...]
    count: float
    total: float
    needs: tuple[tuple[int, str], ...]
    differs: bool = False


def dropped(comparison: Comparison, strategy: str, metric: str, case: str) -> Dropped:
    """What the samples of a metric say was lost on a case, with the steps that needed it; what an earlier self lost too is left out.

    An empty Dropped where nothing is lost, where the metric names no losses, or where the comparison has no samples (score files).
    """
    losses = _new_losses(comparison, strategy, metric, case)
    if not losses:
        return Dropped()
    lines = [_line(comparison, case, loss, LISTED) for loss in losses[:LISTED]]
    if len(losses) > LISTED:
        lines.append(f"and {counted(len(losses) - LISTED, 'more place')}")
    return Dropped(_line(comparison, case, losses[0], NAMED), tuple(lines))


def _new_losses(comparison: Comparison, strategy: str, metric: str, case: str) -> list[_Loss]:
    found = _losses(comparison, strategy, metric, case)
    earlier = comparison.before.get(strategy)
    if earlier is not None:
        known = {(loss.step, loss.facts, loss.count) for loss in _losses(comparison, earlier, metric, case)}
        found = [loss for loss in found if (loss.step, loss.facts, loss.count) not in known] or found
    return sorted(found, key=lambda loss: (-len(loss.needs), -loss.count, loss.step or 0))


def _losses(comparison: Comparison, strategy: str, metric: str, case: str) -> list[_Loss]:
    samples = comparison.samples.get((strategy, metric, case), ())
    missed = _missed(samples)
    if not missed and metric.startswith("needed."):  # one that counts turns: what they missed is told by the recalls
        missed = _missed([sample for name in NEEDS for sample in comparison.samples.get((strategy, name, case), ())])
    if missed:
        return [_Loss(step, tuple(dict.fromkeys(fact for _, fact in needs)), len(needs), 0, tuple(needs))
                for step, needs in missed.items()]  # fmt: skip
    needed: dict[int, list[tuple[int, str]]] = {}
    for name in NEEDS:
        for step, needs in _missed(comparison.samples.get((strategy, name, case), ())).items():
            needed.setdefault(step, []).extend(needs)
    info = comparison.metrics.get(metric)
    counts = info is not None and info.better == "lower" and info.unit not in ("tokens", "usd")
    losses = []
    for sample in samples:
        count = _lost_count(sample, counts)
        if count <= 0:
            continue
        facts = tuple(str(fact) for fact in sample.detail.get("lost", ()) if isinstance(fact, str | int | float))
        told = facts or tuple(_told(sample.detail))
        needs = needed.get(sample.step, []) if sample.step is not None and facts else []
        losses.append(
            _Loss(sample.step, told, count, sample.denominator or 0.0, tuple(sorted(set(needs))), not facts)
        )  # fmt: skip
    return losses


def _lost_count(sample: Sample, counts: bool) -> float:
    """How much a sample says was lost: what a share lacks, or what a metric that counts something bad counted and can tell of."""
    if sample.numerator is None:
        return 0.0
    if sample.denominator is not None:
        return sample.denominator - sample.numerator
    return sample.numerator if counts and sample.detail else 0.0


def _missed(samples: Sequence[Sample]) -> dict[int, list[tuple[int, str]]]:
    """The uses that found their fact gone: result's step → (turn that needed it, the fact)."""
    found: dict[int, list[tuple[int, str]]] = {}
    for sample in samples:
        source, fact = sample.detail.get("source"), sample.detail.get("fact")
        if isinstance(source, int) and isinstance(fact, str):
            found.setdefault(source, []).append((sample.step or 0, fact))
    return found


def _told(detail: Mapping[str, Any]) -> Iterator[str]:
    """What a sample's detail says, a piece each: of a list of changes their paths, of anything else its name and value."""
    for key, value in detail.items():
        if isinstance(value, list | tuple):
            yield from (_worded(item) for item in value)
        elif value is not None:
            yield f"{key} {value}"


def _worded(item: Any) -> str:
    if not isinstance(item, dict):
        return str(item)
    return str(item["path"]) if "path" in item else " ".join(f"{key} {value}" for key, value in item.items())


def _line(comparison: Comparison, case: str, loss: _Loss, named: int) -> str:
    place = _place(comparison, case, loss.step)
    if loss.differs:
        told = [_short(fact) for fact in loss.facts[:named]] + ["…"] * (len(loss.facts) > named)
        return f"{place} came out otherwise: {', '.join(told) or f'{loss.count:g} of {loss.total:g}'}"
    needed = {fact for _, fact in loss.needs}
    facts = [_fact(fact) for fact in sorted(loss.facts, key=lambda fact: fact not in needed)[:named]]
    more = int(loss.count) - len(facts)
    if more > 0 and facts and not loss.needs:
        facts.append(f"{more} more")
    share = f" {loss.count:g} of {loss.total:g}:" if loss.total else ""
    text = f"{place} dropped{share} {', '.join(facts) or 'something unnamed'}"
    by_turn: dict[int, list[str]] = {}
    for turn, fact in loss.needs:
        by_turn.setdefault(turn, []).append(_fact(fact))
    needs = [f"step {turn} needed {', '.join(dict.fromkeys(facts[:named]))}" for turn, facts in by_turn.items()]
    if len(needs) > named:
        needs = [*needs[:named], f"{counted(len(needs) - named, 'more step')} needed what is gone"]
    return "; ".join([text, *needs])


def _place(comparison: Comparison, case: str, step: int | None) -> str:
    trace = comparison.traces.get(case)
    function = next((result.function for result in trace.results if result.index == step), "") if trace else ""
    return f"step {step}" + (f" ({_short(function)})" if function else "") if step is not None else "the run"


def _fact(fact: str) -> str:
    return f'"{_short(fact)}"'


def _short(text: str) -> str:
    flat = visible(" ".join(text.split()))
    return flat if len(flat) <= _FACT_CHARS else flat[: _FACT_CHARS - 1] + "…"
