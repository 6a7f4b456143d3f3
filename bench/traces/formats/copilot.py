"""Chats of GitHub Copilot in VS Code: what "Chat: Export Chat…" writes, and the files below `chatSessions`."""

from __future__ import annotations

import copy
from typing import Any

import msgspec

from ...model import ToolCall
from .. import Confidence, Document, Keeps, Traces, certain_if, dicts, register
from ..parts import Unread
from ..records import arguments, dict_in, objects_of, text, time_of, typed
from ..steps import Said, Steps

_FRAME = {"requesterUsername", "responderUsername", "sessionId", "version", "creationDate"}


class Call(msgspec.Struct):
    """A tool call of a round."""

    id: str | None = None
    name: str | None = None
    arguments: Any = None


class Round(msgspec.Struct, rename="camel"):
    """One answer of the model within a request."""

    response: str | None = None
    tool_calls: list[Call] = []
    thinking: Any = None
    timestamp: Any = None
    model_id: str | None = None


class Request(msgspec.Struct, rename="camel"):
    """What a person asked, and all that followed."""

    message: Any = None
    response: Any = None
    result: Any = None
    timestamp: Any = None
    model_id: str | None = None
    is_canceled: bool | None = None


@register("reader", "copilot")
class Copilot:
    """One chat a file: `{requests: [{message, response, result}]}`, or lines that change it (`{kind, k, v}`), which are applied in order.

    Each request is a user turn. Its `toolCallRounds` are turns with their calls, `toolCallResults` the results; without rounds the texts of the
    response are the one turn. A request that was cancelled is counted. Token counts are of a whole request and are kept in `meta`.

    Source: code.visualstudio.com/docs/copilot, "Export a chat session"; github.com/microsoft/vscode, `chatModel.ts` (ISerializableChatData)
    """

    keeps = Keeps(
        results="as shown",
        also=("times", "reasoning", "model"),
        never="system prompts, tool definitions, usage by call, errors of tools, how the run ended",
        tested="exports of VS Code 1.10x, by hand after published ones",
    )

    def sniff(self, document: Document) -> Confidence:
        head = document.head if isinstance(document.head, dict) else {}
        chat = head["v"] if head.get("kind") == 0 and isinstance(head.get("v"), dict) else head
        asked = any(isinstance(item.get("message"), dict) for item in dicts(chat.get("requests")))
        framed = not _FRAME.isdisjoint(chat)
        return certain_if(framed and (asked or chat.get("requests") == []) and "requests" in chat)

    def read(self, document: Document) -> Traces:
        """The file's one chat; its id and title are in `meta`."""
        run = _Chat()
        objects = objects_of(document, run.unread)
        chat = _replayed(objects, run.unread) if objects else {}
        counts: dict[str, Any] = {}
        for value in dicts(chat.get("requests")):
            run.request(typed(value, Request, run.unread))
            metadata = dict_in(value, "result", "metadata")
            tokens = {
                key: metadata[key]
                for key in ("promptTokens", "outputTokens")
                if metadata.get(key) not in (None, "", {}, [])
            }
            counts |= {str(run.index - 1): tokens} if tokens else {}
        notes = {"session_id": chat.get("sessionId"), "title": chat.get("customTitle"), "tokens_of_requests": counts}
        run.meta = {key: value for key, value in notes.items() if value}
        yield run.trace(document, "copilot")


def _replayed(objects: list[dict[str, Any]], unread: Unread) -> dict[str, Any]:
    """The chat that lines of changes make: 0 is the whole, 1 sets a place, 2 appends to one. A change of a
    place that the chat does not have is counted."""
    first, *changes = objects
    if first.get("kind") != 0 or not isinstance(first.get("v"), dict):
        return first
    chat: Any = copy.deepcopy(first["v"])
    for line in changes:
        path, value = line.get("k"), line.get("v")
        inner = chat
        try:
            for step in (path or [])[:-1]:
                inner = inner[step]
            if line.get("kind") == 2 and path:
                inner.setdefault(path[-1], []).extend(value) if isinstance(inner, dict) else inner[path[-1]].extend(
                    value
                )
            elif path:
                inner[path[-1]] = value
        except (LookupError, TypeError, AttributeError):
            unread.add("change of a place that the chat does not have")
    return chat  # type: ignore[no-any-return]


class _Chat(Steps):
    """One chat on its way to a trace."""

    def request(self, request: Request) -> None:
        """Add a request and what followed."""
        t = time_of(request.timestamp, self.unread)
        if asked := text(dict_in(request.message).get("text")):
            self.say(Said("user", asked), t=t)
        self.unread.add("request that was cancelled", request.is_canceled is True)
        metadata = dict_in(request.result, "metadata")
        rounds = [typed(value, Round, self.unread) for value in dicts(metadata.get("toolCallRounds"))]
        if not rounds and request.response:
            pieces = request.response if isinstance(request.response, list) else [request.response]
            shown = "".join(map(_shown, pieces))
            self.say(Said("assistant", shown), t=t, model=request.model_id or None)
        for turn in rounds:
            thought = dict_in(turn.thinking).get("text")
            reasoning = "\n".join(map(str, thought)) if isinstance(thought, list) else text(thought)
            calls = tuple(map(_call, turn.tool_calls))
            said = Said("assistant", turn.response or "", calls, reasoning or None)
            self.say(said, t=time_of(turn.timestamp, self.unread) or t, model=turn.model_id or request.model_id or None)
            for call in calls:
                content = dict_in(metadata, "toolCallResults", call.id).get("content")
                if isinstance(content, list) and content:
                    self.say(Said("tool", "\n".join(filter(None, map(_text, content))), call_id=call.id), t=t)


def _call(call: Call) -> ToolCall:
    return ToolCall(id=call.id or "", name=call.name or "unknown", arguments=arguments(call.arguments))


def _shown(part: Any) -> str:
    """The text of a part of a response; `""` for progress, edits and references."""
    if isinstance(part, str):
        return part
    value = dict_in(part).get("value", dict_in(part).get("content"))
    value = value.get("value") if isinstance(value, dict) else value
    return value if isinstance(value, str) and dict_in(part).get("kind") in (None, "markdownContent") else ""


def _text(part: Any) -> str:
    """The text of a result's part, which may be a tree of prompt elements."""
    if isinstance(part, str):
        return part
    values = [dict_in(part).get(key) for key in ("value", "text")]
    value = next((value for value in values if value is not None), None)
    return value if isinstance(value, str) else _leaves(value)


def _leaves(value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    own, children = value.get("text"), value.get("children")
    inside = "".join(map(_leaves, children if isinstance(children, list) else ()))
    return (own if isinstance(own, str) else "") + inside + _leaves(value.get("node"))
