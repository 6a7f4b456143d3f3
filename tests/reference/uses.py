"""What later turns used of what results told: every turn compared with everything that was said before it."""

from __future__ import annotations

from typing import NamedTuple

from bench.model import ModelTurn, SystemTurn, ToolResult, Trace, UserTurn, text_of

from .facts import facts_of
from .rebuilt import call_text, present


class Use(NamedTuple):
    """A fact in a model turn that a result told first; in the order of the turns and of the facts in them."""

    fact: str
    kind: str
    turn: int
    source: int
    thread: str
    turn_number: int
    source_turn: int
    first: bool
    recorded_only: bool


def turn_text(turn: ModelTurn) -> str:
    """All that a model turn says."""
    said = [text_of(turn.content), *map(call_text, turn.tool_calls)]
    return "\n".join(text for text in said if text)


def uses(trace: Trace) -> list[Use]:
    """Every use of a trace."""
    found = []
    for turn in trace.model_turns:
        before = [step for step in trace.steps if step.thread == turn.thread and step.index < turn.index]
        for fact, kind in facts_of(turn_text(turn)).items():
            holders = [step for step in before if (text := _told(step)) is not None and present(fact, [text])]
            if not holders or not isinstance(holders[0], ToolResult):
                continue  # nobody told it, or a turn did before any result
            source = holders[0]
            found.append(
                Use(
                    fact,
                    kind,
                    turn.index,
                    source.index,
                    turn.thread,
                    sum(isinstance(step, ModelTurn) for step in before),
                    sum(isinstance(step, ModelTurn) and step.index < source.index for step in before),
                    all(isinstance(step, ToolResult) for step in holders),
                    not present(fact, [source.text]) and source.text != source.shown_by_recorder,
                )
            )
    return found


def _told(step: object) -> str | None:
    """What a step told its thread; None for one that tells nothing."""
    if isinstance(step, ToolResult):
        return step.shown_by_recorder
    if isinstance(step, ModelTurn):
        return turn_text(step)
    return text_of(step.content) if isinstance(step, SystemTurn | UserTurn) else None
