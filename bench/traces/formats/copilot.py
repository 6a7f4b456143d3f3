"""Chats of GitHub Copilot in VS Code: exported files, and those below `chatSessions`."""

from __future__ import annotations

import copy
from typing import Any

from .. import Document, Fields, register
from ..intakes.messages import messages
from ..values import Unread, as_dict, as_list, dicts, fields_of, text
from . import SessionLog

_FRAME = {"requesterUsername", "responderUsername", "sessionId", "version", "creationDate"}
_ROUND = {"response": str, "toolCalls": list, "thinking": dict, "timestamp": object, "modelId": str}
_REQUEST = {"message": dict, "response": list, "result": dict, "timestamp": object, "modelId": str,
            "isCanceled": bool}  # fmt: skip


@register("reader", "copilot")
class Copilot(SessionLog):
    """One chat per file: `{requests: [{message, response, result}]}`, or lines that change it
    (`{kind, k, v}`), which are applied in order.

    Each request is a user turn. Its `toolCallRounds` are turns with their calls, `toolCallResults`
    the results; without rounds the texts of the response are the one turn. A request that was
    cancelled is counted. Token counts are of a whole request, not of a call, and are left out.

    Not kept: system prompts, tool definitions, usage by call, errors of tools.

    Source: code.visualstudio.com/docs/copilot, "Export a chat session";
    github.com/microsoft/vscode, `chatModel.ts` (ISerializableChatData). Tested: exports of VS Code
    1.10x, by hand after published ones
    """

    def marked(self, document: Document) -> object:
        head = as_dict(document.head)
        chat = as_dict(head, "v") if head.get("kind") == 0 else head
        asked = [as_dict(item, "message") for item in dicts(chat.get("requests"))]
        return (chat.get("requests") == [] or any(asked)) and not _FRAME.isdisjoint(chat)

    def add_file(self, document: Document) -> None:
        objects = document.objects(self.unread)
        chat = _chat_after_changes(objects, self.unread) if objects else {}
        self.meta["session_id"] = chat.get("sessionId")
        for value in dicts(chat.get("requests")):
            self._request(value)

    def _request(self, value: Fields) -> None:
        request = fields_of(value, _REQUEST, self.unread)
        self.unread.add("request that was cancelled", request.get("isCanceled") is True)
        metadata, begun = as_dict(request, "result", "metadata"), request.get("timestamp")
        asked = text(as_dict(request, "message").get("text"))
        sent = [{"role": "user", "content": asked, "timestamp": begun}] if asked else []
        rounds = dicts(metadata.get("toolCallRounds"))
        if not rounds and request.get("response"):
            rounds = [{"response": _text(request["response"])}]
        for one in rounds:
            turn = fields_of(one, _ROUND, self.unread)
            thought, time = as_dict(turn, "thinking").get("text"), turn.get("timestamp", begun)
            answer = {
                "role": "assistant",
                "content": turn.get("response"),
                "reasoning": "\n".join(map(str, thought)) if isinstance(thought, list) else thought,
                "toolCalls": turn.get("toolCalls"),
                "model": turn.get("modelId", request.get("modelId")),
            }
            sent.append({**answer, "timestamp": time})
            for call in dicts(turn.get("toolCalls")):
                own = str(call.get("id"))
                content = as_list(as_dict(metadata, "toolCallResults", own).get("content"))
                shown = "\n".join(filter(None, map(_text, content)))
                result = {"role": "tool", "tool_call_id": own, "content": shown, "timestamp": time}
                sent += [result] if content else []
        self.add_messages(messages(sent, self.unread))


def _chat_after_changes(objects: list[Fields], unread: Unread) -> Any:
    """The chat after applying lines of changes: kind 0 is the whole chat, 1 sets a place, 2 appends
    to one. A change of a missing place is counted."""
    first, *changes = objects
    if first.get("kind") != 0 or not isinstance(first.get("v"), dict):
        return first
    chat = copy.deepcopy(first["v"])
    for line in changes:
        place, value = chat, line.get("v")
        try:
            *path, last = line.get("k") or []
            for step in path:
                place = place[step]
            if line.get("kind") == 2:
                before = place.get(last, []) if isinstance(place, dict) else place[last]
                value = [*before, *(value or ())]
            place[last] = value
        except (LookupError, TypeError, AttributeError, ValueError):
            unread.add("change of a place that the chat does not have")
    return chat


def _text(part: Any) -> str:
    if isinstance(part, list):
        return "".join(map(_text, part))
    if not isinstance(part, dict):
        return text(part) or ""
    if part.get("kind") not in (None, "markdownContent"):
        return ""
    return "".join(_text(part.get(key)) for key in ("value", "content", "text", "children", "node"))
