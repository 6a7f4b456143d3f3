"""Conversations that ChatGPT exports: a tree of messages, of which the branch that is shown makes a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...model import Content, Part, TextPart, ToolCall, Trace, text_of
from .. import Confidence, Document, Keeps, Near, Node, as_dict, by_marks, dicts, register, strict_json, values_of
from ..nodes import at, filled, moment, only_text
from ..parts import CHAT_ROLES, part_of, role_of, simple
from ..steps import Said, Steps

_WRAPPED = ("raw_provider_payload", "conversation")
_TEXTS = ("text", "result", "content", "user_profile", "user_instructions", "model_set_context")


@register("reader", "chatgpt")
class ChatGPT:
    """One trace a conversation: `conversations.json`, a list of `{title, mapping, current_node}`, one of them alone, or one in a browser's capture.

    The messages from the root to `current_node` are told; those of other branches are counted. Thoughts are the reasoning of the turn after
    them. A message of the model to a tool (`recipient` is not `all`) is a call of that tool, and the tool's message its result. Pictures and
    files are kept as size and hash.

    Source: help.openai.com, "How do I export my ChatGPT history and data?"
    """

    keeps = Keeps(
        results="as shown",
        also=("times", "errors", "reasoning", "model"),
        never="usage, tool definitions, the hidden system prompt, texts of files",
        tested="exports of 2025 and 2026, published files and by hand after them",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        first = document.first
        talk = next((first[key] for key in _WRAPPED if isinstance(first.get(key), dict)), first)
        held = dicts(list(as_dict(talk.get("mapping")).values()))
        spoken = any({"message", "parent"} <= node.keys() for node in held)
        return by_marks({"a 'mapping' of nodes": bool(held), "a message with its parent in them": spoken})

    def read(self, document: Document) -> Iterator[Trace]:
        """The file's conversations in order; title and id are in `meta`. One without messages is counted on the next."""
        empty = 0
        for value in values_of(document):
            talk = next((value[key] for key in _WRAPPED if isinstance(value[key].value, dict)), value)
            run = _Branch(talk)
            if not run.index:
                empty += 1
                continue
            run.unread.add("conversation without messages", empty)
            empty = 0
            session = talk["conversation_id"].value or talk["id"].value
            yield run.trace(document, "chatgpt", talk, meta=filled(title=talk["title"].value, session_id=session))


class _Branch(Steps):
    def __init__(self, talk: Node) -> None:
        super().__init__()
        nodes = talk["mapping"].object()
        name, path = only_text(talk["current_node"]) or next(reversed(nodes), None), []
        while name in nodes and name not in path:
            path.append(name)
            name = talk["mapping"][name]["parent"].text_or_none()
        self.thoughts: list[str] = []
        spoken = [node for node in dicts(list(nodes.values())) if node.get("message")]
        told = [message for name in reversed(path) if (message := talk["mapping"][name]["message"]).value is not None]
        self.unread.add("message of another branch", len(spoken) - len(told))
        for message in told:
            self._message(message)
        self.unread.add("thoughts without a turn after them", len(self.thoughts))

    def _message(self, message: Node) -> None:
        kind = at(message, "content", "content_type").value
        role = role_of(message["author"], CHAT_ROLES)
        if message["content"].value is None:
            return
        content, t = _content(message["content"]), moment(message["create_time"])
        if kind in ("thoughts", "reasoning_recap"):
            self.thoughts += filter(None, [text_of(content)])
        elif role == "assistant":
            to, text = only_text(message["recipient"]) or "all", content if isinstance(content, str) else ""
            call = () if to == "all" else (ToolCall(id="", name=to, arguments=strict_json(text) or text),)
            said = Said("assistant", "" if call else content, call, "\n".join(self.thoughts) or None)
            model = only_text(at(message, "metadata", "model_slug"))
            self.thoughts = []
            ended = only_text(at(message, "metadata", "finish_details", "type"))
            self.say(said, t=t, model=model, finish_reason=ended)
        elif content:
            named = only_text(at(message, "author", "name")) or ""
            known = not self.waiting() or any(call.name == named for call in self.waiting())
            failed = kind == "system_error"
            error = content if failed and isinstance(content, str) else None
            self.say(Said(role, content, name=named if known else "", failed=failed, error=error), t=t)


def _content(node: Node) -> Content:
    value = node.object()
    listed = value.get("parts", value.get("thoughts"))
    if not isinstance(listed, list):
        return "\n".join(text for key in _TEXTS if isinstance(text := value.get(key), str) and text)
    parts: list[Part] = []
    for part in listed:
        held: Any = as_dict(part)
        text = part if isinstance(part, str) else held.get("content") or held.get("text")
        if isinstance(text, str):
            parts += [TextPart(text=text)] if text else []
        elif part is not None:
            kind = str(held.get("content_type")) if held else "part"
            parts.append(part_of(node.made({"type": kind, "held": part})))
    return simple(tuple(parts))
