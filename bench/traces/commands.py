"""Commands of agents, and their runs as recorded beside what the model saw.

Agents without tool calls write commands into their text, and get the output as the next user
message. Such a command becomes a tool call `bash` whose text is already in the turn (`in_text`),
and the message that answers it a tool result with the role `user`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from ..model import ToolCall, as_text
from .steps import ToolRun, own_id
from .values import Fields, as_dict, strict_json, text

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
    opened = _OPENED.search(text)
    while opened is not None:
        closed = _CLOSED.search(text, opened.end())
        if closed is None:  # then no later one is closed either
            return
        yield opened.group(1), text[opened.end() : closed.start()].strip("\r\n")
        opened = _OPENED.search(text, closed.end())


def calls_in(text: str, index: int) -> tuple[ToolCall, ...]:
    """The commands in the text of a turn, whose index is `index`, as tool calls."""
    return tuple(
        ToolCall(
            id=own_id("text", index, at), name="bash", arguments={"command": command}, in_text=True
        )
        for at, command in enumerate(commands_in(text))
    )


def is_observation(text: str) -> bool:
    """True if a user message is the output of a command: it begins with `<returncode>`, an
    `<exception>` and then that, or `Command result:`."""
    return _RETURNCODE.match(text) is not None or _LABEL.match(text) is not None


def command_run(seen: str, recorded: Fields) -> ToolRun:
    """A command's execution, from the envelope (JSON or tags) in which the model saw its output,
    and from `returncode`, `exception_info` and `raw_output`, `recorded` beside it. If the model did
    not see all of the raw output, that is put into the same envelope, as the harness would."""
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


def tool_run(result: Any, seen: str) -> ToolRun:
    """A tool's execution as Claude Code records it beside the text that the model saw
    (`toolUseResult`): the output if it is longer; `cut` if Claude Code says so, or saved more in a
    file.

    >>> run = tool_run({"stdout": "36 walls", "persistedOutputSize": 86_332}, "36")
    >>> run.output, run.cut
    ('36 walls', True)
    """
    result = as_dict(result)
    output = "\n".join(filter(None, (text(result.get(key)) for key in ("stdout", "stderr"))))
    longer, size = len(output) > len(seen), result.get("persistedOutputSize")
    kept = type(size) is int and size > len(output.encode("utf-8", "replace"))
    cut = kept or (result.get("truncated") is True and not longer)
    return ToolRun(output if longer else None, cut=cut)
