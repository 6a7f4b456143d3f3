"""The lines of a Claude Code session: those of its file and of its sub-agents' files, each with the thread it belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from . import PartOf
from .documents import Document, Node, values_of

MAIN = "main"


def session_of(document: Document) -> tuple[list[tuple[Node, str]], dict[str, str]]:
    """Return the lines of a file's session in the order they happened, each with its thread, and the sha256 of each sub-agent's file read with it.

    A sub-agent's lines come before the result that they led to. Its own file (`agent-ID.jsonl`, beside the session or in `SESSION/subagents`)
    belongs to its session: PartOf where both are given.
    """
    lines = _lines(document)
    own = _session_id(lines)
    if all(_is_sidechain(line.value) for line in lines if line.has("message")):
        _refuse_part(document, own)
        return [(line, MAIN) for line in lines], {}
    told: list[tuple[Node, str]] = []
    agents = {agent.path.stem.removeprefix("agent-"): agent for agent in _agent_files(document, own)}
    files: dict[str, str] = {}

    def take(agent: str) -> None:
        file = agents.pop(agent)
        told.extend((line, agent) for line in _lines(file))
        files[file.path.name] = file.sha256

    for line, thread in _threads(lines):
        result = line.value.get("toolUseResult")
        agent = str(result.get("agentId")) if isinstance(result, dict) else ""
        if agent in agents:
            take(agent)
        told.append((line, thread))
    for agent in list(agents):
        take(agent)
    return told, files


def _lines(document: Document) -> list[Node]:
    """The lines of a file, or the members of the one list it is; those that are no objects raise TraceError."""
    nodes = values_of(document)
    for node in nodes:
        node.object()
    if not nodes:
        raise document.fail("expected lines of a session, got none — nothing was recorded")
    return nodes


def _threads(lines: list[Node]) -> Iterator[tuple[Node, str]]:
    """Each line's thread: a sub-agent's id, the call that a streamed one came from, else the first line of its chain of parents."""
    known: dict[str, str] = {}
    for line in lines:
        value = line.value
        thread, called = MAIN, value.get("parent_tool_use_id")
        if isinstance(called, str):
            thread = called
        elif _is_sidechain(value):
            agent, parent = value.get("agentId"), value.get("parentUuid")
            above = known.get(parent) if isinstance(parent, str) else None
            thread = agent if isinstance(agent, str) else above or str(value.get("uuid") or f"sidechain {len(known)}")
            if isinstance(value.get("uuid"), str):
                known[value["uuid"]] = thread
        yield line, thread


def _is_sidechain(value: Any) -> bool:
    return isinstance(value, dict) and value.get("isSidechain") is True


def _session_id(lines: list[Node]) -> str | None:
    """The session that lines are of; None where none says it, or says what is no name of a file or folder."""
    found = (line.value.get("sessionId") or line.value.get("session_id") for line in lines)
    told = next((item for item in found if isinstance(item, str)), None)
    return told if told is not None and re.fullmatch(r"\w[\w.-]{0,99}", told, re.ASCII) else None


def _agent_files(document: Document, session_id: str | None) -> Iterator[Document]:
    if session_id is None:
        return
    folder = document.path.parent
    for path in sorted([*folder.glob("agent-*.jsonl"), *(folder / session_id / "subagents").glob("agent-*.jsonl")]):
        agent = Document(path, (PurePosixPath(document.name).parent / path.relative_to(folder).as_posix()).as_posix())
        head = Node(agent, None, "$", agent.head)
        if path != document.path and _is_sidechain(head.value) and _session_id([head]) == session_id:
            yield agent


def _refuse_part(document: Document, session_id: str | None) -> None:
    """A sub-agent's file is left to its session's where both are given, which is where the given folder holds both."""
    if not document.beside or session_id is None:
        return
    folder = document.path.parent
    given = document.path.parents[len(PurePosixPath(document.below).parts) - 1]
    for main in (folder / f"{session_id}.jsonl", folder.parent.parent / f"{session_id}.jsonl"):
        if main != document.path and main.is_relative_to(given) and main.is_file():
            raise PartOf(f"{document.name}: is a sub-agent of {main.name}, which is read with it — name that file")
