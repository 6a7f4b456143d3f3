"""Instructions that every later prompt of a thread must have, and the messages that repeat them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from ..model import Message, SystemTurn, Trace, UserTurn, memo
from ..model.index import TraceIndex
from ..text.instructions import COVERED, Repetition, TextLines, text_lines

_FEWEST_FACTS = 2
"""A message with fewer facts of a request than this does not replace it."""

_WORD = re.compile(r"\w+")
_MOST_WORDS = 200
"""A request with more words has more in it than the request, such as a file."""


class Instruction(NamedTuple):
    """An instruction that every later prompt of a thread must have, with its step, kind and text.

    `last` is the last turn that must have it; None: all.
    """

    thread: str
    step: int
    kind: Literal["system", "task", "rule"]
    text: str
    last: int | None = None


def instructions_of(
    trace: Trace, index: TraceIndex, rules: Mapping[int, Sequence[str]]
) -> list[Instruction]:
    """The instructions of a trace, in order: system prompts, requests of the user, and standing
    rules of either.

    A request applies until the next user message, and as long as a later turn takes facts from it
    that the user does not repeat.
    """
    instructions: list[Instruction] = []
    used = _last_uses(trace, index)
    last_request: dict[str, int] = {}  # by thread its place
    for step in trace.steps:
        if not isinstance(step, SystemTurn | UserTurn):
            continue
        text = step.content
        if not text.strip():
            continue
        if isinstance(step, SystemTurn):
            instructions.append(Instruction(step.thread, step.index, "system", text))
        else:
            if (place := last_request.get(step.thread)) is not None:
                before = instructions[place]
                last = max(step.index, used.get(before.step, -1))
                instructions[place] = before._replace(last=last)
            last_request[step.thread] = len(instructions)
            instructions.append(Instruction(step.thread, step.index, "task", text))
        instructions += [
            Instruction(step.thread, step.index, "rule", rule) for rule in rules.get(step.index, ())
        ]
    return instructions


def _last_uses(trace: Trace, index: TraceIndex) -> dict[int, int]:
    """For each step the last turn that takes a fact from it that no later user message has."""
    users = {
        index.full[step.index]: step.index for step in trace.steps if isinstance(step, UserTurn)
    }
    used: dict[int, int] = {}
    for turn, needs in index.needs.items():
        for need in needs:
            repeated = (users[number] for number in users.keys() & index.holders[need.fact])
            if not any(need.origin_step < step <= turn for step in repeated):
                used[need.origin_step] = max(turn, used.get(need.origin_step, -1))
    return used


class InstructionReader:
    """The instructions of a trace, and a search for them in messages. Each message is read once."""

    def __init__(
        self, given: Sequence[Instruction], index: TraceIndex, messages: Sequence[Message]
    ) -> None:
        self.given, self.full, self._index, self._messages = given, index.full, index, messages

    @memo
    def repeated_in(self, place: int) -> frozenset[int]:
        """The recorded messages that repeat an instruction, or that have most of the facts that
        later turns take from a request."""
        item = self.given[place]
        text = " ".join(item.text.split())
        texts = enumerate(self._recorded_texts)
        numbers = {number for number, message_text in texts if text in message_text}
        if item.kind == "task":
            needs = (need for of_turn in self._index.needs.values() for need in of_turn)
            facts = {
                need.fact
                for need in needs
                if need.origin == "user" and need.origin_step == item.step
            }
            counts = Counter(number for fact in facts for number in self._index.holders[fact])
            fewest = max(COVERED * len(facts), _FEWEST_FACTS)
            numbers.update(number for number, count in counts.items() if count >= fewest)
        return frozenset(numbers)

    @cached_property
    def _recorded_texts(self) -> list[str]:
        """The texts of the recorded messages with single blanks."""
        recorded = self._messages[: len(self._index.tokens)]
        return [" ".join(message.text.split()) for message in recorded]

    @memo
    def is_in(self, number: int, place: int) -> bool:
        """True if a message has an instruction; the rest of a shortened system prompt counts, and
        that of a request with so many words that it has more than the request itself."""
        message, item = self._messages[number], self.given[place]
        if item.kind == "rule":
            return self._repetition(place).is_in(self._lines(number))
        if message.step == item.step:
            words = _WORD.findall(item.text)
            is_short = item.kind == "task" and len(words) <= _MOST_WORDS
            left = {*_WORD.findall(message.text)}
            return left.issuperset(words) if is_short else bool(message.text.strip())
        return self._repetition(place).is_covered_by(self._lines(number))

    @memo
    def _repetition(self, place: int) -> Repetition:
        return Repetition(self.given[place].text)

    @memo
    def _lines(self, number: int) -> TextLines:
        return text_lines(self._messages[number].text)
