"""Runs recorded as model calls, each with the whole prompt it was sent: told apart into threads, and each message told once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from ..model import ContextReset, Usage, compact_json, non_text_parts
from .steps import Said, Steps
from .threads import PromptThread, Threads

_REWORDED = "message that a later prompt words differently"


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
        self._threads = Threads()
        self.asked: PromptThread | None = None  # the conversation of the last call

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
        goes_on: PromptThread | None = None,
    ) -> int:
        """One model call: its prompt, the tools it was offered (None: not recorded), its answer, and the results of tools that the server ran in
        it; gives the index of the model turn. `agent` is who answers, where that is not what the group is called. With `goes_on` the prompt is what
        is new in that conversation."""
        who = agent or group
        keys = [key_of(said) for said in prompt]
        thread = goes_on or self._threads.continued(group, keys) or self._threads.begin(group)
        if goes_on is not None:
            for said, key in zip(prompt, keys, strict=True):
                thread.add(said, key, self.say(said, thread.name, who, asked))
        else:
            self._extend(thread, prompt, keys, asked, who)
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

    def hold(
        self, messages: Sequence[Said], *, group: str = "agent", agent: str | None = None, t: float | None = None
    ) -> str:
        """The conversation of a group as it stands at some time; what is new in it was said by `agent`. Gives its thread."""
        thread = self._threads.first(group) or self._threads.begin(group)
        self._extend(thread, messages, [key_of(said) for said in messages], t, agent)
        self._threads.changed(thread)
        return thread.name

    def _extend(
        self,
        thread: PromptThread,
        prompt: Sequence[Said],
        keys: list[Hashable],
        t: float | None,
        agent: str | None = None,
    ) -> None:
        """Tell what is new in a prompt; where it holds less than the conversation, say what was kept first."""
        places = _places(thread.keys, keys)
        kept = [place for place in places if place is not None]
        told = PromptThread(thread.name, thread.group)
        summary: list[int] = []
        if len(kept) < len(thread.keys):
            summary = _summary(prompt, places, len(thread.keys))
            steps = tuple(step for place in kept if (step := thread.steps[place]) is not None)
            text = "\n".join(prompt[at].text for at in summary) or None
            reset = ContextReset(
                index=self.index, agent=thread.group, thread=thread.name, t=t, summary=text, kept=steps
            )
            self.add(reset)
        for at, (said, key, place) in enumerate(zip(prompt, keys, places, strict=True)):
            if place is None:
                told.add(said, key, None if at in summary else self.say(said, thread.name, agent or thread.group, t))
                continue
            told.add(said, key, thread.steps[place])
            if said.role != "assistant" and told.texts[-1] != thread.texts[place]:
                self.unread.add(_REWORDED)
        thread.keys, thread.steps, thread.texts = told.keys, told.steps, told.texts
        thread.sums, thread.task = told.sums, told.task


def key_of(said: Said) -> Hashable:
    """The key of a message, the same in every prompt that holds it: the ids of its calls or of the call it answers, else its role and text."""
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
