"""The evidence of one trace, whatever strategy is replayed: found once, when it is first asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator
from functools import cached_property
from types import MappingProxyType

from ..model import (
    Message,
    ModelTurn,
    Prompt,
    RecordedCut,
    RecordedReset,
    ResultOutcome,
    Run,
    SystemTurn,
    ToolResult,
    Trace,
    UserTurn,
    as_text,
    compact_json,
    grouped,
    text_of,
)
from ..text.fact_kinds import exit_codes, kinds_of
from ..text.notices import notice
from ..text.texts import FactsHeld, Remembered, Texts
from ..tokens.caching import CacheRule, cache_rule
from ..tokens.counting import TokenCounter
from ..tokens.prices import provider_of
from .changed import ChangedValue, Returned, failed
from .dependencies import Dependency, DependencyFinder
from .instructions import Instructions
from .meaning import Meaning
from .oracle import Future, Need, find_needs
from .own_words import SaidBefore
from .presence import ItemsOf, MessageTexts, PromptHeld, StructuredResults, sightings
from .recorded_cut import Repeat, find_cuts, find_repeats, find_resets
from .spoken import spoken
from .validity import RecordedPrompts

_EARLY = 1.5
"""An answer whose text has so many times the output tokens that were reported: they were counted before it had ended."""


class TraceEvidence:
    """One trace, and what depends on it alone. It lives as long as its case is measured. `model` names the model of turns that name none, in a
    trace that names none at all.
    """

    def __init__(self, trace: Trace, model: str | None = None) -> None:
        self.trace = trace
        self.model = trace.model or model
        self.texts = Texts()
        words = (self.texts.words(text) for step in trace.steps for text in spoken(step))
        self.texts.lower.update(word for of_text in words for word in of_text if word.islower())
        self._message_texts = MessageTexts(trace.results)
        text_of_step = {result.index: result.text for result in trace.results}
        self._notices = Remembered(lambda key: notice(key[1], text_of_step[key[0]], self.texts, in_its_place=key[2]))
        self._returned = Remembered(self._as_returned)
        self._changes = Remembered(lambda key: self._returned(key[0]).changes(self._message_texts.part(key[0], key[1])))
        self._answers: dict[str, dict[int, int]] = {}
        self._cache_rules = Remembered(lambda model: cache_rule(provider_of(model), model))

    # ------------------------------------------------------------ said

    @cached_property
    def results(self) -> dict[int, ToolResult]:
        """The tool results by step."""
        return {result.index: result for result in self.trace.results}

    @cached_property
    def models(self) -> dict[int, str]:
        """The model of each turn that names one, by step."""
        return {turn.index: turn.model for turn in self.trace.model_turns if turn.model}

    def model_of(self, step: int) -> str | None:
        """The model of a turn: its own, else the trace's."""
        return self.models.get(step, self.model)

    def cache_rule_of(self, step: int) -> CacheRule | None:
        """The rule of the cache that serves a turn's model; None where it is not known."""
        return self._cache_rules(self.model_of(step))

    @cached_property
    def warm(self) -> dict[int, int]:
        """By step of each thread's first turn the prompt tokens that its recording was served from the cache: what earlier runs had left there."""
        first: dict[str, ModelTurn] = {}
        for turn in self.trace.model_turns:
            first.setdefault(turn.thread, turn)
        served = ((turn.index, turn.usage.cached_prompt_tokens) for turn in first.values() if turn.usage is not None)
        return {step: tokens for step, tokens in served if tokens}

    @cached_property
    def spoken(self) -> dict[str, list[tuple[int, str]]]:
        """The steps of each thread that say something, in order, each with what its message says as it is."""
        said = self.said_before.as_spoken
        return grouped((item.thread, (item.index, said[item.index])) for item in self.trace.steps if item.index in said)

    @cached_property
    def times(self) -> dict[int, float]:
        """The time of each step that has one, in seconds since the epoch."""
        return {step.index: step.t for step in self.trace.steps if step.t is not None}

    @cached_property
    def recorded_at_s(self) -> float | None:
        """The start of the recording, in seconds since the epoch; None where it does not say."""
        return next(iter(self.times.values()), None)

    def idle_s(self, last: int, step: int) -> float | None:
        """Seconds from one step to another; None where they are not recorded."""
        times = self.times
        return times[step] - times[last] if step in times and last in times else None

    @cached_property
    def kinds(self) -> dict[int, dict[str, tuple[str, ...]]]:
        """The facts of every result by kind, by its step."""
        return {step: kinds_of(result.text, self.texts) for step, result in self.results.items()}

    @cached_property
    def exit_codes(self) -> dict[int, int]:
        """The exit code of every result that states one, by its step: the first one it states, which is that of the envelope."""
        stated = {step: exit_codes(result.text) for step, result in self.results.items()}
        return {step: codes[0] for step, codes in stated.items() if codes}

    @cached_property
    def structured(self) -> StructuredResults:
        """The structured results, taken apart."""
        return StructuredResults(self.trace.results, self.texts)

    @cached_property
    def meaning(self) -> Meaning:
        """Tells if texts keep the meaning of facts of structured results."""
        return Meaning(self.results, self.texts)

    @cached_property
    def joined_before(self) -> dict[int, list[int]]:
        """For each model turn the steps that joined its thread's history since the turn before it, that turn included."""
        found: dict[int, list[int]] = {}
        waiting: dict[str, list[int]] = {}
        for step in self.trace.steps:
            of_thread = waiting.setdefault(step.thread, [])
            if isinstance(step, ModelTurn):
                found[step.index] = of_thread.copy()
                of_thread.clear()
            if isinstance(step, SystemTurn | UserTurn | ModelTurn | ToolResult):
                of_thread.append(step.index)
        return found

    @cached_property
    def told_by_results(self) -> dict[str, list[tuple[int, dict[str, int]]]]:
        """By thread the step of each result with its facts, each with how many results of the thread up to it told it."""
        times: dict[str, Counter[str]] = {}
        found: dict[str, list[tuple[int, dict[str, int]]]] = {}
        for result in self.trace.results:
            facts, told = self.texts.facts(result.text), times.setdefault(result.thread, Counter())
            told.update(facts.keys())
            found.setdefault(result.thread, []).append((result.index, {fact: told[fact] for fact in facts}))
        return found

    @cached_property
    def commands(self) -> dict[str, dict[str, int]]:
        """By thread its distinct commands, each with the step of its first appearance."""
        found: dict[str, dict[str, int]] = {}
        for turn in self.trace.model_turns:
            for call in turn.tool_calls:
                found.setdefault(turn.thread, {}).setdefault(call.command, turn.index)
        return found

    def answer_tokens(self, count: TokenCounter) -> dict[int, int]:
        """Output tokens of each model turn: the provider's own count, else content, tool calls and reasoning counted.

        A count that is much smaller than the answer's text was taken before the answer had ended: the text counts.
        """
        if count.encoding not in self._answers:
            self._answers[count.encoding] = {turn.index: _answer_tokens(turn, count) for turn in self.trace.model_turns}
        return self._answers[count.encoding]

    # ------------------------------------------------------------ what was needed

    @cached_property
    def _finder(self) -> DependencyFinder:
        return DependencyFinder(self.trace, self.texts)

    @cached_property
    def dependencies(self) -> tuple[Dependency, ...]:
        """Every fact of a model turn that an earlier message of its thread had said and its recorded prompt held, in order of the turns."""
        part = self._message_texts.part
        return self._finder.find(self.facts_held, lambda result: part(result.index, result.shown_by_recorder))

    @cached_property
    def dependencies_by_turn(self) -> dict[int, list[Dependency]]:
        """The dependencies of each turn that has any, by its step."""
        return grouped((item.turn, item) for item in self.dependencies)

    @cached_property
    def needs(self) -> tuple[Need, ...]:
        """Every fact that a selector which reads the future would keep, in the order in which it arose."""
        return find_needs(self.trace, self.dependencies, self.meaning.label)

    @cached_property
    def future(self) -> Future:
        """The input of a strategy that reads the future; nothing of it can be changed."""
        results = MappingProxyType({step: result.text for step, result in self.results.items()})
        return Future(self.needs, results, self.facts_held)

    @cached_property
    def repeats(self) -> tuple[Repeat, ...]:
        """Every repeated call that was told a fact again."""
        return tuple(find_repeats(self.trace, self.texts))

    @cached_property
    def cuts(self) -> tuple[RecordedCut, ...]:
        """The results that the recorded harness itself cut."""
        return tuple(find_cuts(self.trace, self.texts))

    @cached_property
    def resets(self) -> tuple[RecordedReset, ...]:
        """Every time the recorded harness cleared its history."""
        return tuple(find_resets(self.trace, self.texts))

    # ------------------------------------------------------------ what prompts hold

    @cached_property
    def recorded(self) -> RecordedPrompts:
        """The recording's own prompts, against which those of a strategy are checked."""
        return RecordedPrompts(self.trace, Instructions(self.trace, self.texts, self.facts_held, self._needed_of_users))

    def _needed_of_users(self) -> dict[int, tuple[frozenset[str], int]]:
        """By step of a user turn the facts that later turns took from it, and the last turn that did."""
        found: dict[int, tuple[frozenset[str], int]] = {}
        for item in self.dependencies:
            if item.origin == "user":
                facts, last = found.get(item.origin_step, (frozenset(), -1))
                found[item.origin_step] = facts | {item.fact}, max(last, item.turn)
        return found

    @cached_property
    def facts_held(self) -> FactsHeld:
        """All that is looked for in prompts: the facts of results and instructions, and what turns may depend on."""
        said = [result.text for result in self.trace.results]
        said += [text_of(step.content) for step in self.trace.steps if isinstance(step, SystemTurn | UserTurn)]
        facts = dict.fromkeys(fact for text in said for fact in self.texts.facts(text))
        return FactsHeld({**facts, **self._finder.universe}, self.texts)

    def lost_of(self, result: ToolResult, text: str) -> list[str]:
        """The facts of a result that a text does not hold, in the order of the result."""
        held = frozenset(self.facts_held(text))
        return [fact for fact in self.texts.facts(result.text) if fact not in held]

    def said_in(self, message: Message) -> tuple[str, ...]:
        """The texts of a message in which facts are looked for, its calls too."""
        return self._message_texts(message)

    @cached_property
    def failed(self) -> frozenset[int]:
        """The steps of the results that failed and say so."""
        return frozenset(step for step, result in self.results.items() if failed(result))

    def _as_returned(self, step: int) -> Returned:
        said = self.results.get(step)
        return Returned(said or ToolResult(index=step, call_id="", function="", seen=self.said_before.as_spoken[step]))

    def changes(self, step: int, shown: str) -> list[ChangedValue]:
        """The values of a text that shows the result of a step which are others than the tool returned."""
        return self._changes[step, shown]

    @cached_property
    def said_before(self) -> SaidBefore:
        """The words and facts of the trace by the first step that has them."""
        return SaidBefore(self.trace, self.texts, self.said_in)

    def written_by_strategy(self, run: Run) -> frozenset[str]:
        """The keys of messages that the strategy wrote, or that say neither what their step said nor what the recorded model saw."""
        return frozenset(
            key
            for key, message in run.held_messages.items()
            if (message.step is None or message.kind == "result") and not self.said_before.as_recorded(message)
        )

    def sightings(
        self, run: Run, items_of: ItemsOf, own: Container[str] = ()
    ) -> Iterator[tuple[str, ToolResult | Prompt, PromptHeld]]:
        """Each prompt of a run with what it holds, and each result at its first and last prompt: see `bench.evidence.presence.sightings`."""
        return sightings(self.trace, run, self._message_texts, items_of, own)

    def stored_text(self, result: ToolResult, outcome: ResultOutcome) -> str:
        """The stored part of a result as a text: its own text where all of it was stored, `""` for nothing."""
        if outcome.stored is None:
            return ""
        if outcome.stored is result.value:
            return result.text
        text = as_text(outcome.stored)
        return result.text if text == as_text(result.value) else self._message_texts.part(result.index, text)

    def notice(self, step: int, shown: tuple[str, ...], *, in_its_place: bool) -> str | None:
        """The words in the shown texts that say that some of a result was left out; None for no such words.

        `in_its_place`: these texts show the result.
        """
        return self._notices[step, shown, in_its_place]


def _answer_tokens(turn: ModelTurn, count: TokenCounter) -> int:
    calls = (call for call in turn.tool_calls if not call.in_text)
    said = count.text(text_of(turn.content))
    said += sum(count.text(call.name) + count.text(compact_json(call.arguments)) for call in calls)
    if turn.usage is None:
        return said + count.text(turn.reasoning or "")
    return said if said > _EARLY * turn.usage.completion_tokens else turn.usage.completion_tokens
