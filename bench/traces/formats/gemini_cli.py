"""Sessions of Gemini CLI: the files below `~/.gemini/tmp/<project>/chats`, one a session."""

from __future__ import annotations

from typing import Any

from ...model import ContextReset
from .. import Document, Fields, register
from ..intakes.content import blocks_of
from ..intakes.messages import message
from ..steps import ReadMessage
from ..values import Kinds, as_dict, dicts, fields_of, time_of, without_empty
from . import SessionLog

_TURNS = ("user", "gemini")
_NOTES = ("info", "error", "warning")
"""Messages that the CLI showed to its user and not to the model."""
_PENDING = (None, "executing", "scheduled", "validating", "awaiting_approval")

_CALL: Kinds = {"id": str, "name": str, "args": object, "result": object, "status": str,
                "timestamp": object}  # fmt: skip
_MESSAGE: Kinds = {"id": object, "type": str, "timestamp": object, "content": object, "displayContent": object,
            "toolCalls": list, "thoughts": list, "model": str, "tokens": dict}  # fmt: skip


@register("reader", "gemini_cli")
class GeminiCLI(SessionLog):
    """One session per file: `{sessionId, messages}`, or in later versions a line of JSON each.

    A message of type `gemini` is a turn with its thoughts, its tokens and its `toolCalls`; each
    call holds its own result, of which an object around one text is that text. Calls that were
    cancelled or failed did not succeed. What the CLI told its user alone is counted. Going back
    (`$rewindTo`) is a ContextReset.

    Not kept: the system prompt, tool definitions, results above what the model was sent.

    Source: github.com/google-gemini/gemini-cli, `packages/core/src/services/chatRecordingTypes.ts`
    (ConversationRecord, RewindRecord). Tested: sessions of Gemini CLI of October 2025, published
    files
    """

    def marked(self, document: Document) -> object:
        first, objects = document.first, document.first_objects
        dated = "projectHash" in first or {"startTime", "lastUpdated"} <= first.keys()
        messages = objects if document.is_json_lines else dicts(first.get("messages"))
        session = "sessionId" in first and dated
        return session and any(item.get("type") in _TURNS for item in messages)

    def add_file(self, document: Document) -> None:
        objects = document.objects(self.unread)
        header = objects[0] if objects else {}
        self.meta["session_id"] = header.get("sessionId")
        by_id: dict[Any, Fields] = {}
        # A line may write a message anew.
        for value in [*dicts(header.get("messages")), *objects[1:]]:
            by_id[str(value.get("id")) if "id" in value else len(by_id)] = value
        starts: dict[str, int] = {}
        for value in by_id.values():
            if "$rewindTo" in value:
                start = starts.get(str(value["$rewindTo"]))
                lost = "mark of going back to a message that is not in the file"
                self.unread.add(lost, start is None)
                if start is not None:
                    self.add(ContextReset, kept=tuple(range(start)))
            elif "$set" in value:
                self.unread.add("messages set anew", "messages" in as_dict(value, "$set"))
            elif not value.keys() >= {"sessionId", "projectHash"}:
                starts[str(value.get("id"))] = self.index
                self._message(value)

    def _message(self, value: Fields) -> None:
        kind = value.get("type")
        if kind in _NOTES:
            self.unread.add("message to the user alone")
            return
        if kind not in _TURNS:
            self.unread.kind("message", kind)
            return
        fields = fields_of(value, _MESSAGE, self.unread, "a message")
        calls = [fields_of(call, _CALL, self.unread) for call in dicts(fields.get("toolCalls"))]
        thoughts = [
            without_empty(one, ("subject", "description")) for one in dicts(fields.get("thoughts"))
        ]
        sent = {
            "role": "user" if kind == "user" else "assistant",
            "content": fields.get("content"),
            "reasoning": "\n".join(": ".join(map(str, one.values())) for one in thoughts),
            "toolCalls": [without_empty(call, ("id", "name", "args")) for call in calls],
            "model": fields.get("model"),
            "usage": fields.get("tokens"),
            "timestamp": fields.get("timestamp"),
        }
        self.add_messages(message(sent, self.unread))
        for call in calls:
            self._result(call)

    def _result(self, call: Fields) -> None:
        blocks, status = blocks_of(call.get("result"), self.unread), call.get("status")
        if not (blocks.has_content or blocks.results) and status in _PENDING:
            return
        texts = [*(result.content for result in blocks.results), blocks.content]
        seen = "\n".join(filter(None, texts))
        failed = status not in (None, "success") or any(result.failed for result in blocks.results)
        shown = ReadMessage("tool", seen, call_id=call.get("id", ""), failed=failed)
        time = time_of(call.get("timestamp"), self.unread)
        self.add_message(shown.with_known(name=call.get("name", "unknown"), time=time))
