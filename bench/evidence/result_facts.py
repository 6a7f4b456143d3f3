"""The facts of tool results, and those that a prompt no longer has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from ..model import ToolResult, memo
from ..model.messages import Running
from ..model.replay import Call
from .contents import kept
from .messages import TraceMessages


class ResultFacts:
    """The facts of the results of one trace, read when a strategy altered a result, not before.

    Facts are numbered; a set of facts is an integer with their bits set.
    """

    def __init__(self, messages: TraceMessages) -> None:
        self._messages, self.once = messages, messages.once

    def of(self, result: ToolResult) -> tuple[str, ...]:
        """The distinct facts of an untruncated result, in order."""
        return self._messages.contents.facts[result.index]

    def lost(self, result: ToolResult, held: int) -> tuple[str, ...]:
        """The facts of a result that are not among those held, given as bits: what a prompt without
        its untruncated message holds.
        """
        lost = self._of_result(result.index) & ~held
        return (
            tuple(fact for fact in self.of(result) if lost >> self._numbers[fact] & 1)
            if lost
            else ()
        )

    def count_lost(self, result: ToolResult, held: int) -> int:
        """The number of these facts."""
        return (self._of_result(result.index) & ~held).bit_count()

    def lost_in_text(self, result: ToolResult, text: str) -> tuple[str, ...]:
        """The facts of a result that a text, such as a stored one, does not have."""
        if text == result.text:
            return ()
        kept = self._messages.contents.search.in_text(text)
        return tuple(fact for fact in self.of(result) if fact not in kept)

    def in_text(self, text: str, facts: tuple[str, ...]) -> tuple[str, ...]:
        """The facts among `facts` in a text."""
        matches = self._messages.contents.search.in_text(text) if facts else frozenset()
        return tuple(fact for fact in facts if fact in matches)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """The facts of all results, each with its number."""
        facts = dict.fromkeys(
            fact for of_result in self._messages.contents.facts.values() for fact in of_result
        )
        return {fact: number for number, fact in enumerate(facts)}

    @memo
    def _of_result(self, step: int) -> int:
        return self._bits(self._messages.contents.facts[step])

    @memo
    def _in_own(self, number: int) -> int:
        return self._bits(self._messages.facts_in(number))

    def _bits(self, facts: Iterable[str]) -> int:
        """Facts as the bits of one integer; those that no result has are left out."""
        bits = bytearray(len(self._numbers) // 8 + 1)
        for number in map(self._numbers.get, facts):
            if number is not None:
                bits[number >> 3] |= 1 << (number & 7)
        return int.from_bytes(bits, "little")

    def held_by(self, number: int) -> int:
        """The facts that a message holds, as bits; those that an untruncated result alone has are
        left out of it.
        """
        if number < self._messages.recorded:
            return self._in_recorded.get(number, 0)
        return self._in_own(number)

    @cached_property
    def _in_recorded(self) -> dict[int, int]:
        return {number: int.from_bytes(bits, "little") for number, bits in self._packed.items()}

    @kept
    def _packed(self) -> dict[int, bytes]:
        """The facts in each recorded message with any, as bits in little-endian bytes, without those
        that only one untruncated result has.
        """
        alone: dict[str, int] = {}
        for step, facts in self._messages.contents.facts.items():
            full = self._messages.index.full[step]
            for fact in facts:
                alone[fact] = full if alone.get(fact, full) == full else -1
        results = frozenset(alone.values())
        facts_of = {
            number: self._bits(
                f for f in self._messages.facts_in(number) if alone.get(f, number) != number
            )
            for number in range(self._messages.recorded)
            if results - {number}
        }
        return {
            number: bits.to_bytes(bits.bit_length() // 8 + 1, "little")
            for number, bits in facts_of.items()
            if bits
        }


class PromptFacts:
    """The facts that the prompts of one thread hold, as bits, call by call. Asked in order, a prompt
    costs what changes in it.

    >>> calls = [Call(1, "main", 0, (0, 1)), Call(3, "main", 1, (2,))]
    >>> facts = PromptFacts(calls, [1, 2, 4].__getitem__)
    >>> [facts.at(call) for call in calls]
    [3, 5]
    """

    def __init__(self, calls: Sequence[Call], held_by: Callable[[int], int]) -> None:
        self._calls = calls
        self._places = {call.step: place for place, call in enumerate(calls)}
        self._facts = Running(0, lambda before, number: before | held_by(number))
        self._read = 0

    def at(self, call: Call) -> int:
        """The facts in the prompt of a call."""
        place = self._places[call.step] + 1
        if place < self._read:
            self._facts.change(0, ())
            self._read = 0
        for item in self._calls[self._read : place]:
            self._facts.change(item.keep, item.tail)
        self._read = place
        return self._facts.values[-1]
