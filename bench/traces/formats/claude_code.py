"""Sessions of Claude Code: the files below `~/.claude/projects`, those of the web (`loglines`), and what `claude -p` writes as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from ...model import ContextEdit, ContextReset, ModelTurn, Outcome, ToolResult
from .. import Confidence, Document, Keeps, Near, Node, PartOf, Traces, by_marks, dicts, register, values_of
from ..chat import blocks_of, joined, said_of_anthropic
from ..conversations import records
from ..nodes import inside, moment
from ..parts import usage_of
from ..steps import Ran, Said, Steps

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
_CLEARED = "[Old tool result content cleared]"
_SUB_AGENT, MAIN = "sub-agent", "main"
_META = {"sessionId": "session_id", "session_id": "session_id", "version": "version", "cwd": "cwd", "gitBranch": "git_branch"}  # fmt: skip
_ENDED = ("total_cost_usd", "num_turns", "duration_ms", "usage", "modelUsage")

_Place = tuple[str, str, float | None]
"""The thread, agent and time of a line."""


@register("reader", "claude_code")
class ClaudeCode:
    """One session a file. An answer's lines repeat its message id: they are one turn, and its usage counts once.

    Sub-agents (`isSidechain`, `parent_tool_use_id`, or their own `agent-ID.jsonl`, which is read with its session) are threads. A mark of
    compaction is a ContextReset with the summary that follows it; so is going back to an earlier prompt. Results that were
    cleared on the way (`microcompact_boundary`) are a ContextEdit. A tool's whole output
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
        lines = dicts(document.first.get("loglines")) or records(document)
        turns = [line for line in lines if line.get("type") in ("user", "assistant")]
        said = any("parts" not in line["message"] for line in turns if isinstance(line.get("message"), dict))
        sessions = any({"sessionId", "session_id"} & line.keys() for line in lines) or "loglines" in document.first
        return by_marks({"lines of user or assistant with a message": said, "a session's id": sessions})

    def read(self, document: Document) -> Traces:
        """The file's one session; its id is in `meta`."""
        lines, files = _session_of(document)
        run = _Session(lines)
        run.meta |= {"files": files} if files else {}
        yield run.trace(document, "claude_code", lines[0][0])


class _Session(Steps):
    """One session on its way to a trace: the chain of its lines' parents shows where it was compacted, or gone back in."""

    def __init__(self, told: list[tuple[Node, str]]) -> None:
        super().__init__()
        self.answers: dict[tuple[str, str], list[Node]] = {}
        self.agents: dict[str, str] = {}  # a sub-agent's name, by the call it came from and by its own id
        self.boundary: Node | None = None  # the mark of compaction that waits for its summary
        self.parents: dict[str, object] = {}
        self.step_of: dict[str, int] = {}
        lines = [(line, thread) for line, thread in told if self._is_new(line)]
        for line, thread in lines:
            self._prepare(line, thread)
        for line, thread in lines:
            self._line(line, thread)

    def _is_new(self, line: Node) -> bool:
        """True if a line was not there before (a session that is taken up again may repeat lines); it joins the chain."""
        uuid = line["uuid"].value
        if not isinstance(uuid, str):
            return True
        known = uuid in self.parents
        self.parents.setdefault(uuid, line["parentUuid"].value or line["logicalParentUuid"].value)
        return not known

    def _prepare(self, line: Node, thread: str) -> None:
        """Note what has to be known of all lines before the first becomes a step."""
        for key, name in _META.items():
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
        agent = inside(line, "toolUseResult", "agentId").value
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
            queued, prompt = inside(line, "attachment", "type").value, inside(line, "attachment", "prompt").value
            if queued == "queued_command" and isinstance(prompt, str):
                self._became(line, self.say(Said("user", prompt), *place))
            else:
                self.unread.kind("attachment", queued)
        elif kind == "result":
            ended = subtype == "success" and line["is_error"].value is not True
            self.outcome = Outcome(success=ended, said_by="claude_code")
            self.meta |= {key: line[key].value for key in _ENDED if line[key].value is not None}
        elif kind == "system" and subtype == "compact_boundary":
            self.boundary = line
        elif kind == "system" and subtype == "microcompact_boundary":
            self._cleared(line, thread)
        elif kind == "system" and str(subtype) not in _NOTES:
            self.unread.kind("system line", subtype)
        elif kind != "system" and str(kind) not in _UNSENT:
            self.unread.kind("line", kind)

    def _user(self, line: Node, place: _Place) -> None:
        told = said_of_anthropic(line["message"], self.unread)
        if line["isCompactSummary"].value is True:
            self._reset(line, "\n".join(said.text for said in told))
        elif line["isVisibleInTranscriptOnly"].value is not True:
            self._compacted(line, place)
            for said in told:
                if said.role == "tool":
                    self.ran[said.call_id] = _ran(line, said)
                else:
                    self._went_back(line, place[0])
                self._became(line, self.say(said, *place))

    def _assistant(self, line: Node, place: _Place) -> None:
        lines = self.answers.pop((place[0], _answer_id(line)), None)
        if lines is None:
            return
        if line["message"]["model"].value == "<synthetic>":
            self.unread.add("message of Claude Code in the model's place")
            return
        self._compacted(line, place)
        messages = [part["message"] for part in lines]
        turn, *results = joined([said for message in messages for said in said_of_anthropic(message, self.unread)])
        reasons = [reason for message in messages if (reason := message["stop_reason"].text_or_none())]
        usages = [usage for message in messages if (usage := usage_of(message["usage"])) is not None]
        self.unread.add("count of output tokens from before the answer ended", bool(usages) and not reasons)
        usage = max(usages, key=lambda usage: usage.completion_tokens, default=None)
        model, reason = messages[0]["model"].text_or_none(), reasons[-1] if reasons else None
        index = self.say(turn, *place, model=model, finish_reason=reason, usage=usage)
        for part in lines:
            self._became(part, index)
        self.tell(results, *place)

    # ---- compacted, or gone back in

    def _became(self, line: Node, index: int) -> None:
        if isinstance(line["uuid"].value, str):
            self.step_of[line["uuid"].value] = index

    def _compacted(self, line: Node, place: _Place) -> None:
        if place[0] == MAIN and self.boundary is not None:
            self._reset(line)

    def _reset(self, line: Node, summary: str | None = None) -> None:
        """Add the history as compaction left it: the summary, and the segment that the mark says it kept."""
        boundary, self.boundary = self.boundary, None
        segment = inside(boundary or line.made(None), "compactMetadata", "preservedSegment")
        ends = [str(inside(segment, key).value) for key in ("headUuid", "tailUuid")]
        places = [self.step_of[end] for end in ends if end in self.step_of]
        kept = tuple(range(places[0], places[1] + 1)) if len(places) == 2 else ()
        reset = ContextReset(index=self.index, t=moment(line["timestamp"]), summary=summary, kept=kept)
        self._became(line, self.add(reset))

    def _cleared(self, line: Node, thread: str) -> None:
        """Add the clearing of the results that a mark names: the prompts after it show a notice in their place."""
        named = inside(line, "microcompactMetadata", "compactedToolIds").value
        calls = set(map(str, named)) if isinstance(named, list) else set()
        mine = (step for step in self.steps if isinstance(step, ToolResult) and step.thread == thread)
        if shown := {step.index: _CLEARED for step in mine if step.call_id in calls}:
            edit = ContextEdit(index=self.index, t=moment(line["timestamp"]), thread=thread, shown=shown)
            self._became(line, self.add(edit))

    def _went_back(self, line: Node, thread: str) -> None:
        """Add a reset where the chain above a prompt leaves out the thread's last turn: it was typed after going back."""
        mine = (step for step in reversed(self.steps) if step.thread == thread)
        last = next((step for step in mine if isinstance(step, ModelTurn | ContextReset)), None)
        above = line["parentUuid"].value
        if not isinstance(last, ModelTurn) or not isinstance(above, str):
            return
        chain: set[str] = set()
        while isinstance(above, str) and above in self.parents and above not in chain:
            if self.step_of.get(above) == last.index:  # nearly always at once: the chain of each prompt is long
                return
            chain.add(above)
            above = self.parents[above]
        if above is None:
            kept = {self.step_of[uuid] for uuid in chain if uuid in self.step_of}
            turns = [step for step in self.steps if step.index in kept and isinstance(step, ModelTurn)]
            calls = {call.id for turn in turns for call in turn.tool_calls}
            kept |= {step.index for step in self.steps if isinstance(step, ToolResult) and step.call_id in calls}
            self.add(ContextReset(index=self.index, t=moment(line["timestamp"]), kept=tuple(sorted(kept))))


def _answer_id(line: Node) -> str:
    return line["message"]["id"].text_or_none() or f"{line.line} {line.path}"


def _ran(line: Node, said: Said) -> Ran:
    """A tool's run as recorded beside the text that the model saw: whole output, duration, and if it was cut."""
    result = line["toolUseResult"] if line.has("toolUseResult") else line["tool_use_result"]
    texts = (inside(result, key).value for key in ("stdout", "stderr"))
    whole = "\n".join(text for text in texts if isinstance(text, str) and text)
    cut = _CUT.search(said.text) is not None or inside(result, "truncated").value is True
    times = (inside(result, key).value for key in ("durationMs", "totalDurationMs"))
    took = next((value / 1000 for value in times if type(value) in (int, float)), None)
    longer = len(whole) > len(said.text)
    return Ran(whole if longer else None, duration_s=took, cut=cut and not longer)


# ---------------------------------------------------------------- the lines of a session's files


def _session_of(document: Document) -> tuple[list[tuple[Node, str]], dict[str, str]]:
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
    if len(nodes) == 1 and nodes[0].has("loglines"):  # a session of the web, as its address gives it
        nodes = nodes[0]["loglines"].items()
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
