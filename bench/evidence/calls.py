"""Tool calls with the results that answer them, repeated calls, and calls in one line."""

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
    """A repeated call of a turn: `earlier` is the last result before it, `again` its own result."""

    turn: int
    earlier: ToolResult
    again: ToolResult


def repeats_of(trace: Trace) -> list[Repeat]:
    """The calls that are equal to an earlier one of their thread, in order of their results. A call
    without a result is left out.
    """
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


def asked(call: ToolCall) -> str:
    """The command, file or search of a call in one line, else its arguments as JSON; `""` without
    arguments.

    >>> asked(ToolCall(id="c", name="Read", arguments={"file_path": "a.py", "offset": 40, "limit": 9}))
    'a.py offset=40 limit=9'
    >>> asked(ToolCall(id="c", name="shell", arguments={"command": ["bash", "-lc", "ls -l"], "workdir": "/x"}))
    'ls -l'
    >>> asked(ToolCall(id="c", name="shell", arguments="ls  -l")), asked(ToolCall(id="c", name="shell"))
    ('ls -l', '')
    """
    given = call.arguments
    if not isinstance(given, dict):
        return "" if given is None else " ".join(as_text(given).split())
    subject = next((given[name] for name in _SUBJECTS if given.get(name)), None)
    if isinstance(subject, list):
        shell = subject[:1] in (["bash"], ["sh"], ["/bin/bash"])
        subject = subject[-1] if shell else " ".join(map(str, subject))
    more = [
        f"{name}={given[name]}"
        for name in ("offset", "limit", "page")
        if given.get(name) is not None
    ]
    return " ".join([*as_text(given if subject is None else subject).split(), *more])


def call_of(result: ToolResult) -> str:
    """The call of a result as text: the name of the function, then its arguments.

    >>> call_of(ToolResult(index=1, call_id="c", function="shell", arguments={"cmd": "ls"}, seen=""))
    'shell {"cmd":"ls"}'
    """
    return f"{result.function} {as_text(result.arguments)}"
