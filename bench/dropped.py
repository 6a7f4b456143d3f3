"""What a strategy dropped on one case, in words: which result lost which facts, and which later step needed them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .blocks import counted, visible
from .errors import one_line
from .model import Comparison, Sample

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
    """What one result (or one turn, for a metric without results) lost: facts by name, how many of how many, and who needed them."""

    step: int | None
    facts: tuple[str, ...]
    count: float
    total: float
    needs: tuple[tuple[int, str], ...]


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
    if any("atom" in sample.detail for sample in samples):
        missed = _missed(samples)
        return [_Loss(step, tuple(dict.fromkeys(atom for _, atom in needs)), len(needs), 0, tuple(needs))
                for step, needs in missed.items()]  # fmt: skip
    needed: dict[int, list[tuple[int, str]]] = {}
    for name in NEEDS:
        for step, needs in _missed(comparison.samples.get((strategy, name, case), ())).items():
            needed.setdefault(step, []).extend(needs)
    losses = []
    for sample in samples:
        if sample.numerator is None or sample.denominator is None or sample.numerator >= sample.denominator:
            continue
        facts = tuple(str(fact) for fact in sample.detail.get("lost", ()) if isinstance(fact, str | int | float))
        told = facts or tuple(f"{key} {one_line(value)}" for key, value in sample.detail.items() if key != "lost")
        needs = needed.get(sample.step, []) if sample.step is not None and facts else []
        losses.append(
            _Loss(sample.step, told, sample.denominator - sample.numerator, sample.denominator, tuple(sorted(set(needs))))
        )  # fmt: skip
    return losses


def _missed(samples: Sequence[Sample]) -> dict[int, list[tuple[int, str]]]:
    """The uses that found their fact gone: result's step → (turn that needed it, the fact)."""
    found: dict[int, list[tuple[int, str]]] = {}
    for sample in samples:
        source, atom = sample.detail.get("source"), sample.detail.get("atom")
        if isinstance(source, int) and isinstance(atom, str):
            found.setdefault(source, []).append((sample.step or 0, atom))
    return found


def _line(comparison: Comparison, case: str, loss: _Loss, named: int) -> str:
    needed = {atom for _, atom in loss.needs}
    facts = [_fact(fact) for fact in sorted(loss.facts, key=lambda fact: fact not in needed)[:named]]
    more = int(loss.count) - len(facts)
    if more > 0 and facts and not loss.needs:
        facts.append(f"{more} more")
    share = f" {loss.count:g} of {loss.total:g}:" if loss.total else ""
    text = f"{_place(comparison, case, loss.step)} dropped{share} {', '.join(facts) or 'something unnamed'}"
    by_turn: dict[int, list[str]] = {}
    for turn, atom in loss.needs:
        by_turn.setdefault(turn, []).append(_fact(atom))
    needs = [f"step {turn} needed {', '.join(dict.fromkeys(atoms[:named]))}" for turn, atoms in by_turn.items()]
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
