"""The facts of tool results, and which of them a prompt no longer holds."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, reduce
from operator import or_

from ..model import ToolResult, memo
from .kept import Standing
from .messages import TraceMessages


class ResultFacts:
    """The facts of the results of one trace, read when a strategy altered a result, not before.

    They are numbered. Several of them are one integer with their bits set.
    """

    def __init__(self, messages: TraceMessages) -> None:
        self._messages = messages
        self._last = frozenset[int](), 0

    def of(self, result: ToolResult) -> tuple[str, ...]:
        """The distinct facts of an untruncated result, in order."""
        return self._messages.contents.facts[result.index]

    def lost(self, result: ToolResult, standing: Standing) -> tuple[str, ...]:
        """The facts of a result that no message of a prompt without its untruncated one holds."""
        lost = self._lost_bits(result, standing)
        return (
            tuple(fact for fact in self.of(result) if lost >> self._numbers[fact] & 1)
            if lost
            else ()
        )

    def count_lost(self, result: ToolResult, standing: Standing) -> int:
        """The number of these facts."""
        return self._lost_bits(result, standing).bit_count()

    def _lost_bits(self, result: ToolResult, standing: Standing) -> int:
        """The facts of a result that no message of a prompt holds, as bits."""
        return self._of_result(result.index) & ~self._in_prompt(standing)

    def lost_in_text(self, result: ToolResult, text: str) -> tuple[str, ...]:
        """The facts of a result that a text does not hold: what a store gives back."""
        if text == result.text:
            return ()
        kept = self._messages.contents.search.in_text(text)
        return tuple(fact for fact in self.of(result) if fact not in kept)

    def in_text(self, text: str, facts: tuple[str, ...]) -> tuple[str, ...]:
        """The facts among `facts` that a text holds."""
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

    def _in_prompt(self, standing: Standing) -> int:
        """The facts that the messages of a prompt hold, as bits.

        Results of one step ask for the same prompt, so the last answer is kept.
        """
        if standing.messages is not self._last[0]:
            own = [self._in_own(number) for number in standing.own]
            having = self._in_recorded.keys() & standing.messages
            recorded = map(self._in_recorded.__getitem__, having)
            self._last = standing.messages, reduce(or_, (*own, *recorded), 0)
        return self._last[1]

    @cached_property
    def _in_recorded(self) -> dict[int, int]:
        """The facts that each recorded message holds, as bits, but for those of an untruncated
        result that alone has them.
        """
        kept = self._messages.contents.once(dict[int, bytes], "facts held", self._packed)
        return {number: int.from_bytes(bits, "little") for number, bits in kept.items()}

    def _packed(self) -> dict[int, bytes]:
        """The same, little-endian, as it is kept between runs; messages without any are left out."""
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
        return {number: _in_bytes(bits) for number, bits in facts_of.items() if bits}


def _in_bytes(bits: int) -> bytes:
    return bits.to_bytes(bits.bit_length() // 8 + 1, "little")
