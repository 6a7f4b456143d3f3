"""Runs from model calls with whole prompts, each of which repeats the conversation so far: finds
which conversation a prompt continues, what is new in it, and where it was shortened."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from ...model import ContextEdit, ContextReset, compact_json
from ..steps import ReadMessage, Steps

_SUMMARY = re.compile(
    r"summar|compact(?:ed|ion)|condens|continued from|<state_snapshot>", re.IGNORECASE
)
_OPENING = 500
"""The first characters of a message, where a summary says that it is one."""


class Conversation:
    """Messages in order, each with its key and its step (None if it has none). `opening` are the
    keys up to and with the first user message, which is the task; empty if there is none."""

    def __init__(self, messages: Iterable[ReadMessage] = ()) -> None:
        self.messages: list[ReadMessage] = []
        self.keys: list[Hashable] = []
        self.steps: list[int | None] = []
        self.opening: tuple[Hashable, ...] = ()
        for message in messages:
            self.add(message)

    def add(self, message: ReadMessage, step: int | None = None) -> None:
        """Append a message."""
        self.messages.append(message)
        self.keys.append(key_of(message))
        self.steps.append(step)
        if not self.opening and message.role == "user":
            self.opening = tuple(self.keys)

    def begins(self, other: Conversation) -> bool:
        """True if another conversation begins with this one."""
        return other.keys[: len(self.keys)] == self.keys


@dataclass(eq=False)
class Thread:
    """A group's conversation so far, and the key of its last answer."""

    group: str
    name: str
    number: int
    conversation: Conversation = field(default_factory=Conversation)
    answer: Hashable = None


class Threads:
    """The conversations of a run in order. They are indexed by opening and by last answer, so that
    a prompt is not compared with all of them."""

    def __init__(self) -> None:
        self._all: list[Thread] = []
        self._begun: Counter[str] = Counter()  # how many have a name, without its number
        # By opening or answer; may still list a thread whose opening or answer has changed.
        self._listed: dict[Hashable, dict[Thread, None]] = {}

    def begin(self, group: str) -> Thread:
        """A new conversation. The first is named `main`, others after their group."""
        name = group if self._all else "main"
        self._begun[name] += 1
        numbered = name if self._begun[name] == 1 else f"{name} {self._begun[name]}"
        self._all.append(Thread(group, numbered, len(self._all)))
        return self._all[-1]

    def first(self, group: str) -> Thread:
        """The first conversation of a group; a new one if it has none."""
        threads = (thread for thread in self._all if thread.group == group)
        return next(threads, None) or self.begin(group)

    def changed(self, thread: Thread) -> None:
        """Index a conversation again after it has changed."""
        for key in ((thread.group, thread.conversation.opening), thread.answer):
            self._listed.setdefault(key, {})[thread] = None

    def _listed_under(self, keys: Iterable[Hashable]) -> list[Thread]:
        threads = {thread for key in keys for thread in self._listed.get(key, ())}
        return sorted(threads, key=lambda thread: thread.number)

    def continued(self, group: str, prompt: Conversation) -> Thread | None:
        """The conversation that a prompt continues: the longest one that the prompt begins with,
        else the last one whose answer it contains, else the last one with the same task. None for a
        new conversation."""
        alike = self._listed_under([(group, ()), (group, prompt.opening)])
        begun = [thread for thread in alike if thread.conversation.begins(prompt)]
        if begun:
            return max(begun, key=lambda thread: len(thread.conversation.keys))
        listed = self._listed_under(set(prompt.keys))
        answered = [thread for thread in listed if thread.answer in prompt.keys]
        continued = [thread for thread in answered if thread.group == group]
        # An answer with the ids of its calls may also have been handed over from another group.
        continued = continued or [thread for thread in answered if has_ids(thread.answer)]
        if not continued and len(prompt.keys) > len(prompt.opening) > 0:
            same_task = [item for item in alike if item.conversation.opening == prompt.opening]
            continued = [item for item in same_task if not prompt.begins(item.conversation)]
        return continued[-1] if continued else None


def has_ids(key: Hashable) -> bool:
    """True if the key of a message consists of call ids, which no other message has."""
    return isinstance(key, tuple) and len(key) == 2 and key[0] == "assistant"


class Prompts(Steps):
    """A run whose model calls are added one by one, in order.

    A call continues the conversation of its group that its prompt begins with: only new messages
    become steps. Another group continues it too if it was handed over with its tool calls. If the
    prompt is a shortened or rewritten conversation (it contains the last answer, or begins with the
    same task), a ContextReset states what was kept and what replaces the rest. If it words results
    differently, as where they were cleared, that is a ContextEdit. Any other prompt
    begins a new thread: a sub-agent, a branch, a question asked again. The first thread is `main`;
    the others are named after their group. With `apart` each thread is a run.
    """

    def __init__(self, *, apart: bool = False) -> None:
        super().__init__()
        self._threads = Threads()
        self._apart: dict[str, Steps] | None = {} if apart else None
        self._answers: dict[str, ReadMessage] = {}  # those with several calls, by each call's id

    def runs(self) -> list[Steps]:
        """The runs that the calls made."""
        return [self] if self._apart is None else list(self._apart.values())

    def add_model_call(
        self,
        prompt: Sequence[ReadMessage],
        answer: ReadMessage,
        *,
        results: Sequence[ReadMessage] = (),
        group: str = "agent",
        tools: list[Any] | None = None,
        asked: float | None = None,
        answered: float | None = None,
    ) -> Steps:
        """Add one model call: its prompt, the tools that it was offered (None: not recorded), its
        answer, and the results of tools that the server ran. Returns the run that it belongs to."""
        sent = Conversation(self._rejoined(prompt))
        thread = self._threads.continued(group, sent) or self._threads.begin(group)
        run = self._update(thread, sent, asked)
        if tools is not None:
            run.set_tools(tools)
        if len(answer.calls) > 1:
            self._answers |= {call.id: answer for call in answer.calls if call.id}
        thread.answer = key_of(answer)
        run.time = answered
        for message in (answer, *results):
            thread.conversation.add(message, run.add_message(message))
        self._threads.changed(thread)
        return run

    def add_state(self, messages: Sequence[ReadMessage], group: str, time: float | None) -> None:
        """Add what is new in a group's conversation, given as a whole."""
        thread = self._threads.first(group)
        self._update(thread, Conversation(messages), time)
        self._threads.changed(thread)

    def extend_state(self, messages: Iterable[ReadMessage], group: str) -> None:
        """Add messages at the end of a group's conversation."""
        thread = self._threads.first(group)
        for message in messages:
            thread.conversation.add(message, self.add_message(message))

    def _rejoined(self, prompt: Sequence[ReadMessage]) -> list[ReadMessage]:
        """The prompt with each answer as one message: some libraries send each call separately."""
        sent = {call.id for message in prompt for call in message.calls}
        joined: list[ReadMessage] = []
        for message in prompt:
            answer = self._answers.get(message.calls[0].id, message) if message.calls else message
            parts = {call.id for call in answer.calls}
            if len(message.calls) >= len(answer.calls) or not parts <= sent:
                joined.append(message)
            elif message.calls[0].id == answer.calls[0].id:  # the first of its messages
                joined.append(answer)
        return joined

    def _update(self, thread: Thread, prompt: Conversation, time: float | None) -> Steps:
        """Add what is new in a prompt, after a reset if it lacks parts of the conversation."""
        known, run = thread.conversation, Steps()
        if self._apart is None:
            run, self.thread = self, thread.name
        else:
            run = self._apart.setdefault(thread.name, run)
        run.time = time
        places = _places(known.keys, prompt.keys)
        kept = [place for place in places if place is not None]
        summary: list[int] = []
        if len(kept) < len(known.keys):
            summary = _summary(prompt.messages, places, len(known.keys))
            steps = [known.steps[place] for place in kept]
            run.add(
                ContextReset,
                summary="\n".join(prompt.messages[index].content for index in summary) or None,
                kept=tuple(step for step in steps if step is not None),
            )
        if edits := _edits(known, prompt, places):
            run.add(ContextEdit, shown=edits)
        for index, (message, place) in enumerate(zip(prompt.messages, places, strict=True)):
            if place is not None:
                prompt.steps[index] = known.steps[place]
            elif index not in summary:
                prompt.steps[index] = run.add_message(message)
        thread.conversation = prompt
        return run


def key_of(message: ReadMessage) -> Hashable:
    """The key by which a message is recognised in later prompts: the ids of its calls or of the
    call that it answers, else its role and content."""
    if message.role == "tool" and message.call_id:
        return ("tool", message.call_id)
    ids = tuple(call.id for call in message.calls)
    if ids and all(ids):
        return ("assistant", ids)
    calls = tuple((call.name, compact_json(call.arguments)) for call in message.calls)
    return (message.role, message.content.strip(), len(message.other), calls)


def _places(known: list[Hashable], keys: list[Hashable]) -> list[int | None]:
    """The place of each message in the conversation, in order; None for a new one."""
    places: list[int | None] = []
    start = 0
    for key in keys:
        try:
            start = known.index(key, start) + 1
            places.append(start - 1)
        except ValueError:
            places.append(None)
    return places


def _edits(
    known: Conversation, prompt: Conversation, places: Sequence[int | None]
) -> dict[int, str]:
    """The texts of results that a prompt words differently, by their steps."""
    edits: dict[int, str] = {}
    for message, place in zip(prompt.messages, places, strict=True):
        if place is not None and message.role == "tool":
            step, before = known.steps[place], known.messages[place]
            if step is not None and message.content.strip() != before.content.strip():
                edits[step] = message.content
    return edits


def _is_summary(message: ReadMessage) -> bool:
    marked = message.role in ("user", "system") and _SUMMARY.search(message.content[:_OPENING])
    return not message.calls and (message.role == "assistant" or bool(marked))


def _summary(prompt: Sequence[ReadMessage], places: list[int | None], end: int) -> list[int]:
    """The indexes of messages in a prompt that summarize what was dropped: new ones between kept
    messages, and the first after the last kept one. `end` is the length of the conversation."""
    summary: list[int] = []
    before: int | None = -1
    for is_new, group in groupby(range(len(places)), key=lambda index: places[index] is None):
        indexes = list(group)
        if not is_new:
            before = places[indexes[-1]]
            continue
        after = places[indexes[-1] + 1] if indexes[-1] + 1 < len(places) else None
        has_dropped = (end if after is None else after) - (before or 0) > 1
        indexes = indexes[:1] if after is None else indexes
        summary += [index for index in indexes if has_dropped and _is_summary(prompt[index])]
    return summary
