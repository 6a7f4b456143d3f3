"""Which prompts of a run a provider would refuse, or that no longer say what the task is, because of what the strategy did.

A provider takes a tool result only right after the message that called for it, and a call only with its results before anything else is said.
What the recording itself broke is held against nobody: it broke it for every strategy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ..model import (
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
    text_of,
)
from ..text.texts import Texts

if TYPE_CHECKING:
    from .of_trace import TraceEvidence

KEPT = 0.8
"""The share of an instruction's facts that a summary must hold to stand for it."""

_WORD_CHARS = 4
"""Words of an instruction without facts count from this length on."""

PLACES = 40
"""How many messages of one prompt that would be refused are told apart."""

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


@dataclass(frozen=True)
class Checked:
    """One prompt, checked: what a provider would refuse in it (`""`: nothing), and whether no message holds the task, or the system prompt, any more.

    `places` are the steps of the first messages that would be refused.
    """

    step: int
    invalid: str = ""
    task_missing: bool = False
    places: tuple[int, ...] = ()
    system_missing: bool = False


class Shape(NamedTuple):
    """What of a message its validity depends on: its step and the place of that in the recording, the calls that it makes, the call that it
    answers, whether it speaks as a user, and the steps of the instructions that it holds.
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


# ---------------------------------------------------------------- what the recording allows


class Recorded:
    """What the recording's own prompts looked like: what must be there, and what was broken anyway.

    `instructions` are by thread and step what every prompt has to hold: the system turns it begins with, and its first user turn, the `task`.
    `broken` are the problems of its full history. Where the recorded harness cleared its history, `broken_at` are those of the prompt that it sent
    then, by step, `no_user_at` the steps of such without a user, and `untold_at` by step the instructions that such a prompt lacked.
    """

    def __init__(self, trace: Trace, texts: Texts) -> None:
        self.texts = texts
        self.places = {step.index: place for place, step in enumerate(trace.steps)}
        self.task: dict[str, UserTurn] = {}
        self.instructions: dict[str, dict[int, str]] = {}
        self.first_user: dict[str, int] = {}
        self.broken: dict[str, frozenset[Problem]] = {}
        self.broken_at: dict[int, frozenset[Problem]] = {}
        self.no_user_at: set[int] = set()
        self.untold_at: dict[int, frozenset[int]] = {}
        self._holds: dict[tuple[str, str], bool] = {}
        self._walk(trace)

    def _walk(self, trace: Trace) -> None:
        histories: dict[str, list[Shape]] = {}
        cleared: dict[
            str, list[Shape]
        ] = {}  # what the recorded harness still sent, by thread, once it cleared its history
        system = {step.index for step in trace.steps if isinstance(step, SystemTurn)}
        for step in trace.steps:
            history, sent = histories.setdefault(step.thread, []), cleared.get(step.thread)
            if isinstance(step, ContextReset):
                cleared[step.thread] = self._after(step, history if sent is None else sent, system)
            elif isinstance(step, ModelTurn) and sent is not None:
                self._look_at(step, sent)
            if isinstance(step, SystemTurn | UserTurn | ModelTurn | ToolResult):
                begins = all(shape.step in system for shape in history)
                shape = self._shape_of_step(step, begins)
                for messages in (history, sent):
                    if messages is not None:
                        messages.append(shape)
        self.broken = {thread: frozenset(problems(history)) for thread, history in histories.items()}

    def _shape_of_step(self, step: SystemTurn | UserTurn | ModelTurn | ToolResult, begins: bool) -> Shape:
        place = self.places[step.index]
        if isinstance(step, ModelTurn):
            return Shape(step.index, place, calls_in(step.tool_calls))
        if isinstance(step, ToolResult):
            is_user = step.role == "user"
            shape = Shape(step.index, place, (), None if is_user else step.call_id or None, is_user)
        else:
            text, is_user = text_of(step.content), isinstance(step, UserTurn)
            is_task = is_user and step.thread not in self.task
            told = bool(text.strip()) and (is_task or (begins and not is_user))
            if told:
                self.instructions.setdefault(step.thread, {})[step.index] = text
            if told and isinstance(step, UserTurn):
                self.task[step.thread] = step
            shape = Shape(step.index, place, is_user=is_user, told=(step.index,) if told else ())
        if shape.is_user:
            self.first_user.setdefault(step.thread, place)
        return shape

    def _after(self, reset: ContextReset, sent: Sequence[Shape], system: set[int]) -> list[Shape]:
        """What a recorded reset leaves: the system turns at the start, its summary, and what it kept."""
        start = next((place for place, shape in enumerate(sent) if shape.step not in system), len(sent))
        kept = set(reset.kept)
        summary = []
        if reset.summary is not None:
            told = self._told_in(reset.thread, reset.summary)
            summary = [Shape(None, None, is_user=True, told=told)]
        return [*sent[:start], *summary, *(shape for shape in sent[start:] if shape.step in kept)]

    def _look_at(self, turn: ModelTurn, sent: Sequence[Shape]) -> None:
        found = frozenset(problems(sent))
        if found:
            self.broken_at[turn.index] = found
        if not any(shape.is_user for shape in sent):
            self.no_user_at.add(turn.index)
        told = {step for shape in sent for step in shape.told}
        self.untold_at[turn.index] = frozenset(self.instructions.get(turn.thread, {}).keys() - told)

    def shape_of(self, thread: str, message: Message) -> Shape:
        """What of a message of a run its validity depends on."""
        is_user = message.role == "user"
        is_answer = message.kind == "result" or message.role == "tool"
        return Shape(
            message.step,
            None if message.step is None else self.places.get(message.step),
            calls_in(message.tool_calls),
            None if not is_answer or is_user else message.call_id or None,
            is_user,
            self._told_by(thread, message),
        )

    def _told_by(self, thread: str, message: Message) -> tuple[int, ...]:
        """The steps of the instructions that a message holds: it is the turn itself, has its whole text, or is a summary with its facts."""
        found = []
        for step, text in self.instructions.get(thread, {}).items():
            own = message.step == step
            is_whole = (own and message.text == text) or text.strip() in message.text
            if is_whole or ((own or message.kind == "made") and self.holds(text, message.text)):
                found.append(step)
        return tuple(found)

    def _told_in(self, thread: str, summary: str) -> tuple[int, ...]:
        """The steps of the instructions that a summary stands for."""
        return tuple(step for step, text in self.instructions.get(thread, {}).items() if self.holds(text, summary))

    def holds(self, told: str, text: str) -> bool:
        """Whether a text keeps the facts of an instruction; where that has none, its words."""
        known = self._holds.get((told, text))
        if known is None:
            wanted = list(self.texts.facts(told))
            if wanted:
                gone = len(self.texts.missing(text, wanted))
            else:
                words, said = _words(self.texts, told), _words(self.texts, text)
                wanted, gone = list(words), len(words - said)
            known = bool(text.strip()) and len(wanted) - gone >= KEPT * len(wanted)
            self._holds[told, text] = known
        return known


def _words(texts: Texts, text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in texts.words(text) if len(word) >= _WORD_CHARS)


def problems(shapes: Sequence[Shape]) -> Iterator[Problem]:
    """What is wrong with a whole prompt.

    >>> called, result = Shape(1, 1, ("c",)), Shape(2, 2, answers="c")
    >>> [str(problem) for problem in problems([called, result])]
    []
    >>> [str(problem) for problem in problems([result])]
    ['the tool result of step 2 has no call before it']
    """
    for found in _judged(shapes, 0, len(shapes)):
        yield from found


def _judged(shapes: Sequence[Shape], start: int, end: int) -> list[list[Problem]]:
    """What is wrong with each message from `start` to `end`. `start` is no answer, or the first of all; at `end` nothing is open any more."""
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


# ---------------------------------------------------------------- the prompts of a run


class _Thread:
    """The prompt of one thread as it changes: its messages, what is wrong with each, how many speak as a user, and how many hold an instruction."""

    def __init__(self, name: str, recorded: Recorded, run: Run) -> None:
        self.name, self.recorded, self.run = name, recorded, run
        self.broken = recorded.broken.get(name, frozenset())
        self.known: dict[str, Shape] = {}
        self.shapes: list[Shape] = []
        self.wrong: list[Sequence[Problem]] = []
        self.problems = 0
        self.users = 0
        self.told: Counter[int] = Counter()

    def edit(self, prompt: Prompt) -> None:
        """Turn the prompt before into this one: costs the changes."""
        for splice in reversed(prompt.splices):
            end = splice.at + splice.removed
            added = [self._shape(key) for key in splice.added]
            for sign, shapes in ((-1, self.shapes[splice.at : end]), (1, added)):
                self.users += sign * sum(shape.is_user for shape in shapes)
                for shape in shapes:
                    for step in shape.told:
                        self.told[step] += sign
            self.problems -= sum(map(len, self.wrong[splice.at : end]))
            self.shapes[splice.at : end] = added
            self.wrong[splice.at : end] = [()] * len(added)
        shift = 0
        for splice in prompt.splices:
            start = splice.at + shift
            self._judge(start, start + len(splice.added))
            shift += len(splice.added) - splice.removed

    def _shape(self, key: str) -> Shape:
        shape = self.known.get(key)
        if shape is None:
            shape = self.known[key] = self.recorded.shape_of(self.name, self.run.messages[key])
        return shape

    def _judge(self, start: int, end: int) -> None:
        """Judge anew what a change may have made right or wrong: the calls and results around it, and the next step behind it."""
        shapes, last = self.shapes, len(self.shapes)
        start = max(0, min(start, last) - 1)
        while start > 0 and shapes[start].answers is not None:
            start -= 1
        while end < last and shapes[end].place is None:
            end += 1
        end = min(end + 1, last)
        while end < last and shapes[end].answers is not None:
            end += 1
        found = [[problem for problem in wrong if problem not in self.broken] for wrong in _judged(shapes, start, end)]
        self.problems += sum(map(len, found)) - sum(map(len, self.wrong[start:end]))
        self.wrong[start:end] = found


def check_prompts(of_trace: TraceEvidence, run: Run) -> list[Checked]:
    """Every prompt of a run, checked: costs what changes from one to the next."""
    recorded = of_trace.recorded
    threads: dict[str, _Thread] = {}
    found = []
    for prompt in run.prompts:
        thread = threads.setdefault(prompt.thread, _Thread(prompt.thread, recorded, run))
        thread.edit(prompt)
        invalid, places = _invalid(recorded, prompt, thread)
        untold = _untold(recorded, prompt, thread)
        task = recorded.task.get(prompt.thread)
        gone = task is not None and task.index in untold
        found.append(Checked(prompt.step, invalid, gone, places, bool(untold - {task.index} if task else untold)))
    return found


def _invalid(recorded: Recorded, prompt: Prompt, thread: _Thread) -> tuple[str, tuple[int, ...]]:
    """What would be refused in a prompt, in words, and at which steps."""
    wrong: list[Problem] = []
    if thread.problems:
        excused = recorded.broken_at.get(prompt.step, frozenset())
        wrong = [problem for found in thread.wrong for problem in found if problem not in excused]
    first_user = recorded.first_user.get(prompt.thread)
    said = [str(problem) + (f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else "") for problem in wrong[:1]]
    if not thread.users and first_user is not None and first_user < recorded.places[prompt.step]:
        said += [] if prompt.step in recorded.no_user_at else [NO_USER]
    places = dict.fromkeys(problem.step for problem in wrong if problem.step is not None)
    return "; ".join(said), tuple(places)[:PLACES]


def _untold(recorded: Recorded, prompt: Prompt, thread: _Thread) -> set[int]:
    """The steps of the instructions given before a prompt that none of its messages holds, but for those that the recording's own prompt lacked."""
    now = recorded.places[prompt.step]
    given = (step for step in recorded.instructions.get(prompt.thread, ()) if recorded.places[step] <= now)
    return {step for step in given if thread.told[step] <= 0} - recorded.untold_at.get(prompt.step, frozenset())
