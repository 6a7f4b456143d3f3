"""Prompts as full lists of messages, and whether a text holds a fact, by looking at every position."""

from __future__ import annotations

from collections.abc import Iterator

from bench.model import Message, Prompt, Run, ToolCall, ToolResult, Trace

from .reading import decoded, is_word, plain


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


def texts(messages: list[Message]) -> list[str]:
    """Every text of a prompt: messages, and the arguments of their tool calls."""
    return [text for item in messages for text in (item.text, *map(call_text, item.tool_calls))]


def call_text(call: ToolCall) -> str:
    """What a call's arguments say; nothing where the turn's own text has them."""
    return "" if call.in_text or call.arguments is None else plain(call.arguments)


def shows_whole(messages: list[Message], result: ToolResult) -> bool:
    return any(item.step == result.index and item.text == result.text for item in messages)


def present(fact: str, among: list[str]) -> bool:
    return any(stands(decoded(text), fact) for text in among)


def stands(plain_text: str, fact: str) -> bool:
    """Whether a fact stands somewhere in a text, not inside a longer word or number."""
    start = plain_text.find(fact)
    while start >= 0:
        if _free_left(plain_text[:start], fact) and _free_right(plain_text[start + len(fact) :], fact[-1]):
            return True
        start = plain_text.find(fact, start + 1)
    return False


def _free_left(left: str, fact: str) -> bool:
    first = fact[0]
    if not left or not is_word(first):
        return True
    if is_word(left[-1]):
        return False
    if first.isdigit() and left[-1] == ".":
        return not left[-2:-1].isdigit()
    if first.isdigit() and left[-1] in "+-":
        joint = left[-2:-1]
        if joint and joint in "eE" and left[-3:-2].isdigit():
            return False  # the exponent of a longer number
        return (joint != "" and (is_word(joint) or joint in "+-)]")) or not _is_number(fact)
    return True


def _is_number(fact: str) -> bool:
    """Digits and dots, and perhaps an exponent."""
    head, mark, power = fact.partition("e" if "e" in fact else "E")
    power = power[1:] if power[:1] in ("+", "-") else power
    return all(char.isdecimal() or char == "." for char in head) and (not mark or power.isdecimal())


def _free_right(right: str, last: str) -> bool:
    if not right or not is_word(last):
        return True
    return not is_word(right[0]) and not (last.isdigit() and right[0] == "." and right[1:2].isdigit())
