"""One walk through the prompts of a run, for everything that asks what was lost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..model import Prompt, Run, ToolResult
from .compactions import Compaction, Survivors, compaction_steps
from .dependencies import Dependency
from .presence import Shown
from .repeats import Repeat

if TYPE_CHECKING:
    from .of_trace import TraceEvidence


@dataclass(frozen=True)
class Standing:
    """How one tool result stands in one prompt: which of its facts no message holds, and what shows it.

    `whole`: a message shows its untruncated text. Else `texts` are those of the messages that show it, and where none does, `written` are
    the texts that the strategy itself put into that prompt.
    """

    result: ToolResult
    whole: bool
    gone: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    written: tuple[str, ...] = ()


@dataclass(frozen=True)
class Judged:
    """One dependency under a strategy: whether the prompt of its turn held the fact at all, and in a message left as it was."""

    dependency: Dependency
    present: bool
    original: bool


@dataclass(frozen=True)
class PromptScan:
    """What the walk found.

    `standings` of every result, by place: "shown" is the first prompt of its thread after it, "end" the last one. `judged` is every dependency
    with whether the prompt of its turn held it, and whether a message did that the strategy had left as it was. `repeats` is every call that
    asked again, with what it had been told that the prompt did not hold. `compactions` are those of each thread that has any.
    """

    standings: dict[str, list[Standing]] = field(default_factory=lambda: {"shown": [], "end": []})
    judged: list[Judged] = field(default_factory=list)
    repeats: list[tuple[Repeat, tuple[str, ...]]] = field(default_factory=list)
    compactions: dict[str, list[Compaction]] = field(default_factory=dict)


def scan_prompts(of_trace: TraceEvidence, run: Run) -> PromptScan:
    """Walk through the prompts of a run once."""
    asked = _Asked(of_trace, run)
    found = PromptScan()
    for place, subject, shown in of_trace.sightings(run, of_trace.facts_held, of_trace.written_by_strategy(run)):
        if isinstance(subject, ToolResult):
            found.standings[place].append(_standing(of_trace, subject, shown))
        else:
            asked.of(subject, shown, found)
    for standings in found.standings.values():
        standings.sort(key=lambda standing: standing.result.index)
    return found


def _standing(of_trace: TraceEvidence, result: ToolResult, shown: Shown) -> Standing:
    if shown.whole(result):
        return Standing(result, True)
    texts = tuple(shown.texts_of(result.index))
    held = shown.items()
    gone = tuple([fact for fact in of_trace.texts.facts(result.text) if fact not in held])
    return Standing(result, False, gone, texts, () if texts else tuple(shown.texts_of(None)))


class _Asked:
    """What is asked of each prompt: the uses of its turn, the calls that it repeats, and, where it compacts, what survives."""

    def __init__(self, of_trace: TraceEvidence, run: Run) -> None:
        self._of_trace = of_trace
        self._repeats: dict[int, list[Repeat]] = {}
        for repeat in of_trace.repeats:
            self._repeats.setdefault(repeat.turn, []).append(repeat)
        self._compactions = compaction_steps(run, of_trace.joined_before)
        self._survivors: dict[str, Survivors] = {}

    def of(self, prompt: Prompt, shown: Shown, found: PromptScan) -> None:
        dependencies = self._of_trace.dependencies_by_turn.get(prompt.step, ())
        if dependencies:
            held, original = shown.items(), shown.original()
            found.judged.extend([Judged(item, item.fact in held, item.fact in original) for item in dependencies])
        for repeat in self._repeats.get(prompt.step, ()):
            told = () if shown.whole(repeat.earlier) else repeat.told
            holds = shown.items() if told else ()
            found.repeats.append((repeat, tuple([fact for fact in told if fact not in holds])))
        if prompt.step in self._compactions:
            if prompt.thread not in self._survivors:
                self._survivors[prompt.thread] = Survivors(self._of_trace.told_by_results(prompt.thread))
            counted = self._survivors[prompt.thread].at(prompt, shown)
            if counted.total:  # before anything was told there is nothing to lose
                found.compactions.setdefault(prompt.thread, []).append(counted)
