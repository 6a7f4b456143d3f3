"""The loop of a replay: it gives a strategy the steps of a recording, one after another.

A strategy changes what the prompts, records and routes contain; the recorded actions stay as they
were. Nothing here looks at later steps.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ..model import (
    AnyStep,
    Approval,
    ContextEdit,
    ContextReset,
    Failure,
    Message,
    ModelTurn,
    Record,
    RouteDecision,
    ToolResult,
    ToolsChanged,
    UserTurn,
    as_text,
)
from ..model.outcome import OUTPUT, SUMMARY
from ..model.replay import Call, Replay, StepOutcome
from ..strategies import Execution, Strategy, read_back, untruncated_record
from ..strategies.histories import with_text
from ..strategies.offloading import offloaded_to
from ..strategies.slots import is_written_alike
from .judging import Judges
from .recording import Recording
from .state import Broken, Ledger, Start, Thread, Threads, in_slot


class Loop:
    """One replay of a recording: the started plug-ins of a strategy, and the results so far."""

    def __init__(
        self, strategy: Strategy, recording: Recording, ledger: Ledger, start: Start
    ) -> None:
        self._strategy, self._recording, self._ledger = strategy, recording, ledger
        compactors = strategy.plugins.get("compactor", ())

        def begin(name: str) -> Thread:
            """A thread with its own instance of the compactor."""
            return Thread(
                name,
                ledger.numbers,
                start("compactor", 0) if compactors else None,
                framing=recording.index.counting.prompt_tokens,
                max_tokens=recording.max_tokens,
                per_call=any(item.attribute("mode") == "per_call" for item in compactors),
            )

        self._threads = Threads(begin)
        slots = ("store", "summarizer", "consumer")
        self._slots = {slot: start(slot, 0) for slot in slots if strategy.plugins.get(slot)}
        self._judges = Judges(strategy, recording, ledger, start, self._threads)
        self._calls: list[Call] = []
        self._results: list[StepOutcome] = []

    # ------------------------------------------------------------ steps

    def replay(self, before: int | None) -> Replay:
        """The replay of all steps, or of those before an index. It ends early, with a failure, when
        the strategy raises."""
        strategy, ledger, failure = self._strategy, self._ledger, None
        step: AnyStep | None = None
        try:
            with offloaded_to(ledger.offload):
                for step in self._recording.trace.steps:
                    if before is not None and step.index >= before:
                        break
                    ledger.step, ledger.is_free = step.index, False
                    self._replay_step(step)
                else:
                    self._judges.decide("end", step)
        except Broken as error:
            failure = Failure(step=ledger.step, slot=error.slot, error=error.text)
        return Replay(
            strategy=strategy.name,
            spec=strategy.spec,
            says=strategy.says,
            written=tuple(ledger.numbers.written),
            calls=tuple(self._calls),
            results=tuple(self._results),
            has_routers=bool(strategy.plugins.get("routers")),
            decisions=tuple(self._judges.decisions),
            own_calls=tuple(ledger.calls),
            handles=tuple(ledger.handles),
            failure=failure,
            reads_future=strategy.reads_future,
        )

    def _replay_step(self, step: AnyStep) -> None:
        """Replay one step. A model turn and a recorded route are shown without their answer until
        the strategy has acted."""
        judges = self._judges
        if isinstance(step, ToolResult):
            self._result(step)
            judges.decide("after_result", step)
            judges.decide("after_evaluation", step)
        elif isinstance(step, ModelTurn):
            self._prompt(step)
            unanswered = ModelTurn(index=step.index, thread=step.thread, model=step.model)
            judges.decide("before_model", unanswered)
            self._join(step)
            judges.decide("after_model", step)
        elif isinstance(step, RouteDecision):
            judges.decide_as_recorded(msgspec.structs.replace(step, taken=""), step.taken)
        elif isinstance(step, ContextReset | ContextEdit):
            self._threads[step.thread].changes.append(step)
        elif isinstance(step, ToolsChanged):
            tokens = self._recording.index.tools_tokens.get(step.index, 0)
            self._threads[step.thread].change_tools(tokens)
        elif isinstance(step, Approval):
            judges.decide("approval", step)
        else:
            self._join(step)
            if isinstance(step, UserTurn):
                judges.decide("user_turn", step)

    def _join(self, step: AnyStep) -> None:
        """Add the message of a turn to its thread."""
        message = self._recording.full_message(step)
        self._threads[step.thread].join(message, message)

    def _prompt(self, turn: ModelTurn) -> None:
        """Let the compactor rewrite the prompt of a turn, and charge its summaries."""
        with in_slot("compactor"):
            call, answer = self._threads[turn.thread].call(turn.index)
            self._calls.append(call)
            if answer is not None:
                self._ledger.charge_summaries(answer.written)

    # ------------------------------------------------------------ results

    def _result(self, step: ToolResult) -> None:
        """Store, summarize, consume and evaluate a result, and add its message to the thread."""
        full = untruncated_record(step)
        record = self._answer("store", step) or full
        stored = record.value
        if record.handle is not None:
            stored = self._ledger.offloaded(record.handle)
        summary = self._answer("summarizer", step)
        reply = self._answer("consumer", Execution(step, summary))
        shown, untruncated = self._in_prompt(step, record, summary)
        message = self._threads[step.thread].join(shown, untruncated)
        read_record = read_back(record, stored)
        entries = {SUMMARY: summary, OUTPUT: step.value}
        evaluation, evaluation_of_full = self._judges.evaluated(read_record, full, entries)
        outcome = StepOutcome(
            step=step.index,
            message=message,
            record=record,
            stored=stored,
            evaluation=evaluation,
            evaluation_untruncated=evaluation_of_full,
            reply=reply,
        )
        self._results.append(outcome)

    def _answer(self, slot: str, value: Any) -> Any:
        """The answer of a slot's plug-in to a value; None for an empty slot."""
        if slot not in self._slots:
            return None
        with in_slot(slot):
            return self._slots[slot](value)

    def _in_prompt(self, step: ToolResult, record: Record, summary: Any) -> tuple[Message, Message]:
        """The message for a result in the prompt, and the untruncated one. The first has the
        summary, else the stored value, else (both slots empty) what the recorded model saw."""
        untruncated = self._recording.full_message(step)
        if summary is not None:
            text = as_text(summary)
        elif "store" in self._slots and not is_written_alike(record.value, step.value):
            text = as_text(record.value)
        else:
            seen = self._recording.seen_message(step)
            return (untruncated if "summarizer" in self._slots else seen), untruncated
        is_same = text == untruncated.text
        return untruncated if is_same else with_text(untruncated, text), untruncated
