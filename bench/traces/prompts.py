"""Runs recorded as model calls, each with the whole prompt that was sent: calls become threads in
which each message stands once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

from ..model import ContextReset, compact_json, non_text_parts
from .steps import ReadMessage, Steps

_REWORDED = "message that a later prompt words differently"
_SUMMARY = re.compile(r"summar|compact(?:ed|ion)|condens|continued from", re.IGNORECASE)
_OPENING = 500
"""Characters in which a message says that it is a summary."""


class Thread:
    """A conversation so far, or a prompt by itself: its messages, the key of each and its step
    (None for one that is no step), a hash of each beginning, how many messages the task has (all up
    to the first user message; None without one), and the key of the last answer."""

    def __init__(self, group: str, messages: Iterable[ReadMessage] = ()) -> None:
        self.group, self.name, self.number = group, "", -1
        self.messages: list[ReadMessage] = []
        self.keys: list[Hashable] = []
        self.steps: list[int | None] = []
        self.hashes = [0]
        self.task: int | None = None
        self.answer: Hashable = None
        for message in messages:
            self.add(message)

    def add(self, message: ReadMessage, step: int | None = None) -> None:
        """Append a message."""
        self.messages.append(message)
        self.keys.append(key_of(message))
        self.steps.append(step)
        self.hashes.append(hash((self.hashes[-1], self.keys[-1])))
        if self.task is None and message.role == "user":
            self.task = len(self.keys)

    def replace(self, prompt: Thread) -> None:
        """Hold the messages of a prompt in place of those so far."""
        self.messages, self.keys, self.steps = prompt.messages, prompt.keys, prompt.steps
        self.hashes, self.task = prompt.hashes, prompt.task

    def marks(self) -> Iterator[Hashable]:
        """The marks under which a prompt finds this conversation."""
        yield "all", self.group, self.hashes[-1]
        yield "answer", self.group, self.answer
        if has_ids(self.answer):
            yield "handed over", self.answer
        if self.task is not None:
            yield "task", self.group, self.hashes[self.task]


class Threads:
    """The conversations of a run in their order, each listed under its marks, so that a prompt need
    not be compared with all of them."""

    def __init__(self) -> None:
        self._all: list[Thread] = []
        self._names: set[str] = set()
        self._begun: Counter[str] = Counter()  # conversations but the first, by group
        # A mark that has changed since is no match.
        self._listed: dict[Hashable, dict[Thread, None]] = {}

    def begin(self, group: str) -> Thread:
        """A new conversation: the first is `main`, others are named after their group."""
        thread = Thread(group)
        thread.name, thread.number = "main", len(self._all)
        while thread.name in self._names:
            self._begun[group] += 1
            thread.name = group if self._begun[group] == 1 else f"{group} {self._begun[group]}"
        self._names.add(thread.name)
        self._all.append(thread)
        return thread

    def first(self, group: str) -> Thread:
        """The first conversation of a group; a new one where it has none."""
        own = (thread for thread in self._all if thread.group == group)
        return next(own, None) or self.begin(group)

    def changed(self, thread: Thread) -> None:
        """List a conversation that has grown or was cut."""
        for mark in thread.marks():
            self._listed.setdefault(mark, {})[thread] = None

    def continued(self, prompt: Thread) -> Thread | None:
        """The conversation that a prompt goes on with: the longest that the prompt begins with,
        else the last whose answer it holds, else the last of which it has the task and goes on
        otherwise. None where it begins one."""
        group, keys, task = prompt.group, set(prompt.keys), prompt.task
        for beginning in reversed(prompt.hashes):
            if whole := self._marked(("all", group, beginning)):
                return whole[0]
        answered = self._marked(*(("answer", group, key) for key in keys))
        answered = answered or self._marked(*(("handed over", key) for key in keys if has_ids(key)))
        if answered or task is None or task == len(prompt.keys):
            return answered[-1] if answered else None
        same_task = self._marked(("task", group, prompt.hashes[task]))
        size = len(prompt.keys)
        return next((one for one in same_task[::-1] if one.keys[:size] != prompt.keys), None)

    def _marked(self, *marks: Hashable) -> list[Thread]:
        """The conversations that have one of some marks, in order."""
        listed = {
            thread
            for mark in marks
            for thread in self._listed.get(mark, ())
            if mark in thread.marks()
        }
        return sorted(listed, key=lambda thread: thread.number)


def has_ids(key: Hashable) -> bool:
    """True if a message is known by the ids of its calls, which no other message has."""
    return isinstance(key, tuple) and len(key) == 2 and key[0] == "assistant"


class Prompts(Steps):
    """A run whose model calls are given one by one, in order.

    A call continues the conversation of its group whose messages its prompt begins with: only the
    messages that are new become steps. A conversation handed over, tool calls and all, is continued
    by another group too. Where the prompt is that conversation shortened or rewritten (it holds the
    last answer, or begins with the same task and goes on), a ContextReset states what was kept and
    what stands in place of the rest. Any other prompt begins a thread of its own: a sub-agent, a
    branch, a question asked again. The first thread is `main`; the others are named after their
    group.
    """

    def __init__(self) -> None:
        super().__init__()
        self._threads = Threads()
        # Those with several calls, by the id of each call.
        self._answers: dict[str, ReadMessage] = {}

    def ask(
        self,
        prompt: Sequence[ReadMessage],
        answer: ReadMessage,
        *,
        results: Sequence[ReadMessage] = (),
        group: str = "agent",
        agent: str | None = None,
        tools: list[Any] | None = None,
        asked: float | None = None,
        answered: float | None = None,
    ) -> str:
        """Add one model call: its prompt, the tools it was offered (None: not recorded), its
        answer, and the results of tools that the server ran in it. Gives the name of its thread.
        `agent` is who answers, where that is not what the group is called."""
        who = agent or group
        sent = Thread(group, self._rejoined(prompt))
        thread = self._threads.continued(sent) or self._threads.begin(group)
        self._update(thread, sent, who, asked)
        if tools is not None:
            self.tools(tools, thread.name, who)
        if len(answer.calls) > 1:
            self._answers |= {call.id: answer for call in answer.calls if call.id}
        thread.answer = key_of(answer)
        for message in (answer, *results):
            thread.add(message, self.say(message, thread.name, who, answered))
        self._threads.changed(thread)
        return thread.name

    def hold(
        self,
        messages: Sequence[ReadMessage],
        *,
        group: str = "agent",
        agent: str | None = None,
        t: float | None = None,
    ) -> str:
        """Add what is new in the conversation of a group as it stands at some time, as messages of
        `agent`. Gives its thread."""
        thread = self._threads.first(group)
        self._update(thread, Thread(group, messages), agent or group, t)
        self._threads.changed(thread)
        return thread.name

    def _rejoined(self, prompt: Sequence[ReadMessage]) -> list[ReadMessage]:
        """A prompt in which each answer is one message: some libraries send each of its calls back
        as a message of its own."""
        sent = {call.id for message in prompt for call in message.calls}
        joined: list[ReadMessage] = []
        for message in prompt:
            answer = self._answers.get(message.calls[0].id, message) if message.calls else message
            is_part = len(message.calls) < len(answer.calls) and sent.issuperset(
                call.id for call in answer.calls
            )
            if not is_part:
                joined.append(message)
            elif message.calls[0].id == answer.calls[0].id:  # the first of its messages
                joined.append(answer)
        return joined

    def _update(self, thread: Thread, prompt: Thread, agent: str, t: float | None) -> None:
        """Add what is new in a prompt; where it holds less than the conversation, first a reset
        with what was kept."""
        places = _places(thread.keys, prompt.keys)
        kept = [place for place in places if place is not None]
        summary: list[int] = []
        if len(kept) < len(thread.keys):
            summary = _summary(prompt.messages, places, len(thread.keys))
            self.add(
                ContextReset,
                agent=thread.group,
                thread=thread.name,
                t=t,
                summary="\n".join(prompt.messages[at].text for at in summary) or None,
                kept=tuple(step for at in kept if (step := thread.steps[at]) is not None),
            )
        for at, (message, place) in enumerate(zip(prompt.messages, places, strict=True)):
            if place is not None:
                prompt.steps[at] = thread.steps[place]
                known = thread.messages[place]
                reworded = message.content != known.content and message.role != "assistant"
                self.unread.add(_REWORDED, reworded and message.text.strip() != known.text.strip())
            elif at not in summary:
                prompt.steps[at] = self.say(message, thread.name, agent, t)
        thread.replace(prompt)


def key_of(message: ReadMessage) -> Hashable:
    """The key of a message, the same in every prompt that holds it: the ids of its calls or of the
    call that it answers, else its role and content."""
    if message.role == "tool" and message.call_id:
        return ("tool", message.call_id)
    ids = tuple(call.id for call in message.calls)
    if ids and all(ids):
        return ("assistant", ids)
    calls = tuple((call.name, compact_json(call.arguments)) for call in message.calls)
    return (message.role, message.text.strip(), non_text_parts(message.content), calls)


def _places(known: list[Hashable], keys: list[Hashable]) -> list[int | None]:
    """The place in a conversation of each message of a prompt, in order; None for a message that it
    does not hold."""
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
    """True for a text of the model's, or one that begins by saying that it is a summary."""
    marked = message.role in ("user", "system") and _SUMMARY.search(message.text[:_OPENING])
    return not message.calls and (message.role == "assistant" or bool(marked))


def _summary(prompt: Sequence[ReadMessage], places: list[int | None], end: int) -> list[int]:
    """The messages that stand where others were dropped: summaries between kept ones, and the first
    after the last kept one."""
    summary: list[int] = []
    before = -1
    for at, place in enumerate(places):
        if place is not None:
            before = place
            continue
        after = next((later for later in places[at:] if later is not None), None)
        gap = (end if after is None else after) - before > 1
        first = at == 0 or places[at - 1] is not None
        if gap and (after is not None or first) and _is_summary(prompt[at]):
            summary.append(at)
    return summary
