"""Tool calls with the results that answer them, and calls in one line."""

from __future__ import annotations

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
