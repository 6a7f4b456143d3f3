"""Agents without tool calls: commands are in the model's text, their output in the next user
message.

Such a command becomes a tool call `bash` whose text is already in the turn (`in_text`), and the
message that answers it a tool result with the role `user`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from ...model import ToolCall, as_text
from ..decoded import strict_json
from ..steps import ToolRun
from ..values import as_dict

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


def command_run(seen: str, recorded: dict[str, Any]) -> ToolRun:
    """A command's execution, from the envelope (JSON or tags) in which the model saw its output, and
    from what is `recorded` beside it: `returncode`, `exception_info`, and the whole `raw_output`,
    which is put into the same envelope, as the harness would, if the model did not see all of it."""
    tags, members = _RETURNCODE.match(seen), as_dict(strict_json(seen))
    stated = int(tags["code"]) if tags else 0
    code = recorded.get("returncode", members.get("returncode", stated))
    errors = (recorded.get("exception_info"), members.get("exception_info"), tags and tags["error"])
    error = next(filter(None, errors), None)
    raw, full = recorded.get("raw_output"), None
    if raw is not None and members.get("output") != raw and raw not in seen:
        full = observation_text(code, raw)
        if seen.lstrip().startswith("{"):
            exception = f', "exception_info": {_tojson(error)}' if error else ""
            full = f'{{\n  "returncode": {code},\n  "output": {_tojson(raw)}{exception}\n}}'
    why = None if error is None else as_text(error)
    return ToolRun(full=full, failed=code != 0, error=why, prose=True)


def observation_text(returncode: object, output: str) -> str:
    """A command's whole output in the envelope in which such agents see it."""
    return f"<returncode>{returncode}</returncode>\n<output>\n{output}</output>"


def _tojson(value: Any) -> str:
    """JSON as the harness' templates write it: ASCII, with HTML's special characters escaped."""
    written = json.dumps(value)
    for char in "<>&'":
        written = written.replace(char, f"\\u{ord(char):04x}")
    return written
