"""The kept facts and fields of tool results: in the first prompt after a result, in the store, in
the last prompt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from ..model import ToolResult, as_text, memo
from .of_replay import ReplayEvidence

Place = Literal["shown", "stored", "end"]
"""The places to look for a result: the first prompt after it, the store, the last prompt of its
thread."""

PLACES: tuple[Place, ...] = ("shown", "stored", "end")


class KeptShare(NamedTuple):
    """The kept part of one result: `kept` of `total` facts or fields; 0 of 0 for an unaltered one,
    which is not read. `call` is that of the prompt (None for the store)."""

    result: ToolResult
    kept: int
    total: int
    call: int | None = None

    @property
    def share(self) -> float:
        """The kept share; 1 for an unaltered result."""
        return self.kept / self.total if self.total else 1.0


@memo
def facts_kept(evidence: ReplayEvidence, place: Place) -> list[KeptShare]:
    """The kept facts of each result with a text at a place."""
    return [*_facts_kept(evidence, place)]


@memo
def fields_kept(evidence: ReplayEvidence, place: Place) -> list[KeptShare]:
    """The kept fields of each structured result at a place. A result without a field has kept all
    where its text is unaltered, and is left out where it is not."""
    return [*_fields_kept(evidence, place)]


def _facts_kept(evidence: ReplayEvidence, place: Place) -> Iterator[KeptShare]:
    contents = evidence.contents
    for result, call, text in _altered(evidence, place):
        if text == result.text:
            if text or place == "stored":
                yield KeptShare(result, 0, 0)
        elif of_result := contents.facts_of(result.index):
            kept = (
                of_result & contents.search.in_text(text or "")
                if call is None
                else evidence.facts_in_prompt(result, call)
            )
            yield KeptShare(result, len(kept), len(of_result), call)


def _fields_kept(evidence: ReplayEvidence, place: Place) -> Iterator[KeptShare]:
    messages = evidence.messages
    for result, call, text in _altered(evidence, place):
        if not isinstance(result.data, dict | list):
            continue
        if text == result.text:
            yield KeptShare(result, 0, 0)
        elif total := messages.contents.field_counts[result.index]:
            if call is None:
                kept = messages.fields_in(result.index, text or "")
            else:
                numbers = evidence.messages_about(result.index, call)
                kept = frozenset().union(*(messages.fields_of(n, result.index) for n in numbers))
            yield KeptShare(result, len(kept), total, call)


def _altered(
    evidence: ReplayEvidence, place: Place
) -> Iterator[tuple[ToolResult, int | None, str | None]]:
    """Yield each result at a place, with the call of the prompt (None for the store) and its text
    there: its own for an unaltered result, None for any other in a prompt.

    A result without a later prompt in its thread (for the store: without an outcome) is left out.
    """
    if place != "stored":
        for result, first, last in evidence.prompted_results:
            call = last if place == "end" else first
            is_whole = evidence.is_in_prompt(evidence.index.full[result.index], call)
            yield result, call, result.text if is_whole else None
        return
    for result in evidence.trace.results:
        outcome = evidence.outcomes.get(result.index)
        if outcome is None:
            continue
        stored, text = outcome.stored, result.text
        if stored is not result.value and as_text(stored) != as_text(result.value):
            as_stored = "" if stored is None else as_text(stored)
            text = evidence.contents.results[result.index].normalized(as_stored)
        yield result, None, text
