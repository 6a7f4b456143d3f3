"""Prompts that a provider would refuse: unpaired calls and results, no user message, empty
messages, lone surrogates.

A provider accepts a tool result only right after the message with its call, and a call only with
its results before the next message. Faults of the recording itself are excused, since they affect
every strategy.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ..model import Message, ToolCall, memo
from ..model.messages import Running, Speaking, recorded_prompts
from ..model.replay import Call
from .messages import TraceMessages


class Problem(NamedTuple):
    """One fault of a prompt: its `kind`, its step (None: a strategy's message), and the name of the
    call or tool.
    """

    kind: str
    step: int | None
    name: str = ""

    def __str__(self) -> str:
        where = "a message of the strategy" if self.step is None else f"step {self.step}"
        return _WORDS[self.kind].format(where=where, name=self.name)


_WORDS = {
    "result": "the tool result of {where} has no call before it",
    "call": "call {name} of {where} has no result before the next turn",
    "order": "{where} stands after {name}",
    "empty": "{where} is an empty message",
    "surrogate": "{where} holds half a character (a lone surrogate)",
    "no user": "no message speaks as a user",
}


class Refused(NamedTuple):
    """A prompt that a provider would refuse, by the number of its call: the first problem, the
    number of problems, and their steps.
    """

    call: int
    problem: Problem
    total: int
    steps: tuple[int, ...]

    def __str__(self) -> str:
        more = f" (and {self.total - 1} more)" if self.total > 1 else ""
        return f"{self.problem}{more}"


class _Read(NamedTuple):
    """A prompt read up to some message: its problems so far, the step of the last message that
    answers no call, the calls of that one without a result, and the place of the last step.
    """

    problems: _Chain | None = None
    step: int | None = None
    waiting: frozenset[str] = frozenset()
    place: int = -1
    has_user: bool = False

    def and_then(self, shape: _Shape) -> _Read:
        """The prompt read up to the next message."""
        step, place, calls, answers, is_user, flaw = shape
        problems = [flaw] if flaw else []
        head, waiting = self.step, self.waiting
        if answers is None:
            problems += self._unanswered()
            head, waiting = step, frozenset(calls)
        elif answers in waiting:
            waiting -= {answers}
        else:
            problems.append(Problem("result", step, answers))
        if place is not None and place < self.place:
            problems.append(Problem("order", step, "a later step"))
        last = self.place if place is None else place
        chain = self.problems
        for problem in problems:
            chain = _Chain(problem, chain)
        return _Read(chain, head, waiting, last, self.has_user or is_user)

    def all_problems(self) -> list[Problem]:
        """The problems of a prompt that ends here."""
        found, chain = self._unanswered()[::-1], self.problems
        while chain:
            found.append(chain.problem)
            chain = chain.before
        return found[::-1]

    def _unanswered(self) -> list[Problem]:
        return [Problem("call", self.step, call) for call in sorted(self.waiting)]


class _Chain(NamedTuple):
    """A problem, and those before it, which longer prompts share."""

    problem: Problem
    before: _Chain | None


class _Shape(NamedTuple):
    """The part of a message that decides on validity: its step and the place of that, its calls,
    the call that it answers.
    """

    step: int | None
    place: int | None
    calls: tuple[str, ...]
    answers: str | None
    is_user: bool
    flaw: Problem | None


class PromptRules:
    """The rules of a provider for the prompts of one trace.

    >>> from bench.evidence.index import index_trace
    >>> from bench.model import ModelTurn, Source, ToolCall, ToolResult, Trace, UserTurn
    >>> call = ToolCall(id="c", name="f")
    >>> steps = (UserTurn(index=0, content="Go."), ModelTurn(index=1, tool_calls=(call,)),
    ...     ToolResult(index=2, call_id="c", function="f", seen="x"), ModelTurn(index=3, content="Done."))
    >>> trace = Trace(id="a", source=Source(format="native"), steps=steps)
    >>> rules = PromptRules(TraceMessages(trace, index_trace(trace)))
    >>> [str(found) for found in rules.refused([Call(1, "main", 0, (0,)), Call(3, "main", 1, (2,))])]
    ['the tool result of step 2 has no call before it']
    """

    def __init__(self, messages: TraceMessages) -> None:
        self._messages = messages
        trace, recorded = messages.trace, messages.recording
        self._places = {step.index: place for place, step in enumerate(trace.steps)}
        self._first_user: dict[str, int] = {}
        histories = defaultdict[str, _Read](_Read)
        for step in trace.steps:
            if isinstance(step, Speaking):
                shape = self._shape(recorded.full[step.index])
                histories[step.thread] = histories[step.thread].and_then(shape)
                if shape.is_user:
                    self._first_user.setdefault(step.thread, self._places[step.index])
        self._excused = {thread: {*read.all_problems()} for thread, read in histories.items()}
        self._excused_at: dict[int, set[Problem]] = {}
        prompts = defaultdict[str, Running[_Read]](self._reader)
        for turn, keep, tail in recorded_prompts(trace, recorded):
            read = prompts[turn.thread].change(keep, [self._shape_of(message) for message in tail])
            problems = {*read.all_problems(), *_no_user(read)}
            self._excused_at[turn.index] = problems - self._excused[turn.thread]

    def refused(self, calls: Sequence[Call]) -> Iterator[Refused]:
        """Yield the prompts that a provider would refuse, in order. Each prompt only costs its
        changes.
        """
        prompts = defaultdict[str, Running[_Read]](self._reader)
        for number, call in enumerate(calls):
            read = prompts[call.thread].change(call.keep, [*map(self._shape, call.tail)])
            asked = self._first_user.get(call.thread)
            is_asked = asked is not None and asked < self._places[call.step]
            excused = self._excused.get(call.thread, set()) | self._excused_at[call.step]
            problems = [*read.all_problems(), *(_no_user(read) if is_asked else ())]
            faults = [problem for problem in problems if problem not in excused]
            if faults:
                steps = dict.fromkeys(item.step for item in faults if item.step is not None)
                yield Refused(number, faults[0], len(faults), tuple(steps))

    @staticmethod
    def _reader() -> Running[_Read]:
        return Running(_Read(), _Read.and_then)

    @memo
    def _shape(self, number: int) -> _Shape:
        """The properties of a message that decide whether its place in a prompt is valid."""
        message = self._messages.messages[number]
        flaw = _flaw_of(message) if number >= self._messages.recorded else None
        return self._shape_of(message, flaw)

    def _shape_of(self, message: Message, flaw: Problem | None = None) -> _Shape:
        is_user = message.role == "user"
        is_answer = not is_user and (message.kind == "result" or message.role == "tool")
        return _Shape(
            message.step,
            None if message.step is None else self._places.get(message.step),
            paired_calls(message.tool_calls),
            message.call_id or None if is_answer else None,
            is_user,
            flaw,
        )


def _no_user(read: _Read) -> list[Problem]:
    return [] if read.has_user else [Problem("no user", None)]


def paired_calls(calls: Iterable[ToolCall]) -> tuple[str, ...]:
    """The ids of calls that a provider pairs with results; commands in an agent's text have none."""
    return tuple(call.id for call in calls if not call.in_text)


_SURROGATE = re.compile("[\ud800-\udfff]")


def _flaw_of(message: Message) -> Problem | None:
    """The reason why a provider refuses a single message: it is empty, or has a lone surrogate."""
    if (
        not message.text.strip()
        and not message.tool_calls
        and not message.non_text
        and message.kind != "result"
    ):
        return Problem("empty", message.step)
    if _SURROGATE.search(message.text):
        return Problem("surrogate", message.step)
    return None
