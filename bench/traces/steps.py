"""The builder of a run: messages become steps in order, and results find their calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import msgspec

from ..model import (
    AnyStep,
    Approval,
    ModelTurn,
    RouteDecision,
    SystemTurn,
    ToolCall,
    ToolResult,
    ToolsChanged,
    Trace,
    Usage,
    UserTurn,
    as_text,
)
from .documents import Document
from .markers import cut_in
from .reader import NoRun, source_of
from .values import Unread, data_of, time_of, without_empty

PICTURE = "picture"
Role = Literal["system", "user", "assistant", "tool"]
_ALONE = "call of a result: the result stands alone"
_UNASKED = "run of a tool that no call asked for"
_POINTS = ((ModelTurn, "after_model"), (ToolResult, "after_result"), (UserTurn, "user_turn"))


@dataclass(frozen=True)
class ToolRun:
    """A tool's execution as recorded beside the message that shows its result: the whole output,
    the error, the time.

    `output` is a text or a structured value, `data` the structured value of a text where the reader
    knows it, `full` the untruncated text in the envelope of what the model saw, where that was cut.
    `cut` is True if the recording has no complete output, which a marker in the text tells too;
    `prose` if the text is never structured.
    """

    output: Any = None
    data: Any = None
    full: str | None = None
    failed: bool = False
    error: str | None = None
    time: float | None = None
    cut: bool = False
    prose: bool = False


@dataclass(frozen=True)
class ReadMessage:
    """One message of a run. `calls`, `reasoning` (with `reasoning_resent` in later prompts, too),
    `model`, `usage` and `answer_id` belong to a model's answer; `call_id`, `name`, `failed`,
    `error` (else the content is why it failed) and `ran` to a tool message; `other` are the kinds
    of parts without text (`picture` is known)."""

    role: Role
    content: str = ""
    calls: tuple[ToolCall, ...] = ()
    reasoning: str | None = None
    reasoning_resent: bool = False
    call_id: str = ""
    name: str = ""
    failed: bool = False
    error: str | None = None
    ran: ToolRun | None = None
    model: str | None = None
    usage: Usage | None = None
    answer_id: str | None = None
    other: tuple[str, ...] = ()
    time: float | None = None

    def with_known(self, **known: Any) -> ReadMessage:
        """The message with more of its fields set; None leaves a field as it is."""
        return replace(self, **{name: value for name, value in known.items() if value is not None})


class Steps:
    """The steps of one run so far, numbered in order. `ran` are recorded executions of tools, by
    the ids of their calls; `model`, `thread` and `time` are those of steps that state none."""

    def __init__(self) -> None:
        self.steps: list[AnyStep] = []
        self.unread = Unread()
        self.id = ""
        self.labels: dict[str, Any] = {}
        self.meta: dict[str, Any] = {}
        self.cost_usd = 0.0  # as far as it is recorded
        self.model: str | None = None
        self.thread = "main"
        self.time: float | None = None
        self.ran: dict[str, ToolRun] = {}
        # Runs that name no call, by the tool's name: arguments and run.
        self._unnamed: dict[str, list[tuple[Any, ToolRun]]] = {}
        self._known: dict[str, tuple[ToolCall, str]] = {}  # the last call with an id, its thread
        self._waiting = defaultdict[str, list[ToolCall]](list)  # without a result yet, by thread
        self._tools: dict[str, Any] = {}

    @property
    def index(self) -> int:
        """The index of the next step."""
        return len(self.steps)

    def at(self, time: Any, thread: str = "main") -> None:
        """Set the recorded time, and the thread, of the steps that follow."""
        self.time, self.thread = time_of(time, self.unread), thread

    def add(self, kind: type[AnyStep], **fields: Any) -> int:
        """Append a step of a kind; returns its index."""
        place = {"thread": self.thread, "t": self.time}
        self.steps.append(kind(index=self.index, **(place | fields)))
        return self.index - 1

    def set_tools(self, definitions: list[Any]) -> None:
        """Append the tools that the thread has from here on, unless they are the same as before."""
        if definitions != self._tools.get(self.thread, []):
            self._tools[self.thread] = definitions
            self.add(ToolsChanged, t=None, tools=tuple(definitions))

    def add_message(self, message: ReadMessage) -> int:
        """Append a message as a step; returns its index. A tool message is the result of the call
        whose id it names, else of the thread's earliest unanswered call (with the same name, if it
        has one). A call without an id gets one from the index."""
        pictures = message.other.count(PICTURE)
        self.unread.add("picture (only text is counted)", pictures)
        for kind in message.other:
            if kind != PICTURE:
                self.unread.kind("block", kind)
        if message.role == "tool":
            call = self.take_call(message)
            return self._add_result(call, self.ran.pop(call.id, message.ran or ToolRun()), message)
        shown: dict[str, Any] = {"content": message.content, "non_text": len(message.other)}
        shown |= {} if message.time is None else {"t": message.time}
        if message.role != "assistant":
            return self.add(SystemTurn if message.role == "system" else UserTurn, **shown)
        calls = tuple(
            call if call.id else msgspec.structs.replace(call, id=own_id("call", self.index, at))
            for at, call in enumerate(message.calls)
        )
        self.note_calls(calls)
        return self.add(
            ModelTurn,
            tool_calls=calls,
            model=message.model or self.model,
            reasoning=message.reasoning or None,
            reasoning_resent=message.reasoning_resent and bool(message.reasoning),
            usage=message.usage,
            answer_id=message.answer_id,
            **shown,
        )

    def add_messages(self, messages: Iterable[ReadMessage]) -> None:
        """Append several messages, each like `add_message`."""
        for message in messages:
            self.add_message(message)

    def add_decision(self, taken: str, router: str | None, *, at: str = "", **fields: Any) -> None:
        """Append a recorded routing decision: where the run goes next, after the last step unless
        `at` names another point."""
        where = at or point_after(self.steps[-1] if self.steps else None)
        self.add(RouteDecision, at=where, taken=taken, router=router, **fields)

    def add_approval(self, call_id: str, approved: bool) -> None:
        """Append a person's yes or no to a call."""
        _, thread = self._known.get(call_id, (None, "main"))
        self.add(Approval, thread=thread, call_id=call_id, approved=approved)

    def note_calls(self, calls: tuple[ToolCall, ...]) -> None:
        """Note calls that results may answer from here on."""
        for call in calls:
            runs = self._unnamed.get(call.name)
            if runs and call.id not in self.ran:
                spellings = (call.arguments, str(call.arguments), as_text(call.arguments))
                same = (at for at, (given, _) in enumerate(runs) if given in spellings)
                _, self.ran[call.id] = runs.pop(next(same, 0))
            self._known[call.id] = call, self.thread
            self._waiting[self.thread].append(call)
        self.unread.add("id of a call used twice", len(calls) - len({call.id for call in calls}))

    def note_unnamed_run(self, name: str, arguments: Any, ran: ToolRun) -> None:
        """Note a tool's execution that names no call: it belongs to the next call of the same name,
        preferably with the same arguments."""
        self._unnamed.setdefault(name, []).append((arguments, ran))

    def unanswered_calls(self) -> list[ToolCall]:
        """The calls of the thread that have no result yet, oldest first."""
        return list(self._waiting[self.thread])

    def take_call(self, result: ReadMessage) -> ToolCall:
        """The call that a result answers, which is then no longer unanswered: the one with its id,
        else the first whose name fits. Without one a new call, which is counted."""
        own, name = result.call_id, result.name
        last, thread = self._known.get(own, (None, self.thread))
        waiting = self._waiting[thread]
        fit = (call for call in waiting if (call.id == own if own else name in ("", call.name)))
        call = next(fit, last)
        if call is None:
            self.unread.add(_ALONE)
            return ToolCall(id=own or f"result{self.index}", name=name or "unknown")
        self.unread.add("further result of a call, read too", call not in waiting)
        if call in waiting:
            waiting.remove(call)
        return call

    def add_unseen_results(self) -> None:
        """Append the results of tools that ran at the end and that no message shows (`seen` is
        None); executions without a call are counted."""
        self.time = None
        for call_id, ran in self.ran.items():
            call, self.thread = self._known.get(call_id, (None, "main"))
            if call is None or call not in self._waiting[self.thread]:
                self.unread.add(_UNASKED)
                continue
            self._waiting[self.thread].remove(call)
            self._add_result(call, ran, None)
        self.unread.add(_UNASKED, sum(map(len, self._unnamed.values())))
        self.ran.clear()

    def _add_result(self, call: ToolCall, ran: ToolRun, message: ReadMessage | None) -> int:
        shown = message or ReadMessage("tool")
        seen, output = shown.content, "" if ran.output is None else as_text(ran.output)
        longer = output if len(output.strip()) > len(seen.strip()) else None
        full = output if message is None else ran.full or longer
        why = (seen or None) if shown.failed else None
        times = (ran.time, shown.time, self.time)
        return self.add(
            ToolResult,
            t=next((time for time in times if time is not None), None),
            call_id=call.id,
            function=call.name,
            arguments=call.arguments,
            success=not (ran.failed or shown.failed),
            role="user" if call.in_text else "tool",
            seen=None if message is None else seen,
            full=full,
            data=None if ran.prose else _structured(ran, seen),
            error=ran.error or shown.error or why,
            truncated_at_source=ran.cut or (full is None and cut_in(seen) != ""),
            non_text=len(shown.other),
        )

    def trace(self, document: Document, reader: str) -> Trace:
        """The run as a trace; empty labels and meta are left out."""
        return Trace(
            id=self.id,
            source=source_of(document, reader),
            steps=tuple(self.steps),
            labels=without_empty(self.labels),
            meta=without_empty({"cost_usd": self.cost_usd or None, **self.meta}),
            left_out=self.unread.counts,
        )


def traces_of(
    document: Document, reader: str, runs: Iterable[Steps], unread: Unread | None = None
) -> Iterator[Trace]:
    """The traces of a file's runs in their order. Empty runs, and what was left out of the file,
    are counted on the first. Raises NoRun where there is none."""
    every, messages = list(runs), UserTurn | ModelTurn | ToolResult
    with_messages = [run for run in every if any(isinstance(step, messages) for step in run.steps)]
    if not with_messages:
        what = "holds no message, model call or result that can be read — nothing was recorded"
        raise NoRun(str(document.fail(what)))
    first = with_messages[0].unread
    first.add("run in which nothing was said", len(every) - len(with_messages))
    first.add_all(unread.counts if unread else {})
    for run in with_messages:
        yield run.trace(document, reader)


def own_id(kind: str, index: int, at: int) -> str:
    """An id for the call of a turn, by its place, that has none."""
    return f"{kind}{index}.{at}" if at else f"{kind}{index}"


def point_after(step: AnyStep | None) -> str:
    """The decision point after a turn, a result or a user's turn, else before the model."""
    return next((point for kind, point in _POINTS if isinstance(step, kind)), "before_model")


def _structured(ran: ToolRun, seen: str) -> Any:
    known = (ran.data, ran.output if isinstance(ran.output, dict | list) else None)
    texts = (ran.output if isinstance(ran.output, str) else "", seen)
    return next((value for value in (*known, *map(data_of, texts)) if value is not None), None)


Id = TypeVar("Id")


def way_to(entry: Id | None, parents: dict[Id, Id | None]) -> Iterator[Id]:
    """An entry and its ancestors, as far as they are known.

    >>> list(way_to("c", {"a": None, "b": "a", "c": "a"}))
    ['c', 'a']
    """
    passed: set[Id] = set()
    while entry is not None and entry in parents and entry not in passed:
        yield entry
        passed.add(entry)
        entry = parents[entry]


def paired(steps: list[AnyStep], kept: Set[int], lost: Set[int] = frozenset()) -> tuple[int, ...]:
    """The indices of the steps in a prompt that keeps `kept` and lost `lost`: a turn stays with all
    results of its calls, or goes with them."""
    turns: dict[int, set[int]] = {}  # with the results of each
    turn_of: dict[str, int] = {}
    for step in steps:
        if isinstance(step, ModelTurn):
            turns[step.index] = set()
            turn_of |= {call.id: step.index for call in step.tool_calls}
        elif isinstance(step, ToolResult) and step.call_id in turn_of:
            turns[turn_of[step.call_id]].add(step.index)
    standing = set(kept - lost)
    for turn, results in turns.items():
        if turn in standing and not results & lost:
            standing |= results
        else:
            standing -= {turn, *results}
    return tuple(sorted(standing))
