"""Rollouts of Codex CLI: the files below `~/.codex/sessions`, one a session, as it writes them now and as it did at first."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from ...model import ContextReset, ModelTurn, SystemTurn, Usage, UserTurn, compact_json, text_of
from .. import Confidence, Document, Keeps, Near, Node, Traces, as_dict, by_marks, register, strict_json
from ..conversations import records
from ..nodes import inside, moment
from ..parts import usage_of
from ..responses import AnswerItems, is_item, said_of_items
from ..steps import Ran, Said, Steps

_LINES = {"session_meta", "turn_context", "response_item", "event_msg", "compacted"}
_EARLY = {"id", "timestamp", "instructions"}
"""The first line of a session as Codex wrote it at first."""
_ENDS = ("exec_command_end", "mcp_tool_call_end", "patch_apply_end")
"""Events that say how a tool's run ended."""
_MIRRORS = {"agent_message", "agent_reasoning", "agent_reasoning_raw_content", "agent_reasoning_section_break", "context_compacted", "web_search_end",
            "view_image_tool_call", "image_generation_end", "entered_review_mode", "exited_review_mode", "task_started", "task_complete",
            "turn_started", "turn_complete", "thread_name_updated", "item_completed", "thread_settings_applied", "turn_aborted", *_ENDS}  # fmt: skip
"""Events that say again what an item says, or nothing that is in a prompt."""
_META = ("cwd", "originator", "cli_version", "source", "git", "forked_from_id", "agent_nickname", "agent_role", "model_provider")  # fmt: skip
_CODE = re.compile(r"^(?:Process exited with code|Exit code:) *(-?\d{1,9})$", re.MULTILINE)
_TOOK = re.compile(r"^Wall time: *(\d{1,9}(?:\.\d{1,9})?) seconds$", re.MULTILINE)
_CUT = re.compile(r"…\d+ (?:tokens|chars) truncated…|^\[\.\.\. (?:omitted|removed|output truncated)\b", re.MULTILINE)
_BODY = re.compile(r"^Output:\n", re.MULTILINE)
_ABSENT = "token count of a call that is not in the session"


@register("reader", "codex")
class Codex:
    """One session a file. What Codex sends is told item by item: the items between two outputs are one turn; a token count is the usage of the turn
    before it, or of the one after it where the file counts first (0.40). What the turns lack of the session's total is counted. Base instructions
    are a system turn. `compacted` is a ContextReset: what the new history holds of the old is kept, the rest is the summary; taking turns back is
    one too. A command failed where its exit code is not 0; its whole output is `full` where the session has it. Reasoning is encrypted unless
    summaries were asked for; that is counted. A sub-agent's session is a file, and a trace, of its own.

    Source: github.com/openai/codex, `codex-rs/protocol/src/protocol.rs` (RolloutItem) and `models.rs` (ResponseItem)
    """

    keeps = Keeps(
        results="untruncated",
        also=("cuts", "usage", "times", "errors", "reasoning", "resets", "model"),
        never="encrypted reasoning, tool definitions, how the run ended",
        tested="Codex CLI 0.40.0, a published session, and 0.125.0, written by hand after the source",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        lines = records(document)
        named = [line for line in lines if str(line.get("type")) in _LINES]
        typed = [line for line in named if isinstance(line.get("payload"), dict)]
        early = bool(lines) and lines[0].keys() >= _EARLY
        items = any(is_item(line.get("payload") or line) for line in typed or lines)
        what = "lines of type session_meta, response_item, event_msg, turn_context or compacted"
        return by_marks({what: bool(named or early), "an item of the Responses interface": items})

    def read(self, document: Document) -> Traces:
        """The file's one session; its id is in `meta`."""
        lines = document.values()
        run = _Rollout(lines)
        yield run.trace(document, "codex", lines[0])


class _Rollout(Steps):
    def __init__(self, lines: list[Node]) -> None:
        super().__init__()
        self.model: str | None = None
        self.answer = AnswerItems(self.unread)
        self.begun: float | None = None
        self.totals: Any = None
        self.whole = 0  # the input tokens of the session's earlier runs
        self.counts_first = _counts_first(lines)
        self.counted: Usage | None = None  # the count of the answer that is to come, where counts come first
        self.prompts: list[int] = []  # the user turns that a person typed
        events = [line["payload"] for line in lines if line["type"].value == "event_msg"]
        ended = [event for event in events if inside(event, "type").value in _ENDS]
        self.ends = {event["call_id"].text(): event for event in ended if isinstance(event["call_id"].value, str)}
        for line in lines:
            self._line(line, moment(line["timestamp"]))
        self._end()
        self.unread.add(_ABSENT, int(self.counted is not None))
        if isinstance(self.totals, dict):
            usages = [step.usage for step in self.steps if isinstance(step, ModelTurn) and step.usage is not None]
            missing = self.whole + _inputs(self.totals) - sum(usage.prompt_tokens for usage in usages)
            self.unread.add("prompt token of the session's total that no turn has", max(0, missing))
            self.unread.add("prompt token of turns above the session's total", max(0, -missing))

    def _line(self, line: Node, t: float | None) -> None:
        kind, payload = line["type"].value, line["payload"]
        if kind == "session_meta" or (not line.has("payload") and line.object().keys() >= _EARLY):
            self._session(payload if line.has("payload") else line)
        elif kind == "response_item":
            self._item(payload, t)
        elif kind == "event_msg":
            self._event(payload, t)
        elif kind == "compacted":
            self._compacted(payload, t)
        elif kind == "turn_context":
            self.model = payload["model"].text_or_none() or self.model
        elif not line.has("payload") and line.has("type"):
            self._item(line, t)
        elif not line.has("record_type"):
            self.unread.kind("line", kind)

    def _session(self, meta: Node) -> None:
        if "session_id" in self.meta:  # a session that another was forked from
            return
        self.meta["session_id"] = meta["id"].text()
        self.meta |= {key: meta[key].value for key in _META if meta[key].value is not None}
        if meta["base_instructions"].value is not None:
            self.say(Said("system", meta["base_instructions"]["text"].text()))
        self.tools([tool.value for tool in meta["dynamic_tools"].items()])

    def _item(self, item: Node, t: float | None) -> None:
        if self.answer.takes(item):
            self.begun = t if self.begun is None else self.begun
            return
        self._end()
        if item["type"].value == "ghost_snapshot":  # a commit to go back to
            return
        for said in self._told([item]):
            if said.role == "tool":
                self.ran[said.call_id] = _ran(said, self.ends.get(said.call_id))
            self.say(said, agent=said.name or "agent" if said.role == "user" else "agent", t=t)

    def _told(self, items: list[Node]) -> list[Said]:
        return [said for group in said_of_items(items, self.unread) for said in group]

    def _end(self) -> None:
        for said in self.answer.answer():
            usage = self.counted if said.role == "assistant" else None
            self.counted = self.counted if usage is None else None
            self.say(said, t=self.begun, model=self.model, usage=usage)
        self.answer, self.begun = AnswerItems(self.unread), None

    def _event(self, event: Node, t: float | None) -> None:
        kind = event["type"].value
        if kind == "token_count":
            self._count(event["info"])
        elif kind == "user_message":
            last = next((step for step in reversed(self.steps) if isinstance(step, UserTurn)), None)
            if last is not None and text_of(last.content).strip() == str(event["message"].value).strip():
                self.prompts.append(last.index)
        elif kind == "thread_rolled_back":
            turns = event["num_turns"].count() or 0
            self._end()
            if 0 < turns <= len(self.prompts):
                first = self.prompts[-turns]
                del self.prompts[-turns:]
                self.add(ContextReset(index=self.index, t=t, kept=tuple(range(first))))
            else:
                self.unread.add("mark of turns taken back that are not in the session")
        elif kind == "error":
            self.meta.setdefault("errors", []).append(event["message"].value)
        elif str(kind) not in _MIRRORS:
            self.unread.kind("event", kind)

    def _count(self, info: Node) -> None:
        """A token count as the usage of the turn before it, or after it where the session counts first; the same count may come twice."""
        if info.value is None or info["total_token_usage"].value == self.totals:
            return
        self._end()
        before, self.totals = self.totals, info["total_token_usage"].value
        if isinstance(before, dict) and isinstance(self.totals, dict) and _inputs(self.totals) < _inputs(before):
            self.whole += _inputs(before)  # the session was taken up again, and counts from the beginning
        turn = next((step for step in reversed(self.steps) if isinstance(step, ModelTurn)), None)
        usage = usage_of(info["last_token_usage"])
        if usage is None:
            return
        if self.counts_first:
            self.unread.add(_ABSENT, int(self.counted is not None))
            self.counted = usage
        elif turn is None or turn.usage is not None:
            self.unread.add(_ABSENT)
        else:
            self.steps[turn.index] = msgspec.structs.replace(turn, usage=usage)

    def _compacted(self, mark: Node, t: float | None) -> None:
        """The new history as what it holds of the old, and the rest as the summary; without it, Codex keeps what was typed."""
        self._end()
        summary, kept = mark["message"].text_or_none() or "", set(self.prompts)
        if mark["replacement_history"].value is not None:
            told = self._told(mark["replacement_history"].items())
            for said in told:
                self.unread.parts(said.content)
            turns = (step for step in self.steps if isinstance(step, SystemTurn | UserTurn | ModelTurn))
            places = {text_of(step.content): step.index for step in turns}
            kept = {places[said.text] for said in told if said.text in places}
            summary = "\n".join(said.text for said in told if said.text and said.text not in places) or summary
        self.add(ContextReset(index=self.index, t=t, summary=summary or None, kept=tuple(sorted(kept))))


def _inputs(total: dict[str, Any]) -> int:
    count = total.get("input_tokens")
    return count if type(count) is int else 0


def _counts_first(lines: list[Node]) -> bool:
    """True if the session writes an answer's token count before the answer's items, as Codex 0.40 does: most counts stand after an output or a prompt
    and before an item of the model's. Empty ones and repeated ones, with which later versions begin a turn, say nothing."""
    told: list[bool | None] = []  # the model's items (True), others (False) and counts (None), in order
    total: Any = None
    for line in lines:
        held = inside(line, "payload")
        kind, role = inside(held, "type").value, inside(held, "role").value
        if line["type"].value == "response_item" and isinstance(held.value, dict):
            told.append(role == "assistant" or str(kind).endswith("_call") or kind == "reasoning")
        elif kind == "token_count" and (count := inside(held, "info", "total_token_usage").value) not in (None, total):
            total = count
            told.append(None)
    around = [(before, after) for before, at, after in zip(told, told[1:], told[2:], strict=False) if at is None]
    return around.count((False, True)) > sum(before is True for before, _ in around)


def _ran(said: Said, end: Node | None) -> Ran:
    """A tool's run by its output and by the event of its end: exit code, time, structured value, and the whole output where it was cut."""
    text = said.text
    envelope = as_dict(strict_json(text)) if text.startswith("{") else {}
    metadata, start = as_dict(envelope.get("metadata")), _BODY.search(text)
    head = start.end() if start else 0
    stated, wall = _CODE.search(text, 0, head), _TOOK.search(text, 0, head)
    code = int(stated.group(1)) if stated else metadata.get("exit_code")
    took, cut = float(wall.group(1)) if wall else metadata.get("duration_seconds"), _CUT.search(text) is not None
    if end is None:
        return Ran(failed=code not in (0, None), duration_s=_seconds(took), cut=cut)
    fine, error = as_dict(inside(end, "result", "Ok").value), inside(end, "result", "Err").value
    error = error if isinstance(error, str) else None
    code = end["exit_code"].value if end["exit_code"].value is not None else code
    broken = end["success"].value is False or True in (fine.get("isError"), fine.get("is_error"))
    output, whole = end["aggregated_output"].value, None
    if cut and isinstance(output, str) and not _CUT.search(output) and len(output) > len(text) - head:
        whole = compact_json({**envelope, "output": output}) if envelope else text[:head] + output
    return Ran(
        data=fine.get("structuredContent") or fine.get("structured_content"),
        whole=whole,
        failed=broken or code not in (0, None) or error is not None,
        error=error,
        duration_s=_seconds(end["duration"].value, took),
        cut=cut and whole is None,
    )


def _seconds(*told: Any) -> float | None:
    """The first of some durations that can be read: a number of seconds, or whole seconds and nanoseconds."""
    for value in told:
        if type(value) in (int, float):
            return float(value)
        if isinstance(value, dict) and type(value.get("secs")) is int and type(value.get("nanos")) is int:
            return float(value["secs"] + value["nanos"] / 1e9)
    return None
