"""Sessions of Gemini CLI: the files below `~/.gemini/tmp/<project>/chats`, one a session, and what
`--output-format stream-json` prints."""

from __future__ import annotations

from typing import Any

from ...model import ContextReset
from .. import Document, Fields, register
from ..intakes.content import blocks_of
from ..intakes.messages import message
from ..steps import ReadMessage, Steps
from ..values import Kinds, Unread, as_dict, dicts, fields_of, text, time_of, without_empty
from . import Format

_TURNS = ("user", "gemini")
_NOTES = ("info", "error", "warning")
"""Messages that the CLI showed to its user and not to the model."""
_PENDING = (None, "executing", "scheduled", "validating", "awaiting_approval")

_CALL: Kinds = {"id": str, "name": str, "args": object, "result": object, "status": str,
                "timestamp": object}  # fmt: skip
_STREAMED = {"tool_id": "id", "tool_name": "name", "parameters": "arguments"}
_MESSAGE: Kinds = {"id": object, "type": str, "timestamp": object, "content": object, "displayContent": object,
            "toolCalls": list, "thoughts": list, "model": str, "tokens": dict}  # fmt: skip


@register("reader", "gemini_cli")
class GeminiCLI(Format):
    """One session per file: `{sessionId, messages}`, a line of JSON each in later versions, or what
    `--output-format stream-json` printed.

    A message of type `gemini` is a turn with its thoughts, its tokens and its `toolCalls`; each
    call holds its own result, of which an object around one text is that text. Calls that were
    cancelled or failed did not succeed. What the CLI told its user alone is counted. Going back
    (`$rewindTo`) is a ContextReset.

    Not kept: the system prompt, tool definitions, results above what the model was sent.

    Source: github.com/google-gemini/gemini-cli, `packages/core/src/services/chatRecordingTypes.ts`
    (ConversationRecord, RewindRecord), `packages/core/src/output/types.ts` (JsonStreamEvent).
    Tested: sessions of Gemini CLI of October 2025, published files
    """

    def marked(self, document: Document) -> object:
        first, objects = document.first, document.first_objects
        dated = "projectHash" in first or {"startTime", "lastUpdated"} <= first.keys()
        messages = objects if document.is_json_lines else dicts(first.get("messages"))
        session = "sessionId" in first and dated
        has_turns = session and any(item.get("type") in _TURNS for item in messages)
        return has_turns or any(map(_begins, objects))

    def runs(self, document: Document, unread: Unread) -> list[Steps]:
        run = _Session()
        objects = document.objects(run.unread)
        (run.stream if any(map(_begins, objects)) else run.session)(objects)
        return [run]


class _Session(Steps):
    """The steps of one session."""

    def session(self, objects: list[Fields]) -> None:
        """Add a recorded session: a header with messages, or with a line for each."""
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
                anew = "messages" in as_dict(value, "$set")
                self.unread.add("messages set anew", anew)
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

    def stream(self, lines: list[Fields]) -> None:
        """Add the lines of a stream; the model's text and calls up to a result are one turn."""
        sent: list[Fields] = []
        for line in lines:
            kind, content = line.get("type"), text(line.get("content")) or ""
            if kind == "message" and line.get("role") == "user":
                time = line.get("timestamp")
                sent.append({"role": "user", "content": content, "timestamp": time})
            elif kind in ("message", "tool_use"):
                if not sent or sent[-1]["role"] != "assistant":
                    sent.append({"role": "assistant", "content": "", "tool_calls": []})
                if kind == "tool_use":
                    call = {name: line.get(key) for key, name in _STREAMED.items()}
                    sent[-1]["tool_calls"].append(call)
                else:
                    between = "" if line.get("delta") or not sent[-1]["content"] else "\n"
                    sent[-1]["content"] += between + content
            elif kind == "tool_result":
                result = {"content": line.get("output"), "tool_call_id": line.get("tool_id")}
                about = {key: line.get(key) for key in ("status", "error", "timestamp")}
                sent.append({"role": "tool", **result, **about})
            elif kind in ("init", "result"):
                self.model = text(line.get("model")) or self.model
                self.meta["session_id"] = line.get("session_id") or self.meta.get("session_id")
            else:
                self.unread.kind("event", kind)
        for one in sent:
            self.add_messages(message(one, self.unread))


def _begins(line: Fields) -> bool:
    return line.get("type") == "init" and "session_id" in line
