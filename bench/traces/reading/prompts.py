"""Runs recorded as model calls, each with the whole prompt it was sent: told apart into threads, and each message told once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...model import ContextReset, Usage, compact_json, non_text_parts
from .steps import Said, Steps

_REWORDED = "message that a later prompt words differently"


@dataclass
class _Thread:
    """A conversation so far: what each of its messages is known by, the step it is (None for a summary), and its text."""

    name: str
    group: str
    keys: list[Hashable] = field(default_factory=list)
    steps: list[int | None] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    answer: Hashable = None

    def add(self, said: Said, step: int | None) -> None:
        self.keys.append(key_of(said))
        self.steps.append(step)
        self.texts.append(said.text.strip())


class Prompts(Steps):
    """A run whose model calls are given one by one, in order.

    A call continues the conversation of its group whose messages its prompt begins with: only the messages that are new become steps. A
    conversation handed over, tool calls and all, is continued by another group too. Where
    the prompt is that conversation shortened or rewritten (it holds the last answer, or begins with the same task and goes on), a
    ContextReset says what was kept and what stands in place of the rest. Any other prompt begins a thread of its own: a sub-agent, a branch, a
    question asked again. The first thread is `main`; the others are named after their group.
    """

    def __init__(self) -> None:
        super().__init__()
        self._threads: list[_Thread] = []

    def ask(
        self,
        prompt: Sequence[Said],
        answer: Said,
        *,
        results: Sequence[Said] = (),
        group: str = "agent",
        agent: str | None = None,
        tools: list[Any] | None = None,
        asked: float | None = None,
        answered: float | None = None,
        model: str | None = None,
        finish_reason: str | None = None,
        usage: Usage | None = None,
    ) -> int:
        """One model call: its prompt, the tools it was offered (None: not recorded), its answer, and the results of tools that the server ran in
        it; gives the index of the model turn. `agent` is who answers, where that is not what the group is called."""
        who = agent or group
        keys = [key_of(said) for said in prompt]
        thread = self._continued(group, keys)
        if thread is None:
            thread = _Thread(self._name(group), group)
            self._threads.append(thread)
        self._extend(thread, prompt, keys, asked, who)
        if tools is not None:
            self.tools(tools, thread.name, who)
        step = self.say(answer, thread.name, who, answered, model=model, finish_reason=finish_reason, usage=usage)
        thread.add(answer, step)
        thread.answer = thread.keys[-1]
        for result in results:
            thread.add(result, self.say(result, thread.name, who, answered))
        return step

    def hold(
        self, messages: Sequence[Said], *, group: str = "agent", agent: str | None = None, t: float | None = None
    ) -> str:
        """The conversation of a group as it stands at some time; what is new in it was said by `agent`. Gives its thread."""
        thread = next((thread for thread in self._threads if thread.group == group), None)
        if thread is None:
            thread = _Thread(self._name(group), group)
            self._threads.append(thread)
        self._extend(thread, messages, [key_of(said) for said in messages], t, agent)
        return thread.name

    def _name(self, group: str) -> str:
        if not self._threads:
            return "main"
        used = {thread.name for thread in self._threads}
        numbered = (f"{group} {number}" for number in range(2, len(used) + 3))
        return next(name for name in (group, *numbered) if name not in used)

    def _continued(self, group: str, keys: list[Hashable]) -> _Thread | None:
        """The conversation that a prompt goes on with; None where it begins one."""
        known = [thread for thread in self._threads if thread.group == group]
        whole = [thread for thread in known if keys[: len(thread.keys)] == thread.keys]
        if whole:
            return max(whole, key=lambda thread: len(thread.keys))
        held = set(keys)
        after = [thread for thread in known if thread.answer in held]
        handed = [thread for thread in self._threads if _has_ids(thread.answer) and thread.answer in held]
        begun = [thread for thread in known if _goes_on(thread.keys, keys)]
        found = after or handed or begun
        return found[-1] if found else None

    def _extend(
        self,
        thread: _Thread,
        prompt: Sequence[Said],
        keys: list[Hashable],
        t: float | None,
        agent: str | None = None,
    ) -> None:
        """Tell what is new in a prompt; where it holds less than the conversation, say what was kept first."""
        places = _places(thread.keys, keys)
        kept = [place for place in places if place is not None]
        told = _Thread(thread.name, thread.group)
        summary: list[int] = []
        if len(kept) < len(thread.keys):
            summary = _summary(prompt, places, len(thread.keys))
            steps = tuple(step for place in kept if (step := thread.steps[place]) is not None)
            text = "\n".join(prompt[at].text for at in summary) or None
            reset = ContextReset(
                index=self.index, agent=thread.group, thread=thread.name, t=t, summary=text, kept=steps
            )
            self.add(reset)
        for at, (said, place) in enumerate(zip(prompt, places, strict=True)):
            if place is None:
                told.add(said, None if at in summary else self.say(said, thread.name, agent or thread.group, t))
                continue
            told.add(said, thread.steps[place])
            if said.role != "assistant" and told.texts[-1] != thread.texts[place]:
                self.unread.add(_REWORDED)
        thread.keys, thread.steps, thread.texts = told.keys, told.steps, told.texts


def key_of(said: Said) -> Hashable:
    """What a message is known by in every prompt that holds it: the ids of its calls or of the call it answers, else its role and text."""
    if said.role == "tool" and said.call_id:
        return ("tool", said.call_id)
    ids = tuple(call.id for call in said.calls)
    if ids and all(ids):
        return ("assistant", ids)
    calls = tuple((call.name, compact_json(call.arguments)) for call in said.calls)
    return (said.role, said.text.strip(), non_text_parts(said.content), calls)


def _has_ids(key: Hashable) -> bool:
    """Whether a message is known by the ids of its calls, which no other message has."""
    return isinstance(key, tuple) and len(key) == 2 and key[0] == "assistant"


def _goes_on(known: list[Hashable], keys: list[Hashable]) -> bool:
    """Whether a prompt begins with the task of a conversation (all up to its first user message) and says something else after it."""
    same = 0
    while same < min(len(known), len(keys)) and known[same] == keys[same]:
        same += 1
    task = next((at for at, key in enumerate(known) if isinstance(key, tuple) and key[0] == "user"), None)
    return task is not None and task < same < len(keys)


def _places(known: list[Hashable], keys: list[Hashable]) -> list[int | None]:
    """Where in a conversation each message of a prompt stands, in order; None for a message that it does not hold."""
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


def _summary(prompt: Sequence[Said], places: list[int | None], end: int) -> list[int]:
    """The messages that stand where others were dropped: those between kept ones, and the first after the last kept one."""
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
