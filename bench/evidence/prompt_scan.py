"""One walk through the prompts of a run, for all metrics that ask what was lost: made once a run and kept with it."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..model import Prompt, Run, ToolResult, Trace
from ..text.facts import facts_of
from .alike import alike
from .compactions import Round, Survivors, round_steps
from .presence import Shown, facts_in_prompts, sightings
from .repeats import Repeat, repeats
from .uses import Use, uses


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
class PromptScan:
    """What the walk found.

    `standings` of every result, by place: "shown" is the first prompt of its thread after it, "end" the last one. `judged` is every use with
    whether the prompt of its turn held it; uses for which no strategy can be blamed are left out. `missed` is every use that it did not hold,
    with how the result that told it stood in that prompt. `repeats` is every call that asked again, with what it had been told that the prompt
    did not hold. `rounds` are those of each thread that has any.
    """

    standings: dict[str, list[Standing]] = field(default_factory=lambda: {"shown": [], "end": []})
    judged: list[tuple[Use, bool]] = field(default_factory=list)
    missed: list[tuple[Use, Standing]] = field(default_factory=list)
    repeats: list[tuple[Repeat, tuple[str, ...]]] = field(default_factory=list)
    rounds: dict[str, list[Round]] = field(default_factory=dict)


def prompt_scan(trace: Trace, run: Run) -> PromptScan:
    """The survey of a run, made once for all runs that show the same."""
    kept = alike(trace, run)
    if "_survey" not in kept:
        kept["_survey"] = _survey(trace, run)
    found: PromptScan = kept["_survey"]
    return found


def _survey(trace: Trace, run: Run) -> PromptScan:
    asked = _Asked(trace, run)
    found = PromptScan()
    for place, subject, shown in sightings(trace, run, facts_in_prompts(trace)):
        if isinstance(subject, ToolResult):
            found.standings[place].append(_standing(subject, shown))
        else:
            asked.of(subject, shown, found)
    for standings in found.standings.values():
        standings.sort(key=lambda standing: standing.result.index)
    return found


def _standing(result: ToolResult, shown: Shown) -> Standing:
    if shown.whole(result):
        return Standing(result, True)
    texts = tuple(shown.texts_of(result.index))
    held = shown.items()
    gone = tuple([fact for fact in facts_of(result.text) if fact not in held])
    return Standing(result, False, gone, texts, () if texts else tuple(shown.texts_of(None)))


class _Asked:
    """What is asked of each prompt: the uses of its turn, the calls that it repeats, and, in a round, what survives."""

    def __init__(self, trace: Trace, run: Run) -> None:
        self._trace = trace
        self._results = {result.index: result for result in trace.results}
        self._uses: dict[int, list[Use]] = {}
        for use in uses(trace):
            if not use.recorded_only:
                self._uses.setdefault(use.turn, []).append(use)
        self._repeats: dict[int, list[Repeat]] = {}
        for repeat in repeats(trace):
            self._repeats.setdefault(repeat.turn, []).append(repeat)
        self._rounds = round_steps(trace, run)
        self._survivors: dict[str, Survivors] = {}

    def of(self, prompt: Prompt, shown: Shown, found: PromptScan) -> None:
        for use in self._uses.get(prompt.step, ()):
            source = self._results[use.source]
            present = shown.whole(source) or use.fact in shown.items()
            found.judged.append((use, present))
            if not present:
                texts = tuple(shown.texts_of(source.index))
                found.missed.append((use, Standing(source, False, (use.fact,), texts)))
        for repeat in self._repeats.get(prompt.step, ()):
            told, held = ((), {}) if shown.whole(repeat.earlier) else (repeat.told, shown.items())
            found.repeats.append((repeat, tuple([fact for fact in told if fact not in held])))
        if prompt.step in self._rounds:
            counted = self._survivors.setdefault(prompt.thread, Survivors(self._trace, prompt.thread))
            judged = counted.round(prompt, shown)
            if judged.total:  # before anything was told there is nothing to lose
                found.rounds.setdefault(prompt.thread, []).append(judged)
