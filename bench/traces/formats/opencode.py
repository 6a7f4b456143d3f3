"""Sessions of opencode, as `opencode export` writes them."""

from __future__ import annotations

from typing import Any

from ...model import ContextEdit, ContextReset, ToolCall
from .. import Document, Fields, register
from ..intakes.content import Blocks
from ..intakes.usage import usage_in
from ..steps import PICTURE, ReadMessage, ToolRun
from ..values import Kinds, as_dict, dicts, fields_of, text, time_of
from . import SessionLog

_CLEARED = "[Old tool result content cleared]"
_INTERRUPTED = "[Tool execution was interrupted]"
_STOPPED = "MessageAbortedError"
"""The error of an answer that its user stopped, and that later prompts have all the same."""
_SENT = {"compaction": "What did we do so far?",
         "subtask": "The following tool was executed by the user"}  # fmt: skip
"""The texts that the model gets for some parts of a user's message."""
_NOT_IN_PROMPTS = {"step-start", "step-finish", "snapshot", "patch", "retry", "agent"}
_TEXT_FILES = ("text/plain", "application/x-directory")
"""Files whose text is in a separate part."""
_MESSAGE: Kinds = {"id": str, "role": str, "time": dict, "modelID": str, "summary": object, "tokens": dict, "finish": str,
            "cost": float, "error": dict, "system": str}  # fmt: skip
_PART: Kinds = {"type": str, "text": str, "ignored": bool, "callID": str, "tool": str, "state": dict, "tokens": dict,
         "reason": str, "cost": float, "mime": str, "url": str, "tail_start_id": str}  # fmt: skip
_STATE = {"status": str, "input": object, "output": str, "error": str, "metadata": dict, "time": dict,
          "attachments": list}  # fmt: skip
_TIMES = {"created": float, "start": float, "end": float, "compacted": float}


@register("reader", "opencode")
class Opencode(SessionLog):
    """One session per file. Each step of an assistant's message is a turn with its calls; the
    results follow it.

    Results whose output opencode cleared later (`time.compacted`) are a ContextEdit before the
    first call after that. A message of compaction and its summary are turns, and then a
    ContextReset that keeps those two, and the messages before them from `tail_start_id` on. A call
    that was interrupted failed. An answer that failed is in no prompt, and counted. The cost is in
    `meta`. A sub-agent's session is a file of its own. Its storage is read by way of `opencode
    export`.

    Not kept: the system prompt and tool definitions, the whole output of a truncated result, which
    is a file of its own.

    Source: github.com/sst/opencode, `packages/opencode/src/session/message-v2.ts` (WithParts,
    toModelMessage), `src/cli/cmd/export.ts`. Tested: opencode 1.1 exports, written by hand after
    the source
    """

    def __init__(self) -> None:
        super().__init__()
        self.cleared: list[tuple[float, int]] = []  # results that are cleared later: when, which
        self.begun: dict[str, int] = {}  # the index at which each message begins
        self.first_kept: int | None = None  # of a compaction that was asked for

    def marked(self, document: Document) -> object:
        head = as_dict(document.head)
        messages = [one for one in dicts(head.get("messages")) if "role" in as_dict(one, "info")]
        parts = any(isinstance(one.get("parts"), list) for one in messages)
        return "id" in as_dict(head, "info") and parts

    def add_file(self, document: Document) -> None:
        session = as_dict(document.json)
        self.meta["session_id"] = str(as_dict(session, "info").get("id"))
        for item in dicts(session.get("messages")):
            self._message(as_dict(item, "info"), dicts(item.get("parts")))

    def _message(self, info: Fields, parts: list[Fields]) -> None:
        fields = fields_of(info, _MESSAGE, self.unread)
        pieces = [fields_of(part, _PART, self.unread) for part in parts]
        created = fields_of(fields.get("time"), _TIMES, self.unread).get("created")
        self.at(created)
        self.begun |= {fields["id"]: self.index} if "id" in fields else {}
        role, stopped = fields.get("role"), fields.get("error", {}).get("name") == _STOPPED
        answered = any(piece.get("type") in ("text", "tool") for piece in pieces)
        if role == "user":
            self._user(fields, pieces)
        elif role != "assistant":
            self.unread.kind("message of a role", role)
        elif "error" in fields and not (stopped and answered):
            self.unread.add("answer that failed")
        else:
            self._clear(created or 0.0)
            self._assistant(fields, pieces)

    def _user(self, info: Fields, pieces: list[Fields]) -> None:
        if info.get("system"):
            self.add_message(ReadMessage("system", info["system"]))
        blocks = self._blocks(pieces)
        if blocks.has_content:
            index = self.add_message(blocks.message("user"))
            for piece in pieces:
                if piece.get("type") == "compaction":
                    self.first_kept = self.begun.get(piece.get("tail_start_id", ""), index)

    def _assistant(self, info: Fields, pieces: list[Fields]) -> None:
        calls = _calls_of(pieces)
        for call in calls:
            alone = info if len(calls) == 1 else {}
            end = next((piece for piece in call if piece.get("type") == "step-finish"), {})
            self.cost_usd += end.get("cost", alone.get("cost")) or 0
            tokens = end.get("tokens") or alone.get("tokens") or {}
            cache = as_dict(tokens, "cache")
            beside = {"cacheRead": cache.get("read"), "cacheWrite": cache.get("write")}
            usage = usage_in({**tokens, **beside}, self.unread)
            self.add_message(self._blocks(call).answer(model=info.get("modelID"), usage=usage))
            for piece in call:
                if piece.get("type") == "tool":
                    self._result(piece.get("callID", ""), piece.get("state"))
        if info.get("summary") is True and self.first_kept is not None:
            self.add(ContextReset, kept=tuple(range(self.first_kept, self.index)))
            self.first_kept = None

    def _blocks(self, pieces: list[Fields]) -> Blocks:
        """The parts of a message that its prompts or the answer have."""
        blocks = Blocks()
        for piece in pieces:
            kind = piece.get("type")
            if kind in ("text", "reasoning") and piece.get("ignored") is not True:
                blocks.add(piece, self.unread)
            elif kind == "tool":
                given, name = as_dict(piece, "state").get("input"), piece.get("tool", "unknown")
                call = ToolCall(id=piece.get("callID", ""), name=name, arguments=given)
                blocks.calls.append(call)
            elif kind == "file" and piece.get("mime") not in _TEXT_FILES:
                blocks.other.append(PICTURE)
            elif kind in _SENT:
                blocks.texts.append(_SENT[kind])
            elif kind not in ("text", "file", *_NOT_IN_PROMPTS):
                self.unread.kind("part", kind)
        return blocks

    def _result(self, call_id: str, given: Any) -> None:
        state = fields_of(given, _STATE, self.unread)
        times = fields_of(state.get("time"), _TIMES, self.unread)
        failed = state.get("status") != "completed"
        metadata = as_dict(state, "metadata")
        stopped = metadata.get("output") if metadata.get("interrupted") is True else None
        error = text(stopped) or state.get("error") or _INTERRUPTED
        seen = error if failed else state.get("output", "")
        ran = ToolRun(cut=metadata.get("truncated") is True)
        pictures = [PICTURE for file in dicts(state.get("attachments")) if text(file.get("url"))]
        shown = ReadMessage("tool", seen, failed=failed, ran=ran, other=tuple(pictures))
        known = {"call_id": call_id, "time": time_of(times.get("end"), self.unread)}
        index = self.add_message(shown.with_known(**known))
        if "compacted" in times:
            self.cleared.append((times["compacted"], index))

    def _clear(self, now: float) -> None:
        due = [item for item in self.cleared if item[0] <= now]
        if due:
            self.cleared = [item for item in self.cleared if item not in due]
            time, notices = time_of(max(due)[0], self.unread), {index: _CLEARED for _, index in due}
            self.add(ContextEdit, t=time, shown=notices)


def _calls_of(pieces: list[Fields]) -> list[list[Fields]]:
    calls: list[list[Fields]] = [[]]
    for piece in pieces:
        answered = any(known.get("type") in ("text", "tool", "reasoning") for known in calls[-1])
        if piece.get("type") == "step-start" and answered:
            calls.append([])
        calls[-1].append(piece)
    return calls
