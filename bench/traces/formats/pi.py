"""Sessions of pi, and of OpenClaw: the files below `~/.pi/agent/sessions`."""

from __future__ import annotations

from ...model import ContextReset
from .. import Document, Fields, register
from ..intakes.messages import message
from ..steps import ToolRun, paired, way_to
from ..values import as_dict, fields_of, number
from . import SessionLog

_NOT_IN_PROMPTS = {"model_change", "thinking_level_change", "custom", "label", "session_info",
                   "ephemeral"}  # fmt: skip
"""Entries of which nothing is in a prompt."""
_ENTRY = {"type": str, "id": str, "parentId": str, "timestamp": object, "message": dict, "summary": str,
          "firstKeptEntryId": str, "content": object}  # fmt: skip
_ROLES = {"toolResult": "tool", "bashExecution": "user", "custom": "user", "hookMessage": "user",
          "branchSummary": "user", "compactionSummary": "user"}  # fmt: skip
_SENT = ("content", "model", "usage", "timestamp", "toolCallId", "toolName", "isError")
_MESSAGE = {"role": str, "content": object, "model": str, "usage": dict, "stopReason": str, "timestamp": object,
            "toolCallId": str, "toolName": str, "isError": bool, "details": object, "command": str, "output": str,
            "exitCode": int, "cancelled": bool, "truncated": bool, "fullOutputPath": str,
            "excludeFromContext": bool, "summary": str}  # fmt: skip


@register("reader", "pi")
class Pi(SessionLog):
    """One session per file: a header, then entries that name the one before them.

    A compaction is a ContextReset that keeps the entries from `firstKeptEntryId` on. An entry that
    goes on from an earlier one than the last is another branch: a ContextReset that keeps the way
    to it, with the summary of the branch that was left, if there is one. A command that a person
    ran is a user turn, unless it was kept from the model. The cost is in `meta`.

    Not kept: the system prompt and tool definitions, which sessions do not hold; the whole output
    of a cut result, which is a file of its own.

    Source: github.com/badlogic/pi-mono, `packages/coding-agent/docs/session.md` (version 3; 1 is
    linear), `packages/coding-agent/src/core/messages.ts` (bashExecutionToText) and
    `packages/ai/src/types.ts`. Tested: pi-coding-agent sessions of versions 1 and 3, written by
    hand after its documentation
    """

    def marked(self, document: Document) -> object:
        lines = document.first_objects
        headers = [line for line in lines if line.get("type") == "session"]
        begun = any(isinstance(line.get("id"), str) for line in headers)
        sent = [as_dict(line, "message") for line in lines if line.get("type") == "message"]
        return sent and (begun or any(message.get("role") == "toolResult" for message in sent))

    def __init__(self) -> None:
        super().__init__()
        self.parents: dict[str, str | None] = {}
        self.steps_of: dict[str, set[int]] = {}  # of each entry
        self.first_kept: dict[str, str] = {}  # of a compaction: the first entry that it kept

    def add_file(self, document: Document) -> None:
        last: str | None = None
        for at, line in enumerate(document.objects(self.unread)):
            if line.get("type") == "session":
                self.meta["session_id"] = line.get("id")
                continue
            entry = fields_of(line, _ENTRY, self.unread)
            own = entry.get("id") or f"line {at}"
            self.at(entry.get("timestamp"))
            parent = entry.get("parentId") if "id" in entry and "parentId" in line else last
            if parent != last and (parent is None or parent in self.parents):
                left = entry.get("type") == "branch_summary"
                self._reset(parent, entry.get("summary") if left else None)
            self.parents[own], last, before = parent, own, self.index
            self._entry(entry, own)
            self.steps_of[own] = set(range(before, self.index))

    def _entry(self, entry: Fields, own: str) -> None:
        kind, summary = entry.get("type"), entry.get("summary")
        if kind == "message":
            self._message(fields_of(entry.get("message"), _MESSAGE, self.unread))
        elif kind == "compaction":
            self.first_kept[own] = entry.get("firstKeptEntryId") or own
            self._reset(own, summary)
        elif kind == "custom_message":
            self._message({"role": "custom", "content": entry.get("content")})
        elif kind == "branch_summary":
            last = self.steps[-1] if self.steps else None
            left = isinstance(last, ContextReset) and last.summary == summary
            self.unread.add("summary of a branch that was not left", not left)
        elif kind not in _NOT_IN_PROMPTS:
            self.unread.kind("entry", kind)

    def _message(self, given: Fields) -> None:
        if given.get("excludeFromContext") is True:
            return
        role, usage = given.get("role", ""), given.get("usage", {})
        sent = {key: given[key] for key in _SENT if key in given}
        if role == "bashExecution":
            sent["content"] = _command_text(given)
        elif "summary" in given:
            sent["content"] = given["summary"]
        self.cost_usd += number(as_dict(usage, "cost").get("total")) or 0.0
        broken = given.get("stopReason") in ("error", "aborted")
        truncated = as_dict(given.get("details"), "truncation").get("truncated") is True
        ran = ToolRun(cut=True) if truncated else None
        for shown in message({**sent, "role": _ROLES.get(role, role)}, self.unread):
            if broken and not (shown.content or shown.other or shown.calls):
                self.unread.add("answer that broke off")
            else:
                self.add_message(shown.with_known(ran=ran))

    def _reset(self, end: str | None, summary: str | None) -> None:
        kept: set[int] = set()
        first: str | None = None
        for entry in way_to(end, self.parents):
            kept |= self.steps_of.get(entry, set())
            first = first or self.first_kept.get(entry)
            if entry == first:
                break
        resets = {step.index for step in self.steps if isinstance(step, ContextReset)}
        self.add(ContextReset, summary=summary, kept=paired(self.steps, kept - resets))


def _command_text(given: Fields) -> str:
    """The text in which the model is sent a command that a person ran.

    >>> print(_command_text({"command": "ls", "exitCode": 2}))
    Ran `ls`
    (no output)
    <BLANKLINE>
    Command exited with code 2
    """
    output, code = given.get("output"), given.get("exitCode")
    shown = f"```\n{output}\n```" if output else "(no output)"
    if given.get("cancelled") is True:
        shown += "\n\n(command cancelled)"
    elif code:
        shown += f"\n\nCommand exited with code {code}"
    if given.get("truncated") is True and "fullOutputPath" in given:
        shown += f"\n\n[Output truncated. Full output: {given['fullOutputPath']}]"
    return f"Ran `{given.get('command')}`\n{shown}"
