"""The evidence of one replay: its prices, needs, prompts, stored results and own texts, computed on
demand.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain

from ..model import Step, ToolResult, grouped
from ..model.replay import Replay, StepOutcome
from .kept import PLACES, KeptShare, MessagesInPrompt, Place, facts_kept, fields_kept
from .lost import picked_out
from .missing import MissingInstructions, missing_instructions
from .own_text import OwnText, RewrittenResult
from .pairs import Refused
from .refetch import Fetch, fetches_of
from .result_facts import PromptFacts
from .session import TraceSession
from .walk import Stay, Walked, walk


class ReplayEvidence:
    """The evidence of one replay. `session` is that of its trace."""

    def __init__(self, session: TraceSession, replay: Replay) -> None:
        self.session, self.replay = session, replay
        self.trace, self.index, self.messages = session.trace, session.index, session.messages
        self._in_prompt: MessagesInPrompt | None = None  # that of the call asked about last
        self._facts: dict[str, PromptFacts] = {}

    @cached_property
    def walked(self) -> Walked:
        """The walk over its prompts."""
        return walk(self.replay, self.messages, self.session.pricing)

    @cached_property
    def lacking(self) -> list[MissingInstructions]:
        """For each call the instructions that its prompt lacks."""
        return missing_instructions(self, self.session.instructions)

    @cached_property
    def missing_instructions(self) -> list[MissingInstructions]:
        """For each call the instructions that its prompt lacks, except those that the recorded
        prompt lacked.
        """
        excused = self.session.excused
        return [
            item._replace(
                missing=tuple(at for at in item.missing if (item.step, at) not in excused)
            )
            for item in self.lacking
        ]

    @property
    def steps_of_calls(self) -> list[tuple[int, str]]:
        """The step and the thread of each call."""
        return [(call.step, call.thread) for call in self.walked.calls]

    @cached_property
    def fetches(self) -> list[Fetch]:
        """The calls that would fetch missing facts for turns."""
        return fetches_of(self.session, self.walked, self.replay)

    @cached_property
    def refused(self) -> list[Refused]:
        """The prompts that a provider would refuse."""
        return list(self.session.rules.refused(self.walked.calls))

    @cached_property
    def outcomes(self) -> dict[int, StepOutcome]:
        """The outcome of each result by its step."""
        return {outcome.step: outcome for outcome in self.replay.results}

    @cached_property
    def own(self) -> tuple[int, ...]:
        """The messages of the strategy in any prompt, in order."""
        return tuple(sorted(n for n in self.walked.stays if n >= self.messages.recorded))

    def own_about(self, step: int, call: int) -> list[int]:
        """Those in the prompt of a call that show the result of a step, or several messages."""
        of_step = self.own_by_step.get(step, ())
        return [
            *filter(self.in_prompt(call).__contains__, of_step),
            *self._of_several.get(call, ()),
        ]

    @cached_property
    def own_by_step(self) -> dict[int | None, list[int]]:
        """Those by the step of the result that they show; None for those that show several."""
        return grouped((self.messages.messages[number].step, number) for number in self.own)

    @cached_property
    def _of_several(self) -> dict[int, list[int]]:
        """By call the messages of the strategy's own in its prompt that show several."""
        stays = ((n, stay) for n in self.own_by_step.get(None, ()) for stay in self.walked.stays[n])
        return grouped(
            (call, number) for number, stay in stays for call in self._calls_during(stay)
        )

    def calls_with(self, numbers: Iterable[int]) -> set[int]:
        """The calls whose prompts have one of some messages."""
        stays = chain.from_iterable(self.walked.stays.get(number, ()) for number in numbers)
        return set[int]().union(*map(self._calls_during, stays))

    def calls_between(self, thread: str, first: int, last: int | None) -> list[int]:
        """The calls of a thread from a step on, up to another (None: all later ones)."""
        steps = self._steps_of_calls.get(thread, [])
        end = len(steps) if last is None else bisect_right(steps, last)
        return self.thread_calls.get(thread, [])[bisect_left(steps, first) : end]

    def _calls_during(self, stay: Stay) -> list[int]:
        """The calls during one stay of a message in prompts."""
        numbers = self.thread_calls[stay.thread]
        return numbers[bisect_left(numbers, stay.first) : bisect_left(numbers, stay.after)]

    @cached_property
    def own_texts(self) -> list[OwnText]:
        """The strategy's messages with a text, as the rules read them."""
        return [own for own in self._read if not own.is_blank]

    @cached_property
    def _read(self) -> list[OwnText]:
        messages, read = self.messages.messages, self.session.own_text
        return [
            read(n, tuple(name for name in self.handle_names if name in messages[n].text))
            for n in self.own
        ]

    @cached_property
    def rewritten(self) -> list[RewrittenResult]:
        """The strategy's messages that show a result."""
        return [own for own in self.own_texts if isinstance(own, RewrittenResult)]

    @cached_property
    def emptied(self) -> list[RewrittenResult]:
        """The empty messages in place of results with a text."""
        shown = (own for own in self._read if isinstance(own, RewrittenResult))
        return [own for own in shown if own.is_blank and own.result.text.strip()]

    @cached_property
    def handle_names(self) -> list[str]:
        """The strategy's handles, longer ones first."""
        names = {item.handle for item in self.replay.handles}
        return sorted(names, key=lambda name: (-len(name), name))

    def first_call(self, number: int) -> int:
        """The first call whose prompt has a message."""
        return min(stay.first for stay in self.walked.stays[number])

    def is_in_prompt(self, number: int, call: int) -> bool:
        """True if a message is in the prompt of a call; calls are numbered from 0 over all threads."""
        return number in self.in_prompt(call)

    def in_prompt(self, call: int) -> MessagesInPrompt:
        """The messages in the prompt of a call."""
        if self._in_prompt is None or self._in_prompt.call != call:
            thread = self.walked.calls[call].thread
            self._in_prompt = MessagesInPrompt(self.walked.stays, self.own, call, thread)
        return self._in_prompt

    def facts_at(self, call: int) -> int:
        """The facts of results that the prompt of a call holds, as bits; cheap for the calls of one
        thread in order.
        """
        item = self.walked.calls[call]
        if item.thread not in self._facts:
            calls = [self.walked.calls[number] for number in self.thread_calls[item.thread]]
            self._facts[item.thread] = PromptFacts(calls, self.session.facts.held_by)
        return self._facts[item.thread].at(item)

    @cached_property
    def thread_calls(self) -> dict[str, list[int]]:
        """The calls of each thread, by number."""
        return grouped((call.thread, number) for number, call in enumerate(self.walked.calls))

    @cached_property
    def _steps_of_calls(self) -> dict[str, list[int]]:
        """The steps of the calls of each thread."""
        return grouped((call.thread, call.step) for call in self.walked.calls)

    def call_after(self, step: Step) -> int | None:
        """The first call of a step's thread after it; None without one."""
        place = bisect_right(self._steps_of_calls.get(step.thread, ()), step.index)
        return next(iter(self.thread_calls.get(step.thread, ())[place : place + 1]), None)

    def prompted(self, place: Place) -> Iterator[tuple[ToolResult, int]]:
        """Yield each result with a later prompt in its thread, with the call of the first or last
        such prompt.
        """
        for result, first in self._prompted:
            yield result, self.thread_calls[result.thread][-1] if place == "end" else first

    @cached_property
    def _prompted(self) -> list[tuple[ToolResult, int]]:
        results = self.messages.contents.results.values()
        calls = ((result, self.call_after(result)) for result in results)
        return [(result, call) for result, call in calls if call is not None]

    @cached_property
    def picked_out(self) -> tuple[int, ...]:
        """The steps that a strategy left out because of their contents."""
        return tuple(sorted({*picked_out(self)}))

    @cached_property
    def facts_kept(self) -> dict[Place, list[KeptShare]]:
        """The kept facts of each result, by place."""
        return {place: list(facts_kept(self, place)) for place in PLACES}

    @cached_property
    def fields_kept(self) -> dict[Place, list[KeptShare]]:
        """The kept fields of each structured result, by place."""
        return {place: list(fields_kept(self, place)) for place in PLACES}
