"""The evidence of one replay: what its walk found, what its prompts and its store hold of each
result. Found when it is first asked for.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from ..model import Step, ToolResult, Trace, grouped, memo
from ..model.index import TraceIndex
from ..model.replay import Replay, StepOutcome
from ..model.scores import Finding
from ..text.escapes import unescape
from ..text.excerpts import Gap
from ..text.facts import flat
from ..text.identifiers import identifiers_of
from ..text.instructions import quantifiers
from ..text.line_changes import ResultLines
from ..text.omissions import says_omission
from .calls import call_of
from .contents import TraceContents
from .failures import failed
from .kept import PLACES, KeptShare, Place, Standing, ThreadCursor, facts_kept, fields_kept
from .lost import picked_out
from .mentions import Mentions
from .missing import (
    InstructionReader,
    MissingInstructions,
    instructions_of,
    missing_instructions,
    rules_of,
)
from .own_texts import TraceMessages
from .pairs import PromptRules, Refused
from .prices import Pricing
from .records import RecordValues
from .refetch import Fetch, fetches_of
from .repeats import Repeat, repeats_of
from .result_counts import ResultCounts
from .result_facts import ResultFacts
from .walk import Walked, walk

_PART = re.compile(r"[^\W\d_]{2,}")


Lacking = Callable[[], Iterable[tuple[int, int]]]


class TraceSession:
    """One trace while strategies are measured on it: everything that does not depend on a strategy.

    `lacking` gives the instructions, by step and place, that the recorded prompts lacked.
    """

    def __init__(
        self,
        trace: Trace,
        index: TraceIndex,
        contents: TraceContents | None = None,
        lacking: Lacking = tuple,
    ) -> None:
        self.trace, self.index, self._lacking = trace, index, lacking
        self.messages = TraceMessages(trace, index, contents)
        self.pricing = Pricing(trace, index, self.messages.contents.once)
        self.facts = ResultFacts(self.messages)
        self.mentions = Mentions(self.messages)
        self.new_lines: dict[int, list[str]] = {}
        """The lines of a strategy's message that no recorded one has, as far as they were asked
        for.
        """

        self.prose: dict[str, tuple[str, ...]] = {}
        """The parts of a line that no recorded message has, as far as they were asked for."""

        self.gaps: dict[int, list[Gap] | None] = {}
        """The gaps of a strategy's message that shows its result and no more, as far as they were
        asked for.
        """

        self.strange: dict[tuple[int, frozenset[str], tuple[str, ...]], str] = {}
        """What nothing had said in a text that shows a result, by its number, the strategy's
        wording, and what it says on purpose and handles in it.
        """

        self.changes: dict[int, list[Finding]] = {}
        """What the rule *changed* found in a strategy's message, as far as it was asked for."""

        self.unsupported: dict[int, str] = {}
        """What nothing supports in a strategy's message, `""` for nothing, as far as it was asked
        for.
        """

        self.unread: set[int] = set()
        """The messages of a strategy that the rule *changed* could not read."""

    @memo
    def identifiers(self, text: str) -> tuple[str, ...]:
        """The identifiers of a result as text."""
        return identifiers_of(text)

    @memo
    def _lines_in(self, text: str) -> dict[str, None]:
        """The distinct lines of a recorded text, in order."""
        return dict.fromkeys(text.split("\n"))

    @cached_property
    def excused(self) -> frozenset[tuple[int, int]]:
        """The instructions, by step and place, that the recording's own prompts lacked: held
        against nobody.
        """
        return frozenset(self._lacking())

    @cached_property
    def turns(self) -> dict[str, frozenset[str]]:
        """The words of each turn and system prompt, blanks folded, in order, with who said them."""
        recorded = self.messages.messages[: self.messages.recorded]
        turns = (message for message in recorded if message.kind in ("system", "user", "model"))
        by_words = grouped((" ".join(turn.text.split()), turn.role) for turn in turns)
        return {words: frozenset(roles) for words, roles in by_words.items()}

    @cached_property
    def records(self) -> RecordValues:
        """The records of its structured results."""
        contents = self.messages.contents
        return RecordValues(contents.results, contents.table, contents.once)

    @cached_property
    def instructions(self) -> InstructionReader:
        """The instructions of its system and user turns."""
        rules = self.messages.contents.once(
            dict[int, list[str]], "rules", lambda: rules_of(self.trace)
        )
        return InstructionReader(
            instructions_of(self.trace, self.index, rules), self.index, self.messages.messages
        )

    @cached_property
    def functions(self) -> frozenset[str]:
        """The words of the names of the functions whose results it has."""
        names = (result.function for result in self.messages.contents.results.values())
        return frozenset(word for name in {*names} for word in flat(name).split())

    @memo
    def words_of(self, step: int) -> frozenset[str]:
        """The words of a result and of its call, and the parts of those words."""
        result, texts = self.messages.contents.results[step], self.messages.texts
        words = {
            word
            for text in {result.text, result.recorded_text, call_of(result)}
            for word in texts.flat(text).split()
        }
        return frozenset(words).union(part for word in words for part in _PART.findall(word))

    @memo
    def quantifiers_of(self, step: int) -> list[str]:
        """The words of a result and of its call that speak of all, none or the first."""
        result, plain = self.messages.contents.results[step], self.messages.texts.plain
        return quantifiers(f"{plain(result.text)}\n{plain(call_of(result))}")

    @memo
    def lines_of(self, step: int | None) -> frozenset[str]:
        """The lines of the messages that show a step; of all recorded messages for None."""
        messages = self.messages.messages[: self.messages.recorded]
        texts = (message.text for message in messages if step is None or message.step == step)
        return frozenset().union(*map(self._lines_in, texts))

    @memo
    def result_lines(self, step: int) -> ResultLines:
        """The lines of a result as text, of a structured one those of its long values."""
        table = self.messages.table(step)
        texts = table.prose if table.fields else [self.messages.contents.results[step].text]
        return ResultLines(
            part
            for text in texts
            for line in self._lines_in(text)
            for part in ((line, *unescape(line).split("\n")) if "\\" in line else (line,))
        )

    def says_omission(self, result: ToolResult, text: str) -> bool:
        """True if a text that shows a result says that something was left out."""
        return self._says_omission(text, result.index)

    @memo
    def _says_omission(self, text: str, step: int) -> bool:
        return bool(says_omission(text, self.messages.contents.results[step].text))

    def result_counts(self, result: ToolResult) -> ResultCounts:
        """The numbers that count something in a result or in the messages that show it."""
        return self._result_counts(result.index)

    @memo
    def _result_counts(self, step: int) -> ResultCounts:
        numbers = {self.index.full[step], self.index.seen[step]}
        texts = (self.messages.messages[number].text for number in sorted(numbers))
        return ResultCounts(self.messages.contents.results[step], texts)

    def failed(self, result: ToolResult) -> bool:
        """True if a result failed."""
        return result.index in self._failed

    @cached_property
    def _failed(self) -> frozenset[int]:
        """The steps of the results that failed."""
        results = self.messages.contents.results
        return frozenset(step for step, result in results.items() if failed(result))

    @cached_property
    def succeeded(self) -> dict[str, list[int]]:
        """The steps of the results of each thread that did not fail, in order."""
        results = self.messages.contents.results.values()
        return grouped((item.thread, item.index) for item in results if not self.failed(item))

    @cached_property
    def repeats(self) -> list[Repeat]:
        """Its repeated calls."""
        return repeats_of(self.trace)

    @cached_property
    def rules(self) -> PromptRules:
        """The demands of a provider on its prompts."""
        return PromptRules(self.messages)


class ReplayEvidence:
    """The evidence of one replay. `session` is that of its trace."""

    def __init__(self, session: TraceSession, replay: Replay) -> None:
        self.session, self.replay = session, replay
        self.trace, self.index, self.messages = session.trace, session.index, session.messages
        self._cursors: dict[str, ThreadCursor] = {}

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
        """For each call the instructions that its prompt lacks, but for those that the recorded
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
        """The calls that would give turns what their prompts lacked."""
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
        """The messages of the strategy's own that stood in any prompt, in order."""
        return tuple(sorted(n for n in self.walked.stays if n >= self.messages.recorded))

    def stands(self, number: int, call: int) -> bool:
        """True if a message stands in the prompt of a call; calls are numbered from 0 over all
        threads.
        """
        thread = self.walked.calls[call].thread
        return any(
            stay.first <= call < stay.after and stay.thread == thread
            for stay in self.walked.stays.get(number, ())
        )

    def standing(self, call: int) -> Standing:
        """The messages in the prompt of a call; cheap for the calls of one thread in order."""
        item = self.walked.calls[call]
        if item.thread not in self._cursors:
            calls = [self.walked.calls[number] for number in self.thread_calls[item.thread]]
            self._cursors[item.thread] = ThreadCursor(calls, self.messages.recorded)
        return self._cursors[item.thread].at(item)

    @cached_property
    def thread_calls(self) -> dict[str, list[int]]:
        """The calls of each thread, by number."""
        by_thread: dict[str, list[int]] = {}
        for number, call in enumerate(self.walked.calls):
            by_thread.setdefault(call.thread, []).append(number)
        return by_thread

    @cached_property
    def _steps_of_calls(self) -> dict[str, list[int]]:
        """The steps of the calls of each thread."""
        calls = self.walked.calls
        return {
            thread: [calls[number].step for number in numbers]
            for thread, numbers in self.thread_calls.items()
        }

    def call_after(self, step: Step) -> int | None:
        """The first call of its thread after a step; None where there is none."""
        place = bisect_right(self._steps_of_calls.get(step.thread, ()), step.index)
        return next(iter(self.thread_calls.get(step.thread, ())[place : place + 1]), None)

    def prompted(self, place: Place) -> Iterator[tuple[ToolResult, int]]:
        """Yield each result that a later prompt of its thread could hold, with the call of its
        first or last one.
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
        """The steps that a strategy has read and dropped alone."""
        return tuple(sorted({*picked_out(self)}))

    @cached_property
    def facts_kept(self) -> dict[Place, list[KeptShare]]:
        """By place the facts of each result that are still there."""
        return {place: list(facts_kept(self, place)) for place in PLACES}

    @cached_property
    def fields_kept(self) -> dict[Place, list[KeptShare]]:
        """By place the fields of each structured result that are still there beside their keys."""
        return {place: list(fields_kept(self, place)) for place in PLACES}
