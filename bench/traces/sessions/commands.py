"""Agents without tool calls: commands are in the model's text, their output in the next user
message.

Such a command becomes a tool call `bash` whose text is already in the turn (`in_text`), and the
message that answers it a tool result with the role `user`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...model import ToolCall
from ..steps import ReadMessage, ToolRun

_OPENED = re.compile(r"^```(mswea_bash_command|bash)[ \t]*\r?\n", re.MULTILINE)
_CLOSED = re.compile(r"^```[ \t]*\r?$", re.MULTILINE)
_EXECUTE = re.compile(r"^execute:[ \t]*(\S.*)$", re.MULTILINE | re.IGNORECASE)
_LABEL = re.compile(r"\s*Command result:\s*")
_RETURNCODE = re.compile(
    r"(?:\s*Command result:)?\s*(?:<exception>(?P<error>.*?)</exception>\s*)?"
    r"<returncode>\s*(?P<code>-?\d{1,9})\s*</returncode>",
    re.DOTALL,
)


def commands_in(text: str) -> tuple[str, ...]:
    """The commands of a model's text, in order: fenced `mswea_bash_command` blocks, else fenced
    `bash` blocks, else lines that begin with `execute:`, in any case. `()` where there is none."""
    blocks = list(_blocks(text))
    for language in ("mswea_bash_command", "bash"):
        commands = tuple(body for name, body in blocks if name == language and body.strip())
        if commands:
            return commands
    return tuple(match.group(1).rstrip(" \t\r") for match in _EXECUTE.finditer(text))


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """The closed fenced blocks of a text as (language, content)."""
    opened = _OPENED.search(text)
    while opened is not None:
        closed = _CLOSED.search(text, opened.end())
        if closed is None:  # then no later one is closed either
            return
        yield opened.group(1), text[opened.end() : closed.start()].strip("\r\n")
        opened = _OPENED.search(text, closed.end())


def calls_in(text: str, index: int) -> tuple[ToolCall, ...]:
    """The commands in a model turn's text as tool calls; `index`, the turn's, is part of their
    ids."""
    commands = commands_in(text)
    ids = [f"text{index}.{at}" if at else f"text{index}" for at in range(len(commands))]
    pairs = zip(ids, commands, strict=True)
    return tuple(
        ToolCall(id=own, name="bash", arguments={"command": command}, in_text=True)
        for own, command in pairs
    )


def is_observation(text: str) -> bool:
    """True if a user message is the output of a command: it begins with `<returncode>`, an
    `<exception>` and then that, or `Command result:`."""
    return _RETURNCODE.match(text) is not None or _LABEL.match(text) is not None


def observation(call: ToolCall, text: str, raw_output: str | None = None) -> ReadMessage:
    """A user message as the result of `call`, which failed if the text states a return code other
    than 0. `raw_output` is the whole output where it is recorded separately."""
    match = _RETURNCODE.match(text)
    code = match.group("code") if match else "0"
    full = None if raw_output is None or raw_output in text else observation_text(code, raw_output)
    error = (match.group("error") or None) if match else None
    ran = ToolRun(full=full, failed=int(code) != 0, error=error, prose=True)
    return ReadMessage("tool", text, call_id=call.id, ran=ran)


def observation_text(returncode: object, output: str) -> str:
    """A command's whole output in the envelope in which such agents see it."""
    return f"<returncode>{returncode}</returncode>\n<output>\n{output}</output>"
