"""Results that were read twice: most of their lines are in earlier results of their thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Literal

from ..model import ModelTurn, ToolResult, lines_of
from ..model.audit import Reread
from ..text.line_notes import without_number
from .calls import answered_calls, asked
from .of_replay import ReplayEvidence

SHARE = 0.8
"""The share of a result's lines in earlier results from which it counts as read again."""

FEWEST_LINES, _SHORTEST_CHARS, _SAME_CHARS, _MOST_PLACES = 4, 8, 40, 8


def rereads_of(recorded: ReplayEvidence) -> Iterator[Reread]:
    """Yield every result that was read again, in order, from the recording's own replay.

    Lines are compared without line numbers of viewers; short lines are left out. A result with few
    lines counts if the same call had the same result. Linear in the text.
    """
    reader = _Reader(recorded)
    for step in recorded.trace.steps:
        if isinstance(step, ModelTurn):
            reader.turn[step.thread] = step.index
        elif isinstance(step, ToolResult):
            reread = reader.read(step)
            if reread is not None:
                yield reread


class _Reader:
    """The results of a recording, read one after the other."""

    def __init__(self, recorded: ReplayEvidence) -> None:
        self.turn: dict[str, int] = {}
        self._evidence = recorded
        self._calls = answered_calls(recorded.trace)
        self._holders: dict[tuple[str, str], list[int]] = {}
        self._answered: dict[tuple[str, str], ToolResult] = {}
        self._seen: dict[int, frozenset[str]] = {}

    def read(self, result: ToolResult) -> Reread | None:
        """The result as a Reread; None for a new one."""
        thread = result.thread
        turn, call = self._calls.get(result.index, (self.turn.get(thread, -1), None))
        command = result.function if call is None else call.command
        lines = _lines(result.recorded_text)
        known = {
            line: self._holders[thread, line] for line in lines if (thread, line) in self._holders
        }
        before = self._answered.get((thread, command))
        if len(lines) < FEWEST_LINES or len(known) < SHARE * len(lines):
            text = result.recorded_text
            same = before is not None and len(text) >= _SAME_CHARS and text == before.recorded_text
            known = (
                {line: [before.index] for line in lines or {""}}
                if before is not None and same
                else {}
            )
        reread = None
        if known:
            why, earlier = self._why(known, turn, SHARE * len(lines))
            question = "" if call is None else asked(call)
            reread = Reread(
                step=result.index, earlier_step=earlier, asked=question,
                lines_same=len(known), lines=max(len(lines), 1), why=why,
            )  # fmt: skip
        self._keep(result, command, lines)
        return reread

    def _why(
        self, known: dict[str, list[int]], turn: int, enough: float
    ) -> tuple[Literal["cut", "dropped", "in prompt"], int]:
        """The reason for reading known lines again, and the earlier result with most of them."""
        seen = {
            line: [at for at in steps if line in self._seen[at]] for line, steps in known.items()
        }
        shown = {
            line: [at for at in steps if self._is_shown(at, turn)] for line, steps in seen.items()
        }
        every = Counter(at for steps in known.values() for at in steps)
        if sum(map(bool, seen.values())) < enough:
            return "cut", _most_frequent(every)
        if sum(map(bool, shown.values())) >= enough:
            return "in prompt", _most_frequent(every)
        missing = {at: count for at, count in every.items() if not self._is_shown(at, turn)}
        return "dropped", _most_frequent(missing or every)

    def _is_shown(self, step: int, turn: int) -> bool:
        """True if the prompt of a turn shows a result as the recorded model first saw it."""
        call = self._evidence.call_of.get(turn)
        index = self._evidence.index
        return call is None or self._evidence.is_in_prompt(index.seen[step], call)

    def _keep(self, result: ToolResult, command: str, lines: frozenset[str]) -> None:
        """Add a result to those that later commands may read again."""
        self._answered[result.thread, command] = result
        self._seen[result.index] = lines or frozenset({""})
        for line in lines if result.full is None else _lines(result.text) | lines:
            places = self._holders.setdefault((result.thread, line), [])
            if len(places) < _MOST_PLACES:
                places.append(result.index)
            else:
                places[places.index(min(places))] = result.index


def _most_frequent(counts: Mapping[int, int]) -> int:
    """The step with the highest count, the last one of equals."""
    return max(counts, key=lambda step: (counts[step], step))


def _lines(text: str) -> frozenset[str]:
    """The distinct significant lines of a text, without line numbers."""
    stripped = (without_number(line).strip() for line in lines_of(text))
    return frozenset(line for line in stripped if len(line) >= _SHORTEST_CHARS)
