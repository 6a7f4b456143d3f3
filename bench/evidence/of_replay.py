"""The evidence of one replay: what its walk found, what its prompts and its store hold of each result. Found when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Literal, NamedTuple

from ..model import ToolResult, Trace, as_text
from ..model.index import TraceIndex
from ..model.replay import Replay, StepOutcome
from ..text.fields import TextReading
from .missing import Instruction, MissingInstructions, instructions_of, missing_instructions
from .own_texts import TraceMessages
from .pairs import PromptRules, Refused
from .prices import Pricing
from .records import RecordValues
from .refetch import Fetch, fetches_of
from .repeats import Repeat, repeats_of
from .result_facts import ResultFacts
from .said import Said
from .walk import Walked, walk

Place = Literal["shown", "stored", "end"]
"""Where a result is looked for: the first prompt after it, the store, the last prompt of its thread."""


class KeptShare(NamedTuple):
    """How much of one result is still there: `lost` names what is not. `exact` parts are facts or fields."""

    result: ToolResult
    kept: int
    total: int
    lost: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """The kept share, 1 for a result that nobody altered."""
        return self.kept / self.total if self.total else 1.0


class TraceSession:
    """One trace while strategies are measured on it: everything that does not depend on a strategy."""

    def __init__(self, trace: Trace, index: TraceIndex) -> None:
        self.trace, self.index = trace, index
        self.messages = TraceMessages(trace, index)
        self.pricing = Pricing(trace, index)
        self.facts = ResultFacts(self.messages)
        self.said = Said(self.messages)
        self.excused: frozenset[tuple[int, int]] = frozenset()
        self._lines: dict[int | None, frozenset[str]] = {}

    def excuse(self, recorded: ReplayEvidence) -> None:
        """Hold nothing against a strategy that the recording's own prompts lacked."""
        lacking = recorded.missing_instructions
        self.excused = frozenset((item.step, at) for item in lacking for at in item.missing)

    @cached_property
    def records(self) -> RecordValues:
        """The records of its structured results."""
        return RecordValues([self.messages.table(result.index) for result in self.trace.results])

    @cached_property
    def instructions(self) -> list[Instruction]:
        """What its system and user turns tell the agent to do."""
        return instructions_of(self.trace)

    def lines_of(self, step: int | None) -> frozenset[str]:
        """The lines of the messages that show a step; of all recorded messages for None."""
        if step not in self._lines:
            messages = self.messages.messages[: self.messages.recorded]
            texts = (message.text for message in messages if step is None or message.step == step)
            self._lines[step] = frozenset(line for text in texts for line in text.split("\n"))
        return self._lines[step]

    @cached_property
    def repeats(self) -> list[Repeat]:
        """Its repeated calls."""
        return repeats_of(self.trace)

    @cached_property
    def rules(self) -> PromptRules:
        """What a provider demands of its prompts."""
        return PromptRules(self.messages)


class ReplayEvidence:
    """What one replay shows. `session` is that of its trace."""

    def __init__(self, session: TraceSession, replay: Replay) -> None:
        self.session, self.replay = session, replay
        self.trace, self.index, self.messages = session.trace, session.index, session.messages

    @cached_property
    def walked(self) -> Walked:
        """The walk over its prompts."""
        return walk(self.replay, self.messages, self.session.pricing)

    @cached_property
    def missing_instructions(self) -> list[MissingInstructions]:
        """For each call the instructions that its prompt lacks."""
        session = self.session
        return missing_instructions(
            self, session.instructions, self.index.full, self.messages.messages, session.excused
        )

    @property
    def steps_of_calls(self) -> list[tuple[int, str]]:
        """The step and the thread of each call."""
        return [(call.step, call.thread) for call in self.walked.calls]

    @cached_property
    def fetches(self) -> list[Fetch]:
        """The calls that would give turns what their prompts lacked."""
        return fetches_of(self.session, self.walked, self.replay)

    @cached_property
    def refused(self) -> list[Refused]:
        """The prompts that a provider would refuse."""
        return list(self.session.rules.refused(self.walked.calls))

    def numbers_at(self, call: int) -> list[int]:
        """The messages that stand in the prompt of a call."""
        return [number for number in self.walked.stays if self.stands(number, call)]

    @cached_property
    def outcomes(self) -> dict[int, StepOutcome]:
        """The outcome of each result by its step."""
        return {outcome.step: outcome for outcome in self.replay.results}

    @cached_property
    def own(self) -> tuple[int, ...]:
        """The messages of the strategy's own that stood in any prompt, in order."""
        return tuple(sorted(n for n in self.walked.stays if n >= self.messages.recorded))

    def stands(self, number: int, call: int) -> bool:
        """True if a message stands in the prompt of a call; calls are numbered from 0 over all threads."""
        thread = self.walked.calls[call].thread
        return any(
            stay.first <= call < stay.after and stay.thread == thread for stay in self.walked.stays.get(number, ())
        )

    def own_at(self, call: int) -> frozenset[int]:
        """The strategy's own messages in the prompt of a call."""
        return frozenset(number for number in self.own if self.stands(number, call))

    @cached_property
    def thread_calls(self) -> dict[str, list[int]]:
        """The calls of each thread, by number."""
        found: dict[str, list[int]] = {}
        for number, call in enumerate(self.walked.calls):
            found.setdefault(call.thread, []).append(number)
        return found

    def prompted(self, place: Place) -> Iterator[tuple[ToolResult, int]]:
        """Yield each result that a later prompt of its thread could hold, with the call of its first or last one."""
        calls = self.walked.calls
        for result in self.trace.results:
            of_thread = self.thread_calls.get(result.thread, [])
            later = [number for number in of_thread[-1:] if calls[number].step > result.index]
            if not later:
                continue
            if place == "end":
                yield result, of_thread[-1]
            else:
                yield result, next(n for n in of_thread if calls[n].step > result.index)

    @cached_property
    def facts_kept(self) -> dict[Place, list[KeptShare]]:
        """By place the facts of each result that are still there; a result that stands whole is not read (0 of 0)."""
        places: tuple[Place, ...] = ("shown", "stored", "end")
        return {place: list(self._facts_kept(place)) for place in places}

    def _facts_kept(self, place: Place) -> Iterator[KeptShare]:
        facts = self.session.facts
        if place == "stored":
            for result, text in self._stored_texts():
                lost = () if text is None else facts.lost_in_text(result, text)
                total = 0 if text is None or text == result.text else len(facts.of(result))
                if total or text is None or text == result.text:
                    yield KeptShare(result, total - len(lost), total, lost)
            return
        for result, call in self.prompted(place):
            if self.stands(self.index.full[result.index], call):
                if result.text:
                    yield KeptShare(result, 0, 0)
                continue
            total = len(facts.of(result))
            if total:
                lost = self.facts_lost(result, call)
                yield KeptShare(result, total - len(lost), total, lost)

    def facts_lost(self, result: ToolResult, call: int) -> tuple[str, ...]:
        """The facts of a result that no message in the prompt of a call holds."""
        return self.session.facts.lost(result, self.own_at(call), lambda number: self.stands(number, call))

    def _stored_texts(self) -> Iterator[tuple[ToolResult, str | None]]:
        """Yield each result with the text that a later step reads back; None for the untruncated value itself."""
        for result in self.trace.results:
            outcome = self.outcomes.get(result.index)
            if outcome is None:
                continue
            stored = outcome.stored
            if stored is result.value or as_text(stored) == as_text(result.value):
                yield result, None
            else:
                yield result, "" if stored is None else as_text(stored)

    @cached_property
    def fields_kept(self) -> dict[Place, list[KeptShare]]:
        """By place the fields of each structured result that are still there beside their keys."""
        places: tuple[Place, ...] = ("shown", "stored", "end")
        return {place: list(self._fields_kept(place)) for place in places}

    def _fields_kept(self, place: Place) -> Iterator[KeptShare]:
        if place == "stored":
            for result, text in self._stored_texts():
                if isinstance(result.data, dict | list):
                    yield KeptShare(result, 0, 0) if text is None else self._fields_in(result, [text])
            return
        for result, call in self.prompted(place):
            if not isinstance(result.data, dict | list):
                continue
            if self.stands(self.index.full[result.index], call):
                yield KeptShare(result, 0, 0)
                continue
            seen = self.index.shown[result.index]
            numbers = [*([seen] if self.stands(seen, call) else []), *self.own_at(call)]
            messages = [self.messages.messages[number] for number in numbers]
            about = [message for message in messages if message.step in (None, result.index)]
            yield self._fields_in(result, [text for item in about for text in self.messages.contents.of(item)])

    def _fields_in(self, result: ToolResult, texts: list[str]) -> KeptShare:
        table = self.messages.table(result.index)
        readings = [TextReading(text, table.names) for text in texts]
        lost = tuple(
            f"{item.key}: {item.text}"
            for item in table.fields
            if not any(table.keeps_field(reading, item) for reading in readings)
        )
        return KeptShare(result, len(table.fields) - len(lost), len(table.fields), lost)
