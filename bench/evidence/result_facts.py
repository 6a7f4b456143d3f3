"""The facts of tool results, and which of them a prompt no longer holds."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from itertools import filterfalse

from ..model import ToolResult
from ..text.texts import FactsHeld
from .kept import Standing
from .own_texts import TraceMessages


class ResultFacts:
    """The facts of the results of one trace. They are extracted when a strategy altered a result, not before."""

    def __init__(self, messages: TraceMessages) -> None:
        self._messages = messages
        self._results = messages.contents.results
        self._holds: dict[int, frozenset[str]] = {}
        self._missing: dict[tuple[int, tuple[int, ...]], tuple[str, ...]] = {}
        self._others: dict[int, dict[int, set[str]]] = {}
        self._about: dict[int | None, set[int]] = {}
        self._read = messages.recorded
        """The messages of strategies that show each step, as far as the messages were read."""

        self._last: tuple[frozenset[int], frozenset[str]] | None = None

    def of(self, result: ToolResult) -> tuple[str, ...]:
        """The distinct facts of an untruncated result, in order."""
        return self._of[result.index]

    @cached_property
    def _of(self) -> dict[int, tuple[str, ...]]:
        def facts_of_results() -> dict[int, tuple[str, ...]]:
            texts = self._messages.texts
            return {step: tuple(texts.facts(result.text)) for step, result in self._results.items()}

        return self._messages.contents.once(dict[int, tuple[str, ...]], "facts", facts_of_results)

    def lost(self, result: ToolResult, standing: Standing) -> tuple[str, ...]:
        """The facts of a result that no message of a prompt holds."""
        about = tuple(sorted(self._own_about(result.index) & standing.own))
        key = result.index, about
        if key not in self._missing:
            remaining = frozenset[str]().union(*map(self.facts_of, about))
            self._missing[key] = tuple(filterfalse(remaining.__contains__, self.of(result)))
        missing = self._missing[key]
        if not missing:
            return ()
        lost = set(missing) - self._facts_of_all(standing.own)
        elsewhere = self._elsewhere(result)
        lost.difference_update(*(elsewhere[number] for number in standing.messages & elsewhere.keys()))
        return missing if len(lost) == len(missing) else tuple(filter(lost.__contains__, missing))

    def _own_about(self, step: int) -> set[int]:
        """The messages of strategies that show a step."""
        messages = self._messages.messages
        for number in range(self._read, len(messages)):
            self._about.setdefault(messages[number].step, set()).add(number)
        self._read = len(messages)
        return self._about.get(step, set())

    def _elsewhere(self, result: ToolResult) -> dict[int, set[str]]:
        """By recorded message, but for the untruncated result itself, the facts of a result that it holds."""
        if result.index not in self._others:
            by_message: dict[int, set[str]] = {}
            for fact in self._holders.keys() & self.of(result):
                for number in self._holders[fact]:
                    by_message.setdefault(number, set()).add(fact)
            by_message.pop(self._messages.index.full[result.index], None)
            self._others[result.index] = by_message
        return self._others[result.index]

    def _facts_of_all(self, own: frozenset[int]) -> frozenset[str]:
        """The facts that any of a strategy's messages holds; known for those that were asked for last."""
        if self._last is None or self._last[0] is not own:
            self._last = own, frozenset[str]().union(*map(self.facts_of, own))
        return self._last[1]

    def lost_in_text(self, result: ToolResult, text: str) -> tuple[str, ...]:
        """The facts of a result that a text does not hold: what a store gives back."""
        if text == result.text:
            return ()
        kept = frozenset(self._matches(text))
        return tuple(fact for fact in self.of(result) if fact not in kept)

    def in_text(self, text: str, facts: tuple[str, ...]) -> tuple[str, ...]:
        """Those of some facts of results that a text holds."""
        matches = frozenset(self._matches(text)) if facts else frozenset()
        return tuple(fact for fact in facts if fact in matches)

    def facts_of(self, number: int) -> frozenset[str]:
        """The facts of any result that a message holds."""
        if number not in self._holds:
            texts = self._messages.contents.of(self._messages.messages[number])
            self._holds[number] = frozenset(fact for text in texts for fact in self._matches(text))
        return self._holds[number]

    @cached_property
    def _matches(self) -> FactsHeld:
        facts = dict.fromkeys(fact for result in self._results.values() for fact in self.of(result))
        return FactsHeld(facts, self._messages.texts)

    @cached_property
    def _holders(self) -> dict[str, frozenset[int]]:
        """By fact the recorded messages that hold it, but for the untruncated result that alone has it."""
        kind = dict[str, frozenset[int]]
        return self._messages.contents.once(kind, "holders", self._holders_now)

    def _holders_now(self) -> dict[str, frozenset[int]]:
        alone: dict[str, int] = {}
        for step in self._results:
            full = self._messages.index.full[step]
            for fact in self.of(self._results[step]):
                alone[fact] = full if alone.get(fact, full) == full else -1
        holders: dict[str, list[int]] = defaultdict(list)
        results = frozenset(alone.values())
        for number in range(self._messages.recorded):
            for fact in self.facts_of(number) if results - {number} else ():
                if alone[fact] != number:
                    holders[fact].append(number)
        return {fact: frozenset(numbers) for fact, numbers in holders.items()}
