"""Sessions of pi, and of OpenClaw, which builds on it: the files below `~/.pi/agent/sessions`, one a session."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from ...model import Content, ContextReset, ModelTurn, TextPart, ToolCall, ToolResult, Usage
from .. import Confidence, Document, Keeps, Traces, certain_if, register
from ..content import Blocks
from ..markers import cut_in
from ..parts import picture, simple
from ..records import dict_in, objects_of, time_of, typed
from ..steps import Ran, Said, Steps

_ENTRIES = {"message", "compaction", "branch_summary", "custom_message", "model_change", "thinking_level_change"}
_NOT_IN_PROMPTS = {"model_change", "thinking_level_change", "custom", "label", "session_info", "ephemeral"}
"""Entries of which nothing is in a prompt."""
_COMMAND = "Ran `{}`\n```\n{}\n```"
"""How a command that a person ran is shown to the model."""

Count = Annotated[int, msgspec.Meta(ge=0)]


class PiUsage(msgspec.Struct):
    """The usage of an answer: `input` is what no cache held. `cacheWrite1h` is part of `cacheWrite`."""

    input: Count | None = None
    output: Count | None = None
    cacheRead: Count | None = None  # noqa: N815
    cacheWrite: Count | None = None  # noqa: N815
    cacheWrite1h: Count | None = None  # noqa: N815
    reasoning: Count | None = None


class Message(msgspec.Struct, rename="camel"):
    """A message of a session: a person's, the model's, a tool's, or a command that a person ran."""

    role: str | None = None
    content: Any = None
    model: str | None = None
    usage: PiUsage | None = None
    stop_reason: str | None = None
    error_message: str | None = None
    timestamp: Any = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    is_error: bool | None = None
    details: Any = None
    command: str | None = None
    output: str | None = None
    exit_code: int | None = None
    truncated: bool | None = None
    exclude_from_context: bool | None = None
    summary: str | None = None


class Entry(msgspec.Struct, rename="camel"):
    """A line of a session; `parent_id` makes a tree of them."""

    type: str | None = None
    id: str | None = None
    parent_id: str | None = None
    timestamp: Any = None
    message: dict[str, Any] | None = None
    summary: str | None = None
    first_kept_entry_id: str | None = None
    content: Any = None


@register("reader", "pi")
class Pi:
    """One session a file: a header, then entries that name the one before them.

    A compaction is a ContextReset that keeps the entries from `firstKeptEntryId` on. An entry that goes on from an earlier one than the last is
    another branch: a ContextReset that keeps the way to it, with the summary of the branch that was left, if there is one. A command that a
    person ran is a user turn, unless it was kept from the model. Costs by step are in `meta`.

    Source: github.com/badlogic/pi-mono, `packages/coding-agent/docs/session.md` (version 3; 1 is linear) and `packages/ai/src/types.ts`
    """

    keeps = Keeps(
        results="as shown",
        also=("cuts", "usage", "times", "errors", "reasoning", "resets", "model"),
        never="the system prompt and tool definitions, which sessions do not hold; the whole output of a cut result, which is a file of its own",
        tested="pi-coding-agent sessions of versions 1 and 3, written by hand after its documentation",
    )

    def sniff(self, document: Document) -> Confidence:
        lines = document.first_objects
        header = bool(lines) and lines[0].get("type") == "session" and isinstance(lines[0].get("id"), str)
        roles = {str(dict_in(line, "message").get("role")) for line in lines if line.get("type") == "message"}
        entries = any(str(line.get("type")) in _ENTRIES for line in lines[1:])
        if not header:
            return Confidence.NO
        return certain_if(header and bool(roles) and entries)

    def read(self, document: Document) -> Traces:
        """The file's one session; its id is in `meta`."""
        run = _Session()
        run.add_all(objects_of(document, run.unread))
        yield run.trace(document, "pi")


class _Session(Steps):
    """One session on its way to a trace: which steps an entry became, and the entry before each."""

    def __init__(self) -> None:
        super().__init__()
        self.parents: dict[str, str | None] = {}
        self.steps_of: dict[str, range] = {}
        self.forgotten: dict[str, str] = {}  # by a compaction's id: the first entry that it kept
        self.last: str | None = None
        self.costs: dict[str, Any] = {}

    def add_all(self, lines: list[dict[str, Any]]) -> None:
        """Add the lines as steps."""
        for number, raw in enumerate(lines):
            if raw.get("type") == "session":
                names = {
                    "id": "session_id",
                    "cwd": "cwd",
                    "parentSession": "parent_session",
                    "branchedFrom": "parent_session",
                }
                self.meta |= {name: raw[key] for key, name in names.items() if raw.get(key)}
                continue
            entry = typed(raw, Entry, self.unread)
            own = entry.id or f"line {number}"
            parent = entry.parent_id if entry.id and "parentId" in raw else self.last
            t = time_of(entry.timestamp, self.unread)
            if parent != self.last and (parent is None or parent in self.parents):
                self._reset(parent, t, entry.summary if entry.type == "branch_summary" else None)
            self.parents[own], self.last = parent, own
            before = self.index
            self._entry(entry, own, t)
            self.steps_of[own] = range(before, self.index)
        if self.costs:
            self.meta["costs_usd"] = self.costs

    def _entry(self, entry: Entry, own: str, t: float | None) -> None:
        if entry.type == "message" and entry.message is not None:
            self._message(typed(entry.message, Message, self.unread), entry.message, t)
        elif entry.type == "compaction":
            self.forgotten[own] = entry.first_kept_entry_id or own
            self._reset(own, t, entry.summary)
        elif entry.type == "custom_message":
            self.say(Said("user", self._content(entry.content)), t=t)
        elif entry.type == "branch_summary":
            self.unread.add("summary of a branch that was not left", self._last_summary() != entry.summary)
        elif entry.type not in _NOT_IN_PROMPTS:
            self.unread.kind("entry", entry.type)

    def _last_summary(self) -> str | None:
        last = self.steps[-1] if self.steps else None
        return last.summary if isinstance(last, ContextReset) else None

    def _message(self, message: Message, raw: dict[str, Any], t: float | None) -> None:
        sent = time_of(message.timestamp, self.unread)
        t = t if sent is None else sent
        if message.role == "user":
            self.say(Said("user", self._content(message.content)), t=t)
        elif message.role == "assistant":
            self._answer(message, raw, t)
        elif message.role == "toolResult":
            content = self._content(message.content)
            said = Said("tool", content, call_id=message.tool_call_id or "", name=message.tool_name or "")
            failed, truncated = message.is_error is True, bool(dict_in(message.details, "truncation").get("truncated"))
            ran = Ran(
                failed=failed,
                error=said.text or None if failed else None,
                cut=truncated or cut_in(said.text) is not None,
            )
            self.ran[said.call_id] = ran
            self.say(said, t=t)
        elif message.role == "bashExecution":
            if message.exclude_from_context is not True:
                self.say(Said("user", _COMMAND.format(message.command, message.output or "(no output)")), t=t)
        elif message.role in ("custom", "hookMessage"):
            self.say(Said("user", self._content(message.content)), t=t)
        elif message.role in ("branchSummary", "compactionSummary"):
            self.say(Said("user", message.summary or ""), t=t)
        else:
            self.unread.kind("message of a role", message.role)

    def _answer(self, message: Message, raw: dict[str, Any], t: float | None) -> None:
        blocks = Blocks()
        for value in message.content if isinstance(message.content, list) else [message.content]:
            block = {"type": "text", "text": value} if isinstance(value, str) else dict_in(value)
            kind = block.get("type")
            if kind == "text":
                blocks.parts.append(TextPart(text=str(block.get("text") or "")))
            elif kind == "thinking":
                blocks.thoughts.append(str(block.get("thinking") or ""))
                self.unread.add("thinking whose text is not recorded", not block.get("thinking"))
            elif kind == "toolCall":
                name, given = str(block.get("name")), block.get("arguments")
                blocks.calls.append(ToolCall(id=str(block.get("id") or ""), name=name, arguments=given))
            else:
                self.unread.kind("block", kind)
        if message.stop_reason in ("error", "aborted"):
            self.unread.add("answer that broke off", not (blocks.parts or blocks.calls))
            if not (blocks.parts or blocks.calls):
                return
        turn = Said("assistant", blocks.content, tuple(blocks.calls), blocks.reasoning)
        index = self.say(turn, t=t, model=message.model, finish_reason=message.stop_reason, usage=_usage(message.usage))
        cost = dict_in(raw, "usage", "cost").get("total")
        if type(cost) in (int, float):
            self.costs[str(index)] = cost

    def _content(self, content: Any) -> Content:
        parts: list[Any] = []
        for value in content if isinstance(content, list) else [content]:
            block = {"type": "text", "text": value} if isinstance(value, str) else dict_in(value)
            if block.get("type") == "text":
                parts.append(TextPart(text=str(block.get("text") or "")))
            elif block.get("type") == "image":
                parts.append(picture(f"data:{block.get('mimeType')};base64,{block.get('data')}"))
            elif value is not None:
                self.unread.kind("block", block.get("type"))
        return simple(tuple(parts))

    def _reset(self, end: str | None, t: float | None, summary: str | None) -> None:
        """Add the history as it is after an entry: the way to it, from what its last compaction kept."""
        way: list[str] = []
        at, stop = end, None
        while (at is not None and at in self.parents) or at in self.forgotten:
            way.append(str(at))
            if at in self.forgotten and stop is None:
                stop = self.forgotten[str(at)]
            if at == stop:
                break
            at = self.parents.get(str(at))
        steps = {index for one in way for index in self.steps_of.get(one, ())}
        calls = {
            call.id
            for step in self.steps
            if step.index in steps and isinstance(step, ModelTurn)
            for call in step.tool_calls
        }
        kept = [index for index in sorted(steps) if not isinstance(self.steps[index], ContextReset)]
        kept = [
            index
            for index in kept
            if not isinstance(result := self.steps[index], ToolResult) or result.call_id in calls
        ]
        self.add(ContextReset(index=self.index, t=t, summary=summary, kept=tuple(kept)))


def _usage(usage: PiUsage | None) -> Usage | None:
    if usage is None or usage.input is None:
        return None
    return Usage(
        prompt_tokens=usage.input + (usage.cacheRead or 0) + (usage.cacheWrite or 0),
        completion_tokens=usage.output or 0,
        cached_prompt_tokens=usage.cacheRead,
        cache_write_tokens=usage.cacheWrite,
        cache_write_1h_tokens=usage.cacheWrite1h or None,
        reasoning_tokens=usage.reasoning,
    )
