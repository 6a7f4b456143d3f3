"""What a model turn says, taken apart: as prose, and as code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..model import ModelTurn, text_of
from ..text.decode import plain_lines

_EXECUTE = re.compile(r"^[^\S\n]*+execute:\s*(.+?)$", re.MULTILINE)

_CODE = re.compile(r"[\n()=|;$<>]|^.{120}|^\w+ -")
"""What an argument holds that is code or a command, and no value."""

_HEREDOC = re.compile(r"<<-?\s*['\"]?\w+['\"]?")


def parts_of(turn: ModelTurn) -> tuple[list[str], list[str]]:
    """What a turn says as prose (plain values of arguments too), and what it says as code. Names of arguments are left out: the tool made them."""
    text = text_of(turn.content)
    outside, fenced = _fences(text)
    code = fenced + [match.group(1) for match in _EXECUTE.finditer(text)]
    values = [value for call in turn.tool_calls if not call.in_text for value in _values(call.arguments)]
    plain = [value for value in values if not _CODE.search(value)]
    return [_EXECUTE.sub(" ", outside), *plain], [
        _HEREDOC.sub("", part) for part in (*code, *(value for value in values if _CODE.search(value)))
    ]


def _fences(text: str) -> tuple[str, list[str]]:
    """A text with a blank in place of each fenced block, the last one perhaps not closed; and what is in these."""
    outside, fenced, position = [], [], 0
    while (start := text.find("```", position)) != -1 and (line_end := text.find("\n", start)) != -1:
        end = text.find("```", line_end)
        outside.append(text[position:start])
        fenced.append(text[line_end + 1 : end if end != -1 else len(text)])
        position = end + 3 if end != -1 else len(text)
    return " ".join([*outside, text[position:]]), fenced


def _values(arguments: Any) -> Iterator[str]:
    waiting = [arguments]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            waiting.extend(reversed(list(node.values())))
        elif isinstance(node, list | tuple):
            waiting.extend(reversed(node))
        elif isinstance(node, str):
            yield node
        elif node is not None and not isinstance(node, bool):
            yield plain_lines(node)
