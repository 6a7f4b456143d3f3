"""The tool results of one case that strategies lost most of: untruncated text beside what was kept, and the turns that needed what is gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..model import Kept, ResultShown, Span, ToolResult, as_text
from .excerpts import excerpt
from .explanations import explain
from .losses import Damage
from .of_run import RunEvidence
from .presence import messages_at
from .result_tables import Table, beside, table_of, whole

MAX_STRATEGIES = 6
MAX_NAMED = 12
MAX_SENTENCES = 6
MAX_EXPLAINED_CHARS = 400_000  # comparing longer values takes seconds
UNTRUNCATED_CHARS = 6_000
KEPT_CHARS = 2_500


def worst_results(
    damaged: Mapping[int, Sequence[Damage]], evidence: Mapping[str, RunEvidence], most: int
) -> tuple[ResultShown, ...]:
    """The worst results of a case, at most `most`, each beside what the worst strategies kept of it."""

    def worst(step: int) -> tuple[tuple[float, float], int]:
        return min(damage.badness for damage in damaged[step]), step

    return tuple(_result_shown(step, damaged[step], evidence) for step in sorted(damaged, key=worst)[:most])


def _result_shown(step: int, damaged: Sequence[Damage], evidence: Mapping[str, RunEvidence]) -> ResultShown:
    worst = sorted(damaged, key=lambda damage: (damage.badness, damage.strategy))[:MAX_STRATEGIES]
    result = evidence[worst[0].strategy].of_trace.results[step]
    table = table_of(result)
    kept = [_kept(evidence[damage.strategy], result, table, damage) for damage in worst]
    needed = {item.fact for damage in worst for item in damage.missed}
    lost = dict.fromkeys(fact for _, facts in kept for fact in facts)
    return ResultShown(
        step=step,
        function=result.function,
        characters=len(result.text),
        untruncated=excerpt(result.text, lost, needed, UNTRUNCATED_CHARS),
        kept=tuple(item for item, _ in kept),
        missed=max(len(damage.missed) for damage in damaged),
        lost=max(damage.lost_in_prompt + damage.lost_in_store for damage in damaged),
        rows=whole(table),
    )


def _kept(evidence: RunEvidence, result: ToolResult, table: Table | None, damage: Damage) -> tuple[Kept, list[str]]:
    """The part of a result that a strategy kept, and every fact it lost.

    It is looked for in the prompt that first missed it, else in the last one, else in the store.
    """
    if damage.missed or damage.lost_in_prompt:
        turn = damage.missed[0].turn if damage.missed else None
        where, text, lost = _in_prompt(evidence, result, turn)
        held: object = text
    else:
        held = evidence.outcomes[result.index].stored
        where, text = "in its store", as_text(held)
        lost = evidence.of_trace.lost_of(result, text)
    needed = {item.fact for item in damage.missed}
    behind = {fact for found in evidence.tiers["end"] if found.held.result is result for fact in found.retrievable}
    named = sorted(lost, key=lambda fact: fact not in needed)[:MAX_NAMED]
    return (
        Kept(
            strategy=damage.strategy,
            where=where,
            text=excerpt(text, (), (), KEPT_CHARS) if text else (Span("nothing", "gap"),),
            lost=tuple(named),
            lost_total=len(lost),
            needed_at=damage.missed[:MAX_NAMED],
            retrievable=tuple(fact for fact in named if fact in behind),
            said=_sentences(result, held),
            rows=beside(table, text),
        ),
        lost,
    )


def _sentences(result: ToolResult, held: object) -> tuple[str, ...]:
    """Say what is missing or changed; `()` for a text, whose lost facts are named, and for what takes too long to compare."""
    if not isinstance(result.data, dict | list) or len(result.text) > MAX_EXPLAINED_CHARS or not held:
        return ()
    said = explain(result.value, held)
    return tuple(said[:MAX_SENTENCES])


def _in_prompt(evidence: RunEvidence, result: ToolResult, turn: int | None) -> tuple[str, str, list[str]]:
    """The prompt in words, the messages in it that still show the result, and the facts of the result that no message there holds."""
    run, texts = evidence.run, evidence.texts
    last = next((prompt.step for prompt in reversed(run.prompts) if prompt.thread == result.thread), None)
    messages = messages_at(run, last if turn is None else turn)
    facts, of_trace = texts.facts(result.text), evidence.of_trace
    if messages is None:
        return "in no prompt", "", list(facts)
    still = [message.text for message in messages if message.step == result.index]
    where = "in the last prompt" if turn is None else f"in the prompt of step {turn}, which needed it"
    if result.text in still:
        return where, "\n".join(still), []
    said = dict.fromkeys(text for message in messages for text in of_trace.said_in(message))
    present = {fact for text in said for fact in of_trace.facts_held(text)}
    return where, "\n".join(still), [fact for fact in facts if fact not in present]
