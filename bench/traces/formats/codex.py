"""Rollouts of Codex CLI: the files below `~/.codex/sessions`, one a session."""

from __future__ import annotations

import itertools
import re
from typing import Any

import msgspec

from ...model import ContextReset, ModelTurn, SystemTurn, Usage, UserTurn, compact_json
from .. import Document, Fields, register
from ..intakes.messages import is_answers, is_item, messages
from ..intakes.usage import usage_in
from ..markers import cut_in
from ..steps import ReadMessage, ToolRun
from ..values import as_dict, as_list, data_of, dicts, fields_of, text
from . import SessionLog

_ENDS = ("exec_command_end", "mcp_tool_call_end", "patch_apply_end")
"""Events that say how a tool's run ended."""
_CODE = re.compile(r"^(?:Process exited with code|Exit code:) *(-?\d{1,9})$", re.MULTILINE)
_BODY = re.compile(r"^Output:\n", re.MULTILINE)
_NOT_IN_PROMPTS = {
    "agent_message", "agent_reasoning", "agent_reasoning_raw_content", "agent_reasoning_section_break",
    "context_compacted", "web_search_end", "view_image_tool_call", "image_generation_end", "entered_review_mode",
    "exited_review_mode", "task_started", "task_complete", "turn_started", "turn_complete", "thread_name_updated",
    "item_completed", "thread_settings_applied", "turn_aborted", "error", *_ENDS,
}  # fmt: skip
"""Events that say again what an item says, or nothing that is in a prompt."""
_ABSENT = "token count of a call that is not in the session"
_LINE = {"type": str, "timestamp": object, "payload": dict}


@register("reader", "codex")
class Codex(SessionLog):
    """One session per file. What Codex sends is recorded item by item: the items between two
    outputs are one turn; a token count is the usage of the turn before it, or of the one after it
    where that has one (0.40 counts first). Base instructions are a system turn. `compacted` is a
    ContextReset: what the new history holds of the old is kept, the rest is the summary, and an
    encrypted one is counted; taking turns back is one too. A command failed where its exit code is
    not 0; its whole output is `full` where the session has it. Reasoning is encrypted unless
    summaries were asked for; that is counted. A sub-agent's session is a file, and a trace, of its
    own.

    Not kept: encrypted reasoning, tool definitions.

    Source: github.com/openai/codex, `codex-rs/protocol/src/protocol.rs` (RolloutItem) and
    `models.rs` (ResponseItem). Tested: Codex CLI 0.40.0 and 0.111.0, published sessions, and
    0.125.0, written by hand after the source
    """

    def __init__(self) -> None:
        super().__init__()
        self.answer: list[Fields] = []  # the items of the answer that is being read
        self.begun: float | None = None  # the time of that answer
        self.total: Any = None  # the last count of the session's tokens
        self.counted: Usage | None = None  # the count of the answer that is to come
        self.prompts: list[int] = []  # the user turns that a person typed

    def marked(self, document: Document) -> object:
        lines = document.first_objects
        items = (line.get("payload") for line in lines if line.get("type") == "response_item")
        return any(map(is_item, items))

    def add_file(self, document: Document) -> None:
        lines = [fields_of(value, _LINE, self.unread) for value in document.objects(self.unread)]
        events = [as_dict(line, "payload") for line in lines if line.get("type") == "event_msg"]
        self.ends = {str(end.get("call_id")): end for end in events if end.get("type") in _ENDS}
        for line in lines:
            self.at(line.get("timestamp"))
            self._add(line, as_dict(line, "payload"))
        self._end_answer()
        self.unread.add(_ABSENT, self.counted is not None)

    def _add(self, line: Fields, payload: Fields) -> None:
        kind = line.get("type")
        if kind == "response_item" and is_answers(payload):
            self.begun = self.begun if self.answer else self.time
            self.answer.append(payload)
        elif kind == "response_item":
            self._end_answer()
            self._item(payload)
        elif kind == "event_msg":
            self._event(payload)
        elif kind == "compacted":
            self._compacted(payload)
        elif kind == "session_meta":
            self._session(payload)
        elif kind == "turn_context":
            self.model = text(payload.get("model")) or self.model
        else:
            self.unread.kind("line", kind)

    def _session(self, meta: Fields) -> None:
        if self.meta:  # a session that another was forked from
            return
        self.meta["session_id"] = str(meta.get("id"))
        if instructions := text(as_dict(meta, "base_instructions").get("text")):
            self.add_message(ReadMessage("system", instructions))
        self.set_tools(as_list(meta.get("dynamic_tools")))

    def _item(self, item: Fields) -> None:
        if item.get("type") == "ghost_snapshot":  # a commit to go back to
            return
        for message in messages([item], self.unread):
            if message.role == "tool":
                end = self.ends.get(message.call_id, {})
                self.ran[message.call_id] = _tool_run(message.content, end)
            self.add_message(message)

    def _end_answer(self) -> None:
        items, self.answer = self.answer, []
        for message in messages(items, self.unread):
            if message.role == "assistant":
                message, self.counted = message.with_known(usage=self.counted), None
            self.add_message(message.with_known(time=self.begun))

    def _event(self, event: Fields) -> None:
        kind = event.get("type")
        if kind == "token_count":
            self._count(as_dict(event, "info"))
        elif kind == "user_message":
            turns = (step for step in reversed(self.steps) if isinstance(step, UserTurn))
            last, typed = next(turns, None), str(event.get("message")).strip()
            if last is not None and last.content.strip() == typed:
                self.prompts.append(last.index)
        elif kind == "thread_rolled_back":
            self._take_back(event.get("num_turns"))
        elif str(kind) not in _NOT_IN_PROMPTS:
            self.unread.kind("event", kind)

    def _take_back(self, turns: Any) -> None:
        self._end_answer()
        if type(turns) is not int or not 0 < turns <= len(self.prompts):
            self.unread.add("mark of turns taken back that are not in the session")
            return
        first = self.prompts[-turns]
        del self.prompts[-turns:]
        self.add(ContextReset, kept=tuple(range(first)))

    def _count(self, info: Fields) -> None:
        """Add a count to the turn before it, or to the one after it if that one has a count."""
        usage = usage_in(info.get("last_token_usage"), self.unread)
        if usage is None or info.get("total_token_usage") == self.total:
            return
        self._end_answer()
        self.total = info.get("total_token_usage")
        turn = next((step for step in reversed(self.steps) if isinstance(step, ModelTurn)), None)
        if turn is not None and turn.usage is None:
            self.steps[turn.index] = msgspec.structs.replace(turn, usage=usage)
        else:
            self.unread.add(_ABSENT, self.counted is not None)
            self.counted = usage

    def _compacted(self, mark: Fields) -> None:
        """Add a reset: what the new history repeats, or else what was typed, is kept."""
        self._end_answer()
        summary, kept = text(mark.get("message")), set(self.prompts)
        history = mark.get("replacement_history")
        if isinstance(history, list):
            sealed = [item for item in dicts(history) if item.get("type") == "compaction"]
            self.unread.add("summary of a compaction, which is encrypted", len(sealed))
            open_items = [item for item in history if item not in sealed]
            texts = [message.content for message in messages(open_items, self.unread)]
            places = {one: self._place_of(one) for one in texts if one}
            kept = {place for place in places.values() if place is not None}
            summary = "\n".join(one for one in places if places[one] is None) or summary
        self.add(ContextReset, summary=summary, kept=tuple(sorted(kept)))

    def _place_of(self, text: str) -> int | None:
        """The last turn with a text, which may follow what the model had said while it worked."""
        kinds = SystemTurn | UserTurn | ModelTurn
        turns = [step for step in reversed(self.steps) if isinstance(step, kinds)]
        same = (step.index for step in turns if step.content == text)
        ends = (step.index for step in turns if step.content.endswith(f"\n{text}"))
        return next(itertools.chain(same, ends), None)


def _tool_run(seen: str, end: Fields) -> ToolRun:
    """A tool's execution, from its output and the event at its end (`{}` without one)."""
    envelope = as_dict(data_of(seen))
    metadata, body = as_dict(envelope, "metadata"), _BODY.search(seen)
    head = seen[: body.end()] if body else ""
    stated = _CODE.search(head)
    codes = (end.get("exit_code"), int(stated.group(1)) if stated else metadata.get("exit_code"))
    result = as_dict(end, "result", "Ok")
    error = text(as_dict(end, "result").get("Err"))
    broken = end.get("success") is False or True in (result.get("isError"), result.get("is_error"))
    output, full = text(end.get("aggregated_output")), None
    if output and len(output) > len(seen) - len(head) and cut_in(seen) and not cut_in(output):
        full = compact_json({**envelope, "output": output}) if envelope else head + output
    return ToolRun(
        data=result.get("structuredContent") or result.get("structured_content"),
        full=full,
        failed=broken or next((code for code in codes if code is not None), 0) != 0 or bool(error),
        error=error,
    )
