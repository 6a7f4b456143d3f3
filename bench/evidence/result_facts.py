"""The facts of tool results, and which of them a prompt no longer holds. A set of facts is an integer: fact n is its bit n."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property, reduce
from itertools import compress
from operator import or_

from ..model import ToolResult
from ..model.base import Value
from ..text.texts import FactsHeld, Remembered
from .kept import Standing
from .own_texts import TraceMessages


class _Facts(Value, frozen=True, array_like=True):
    """The distinct facts of all results, in order, and by step the bits of those that its result has."""

    texts: tuple[str, ...]
    of_results: dict[int, bytes]


class ResultFacts:
    """The facts of the results of one trace. They are extracted when a strategy altered a result, not before."""

    def __init__(self, messages: TraceMessages) -> None:
        self._messages = messages
        self._of = Remembered[int](lambda step: _set_of(self._facts.of_results[step]))
        self._elsewhere = Remembered[dict[int, int]](self._find_elsewhere)
        self._last: tuple[frozenset[int], int] | None = None
        self.of_message = Remembered[int](self._find_of_message)
        """The facts of any result that a message holds."""

    def of(self, result: ToolResult) -> int:
        """The facts of an untruncated result."""
        return self._of(result.index)

    def lost(self, result: ToolResult, standing: Standing) -> int:
        """The facts of a result that no message of a prompt holds, where it does not stand whole."""
        lost = self.of(result) & ~self._of_all(standing.own)
        if lost:
            elsewhere = self._elsewhere(result.index)
            for number in standing.messages & elsewhere.keys():
                lost &= ~elsewhere[number]
        return lost

    def in_text(self, text: str) -> int:
        """The facts of any result that a text holds: what a store gives back."""
        return _set_of(_bits(self._numbers_in(text)))

    def texts(self, facts: int) -> tuple[str, ...]:
        """Facts as texts, in the order in which the results say them first."""
        return tuple(compress(self._facts.texts, map(int, reversed(f"{facts:b}"))))

    @cached_property
    def _facts(self) -> _Facts:
        def facts_of_results() -> _Facts:
            texts, numbers = self._messages.texts, dict[str, int]()
            results = self._messages.contents.results.items()
            of_results = {
                step: _bits([numbers.setdefault(fact, len(numbers)) for fact in texts.facts(result.text)])
                for step, result in results
            }
            return _Facts(tuple(numbers), of_results)

        return self._messages.contents.once(_Facts, "facts", facts_of_results)

    @cached_property
    def _numbers_in(self) -> Callable[[str], list[int]]:
        """Gives the numbers of the facts that a text holds."""
        numbers = {fact: number for number, fact in enumerate(self._facts.texts)}
        held_in = FactsHeld(numbers, self._messages.texts)
        return lambda text: [numbers[fact] for fact in held_in(text)]

    def _find_of_message(self, number: int) -> int:
        if number < self._messages.recorded:
            return _set_of(self._of_recorded[number])
        return _set_of(self._search(number))

    def _search(self, number: int) -> bytes:
        texts = self._messages.contents.of(self._messages.messages[number])
        return _bits(fact for text in texts for fact in self._numbers_in(text))

    @cached_property
    def _of_recorded(self) -> list[bytes]:
        """By recorded message the bits of the facts that it holds. The only result with facts holds its own."""
        return self._messages.contents.once(list[bytes], "facts of messages", self._search_recorded)

    def _search_recorded(self) -> list[bytes]:
        results = [step for step, bits in self._facts.of_results.items() if bits]
        only = self._messages.index.full[results[0]] if len(results) == 1 else -1
        return [b"" if number == only else self._search(number) for number in range(self._messages.recorded)]

    def _find_elsewhere(self, step: int) -> dict[int, int]:
        """By recorded message, but for the untruncated result itself, those of its facts that it holds."""
        of_result, full = self._of(step), self._messages.index.full[step]
        others = (number for number in range(self._messages.recorded) if number != full)
        return {number: shared for number in others if (shared := self.of_message(number) & of_result)}

    def _of_all(self, own: frozenset[int]) -> int:
        """The facts that any of a strategy's messages holds; known for those that were asked for last."""
        if self._last is None or self._last[0] is not own:
            self._last = own, reduce(or_, map(self.of_message, own), 0)
        return self._last[1]


def _bits(numbers: Iterable[int]) -> bytes:
    """A set of whole numbers as bits, the lowest first."""
    numbers = list(numbers)
    bits = bytearray((max(numbers) >> 3) + 1 if numbers else 0)
    for number in numbers:
        bits[number >> 3] |= 1 << (number & 7)
    return bytes(bits)


def _set_of(bits: bytes) -> int:
    return int.from_bytes(bits, "little")
