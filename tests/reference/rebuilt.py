"""Prompts as full lists of messages, and whether a text holds a fact, by looking at every position."""

from __future__ import annotations

from collections.abc import Iterator

from bench.evidence.uses import call_text
from bench.model import Message, Prompt, Run, ToolResult, Trace
from bench.text.decode import decoded


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


def shows_whole(messages: list[Message], result: ToolResult) -> bool:
    return any(item.step == result.index and item.text == result.text for item in messages)


def present(fact: str, among: list[str]) -> bool:
    return any(stands(decoded(text), fact) for text in among)


def stands(plain: str, fact: str) -> bool:
    """Whether a fact stands somewhere in a text, not inside a longer word or number."""
    return any(
        plain[start : start + len(fact)] == fact
        and _free_left(plain[:start], fact[0])
        and _free_right(plain[start + len(fact) :], fact[-1])
        for start in range(len(plain) - len(fact) + 1)
    )


def _word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _free_left(left: str, first: str) -> bool:
    if not left or not _word(first):
        return True
    if _word(left[-1]):
        return False
    if first.isdigit() and left[-1] == ".":
        return not left[-2:-1].isdigit()
    if first.isdigit() and left[-1] in "+-":
        joint = left[-2:-1]
        return joint != "" and (_word(joint) or joint in "+-)]")
    return True


def _free_right(right: str, last: str) -> bool:
    if not right or not _word(last):
        return True
    return not _word(right[0]) and not (last.isdigit() and right[0] == "." and right[1:2].isdigit())
