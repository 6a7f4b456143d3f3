"""The files of a Claude Code session: its lines, the threads of its sub-agents, and their own files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from .documents import Document
from .reader import PartOf
from .records import text

MAIN = "main"
"""The thread of the session's own agent."""


def loglines(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The lines; of a session of the web, as its address gives it, those within."""
    within = objects[0].get("loglines") if len(objects) == 1 else None
    return [line for line in within if isinstance(line, dict)] if isinstance(within, list) else objects


def threads(lines: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], str]]:
    """Each line's thread: a sub-agent's id, the call that a streamed one came from, else the first line of
    its chain of parents."""
    known: dict[str, str] = {}
    for line in lines:
        thread, called = MAIN, line.get("parent_tool_use_id")
        if isinstance(called, str):
            thread = called
        elif line.get("isSidechain") is True:
            agent, parent, uuid = text(line.get("agentId")), line.get("parentUuid"), line.get("uuid")
            above = known.get(parent) if isinstance(parent, str) else None
            thread = agent or above or str(uuid or f"sidechain {len(known)}")
            if isinstance(uuid, str):
                known[uuid] = thread
        yield line, thread


def session_id(lines: list[dict[str, Any]]) -> str | None:
    """The session that lines are of; None where none says it, or says what is no name of a file."""
    ids = (line.get("sessionId") or line.get("session_id") for line in lines)
    first = next((item for item in ids if isinstance(item, str)), None)
    return first if first is not None and re.fullmatch(r"\w[\w.-]{0,99}", first, re.ASCII) else None


def agent_files(document: Document, session: str | None) -> Iterator[Document]:
    """The files of a session's sub-agents, beside it or in its own folder."""
    if session is None:
        return
    folder = document.path.parent
    for path in sorted([*folder.glob("agent-*.jsonl"), *(folder / session / "subagents").glob("agent-*.jsonl")]):
        agent = Document(path, (PurePosixPath(document.name).parent / path.relative_to(folder).as_posix()).as_posix())
        head = agent.first
        if path != document.path and head.get("isSidechain") is True and session_id([head]) == session:
            yield agent


def refuse_part(document: Document, session: str | None) -> None:
    """A sub-agent's file is left to its session's where both are given, which is where the given folder
    holds both."""
    if not document.beside or session is None:
        return
    folder = document.path.parent
    given = document.path.parents[len(PurePosixPath(document.below).parts) - 1]
    for main in (folder / f"{session}.jsonl", folder.parent.parent / f"{session}.jsonl"):
        if main != document.path and main.is_relative_to(given) and main.is_file():
            raise PartOf(f"{document.name}: is a sub-agent of {main.name}, which is read with it — name that file")
