"""Instructions that every later prompt of a thread has to hold, and the prompts that lack them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from ..model import Message, SystemTurn, Trace, UserTurn, text_of
from ..text.instructions import is_instruction, repeats, sentences_of


class Instruction(NamedTuple):
    """One thing that every later prompt of a thread has to hold: who gave it at which step, and its text."""

    thread: str
    step: int
    kind: Literal["system", "task", "rule"]
    text: str


def instructions_of(trace: Trace) -> list[Instruction]:
    """The instructions of a trace, in order: system prompts, the first request of each thread, and standing rules of either."""
    found: list[Instruction] = []
    asked: set[str] = set()
    for step in trace.steps:
        if not isinstance(step, SystemTurn | UserTurn):
            continue
        text = text_of(step.content)
        if not text.strip():
            continue
        if isinstance(step, SystemTurn):
            found.append(Instruction(step.thread, step.index, "system", text))
        elif step.thread not in asked:
            asked.add(step.thread)
            found.append(Instruction(step.thread, step.index, "task", text))
        rules = dict.fromkeys(filter(is_instruction, sentences_of(text)))
        found += [Instruction(step.thread, step.index, "rule", rule) for rule in rules]
    return found


class MissingInstructions(NamedTuple):
    """What the prompt of one call lacks: instructions by their places, and messages of people that it shows in other words."""

    step: int
    missing: tuple[int, ...] = ()
    altered: tuple[int, ...] = ()


class PromptMessages(Protocol):
    """The messages that stand in the prompts of a replay."""

    @property
    def steps_of_calls(self) -> list[tuple[int, str]]:
        """The step and the thread of each call."""

    def stands(self, number: int, call: int) -> bool:
        """True if a message stands in the prompt of a call."""

    def own_at(self, call: int) -> frozenset[int]:
        """The strategy's own messages in the prompt of a call."""


def missing_instructions(
    prompts: PromptMessages,
    given: Sequence[Instruction],
    full: Mapping[int, int],
    messages: Sequence[Message],
    excused: frozenset[tuple[int, int]] = frozenset(),
) -> list[MissingInstructions]:
    """For each call the instructions said before it that no message of its prompt holds.

    A recorded message that stands as it was holds its own; a text of the strategy holds what it
    repeats. `excused` are (step, place) of what the recording's own prompt lacked.
    """
    found: list[MissingInstructions] = []
    holds: dict[tuple[int, int], bool] = {}
    for call, (step, thread) in enumerate(prompts.steps_of_calls):
        own = sorted(prompts.own_at(call))
        missing = []
        for at, item in enumerate(given):
            if item.thread != thread or item.step > step or (step, at) in excused:
                continue
            if prompts.stands(full[item.step], call):
                continue
            for number in own:
                if (number, at) not in holds:
                    holds[number, at] = _holds(messages[number], item)
            if not any(holds[number, at] for number in own):
                missing.append(at)
        altered = [n for n in own if _altered(messages[n], messages, full)]
        found.append(MissingInstructions(step, tuple(missing), tuple(altered)))
    return found


def _holds(message: Message, item: Instruction) -> bool:
    """True if a strategy's own message holds an instruction; what is left of a system prompt is still one."""
    if item.kind != "rule" and message.step == item.step and message.text.strip():
        return True
    return repeats(message.text, item.text)


def _altered(message: Message, messages: Sequence[Message], full: Mapping[int, int]) -> bool:
    """True if a message of the user or the system is shown with words that it did not have."""
    number = None if message.step is None else full.get(message.step)
    if message.kind not in ("system", "user") or number is None:
        return False
    original = messages[number].text
    words = _NOTICE.sub(" ", message.text).casefold()
    return not set(_WORD.findall(words)) <= set(_WORD.findall(original.casefold()))


_WORD = re.compile(r"\w+")
_NOTICE = re.compile(r"\[[^\]]*\]|<[^<>]*>|…")
