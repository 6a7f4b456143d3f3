"""The texts of steps and messages for searching facts; for model turns prose and code separately."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..model import AnyStep, Message, ModelTurn, RouteDecision, ToolCall, Trace, nested
from ..model.messages import Speaking, message_of
from ..text.decode import plain_lines


def call_text(call: ToolCall) -> str:
    """The text of a tool call's arguments for searching facts; `""` if the call is written in the
    turn's text."""
    if call.in_text or call.arguments is None:
        return ""
    return plain_lines(call.arguments)


def message_texts(message: Message) -> list[str]:
    """The texts of a message: its own, and the arguments of its calls; `[]` for an empty one."""
    return [text for text in (message.text, *map(call_text, message.tool_calls)) if text]


def step_texts(step: AnyStep) -> list[str]:
    """The texts that a step adds to its thread, a result untruncated; `[]` for a step without any.

    >>> step_texts(ModelTurn(index=0, content="", tool_calls=(ToolCall(id="a", name="f", arguments={"x": 1}),)))
    ['x: 1']
    """
    return message_texts(message_of(step)) if isinstance(step, Speaking) else []


_EXECUTE = re.compile(r"^[^\S\n]*+execute:\s*(.+?)$", re.MULTILINE)

# Marks of an argument that is code or a command, and no value.
_CODE = re.compile(r"[\n()=|;$<>]|^.{120}|^\w+ -")
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?")


def parts_by_turn(trace: Trace) -> dict[int, tuple[list[str], list[str]]]:
    """The prose and the code of every model turn, by its step; the ledger of an orchestrator is
    prose of its turn."""
    parts: dict[int, tuple[list[str], list[str]]] = {}
    ledgers: dict[str, list[str]] = {}
    for step in trace.steps:
        if isinstance(step, RouteDecision):
            ledgers.setdefault(step.thread, []).extend(_values(step.state.get("ledger")))
        elif isinstance(step, ModelTurn):
            prose, code = parts_of(step)
            parts[step.index] = [*ledgers.pop(step.thread, ()), *prose], code
    return parts


def parts_of(turn: ModelTurn) -> tuple[list[str], list[str]]:
    """The prose of a turn (with plain values of arguments), and its code. Names of arguments are
    left out, since they come from the tool."""
    text = turn.content
    outside, fenced = _fences(text)
    values = [
        value for call in turn.tool_calls if not call.in_text for value in _values(call.arguments)
    ]
    code = [
        *fenced,
        *(match.group(1) for match in _EXECUTE.finditer(text)),
        *filter(_CODE.search, values),
    ]
    plain = [value for value in values if not _CODE.search(value)]
    return [_EXECUTE.sub(" ", outside), *plain], [*map(_without_marks, code)]


def _without_marks(code: str) -> str:
    """Code without the marks around a text that it hands to a command.

    >>> _without_marks("python - <<'EOF'\\nprint(EOF)\\nEOF")
    'python - \\nprint(EOF)'
    """
    marks = set(_HEREDOC.findall(code))
    lines = (line for line in code.split("\n") if line.strip() not in marks)
    return _HEREDOC.sub("", "\n".join(lines))


def _fences(text: str) -> tuple[str, list[str]]:
    """A text with a blank in place of each fenced block (the last may be unclosed), and the
    contents of the blocks."""
    outside, fenced, position = [], [], 0
    while (start := text.find("```", position)) != -1 and (
        line_end := text.find("\n", start)
    ) != -1:
        end = text.find("```", line_end)
        outside.append(text[position:start])
        fenced.append(text[line_end + 1 : end if end != -1 else len(text)])
        position = end + 3 if end != -1 else len(text)
    return " ".join([*outside, text[position:]]), fenced


def _values(arguments: Any) -> Iterator[str]:
    for node in nested(arguments):
        if isinstance(node, str):
            yield node
        elif node is not None and not isinstance(node, bool | dict | list | tuple):
            yield plain_lines(node)
