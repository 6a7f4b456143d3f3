"""Runs recorded as model calls, each with the whole prompt it was sent: told apart into threads,
and each message told once."""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..model import ContextReset, Usage, compact_json, non_text_parts
from .steps import ReadMessage, Steps


@dataclass
class PromptThread:
    """A conversation so far: what each of its messages is known by, the step it is (None for a
    summary), and its text; a sum of each beginning, the empty one first, and the place of the first
    user message, with which the task ends."""

    name: str
    group: str
    number: int = -1
    keys: list[Hashable] = field(default_factory=list)
    steps: list[int | None] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    sums: list[int] = field(default_factory=lambda: [0])
    task: int | None = None
    answer: Hashable = None
    marks: list[Hashable] = field(default_factory=list)

    def add(self, said: ReadMessage, key: Hashable, step: int | None) -> None:
        """One message more."""
        if self.task is None and isinstance(key, tuple) and key[0] == "user":
            self.task = len(self.keys)
        self.keys.append(key)
        self.sums.append(hash((self.sums[-1], key)))
        self.steps.append(step)
        self.texts.append(said.text.strip())


class Threads:
    """The conversations of a run in their order. What changed one says so (`changed`), before the next prompt is looked
    up: each is listed under all that a prompt may find it by, so that no prompt is held against all of them."""

    def __init__(self) -> None:
        self._all: list[PromptThread] = []
        self._names: set[str] = set()
        self._begun: Counter[str] = Counter()  # conversations but the first, by group
        self._listed: dict[Hashable, list[int]] = {}

    def begin(self, group: str) -> PromptThread:
        """A new conversation: the first is `main`, others are named after their group."""
        name = "main"
        while name in self._names:
            self._begun[group] += 1
            name = group if self._begun[group] == 1 else f"{group} {self._begun[group]}"
        self._names.add(name)
        thread = PromptThread(name, group, len(self._all))
        self._all.append(thread)
        return thread

    def first(self, group: str) -> PromptThread | None:
        """The first conversation of a group."""
        return next((thread for thread in self._all if thread.group == group), None)

    def changed(self, thread: PromptThread) -> None:
        """List a conversation under what it holds now."""
        for mark in thread.marks:
            self._listed[mark].remove(thread.number)
        marks: list[Hashable] = [("all", thread.group, thread.sums[-1]), ("answer", thread.group, thread.answer)]
        if has_ids(thread.answer):
            marks.append(("handed", thread.answer))
        if thread.task is not None:
            marks.append(("task", thread.group, thread.sums[thread.task + 1]))
        for mark in marks:
            insort(self._listed.setdefault(mark, []), thread.number)
        thread.marks = marks

    def continued(self, prompt: PromptThread) -> PromptThread | None:
        """The conversation that a prompt goes on with; None where it begins one."""
        group, keys = prompt.group, prompt.keys
        for size in range(len(keys), -1, -1):
            for number in self._listed.get(("all", group, prompt.sums[size]), ()):
                if self._all[number].keys == keys[:size]:
                    return self._all[number]
        held = set(keys)
        after = self._last([("answer", group, key) for key in held])
        return after or self._last([("handed", key) for key in held if has_ids(key)]) or self._same_task(prompt)

    def _last(self, marks: Sequence[Hashable]) -> PromptThread | None:
        numbers = [numbers[-1] for mark in marks if (numbers := self._listed.get(mark))]
        return self._all[max(numbers)] if numbers else None

    def _same_task(self, prompt: PromptThread) -> PromptThread | None:
        if prompt.task is None or prompt.task + 1 == len(prompt.keys):
            return None
        begun = self._listed.get(("task", prompt.group, prompt.sums[prompt.task + 1]), ())
        return next((self._all[number] for number in reversed(begun) if _goes_on(self._all[number], prompt)), None)


def has_ids(key: Hashable) -> bool:
    """True if a message is known by the ids of its calls, which no other message has."""
    return isinstance(key, tuple) and len(key) == 2 and key[0] == "assistant"


def _goes_on(known: PromptThread, prompt: PromptThread) -> bool:
    """True if a prompt begins with the task of a conversation (all up to its first user message)
    and says something else after it."""
    same = 0
    while same < min(len(known.keys), len(prompt.keys)) and known.keys[same] == prompt.keys[same]:
        same += 1
    return known.task is not None and known.task < same < len(prompt.keys)


_REWORDED = "message that a later prompt words differently"


class Prompts(Steps):
    """A run whose model calls are given one by one, in order.

    A call continues the conversation of its group whose messages its prompt begins with: only the
    messages that are new become steps. A conversation handed over, tool calls and all, is continued
    by another group too. Where the prompt is that conversation shortened or rewritten (it holds the
    last answer, or begins with the same task and goes on), a ContextReset says what was kept and
    what stands in place of the rest. Any other prompt begins a thread of its own: a sub-agent, a
    branch, a question asked again. The first thread is `main`; the others are named after their
    group.
    """

    def __init__(self) -> None:
        super().__init__()
        self._threads = Threads()
        self.asked: PromptThread | None = None  # the conversation of the last call

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
        model: str | None = None,
        finish_reason: str | None = None,
        usage: Usage | None = None,
        goes_on: PromptThread | None = None,
    ) -> int:
        """One model call: its prompt, the tools it was offered (None: not recorded), its answer,
        and the results of tools that the server ran in it; gives the index of the model turn.
        `agent` is who answers, where that is not what the group is called. With `goes_on` the
        prompt is what is new in that conversation."""
        who = agent or group
        told = _thread_of(prompt, group)
        thread = goes_on or self._threads.continued(told) or self._threads.begin(group)
        if goes_on is not None:
            for said, key in zip(prompt, told.keys, strict=True):
                thread.add(said, key, self.say(said, thread.name, who, asked))
        else:
            self._extend(thread, prompt, told, asked, who)
        if tools is not None:
            self.tools(tools, thread.name, who)
        step = self.say(answer, thread.name, who, answered, model=model, finish_reason=finish_reason, usage=usage)
        thread.add(answer, key_of(answer), step)
        thread.answer = thread.keys[-1]
        for result in results:
            thread.add(result, key_of(result), self.say(result, thread.name, who, answered))
        self._threads.changed(thread)
        self.asked = thread
        return step

    def first_thread(self, group: str) -> PromptThread | None:
        """The first conversation of a group."""
        return self._threads.first(group)

    def hold(
        self, messages: Sequence[ReadMessage], *, group: str = "agent", agent: str | None = None, t: float | None = None
    ) -> str:
        """The conversation of a group as it stands at some time; what is new in it was said by
        `agent`. Gives its thread."""
        thread = self._threads.first(group) or self._threads.begin(group)
        self._extend(thread, messages, _thread_of(messages, group), t, agent)
        self._threads.changed(thread)
        return thread.name

    def _extend(
        self,
        thread: PromptThread,
        prompt: Sequence[ReadMessage],
        told: PromptThread,
        t: float | None,
        agent: str | None,
    ) -> None:
        """Tell what is new in a prompt; where it holds less than the conversation, say what was kept first."""
        places = _places(thread.keys, told.keys)
        kept = [place for place in places if place is not None]
        summary: list[int] = []
        if len(kept) < len(thread.keys):
            summary = _summary(prompt, places, len(thread.keys))
            steps = tuple(step for place in kept if (step := thread.steps[place]) is not None)
            text, own = "\n".join(prompt[at].text for at in summary) or None, thread.group
            self.add(ContextReset(index=self.index, agent=own, thread=thread.name, t=t, summary=text, kept=steps))
        for at, (said, place) in enumerate(zip(prompt, places, strict=True)):
            if place is not None:
                told.steps[at] = thread.steps[place]
                self.unread.add(_REWORDED, said.role != "assistant" and told.texts[at] != thread.texts[place])
            elif at not in summary:
                told.steps[at] = self.say(said, thread.name, agent or thread.group, t)
        thread.keys, thread.steps, thread.texts = told.keys, told.steps, told.texts
        thread.sums, thread.task = told.sums, told.task


def _thread_of(prompt: Sequence[ReadMessage], group: str) -> PromptThread:
    """A prompt by itself, its messages no steps yet."""
    told = PromptThread("", group)
    for said in prompt:
        told.add(said, key_of(said), None)
    return told


def key_of(said: ReadMessage) -> Hashable:
    """The key of a message, the same in every prompt that holds it: the ids of its calls or of the
    call it answers, else its role and text."""
    if said.role == "tool" and said.call_id:
        return ("tool", said.call_id)
    ids = tuple(call.id for call in said.calls)
    if ids and all(ids):
        return ("assistant", ids)
    calls = tuple((call.name, compact_json(call.arguments)) for call in said.calls)
    return (said.role, said.text.strip(), non_text_parts(said.content), calls)


def _places(known: list[Hashable], keys: list[Hashable]) -> list[int | None]:
    """The place in a conversation of each message of a prompt, in order; None for a message that it does not hold."""
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


def _summary(prompt: Sequence[ReadMessage], places: list[int | None], end: int) -> list[int]:
    """The messages that stand where others were dropped: those between kept ones, and the first
    after the last kept one."""
    found: list[int] = []
    before = -1
    for at, place in enumerate(places):
        if place is not None:
            before = place
            continue
        after = next((later for later in places[at:] if later is not None), None)
        gap = (end if after is None else after) - before > 1
        first = at == 0 or places[at - 1] is not None
        if gap and prompt[at].role not in ("tool", "system") and (after is not None or first):
            found.append(at)
    return found
