"""Sessions of Claude Code: the files below `~/.claude/projects`, and what `claude -p --output-format stream-json` (or `json`) writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...model import Outcome, Trace
from ...plugins.registry import register
from .. import Confidence, Keeps, Near, by_marks
from ..chat import blocks_of, joined, said_of_anthropic
from ..claude_history import SessionSteps
from ..claude_lines import MAIN, session_of
from ..conversations import records
from ..documents import Document, Node
from ..nodes import moment
from ..parts import usage_of
from ..steps import Ran, Said

_UNSENT = {"summary", "file-history-snapshot", "queue-operation", "ai-title", "custom-title", "last-prompt", "progress", "pr-link", "tag",
           "agent-name", "agent-color", "agent-setting", "mode", "permission-mode", "worktree-state", "attribution-snapshot", "rate_limit_event",
           "tool_progress", "stream_event", "task-summary", "tool_use_summary", "auth_status"}  # fmt: skip
"""Types of lines that nothing of is in a prompt."""

_NOTES = {"init", "turn_duration", "local_command", "informational", "api_error", "stop_hook_summary", "status", "hook_started",
          "hook_response", "away_summary", "bridge_status", "scheduled_task_fire", "memory_saved", "api_metrics", "task_started", "task_progress",
          "task_notification", "files_persisted", "hook_progress", "session_state_changed"}  # fmt: skip
"""Subtypes of system lines that the model does not see."""

_CUT = re.compile(
    r"\.\.\. \[\d+ (?:lines|characters) truncated\] \.\.\.|^<persisted-output>|^\[Output truncated", re.MULTILINE
)
_SUB_AGENT = "sub-agent"
_META = (
    ("sessionId", "session_id"),
    ("session_id", "session_id"),
    ("version", "version"),
    ("cwd", "cwd"),
    ("gitBranch", "git_branch"),
)


@register("reader", "claude_code")
class ClaudeCode:
    """One session a file. An answer's lines repeat its message id: they are one turn, and its usage counts once.

    Sub-agents (`isSidechain`, `parent_tool_use_id`, or their own `agent-ID.jsonl`, which is read with its session) are threads. A mark of
    compaction is a ContextReset with the summary that follows it; so is going back to an earlier prompt. A tool's whole output
    (`toolUseResult.stdout`) is `full` where the model saw less. Neither the system prompt nor the tools are recorded; attachments are counted.
    A stream's result line is the outcome, and its cost is in `meta`.

    Source: code.claude.com/docs, "Headless mode" (stream-json); session files as Claude Code 2.1 writes them
    """

    keeps = Keeps(
        results="untruncated",
        also=("cuts", "usage", "times", "errors", "outcome", "reasoning", "threads", "resets", "model"),
        never="the system prompt and the tool definitions, which sessions do not hold; thinking of which only the signature is there",
        tested="Claude Code 2.1.119, published sessions and streams",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        lines = records(document)
        turns = [line for line in lines if line.get("type") in ("user", "assistant")]
        said = any(isinstance(line.get("message"), dict) for line in turns)
        sessions = any("sessionId" in line or "session_id" in line for line in lines)
        return by_marks({"lines of user or assistant with a message": said, "a session's id": sessions})

    def read(self, document: Document) -> Iterator[Trace]:
        """The file's one session; its id is in `meta`."""
        session = session_of(document)
        run = _Session(session.lines)
        meta = {**run.meta, "files": session.files} if session.files else run.meta
        yield run.trace(document, "claude_code", session.lines[0][0], meta=meta, outcome=run.outcome)


class _Session(SessionSteps):
    """One session on its way to a trace."""

    def __init__(self, told: list[tuple[Node, str]]) -> None:
        super().__init__()
        self.meta: dict[str, Any] = {}
        self.outcome: Outcome | None = None
        self.answers: dict[tuple[str, str], list[Node]] = {}
        self.agents: dict[str, str] = {}  # a sub-agent's name, by the call it came from and by its own id
        lines = [(line, thread) for line, thread in told if self.is_new(line)]
        for line, thread in lines:
            self._prepare(line, thread)
        for line, thread in lines:
            self._line(line, thread)

    def _prepare(self, line: Node, thread: str) -> None:
        """Note what has to be known of all lines before the first becomes a step."""
        for key, name in _META:
            if isinstance(line[key].value, str) and line[key].value:
                self.meta.setdefault(name, line[key].value)
        if not isinstance(line["message"].value, dict):
            return
        blocks = blocks_of(line["message"].value)
        if line["type"].value == "assistant":
            self.answers.setdefault((thread, _answer_id(line)), []).append(line)
            for block in blocks:
                if block.get("type") == "tool_use" and isinstance(block.get("input"), dict):
                    self.agents[str(block.get("id"))] = str(block["input"].get("subagent_type") or _SUB_AGENT)
        agent = line["toolUseResult"].value.get("agentId") if isinstance(line["toolUseResult"].value, dict) else None
        if isinstance(agent, str) and blocks:
            self.agents[agent] = self.agents.get(str(blocks[0].get("tool_use_id")), _SUB_AGENT)

    def _line(self, line: Node, thread: str) -> None:
        kind, subtype = line["type"].value, line["subtype"].value
        t = moment(line["timestamp"]) if kind in ("user", "assistant", "attachment") else None
        place = (thread, "agent" if thread == MAIN else self.agents.get(thread, _SUB_AGENT), t)
        if kind == "user" and line.has("message"):
            self._user(line, place)
        elif kind == "assistant" and line.has("message"):
            self._assistant(line, place)
        elif kind == "attachment":
            attachment = line["attachment"]
            queued = attachment["type"].value if isinstance(attachment.value, dict) else None
            if queued == "queued_command" and isinstance(attachment["prompt"].value, str):
                self.became(line, self.say(Said("user", attachment["prompt"].text()), *place))
            else:
                self.unread.kind("attachment", queued)
        elif kind == "result":
            ended = subtype == "success" and line["is_error"].value is not True
            self.outcome = Outcome(success=ended, said_by="claude_code")
            for key in ("total_cost_usd", "num_turns", "duration_ms", "usage", "modelUsage"):
                if line[key].value is not None:
                    self.meta[key] = line[key].value
        elif kind == "system" and subtype == "compact_boundary":
            self.boundary = line
        elif kind == "system" and str(subtype) not in _NOTES:
            self.unread.kind("system line", subtype)
        elif kind != "system" and str(kind) not in _UNSENT:
            self.unread.kind("line", kind)

    def _user(self, line: Node, place: tuple[str, str, float | None]) -> None:
        told = said_of_anthropic(line["message"], self.unread)
        if line["isCompactSummary"].value is True:
            self.reset(line, "\n".join(said.text for said in told))
        elif line["isVisibleInTranscriptOnly"].value is not True:
            if place[0] == MAIN and self.boundary is not None:
                self.reset(line)
            for said in told:
                if said.role == "tool":
                    self.ran[said.call_id] = _ran(line, said)
                else:
                    self.went_back(line, place[0])
                self.became(line, self.say(said, *place))

    def _assistant(self, line: Node, place: tuple[str, str, float | None]) -> None:
        lines = self.answers.pop((place[0], _answer_id(line)), None)
        if lines is None:
            return
        if line["message"]["model"].value == "<synthetic>":
            self.unread.add("message of Claude Code in the model's place")
            return
        if place[0] == MAIN and self.boundary is not None:
            self.reset(line)
        messages = [part["message"] for part in lines]
        turn, *results = joined([said for message in messages for said in said_of_anthropic(message, self.unread)])
        reasons = [message["stop_reason"].text_or_none() for message in messages]
        usages = [usage for message in messages if (usage := usage_of(message["usage"])) is not None]
        if usages and not any(reasons):
            self.unread.add("count of output tokens from before the answer ended")
        reason = next(filter(None, reversed(reasons)), None)
        usage = max(usages, key=lambda usage: usage.completion_tokens, default=None)
        model = messages[0]["model"].text_or_none()
        index = self.say(turn, *place, model=model, finish_reason=reason, usage=usage)
        for part in lines:
            self.became(part, index)
        for said in results:
            self.say(said, *place)


def _answer_id(line: Node) -> str:
    return line["message"]["id"].text_or_none() or f"{line.line} {line.path}"


def _ran(line: Node, said: Said) -> Ran:
    """A tool's run as recorded beside the text that the model saw: whole output, duration, and if it was cut."""
    result = line["toolUseResult"] if line.has("toolUseResult") else line["tool_use_result"]
    cut, whole, took = _CUT.search(said.text) is not None, "", None
    if isinstance(result.value, dict):
        whole = "\n".join(text for key in ("stdout", "stderr") if isinstance(text := result[key].value, str) and text)
        cut = cut or result["truncated"].value is True
        times = (result[key].value for key in ("durationMs", "totalDurationMs"))
        took = next((value / 1000 for value in times if type(value) in (int, float)), None)
    longer = len(whole) > len(said.text)
    return Ran(whole if longer else None, duration_s=took, cut=cut and not longer)
