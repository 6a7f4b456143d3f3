"""The kept facts and fields of tool results: in the first prompt after a result, in the store, in
the last prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..model import ToolResult, as_text

if TYPE_CHECKING:
    from .of_replay import ReplayEvidence
    from .walk import Stay

Place = Literal["shown", "stored", "end"]
"""The places to look for a result: the first prompt after it, the store, the last prompt of its
thread.
"""

PLACES: tuple[Place, ...] = ("shown", "stored", "end")


class KeptShare(NamedTuple):
    """The kept part of one result: `kept` of `total` facts or fields."""

    result: ToolResult
    kept: int
    total: int

    @property
    def share(self) -> float:
        """The kept share; 1 for an unaltered result."""
        return self.kept / self.total if self.total else 1.0


class MessagesInPrompt:
    """The messages in the prompt of one call, by their numbers: those whose stay has begun and has
    not ended.
    """

    def __init__(
        self, stays: Mapping[int, Sequence[Stay]], own: Sequence[int], call: int, thread: str
    ) -> None:
        self.call = call
        self._stays, self._own, self._thread = stays, own, thread

    def __contains__(self, number: int) -> bool:
        return any(
            first <= self.call < after and thread == self._thread
            for first, after, thread in self._stays.get(number, ())
        )

    @cached_property
    def messages(self) -> frozenset[int]:
        """All messages in the prompt."""
        return frozenset(filter(self.__contains__, self._stays))

    @cached_property
    def own(self) -> frozenset[int]:
        """The messages in the prompt that the strategy wrote."""
        return frozenset(filter(self.__contains__, self._own))


def facts_kept(evidence: ReplayEvidence, place: Place) -> Iterator[KeptShare]:
    """Yield the kept facts of each result; an unaltered result is not read (0 of 0).

    A result without a later prompt in its thread (for the store: without an outcome) is left out.
    """
    facts = evidence.session.facts
    if place == "stored":
        for result, text in _stored_texts(evidence):
            if text is None or text == result.text:
                yield KeptShare(result, 0, 0)
            elif total := len(facts.of(result)):
                yield KeptShare(result, total - len(facts.lost_in_text(result, text)), total)
        return
    for result, call in evidence.prompted(place):
        if evidence.is_in_prompt(evidence.index.full[result.index], call):
            if result.text:
                yield KeptShare(result, 0, 0)
        elif total := len(facts.of(result)):
            lost = facts.count_lost(result, evidence.facts_at(call))
            yield KeptShare(result, total - lost, total)


def fields_kept(evidence: ReplayEvidence, place: Place) -> Iterator[KeptShare]:
    """Yield the kept fields of each structured result, as in `facts_kept`. A result without a field
    is left out where it was altered.
    """
    messages = evidence.messages
    totals = messages.contents.field_counts
    if place == "stored":
        for result, text in _stored_texts(evidence):
            if text is None and result.index in totals:
                yield KeptShare(result, 0, 0)
            elif text is not None and (total := totals.get(result.index)):
                yield KeptShare(result, len(messages.fields_in(result.index, text)), total)
        return
    for result, call in evidence.prompted(place):
        if result.index not in totals:
            continue
        if evidence.is_in_prompt(evidence.index.full[result.index], call):
            yield KeptShare(result, 0, 0)
        elif total := totals[result.index]:
            seen = evidence.index.seen[result.index]
            numbers = [seen] if evidence.is_in_prompt(seen, call) else []
            numbers += evidence.own_about(result.index, call)
            kept = (messages.fields_of(number, result.index) for number in numbers)
            yield KeptShare(result, len(frozenset[int]().union(*kept)), total)


def _stored_texts(evidence: ReplayEvidence) -> Iterator[tuple[ToolResult, str | None]]:
    """Yield each result with the text that a later step reads back; None if that is the untruncated
    value.
    """
    for result in evidence.trace.results:
        outcome = evidence.outcomes.get(result.index)
        if outcome is None:
            continue
        stored = outcome.stored
        if stored is result.value or as_text(stored) == as_text(result.value):
            yield result, None
        else:
            text = "" if stored is None else as_text(stored)
            yield result, evidence.messages.contents.in_place(text, result.index)
