"""Sessions of Claude Code: files below `~/.claude/projects`, and the JSON of `claude -p`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from ...model import ContextEdit, ContextReset, ModelTurn, ToolResult
from .. import Document, Fields, PartOf, register
from ..commands import tool_run
from ..intakes.messages import message
from ..steps import ReadMessage, paired, way_to
from ..values import as_dict, as_list, fields_of, number, text, time_of
from . import SessionLog

_NOT_IN_PROMPTS = {
    "summary", "file-history-snapshot", "queue-operation", "ai-title", "custom-title", "last-prompt", "progress",
    "pr-link", "tag", "agent-name", "agent-color", "agent-setting", "mode", "permission-mode", "worktree-state",
    "attribution-snapshot", "rate_limit_event", "tool_progress", "stream_event", "task-summary", "tool_use_summary",
    "auth_status", "result", "init", "turn_duration", "local_command", "informational", "api_error",
    "stop_hook_summary", "status", "hook_started", "hook_response", "away_summary", "bridge_status",
    "scheduled_task_fire", "memory_saved", "api_metrics", "task_started", "task_progress", "task_notification",
    "files_persisted", "hook_progress", "session_state_changed",
}  # fmt: skip
"""Types of lines, and subtypes of system lines, that are in no prompt; nor are those without one
(1.0)."""
_CLEARED = "[Old tool result content cleared]"
_MAIN = "main"
_LINE = {"type": str, "subtype": str, "uuid": str, "parentUuid": str, "logicalParentUuid": str,
         "timestamp": object, "message": dict, "isCompactSummary": object, "isVisibleInTranscriptOnly": object,
         "toolUseResult": object, "tool_use_result": object, "attachment": dict, "compactMetadata": dict,
         "microcompactMetadata": dict, "sessionId": str, "session_id": str, "requestId": str, "total_cost_usd": float}  # fmt: skip


@register("reader", "claude_code")
class ClaudeCode(SessionLog):
    """One session per file. An answer's lines repeat its message id: they are one turn, and its
    usage counts once.

    Sub-agents (`parent_tool_use_id`, or their own `agent-ID.jsonl`, which is read with its session)
    are threads. A mark of compaction is a ContextReset with the summary that follows it; so is
    going back to an earlier prompt. Results that were cleared on the way (`microcompact_boundary`)
    are a ContextEdit. A tool's whole output (`toolUseResult.stdout`) is `full` where the model saw
    less. Attachments are counted. A stream's result line has the cost.

    Not kept: the system prompt and the tool definitions, which sessions do not hold; thinking of
    which only the signature is there.

    Source: code.claude.com/docs, "Headless mode" (stream-json); session files as Claude Code 2.1
    writes them. Tested: Claude Code 2.1.119, published sessions and streams
    """

    def marked(self, document: Document) -> object:
        lines = document.first_objects
        with_messages = [line for line in lines if line.get("type") in ("user", "assistant")]
        turns = [as_dict(line, "message") for line in with_messages]
        session = any({"sessionId", "session_id"} & line.keys() for line in lines)
        return session and any(turn and "parts" not in turn for turn in turns)

    def __init__(self) -> None:
        super().__init__()
        # Each line, or all lines of an answer, with the thread.
        self.noted: list[tuple[list[Fields], str]] = []
        self.answers: dict[tuple[str, str], list[Fields]] = {}  # their lines, by thread and id
        self.boundary: Fields | None = None  # the mark of compaction that waits for its summary
        self.parents: dict[str, str | None] = {}  # of each line; they show where the user went back
        self.step_of: dict[str, int] = {}

    def add_file(self, document: Document) -> None:
        for raw, thread in self._lines(document):
            self._note(raw, thread)
        for lines, thread in self.noted:
            before, self.time, self.thread = self.index, lines[0]["timestamp"], thread
            self._add(*lines)
            if self.index > before and "uuid" in lines[0]:
                self.step_of.setdefault(lines[0]["uuid"], self.index - 1)

    def _lines(self, document: Document) -> Iterator[tuple[Fields, str]]:
        """The lines with their threads, as things happened: a sub-agent's before its result."""
        lines = document.objects(self.unread)
        session, agents = _session_id(lines), dict[str, Document]()
        alone = all(line.get("isSidechain") is True for line in lines if "message" in line)
        if session and not alone:
            agents = _agents(document, session)
        elif session and document.beside:
            _refuse_part(document, session)
        for line in lines:
            name = str(as_dict(line, "toolUseResult").get("agentId"))
            if name in agents:
                yield from ((own, name) for own in agents.pop(name).objects(self.unread))
            within = line.get("isSidechain") is True and not alone
            yield line, text(line.get("parent_tool_use_id")) or ("sub-agent" if within else _MAIN)
        for name, file in agents.items():
            yield from ((own, name) for own in file.objects(self.unread))

    def _note(self, raw: Fields, thread: str) -> None:
        """Note a line, its parent and its answer; not one that a resumed session repeats."""
        line = fields_of(raw, _LINE, self.unread)
        uuid = line.get("uuid")
        if uuid in self.parents:
            return
        if uuid is not None:
            self.parents[uuid] = line.get("parentUuid") or line.get("logicalParentUuid")
        if session := line.get("sessionId") or line.get("session_id"):
            self.meta.setdefault("session_id", session)
        self.cost_usd = self.cost_usd or line.get("total_cost_usd", 0.0)
        line["timestamp"] = time_of(line.get("timestamp"), self.unread)
        lines, answer = [line], text(as_dict(line, "message").get("id")) or uuid
        if line.get("type") == "assistant" and answer is not None:
            lines = self.answers.setdefault((thread, answer), [])
            lines.append(line)
        if len(lines) == 1:
            self.noted.append((lines, thread))

    def _add(self, line: Fields, *more: Fields) -> None:
        kind, subtype = line.get("type", ""), line.get("subtype")
        if kind == "user" and "message" in line:
            self._user(line)
        elif kind == "assistant" and "message" in line:
            self._assistant([line, *more])
        elif kind == "attachment":
            self._attachment(line.get("attachment", {}))
        elif kind == "system" and subtype == "compact_boundary":
            self.boundary = line
        elif kind == "system" and subtype == "microcompact_boundary":
            self._cleared(line)
        elif kind == "system" and subtype is not None and subtype not in _NOT_IN_PROMPTS:
            self.unread.kind("system line", subtype)
        elif kind != "system" and kind not in _NOT_IN_PROMPTS:
            self.unread.kind("line", kind or None)

    def _attachment(self, attachment: Fields) -> None:
        kind, prompt = attachment.get("type"), text(attachment.get("prompt"))
        if kind == "queued_command" and prompt:
            self.add_message(ReadMessage("user", prompt))
        else:
            self.unread.kind("attachment", kind)

    def _user(self, line: Fields) -> None:
        messages = message({**line["message"], "role": "user"}, self.unread)
        if line.get("isCompactSummary") is True:
            self._reset(messages[-1].content)
            return
        if line.get("isVisibleInTranscriptOnly") is True:
            return
        self._compacted()
        result = line.get("toolUseResult", line.get("tool_use_result"))
        for entry in messages:
            if entry.role == "tool":
                entry = replace(entry, ran=tool_run(result, entry.content))
            else:
                self._went_back(line)
            self.add_message(entry)

    def _assistant(self, lines: list[Fields]) -> None:
        parts = [as_dict(part, "message") for part in lines]
        if parts[0].get("model") == "<synthetic>":
            self.unread.add("message of Claude Code in the model's place")
            return
        contents = [part.get("content") for part in parts]
        lists = [content if isinstance(content, list) else [content] for content in contents]
        usage = max((as_dict(part, "usage") for part in parts), key=_output_tokens)
        answer = {
            **parts[0],
            "role": "assistant",
            "content": [block for blocks in lists for block in blocks],
            "usage": usage,
        }
        self._compacted()
        turn, *results = message(answer, self.unread)
        ids = parts[0].get("id"), lines[0].get("requestId")
        turn = replace(turn, answer_id=" ".join(filter(None, map(text, ids))) or None)
        index = self.add_message(turn)
        self.step_of |= {part["uuid"]: index for part in lines if "uuid" in part}
        self.add_messages(results)

    def _compacted(self) -> None:
        if self.thread == _MAIN and self.boundary is not None:
            self._reset(None)

    def _reset(self, summary: str | None) -> None:
        boundary, self.boundary = self.boundary, None
        segment = as_dict(boundary, "compactMetadata", "preservedSegment")
        first, last = (self.step_of.get(str(segment.get(key))) for key in ("headUuid", "tailUuid"))
        kept = tuple(range(first, last + 1)) if first is not None and last is not None else ()
        self.add(ContextReset, summary=summary, kept=kept)

    def _cleared(self, line: Fields) -> None:
        named = as_list(line.get("microcompactMetadata", {}).get("compactedToolIds"))
        calls = set(map(str, named))
        own = (step for step in self.steps if step.thread == self.thread)
        cleared = (step for step in own if isinstance(step, ToolResult) and step.call_id in calls)
        if notices := {step.index: _CLEARED for step in cleared}:
            self.add(ContextEdit, shown=notices)

    def _went_back(self, line: Fields) -> None:
        """Add a reset if the ancestors of a prompt lack the last turn: the user went back."""
        steps = (step for step in reversed(self.steps) if step.thread == self.thread)
        last = next((step for step in steps if isinstance(step, ModelTurn | ContextReset)), None)
        if not isinstance(last, ModelTurn):
            return
        way: list[str] = []
        for uuid in way_to(line.get("parentUuid"), self.parents):
            if self.step_of.get(uuid) == last.index:  # nearly always at once
                return
            way.append(uuid)
        if way and self.parents[way[-1]] is None:
            kept = {self.step_of[uuid] for uuid in way if uuid in self.step_of}
            self.add(ContextReset, kept=paired(self.steps, kept))


def _session_id(lines: list[Fields]) -> str | None:
    """The id of the session of some lines; None without one, or if it cannot be a file name."""
    ids = (text(line.get("sessionId") or line.get("session_id")) for line in lines)
    first = next(filter(None, ids), "")
    return first if re.fullmatch(r"\w[\w.-]{0,99}", first, re.ASCII) else None


def _agents(document: Document, session: str) -> dict[str, Document]:
    folder = document.path.parent
    inner = (folder / session / "subagents").glob("agent-*.jsonl")
    files: dict[str, Document] = {}
    for path in sorted([*folder.glob("agent-*.jsonl"), *inner]):
        name = PurePosixPath(document.name).parent / path.relative_to(folder).as_posix()
        agent = Document(path, name.as_posix())
        own = agent.first.get("isSidechain") is True and _session_id([agent.first]) == session
        if own and path != document.path:
            files[path.stem.removeprefix("agent-")] = agent
    return files


def _refuse_part(document: Document, session: str) -> None:
    folder = document.path.parent
    for main in (folder / f"{session}.jsonl", folder.parent.parent / f"{session}.jsonl"):
        if main != document.path and main.is_file():
            what = f"is a sub-agent of {main.name}, which is read with it"
            raise PartOf(f"{document.name}: {what} — name that file", main)


def _output_tokens(usage: Fields) -> float:
    count = number(usage.get("output_tokens"))
    return -1 if count is None else count
