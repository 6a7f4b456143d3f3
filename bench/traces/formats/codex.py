"""Rollouts of Codex CLI: the files below `~/.codex/sessions`, one a session."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from ...model import ContextReset, ModelTurn, SystemTurn, Usage, UserTurn, compact_json, text_of
from .. import Confidence, Document, Traces, as_dict, certain_if, register, strict_json
from ..markers import cut_in
from ..messages import answer_of_items, is_answers, is_item, messages
from ..records import dict_in, fields_of, filled, objects_of, text, time_of
from ..steps import Ran, ReadMessage, Steps
from ..usage import usage_in

_ENDS = ("exec_command_end", "mcp_tool_call_end", "patch_apply_end")
"""Events that say how a tool's run ended."""
_CODE = re.compile(r"^(?:Process exited with code|Exit code:) *(-?\d{1,9})$", re.MULTILINE)
_TOOK = re.compile(r"^Wall time: *(\d{1,9}(?:\.\d{1,9})?) seconds$", re.MULTILINE)
_BODY = re.compile(r"^Output:\n", re.MULTILINE)
_MIRRORS = {
    "agent_message", "agent_reasoning", "agent_reasoning_raw_content", "agent_reasoning_section_break",
    "context_compacted", "web_search_end", "view_image_tool_call", "image_generation_end", "entered_review_mode",
    "exited_review_mode", "task_started", "task_complete", "turn_started", "turn_complete", "thread_name_updated",
    "item_completed", "thread_settings_applied", "turn_aborted", *_ENDS,
}  # fmt: skip
"""Events that say again what an item says, or nothing that is in a prompt."""
_META = ("cwd", "originator", "cli_version", "source", "git", "forked_from_id", "agent_nickname", "agent_role",
         "model_provider")  # fmt: skip
_ABSENT = "token count of a call that is not in the session"


_LINE = {"type": str, "timestamp": object, "payload": dict}
Line = dict[str, Any]


@register("reader", "codex")
class Codex:
    """One session a file. What Codex sends is recorded item by item: the items between two outputs
    are one turn; a token count is the usage of the turn before it, or of the one after it where the
    file counts first (0.40). Base instructions are a system turn. `compacted` is a ContextReset:
    what the new history holds of the old is kept, the rest is the summary; taking turns back is one
    too. A command failed where its exit code is not 0; its whole output is `full` where the session
    has it. Reasoning is encrypted unless summaries were asked for; that is counted. A sub-agent's
    session is a file, and a trace, of its own.

    Not kept: encrypted reasoning, tool definitions, how the run ended.

    Source: github.com/openai/codex, `codex-rs/protocol/src/protocol.rs` (RolloutItem) and
    `models.rs` (ResponseItem). Tested: Codex CLI 0.40.0, a published session, and 0.125.0, written
    by hand after the source
    """

    def sniff(self, document: Document) -> Confidence:
        lines = document.first_objects
        items = (line.get("payload") for line in lines if line.get("type") == "response_item")
        return certain_if(any(map(is_item, items)))

    def read(self, document: Document) -> Traces:
        """The file's one session; its id is in `meta`."""
        run = _Rollout()
        run.add_all(objects_of(document, run.unread))
        yield run.trace(document, "codex")


class _Rollout(Steps):
    """One session on its way to a trace."""

    def __init__(self) -> None:
        super().__init__()
        self.answer: list[Line] = []  # the items of the answer that is being read
        self.total: Any = None  # the last count of the session's tokens
        self.counted: Usage | None = (
            None  # the count of the answer that is to come, where counts come first
        )
        self.prompts: list[int] = []  # the user turns that a person typed

    def add_all(self, objects: list[dict[str, Any]]) -> None:
        """Add the lines as steps."""
        lines = [{"payload": {}, **fields_of(value, _LINE, self.unread)} for value in objects]
        self.counts_first = _counts_first(lines)
        events = [line["payload"] for line in lines if line.get("type") == "event_msg"]
        self.ends = {
            str(event.get("call_id")): event for event in events if event.get("type") in _ENDS
        }
        for line in lines:
            self._add(line, line["payload"], time_of(line.get("timestamp"), self.unread))
        self._end_answer()
        self.unread.add(_ABSENT, int(self.counted is not None))

    def _add(self, line: Line, payload: dict[str, Any], t: float | None) -> None:
        """Add a line: an item, an event, or what holds for the turns from here on."""
        kind = line.get("type")
        if _is_of_model(line):
            self.answer.append(line)
        elif kind == "response_item":
            self._end_answer()
            self._item(payload, t)
        elif kind == "event_msg":
            self._event(payload, t)
        elif kind == "compacted":
            self._compacted(payload, t)
        elif kind == "session_meta":
            self._session(payload)
        elif kind == "turn_context":
            self.model = text(payload.get("model")) or self.model
        else:
            self.unread.kind("line", kind)

    def _session(self, meta: dict[str, Any]) -> None:
        if "session_id" in self.meta:  # a session that another was forked from
            return
        self.meta["session_id"] = str(meta.get("id"))
        self.meta |= filled(meta, _META)
        if instructions := text(dict_in(meta, "base_instructions").get("text")):
            self.say(ReadMessage("system", instructions))
        tools = meta.get("dynamic_tools")
        self.tools(tools if isinstance(tools, list) else [])

    def _item(self, item: dict[str, Any], t: float | None) -> None:
        """Add an item that is not the model's: a message, or the output of a call."""
        if item.get("type") == "ghost_snapshot":  # a commit to go back to
            return
        for message in messages([item], self.unread):
            if message.role == "tool":
                self.ran[message.call_id] = _tool_run(
                    message.text, self.ends.get(message.call_id, {})
                )
            self.say(
                message,
                agent=message.name if message.role == "user" and message.name else "agent",
                t=t,
            )

    def _end_answer(self) -> None:
        """Add the answer that is being read as a turn, and the results that came within it."""
        lines, self.answer = self.answer, []
        if not lines:
            return
        t = time_of(lines[0].get("timestamp"), self.unread)
        for message in answer_of_items([line["payload"] for line in lines], self.unread):
            if message.role == "assistant":
                message, self.counted = message.with_known(usage=self.counted), None
            self.say(message, t=t)

    # ---- events

    def _event(self, event: dict[str, Any], t: float | None) -> None:
        """Add an event by its type: a count of tokens, or a change of the history."""
        kind = event.get("type")
        if kind == "token_count":
            self._count(dict_in(event, "info"))
        elif kind == "user_message":
            last = next((step for step in reversed(self.steps) if isinstance(step, UserTurn)), None)
            if (
                last is not None
                and text_of(last.content).strip() == str(event.get("message")).strip()
            ):
                self.prompts.append(last.index)
        elif kind == "thread_rolled_back":
            self._take_back(event.get("num_turns"), t)
        elif kind == "error":
            self.meta.setdefault("errors", []).append(event.get("message"))
        elif str(kind) not in _MIRRORS:
            self.unread.kind("event", kind)

    def _take_back(self, turns: Any, t: float | None) -> None:
        self._end_answer()
        if type(turns) is not int or not 0 < turns <= len(self.prompts):
            self.unread.add("mark of turns taken back that are not in the session")
            return
        first = self.prompts[-turns]
        del self.prompts[-turns:]
        self.add(ContextReset, t=t, kept=tuple(range(first)))

    def _count(self, info: dict[str, Any]) -> None:
        """Add a token count as the usage of the turn before it, or after it where the session
        counts first; the same count may come twice."""
        if not info or info.get("total_token_usage") == self.total:
            return
        self._end_answer()
        self.total = info.get("total_token_usage")
        usage = usage_in(info.get("last_token_usage"), self.unread)
        turn = next((step for step in reversed(self.steps) if isinstance(step, ModelTurn)), None)
        if usage is None:
            return
        if self.counts_first:
            self.unread.add(_ABSENT, int(self.counted is not None))
            self.counted = usage
        elif turn is None or turn.usage is not None:
            self.unread.add(_ABSENT)
        else:
            self.steps[turn.index] = msgspec.structs.replace(turn, usage=usage)

    def _compacted(self, mark: dict[str, Any], t: float | None) -> None:
        """Add a reset: what the new history holds of the old is kept, the rest is the summary;
        without a history, Codex keeps what was typed."""
        self._end_answer()
        summary = text(mark.get("message")) or ""
        kept = set(self.prompts)
        history = mark.get("replacement_history")
        if isinstance(history, list):
            turns = (
                step for step in self.steps if isinstance(step, SystemTurn | UserTurn | ModelTurn)
            )
            places = {text_of(step.content): step.index for step in turns}
            texts = [message.text for message in messages(history, self.unread)]
            kept = {places[one] for one in texts if one in places}
            summary = "\n".join(one for one in texts if one and one not in places) or summary
        self.add(ContextReset, t=t, summary=summary or None, kept=tuple(sorted(kept)))


def _is_of_model(line: Line) -> bool:
    """True for an item that the model wrote."""
    return line.get("type") == "response_item" and is_answers(line["payload"])


def _counts_first(lines: list[Line]) -> bool:
    """True if the session writes an answer's token count before the answer's items, as Codex 0.40
    does: most counts stand after an output or a prompt and before an item of the model's. Empty
    ones and repeated ones, with which later versions begin a turn, say nothing."""
    order: list[bool | None] = []  # the model's items (True), others (False) and counts (None)
    total: Any = None
    for line in lines:
        count = dict_in(line, "payload", "info").get("total_token_usage")
        if line.get("type") == "response_item":
            order.append(_is_of_model(line))
        elif line["payload"].get("type") == "token_count" and count not in (None, total):
            total = count
            order.append(None)
    around = [
        (before, after)
        for before, at, after in zip(order, order[1:], order[2:], strict=False)
        if at is None
    ]
    return around.count((False, True)) > sum(before is True for before, _ in around)


def _tool_run(seen: str, end: dict[str, Any]) -> Ran:
    """A tool's run by its output and the event of its end (`{}` without one): exit code, time,
    structured value, and the whole output where it was cut."""
    envelope = as_dict(strict_json(seen)) if seen.startswith("{") else {}
    metadata, body = dict_in(envelope, "metadata"), _BODY.search(seen)
    head = body.end() if body else 0
    stated, wall = _CODE.search(seen, 0, head), _TOOK.search(seen, 0, head)
    code = int(stated.group(1)) if stated else metadata.get("exit_code")
    code = code if end.get("exit_code") is None else end["exit_code"]
    took = float(wall.group(1)) if wall else metadata.get("duration_seconds")
    result = dict_in(end, "result", "Ok")
    error = text(dict_in(end, "result").get("Err"))
    broken = end.get("success") is False or True in (result.get("isError"), result.get("is_error"))
    output, full = text(end.get("aggregated_output")), None
    if output and len(output) > len(seen) - head and cut_in(seen) and not cut_in(output):
        full = compact_json({**envelope, "output": output}) if envelope else seen[:head] + output
    return Ran(
        data=result.get("structuredContent") or result.get("structured_content"),
        full=full,
        failed=broken or code not in (0, None) or error is not None,
        error=error,
        duration_s=_seconds(end.get("duration"), took),
    )


def _seconds(*values: Any) -> float | None:
    """The first of some durations that can be read: seconds, or whole seconds and nanoseconds."""
    for value in values:
        if type(value) in (int, float):
            return float(value)
        seconds, nanos = dict_in(value).get("secs"), dict_in(value).get("nanos")
        if type(seconds) is int and type(nanos) is int:
            return float(seconds + nanos / 1e9)
    return None
