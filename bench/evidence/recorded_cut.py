"""Things that the recorded harness itself cut, cleared or asked again: results that its model saw in part, cleared histories, repeated calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..model import (
    AnyStep,
    ContextEdit,
    ContextReset,
    ModelTurn,
    RecordedCut,
    RecordedReset,
    SystemTurn,
    ToolResult,
    Trace,
)
from ..text.decode import NothingParsed, parse_json
from ..text.texts import Texts
from .spoken import spoken

NAMED = 4
"""The most later turns and facts of one cut that are named."""


def find_cuts(trace: Trace, texts: Texts) -> Iterator[RecordedCut]:
    """Every result whose recorded text is not its untruncated text, in order. None where the trace recorded no other text."""
    known: dict[str, set[str]] = {}
    for position, step in enumerate(trace.steps):
        before = known.setdefault(step.thread, set())
        if isinstance(step, ToolResult) and step.full is not None and step.seen is not None and step.seen != step.full:
            facts = texts.facts(step.full)
            lost = [fact for fact in texts.missing(step.seen, facts) if fact not in before]
            later = list(_later(trace.steps[position:], step.thread, lost, texts))
            said = [(item.index, here) for item, here in later if isinstance(item, ModelTurn)]
            yield RecordedCut(
                step=step.index,
                function=step.function,
                untruncated_chars=_output_chars(step.full),
                seen_chars=len(step.seen),
                facts=len(facts),
                lost=len(lost),
                asked_again=tuple((item.index, len(here)) for item, here in later if isinstance(item, ToolResult)),
                said=tuple((at, here[:NAMED]) for at, here in said[:NAMED]),
                said_total=sum(len(here) for _, here in said),
            )
        before.update(texts.facts(_text(step)))


def _output_chars(text: str) -> int:
    """Characters of the longest string in a text that is JSON, else of the text."""
    try:
        value = parse_json(text)
    except NothingParsed:
        return len(text)
    values = value.values() if isinstance(value, dict) else value
    return max((len(item) for item in values if isinstance(item, str)), default=len(text))


def _text(step: AnyStep) -> str:
    """The words of a step to its thread, a result as its harness showed it; `""` for none."""
    return step.shown_by_recorder if isinstance(step, ToolResult) else "\n".join(spoken(step))


def _later(
    steps: tuple[AnyStep, ...], thread: str, lost: list[str], texts: Texts
) -> Iterator[tuple[AnyStep, tuple[str, ...]]]:
    """The steps of a thread in which lost facts first turn up again, with these."""
    left = set(lost)
    for step in steps:
        if not left:
            return
        if step.thread == thread:
            here = tuple(fact for fact in texts.facts(_text(step)) if fact in left)
            left.difference_update(here)
            if here:
                yield step, here


def find_resets(trace: Trace, texts: Texts) -> Iterator[RecordedReset]:
    """Every context reset of the recorded harness, in order."""
    held: dict[str, list[AnyStep]] = {}
    reworded: dict[int, str] = {}

    def shown(item: AnyStep) -> str:
        return reworded.get(item.index, _text(item))

    for step in trace.steps:
        before = held.setdefault(step.thread, [])
        if isinstance(step, ContextEdit):
            reworded.update(step.shown)
            continue
        if not isinstance(step, ContextReset):
            before.append(step)
            continue
        kept = [item for item in before if item.index in step.kept or isinstance(item, SystemTurn)]
        gone = [item for item in before if isinstance(item, ToolResult) and item.index not in step.kept]
        left = {fact for item in kept for fact in texts.facts(shown(item))} | texts.facts(step.summary or "").keys()
        facts = {fact for item in gone for fact in texts.facts(shown(item))}
        yield RecordedReset(
            step=step.index,
            results=len(gone),
            kept=len(kept),
            summary_chars=len(step.summary or ""),
            facts=len(facts),
            lost=len(facts - left),
        )
        held[step.thread] = kept


# ---------------------------------------------------------------- calls that ask again


class Repeat(NamedTuple):
    """A call that an earlier one of its thread had already made, and the facts that both results told the recorded model.

    `turn` is the step of the call, `earlier` the latest result of the same call before it, `again` the step of its own result.
    """

    turn: int
    call_id: str
    command: str
    earlier: ToolResult
    again: int
    told: tuple[str, ...]


def find_repeats(trace: Trace, texts: Texts) -> Iterator[Repeat]:
    """Every repeated call of a trace that was told a fact again, in order of their results.

    The same call is the same function with the same arguments, or the same command. A call without a result, and one that got nothing it
    had been told before, is left out.
    """
    answered: dict[tuple[str, str], ToolResult] = {}
    asked: dict[tuple[str, str], tuple[int, str, ToolResult | None]] = {}
    for step in trace.steps:
        if isinstance(step, ModelTurn):
            for call in step.tool_calls:
                command = call.command
                asked[step.thread, call.id] = step.index, command, answered.get((step.thread, command))
        elif isinstance(step, ToolResult) and (step.thread, step.call_id) in asked:
            turn, command, earlier = asked[step.thread, step.call_id]
            answered[step.thread, command] = step
            if earlier is not None and (told := _told_twice(earlier, step, texts)):
                yield Repeat(turn, step.call_id, command, earlier, step.index, told)


def _told_twice(earlier: ToolResult, again: ToolResult, texts: Texts) -> tuple[str, ...]:
    """The facts that the recorded model saw in both; one that only a harness's own warning held is no strategy's to keep."""
    untruncated, seen_again = texts.facts(earlier.text), texts.facts(again.shown_by_recorder)
    return tuple(fact for fact in texts.facts(earlier.shown_by_recorder) if fact in seen_again and fact in untruncated)
