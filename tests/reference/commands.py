"""loss.commands_lost the slow way: every prompt rebuilt, every line of it compared with every command."""

from __future__ import annotations

from bench.model import Message, Run, Trace

from . import rebuilt


def commands_lost(trace: Trace, run: Run) -> dict[str, set[str]]:
    """Per thread with a command before its last prompt the commands that no message of that prompt holds."""
    last = {prompt.thread: (prompt.step, messages) for prompt, messages, _ in rebuilt.prompts(run)}
    found = {}
    for thread, (step, messages) in last.items():
        given = {
            call.command
            for turn in trace.model_turns
            if turn.thread == thread and turn.index < step
            for call in turn.tool_calls
        }
        if given:
            found[thread] = {command for command in given if not any(holds(message, command) for message in messages)}
    return found


def holds(message: Message, command: str) -> bool:
    if any(call.command == command for call in message.tool_calls):
        return True
    wanted = command.split("\n")
    lines = message.text.split("\n")
    return any(_stands(lines[at : at + len(wanted)], wanted) for at in range(len(lines)))


def _stands(lines: list[str], wanted: list[str]) -> bool:
    """Whether these lines are the command: the first ends with its first line, after nothing or a mark, the last may end in a quote."""
    if len(lines) != len(wanted):
        return False
    first, last = lines[0], lines[-1].rstrip(" \t")
    ends = [last] + ([last[:-1].rstrip(" \t")] if last[-1:] in ('"', "'", "`") else [])
    if len(wanted) > 1:
        middle = lines[1:-1] == wanted[1:-1]
        return middle and wanted[-1].rstrip(" \t") in ends and _after_a_mark(first, wanted[0])
    return any(_after_a_mark(end, wanted[0].rstrip(" \t")) for end in ends)


def _after_a_mark(line: str, command: str) -> bool:
    if not line.endswith(command):
        return False
    before = line[: len(line) - len(command)].rstrip(" \t")
    return before == "" or before[-1] in ":$>`\"'"
