"""Sessions of pi, and of OpenClaw, which builds on it: the files below `~/.pi/agent/sessions`, one a session."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from ...model import ContextReset
from .. import Confidence, Document, Keeps, Traces, certain_if, register
from ..branches import paired, way_to
from ..content import Blocks
from ..records import dict_in, objects_of, time_of, typed
from ..steps import Ran, ReadMessage, Steps
from ..usage import usage_in

_NOT_IN_PROMPTS = {"model_change", "thinking_level_change", "custom", "label", "session_info", "ephemeral"}
"""Entries of which nothing is in a prompt."""
_COMMAND = "Ran `{}`\n```\n{}\n```"
"""The form in which a command that a person ran is sent to the model."""
_META = {"id": "session_id", "cwd": "cwd", "parentSession": "parent_session", "branchedFrom": "parent_session"}
_COUNTS = {"input": "input_tokens", "output": "output_tokens", "cacheRead": "cache_read_input_tokens",
           "cacheWrite": "cache_creation_input_tokens", "reasoning": "reasoning_tokens"}  # fmt: skip
"""Counts of pi, whose `input` is what no cache had, in words of Anthropic's. `cacheWrite1h` is part of
`cacheWrite`."""


class Message(msgspec.Struct, rename="camel"):
    """A message of a session: a person's, the model's, a tool's, or a command that a person ran."""

    role: str | None = None
    content: Any = None
    model: str | None = None
    usage: dict[str, Any] = {}
    stop_reason: str | None = None
    timestamp: Any = None
    tool_call_id: str = ""
    tool_name: str = ""
    is_error: bool | None = None
    details: Any = None
    command: str | None = None
    output: str | None = None
    exclude_from_context: bool | None = None
    summary: str = ""


class Entry(msgspec.Struct, rename="camel"):
    """A line of a session; `parent_id` makes a tree of them."""

    type: str | None = None
    id: str | None = None
    parent_id: str | None = None
    timestamp: Any = None
    message: dict[str, Any] = {}
    summary: str | None = None
    first_kept_entry_id: str | None = None
    content: Any = None


@register("reader", "pi")
class Pi:
    """One session a file: a header, then entries that name the one before them.

    A compaction is a ContextReset that keeps the entries from `firstKeptEntryId` on. An entry that goes on from an
    earlier one than the last is another branch: a ContextReset that keeps the way to it, with the summary of the
    branch that was left, if there is one. A command that a person ran is a user turn, unless it was kept from the
    model. The cost is in `meta`.

    Source: github.com/badlogic/pi-mono, `packages/coding-agent/docs/session.md` (version 3; 1 is linear) and
    `packages/ai/src/types.ts`
    """

    keeps = Keeps(
        results="as shown",
        also=("cuts", "usage", "times", "errors", "reasoning", "resets", "model"),
        never="the system prompt and tool definitions, which sessions do not hold; the whole output of a cut result, which is a file of its own",
        tested="pi-coding-agent sessions of versions 1 and 3, written by hand after its documentation",
    )

    def sniff(self, document: Document) -> Confidence:
        header, *entries = document.first_objects or [{}]
        begun = header.get("type") == "session" and isinstance(header.get("id"), str)
        return certain_if(begun and any(entry.get("type") == "message" for entry in entries))

    def read(self, document: Document) -> Traces:
        """The file's one session; its id is in `meta`."""
        run = _Session()
        run.add_all(objects_of(document, run.unread))
        yield run.trace(document, "pi")


class _Session(Steps):
    """One session on its way to a trace: the steps that an entry became, and the entry before each."""

    def __init__(self) -> None:
        super().__init__()
        self.parents: dict[str, str | None] = {}
        self.steps_of: dict[str, set[int]] = {}
        self.first_kept: dict[str, str] = {}  # of a compaction: the first entry that it kept
        self.last: str | None = None

    def add_all(self, lines: list[dict[str, Any]]) -> None:
        """Add the lines as steps."""
        for number, raw in enumerate(lines):
            if raw.get("type") == "session":
                self.meta |= {name: raw[key] for key, name in _META.items() if raw.get(key)}
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
            self.steps_of[own] = set(range(before, self.index))

    def _entry(self, entry: Entry, own: str, t: float | None) -> None:
        if entry.type == "message":
            self._message(typed(entry.message, Message, self.unread), t)
        elif entry.type == "compaction":
            self.first_kept[own] = entry.first_kept_entry_id or own
            self._reset(own, t, entry.summary)
        elif entry.type == "custom_message":
            self.say(ReadMessage("user", self._blocks(entry.content).content), t=t)
        elif entry.type == "branch_summary":
            last = self.steps[-1] if self.steps else None
            left = isinstance(last, ContextReset) and last.summary == entry.summary
            self.unread.add("summary of a branch that was not left", not left)
        elif entry.type not in _NOT_IN_PROMPTS:
            self.unread.kind("entry", entry.type)

    def _message(self, message: Message, t: float | None) -> None:
        sent = time_of(message.timestamp, self.unread)
        t = t if sent is None else sent
        if message.role == "assistant":
            self._answer(message, t)
        elif message.role == "toolResult":
            truncated, failed = dict_in(message.details, "truncation").get("truncated"), message.is_error is True
            said = ReadMessage("tool", self._blocks(message.content).content, call_id=message.tool_call_id)
            ran = Ran(failed=failed, error=(said.text or None) if failed else None, cut=bool(truncated))
            self.ran[said.call_id] = ran
            self.say(replace(said, name=message.tool_name), t=t)
        elif message.role == "bashExecution":
            if message.exclude_from_context is not True:
                self.say(ReadMessage("user", _COMMAND.format(message.command, message.output or "(no output)")), t=t)
        elif message.role in ("user", "custom", "hookMessage"):
            self.say(ReadMessage("user", self._blocks(message.content).content), t=t)
        elif message.role in ("branchSummary", "compactionSummary"):
            self.say(ReadMessage("user", message.summary), t=t)
        else:
            self.unread.kind("message of a role", message.role)

    def _answer(self, message: Message, t: float | None) -> None:
        blocks, usage = self._blocks(message.content), message.usage
        if message.stop_reason in ("error", "aborted") and not (blocks.parts or blocks.calls):
            self.unread.add("answer that broke off")
            return
        counts = {name: usage.get(key) for key, name in _COUNTS.items()}
        hour = {"cache_creation": {"ephemeral_1h_input_tokens": usage.get("cacheWrite1h")}}
        self.say(
            ReadMessage("assistant", blocks.content, tuple(blocks.calls), blocks.reasoning),
            t=t,
            model=message.model,
            finish_reason=message.stop_reason,
            usage=usage_in(counts | hour, self.unread),
        )
        cost = dict_in(usage, "cost").get("total")
        if isinstance(cost, int | float):
            self.meta["cost_usd"] = self.meta.get("cost_usd", 0.0) + cost

    def _blocks(self, content: Any) -> Blocks:
        """The blocks of a content; calls and pictures have names of pi's own."""
        blocks = Blocks()
        for value in content if isinstance(content, list) else [content]:
            block = dict_in(value)
            if block.get("type") == "toolCall":
                value = {**block, "type": "tool_call"}
            elif block.get("type") == "thinking":
                value = {"type": "thinking", "thinking": block.get("thinking")}
            elif block.get("type") == "image":
                value = {"type": "image", "base64": block.get("data"), "mime_type": block.get("mimeType")}
            blocks.add_all([value] if isinstance(value, dict) else value, self.unread)
        return blocks

    def _reset(self, end: str | None, t: float | None, summary: str | None) -> None:
        """Add the history as it is after an entry: the way to it, from what its last compaction kept."""
        kept: set[int] = set()
        first: str | None = None
        for entry in way_to(end, self.parents):
            kept |= self.steps_of.get(entry, set())
            first = first or self.first_kept.get(entry)
            if entry == first:
                break
        resets = {step.index for step in self.steps if isinstance(step, ContextReset)}
        self.add(ContextReset(index=self.index, t=t, summary=summary, kept=paired(self.steps, kept - resets)))
