"""Tool calls with the results that answer them, repeated calls, and a call in one line."""

from __future__ import annotations

from typing import NamedTuple

from ..model import ModelTurn, ToolCall, ToolResult, Trace, as_text

_SUBJECTS = ("command", "cmd", "file_path", "path", "pattern", "query", "url")
"""The arguments that describe a call best, in order."""


def answered_calls(trace: Trace) -> dict[int, tuple[int, ToolCall]]:
    """The model turn and the call that each result answers, by the step of the result.

    It is the latest call with that id before the result, since some recorders reuse ids.
    """
    calls: dict[tuple[str, str], tuple[int, ToolCall]] = {}
    answered = {}
    for step in trace.steps:
        if isinstance(step, ModelTurn):
            calls.update({(step.thread, call.id): (step.index, call) for call in step.tool_calls})
        elif isinstance(step, ToolResult) and (step.thread, step.call_id) in calls:
            answered[step.index] = calls[step.thread, step.call_id]
    return answered


class Repeat(NamedTuple):
    """A repeated call of a turn: the last `earlier` result of that call, and the result `again`."""

    turn: int
    earlier: ToolResult
    again: ToolResult


def repeats_of(trace: Trace) -> list[Repeat]:
    """The calls that are equal to an earlier one of their thread, in order of their results. A call
    without a result is left out."""
    answered: dict[tuple[str, str], list[ToolResult]] = {}
    calls = answered_calls(trace)
    repeats = []
    for result in trace.results:
        if result.index not in calls:
            continue
        turn, call = calls[result.index]
        before = answered.setdefault((result.thread, call.command), [])
        earlier = next((item for item in reversed(before) if item.index < turn), None)
        before.append(result)
        if earlier is not None:
            repeats.append(Repeat(turn, earlier, result))
    return repeats


def call_line(call: ToolCall) -> str:
    """The command, file or search of a call in one line, else its arguments as JSON; `""` without
    arguments.

    >>> call_line(ToolCall(id="c", name="Read", arguments={"file_path": "a.py", "offset": 40, "limit": 9}))
    'a.py offset=40 limit=9'
    >>> call_line(ToolCall(id="c", name="shell", arguments={"command": ["bash", "-lc", "ls -l"], "workdir": "/x"}))
    'ls -l'
    >>> call_line(ToolCall(id="c", name="shell", arguments="ls  -l")), call_line(ToolCall(id="c", name="shell"))
    ('ls -l', '')
    """
    arguments = call.arguments
    if not isinstance(arguments, dict):
        return "" if arguments is None else " ".join(as_text(arguments).split())
    subject = next((arguments[name] for name in _SUBJECTS if arguments.get(name)), None)
    if isinstance(subject, list):
        shell = subject[:1] in (["bash"], ["sh"], ["/bin/bash"])
        subject = subject[-1] if shell else " ".join(map(str, subject))
    more = [
        f"{name}={arguments[name]}"
        for name in ("offset", "limit", "page")
        if arguments.get(name) is not None
    ]
    return " ".join([*as_text(arguments if subject is None else subject).split(), *more])
