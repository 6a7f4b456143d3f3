"""Rollouts of Codex CLI: the files below `~/.codex/sessions`, one a session, as it writes them now and as
it did at first."""

from __future__ import annotations

from typing import Any

import msgspec

from ...model import (
    Content,
    ContextReset,
    ModelTurn,
    SystemTurn,
    TextPart,
    ToolCall,
    Usage,
    UserTurn,
    as_text,
    compact_json,
    text_of,
)
from .. import Confidence, Document, Keeps, Traces, certain_if, register
from ..codex_records import Item, Line, TokenInfo, TokenUsage, counts_first, run_of, usage_of
from ..content import Blocks, parts_of
from ..parts import CHAT_ROLES, picture, simple
from ..records import arguments, count_unknown, dict_in, objects_of, text, time_of, typed
from ..steps import Said, Steps

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
_ABSENT = "token count of a call that is not in the session"
_PARTS = {"text", "input_text", "output_text", "refusal", "input_image", "input_file", "input_audio", "summary_text", "reasoning_text"}  # fmt: skip
_INPUTS, _OUTPUTS = (
    ("arguments", "input", "action", "operation", "code", "queries"),
    ("output", "outputs", "results", "result", "tools"),
)
_IGNORED = {"encrypted_content", "namespace", "phase", "execution", "server_label", "container_id", "revised_prompt", "created_by",
            "internal_chat_message_metadata_passthrough", "recipient", "max_output_length", "approval_request_id", "max_output_tokens",
            "environment", "pending_safety_checks", "acknowledged_safety_checks", "size", "quality", "background", "output_format"}  # fmt: skip


@register("reader", "codex")
class Codex:
    """One session a file. What Codex sends is recorded item by item: the items between two outputs are one turn; a token count is the usage of the
    turn before it, or of the one after it where the file counts first (0.40). What the turns lack of the session's total is counted. Base
    instructions are a system turn. `compacted` is a ContextReset: what the new history holds of the old is kept, the rest is the summary; taking
    turns back is one too. A command failed where its exit code is not 0; its whole output is `full` where the session has it. Reasoning is
    encrypted unless summaries were asked for; that is counted. A sub-agent's session is a file, and a trace, of its own.

    Source: github.com/openai/codex, `codex-rs/protocol/src/protocol.rs` (RolloutItem) and `models.rs` (ResponseItem)
    """

    keeps = Keeps(
        results="untruncated",
        also=("cuts", "usage", "times", "errors", "reasoning", "resets", "model"),
        never="encrypted reasoning, tool definitions, how the run ended",
        tested="Codex CLI 0.40.0, a published session, and 0.125.0, written by hand after the source",
    )

    def sniff(self, document: Document) -> Confidence:
        lines = document.first_objects
        named = [line for line in lines if str(line.get("type")) in _LINES]
        payloads = [line["payload"] for line in named if isinstance(line.get("payload"), dict)]
        early = bool(lines) and lines[0].keys() >= _EARLY
        items = any(map(_is_item, payloads or lines))
        return certain_if(bool(named or early) and items)

    def read(self, document: Document) -> Traces:
        """The file's one session; its id is in `meta`."""
        run = _Rollout(document)
        run.add_all(objects_of(document, run.unread))
        yield run.trace(document, "codex")


def _is_item(value: dict[str, Any]) -> bool:
    kind = value.get("type")
    if kind == "message" or kind is None:
        parts = value.get("content")
        kinds = (
            {str(part.get("type")) for part in parts if isinstance(part, dict)} if isinstance(parts, list) else set()
        )
        own = not kinds.isdisjoint({"input_text", "output_text", "input_image"})
        return "role" in value and (own or (kind == "message" and "usage" not in value))
    return str(kind).endswith(("_call", "_call_output")) or (kind == "reasoning" and "summary" in value)


class _Rollout(Steps):
    def __init__(self, document: Document) -> None:
        super().__init__()
        self.document = document
        self.model: str | None = None
        self.answer = Blocks()
        self.begun: float | None = None
        self.total: TokenUsage | None = None
        self.earlier = 0  # the input tokens of the session's earlier runs
        self.counted: Usage | None = None  # the count of the answer that is to come, where counts come first
        self.prompts: list[int] = []  # the user turns that a person typed

    def add_all(self, lines: list[dict[str, Any]]) -> None:
        """Add the lines as steps."""
        self.counts_first = counts_first(lines)
        events = [dict_in(line, "payload") for line in lines if line.get("type") == "event_msg"]
        self.ends = {
            event["call_id"]: event for event in events if event.get("type") in _ENDS and text(event.get("call_id"))
        }
        for raw in lines:
            line = typed(raw, Line, self.unread)
            self._line(raw, line, time_of(line.timestamp, self.unread))
        self._end()
        self.unread.add(_ABSENT, int(self.counted is not None))
        if self.total is not None:
            usages = [step.usage for step in self.steps if isinstance(step, ModelTurn) and step.usage is not None]
            missing = self.earlier + (self.total.input_tokens or 0) - sum(usage.prompt_tokens for usage in usages)
            self.unread.add("prompt token of the session's total that no turn has", max(0, missing))
            self.unread.add("prompt token of turns above the session's total", max(0, -missing))

    def _line(self, raw: dict[str, Any], line: Line, t: float | None) -> None:
        payload = line.payload or {}
        if line.type == "session_meta" or (line.payload is None and raw.keys() >= _EARLY):
            self._session(payload or raw)
        elif line.type == "response_item":
            self._item(payload, t)
        elif line.type == "event_msg":
            self._event(payload, t)
        elif line.type == "compacted":
            self._compacted(payload, t)
        elif line.type == "turn_context":
            self.model = text(payload.get("model")) or self.model
        elif line.payload is None and line.type is not None:
            self._item(raw, t)
        elif "record_type" not in raw:
            self.unread.kind("line", line.type)

    def _session(self, meta: dict[str, Any]) -> None:
        if "session_id" in self.meta:  # a session that another was forked from
            return
        self.meta["session_id"] = str(meta.get("id"))
        self.meta |= {key: meta[key] for key in _META if meta.get(key) is not None}
        if instructions := text(dict_in(meta, "base_instructions").get("text")):
            self.say(Said("system", instructions))
        tools = meta.get("dynamic_tools")
        self.tools(tools if isinstance(tools, list) else [])

    # ---- items

    def _item(self, value: dict[str, Any], t: float | None) -> None:
        item = typed(value, Item, self.unread)
        if self._takes(self.answer, value, item):
            self.begun = t if self.begun is None else self.begun
            return
        self._end()
        if item.kind == "ghost_snapshot":  # a commit to go back to
            return
        said = self._other(value, item)
        if said is not None:
            if said.role == "tool":
                self.ran[said.call_id] = run_of(said.text, self.ends.get(said.call_id))
            self.say(said, agent=said.name or "agent" if said.role == "user" else "agent", t=t)

    def _takes(self, answer: Blocks, value: dict[str, Any], item: Item) -> bool:
        """Add an item of the model's to an answer; False for any other."""
        if item.kind == "message" and item.role in (None, "assistant"):
            content = self._content(item.content)
            answer.parts += [TextPart(text=content)] if isinstance(content, str) else content
        elif item.kind == "reasoning":
            lists = [held for held in (item.summary, item.content) if isinstance(held, list)]
            thoughts = [part["text"] for held in lists for part in held if text(dict_in(part).get("text"))]
            answer.thoughts += thoughts or [""]
            self.unread.add("reasoning whose text is not recorded", not any(thoughts))
        elif item.kind.endswith("_call"):
            self._call(answer, item)
        else:
            return False
        count_unknown(value, Item, self.unread, "an item", _IGNORED)
        return True

    def _call(self, answer: Blocks, item: Item) -> None:
        name, call_id = item.name or item.kind.removesuffix("_call"), item.call_id or item.id or ""
        answer.calls.append(ToolCall(id=call_id, name=name, arguments=arguments(item.first(*_INPUTS))))
        if item.first(*_OUTPUTS, "error") is not None:
            answer.results.append(self._output(item, call_id, name))
        elif item.call_id is None:
            self.unread.add(f"result of {name}, which the server keeps to itself")

    def _other(self, value: dict[str, Any], item: Item) -> Said | None:
        if item.kind not in ("message", "agent_message") and not item.kind.endswith("_output"):
            self.unread.kind("item", item.type)
            return None
        count_unknown(value, Item, self.unread, "an item", _IGNORED)
        if item.kind.endswith("_output"):
            return self._output(item, item.call_id or "", item.name or "")
        content = (
            simple(tuple(self._content(item.content))) if isinstance(item.content, list) else text(item.content) or ""
        )
        if item.kind == "agent_message":
            return Said("user", content, name=item.author or "")
        if item.role not in CHAT_ROLES:
            self.unread.kind("message of a role", item.role)
        return Said(CHAT_ROLES.get(item.role or "", "user"), content)

    def _content(self, content: Any) -> Any:
        return parts_of(content) if isinstance(content, list) else text(content) or ""

    def _output(self, item: Item, call_id: str, name: str) -> Said:
        """A call's output, handed in by the client or made by the server within the call's own item."""
        error = None if item.error is None else as_text(item.error)
        held = item.first(*_OUTPUTS, "error")
        content: Content = held if isinstance(held, str) else "" if held is None else compact_json(held)
        url = dict_in(held).get("image_url")
        if item.kind == "image_generation_call" and isinstance(held, str):
            content = (picture(f"data:image/png;base64,{held}"),)
        elif isinstance(url, str) and dict_in(held).get("type") == "computer_screenshot":
            content = (picture(url),)
        elif isinstance(held, list) and all(str(dict_in(part).get("type")) in _PARTS for part in held):
            content = simple(tuple(parts_of(held)))
        failed = error is not None or item.status in ("failed", "incomplete")
        return Said("tool", content, call_id=call_id, name=name, failed=failed, error=error)

    def _end(self) -> None:
        """Add the answer that is being read as a turn, and the results that came within it."""
        answer, begun = self.answer, self.begun
        self.answer, self.begun = Blocks(), None
        if answer.parts or answer.calls or answer.thoughts:
            turn = Said("assistant", answer.content, tuple(answer.calls), answer.reasoning)
            self.say(turn, t=begun, model=self.model, usage=self.counted)
            self.counted = None
        self.tell(answer.results, t=begun)

    # ---- events

    def _event(self, event: dict[str, Any], t: float | None) -> None:
        kind = event.get("type")
        if kind == "token_count":
            self._count(event)
        elif kind == "user_message":
            last = next((step for step in reversed(self.steps) if isinstance(step, UserTurn)), None)
            if last is not None and text_of(last.content).strip() == str(event.get("message")).strip():
                self.prompts.append(last.index)
        elif kind == "thread_rolled_back":
            turns = event.get("num_turns")
            self._end()
            if type(turns) is int and 0 < turns <= len(self.prompts):
                first = self.prompts[-turns]
                del self.prompts[-turns:]
                self.add(ContextReset(index=self.index, t=t, kept=tuple(range(first))))
            else:
                self.unread.add("mark of turns taken back that are not in the session")
        elif kind == "error":
            self.meta.setdefault("errors", []).append(event.get("message"))
        elif str(kind) not in _MIRRORS:
            self.unread.kind("event", kind)

    def _count(self, event: dict[str, Any]) -> None:
        """A token count as the usage of the turn before it, or after it where the session counts first; the
        same count may come twice."""
        info = typed(dict_in(event, "info"), TokenInfo, self.unread)
        if not dict_in(event, "info") or info.total_token_usage == self.total:
            return
        self._end()
        before, self.total = self.total, info.total_token_usage
        if before and self.total and (self.total.input_tokens or 0) < (before.input_tokens or 0):
            self.earlier += before.input_tokens or 0  # the session was taken up again, and counts from the beginning
        turn = next((step for step in reversed(self.steps) if isinstance(step, ModelTurn)), None)
        usage = usage_of(info.last_token_usage)
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
        """The new history as what it holds of the old, and the rest as the summary; without it, Codex keeps
        what was typed."""
        self._end()
        summary, kept, history = text(mark.get("message")) or "", set(self.prompts), mark.get("replacement_history")
        if isinstance(history, list):
            messages = self._messages(history)
            turns = (step for step in self.steps if isinstance(step, SystemTurn | UserTurn | ModelTurn))
            places = {text_of(step.content): step.index for step in turns}
            kept = {places[said.text] for said in messages if said.text in places}
            summary = "\n".join(said.text for said in messages if said.text and said.text not in places) or summary
        self.add(ContextReset(index=self.index, t=t, summary=summary or None, kept=tuple(sorted(kept))))

    def _messages(self, items: list[Any]) -> list[Said]:
        """Items as messages, those between two outputs as one answer."""
        messages: list[Said] = []
        answer = Blocks()
        for value in [*(item for item in items if isinstance(item, dict)), None]:
            item = None if value is None else typed(value, Item, self.unread)
            if value is not None and item is not None and self._takes(answer, value, item):
                continue
            if answer.parts or answer.calls or answer.thoughts:
                messages.append(Said("assistant", answer.content, tuple(answer.calls), answer.reasoning))
            messages += answer.results
            answer = Blocks()
            other = self._other(value, item) if value is not None and item is not None else None
            messages += [other] if other is not None else []
        for said in messages:
            self.unread.parts(said.content)
        return messages
