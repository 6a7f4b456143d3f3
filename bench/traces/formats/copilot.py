"""Chats of GitHub Copilot in VS Code: what "Chat: Export Chat…" writes, and the files below `chatSessions`."""

from __future__ import annotations

import copy
from typing import Any

from ...model import ToolCall
from .. import Confidence, Document, Keeps, Near, Node, Traces, as_dict, by_marks, dicts, register
from ..nodes import at, filled, first_of, inside, moment, only_text, picked
from ..parts import arguments_of
from ..steps import Said, Steps

_FRAME = {"requesterUsername", "responderUsername", "sessionId", "version", "creationDate"}


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

    def sniff(self, document: Document) -> Confidence | Near:
        head = as_dict(document.head)
        held = head["v"] if head.get("kind") == 0 and isinstance(head.get("v"), dict) else head
        asked = any(isinstance(item.get("message"), dict) for item in dicts(held.get("requests")))
        framed = not _FRAME.isdisjoint(held)
        marks = {"requests with a message": asked or (framed and held.get("requests") == [])}
        return by_marks(marks | {"keys of a chat session": framed and "requests" in held})

    def read(self, document: Document) -> Traces:
        """The file's one chat; its id and title are in `meta`."""
        chat = _replayed(document) if document.is_json_lines else document.node()
        chat = chat["v"] if chat["kind"].value == 0 and isinstance(chat["v"].value, dict) else chat
        steps = Steps()
        counts: dict[str, Any] = {}
        for request in chat["requests"].items():
            _say(steps, request)
            told = picked(at(request, "result", "metadata"), "promptTokens", "outputTokens")
            counts |= {str(steps.index - 1): told} if told else {}
        steps.meta = filled(
            session_id=chat["sessionId"].value, title=chat["customTitle"].value, tokens_of_requests=counts
        )
        yield steps.trace(document, "copilot", chat)


def _replayed(document: Document) -> Node:
    """The chat that lines of changes make: 0 is the whole, 1 sets a place, 2 appends to one."""
    first, *changes = document.line_nodes()
    value: Any = copy.deepcopy(first["v"].value)
    for line in changes:
        path, held = [step.value for step in line["k"].items()], line["v"].value
        inner = value
        try:
            for step in path[:-1]:
                inner = inner[step]
            if line["kind"].value == 2:
                inner.setdefault(path[-1], []).extend(held) if isinstance(inner, dict) else inner[path[-1]].extend(held)
            elif path:
                inner[path[-1]] = held
        except (LookupError, TypeError, AttributeError):
            raise line.fail("changes a place that the chat does not have — lines before it are missing") from None
    return first.made(value)


def _say(steps: Steps, request: Node) -> None:
    t, model, response = moment(request["timestamp"]), only_text(request["modelId"]), request["response"]
    if text := only_text(request["message"]["text"]):
        steps.say(Said("user", text), t=t)
    steps.unread.add("request that was cancelled", int(request["isCanceled"].value is True))
    metadata = at(request, "result", "metadata")
    rounds, results = at(metadata, "toolCallRounds").items(), at(metadata, "toolCallResults")
    if not rounds and response.value:
        listed = isinstance(response.value, list)
        shown = "".join(_shown(part.value) for part in response.items()) if listed else response.text()
        steps.say(Said("assistant", shown), t=t, model=model)
    for turn in rounds:
        calls = tuple(map(_call, turn["toolCalls"].items()))
        thought = inside(turn, "thinking", "text").value
        thoughts = "\n".join(map(str, thought)) if isinstance(thought, list) else thought
        reasoning = thoughts if isinstance(thoughts, str) and thoughts else None
        said = Said("assistant", only_text(turn["response"]) or "", calls, reasoning)
        steps.say(said, t=moment(turn["timestamp"]) or t, model=only_text(turn["modelId"]) or model)
        for call in calls:
            held = results[call.id] if results.value is not None and call.id else results
            if parts := inside(held, "content").items():
                steps.say(Said("tool", "\n".join(filter(None, map(_text, parts))), call_id=call.id), t=t)


def _call(call: Node) -> ToolCall:
    return ToolCall(id=only_text(call["id"]) or "", name=call["name"].text(), arguments=arguments_of(call["arguments"]))


def _shown(part: Any) -> str:
    """The text of a part of a response; `""` for progress, edits and references."""
    if isinstance(part, str):
        return part
    held = as_dict(part)
    value = held.get("value", held.get("content"))
    value = value.get("value") if isinstance(value, dict) else value
    return value if isinstance(value, str) and held.get("kind") in (None, "markdownContent") else ""


def _text(part: Node) -> str:
    """The text of a result's part, which may be a tree of prompt elements."""
    held = part if isinstance(part.value, str) else first_of(part, "value", "text")
    return held.value if isinstance(held.value, str) else _leaves(held.value)


def _leaves(value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    own, children = value.get("text"), value.get("children")
    inside = "".join(map(_leaves, children if isinstance(children, list) else ()))
    return (own if isinstance(own, str) else "") + inside + _leaves(value.get("node"))
