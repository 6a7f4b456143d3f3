"""What strategies lost of tool results: which results, the untruncated text beside what was kept, and the steps that needed what is gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...evidence.uses import call_text
from ...model import Comparison, Message, Run, Sample, ToolResult, as_text
from ...text.facts import facts_of, holds
from ..blocks import Kept, Need, SideBySide, Span, counted
from .excerpts import excerpt
from .result_tables import beside, whole

MAX_STRATEGIES = 4
MAX_NAMED = 12
UNTRUNCATED_CHARS = 6_000
KEPT_CHARS = 2_500
NEEDED = ("needed.recall", "needed.reuse_recall")
LOST = ("loss.fact_recall.end", "loss.fact_recall.stored")
TIERS = "loss.tier"
"""What metrics that tell tiers of lost facts begin with."""


@dataclass(frozen=True)
class Damage:
    """What one strategy lost of one tool result: uses that missed it (turn, fact), and facts lost in prompt and store."""

    strategy: str
    missed: tuple[tuple[int, str], ...]
    lost_in_prompt: float
    lost_in_store: float


def badness(damages: Sequence[Damage]) -> tuple[float, float]:
    """How bad the damage to one result is, worst lowest: by uses that missed it, then by facts lost."""
    return (
        -max(len(damage.missed) for damage in damages),
        -max(damage.lost_in_prompt + damage.lost_in_store for damage in damages),
    )


def damages(
    comparison: Comparison, strategies: Sequence[str], cases: Sequence[str]
) -> dict[tuple[str, int], list[Damage]]:
    """Per case and result: what each strategy lost of it, as the metrics' own samples say; results without loss are left out."""
    found: dict[tuple[str, int], list[Damage]] = {}
    for strategy in strategies:
        for case in cases:
            missed: dict[int, list[tuple[int, str]]] = {}
            for metric in NEEDED:
                for sample in _samples(comparison, strategy, metric, case):
                    if "source" in sample.detail and sample.step is not None:
                        missed.setdefault(sample.detail["source"], []).append((sample.step, sample.detail["fact"]))
            in_prompt, in_store = (_lost(_samples(comparison, strategy, metric, case)) for metric in LOST)
            for step in sorted({*missed, *in_prompt, *in_store}):
                gone = tuple(sorted(missed.get(step, ())))
                damage = Damage(strategy, gone, in_prompt.get(step, 0.0), in_store.get(step, 0.0))
                found.setdefault((case, step), []).append(damage)
    return found


def side_by_side(
    comparison: Comparison, case: str, step: int, damaged: Sequence[Damage], strategies: int = MAX_STRATEGIES
) -> SideBySide:
    """One result untruncated beside what the worst `strategies` kept of it, facts that are gone marked."""
    result = next(item for item in comparison.traces[case].results if item.index == step)
    worst = sorted(damaged, key=lambda damage: (badness([damage]), damage.strategy))[:strategies]
    kept = tuple(_kept(comparison, case, result, damage) for damage in worst)
    needed = {fact for damage in worst for _, fact in damage.missed}
    lost = {fact for item in kept for fact in item.lost}
    return SideBySide(
        f"{case}, step {step}: {result.function}, {counted(len(result.text), 'character')}",
        excerpt(result.text, lost, needed, UNTRUNCATED_CHARS),
        tuple(_named(item) for item in kept),
        case,
        step,
        whole(result),
    )


def _samples(comparison: Comparison, strategy: str, metric: str, case: str) -> tuple[Sample, ...]:
    return comparison.samples.get((strategy, metric, case), ())


def _lost(samples: Sequence[Sample]) -> dict[int, float]:
    return {
        sample.step: sample.denominator - sample.numerator
        for sample in samples
        if sample.step is not None
        and sample.numerator is not None
        and sample.denominator is not None
        and sample.denominator > sample.numerator
    }


def _named(kept: Kept) -> Kept:
    """The same with as many lost facts named as a reader takes in, the needed ones first."""
    needed = {fact for need in kept.needed_later for fact in need.facts}
    named = sorted(kept.lost, key=lambda fact: fact not in needed)[:MAX_NAMED]
    return Kept(
        kept.strategy, kept.where, kept.text, tuple(named), kept.lost_total, kept.needed_later, kept.tiers, kept.rows
    )


def _kept(comparison: Comparison, case: str, result: ToolResult, damage: Damage) -> Kept:
    """What a strategy kept of a result: in the prompt that first missed it, else in the last one, else in the store."""
    run = comparison.runs[damage.strategy, case]
    if damage.missed or damage.lost_in_prompt:
        where, text, lost = _in_prompt(run, result, damage.missed[0][0] if damage.missed else None)
    else:
        stored = next(outcome.stored for outcome in run.results if outcome.step == result.index)
        where, text = "in its store", as_text(stored)
        lost = [fact for fact in facts_of(result.text) if not holds(text, fact)]
    by_turn: dict[int, list[str]] = {}
    for turn, fact in damage.missed:
        by_turn.setdefault(turn, []).append(fact)
    needs = [Need(turn, tuple(dict.fromkeys(facts))) for turn, facts in sorted(by_turn.items())]
    if len(needs) > MAX_NAMED:
        needs = [*needs[:MAX_NAMED], Need(None, (f"and {len(needs) - MAX_NAMED} more steps",))]
    spans = excerpt(text, (), (), KEPT_CHARS) if text else (Span("nothing", "gap"),)
    tiers = _tiers(comparison, damage.strategy, case, result.index)
    return Kept(damage.strategy, where, spans, tuple(lost), len(lost), tuple(needs), tiers, beside(result, text))


def _tiers(comparison: Comparison, strategy: str, case: str, step: int) -> Mapping[str, str]:
    """Which lost facts of a result could still be had, by fact, as a metric of tiers says in its samples' detail; else nothing."""
    found: dict[str, str] = {}
    for metric in comparison.metrics:
        if metric.startswith(TIERS):
            for sample in _samples(comparison, strategy, metric, case):
                if sample.step == step:
                    for tier in ("derivable", "retrievable", "lost"):
                        facts = sample.detail.get(tier, ())
                        found |= dict.fromkeys(map(str, facts), tier) if isinstance(facts, list | tuple) else {}
    return found


def _in_prompt(run: Run, result: ToolResult, turn: int | None) -> tuple[str, str, list[str]]:
    """Where it was looked for, the messages that still show the result, and its facts that no message of that prompt holds."""
    last = next((prompt.step for prompt in reversed(run.prompts) if prompt.thread == result.thread), None)
    wanted = last if turn is None else turn
    for prompt, keys in run.walk():
        if prompt.step == wanted:
            messages = [run.messages[key] for key in keys]
            still = [message.text for message in messages if message.step == result.index]
            where = f"in the prompt of step {wanted}, which needed it" if turn is not None else "in the last prompt"
            return where, "\n".join(still), [] if result.text in still else _gone(result, messages)
    return "in no prompt", "", list(facts_of(result.text))


def _gone(result: ToolResult, messages: Sequence[Message]) -> list[str]:
    """The facts of a result that no message holds, neither in its text nor in its calls."""
    texts = {message.text for message in messages}
    texts |= {call_text(call) for message in messages for call in message.tool_calls}
    return [fact for fact in facts_of(result.text) if not any(holds(text, fact) for text in texts)]
