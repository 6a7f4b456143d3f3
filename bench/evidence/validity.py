"""Prompts that a provider would refuse, or that no longer hold the task, because of what the strategy did.

A provider takes a tool result only right after the message that called for it, and a call only with its results before anything else is said.
What the recording itself broke is held against nobody: it broke it for every strategy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..model import (
    ContextEdit,
    ContextReset,
    Message,
    ModelTurn,
    Prompt,
    Run,
    SystemTurn,
    ToolCall,
    ToolResult,
    Trace,
    UserTurn,
)
from .instructions import Instruction, Instructions

PLACES = 40  # the most messages of one prompt that are named as refused
NO_USER = "no message speaks as a user"


class Problem(NamedTuple):
    """One thing wrong with a prompt: a `result` without its call, a `call` without its result, a step out of `order`."""

    kind: str
    step: int | None
    name: str

    def __str__(self) -> str:
        where = "a written message" if self.step is None else f"step {self.step}"
        if self.kind == "result":
            return f"the tool result of {where} has no call before it"
        if self.kind == "call":
            return f"call {self.name} of {where} has no result before the next turn"
        return f"{where} stands after {self.name}"


class Checked(NamedTuple):
    """One prompt, checked: what a provider would refuse in it (`""`: nothing), and if its task or system prompt is in no message any more.

    `places` are the steps of the first messages that would be refused, `rules_missing` the standing instructions that no message holds.
    """

    step: int
    invalid: str = ""
    task_missing: bool = False
    places: tuple[int, ...] = ()
    system_missing: bool = False
    rules_missing: tuple[str, ...] = ()


class MessageShape(NamedTuple):
    """The part of a message that its validity depends on.

    Its step and the place of that in the recording, the calls that it makes, the call that it answers, if it speaks as a user, and the numbers
    of the instructions that it holds.
    """

    step: int | None
    place: int | None
    calls: tuple[str, ...] = ()
    answers: str | None = None
    is_user: bool = False
    told: tuple[int, ...] = ()


def calls_in(calls: Iterable[ToolCall]) -> tuple[str, ...]:
    """The ids of calls that a provider pairs with results; an agent that writes its commands as text makes none."""
    return tuple(call.id for call in calls if not call.in_text)


class RecordedPrompts:
    """The recording's own prompts: what must be there, and what was broken anyway.

    `instructions` are what every prompt has to hold, `broken` the problems of its full history. Where the recorded harness changed its history,
    `broken_at` are those of the prompt that it sent then, by step, `no_user_at` the steps of such without a user, and `untold_at` by step the numbers
    of the instructions that such a prompt lacked.
    """

    def __init__(self, trace: Trace, instructions: Instructions) -> None:
        self.instructions = instructions
        self.places = {step.index: place for place, step in enumerate(trace.steps)}
        self.first_user: dict[str, int] = {}
        self.broken_at: dict[int, frozenset[Problem]] = {}
        self.no_user_at: set[int] = set()
        self.untold_at: dict[int, frozenset[int]] = {}
        self._known_words: dict[str, frozenset[str]] = {}
        histories: dict[str, list[MessageShape]] = {}
        cleared: dict[str, list[MessageShape]] = {}  # what the harness still sent, once it changed a history
        system = {step.index for step in trace.steps if isinstance(step, SystemTurn)}
        for step in trace.steps:
            history, sent = histories.setdefault(step.thread, []), cleared.get(step.thread)
            if isinstance(step, ContextReset):
                cleared[step.thread] = self._after(step, history if sent is None else sent, system)
            elif isinstance(step, ContextEdit):
                cleared[step.thread] = [self._reworded(step, shape) for shape in (history if sent is None else sent)]
            elif isinstance(step, ModelTurn) and sent is not None:
                self._look_at(step, sent)
            if isinstance(step, SystemTurn | UserTurn | ModelTurn | ToolResult):
                shape = self._shape_of_step(step)
                for messages in (history, sent):
                    if messages is not None:
                        messages.append(shape)
        self.broken = {thread: frozenset(problems(history)) for thread, history in histories.items()}

    def _shape_of_step(self, step: SystemTurn | UserTurn | ModelTurn | ToolResult) -> MessageShape:
        place = self.places[step.index]
        if isinstance(step, ModelTurn):
            return MessageShape(step.index, place, calls_in(step.tool_calls))
        if isinstance(step, ToolResult):
            is_user = step.role == "user"
            shape = MessageShape(step.index, place, (), None if is_user else step.call_id or None, is_user)
        else:
            told = self.instructions.of_step(step.thread, step.index)
            shape = MessageShape(step.index, place, is_user=isinstance(step, UserTurn), told=told)
        if shape.is_user:
            self.first_user.setdefault(step.thread, place)
        return shape

    def _after(self, reset: ContextReset, sent: Sequence[MessageShape], system: set[int]) -> list[MessageShape]:
        """The messages that a recorded reset leaves: the system turns at the start, its summary, and what it kept."""
        start = next((place for place, shape in enumerate(sent) if shape.step not in system), len(sent))
        summary = []
        if reset.summary is not None:
            told = self.instructions.told_by(reset.thread, Message(role="user", text=reset.summary, kind="made"))
            summary = [MessageShape(None, None, is_user=True, told=told)]
        return [*sent[:start], *summary, *(shape for shape in sent[start:] if shape.step in reset.kept)]

    def _reworded(self, edit: ContextEdit, shape: MessageShape) -> MessageShape:
        """A message as a recorded edit left it, with the instructions that it still holds."""
        if shape.step not in edit.shown or not shape.told:
            return shape
        message = Message(role="user", text=edit.shown[shape.step], kind="user", step=shape.step)
        return shape._replace(told=self.instructions.told_by(edit.thread, message))

    def _look_at(self, turn: ModelTurn, sent: Sequence[MessageShape]) -> None:
        found = frozenset(problems(sent))
        if found:
            self.broken_at[turn.index] = found
        if not any(shape.is_user for shape in sent):
            self.no_user_at.add(turn.index)
        told = {number for shape in sent for number in shape.told}
        self.untold_at[turn.index] = frozenset(range(len(self.instructions.by_thread.get(turn.thread, ())))) - told

    def untold(self, prompt: Prompt, told: Mapping[int, int]) -> list[Instruction]:
        """The instructions that a prompt lacks, given how often its messages hold each, but for those that the recording's own prompt lacked."""
        excused, place = self.untold_at.get(prompt.step, frozenset()), self.places[prompt.step]
        return [
            item
            for number, item in enumerate(self.instructions.by_thread.get(prompt.thread, ()))
            if told.get(number, 0) <= 0 and number not in excused and self.places[item.step] <= place
            if item.last is None or prompt.step <= item.last
        ]

    def shape_of(self, thread: str, message: Message) -> MessageShape:
        """The shape of a message of a run."""
        is_user = message.role == "user"
        is_answer = message.kind == "result" or message.role == "tool"
        return MessageShape(
            message.step,
            None if message.step is None else self.places.get(message.step),
            calls_in(message.tool_calls),
            None if not is_answer or is_user else message.call_id or None,
            is_user,
            self.instructions.told_by(thread, message),
        )


def problems(shapes: Sequence[MessageShape]) -> Iterator[Problem]:
    """Everything that is wrong with a whole prompt.

    >>> called, result = MessageShape(1, 1, ("c",)), MessageShape(2, 2, answers="c")
    >>> [str(problem) for problem in problems([called, result])]
    []
    >>> [str(problem) for problem in problems([result])]
    ['the tool result of step 2 has no call before it']
    """
    for found in _judged(shapes, 0, len(shapes)):
        yield from found


def _judged(shapes: Sequence[MessageShape], start: int, end: int) -> list[list[Problem]]:
    """The problems of each message from `start` to `end`. `start` is no answer, or the first of all; at `end` nothing is open any more."""
    found: list[list[Problem]] = [[] for _ in range(start, end)]
    head, waiting = start, dict.fromkeys(shapes[start].calls if start < end else ())
    before = next((shapes[at] for at in range(start - 1, -1, -1) if shapes[at].place is not None), None)
    for at in range(start, end):
        shape, wrong = shapes[at], found[at - start]
        if shape.answers is not None:
            if waiting.pop(shape.answers, shape) is shape:
                wrong.append(Problem("result", shape.step, shape.answers))
        elif at > start:
            found[head - start].extend(Problem("call", shapes[head].step, name) for name in waiting)
            head, waiting = at, dict.fromkeys(shape.calls)
        if shape.place is not None:
            if before is not None and before.place is not None and before.place > shape.place:
                wrong.append(Problem("order", shape.step, f"step {before.step}"))
            before = shape
    if waiting:
        found[head - start].extend(Problem("call", shapes[head].step, name) for name in waiting)
    return found


class _CheckedThread:
    """The prompt of one thread as it changes: its messages, what is wrong with each, how many speak as a user, and how many hold an instruction."""

    def __init__(self, name: str, recorded: RecordedPrompts, run: Run) -> None:
        self._name, self._recorded, self._run = name, recorded, run
        self._broken = recorded.broken.get(name, frozenset())
        self._known: dict[str, MessageShape] = {}
        self._shapes: list[MessageShape] = []
        self._wrong: list[Sequence[Problem]] = []
        self._problems = 0
        self._users = 0
        self._told: Counter[int] = Counter()

    def checked(self, prompt: Prompt) -> Checked:
        """The next prompt, checked: costs what changed."""
        for splice in reversed(prompt.splices):
            end = splice.at + splice.removed
            added = [self._shape(key) for key in splice.added]
            for sign, shapes in ((-1, self._shapes[splice.at : end]), (1, added)):
                self._users += sign * sum(shape.is_user for shape in shapes)
                for shape in shapes:
                    for number in shape.told:
                        self._told[number] += sign
            self._problems -= sum(map(len, self._wrong[splice.at : end]))
            self._shapes[splice.at : end] = added
            self._wrong[splice.at : end] = [()] * len(added)
        shift = 0
        for splice in prompt.splices:
            start = splice.at + shift
            self._judge(start, start + len(splice.added))
            shift += len(splice.added) - splice.removed
        invalid, places = self._invalid(prompt)
        untold = self._recorded.untold(prompt, self._told)
        gone = {item.kind for item in untold}
        rules = tuple(item.text for item in untold if item.kind == "rule")
        return Checked(prompt.step, invalid, "task" in gone, places, "system" in gone, rules)

    def _shape(self, key: str) -> MessageShape:
        if key not in self._known:
            self._known[key] = self._recorded.shape_of(self._name, self._run.messages[key])
        return self._known[key]

    def _judge(self, start: int, end: int) -> None:
        """Judge anew what a change may have made right or wrong: the calls and results around it, and the next step behind it."""
        shapes, last = self._shapes, len(self._shapes)
        start = max(0, min(start, last) - 1)
        while start > 0 and shapes[start].answers is not None:
            start -= 1
        while end < last and shapes[end].place is None:
            end += 1
        end = min(end + 1, last)
        while end < last and shapes[end].answers is not None:
            end += 1
        found = [[problem for problem in wrong if problem not in self._broken] for wrong in _judged(shapes, start, end)]
        self._problems += sum(map(len, found)) - sum(map(len, self._wrong[start:end]))
        self._wrong[start:end] = found

    def _invalid(self, prompt: Prompt) -> tuple[str, tuple[int, ...]]:
        """The reason why a prompt would be refused, and the steps concerned."""
        recorded = self._recorded
        wrong: list[Problem] = []
        if self._problems:
            excused = recorded.broken_at.get(prompt.step, frozenset())
            wrong = [problem for found in self._wrong for problem in found if problem not in excused]
        first_user = recorded.first_user.get(self._name)
        said = [str(problem) + (f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else "") for problem in wrong[:1]]
        if not self._users and first_user is not None and first_user < recorded.places[prompt.step]:
            said += [] if prompt.step in recorded.no_user_at else [NO_USER]
        places = dict.fromkeys(problem.step for problem in wrong if problem.step is not None)
        return "; ".join(said), tuple(places)[:PLACES]


def check_prompts(recorded: RecordedPrompts, run: Run) -> list[Checked]:
    """Every prompt of a run, checked: costs what changes from one to the next."""
    threads: dict[str, _CheckedThread] = {}
    found = []
    for prompt in run.prompts:
        if prompt.thread not in threads:
            threads[prompt.thread] = _CheckedThread(prompt.thread, recorded, run)
        found.append(threads[prompt.thread].checked(prompt))
    return found
