"""Losses that prompts do not admit: results cut without a word, messages that no prompt has,
commands that none repeats.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..model import Message
from .kept import Place

if TYPE_CHECKING:
    from .of_replay import ReplayEvidence


def silent_results(evidence: ReplayEvidence) -> dict[int, tuple[Place, ...]]:
    """The results that lost facts or fields without a word, by step, with the places where."""
    silent: dict[int, tuple[Place, ...]] = {}
    at: dict[Place, dict[int, int]] = {
        "shown": {result.index: call for result, call in evidence.prompted("shown")},
        "end": {result.index: call for result, call in evidence.prompted("end")},
    }
    for place, calls in at.items():
        kept = (*evidence.facts_kept[place], *evidence.fields_kept[place])
        for result in {
            item.result.index: item.result for item in kept if item.kept < item.total
        }.values():
            texts = _texts_about(evidence, result.index, calls[result.index])
            if not any(evidence.session.says_omission(result, text) for text in texts):
                silent[result.index] = (*silent.get(result.index, ()), place)
    return silent


def _texts_about(evidence: ReplayEvidence, step: int, call: int) -> list[str]:
    """The texts that show a result in a prompt; where none does, those that the strategy wrote
    about no single step.
    """
    messages = evidence.messages.messages
    seen = evidence.index.seen[step]
    standing = evidence.standing(call)
    own = [messages[number] for number in standing.own]
    about = [message.text for message in own if message.step == step]
    about += [messages[seen].text] if seen in standing.messages else []
    return about or [message.text for message in own if message.step is None]


def picked_out(evidence: ReplayEvidence) -> Iterator[int]:
    """Yield the steps that no prompt ever has, though the first one after it has every older result
    that did not fail.

    A window and a summary drop what is old. Whoever drops the newest message alone has read it.
    """
    stays, index = evidence.walked.stays, evidence.index
    edited = {stay.after for each in stays.values() for stay in each}
    edited.update(stay.first for number in evidence.own for stay in stays[number])
    for step in evidence.trace.steps:
        numbers = [
            places[step.index] for places in (index.full, index.seen) if step.index in places
        ]
        if not numbers or any(number in stays for number in numbers):
            continue
        call = evidence.call_after(step)
        succeeded = evidence.session.succeeded.get(step.thread, [])
        older = succeeded[: bisect_left(succeeded, step.index)]
        if call is None or call in edited or not older:
            continue
        prompt = evidence.standing(call).messages
        if all(index.full[at] in prompt or index.seen[at] in prompt for at in older):
            yield step.index


def lost_commands(evidence: ReplayEvidence) -> list[tuple[str, ...]]:
    """For each thread with commands before its last prompt, those that no message of this prompt
    repeats.
    """
    given: dict[str, dict[str, int]] = {}
    for turn in evidence.trace.model_turns:
        for call in turn.tool_calls:
            given.setdefault(turn.thread, {}).setdefault(call.command, turn.index)
    lost = []
    for thread, numbers in evidence.thread_calls.items():
        last = evidence.walked.calls[numbers[-1]].step
        commands = [command for command, step in given.get(thread, {}).items() if step < last]
        if commands:
            messages = [
                evidence.messages.messages[number]
                for number in evidence.standing(numbers[-1]).messages
            ]
            lost.append(tuple(_missing(commands, messages)))
    return lost


def _missing(commands: Iterable[str], messages: Sequence[Message]) -> list[str]:
    called = {call.command for message in messages for call in message.tool_calls}
    wanted = [command for command in commands if command not in called]
    text = "\n".join(message.text for message in messages) if wanted else ""
    return [command for command in wanted if not is_complete(command, text)]


def is_complete(command: str, text: str) -> bool:
    """True if a whole command stands in a text.

    >>> texts = ("ls", "run: 'ls'", "first\\n ls \\nthen", "ls -la", "$ ls -la", "find | ls", "also ls")
    >>> [is_complete("ls", text) for text in texts]
    [True, True, True, False, False, False, False]
    """
    start = text.find(command)
    while start >= 0:
        end = start + len(command)
        line_end = text.find("\n", end)
        before = text[text.rfind("\n", 0, start) + 1 : start].rstrip(" \t")
        after = text[end : line_end if line_end >= 0 else len(text)].lstrip(" \t")
        if before[-1:] in _BEFORE and after[:1] in _AFTER:
            return True
        start = text.find(command, start + 1)
    return False


_BEFORE = {"", *":$>`\"'"}
_AFTER = {"", *"`\"'"}
"""The characters between which a whole command stands on its line, blanks left out; `""`: the line
begins or ends.
"""
