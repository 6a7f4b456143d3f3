"""A strategy with somebody's own code: its loop runs where that code may, and its outcomes are
checked.
"""

from __future__ import annotations

import contextlib
import functools
import json
import pickle
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from ..model import Failure, ModelTurn, ToolResult
from ..model.errors import StrategyError, one_line
from ..model.replay import Call, StepOutcome
from ..plugins.worker import NoAnswer
from ..strategies import Strategy
from ..tokens.counting import TokenCounter
from .numbering import Asked, Event, Recorded
from .outcomes import About, Broken, Outcomes, failed
from .serving import ServedLoop, open_loop, slot_of

_TIMES, _MORE = 100, 10_000_000
"""The bytes that a strategy may answer: so many times what it was given, and so many more. All are
measured here.
"""

_WRITTEN = 1 << 40
"""The number of the first message that a loop elsewhere writes: it says nothing of the recording."""


class RemoteLoop:
    """The loop of one strategy in a session of its child, which ends with the block.

    It is given one event after the other. Those on which its code is not called wait for the next
    on which it is. Code that cannot be sent to a child is called here, in the same way.
    """

    def __init__(self, strategy: Strategy, about: About, counter: TokenCounter) -> None:
        self._strategy, self._about, self._counter = strategy, about, counter
        plugins = strategy.plugins.items()
        self._slots = {slot for slot, several in plugins if any(one.own for one in several)}
        self._open = contextlib.ExitStack()
        self._out = Outcomes()
        self._sizes: list[int] = []  # of messages that were written in the last answer
        self._lengths: dict[str, int] = {}  # of the last prompt, by thread
        self._steps: set[int] = {-1}
        self._recorded = 0  # the messages of the recording that were sent
        self._room = _MORE

    def __enter__(self) -> RemoteLoop:
        return self

    def __exit__(self, *raised: object) -> None:
        self._open.close()
        vars(self).pop("_answer", None)  # with what answered here the programs end that it started

    def outcomes(self, events: Iterable[Event]) -> Outcomes:
        """The outcomes of some events; a strategy that raises, or does not answer, has a failure."""
        waiting: list[Event] = []
        for event in events:
            waiting.append(event)
            if self._may_call(event):
                self._take(waiting)
                waiting = []
            if self._out.failure is not None:
                return self._out
        self._take(waiting)
        return self._out

    def _may_call(self, event: Event) -> bool:
        """True if somebody's code may be called on an event."""
        if "routers" in self._slots:
            return True
        if isinstance(event, Asked):
            return "compactor" in self._slots
        is_result = event is not None and isinstance(event.step, ToolResult)
        return is_result and self._slots != {"compactor"}

    def _take(self, events: Sequence[Event]) -> None:
        """Let the outcomes of some events join, or the failure."""
        for event in events:
            if event is not None:
                self._steps.add(event.step.index)
            if isinstance(event, Recorded) and event.seen is not None:
                self._recorded = event.seen[1] + 1
        try:
            self._join(events, self._asked(events))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            last = max(self._steps)
            self._out.failure = failed(Broken(slot_of(self._strategy), error), last)

    @functools.cached_property
    def _answer(self) -> Callable[[bytes], bytes]:
        """The way to the loop: a session of its child, which begins here, or in this process."""
        strategy, counter = self._strategy, self._counter
        about = msgspec.structs.replace(self._about, messages=_WRITTEN)
        if strategy.sandbox is None:
            return ServedLoop(strategy, about, counter).answer
        child, number = strategy.sandbox.child, strategy.sandbox.number
        given = number, about, counter.encoding, counter.counting
        session = child.session(open_loop, *given, count=counter.encoded)
        ask: Callable[[bytes], bytes] = self._open.enter_context(session).ask
        return ask

    def _asked(self, events: Sequence[Event]) -> Outcomes:
        """The outcomes as the loop gives them. Raises StrategyError for none that can be read."""
        crossing = [
            event._replace(record=None) if isinstance(event, Recorded) else event
            for event in events
        ]
        sent = pickle.dumps((crossing, self._sizes), pickle.HIGHEST_PROTOCOL)
        try:
            body = self._answer(sent)
        except NoAnswer as why:
            text = f"{why} — a strategy returns or raises" if why.ended else str(why)
            raise StrategyError(text) from None
        self._room += _TIMES * len(sent) - len(body)
        if self._room < 0:
            what = f"it answers more than {_TIMES} times as much as it was given"
            raise StrategyError(f"{what}, and {_MORE:,} bytes")
        try:
            return msgspec.convert(json.loads(body), Outcomes)
        except (ValueError, RecursionError) as error:
            raise StrategyError(f"its answer cannot be read: {one_line(error)}") from None

    # ------------------------------------------------------------ an answer, checked

    def _join(self, events: Sequence[Event], given: Outcomes) -> None:
        """Let outcomes join. Raises StrategyError for those of other steps or messages."""
        out = self._out
        out.written += given.written
        self._sizes = [*map(self._counter.of, given.written)]
        asked = [
            one for one in events if isinstance(one, Asked) and isinstance(one.step, ModelTurn)
        ]
        results = [one for one in events if isinstance(one, Recorded) and one.record is not None]
        others: list[Any] = [*given.decisions, *given.own_calls, *given.handles]
        others += [given.failure] if given.failure else []
        counts = (len(given.calls), len(given.results))
        is_complete = counts == (len(asked), len(results)) or given.failure is not None
        if not is_complete or not self._steps.issuperset(one.step for one in others):
            raise StrategyError("its answer is not one on the steps that it was given")
        out.calls += map(self._call, asked, given.calls)
        out.results += map(self._result, results, given.results)
        out.decisions += given.decisions
        out.own_calls += given.own_calls
        out.handles += given.handles
        if given.failure is not None:
            slot, error = one_line(given.failure.slot), one_line(given.failure.error)
            out.failure = Failure(step=given.failure.step, slot=slot, error=error)

    def _call(self, asked: Asked, given: Call) -> Call:
        """The prompt of a turn. Raises StrategyError for messages that do not exist."""
        step, thread = asked.step.index, asked.step.thread
        if not 0 <= given.keep <= self._lengths.get(thread, 0):
            raise StrategyError("its answer holds messages that do not exist")
        tail = tuple(map(self._number, given.tail))
        self._lengths[thread] = given.keep + len(tail)
        tools = asked.tools_tokens, asked.tools_changed
        return Call(step, thread, given.keep, tail, *tools, given.parts)

    def _result(self, event: Recorded, given: StepOutcome) -> StepOutcome:
        """The outcome of a result, with what did not cross. Raises StrategyError for another's."""
        step: Any = event.step
        message = self._number(given.message)
        written = message - self._about.messages
        is_of_step = written >= 0 and self._out.written[written].step == step.index
        if not is_of_step and all(message != one[1] for one in (event.full, event.seen) if one):
            raise StrategyError("its answer shows a result by another message")
        is_stored = "store" in self._strategy.plugins
        record = given.record if is_stored else event.record or given.record
        return msgspec.structs.replace(
            given,
            step=step.index,
            call_id=step.call_id,
            message=message,
            record=record,
            stored=given.stored if record.handle is not None else record.value,
        )

    def _number(self, number: int) -> int:
        """The number of a message in this process. Raises StrategyError for one that is none."""
        if 0 <= number < self._recorded:
            return number
        if 0 <= number - _WRITTEN < len(self._out.written):
            return self._about.messages + number - _WRITTEN
        raise StrategyError("its answer holds messages that do not exist")
