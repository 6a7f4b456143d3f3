"""What was dropped: the worst tool results, untruncated beside what each strategy kept, and the steps that needed what is gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...atoms import atoms_of, holds
from ...blocks import Block, Kept, Prose, SideBySide, Span, counted
from ...excerpts import excerpt
from ...model import Comparison, Message, Run, Sample, ToolResult, as_text
from ...uses import call_text
from .. import contenders, panel

MAX_RESULTS = 6
MAX_RESULTS_A_CASE = 2
MAX_STRATEGIES = 4
MAX_NAMED = 12
UNTRUNCATED_CHARS = 6_000
KEPT_CHARS = 2_500
NEEDED = ("needed.recall", "needed.reuse_recall")
LOST = ("loss.fact_recall.end", "loss.fact_recall.stored")


@dataclass(frozen=True)
class _Damage:
    """What one strategy lost of one tool result: uses that missed it (turn, atom), and facts lost in prompt and store."""

    strategy: str
    missed: tuple[tuple[int, str], ...]
    lost_in_prompt: float
    lost_in_store: float


@panel("dropped", order=40, title="What was dropped?")
def dropped(comparison: Comparison) -> list[Block]:
    """The worst tool results: untruncated with lost facts marked, what each strategy kept, and which later step needed what was lost.

    Source: design §6
    """
    found = _damages(comparison)
    if not found:
        looked_at = any(
            comparison.samples.get((strategy, metric, case))
            for strategy in contenders(comparison) for metric in LOST for case in comparison.cases
        )  # fmt: skip
        if not looked_at:
            return [Prose("Not measured: no tool result of a finished run holds a fact.", "warn")]
        return [Prose("Nothing: no declared strategy lost a fact of any tool result.", "good")]
    ordered = sorted(found, key=lambda place: (_badness(found[place]), place))
    a_case = max(MAX_RESULTS_A_CASE, -(-MAX_RESULTS // len(comparison.cases)))
    chosen: list[tuple[str, int]] = []
    for place in ordered:
        if sum(case == place[0] for case, _ in chosen) < a_case and len(chosen) < MAX_RESULTS:
            chosen.append(place)
    results = sum(len(comparison.traces[case].results) for case in comparison.cases)
    needed = sum(any(damage.missed for damage in damages) for damages in found.values())
    said = (
        f"Some strategy lost something of {counted(len(found), 'tool result')} out of {results}; "
        f"of {needed} later turns needed what was lost. Shown: the worst {len(chosen)}, at most "
        f"{a_case} of a case and {MAX_STRATEGIES} strategies each, long texts in excerpts."
    )
    return [Prose(said), *(_side_by_side(comparison, case, step, found[case, step]) for case, step in chosen)]


def _badness(damages: Sequence[_Damage]) -> tuple[float, float]:
    return (
        -max(len(damage.missed) for damage in damages),
        -max(damage.lost_in_prompt + damage.lost_in_store for damage in damages),
    )


def _damages(comparison: Comparison) -> dict[tuple[str, int], list[_Damage]]:
    """Per case and result: what each declared strategy lost of it, as the metrics' own samples say; results without loss are left out."""
    found: dict[tuple[str, int], list[_Damage]] = {}
    for strategy in contenders(comparison):
        for case in comparison.cases:
            missed: dict[int, list[tuple[int, str]]] = {}
            for metric in NEEDED:
                for sample in _samples(comparison, strategy, metric, case):
                    if "source" in sample.detail and sample.step is not None:
                        missed.setdefault(sample.detail["source"], []).append((sample.step, sample.detail["atom"]))
            in_prompt, in_store = (_lost(_samples(comparison, strategy, metric, case)) for metric in LOST)
            for step in sorted({*missed, *in_prompt, *in_store}):
                gone = tuple(sorted(missed.get(step, ())))
                damage = _Damage(strategy, gone, in_prompt.get(step, 0.0), in_store.get(step, 0.0))
                found.setdefault((case, step), []).append(damage)
    return found


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


def _side_by_side(comparison: Comparison, case: str, step: int, damages: Sequence[_Damage]) -> SideBySide:
    result = next(item for item in comparison.traces[case].results if item.index == step)
    worst = sorted(damages, key=lambda damage: (_badness([damage]), damage.strategy))[:MAX_STRATEGIES]
    kept = tuple(_kept(comparison, case, result, damage) for damage in worst)
    needed = {atom for damage in worst for _, atom in damage.missed}
    lost = {atom for item in kept for atom in item.lost}
    title = f"{case}, step {step}: {result.function}, {counted(len(result.text), 'character')}"
    named = tuple(_named(item) for item in kept)
    return SideBySide(title, excerpt(result.text, lost, needed, UNTRUNCATED_CHARS), named)


def _named(kept: Kept) -> Kept:
    """The same with as many lost facts named as a reader takes in."""
    return Kept(kept.strategy, kept.where, kept.text, kept.lost[:MAX_NAMED], kept.lost_total, kept.needed_later)


def _kept(comparison: Comparison, case: str, result: ToolResult, damage: _Damage) -> Kept:
    """What a strategy kept of a result: in the prompt that first missed it, else in the last one, else in the store."""
    run = comparison.runs[damage.strategy, case]
    if damage.missed or damage.lost_in_prompt:
        where, text, lost = _in_prompt(run, result, damage.missed[0][0] if damage.missed else None)
    else:
        stored = next(outcome.stored for outcome in run.results if outcome.step == result.index)
        where, text = "in its store", as_text(stored)
        lost = [atom for atom in atoms_of(result.text) if not holds(text, atom)]
    by_turn: dict[int, list[str]] = {}
    for turn, atom in damage.missed:
        by_turn.setdefault(turn, []).append(atom)
    needs = tuple(f"step {turn} needed {', '.join(dict.fromkeys(atoms))}" for turn, atoms in sorted(by_turn.items()))
    if len(needs) > MAX_NAMED:
        needs = (*needs[:MAX_NAMED], f"and {len(needs) - MAX_NAMED} more steps")
    spans = excerpt(text, (), (), KEPT_CHARS) if text else (Span("nothing", "gap"),)
    return Kept(damage.strategy, where, spans, tuple(lost), len(lost), needs)


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
    return "in no prompt", "", list(atoms_of(result.text))


def _gone(result: ToolResult, messages: Sequence[Message]) -> list[str]:
    """The facts of a result that no message holds, neither in its text nor in its calls."""
    texts = {message.text for message in messages}
    texts |= {call_text(call) for message in messages for call in message.tool_calls}
    return [atom for atom in atoms_of(result.text) if not any(holds(text, atom) for text in texts)]
