"""Sessions of Claude Code: the files below `~/.claude/projects`, those of the web (`loglines`), and what
`claude -p` writes as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

from ...model import ContextEdit, ContextReset, ModelTurn, Outcome, ToolResult, Usage
from .. import Confidence, Document, Keeps, Traces, certain_if, register
from ..claude_code_files import MAIN, agent_files, loglines, refuse_part, session_id, threads
from ..content import Blocks
from ..records import dict_in, objects_of, text, time_of, typed
from ..session_log import claude_code_run, usage_beside_cache
from ..steps import Said, Steps

_NOT_IN_PROMPTS = {"summary", "file-history-snapshot", "queue-operation", "ai-title", "custom-title", "last-prompt", "progress", "pr-link", "tag",
                   "agent-name", "agent-color", "agent-setting", "mode", "permission-mode", "worktree-state", "attribution-snapshot",
                   "rate_limit_event", "tool_progress", "stream_event", "task-summary", "tool_use_summary", "auth_status"}  # fmt: skip
"""Types of lines of which nothing is in a prompt."""
_NOTES = {"init", "turn_duration", "local_command", "informational", "api_error", "stop_hook_summary", "status", "hook_started",
          "hook_response", "away_summary", "bridge_status", "scheduled_task_fire", "memory_saved", "api_metrics", "task_started", "task_progress",
          "task_notification", "files_persisted", "hook_progress", "session_state_changed"}  # fmt: skip
"""Subtypes of system lines that the model does not see."""
_CLEARED = "[Old tool result content cleared]"
_SUB_AGENT = "sub-agent"
_META = {"sessionId": "session_id", "session_id": "session_id", "version": "version", "cwd": "cwd", "gitBranch": "git_branch"}  # fmt: skip
_ENDED = ("total_cost_usd", "num_turns", "duration_ms", "usage", "modelUsage")

Count = Annotated[int, msgspec.Meta(ge=0)]


class CacheCreation(msgspec.Struct):
    """Written tokens by how long the cache keeps them."""

    ephemeral_1h_input_tokens: Count | None = None
    ephemeral_5m_input_tokens: Count | None = None


class LineUsage(msgspec.Struct):
    """The usage that an answer's line repeats."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = None
    cache_creation: CacheCreation | None = None


class Message(msgspec.Struct):
    """The message of a line, in the form of Anthropic's interface."""

    role: str | None = None
    content: Any = None
    id: str | None = None
    type: Any = None
    model: str | None = None
    stop_reason: str | None = None
    stop_sequence: Any = None
    stop_details: Any = None
    usage: LineUsage | None = None
    container: Any = None
    context_management: Any = None


class Line(msgspec.Struct, rename="camel"):
    """One line of a session."""

    type: str = ""
    subtype: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    logical_parent_uuid: str | None = None
    timestamp: Any = None
    message: dict[str, Any] | None = None
    is_sidechain: Any = None
    agent_id: str | None = None
    parent_tool_use_id: str | None = msgspec.field(default=None, name="parent_tool_use_id")
    is_compact_summary: Any = None
    is_visible_in_transcript_only: Any = None
    is_error: Any = msgspec.field(default=None, name="is_error")
    tool_use_result: Any = None
    streamed_result: Any = msgspec.field(default=None, name="tool_use_result")
    attachment: dict[str, Any] | None = None
    compact_metadata: Any = None
    microcompact_metadata: Any = None

    @property
    def result(self) -> Any:
        """What the tool gave, beside what the model saw of it."""
        return self.streamed_result if self.tool_use_result is None else self.tool_use_result


@dataclass
class Entry:
    """A line, its thread, its message where it has one, and its keys as written."""

    line: Line
    thread: str
    message: Message | None
    raw: dict[str, Any]
    number: int

    @property
    def answer_id(self) -> str:
        """The id of the answer that the line is a part of."""
        return (self.message.id if self.message else None) or f"line {self.number}"


@register("reader", "claude_code")
class ClaudeCode:
    """One session a file. An answer's lines repeat its message id: they are one turn, and its usage counts once.

    Sub-agents (`isSidechain`, `parent_tool_use_id`, or their own `agent-ID.jsonl`, which is read with its
    session) are threads. A mark of compaction is a ContextReset with the summary that follows it; so is going
    back to an earlier prompt. Results that were cleared on the way (`microcompact_boundary`) are a
    ContextEdit. A tool's whole output (`toolUseResult.stdout`) is `full` where the model saw less. Neither the
    system prompt nor the tools are recorded; attachments are counted. A stream's result line is the outcome.

    Source: code.claude.com/docs, "Headless mode" (stream-json); session files as Claude Code 2.1 writes them
    """

    keeps = Keeps(
        results="untruncated",
        also=("cuts", "usage", "times", "errors", "outcome", "reasoning", "threads", "resets", "model"),
        never="the system prompt and the tool definitions, which sessions do not hold; thinking of which only the signature is there",
        tested="Claude Code 2.1.119, published sessions and streams",
    )

    def sniff(self, document: Document) -> Confidence:
        lines = loglines(document.first_objects)
        turns = [
            line["message"] for line in lines if line.get("type") in ("user", "assistant") and dict_in(line, "message")
        ]
        session = any({"sessionId", "session_id"} & line.keys() for line in lines) or "loglines" in document.first
        messages = any("parts" not in message for message in turns)
        return certain_if(messages and session)

    def read(self, document: Document) -> Traces:
        """The file's one session; its id is in `meta`."""
        run = _Session(document)
        entries, files = run.entries_of_session()
        run.add_all(entries)
        run.meta |= {"files": files} if files else {}
        yield run.trace(document, "claude_code")


class _Session(Steps):
    """One session on its way to a trace: the chain of its lines' parents shows where it was compacted, or
    gone back in."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.document = document
        self.answers: dict[tuple[str, str], list[Entry]] = {}
        self.agents: dict[str, str] = {}  # a sub-agent's name, by the call it came from and by its own id
        self.boundary: Line | None = None  # the mark of compaction that waits for its summary
        self.parents: dict[str, str | None] = {}
        self.step_of: dict[str, int] = {}

    # ---- the lines of a session's files

    def entries_of_session(self) -> tuple[list[Entry], dict[str, str]]:
        """The lines of the session in the order they happened, and the sha256 of each sub-agent's file read
        with it. A sub-agent's lines come before the result that they led to; its own file belongs to its
        session: PartOf where both are given."""
        lines = self._lines(self.document)
        session = session_id(lines)
        if all(line.get("isSidechain") is True for line in lines if "message" in line):
            refuse_part(self.document, session)
            return self._entries([(line, MAIN) for line in lines]), {}
        ordered: list[tuple[dict[str, Any], str]] = []
        agents = {agent.path.stem.removeprefix("agent-"): agent for agent in agent_files(self.document, session)}
        files: dict[str, str] = {}

        def take(agent: str) -> None:
            file = agents.pop(agent)
            ordered.extend((line, agent) for line in self._lines(file))
            files[file.path.name] = file.sha256

        for line, thread in threads(lines):
            agent = str(dict_in(line, "toolUseResult").get("agentId"))
            if agent in agents:
                take(agent)
            ordered.append((line, thread))
        for agent in list(agents):
            take(agent)
        return self._entries(ordered), files

    def _lines(self, document: Document) -> list[dict[str, Any]]:
        lines = loglines(objects_of(document, self.unread))
        if not lines:
            raise document.fail("expected lines of a session, got none — nothing was recorded")
        return lines

    def _entries(self, lines: list[tuple[dict[str, Any], str]]) -> list[Entry]:
        """The lines that were not there before (a session that is taken up again repeats lines)."""
        entries = []
        for number, (raw, thread) in enumerate(lines):
            line = typed(raw, Line, self.unread)
            if line.uuid is not None:
                if line.uuid in self.parents:
                    continue
                self.parents[line.uuid] = line.parent_uuid or line.logical_parent_uuid
            message = None if line.message is None else typed(line.message, Message, self.unread, "a message")
            entries.append(Entry(line, thread, message, raw, number))
        return entries

    # ---- steps

    def add_all(self, entries: list[Entry]) -> None:
        """Add the lines as steps."""
        for entry in entries:
            self._prepare(entry)
        for entry in entries:
            self._add(entry)

    def _prepare(self, entry: Entry) -> None:
        """Note what has to be known of all lines before the first becomes a step."""
        for key, name in _META.items():
            if value := text(entry.raw.get(key)):
                self.meta.setdefault(name, value)
        if entry.message is None:
            return
        content = entry.message.content
        blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        if entry.line.type == "assistant":
            self.answers.setdefault((entry.thread, entry.answer_id), []).append(entry)
            for block in blocks:
                if block.get("type") == "tool_use" and isinstance(block.get("input"), dict):
                    self.agents[str(block.get("id"))] = str(block["input"].get("subagent_type") or _SUB_AGENT)
        agent = dict_in(entry.line.tool_use_result).get("agentId")
        if isinstance(agent, str) and blocks:
            self.agents[agent] = self.agents.get(str(blocks[0].get("tool_use_id")), _SUB_AGENT)

    def _add(self, entry: Entry) -> None:
        line = entry.line
        if line.type == "user" and entry.message is not None:
            self._user(entry, entry.message)
        elif line.type == "assistant" and entry.message is not None:
            self._assistant(entry)
        elif line.type == "attachment":
            prompt = (line.attachment or {}).get("prompt")
            queued = (line.attachment or {}).get("type")
            if queued == "queued_command" and isinstance(prompt, str):
                self._became(line, self.say(Said("user", prompt), *self._place(entry)))
            else:
                self.unread.kind("attachment", queued)
        elif line.type == "result":
            self.outcome = Outcome(
                success=line.subtype == "success" and line.is_error is not True, said_by="claude_code"
            )
            self.meta |= {key: entry.raw[key] for key in _ENDED if entry.raw.get(key) is not None}
        elif line.type == "system" and line.subtype == "compact_boundary":
            self.boundary = line
        elif line.type == "system" and line.subtype == "microcompact_boundary":
            self._cleared(line, entry.thread)
        elif line.type == "system" and str(line.subtype) not in _NOTES:
            self.unread.kind("system line", line.subtype)
        elif line.type != "system" and line.type not in _NOT_IN_PROMPTS:
            self.unread.kind("line", line.type or None)

    def _place(self, entry: Entry) -> tuple[str, str, float | None]:
        agent = "agent" if entry.thread == MAIN else self.agents.get(entry.thread, _SUB_AGENT)
        return entry.thread, agent, time_of(entry.line.timestamp, self.unread)

    def _blocks(self, messages: list[Message]) -> Blocks:
        blocks = Blocks()
        for message in messages:
            blocks.add_all(message.content, self.unread)
        return blocks

    def _user(self, entry: Entry, message: Message) -> None:
        line, blocks = entry.line, self._blocks([message])
        place = self._place(entry)
        self.unread.add("call in a user's message", len(blocks.calls))
        if line.is_compact_summary is True:
            self._reset(line, Said("user", blocks.content).text)
        elif line.is_visible_in_transcript_only is not True:
            self._compacted(line, place[0])
            for result in blocks.results:
                self.ran[result.call_id] = claude_code_run(line.result, result.text)
                self._became(line, self.say(result, *place))
            if blocks.parts or not blocks.results:
                self._went_back(line, place[0])
                self._became(line, self.say(Said("user", _parts(blocks)), *place))

    def _assistant(self, entry: Entry) -> None:
        entries = self.answers.pop((entry.thread, entry.answer_id), None)
        if entries is None:
            return
        messages = [part.message for part in entries if part.message is not None]
        if messages[0].model == "<synthetic>":
            self.unread.add("message of Claude Code in the model's place")
            return
        place = self._place(entry)
        self._compacted(entry.line, place[0])
        blocks = self._blocks(messages)
        reasons = [message.stop_reason for message in messages if message.stop_reason]
        usages = [usage for message in messages if (usage := _usage(message.usage)) is not None]
        self.unread.add("count of output tokens from before the answer ended", bool(usages) and not reasons)
        usage = max(usages, key=lambda usage: usage.completion_tokens, default=None)
        turn = Said("assistant", blocks.content, tuple(blocks.calls), blocks.reasoning)
        reason = reasons[-1] if reasons else None
        index = self.say(turn, *place, model=messages[0].model, finish_reason=reason, usage=usage)
        for part in entries:
            self._became(part.line, index)
        self.tell(blocks.results, *place)

    # ---- compacted, or gone back in

    def _became(self, line: Line, index: int) -> None:
        if line.uuid is not None:
            self.step_of[line.uuid] = index

    def _compacted(self, line: Line, thread: str) -> None:
        if thread == MAIN and self.boundary is not None:
            self._reset(line)

    def _reset(self, line: Line, summary: str | None = None) -> None:
        """Add the history as compaction left it: the summary, and the segment that the mark says it kept."""
        boundary, self.boundary = self.boundary, None
        segment = dict_in(boundary.compact_metadata if boundary else None, "preservedSegment")
        ends = [str(segment.get(key)) for key in ("headUuid", "tailUuid")]
        places = [self.step_of[end] for end in ends if end in self.step_of]
        kept = tuple(range(places[0], places[1] + 1)) if len(places) == 2 else ()
        t = time_of(line.timestamp, self.unread)
        self._became(line, self.add(ContextReset(index=self.index, t=t, summary=summary, kept=kept)))

    def _cleared(self, line: Line, thread: str) -> None:
        """Add the clearing of the results that a mark names: prompts after it show a notice in their place."""
        named = dict_in(line.microcompact_metadata).get("compactedToolIds")
        calls = set(map(str, named)) if isinstance(named, list) else set()
        results = (step for step in self.steps if isinstance(step, ToolResult) and step.thread == thread)
        if shown := {step.index: _CLEARED for step in results if step.call_id in calls}:
            t = time_of(line.timestamp, self.unread)
            self._became(line, self.add(ContextEdit(index=self.index, t=t, thread=thread, shown=shown)))

    def _went_back(self, line: Line, thread: str) -> None:
        """Add a reset where the chain above a prompt leaves out the thread's last turn: it was typed after
        going back."""
        steps = (step for step in reversed(self.steps) if step.thread == thread)
        last = next((step for step in steps if isinstance(step, ModelTurn | ContextReset)), None)
        above = line.parent_uuid
        if not isinstance(last, ModelTurn) or above is None:
            return
        chain: set[str] = set()
        while above is not None and above in self.parents and above not in chain:
            if self.step_of.get(above) == last.index:  # nearly always at once: the chain of each prompt is long
                return
            chain.add(above)
            above = self.parents[above]
        if above is None:
            kept = {self.step_of[uuid] for uuid in chain if uuid in self.step_of}
            turns = [step for step in self.steps if step.index in kept and isinstance(step, ModelTurn)]
            calls = {call.id for turn in turns for call in turn.tool_calls}
            kept |= {step.index for step in self.steps if isinstance(step, ToolResult) and step.call_id in calls}
            self.add(ContextReset(index=self.index, t=time_of(line.timestamp, self.unread), kept=tuple(sorted(kept))))


def _parts(blocks: Blocks) -> Any:
    """The content of a user's message: its one text, or its parts as they are."""
    from ..parts import simple

    return simple(tuple(blocks.parts))


def _usage(usage: LineUsage | None) -> Usage | None:
    if usage is None:
        return None
    hour = usage.cache_creation.ephemeral_1h_input_tokens if usage.cache_creation else None
    written = usage.cache_creation_input_tokens
    return usage_beside_cache(usage.input_tokens, usage.output_tokens, usage.cache_read_input_tokens, written, hour)
