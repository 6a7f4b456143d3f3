"""Runs recorded as model calls with whole prompts: threads with each message once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from ...model import ContextReset, compact_json
from ..steps import ReadMessage, Steps

_REWORDED = "message that a later prompt words differently"
_SUMMARY = re.compile(r"summar|compact(?:ed|ion)|condens|continued from", re.IGNORECASE)
_OPENING = 500
"""Characters in which a message says that it is a summary."""


class Conversation:
    """Messages in order, each with its key and its step (None if it became no step). `opening` are
    the keys up to the first user message, which is the task; empty without one."""

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
    """The conversations of a run in order, indexed by opening and by last answer, so that a prompt
    is not compared with all of them."""

    def __init__(self) -> None:
        self._all: list[Thread] = []
        self._begun: Counter[str] = Counter()  # by the name that they are numbered under
        # What a list is of may have changed since.
        self._listed: dict[Hashable, dict[Thread, None]] = {}

    def begin(self, group: str) -> Thread:
        """A new conversation. The first is named `main`, others after their group."""
        name = group if self._all else "main"
        self._begun[name] += 1
        numbered = name if self._begun[name] == 1 else f"{name} {self._begun[name]}"
        self._all.append(Thread(group, numbered, len(self._all)))
        return self._all[-1]

    def first(self, group: str) -> Thread:
        """The first conversation of a group; a new one where it has none."""
        own = (thread for thread in self._all if thread.group == group)
        return next(own, None) or self.begin(group)

    def changed(self, thread: Thread) -> None:
        """Index a conversation again after it has changed."""
        for name in ((thread.group, thread.conversation.opening), thread.answer):
            self._listed.setdefault(name, {})[thread] = None

    def _under(self, names: Iterable[Hashable]) -> list[Thread]:
        threads = {thread for name in names for thread in self._listed.get(name, ())}
        return sorted(threads, key=lambda thread: thread.number)

    def continued(self, group: str, prompt: Conversation) -> Thread | None:
        """The conversation that a prompt continues: the longest one that the prompt begins with,
        else the last one whose answer it contains, else the last one with the same task. None for a
        new conversation."""
        alike = self._under([(group, ()), (group, prompt.opening)])
        begun = [thread for thread in alike if thread.conversation.begins(prompt)]
        if begun:
            return max(begun, key=lambda thread: len(thread.conversation.keys))
        answered = [one for one in self._under(set(prompt.keys)) if one.answer in prompt.keys]
        own = [thread for thread in answered if thread.group == group]
        # known by the ids of its calls, an answer is handed over to another group, too
        own = own or [thread for thread in answered if has_ids(thread.answer)]
        if not own and len(prompt.keys) > len(prompt.opening) > 0:
            same_task = [one for one in alike if one.conversation.opening == prompt.opening]
            own = [one for one in same_task if not prompt.begins(one.conversation)]
        return own[-1] if own else None


def has_ids(key: Hashable) -> bool:
    """True if the key of a message consists of call ids, which no other message has."""
    return isinstance(key, tuple) and len(key) == 2 and key[0] == "assistant"


class Prompts(Steps):
    """A run whose model calls are added one by one, in order.

    A call continues the conversation of its group that its prompt begins with: only new messages
    become steps. A conversation that is handed over with its tool calls is continued by another
    group too. If the prompt is a conversation shortened or rewritten (it contains the last answer,
    or begins with the same task), a ContextReset states what was kept and what replaces the rest.
    Any other prompt begins a new thread: a sub-agent, a branch, a question asked again. The first
    thread is `main`; the others are named after their group. If they are `apart`, each is a run.
    """

    def __init__(self, *, apart: bool = False) -> None:
        super().__init__()
        self._threads = Threads()
        self._apart: dict[str, Steps] | None = {} if apart else None
        # Those with several calls, by the id of each call.
        self._answers: dict[str, ReadMessage] = {}

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
            run.add(
                ContextReset,
                summary="\n".join(prompt.messages[at].content for at in summary) or None,
                kept=tuple(step for at in kept if (step := known.steps[at]) is not None),
            )
        for at, (message, place) in enumerate(zip(prompt.messages, places, strict=True)):
            if place is not None:
                prompt.steps[at], before = known.steps[place], known.messages[place]
                reworded = message.content.strip() != before.content.strip()
                run.unread.add(_REWORDED, reworded and message.role != "assistant")
            elif at not in summary:
                prompt.steps[at] = run.add_message(message)
        thread.conversation = prompt
        return run


def key_of(message: ReadMessage) -> Hashable:
    """A key that a message has in every prompt: the ids of its calls or of the call that it
    answers, else its role and content."""
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


def _is_summary(message: ReadMessage) -> bool:
    marked = message.role in ("user", "system") and _SUMMARY.search(message.content[:_OPENING])
    return not message.calls and (message.role == "assistant" or bool(marked))


def _summary(prompt: Sequence[ReadMessage], places: list[int | None], end: int) -> list[int]:
    """Summaries between kept messages, and the first message after the last kept one."""
    summary: list[int] = []
    before: int | None = -1
    for is_new, group in groupby(range(len(places)), key=lambda at: places[at] is None):
        run = list(group)
        if not is_new:
            before = places[run[-1]]
            continue
        after = places[run[-1] + 1] if run[-1] + 1 < len(places) else None
        dropped = (end if after is None else after) - (before or 0) > 1
        run = run[:1] if after is None else run
        summary += [at for at in run if dropped and _is_summary(prompt[at])]
    return summary
