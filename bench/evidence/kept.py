"""The facts and fields of tool results that are still there: in the first prompt after a result, in
the store, in the last prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..model import ToolResult, as_text
from ..model.replay import Call

if TYPE_CHECKING:
    from .of_replay import ReplayEvidence

Place = Literal["shown", "stored", "end"]
"""Where a result is looked for: the first prompt after it, the store, the last prompt of its
thread.
"""

PLACES: tuple[Place, ...] = ("shown", "stored", "end")


class KeptShare(NamedTuple):
    """The part of one result that is still there: of so many facts or fields in all so many are
    kept.
    """

    result: ToolResult
    kept: int
    total: int

    @property
    def share(self) -> float:
        """The kept share, 1 for a result that nobody altered."""
        return self.kept / self.total if self.total else 1.0


class Standing(NamedTuple):
    """The messages of one prompt; `own` are those of the strategy's own."""

    messages: frozenset[int]
    own: frozenset[int]


class ThreadCursor:
    """The prompt of one thread, call by call. Asked in order, it costs what changes."""

    def __init__(self, calls: Sequence[Call], recorded: int) -> None:
        self._calls, self._recorded = calls, frozenset(range(recorded))
        self._places = {call.step: place for place, call in enumerate(calls)}
        self._prompt: list[int] = []
        self._read = 0
        self._standing = Standing(frozenset(), frozenset())

    def at(self, call: Call) -> Standing:
        """The messages in the prompt of a call."""
        place = self._places[call.step]
        if place == self._read - 1:
            return self._standing
        if place < self._read:
            self._prompt, self._read = [], 0
        for item in self._calls[self._read : place + 1]:
            self._prompt[item.keep :] = item.tail
        self._read = place + 1
        messages = frozenset(self._prompt)
        self._standing = Standing(messages, messages - self._recorded)
        return self._standing


def facts_kept(evidence: ReplayEvidence, place: Place) -> Iterator[KeptShare]:
    """Yield how many facts of each result are still there; a result that stands whole is not read
    (0 of 0).

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
        standing = evidence.standing(call)
        if evidence.index.full[result.index] in standing.messages:
            if result.text:
                yield KeptShare(result, 0, 0)
        elif total := len(facts.of(result)):
            yield KeptShare(result, total - facts.count_lost(result, standing), total)


def fields_kept(evidence: ReplayEvidence, place: Place) -> Iterator[KeptShare]:
    """Yield how many fields of each structured result are still there beside their keys, as
    `facts_kept` does.
    """
    messages = evidence.messages
    if place == "stored":
        for result, text in _stored_texts(evidence):
            if isinstance(result.data, dict | list):
                if text is None:
                    yield KeptShare(result, 0, 0)
                else:
                    yield from _fields_in(evidence, result, [text])
        return
    for result, call in evidence.prompted(place):
        if not isinstance(result.data, dict | list):
            continue
        standing = evidence.standing(call)
        if evidence.index.full[result.index] in standing.messages:
            yield KeptShare(result, 0, 0)
            continue
        seen = evidence.index.seen[result.index]
        numbers = [*([seen] if seen in standing.messages else []), *standing.own]
        about = [
            item
            for item in (messages.messages[n] for n in numbers)
            if item.step in (None, result.index)
        ]
        texts = [text for item in about for text in messages.contents.of(item)]
        yield from _fields_in(evidence, result, texts)


def _fields_in(
    evidence: ReplayEvidence, result: ToolResult, texts: Sequence[str]
) -> Iterator[KeptShare]:
    """Yield how many of its fields some texts say; nothing for a result without a field."""
    kept = (evidence.messages.fields_in(result.index, text) for text in texts)
    if total := len(evidence.messages.table(result.index).fields):
        yield KeptShare(result, len(frozenset[int]().union(*kept)), total)


def _stored_texts(evidence: ReplayEvidence) -> Iterator[tuple[ToolResult, str | None]]:
    """Yield each result with the text that a later step reads back; None for the untruncated value
    itself.
    """
    for result in evidence.trace.results:
        outcome = evidence.outcomes.get(result.index)
        if outcome is None:
            continue
        stored = outcome.stored
        if stored is result.value or as_text(stored) == as_text(result.value):
            yield result, None
        else:
            yield result, "" if stored is None else as_text(stored)
