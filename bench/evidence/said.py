"""Everything that a trace says, to ask whether a strategy's own text says something new."""

from __future__ import annotations

from functools import cached_property

from ..text.facts import flat
from ..text.instructions import repeats
from ..text.texts import Texts
from .own_texts import TraceMessages


class Said:
    """The numbers, names and sentences of the recorded messages of a trace, in any message."""

    def __init__(self, messages: TraceMessages) -> None:
        self._messages = messages

    @property
    def _texts(self) -> Texts:
        return self._messages.texts

    @cached_property
    def _contents(self) -> list[str]:
        recorded = self._messages.messages[: self._messages.recorded]
        calls = [call.name for message in recorded for call in message.tool_calls]
        return [*(text for message in recorded for text in self._messages.contents.of(message)), *calls]

    @cached_property
    def _numbers(self) -> frozenset[str]:
        return frozenset().union(*map(self._texts.numbers, self._contents))

    @cached_property
    def _words(self) -> str:
        return "".join(map(self._texts.flat, self._contents))

    @cached_property
    def _word_set(self) -> frozenset[str]:
        return frozenset(self._words.split())

    def number(self, number: str) -> bool:
        """True if a message says a number, or each part of what a comma joins."""
        return number in self._numbers

    def verbatim(self, text: str) -> bool:
        """True if the words of a text stand in a row in one message, its label (`tool: `) or its last word left out."""
        words = flat(text)
        if words in self._words:
            return True
        _, colon, rest = text.partition(": ")
        if colon and flat(rest).strip() and flat(rest) in self._words:
            return True
        return words.count(" ") > 3 and f"{words.rstrip().rpartition(' ')[0]} " in self._words

    def name(self, name: str) -> bool:
        """True if the messages say a name: its words in a row, or each of its words somewhere."""
        words = flat(name)
        return words in self._words or set(words.split()) <= self._word_set

    def begins(self, name: str) -> bool:
        """True if the messages say a name that begins so: what a cut leaves of it."""
        return flat(name)[:-1] in self._words

    def instruction(self, text: str) -> bool:
        """True if a message gives an instruction in nearly these words."""
        known = self._instructions
        if text not in known:
            known[text] = any(repeats(content, text) for content in self._contents)
        return known[text]

    @cached_property
    def _instructions(self) -> dict[str, bool]:
        return {}
