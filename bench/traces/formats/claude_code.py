"""Sessions of Claude Code: the files below `~/.claude/projects`, and what `claude -p` writes as
JSON."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...model import ContextEdit, ContextReset, ModelTurn, Outcome, ToolResult
from .. import Confidence, Document, Traces, certain_if, dicts, register
from ..branches import paired, way_to
from ..claude_code_files import MAIN, agent_files, refuse_part, session_id, threads, tool_run
from ..messages import message
from ..records import dict_in, fields_of, number, objects_of, text, time_of
from ..steps import ReadMessage, Steps

_NOT_IN_PROMPTS = {
    "summary", "file-history-snapshot", "queue-operation", "ai-title", "custom-title", "last-prompt", "progress",
    "pr-link", "tag", "agent-name", "agent-color", "agent-setting", "mode", "permission-mode", "worktree-state",
    "attribution-snapshot", "rate_limit_event", "tool_progress", "stream_event", "task-summary", "tool_use_summary",
    "auth_status",
}  # fmt: skip
"""Types of lines of which nothing is in a prompt."""
_NOTES = {
    "init", "turn_duration", "local_command", "informational", "api_error", "stop_hook_summary", "status",
    "hook_started", "hook_response", "away_summary", "bridge_status", "scheduled_task_fire", "memory_saved",
    "api_metrics", "task_started", "task_progress", "task_notification", "files_persisted", "hook_progress",
    "session_state_changed",
}  # fmt: skip
"""Subtypes of system lines that the model does not see; nor does it see those without one (1.0)."""
_CLEARED = "[Old tool result content cleared]"
_SUB_AGENT = "sub-agent"
_META = {"sessionId": "session_id", "session_id": "session_id", "version": "version", "cwd": "cwd",
         "gitBranch": "git_branch", "total_cost_usd": "cost_usd", "num_turns": "num_turns",
         "duration_ms": "duration_ms"}  # fmt: skip


_LINE = {"type": str, "subtype": str, "uuid": str, "parentUuid": str, "logicalParentUuid": str,
         "timestamp": object, "message": dict, "isCompactSummary": object, "isVisibleInTranscriptOnly": object,
         "is_error": object, "toolUseResult": object, "tool_use_result": object, "attachment": dict,
         "compactMetadata": dict, "microcompactMetadata": dict}  # fmt: skip
Line = dict[str, Any]
"""One line of a session, or of a stream."""


@register("reader", "claude_code")
class ClaudeCode:
    """One session a file. An answer's lines repeat its message id: they are one turn, and its usage
    counts once.

    Sub-agents (`isSidechain`, `parent_tool_use_id`, or their own `agent-ID.jsonl`, which is read
    with its session) are threads. A mark of compaction is a ContextReset with the summary that
    follows it; so is going back to an earlier prompt. Results that were cleared on the way
    (`microcompact_boundary`) are a ContextEdit. A tool's whole output (`toolUseResult.stdout`) is
    `full` where the model saw less. Neither the system prompt nor the tools are recorded;
    attachments are counted. A stream's result line is the outcome.

    Not kept: the system prompt and the tool definitions, which sessions do not hold; thinking of
    which only the signature is there.

    Source: code.claude.com/docs, "Headless mode" (stream-json); session files as Claude Code 2.1
    writes them. Tested: Claude Code 2.1.119, published sessions and streams
    """

    def sniff(self, document: Document) -> Confidence:
        lines = document.first_objects
        turns = [
            dict_in(line, "message") for line in lines if line.get("type") in ("user", "assistant")
        ]
        session = any({"sessionId", "session_id"} & line.keys() for line in lines)
        return certain_if(session and any(turn and "parts" not in turn for turn in turns))

    def read(self, document: Document) -> Traces:
        """The file's one session; its id is in `meta`."""
        run = _Session()
        run.add_all(run.lines_of_session(document))
        yield run.trace(document, "claude_code")


class _Session(Steps):
    """One session on its way to a trace: the chain of its lines' parents shows where it was
    compacted, or gone back in."""

    def __init__(self) -> None:
        super().__init__()
        # Lines not yet read, by thread and answer.
        self.answers: dict[tuple[str, str], list[Line]] = {}
        # A sub-agent's name, by the call it came from and by its own id.
        self.agents: dict[str, str] = {}
        self.boundary: Line | None = None  # the mark of compaction that waits for its summary
        self.parents: dict[str, str | None] = {}
        self.step_of: dict[str, int] = {}

    def lines_of_session(self, document: Document) -> list[tuple[dict[str, Any], str]]:
        """The lines of a session and its sub-agents, each with its thread, in the order they
        happened: a sub-agent's come before the result that they led to. PartOf for the file of one
        where its session's is given too."""
        lines = objects_of(document, self.unread)
        session = session_id(lines)
        if all(line.get("isSidechain") is True for line in lines if "message" in line):
            refuse_part(document, session)
            return [(line, MAIN) for line in lines]
        agents = {
            agent.path.stem.removeprefix("agent-"): agent
            for agent in agent_files(document, session)
        }
        ordered: list[tuple[dict[str, Any], str]] = []
        for line, thread in threads(lines):
            name = str(dict_in(line, "toolUseResult").get("agentId"))
            if agent := agents.pop(name, None):
                ordered.extend((own, name) for own in objects_of(agent, self.unread))
            ordered.append((line, thread))
        ordered.extend(
            (own, name) for name, agent in agents.items() for own in objects_of(agent, self.unread)
        )
        return ordered

    def add_all(self, lines: list[tuple[dict[str, Any], str]]) -> None:
        """Add the lines as steps; a session that is taken up again repeats lines, which count
        once."""
        entries: list[tuple[Line, str]] = []
        for raw, thread in lines:
            line = fields_of(raw, _LINE, self.unread)
            uuid = line.get("uuid")
            if uuid in self.parents:
                continue
            if uuid is not None:
                self.parents[uuid] = line.get("parentUuid") or line.get("logicalParentUuid")
            for key, name in _META.items():
                if value := raw.get(key):
                    self.meta.setdefault(name, value)
            self._note_agents(line)
            if line.get("type") == "assistant":
                self.answers.setdefault((thread, _answer_id(line)), []).append(line)
            entries.append((line, thread))
        for line, thread in entries:
            self._add(line, thread)

    def _note_agents(self, line: Line) -> None:
        """Note which sub-agents a line's calls start, or its result is of."""
        blocks = dicts(dict_in(line, "message").get("content"))
        for block in blocks:
            if block.get("type") == "tool_use":
                name = text(dict_in(block, "input").get("subagent_type")) or _SUB_AGENT
                self.agents[str(block.get("id"))] = name
        agent = text(dict_in(line, "toolUseResult").get("agentId"))
        if agent and blocks:
            self.agents[agent] = self.agents.get(str(blocks[0].get("tool_use_id")), _SUB_AGENT)

    def _add(self, line: Line, thread: str) -> None:
        """Add a line by its type; one of an unknown type is counted."""
        kind, subtype = line.get("type", ""), line.get("subtype")
        if kind == "user" and "message" in line:
            self._user(line, thread)
        elif kind == "assistant" and "message" in line:
            self._assistant(line, thread)
        elif kind == "attachment":
            attachment = line.get("attachment", {})
            prompt = text(attachment.get("prompt"))
            if attachment.get("type") == "queued_command" and prompt:
                self._became(
                    line, self.say(ReadMessage("user", prompt), *self._place(line, thread))
                )
            else:
                self.unread.kind("attachment", attachment.get("type"))
        elif kind == "result":
            success = subtype == "success" and line.get("is_error") is not True
            self.outcome = Outcome(success=success, said_by="claude_code")
        elif kind == "system" and subtype == "compact_boundary":
            self.boundary = line
        elif kind == "system" and subtype == "microcompact_boundary":
            self._cleared(line, thread)
        elif kind == "system" and subtype is not None and subtype not in _NOTES:
            self.unread.kind("system line", subtype)
        elif kind != "system" and kind not in _NOT_IN_PROMPTS:
            self.unread.kind("line", kind or None)

    def _place(self, line: Line, thread: str) -> tuple[str, str, float | None]:
        agent = "agent" if thread == MAIN else self.agents.get(thread, _SUB_AGENT)
        return thread, agent, self._time(line)

    def _time(self, line: Line) -> float | None:
        return time_of(line.get("timestamp"), self.unread)

    def _became(self, line: Line, index: int) -> None:
        if "uuid" in line:
            self.step_of[line["uuid"]] = index

    def _user(self, line: Line, thread: str) -> None:
        """Add a line of the user: what was asked, results of tools, or the summary of a reset."""
        messages = message({**line["message"], "role": "user"}, self.unread)
        if line.get("isCompactSummary") is True:
            self._reset(line, messages[-1].text)
            return
        if line.get("isVisibleInTranscriptOnly") is True:
            return
        self._compacted(line, thread)
        result = line.get("toolUseResult", line.get("tool_use_result"))
        for entry in messages:
            if entry.role == "tool":
                entry = replace(entry, ran=tool_run(result, entry.text))
            else:
                self._went_back(line, thread)
            self._became(line, self.say(entry, *self._place(line, thread)))

    def _assistant(self, line: Line, thread: str) -> None:
        """Add an answer where its first line stands. Each line repeats the usage so far: the largest
        is that of all of it."""
        lines = self.answers.pop((thread, _answer_id(line)), None)
        if lines is None:  # another line of an answer that was added
            return
        parts = [dict_in(part, "message") for part in lines]
        if parts[0].get("model") == "<synthetic>":
            self.unread.add("message of Claude Code in the model's place")
            return
        contents = [part.get("content") for part in parts]
        blocks = [
            block
            for content in contents
            for block in (content if isinstance(content, list) else [content])
        ]
        reasons = [reason for part in parts if (reason := part.get("stop_reason"))]
        usage = max((dict_in(part, "usage") for part in parts), key=_output_tokens)
        self.unread.add(
            "count of output tokens from before the answer ended", bool(usage) and not reasons
        )
        answer = {
            **parts[0],
            "role": "assistant",
            "content": blocks,
            "stop_reason": (reasons or [None])[-1],
        }
        turn, *results = message({**answer, "usage": usage}, self.unread)
        self._compacted(line, thread)
        index = self.say(turn, *self._place(line, thread))
        for part in lines:
            self._became(part, index)
        self.tell(results, *self._place(line, thread))

    # ---- compacted, cleared, or gone back in

    def _compacted(self, line: Line, thread: str) -> None:
        if thread == MAIN and self.boundary is not None:
            self._reset(line)

    def _reset(self, line: Line, summary: str | None = None) -> None:
        """Add the history as compaction left it: the summary, and the segment that the mark says it
        kept."""
        boundary, self.boundary = self.boundary, None
        segment = dict_in(boundary, "compactMetadata", "preservedSegment")
        first, last = (self.step_of.get(str(segment.get(key))) for key in ("headUuid", "tailUuid"))
        kept = tuple(range(first, last + 1)) if first is not None and last is not None else ()
        reset = self.add(ContextReset, t=self._time(line), summary=summary, kept=kept)
        self._became(line, reset)

    def _cleared(self, line: Line, thread: str) -> None:
        """Add the clearing of the results that a mark names: prompts after it show a notice in
        their place."""
        named = line.get("microcompactMetadata", {}).get("compactedToolIds")
        calls = set(map(str, named)) if isinstance(named, list) else set()
        results = (
            step for step in self.steps if isinstance(step, ToolResult) and step.thread == thread
        )
        if notices := {step.index: _CLEARED for step in results if step.call_id in calls}:
            edit = self.add(ContextEdit, t=self._time(line), thread=thread, shown=notices)
            self._became(line, edit)

    def _went_back(self, line: Line, thread: str) -> None:
        """Add a reset where the chain above a prompt leaves out the thread's last turn: it was
        typed after going back."""
        steps = (step for step in reversed(self.steps) if step.thread == thread)
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
            self.add(ContextReset, t=self._time(line), kept=paired(self.steps, kept))


def _answer_id(line: Line) -> str:
    """The id of the answer that a line is a part of."""
    return text(dict_in(line, "message").get("id")) or line.get("uuid") or str(id(line))


def _output_tokens(usage: dict[str, Any]) -> float:
    count = number(usage.get("output_tokens"))
    return -1 if count is None else count
