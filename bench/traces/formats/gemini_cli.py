"""Sessions of Gemini CLI: the files below `~/.gemini/tmp/<project>/chats`, one a session."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from .. import Document, Fields, register
from ..intakes.content import blocks_of
from ..intakes.messages import message
from ..intakes.prompts import Prompts
from ..steps import ReadMessage, Steps
from ..values import Kinds, Unread, as_dict, dicts, fields_of, time_of, without_empty
from . import Format

_TURNS = ("user", "gemini")
_NOTES = ("info", "error", "warning")
"""Messages that the CLI showed to its user and not to the model."""
_PENDING = (None, "executing", "scheduled", "validating", "awaiting_approval")

_CALL: Kinds = {"id": str, "name": str, "args": object, "result": object, "status": str,
                "timestamp": object}  # fmt: skip
_MESSAGE: Kinds = {"id": object, "type": str, "timestamp": object, "content": object, "displayContent": object,
            "toolCalls": list, "thoughts": list, "model": str, "tokens": dict}  # fmt: skip


@register("reader", "gemini_cli")
class GeminiCLI(Format):
    """One session per file: `{sessionId, messages}`, or in later versions a line of JSON each.

    A message of type `gemini` is a turn with its thoughts, its tokens and its `toolCalls`; each
    call holds its own result, of which an object around one text is that text. Calls that were
    cancelled or failed did not succeed. What the CLI told its user alone is counted. Going back
    (`$rewindTo`) is a ContextReset, and so is a new history (`$set`) that lacks messages, as after
    a compression. Results that it words differently are a ContextEdit.

    Not kept: the system prompt, tool definitions, results above what the model was sent.

    Source: github.com/google-gemini/gemini-cli, `packages/core/src/services/chatRecordingTypes.ts`
    (ConversationRecord, RewindRecord), `chatRecordingService.ts` (updateMessagesFromHistory).
    Tested: sessions of Gemini CLI of October 2025, published files; of August 2026, by hand after
    the source
    """

    def marked(self, document: Document) -> object:
        first, objects = document.first, document.first_objects
        dated = "projectHash" in first or {"startTime", "lastUpdated"} <= first.keys()
        messages = objects if document.is_json_lines else dicts(first.get("messages"))
        session = "sessionId" in first and dated
        return session and any(item.get("type") in _TURNS for item in messages)

    def runs(self, document: Document, unread: Unread) -> list[Steps]:
        return [_Session(document.objects(unread))]


class _Session(Prompts):
    """The steps of one session; `history` has the messages of each record that is in it now."""

    def __init__(self, objects: list[Fields]) -> None:
        super().__init__()
        header = objects[0] if objects else {}
        self.meta["session_id"] = header.get("sessionId")
        self.history: dict[str, list[ReadMessage]] = {}
        records = [*dicts(header.get("messages")), *objects[1:]]
        names = [_id(record, at) for at, record in enumerate(records)]
        latest = dict(zip(names, records, strict=True))  # a line may write a message anew
        written = _written_for_a_history(records)
        for name in latest:
            record = latest[name]
            if "$rewindTo" in record:
                self._rewind(str(record["$rewindTo"]))
            elif "$set" in record:
                self._set(as_dict(record, "$set"))
            elif name not in written and not record.keys() >= {"sessionId", "projectHash"}:
                self.history[name] = self._messages(record)
                self.extend_state(self.history[name], "agent")

    def _rewind(self, name: str) -> None:
        names, is_known = list(self.history), name in self.history
        unknown = "mark of going back to a message that is not in the file"
        self.unread.add(unknown, not is_known)
        kept = names[: names.index(name)] if is_known else names
        self._change({other: self.history[other] for other in kept})

    def _set(self, changes: Fields) -> None:
        if "messages" in changes:
            listed = dicts(changes["messages"])
            self._change({_id(one, at): self._messages(one) for at, one in enumerate(listed)})

    def _change(self, history: dict[str, list[ReadMessage]]) -> None:
        """Add what is new in a history, after a reset if it lacks messages of the one before."""
        self.history = history
        state: dict[Any, ReadMessage] = {}
        for at, one in enumerate(itertools.chain.from_iterable(history.values())):
            state.setdefault(one.call_id or at, one)  # a result may stand in two records
        self.add_state(list(state.values()), "agent", None)

    def _messages(self, record: Fields) -> list[ReadMessage]:
        """The messages in a record: the turn, then the results of its calls."""
        kind = record.get("type")
        if kind in _NOTES:
            self.unread.add("message to the user alone")
            return []
        if kind not in _TURNS:
            self.unread.kind("message", kind)
            return []
        fields = fields_of(record, _MESSAGE, self.unread, "a message")
        content, called, answered = _parts(fields.get("content"))
        calls = [fields_of(call, _CALL, self.unread) for call in dicts(fields.get("toolCalls"))]
        thoughts = [
            without_empty(one, ("subject", "description")) for one in dicts(fields.get("thoughts"))
        ]
        sent = {
            "role": "user" if kind == "user" else "assistant",
            "content": content,
            "reasoning": "\n".join(": ".join(map(str, one.values())) for one in thoughts),
            "toolCalls": [without_empty(call, ("id", "name", "args")) for call in calls or called],
            "model": fields.get("model"),
            "usage": fields.get("tokens"),
            "timestamp": fields.get("timestamp"),
        }
        turns = message(sent, self.unread) if content or not answered else []
        for one in answered:
            result = [{"functionResponse": one}]
            calls.append({**fields_of(one, _CALL, self.unread), "result": result})
        return [*turns, *filter(None, map(self._result, calls))]

    def _result(self, call: Fields) -> ReadMessage | None:
        """The result of a call; None for one that is still to come."""
        blocks, status = blocks_of(call.get("result"), self.unread), call.get("status")
        if not (blocks.has_content or blocks.results) and status in _PENDING:
            return None
        texts = [*(result.content for result in blocks.results), blocks.content]
        seen = "\n".join(filter(None, texts))
        failed = status not in (None, "success") or any(result.failed for result in blocks.results)
        shown = ReadMessage("tool", seen, call_id=call.get("id", ""), failed=failed)
        time = time_of(call.get("timestamp"), self.unread)
        return shown.with_known(name=call.get("name", "unknown"), time=time)


def _id(record: Fields, at: int) -> str:
    return str(record["id"]) if "id" in record else f"line {at}"


def _parts(content: Any) -> tuple[Any, list[Fields], list[Fields]]:
    """A content, its calls and its results; only a new history has these in the content."""
    kinds = ("functionCall", "functionResponse")
    if not isinstance(content, list):
        return content, [], []
    rest = [part for part in content if not as_dict(part).keys() & set(kinds)]
    called, answered = (
        [part[kind] for part in dicts(content) if as_dict(part, kind)] for kind in kinds
    )
    return rest, called, answered


def _written_for_a_history(records: Iterable[Fields]) -> set[str]:
    """The ids of messages that were only written for the new history that follows them: no model
    has answered in between."""
    written, coming = set[str](), set[str]()
    for record in reversed(list(records)):
        if "messages" in as_dict(record, "$set"):
            coming = {str(one.get("id")) for one in dicts(record["$set"]["messages"])}
        elif record.get("model") is not None:
            coming = set()
        elif str(record.get("id")) in coming:
            written.add(str(record["id"]))
    return written
