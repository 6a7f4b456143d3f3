"""The commands of a run: which are gone at the end, and the tokens of keeping them apart."""

from __future__ import annotations

from ..evidence.of_run import RunEvidence
from ..model import Lost, Message, Prompt, Run, Sample
from . import example as example, metric, sample


@metric("loss.commands_lost", unit="commands", better="lower", aggregate="sum")
def commands_lost(evidence: RunEvidence) -> list[Sample]:
    """Commands of the recording that are in no message of the last prompt.

    A command is a tool call or a command in the text of a turn; one given several times counts once. It is there where a message makes the call,
    or its text holds the whole command as a line, or as the end of one after a colon, a prompt sign or a quote. One sample a thread with a
    command before its last prompt; its detail names those that are lost, each with the step of its first appearance. No
    commands, or no prompts: no samples.

    Source: 002 Goal: commands stay after a summarization

    >>> [(sample.numerator, sample.detail) for sample in commands_lost(example())]
    [(0.0, None)]
    """
    samples = []
    for prompt, keys in _last_prompts(evidence.run):
        commands = evidence.of_trace.commands.get(prompt.thread, {})
        given = {command: step for command, step in commands.items() if step < prompt.step}
        if given:
            lost = _missing(given, [evidence.run.messages[key] for key in keys])
            named = Lost(facts=tuple(f"step {given[command]}: {command}" for command in lost)) if lost else None
            samples.append(sample(len(lost), prompt.step, detail=named))
    return samples


@metric("cost.conversation_tokens", unit="tokens", better="lower", aggregate="sum", version=2)
def conversation_tokens(evidence: RunEvidence) -> list[Sample]:
    """Prompt tokens spent on the conversation, by a strategy that keeps commands apart from it.

    One sample a model call, framing and tool definitions included; with `cost.command_history_tokens` it adds up to `cost.prompt_tokens`. A
    strategy that keeps no parts, or no model calls: no samples.

    Source: 002 Token Management

    >>> conversation_tokens(example())
    []
    """
    return _part(evidence.run, "conversation")


@metric("cost.command_history_tokens", unit="tokens", better="lower", aggregate="sum")
def command_history_tokens(evidence: RunEvidence) -> list[Sample]:
    """Prompt tokens spent on the command history, by a strategy that keeps commands apart from the conversation.

    One sample a model call, 0 before the history is first shown. A strategy that keeps no parts, or no model calls: no samples.

    Source: 002 Token Management

    >>> command_history_tokens(example())
    []
    """
    return _part(evidence.run, "command_history")


def _part(run: Run, name: str) -> list[Sample]:
    return [sample(prompt.parts[name], prompt.step) for prompt in run.prompts if name in prompt.parts]


def _last_prompts(run: Run) -> list[tuple[Prompt, list[str]]]:
    """The last prompt of each thread, with its message keys."""
    last = {prompt.thread: prompt.step for prompt in run.prompts}
    return [(prompt, list(keys)) for prompt, keys in run.walk() if last[prompt.thread] == prompt.step]


def _missing(commands: dict[str, int], messages: list[Message]) -> list[str]:
    called = {call.command for message in messages for call in message.tool_calls}
    sought = [command for command in commands if command not in called]
    text = "\n".join(message.text for message in messages) if sought else ""
    return [command for command in sought if not _stands(command, text)]


def _stands(command: str, text: str) -> bool:
    """True if a whole command stands in a text.

    >>> [_stands("ls", text) for text in ("$ ls", "run: 'ls'", "first\\n ls \\nthen", "ls -la", "$ ls -la", "find | ls", "also ls")]
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
"""The characters between which a whole command stands on its line, blanks left out; `""`: the line begins or ends."""
