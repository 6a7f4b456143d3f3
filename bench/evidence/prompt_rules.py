"""Prompts that a provider would refuse: unpaired calls and results, repeated calls, no user message,
empty messages, lone surrogates.

A provider accepts a tool result only right after the message with its call, and a call only with
its results before the next message, and once
(https://github.com/anthropics/claude-code/issues/28515). Faults of the recording itself are excused, since they affect
every strategy.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from ..model import Message, memo
from ..model.base import encodable
from ..model.messages import Running, Speaking, recorded_prompts
from ..model.replay import Call
from .messages import TraceMessages


class Refused(NamedTuple):
    """A prompt that a provider would refuse, by the number of its call, and the reasons."""

    call: int
    problems: list[str]

    def __str__(self) -> str:
        more = len(self.problems) - 1
        return self.problems[0] + (f" (and {more} more)" if more else "")


class _Shape(NamedTuple):
    """The part of a message that decides on validity: its step in words and the place of that, its
    calls, the call that it answers."""

    where: str
    place: int | None
    calls: tuple[str, ...]
    answers: str | None
    is_user: bool
    problem: str | None


class _Read(NamedTuple):
    """A prompt read up to some message: its problems so far; the last message that answers no call,
    its calls, and those without a result; the calls in generated messages; the place of the last
    step."""

    problems: tuple[str, ...] = ()
    where: str = ""
    calls: tuple[str, ...] = ()
    generated_calls: tuple[str, ...] = ()
    waiting: frozenset[str] = frozenset()
    place: int = -1
    has_user: bool = False

    def and_then(self, shape: _Shape) -> _Read:
        """The prompt read up to the next message."""
        where, place, calls, answers, is_user, problem = shape
        problems = [problem] if problem else []
        head, waiting = self.where, self.waiting
        if answers is None:
            problems += self.unanswered() if waiting else ()
            head, waiting = where, frozenset(calls)
        elif answers in waiting:
            waiting -= {answers}
        else:
            problems.append(f"the tool result of {where} has no call before it")
        if place is None:
            place = self.place
        elif place < self.place:
            problems.append(f"{where} stands after a later step")
        found = (*self.problems, *problems) if problems else self.problems
        generated = self.generated_calls
        if shape.place is None and calls:
            generated = (*generated, *calls)
        return _Read(found, head, calls, generated, waiting, place, self.has_user or is_user)

    def unanswered(self) -> list[str]:
        """The problems of the calls without a result."""
        calls = sorted(self.waiting)
        return [f"call {call} of {self.where} has no result before the next turn" for call in calls]

    def ended(self, *, is_asked: bool = True) -> list[str]:
        """The problems of the prompt, if it ends here; one that `is_asked` for needs a user."""
        needs_user = is_asked and not self.has_user
        no_user = ["no message speaks as a user"] if needs_user else []
        return [*self.problems, *self.unanswered(), *no_user]


def _prompts() -> defaultdict[str, Running[_Read]]:
    """The prompt of each thread, read from its start."""
    return defaultdict(lambda: Running(_Read(), _Read.and_then))


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
        self._places = {step.index: place for place, step in enumerate(messages.trace.steps)}
        self._first_user: dict[str, int] = {}
        for step in messages.trace.steps:
            if isinstance(step, Speaking) and self._shape(messages.index.full[step.index]).is_user:
                self._first_user.setdefault(step.thread, self._places[step.index])

    @cached_property
    def _excused(self) -> dict[str, set[str]]:
        """The problems of the recorded history of each thread."""
        histories = _prompts()
        for step in self._messages.trace.steps:
            if isinstance(step, Speaking):
                history = histories[step.thread]
                shape = self._shape(self._messages.index.full[step.index])
                history.change(len(history.values), [shape])
        ends = {thread: history.values[-1] for thread, history in histories.items()}
        return {thread: {*end.ended(is_asked=False)} for thread, end in ends.items()}

    @cached_property
    def _excused_at(self) -> dict[int, set[str]]:
        """The problems of each recorded prompt, by its turn."""
        problems: dict[int, set[str]] = {}
        prompts = _prompts()
        for turn, keep, tail in recorded_prompts(self._messages.trace, self._messages.recording):
            read = prompts[turn.thread].change(keep, [*map(self._shape_of, tail)])
            problems[turn.index] = {*read.ended()}
        return problems

    def refused(self, calls: Sequence[Call]) -> Iterator[Refused]:
        """Yield the prompts that a provider would refuse, in order. Each prompt only costs its
        changes."""
        prompts = _prompts()
        for number, call in enumerate(calls):
            read = prompts[call.thread].change(call.keep, [*map(self._shape, call.tail)])
            place = self._places[call.step]
            problems = read.ended(is_asked=self._first_user.get(call.thread, place) < place)
            if read.generated_calls:
                problems += self._repeated(prompts[call.thread].values)
            if not problems:
                continue
            excused = self._excused.get(call.thread, set()) | self._excused_at[call.step]
            if left := [problem for problem in problems if problem not in excused]:
                yield Refused(number, left)

    @cached_property
    def _recorded_calls(self) -> Counter[str]:
        turns = self._messages.trace.model_turns
        return Counter(call.id for turn in turns for call in turn.tool_calls)

    def _repeated(self, prompt: Sequence[_Read]) -> Iterator[str]:
        """Yield the problems of calls that stand twice in a prompt, but once in the recording."""
        calls = Counter(call for read in prompt for call in read.calls)
        for call in dict.fromkeys(prompt[-1].generated_calls):
            if calls[call] > 1 and self._recorded_calls[call] == 1:
                yield f"call {call} stands twice"

    @memo
    def _shape(self, number: int) -> _Shape:
        """The properties of a message that decide whether its place in a prompt is valid."""
        message = self._messages.messages[number]
        return self._shape_of(message, is_own=number >= self._messages.recorded)

    def _shape_of(self, message: Message, *, is_own: bool = False) -> _Shape:
        step, is_user = message.step, message.role == "user"
        where = "a message of the strategy" if step is None else f"step {step}"
        is_answer = not is_user and (message.kind == "result" or message.role == "tool")
        return _Shape(
            where,
            None if step is None else self._places.get(step),
            tuple(call.id for call in message.tool_calls if not call.in_text),
            message.call_id or None if is_answer else None,
            is_user,
            _problem_of(message, where) if is_own else None,
        )


def _problem_of(message: Message, where: str) -> str | None:
    """The reason why a provider refuses a single message: it is empty, or has a lone surrogate."""
    is_empty = not (message.text.strip() or message.tool_calls or message.non_text)
    if is_empty and message.kind != "result":
        return f"{where} is an empty message"
    has_half = encodable(message.text) != message.text
    return f"{where} holds half a character (a lone surrogate)" if has_half else None
