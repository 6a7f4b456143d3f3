"""The facts of tool results, and those of them that a message has."""

from __future__ import annotations

from ..model import memo
from .contents import kept_between_runs
from .messages import TraceMessages


class ResultFacts:
    """The facts of the results of one trace, read when a strategy altered a result, not before."""

    def __init__(self, messages: TraceMessages) -> None:
        self._messages, self.once = messages, messages.once

    @memo
    def of(self, step: int) -> frozenset[str]:
        """The facts of the untruncated result of a step."""
        return frozenset(self._messages.contents.facts[step])

    def in_message(self, number: int) -> frozenset[str]:
        """The facts that a message has; those that an untruncated result alone has are left out of
        it.
        """
        if number < self._messages.recorded:
            return self._in_recorded.get(number, frozenset())
        return self._messages.facts_in(number)

    @kept_between_runs
    def _in_recorded(self) -> dict[int, frozenset[str]]:
        """The facts of results in each recorded message with any, without those that only one
        untruncated result has.
        """
        full, facts_in = self._messages.index.full, self._messages.facts_in
        alone: dict[str, int] = {}
        for step, facts in self._messages.contents.facts.items():
            for fact in facts:
                alone[fact] = full[step] if alone.get(fact, full[step]) == full[step] else -1
        results = frozenset(alone.values())
        facts_of = {
            number: frozenset(f for f in facts_in(number) if alone.get(f, number) != number)
            for number in range(self._messages.recorded)
            if results - {number}
        }
        return {number: facts for number, facts in facts_of.items() if facts}
