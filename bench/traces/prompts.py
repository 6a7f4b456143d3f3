"""Runs recorded as model calls, each with the whole prompt that was sent: calls become threads in
which each message stands once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..model import ContextReset, compact_json, non_text_parts
from .steps import ReadMessage, Steps

_REWORDED = "message that a later prompt words differently"
_SUMMARY = re.compile(r"summar|compact(?:ed|ion)|condens|continued from", re.IGNORECASE)
_OPENING = 500
"""Characters in which a message says that it is a summary."""


@dataclass
class Thread:
    """A conversation so far, or a prompt by itself: the key of each message, its text and its step
    (None for one that is no step), a hash of each beginning, and how many messages the task has
    (all up to the first user message; None without one)."""

    group: str
    name: str = ""
    number: int = -1
    keys: list[Hashable] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    steps: list[int | None] = field(default_factory=list)
    hashes: list[int] = field(default_factory=lambda: [0])
    task: int | None = None
    answer: Hashable = None

    def add(self, key: Hashable, text: str = "", step: int | None = None) -> None:
        """Append a message."""
        self.keys.append(key)
        self.texts.append(text)
        self.steps.append(step)
        self.hashes.append(hash((self.hashes[-1], key)))
        if self.task is None and isinstance(key, tuple) and key[0] == "user":
            self.task = len(self.keys)

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
        self._listed: dict[Hashable, dict[int, None]] = {}

    def begin(self, group: str) -> Thread:
        """A new conversation: the first is `main`, others are named after their group."""
        name = "main"
        while name in self._names:
            self._begun[group] += 1
            name = group if self._begun[group] == 1 else f"{group} {self._begun[group]}"
        self._names.add(name)
        self._all.append(Thread(group, name, len(self._all)))
        return self._all[-1]

    def first(self, group: str) -> Thread | None:
        """The first conversation of a group."""
        return next((thread for thread in self._all if thread.group == group), None)

    def named(self, name: str) -> Thread | None:
        """The conversation of a name; None where there is none."""
        return next((thread for thread in self._all if thread.name == name), None)

    def changed(self, thread: Thread) -> None:
        """List a conversation that has grown or was cut."""
        for mark in thread.marks():
            self._listed.setdefault(mark, {})[thread.number] = None

    def continued(self, prompt: Thread) -> Thread | None:
        """The conversation that a prompt goes on with: the longest that the prompt begins with,
        else the last whose answer it holds, else the last of which it has the task and goes on
        otherwise. None where it begins one."""
        group, keys = prompt.group, prompt.keys
        for size in range(len(keys), -1, -1):
            for thread in sorted(self._marked("all", group, prompt.hashes[size]), key=_number):
                if thread.keys == keys[:size]:
                    return thread
        answers = [thread for key in set(keys) for thread in self._marked("answer", group, key)]
        handed = [
            thread
            for key in set(keys)
            if has_ids(key)
            for thread in self._marked("handed over", key)
        ]
        last = max(answers or handed, key=_number, default=None)
        if last is not None or prompt.task is None or prompt.task == len(keys):
            return last
        begun = self._marked("task", group, prompt.hashes[prompt.task])
        return max(
            (thread for thread in begun if goes_on(thread, prompt)), key=_number, default=None
        )

    def _marked(self, *mark: Hashable) -> Iterator[Thread]:
        threads = (self._all[number] for number in self._listed.get(mark, ()))
        return (thread for thread in threads if mark in thread.marks())


def _number(thread: Thread) -> int:
    return thread.number


def has_ids(key: Hashable) -> bool:
    """True if a message is known by the ids of its calls, which no other message has."""
    return isinstance(key, tuple) and len(key) == 2 and key[0] == "assistant"


def goes_on(thread: Thread, prompt: Thread) -> bool:
    """True if a prompt begins with the task of a conversation and says something else after it."""
    begun = thread.task is not None and prompt.keys[: thread.task] == thread.keys[: thread.task]
    return begun and prompt.keys != thread.keys[: len(prompt.keys)]


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
        prompt: Sequence[ReadMessage] | None,
        answer: ReadMessage,
        *,
        results: Sequence[ReadMessage] = (),
        group: str = "agent",
        agent: str | None = None,
        tools: list[Any] | None = None,
        asked: float | None = None,
        answered: float | None = None,
    ) -> str:
        """Add one model call: its prompt (None where none is recorded: it goes on with the group's
        first conversation), the tools it was offered (None: not recorded), its answer, and the
        results of tools that the server ran in it. Gives the name of its thread. `agent` is who
        answers, where that is not what the group is called."""
        who = agent or group
        prompt = None if prompt is None else self._rejoined(prompt)
        known = _as_thread(prompt or (), group)
        added_to = self._added_to(known)
        thread = (
            self._threads.first(group)
            if prompt is None
            else added_to or self._threads.continued(known)
        )
        thread = thread or self._threads.begin(group)
        if added_to is not None:
            for key, message in zip(known.keys, prompt or (), strict=True):
                thread.add(key, message.text.strip(), self.say(message, thread.name, who, asked))
        elif prompt is not None:
            self._update(thread, prompt, known, who, asked)
        if tools is not None:
            self.tools(tools, thread.name, who)
        step = self.say(answer, thread.name, who, answered)
        if len(answer.calls) > 1:
            self._answers |= {call.id: answer for call in answer.calls if call.id}
        thread.answer = key_of(answer)
        thread.add(thread.answer, answer.text.strip(), step)
        for result in results:
            thread.add(
                key_of(result), result.text.strip(), self.say(result, thread.name, who, answered)
            )
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

    def _added_to(self, prompt: Thread) -> Thread | None:
        """The conversation to which a prompt only adds, because the server keeps the rest: the
        prompt begins with the result of a call that waits there, and holds nothing of it. None for
        any other prompt."""
        first = prompt.keys[0] if prompt.keys else None
        if not isinstance(first, tuple) or first[0] != "tool" or len(first) != 2:
            return None
        name, _ = self.place_of(first[1])
        thread = (
            self._threads.named(name)
            if any(call.id == first[1] for call in self.waiting(name))
            else None
        )
        return None if thread is None or set(prompt.keys) & set(thread.keys) else thread

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
        thread = self._threads.first(group) or self._threads.begin(group)
        self._update(thread, messages, _as_thread(messages, group), agent or group, t)
        self._threads.changed(thread)
        return thread.name

    def _update(
        self,
        thread: Thread,
        messages: Sequence[ReadMessage],
        prompt: Thread,
        agent: str,
        t: float | None,
    ) -> None:
        """Add what is new in a prompt; where it holds less than the conversation, first a reset
        with what was kept."""
        places = _places(thread.keys, prompt.keys)
        kept = [place for place in places if place is not None]
        summary: list[int] = []
        if len(kept) < len(thread.keys):
            summary = _summary(messages, places, len(thread.keys))
            steps = tuple(step for place in kept if (step := thread.steps[place]) is not None)
            text, own = "\n".join(messages[at].text for at in summary) or None, thread.group
            self.add(ContextReset, agent=own, thread=thread.name, t=t, summary=text, kept=steps)
        for at, (message, place) in enumerate(zip(messages, places, strict=True)):
            if place is not None:
                prompt.steps[at] = thread.steps[place]
                self.unread.add(
                    _REWORDED,
                    message.role != "assistant" and prompt.texts[at] != thread.texts[place],
                )
            elif at not in summary:
                prompt.steps[at] = self.say(message, thread.name, agent, t)
        thread.keys, thread.texts, thread.steps = prompt.keys, prompt.texts, prompt.steps
        thread.hashes, thread.task = prompt.hashes, prompt.task


def _as_thread(prompt: Sequence[ReadMessage], group: str) -> Thread:
    thread = Thread(group)
    for message in prompt:
        thread.add(key_of(message), message.text.strip())
    return thread


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
            place: int | None = known.index(key, start)
        except ValueError:
            place = None
        places.append(place)
        start = start if place is None else place + 1
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
