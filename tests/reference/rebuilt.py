"""Prompts as full lists of messages, and whether a text holds a fact, by looking at every position."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bench.model import Message, Prompt, Run, ToolCall, ToolResult, Trace

from .numbers import number_ends, numbers_in
from .reading import decoded, is_word, plain, stands_free, unescaped


def prompts(run: Run) -> list[tuple[Prompt, list[Message], list[str]]]:
    """Each prompt with the whole list of its messages and their keys, rebuilt by copying."""
    before: dict[str, list[str]] = {}
    found = []
    for prompt in run.prompts:
        old = before.get(prompt.thread, [])
        new: list[str] = []
        position = 0
        for splice in prompt.splices:
            new += old[position : splice.at] + list(splice.added)
            position = splice.at + splice.removed
        new += old[position:]
        before[prompt.thread] = new
        found.append((prompt, [run.messages[key] for key in new], new))
    return found


def places(trace: Trace, run: Run) -> Iterator[tuple[str, ToolResult, list[Message]]]:
    """Each result with the first prompt of its thread after it ("shown") and with the last one ("end")."""
    everything = prompts(run)
    for result in trace.results:
        after = [
            messages
            for prompt, messages, _ in everything
            if prompt.thread == result.thread and prompt.step > result.index
        ]
        if after:
            yield "shown", result, after[0]
            yield "end", result, after[-1]


def texts(messages: list[Message], trace: Trace | None = None) -> list[str]:
    """Every text of a prompt: messages, and the arguments of their tool calls; with the trace, cut results without half a word at the cut."""
    return [text for item in messages for text in (said(item, trace), *map(call_text, item.tool_calls))]


def shown(messages: list[Message], result: ToolResult, trace: Trace) -> list[str]:
    """The texts that show a result, without half a word at the cut."""
    return [said(item, trace) for item in messages if item.step == result.index]


def said(message: Message, trace: Trace | None) -> str:
    own = [result.text for result in trace.results if result.index == message.step] if trace else []
    return without_halves(message.text, own[0]) if own and own[0] != message.text else message.text


def without_halves(text: str, untruncated: str) -> str:
    """A text without the half word or number that a cut left at the end of its beginning, and at the beginning of its end.

    What stands before that beginning, or after that end, is the shower's own: at least 8 characters tell, or all that there is on that side.
    """
    found = [_alike(text[at:], untruncated) for at in range(len(text) + 1)]
    at = max(range(len(text) + 1), key=lambda place: (min(found[place], 64), -place))
    if min(found[at], 64) < 8 and at + found[at] < len(text):
        at = 0
    front = found[at]
    if 0 < front < len(untruncated) and not is_word(text[at + front : at + front + 1]):
        start = next((low for low, high in tokens(untruncated) if low < front < high), front)
        text = text[: at + start] + text[at + front :]
    found = [_alike(text[:to][::-1], untruncated[::-1]) for to in range(len(text) + 1)]
    to = max(range(len(text) + 1), key=lambda place: (min(found[place], 64), place))
    if min(found[to], 64) < 8 and found[to] < to:
        to = len(text)
    text, behind = text[:to], text[to:]
    back = 0
    while back < min(len(text), len(untruncated)) and text[-1 - back] == untruncated[-1 - back]:
        back += 1
    if 0 < back < len(untruncated) and not is_word(text[len(text) - back - 1 : len(text) - back]):
        place = len(untruncated) - back
        end = next((high for low, high in tokens(untruncated) if low < place < high), place)
        text = text[: len(text) - back] + text[len(text) - (len(untruncated) - end) :]
    return text + behind


def _alike(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    return shared


def tokens(plain: str) -> list[tuple[int, int]]:
    """Where the numbers and words of a text stand, one after the other."""
    found, at = [], 0
    while at < len(plain):
        before = plain[at - 1] if at else ""
        ends = [] if is_word(before) or before == "." else number_ends(plain, at)
        end = ends[0] if ends else at
        while not ends and end < len(plain) and is_word(plain[end]):
            end += 1
        if end > at:
            found.append((at, end))
        at = max(end, at + 1)
    return found


def call_text(call: ToolCall) -> str:
    """What a call's arguments say; nothing where the turn's own text has them."""
    return "" if call.in_text or call.arguments is None else plain(call.arguments)


def shows_whole(messages: list[Message], result: ToolResult) -> bool:
    return any(item.step == result.index and item.text == result.text for item in messages)


def present(fact: str, among: list[str]) -> bool:
    return any(stands(reading, fact) for text in among for reading in _readings(text))


def _readings(text: str) -> Iterator[str]:
    """A text decoded, then its lines that still hold escapes with these resolved, as often as that changes anything."""
    while True:
        yield decoded(text)
        lines = [line for line in decoded(text).split("\n") if "\\" in line]
        text = "\n".join(unescaped(line) for line in lines)
        if lines == text.split("\n") or not lines:
            return


def flat(text: str) -> str:
    """The words of a text in small letters between blanks."""
    words = "".join(char if is_word(char) else " " for char in text.casefold()).split()
    return f" {' '.join(words)} "


def stands(plain_text: str, fact: str) -> bool:
    """Whether a fact stands somewhere in a text: a number by value, several words in a row, else as it is and not inside a longer word or number."""
    if re.fullmatch(r"\d+(\.\d+)?(e-?\d+)?", fact):
        return fact in numbers_in(plain_text)
    if " " in fact:
        return any(flat(fact) in flat(part) for part in plain_text.split("\n\n"))
    return verbatim(plain_text, fact)


def verbatim(plain_text: str, fact: str) -> bool:
    """Whether a fact stands somewhere in a text as it is, not inside a longer word or number."""
    starts = range(len(plain_text) - len(fact) + 1)
    return any(plain_text.startswith(fact, at) and stands_free(plain_text, at, at + len(fact)) for at in starts)
