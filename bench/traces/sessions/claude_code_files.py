"""Sessions of Claude Code: the files of their sub-agents, and runs of tools."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from ..documents import Document
from ..reader import PartOf
from ..steps import ToolRun
from ..values import dict_in, text


def session_id(lines: list[dict[str, Any]]) -> str | None:
    """The id of the session of some lines; None without one, or if it cannot be a file name."""
    ids = (text(line.get("sessionId") or line.get("session_id")) for line in lines)
    first = next(filter(None, ids), "")
    return first if re.fullmatch(r"\w[\w.-]{0,99}", first, re.ASCII) else None


def agent_files(document: Document, session: str | None) -> Iterator[Document]:
    """The files of a session's sub-agents, beside its file or in its folder."""
    if session is None:
        return
    folder = document.path.parent
    inner = (folder / session / "subagents").glob("agent-*.jsonl")
    for path in sorted([*folder.glob("agent-*.jsonl"), *inner]):
        name = PurePosixPath(document.name).parent / path.relative_to(folder).as_posix()
        agent = Document(path, name.as_posix())
        own = agent.first.get("isSidechain") is True and session_id([agent.first]) == session
        if own and path != document.path:
            yield agent


def refuse_part(document: Document, session: str | None) -> None:
    """Raise PartOf for a sub-agent's file in a folder with the file of its session, which is read
    with its sub-agents."""
    if not document.beside or session is None:
        return
    folder = document.path.parent
    levels = len(PurePosixPath(document.below).parts)
    top = document.path.parents[levels - 1]  # the folder that was given
    for main in (folder / f"{session}.jsonl", folder.parent.parent / f"{session}.jsonl"):
        if main != document.path and main.is_relative_to(top) and main.is_file():
            what = f"is a sub-agent of {main.name}, which is read with it"
            raise PartOf(f"{document.name}: {what} — name that file")


def agent_name(path: Path) -> str:
    """The id of the sub-agent in the name of its file.

    >>> agent_name(Path("agent-ab12cd3.jsonl"))
    'ab12cd3'
    """
    return path.stem.removeprefix("agent-")


def tool_run(result: Any, seen: str) -> ToolRun:
    """A tool's execution as Claude Code records it beside the text that the model saw
    (`toolUseResult`): the output if it is longer; `cut` if Claude Code says so, or saved more in a
    file.

    >>> run = tool_run({"stdout": "36 walls", "persistedOutputSize": 86_332}, "36")
    >>> run.output, run.cut
    ('36 walls', True)
    """
    result = dict_in(result)
    output = "\n".join(filter(None, (text(result.get(key)) for key in ("stdout", "stderr"))))
    longer, size = len(output) > len(seen), result.get("persistedOutputSize")
    kept = type(size) is int and size > len(output.encode("utf-8", "replace"))
    cut = kept or (result.get("truncated") is True and not longer)
    return ToolRun(output if longer else None, cut=cut)
