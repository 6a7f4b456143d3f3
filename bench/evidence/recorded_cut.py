"""What the recorded harness itself cut: which results its model saw in part, and what of the rest turned up later in the run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..model import AnyStep, ContextReset, ModelTurn, SystemTurn, ToolResult, Trace, UserTurn, text_of
from ..text.decode import NothingParsed, parse_json
from ..text.texts import Texts
from .spoken import turn_text


@dataclass(frozen=True)
class Cut:
    """One result that the recorded model saw in part.

    `untruncated_chars` are those of the output itself, without the escapes and the envelope that a message puts around it; `seen_chars` those of
    the message that the model got. `lost` are the facts of the untruncated result that stood neither in what it saw nor in anything its thread
    had said before; `asked_again` maps later results to how many of these they showed, `said` later model turns to those they named (each fact
    where it first turned up).
    """

    step: int
    function: str
    untruncated_chars: int
    seen_chars: int
    facts: int
    lost: tuple[str, ...]
    asked_again: dict[int, int]
    said: dict[int, tuple[str, ...]]

    @property
    def needed(self) -> int:
        """How many lost facts turned up again."""
        return sum(self.asked_again.values()) + sum(map(len, self.said.values()))


@dataclass(frozen=True)
class Reset:
    """One time the recorded harness cleared its history: how many results went, what of their facts neither its summary nor what it kept holds."""

    step: int
    results: int
    kept: int
    summary_chars: int
    facts: int
    lost: int


def find_cuts(trace: Trace, texts: Texts) -> tuple[Cut, ...]:
    """Every result whose recorded text is not its untruncated text, in order. `()` where the trace recorded no other text.

    >>> from bench.model import Source
    >>> got = ToolResult(index=0, call_id="a", function="cat", seen="471 rows [cut]", full="471 rows, level_12, level_13")
    >>> again = ToolResult(index=1, call_id="b", function="tail", seen="level_12")
    >>> turn = ModelTurn(index=2, content="level_12 and level_13 it is")
    >>> found = find_cuts(Trace(id="t", source=Source(format="native"), steps=(got, again, turn)), Texts())
    >>> [(cut.lost, cut.asked_again, cut.said) for cut in found]
    [(('level_12', 'level_13'), {1: 1}, {2: ('level_13',)})]
    """
    return tuple(_cuts(trace, texts))


def _cuts(trace: Trace, texts: Texts) -> Iterator[Cut]:
    known: dict[str, set[str]] = {}
    for position, step in enumerate(trace.steps):
        before = known.setdefault(step.thread, set())
        if isinstance(step, ToolResult) and step.full is not None and step.seen is not None and step.seen != step.full:
            facts = texts.facts(step.full)
            lost = [fact for fact in texts.missing(step.seen, facts) if fact not in before]
            again, said = _later(trace.steps[position:], step.thread, lost, texts)
            yield Cut(
                step.index,
                step.function,
                _output_chars(step.full),
                len(step.seen),
                len(facts),
                tuple(lost),
                again,
                said,
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
    """What a step told its thread; `""` for one that tells nothing."""
    if isinstance(step, ToolResult):
        return step.shown_by_recorder
    if isinstance(step, ModelTurn):
        return turn_text(step)
    return text_of(step.content) if isinstance(step, SystemTurn | UserTurn) else ""


def _later(
    steps: tuple[AnyStep, ...], thread: str, lost: list[str], texts: Texts
) -> tuple[dict[int, int], dict[int, tuple[str, ...]]]:
    """Where lost facts first turn up again: in results, by count, and in model turns, by name."""
    left = dict.fromkeys(lost)
    again: dict[int, int] = {}
    said: dict[int, tuple[str, ...]] = {}
    for step in steps:
        if not left:
            return again, said
        if step.thread != thread:
            continue
        here = [fact for fact in texts.facts(_text(step)) if fact in left]
        for fact in here:
            del left[fact]
        if here and isinstance(step, ToolResult):
            again[step.index] = len(here)
        elif here and isinstance(step, ModelTurn):
            said[step.index] = tuple(here)
    return again, said


def find_resets(trace: Trace, texts: Texts) -> tuple[Reset, ...]:
    """Every context reset of the recorded harness, in order; `()` for none.

    >>> from bench.model import Source
    >>> got = ToolResult(index=0, call_id="a", function="cat", seen="471 rows, level_12")
    >>> gone = ContextReset(index=1, summary="471 rows were read")
    >>> trace = Trace(id="t", source=Source(format="native"), steps=(got, gone))
    >>> [(reset.results, reset.facts, reset.lost) for reset in find_resets(trace, Texts())]
    [(1, 2, 1)]
    """
    held: dict[str, list[AnyStep]] = {}
    found = []
    for step in trace.steps:
        before = held.setdefault(step.thread, [])
        if not isinstance(step, ContextReset):
            before.append(step)
            continue
        kept = [item for item in before if item.index in step.kept or isinstance(item, SystemTurn)]
        gone = [item for item in before if isinstance(item, ToolResult) and item.index not in step.kept]
        left = {fact for item in kept for fact in texts.facts(_text(item))} | texts.facts(step.summary or "").keys()
        facts = {fact for item in gone for fact in texts.facts(item.shown_by_recorder)}
        found.append(Reset(step.index, len(gone), len(kept), len(step.summary or ""), len(facts), len(facts - left)))
        held[step.thread] = kept
    return tuple(found)
