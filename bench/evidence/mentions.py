"""Everything that a trace says, to ask whether a strategy's own text says something new."""

from __future__ import annotations

import re
from functools import cached_property

from ..text.dates import dates_in, times_in
from ..text.facts import flat
from ..text.instructions import Sentences
from ..text.texts import Texts
from .own_texts import TraceMessages

_DIGITS = re.compile(r"\d+")
_REPEATED = 0.5
"""An instruction is no invention where one sentence had so much of its words; to keep one takes more."""


class Mentions:
    """The numbers, names and sentences of the recorded messages of a trace, in any message."""

    def __init__(self, messages: TraceMessages) -> None:
        self._messages = messages
        self._verbatim: dict[str, bool] = {}

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
        """True if a message says a number, alone or as the digits of an identifier or a date."""
        return number in self._numbers or number in self._digits

    @cached_property
    def _digits(self) -> frozenset[str]:
        return frozenset(run.lstrip("0") for text in self._contents for run in _DIGITS.findall(text))

    def moment(self, moment: str) -> bool:
        """True if a message says a date or a time of day, as `bench.text.dates` spells it."""
        return moment in self._moments

    @cached_property
    def _moments(self) -> frozenset[str]:
        return frozenset(moment for text in self._contents for find in (dates_in, times_in) for moment, _ in find(text))

    def together(self, one: str, other: str) -> bool:
        """True if a person or the model said two things in one message, before a strategy rewrote anything."""
        return any(flat(one) in words and flat(other) in words for words in self._turns)

    @cached_property
    def _turns(self) -> list[str]:
        recorded = self._messages.messages[: self._messages.recorded]
        return [self._texts.flat(message.text) for message in recorded if message.kind in ("user", "system", "model")]

    def verbatim(self, text: str) -> bool:
        """True if the words of a text stand in a row in one message, its label (`tool: `) or its last word left out."""
        known = self._verbatim.get(text)
        if known is None:
            known = self._verbatim[text] = self._stands(text)
        return known

    def _stands(self, text: str) -> bool:
        words = flat(text)
        if self._in_a_row(words):
            return True
        _, colon, rest = text.partition(": ")
        if colon and self._in_a_row(row := flat(rest)) and row.strip():
            return True
        return words.count(" ") > 3 and self._in_a_row(f"{words.rstrip().rpartition(' ')[0]} ")

    def _in_a_row(self, words: str) -> bool:
        """True if flat words stand in a row in some message. Looked for in all of them only where each three in a row do."""
        row = words.split()
        if len(row) < 3:
            return self._word_set.issuperset(row) and words in self._words
        return self._triples.issuperset(zip(row, row[1:], row[2:], strict=False)) and words in self._words

    @cached_property
    def _triples(self) -> frozenset[tuple[str, str, str]]:
        words = self._words.split()
        return frozenset(zip(words, words[1:], words[2:], strict=False))

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
            known[text] = any(content.repeats(text, _REPEATED) for content in self._sentences)
        return known[text]

    @cached_property
    def _sentences(self) -> list[Sentences]:
        return [*map(Sentences, dict.fromkeys(self._contents))]

    @cached_property
    def _instructions(self) -> dict[str, bool]:
        return {}
