"""The values that the evidence of all replays of one trace shares."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

from ..model import ToolResult, Trace, grouped, memo
from ..model.index import TraceIndex
from ..text.facts import flat
from ..text.omissions import says_omission
from .calls import Repeat, repeats_of
from .contents import TraceContents
from .generated_text import GeneratedText, RewrittenResult
from .instructions import InstructionReader, instructions_of
from .mentions import Mentions
from .messages import TraceMessages
from .prices import Pricing
from .prompt_rules import PromptRules
from .records import RecordValues


class TraceSession:
    """One trace while strategies are measured on it: everything that does not depend on a strategy.

    `excused` returns the instructions that the recorded prompts lacked, by step and place.
    """

    def __init__(
        self,
        trace: Trace,
        index: TraceIndex,
        contents: TraceContents | None = None,
        excused: Callable[[], Iterable[tuple[int, int]]] = tuple,
    ) -> None:
        self.trace, self.index, self._excused = trace, index, excused
        self.messages = TraceMessages(trace, index, contents)
        self.contents = self.messages.contents
        self.pricing = Pricing(trace, index, self.contents.once)
        self.mentions = Mentions(self.messages)

    @memo
    def generated_text(self, number: int, handles: tuple[str, ...] = ()) -> GeneratedText:
        """A message of a strategy with its handles, as the rules read it."""
        result = self.contents.result_of(self.messages.messages[number])
        if result is None:
            return GeneratedText(self, number, handles)
        return RewrittenResult(self, number, handles, result)

    @cached_property
    def excused(self) -> frozenset[tuple[int, int]]:
        """The instructions that the recorded prompts lacked, by step and place, which no strategy
        is blamed for."""
        return frozenset(self._excused())

    @cached_property
    def turns(self) -> dict[str, frozenset[str]]:
        """The roles of the system prompts and turns with the same words, by these words with single
        blanks."""
        recorded = self.messages.recording.messages
        turns = (message for message in recorded if message.kind in ("system", "user", "model"))
        by_words = grouped((" ".join(turn.text.split()), turn.role) for turn in turns)
        return {words: frozenset(roles) for words, roles in by_words.items()}

    @cached_property
    def records(self) -> RecordValues:
        """The records of its structured results."""
        return RecordValues(self.contents.results, self.contents.once)

    @cached_property
    def instructions(self) -> InstructionReader:
        """The instructions of its system and user turns."""
        given = instructions_of(self.trace, self.index, self.contents.rules)
        return InstructionReader(given, self.index, self.messages.messages)

    @cached_property
    def functions(self) -> frozenset[str]:
        """The words of the names of the functions whose results it has."""
        names = (result.function for result in self.trace.results)
        return frozenset(word for name in {*names} for word in flat(name).split())

    @memo
    def lines_of(self, step: int | None) -> frozenset[str]:
        """The lines of the messages that show a step; for None those of all recorded messages."""
        if step is None:
            return frozenset().union(*map(self.lines_of, self._recorded_texts))
        texts = self._recorded_texts.get(step, ())
        return frozenset(line for text in texts for line in text.split("\n"))

    @cached_property
    def _recorded_texts(self) -> dict[int, list[str]]:
        """The texts of the recorded messages by step."""
        messages = self.messages.recording.messages
        return grouped((item.step, item.text) for item in messages if item.step is not None)

    def equal_results(self, result: ToolResult) -> list[ToolResult]:
        """The results with the same words as a result, including itself, in order."""
        return self._results_by_words[" ".join(result.text.split())]

    @cached_property
    def _results_by_words(self) -> dict[str, list[ToolResult]]:
        return grouped((" ".join(result.text.split()), result) for result in self.trace.results)

    @memo
    def names_omission(self, text: str) -> bool:
        """True if a text says that something was left out, of whatever result."""
        return bool(says_omission(text, ""))

    @cached_property
    def succeeded(self) -> dict[str, list[int]]:
        """The steps of the results of each thread that did not fail, in order."""
        results = (it.result for it in self.contents.results.values() if not it.failed)
        return grouped((result.thread, result.index) for result in results)

    @cached_property
    def repeats(self) -> list[Repeat]:
        """Its repeated calls."""
        return repeats_of(self.trace)

    @cached_property
    def rules(self) -> PromptRules:
        """The provider's rules for its prompts."""
        return PromptRules(self.messages)
