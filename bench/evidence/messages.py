"""The messages of one trace while strategies are measured: the recorded ones, and each distinct
message of a strategy, read once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from ..model import Message, ToolResult, Trace, as_text, grouped, memo
from ..model.index import Need, TraceIndex
from ..model.messages import recorded_messages
from ..model.replay import Replay
from ..text.facts import flat
from ..text.notices import without_notices
from ..text.text_records import TextReading
from ..text.texts import Texts
from .contents import TraceContents, kept_between_runs

_FEWEST = 4
"""The fewest words of a line that another text has only if it quotes it."""

_BEGUN_CHARS = 24
"""The characters that two texts do not share by accident."""


class TraceMessages:
    """The numbered messages of one trace, for all strategies that are measured on it.

    Numbers below `recorded` are those of the index. A message with the same content as a recorded
    one has its number.
    """

    def __init__(
        self, trace: Trace, index: TraceIndex, contents: TraceContents | None = None
    ) -> None:
        self.trace, self.index = trace, index
        self.recording = recorded_messages(trace, index.reasoning_tokens)
        self.messages: list[Message] = list(self.recording.messages)
        self.tokens: list[int] = list(index.tokens)
        self.recorded = len(self.messages)
        self.contents = contents or TraceContents(trace)
        self.once = self.contents.once
        self.count = self.contents.counter(index.encoding).calibrated(index.counting)
        self._needed = frozenset(index.facts)
        self._numbers = {_key(message): at for at, message in reversed([*enumerate(self.messages)])}

    @property
    def texts(self) -> Texts:
        """A reader of its texts."""
        return self.contents.texts

    @cached_property
    def results_by_beginning(self) -> dict[str, list[tuple[int, str]]]:
        """The recorded texts of results, each with its step, by their beginning. Short ones are left
        out: they may begin like other words."""
        results = (m for m in self.recording.messages if m.kind == "result" and m.step is not None)
        return grouped(
            (message.text[:_BEGUN_CHARS], (message.step or 0, message.text))
            for message in results
            if len(message.text) >= _BEGUN_CHARS
        )

    def number_of(self, message: Message) -> int:
        """The number of a message; a new one for new content."""
        key = _key(message)
        known = self._numbers.get(key)
        if known is None:
            known = self._numbers[key] = len(self.messages)
            self.messages.append(message)
            self.tokens.append(self.count.message(message))
        return known

    def is_generated(self, number: int) -> bool:
        """True if a message is the strategy's, and none of the recording."""
        return number >= self.recorded

    def numbers_of(self, replay: Replay) -> Sequence[int]:
        """The numbers of a replay's messages in this trace, by their numbers in the replay."""
        return [*range(self.recorded), *map(self.number_of, replay.written)]

    @memo
    def texts_of(self, number: int) -> list[str]:
        """The texts of a message that can have facts; `[]` for a message of the strategy that is
        nothing but a notice."""
        message = self.messages[number]
        may_be_notice = self.is_generated(number) and not message.tool_calls
        if may_be_notice and not without_notices(message.text).strip():
            return []
        return self.contents.of(message)

    @memo
    def facts_in(self, number: int) -> frozenset[str]:
        """The facts of turns and of results in a message; of a strategy's message without those in
        its notices."""
        texts = self.texts_of(number)
        if self.is_generated(number):
            texts = [*map(without_notices, texts)]
        return frozenset[str]().union(*map(self.contents.search.in_text, texts))

    def facts_beside(self, number: int) -> frozenset[str]:
        """The facts in a message, without those that only one result has, if it is that."""
        if self.is_generated(number):
            return self.facts_in(number)
        return self._facts_beside.get(number, frozenset())

    @kept_between_runs
    def _facts_beside(self) -> dict[int, frozenset[str]]:
        """These facts of each recorded message with any."""
        full, alone = self.index.full, dict[str, int]()  # by fact the only result with it, or -1
        for step, facts in self.contents.facts.items():
            for fact in facts:
                alone[fact] = full[step] if alone.get(fact, full[step]) == full[step] else -1
        results = frozenset(alone.values())
        facts_of = {
            number: frozenset(f for f in self.facts_in(number) if alone.get(f, number) != number)
            for number in range(self.recorded)
            if results - {number}
        }
        return {number: facts for number, facts in facts_of.items() if facts}

    @memo
    def needed_in(self, number: int) -> frozenset[str]:
        """The needed facts in a message."""
        return self.facts_in(number) & self._needed

    @memo
    def results_with(self, fact: int) -> list[tuple[ToolResult, int]]:
        """The results with a needed fact, each with the number of its untruncated message, smaller
        ones first."""
        holders, full = self.index.holders[fact], self.index.full
        results = ((it, full[it.index]) for it in self.trace.results if full[it.index] in holders)
        return sorted(results, key=lambda result: (self.tokens[result[1]], result[1]))

    def keeps(self, number: int, need: Need) -> bool:
        """True if a strategy's message with a needed fact really keeps it: a fact from a field as
        that field (of the first result with it, or of the result that the message replaces), or in
        a quotation of a turn with it."""
        if not self.contents.is_field(need.origin_step, self.index.facts[need.fact]):
            return True
        steps = self.contents.results.keys() & {need.origin_step, self.messages[number].step}
        return self._quotes(number, need.fact) or any(
            self._keeps_as(step, number, need.fact) for step in steps
        )

    @memo
    def _quotes(self, number: int, fact: int) -> bool:
        """True if a message has the words of a whole line with a fact from some turn."""
        words, wanted = self.texts.flat(self.messages[number].text), self.index.facts[fact]
        return any(
            flat_line in words and wanted in self.contents.turn_search.in_text(line)
            for line, flat_line in self._lines_of_turns(fact).items()
        )

    @memo
    def _lines_of_turns(self, fact: int) -> dict[str, str]:
        """The lines of turns with a fact, each as flat words, without short ones."""
        turns = (self.messages[at] for at in self.index.holders[fact] if at < self.recorded)
        lines = (line for turn in turns if turn.kind != "result" for line in turn.text.split("\n"))
        return {line: self._flat_line(line) for line in lines if len(line.split()) >= _FEWEST}

    @memo
    def _flat_line(self, line: str) -> str:
        return flat(line)

    @memo
    def _keeps_as(self, step: int, number: int, fact: int) -> bool:
        """True if a message has a fact in the way of a step's result: as a field or in prose."""
        result, wanted = self.contents.results[step], self.index.facts[fact]
        if not result.table.key_of(wanted):
            return self.index.full[step] in self.index.holders[fact]
        return any(
            text == result.text or result.field_search.keeps(self.reading(text), wanted)
            for text in self.texts_of(number)
        )

    @memo
    def fields_in(self, step: int, text: str) -> frozenset[int]:
        """The numbers of the fields of a step's result that a text keeps; the result's own text
        keeps all."""
        result = self.contents.results[step]
        if text == result.text:
            return frozenset(range(len(result.columns.fields)))
        return result.field_search.kept_in(self.reading(text)) | result.exit_code_field(text)

    @memo
    def fields_of(self, number: int, step: int) -> frozenset[int]:
        """The fields of the result of a step, by their places, that a message keeps."""
        if number == self.index.seen[step] and step in self._fields_seen:
            return self._fields_seen[step]
        return self._fields_in_texts(number, step)

    def _fields_in_texts(self, number: int, step: int) -> frozenset[int]:
        return frozenset[int]().union(*(self.fields_in(step, t) for t in self.texts_of(number)))

    @kept_between_runs
    def _fields_seen(self) -> dict[int, frozenset[int]]:
        """By step the fields of each structured result that the recorded model saw truncated."""
        seen, full = self.index.seen, self.index.full
        steps = (step for step in self.contents.field_counts if seen[step] != full[step])
        return {step: self._fields_in_texts(seen[step], step) for step in steps}

    @memo
    def reading(self, text: str) -> TextReading:
        """The reading of a text, for finding fields of results."""
        of = self.contents
        return TextReading(text, of.names, of.keys_within)


def _key(message: Message) -> Any:
    calls = tuple((call.id, call.name, as_text(call.arguments)) for call in message.tool_calls)
    return message.role, message.kind, message.step, message.call_id, message.text, calls
