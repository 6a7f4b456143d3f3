"""Prompts that a provider would refuse: unpaired calls and results, no user message, empty
messages, lone surrogates.

A provider accepts a tool result only right after the message with its call, and a call only with
its results before the next message. Faults of the recording itself are excused, since they affect
every strategy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ..model import ContextReset, Message, ModelTurn, ToolCall, memo
from ..model.messages import Speaking
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


class _Shape(NamedTuple):
    """The part of a message that decides on validity: the place of its step, its calls, the call
    that it answers.
    """

    step: int | None
    place: int | None
    calls: tuple[str, ...] = ()
    answers: str | None = None
    is_user: bool = False
    is_system: bool = False
    flaw: Problem | None = None


class _Reader:
    """One prompt, read from its start: its faults so far, and the calls without results.

    Reading can resume after any message, so that the next prompt only costs its changes.
    """

    def __init__(self) -> None:
        self.shapes: list[_Shape] = []
        self._heads: list[int] = []
        """For each message the place of the last one, itself included, that answers no call."""

        self._waiting: list[frozenset[str]] = [frozenset()]
        """After each number of messages the calls of the last head that have no result yet."""

        self._problems: list[tuple[int, Problem]] = []
        """The problems, each with the place of the message at which it came out."""

        self._users = [0]
        self._last = [-1]
        """After each number of messages: how many speak as a user, and the place of the last step.
        """

    def keep(self, count: int) -> None:
        """Forget all messages after the first `count`."""
        del self.shapes[count:], self._heads[count:]
        # these begin with the state before any message
        del self._users[count + 1 :], self._last[count + 1 :], self._waiting[count + 1 :]
        while self._problems and self._problems[-1][0] >= count:
            self._problems.pop()

    def add(self, shape: _Shape) -> None:
        """Read one more message."""
        at, before, waiting = len(self.shapes), self._last[-1], self._waiting[-1]
        problems = [shape.flaw] if shape.flaw else []
        if shape.answers is None:
            problems += self._unanswered() if waiting else ()
            waiting = frozenset(shape.calls)
        elif shape.answers in waiting:
            waiting -= {shape.answers}
        else:
            problems.append(Problem("result", shape.step, shape.answers))
        if shape.place is not None and shape.place < before:
            problems.append(Problem("order", shape.step, "a later step"))
        self._problems += [(at, problem) for problem in problems]
        self._heads.append(self._heads[-1] if shape.answers is not None and at else at)
        self.shapes.append(shape)
        self._waiting.append(waiting)
        self._users.append(self._users[-1] + shape.is_user)
        self._last.append(before if shape.place is None else shape.place)

    def _unanswered(self) -> list[Problem]:
        return [
            Problem("call", self.shapes[self._heads[-1]].step, call)
            for call in sorted(self._waiting[-1])
        ]

    def problems(self) -> list[Problem]:
        """The faults of the prompt so far."""
        if not self._problems and not self._waiting[-1]:
            return []
        return [*(problem for _, problem in self._problems), *self._unanswered()]

    @property
    def has_user(self) -> bool:
        return self._users[-1] > 0


class PromptRules:
    """The rules of a provider for the prompts of one trace.

    >>> from bench.evidence.index import index_trace
    >>> from bench.model import Source, ToolCall, ToolResult, Trace, UserTurn
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
        trace = messages.trace
        self._places = {step.index: place for place, step in enumerate(trace.steps)}
        self._first_user: dict[str, int] = {}
        self._excused: dict[str, frozenset[Problem]] = {}
        self._excused_at: dict[int, frozenset[Problem]] = {}
        self._read_recording()

    def _read_recording(self) -> None:
        """Note the faults of the recording itself: in its full histories, and in the prompts after
        a reset.
        """
        histories: dict[str, _Reader] = {}
        cleared: dict[str, _Reader] = {}
        for step in self._messages.trace.steps:
            history = histories.setdefault(step.thread, _Reader())
            if isinstance(step, ContextReset):
                cleared[step.thread] = _after_reset(step, cleared.get(step.thread, history))
            elif isinstance(step, ModelTurn) and step.thread in cleared:
                sent = cleared[step.thread]
                faults = [*sent.problems(), *(() if sent.has_user else (NO_USER,))]
                if faults:
                    self._excused_at[step.index] = frozenset(faults)
            if isinstance(step, Speaking):
                shape = self._shape(self._messages.index.full[step.index])
                if shape.is_user:
                    self._first_user.setdefault(step.thread, self._places[step.index])
                history.add(shape)
                if step.thread in cleared:
                    cleared[step.thread].add(shape)
        self._excused = {
            thread: frozenset(reader.problems()) for thread, reader in histories.items()
        }

    def refused(self, calls: Sequence[Call]) -> Iterator[Refused]:
        """Yield the prompts that a provider would refuse, in order. Each prompt only costs its
        changes.
        """
        readers: dict[str, _Reader] = {}
        for number, call in enumerate(calls):
            reader = readers.setdefault(call.thread, _Reader())
            reader.keep(call.keep)
            for item in call.tail:
                reader.add(self._shape(item))
            excused = self._excused.get(call.thread, frozenset())
            at_turn = self._excused_at.get(call.step, frozenset())
            faults = [
                item for item in reader.problems() if item not in excused and item not in at_turn
            ]
            asked = self._first_user.get(call.thread)
            if not reader.has_user and asked is not None and asked < self._places[call.step]:
                faults += [] if NO_USER in at_turn else [NO_USER]
            if faults:
                steps = dict.fromkeys(item.step for item in faults if item.step is not None)
                yield Refused(number, faults[0], len(faults), tuple(steps))

    @memo
    def _shape(self, number: int) -> _Shape:
        """The properties of a message that decide whether its place in a prompt is valid."""
        message = self._messages.messages[number]
        is_user = message.role == "user"
        is_answer = not is_user and (message.kind == "result" or message.role == "tool")
        return _Shape(
            message.step,
            None if message.step is None else self._places.get(message.step),
            paired_calls(message.tool_calls),
            message.call_id or None if is_answer else None,
            is_user,
            message.kind == "system",
            _flaw_of(message) if number >= self._messages.recorded else None,
        )


NO_USER = Problem("no user", None)


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


def _after_reset(reset: ContextReset, sent: _Reader) -> _Reader:
    """The prompt after a recorded reset: the system turns at its start, its summary, and the kept
    steps.
    """
    shapes, kept = sent.shapes, set(reset.kept)
    start = next((at for at, shape in enumerate(shapes) if not shape.is_system), len(shapes))
    summary = [] if reset.summary is None else [_Shape(None, None, is_user=True)]
    left = _Reader()
    for shape in (
        *shapes[:start],
        *summary,
        *(shape for shape in shapes[start:] if shape.step in kept),
    ):
        left.add(shape)
    return left
