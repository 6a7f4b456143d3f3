"""Message histories of pydantic-ai: requests and responses, each with its parts."""

from __future__ import annotations

from typing import Any

from ...model import Content, ToolCall, as_text, compact_json
from .. import Confidence, Document, Keeps, Near, Node, Traces, by_marks, dicts, register, values_of
from ..blocks import Blocks, sorted_blocks
from ..nodes import moment, only_text
from ..parts import Unread, arguments_of, usage_of
from ..steps import Said, Steps, result

_HOLDERS = ("messages", "message_history", "all_messages", "new_messages", "agent_messages")


@register("reader", "pydantic_ai")
class PydanticAI:
    """One trace a history: a list of messages of kind `request` or `response` (`all_messages_json()`), an object that holds one, or lines of either.

    A request's parts are system and user turns and results of tools, one by one; a retry prompt that names a tool is a failed result, another
    one a user turn. A response is a turn with its thinking, calls and usage. Tools that the provider ran are calls with their results.

    Source: ai.pydantic.dev, "Messages and chat history"; github.com/pydantic/pydantic-ai, `pydantic_ai/messages.py`
    """

    keeps = Keeps(
        results="as shown",
        also=("usage", "times", "errors", "reasoning", "model"),
        never="tool definitions, how the run ended",
        tested="pydantic-ai 1.x and the names of 0.x, by hand after the source",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        listed = document.head
        if isinstance(listed, dict):
            listed = next((listed[key] for key in _HOLDERS if isinstance(listed.get(key), list)), [listed])
        messages = [item for item in dicts(listed) if item.get("kind") in ("request", "response")]
        known = [item for item in messages if isinstance(item.get("parts"), list)]
        typed = any("part_kind" in part for item in known for part in dicts(item["parts"]))
        return by_marks({"messages of kind request or response": bool(known), "parts with a 'part_kind'": typed})

    def read(self, document: Document) -> Traces:
        """The file's histories in order, without ids."""
        values = values_of(document)
        held = [(value, value[key].items()) for value in values for key in _HOLDERS if value.has(key)]
        for place, messages in held or [(values[0], values)]:
            steps = Steps()
            for message in messages:
                _say(steps, message)
            yield steps.trace(document, "pydantic_ai", place)


def _say(steps: Steps, message: Node) -> None:
    t, kind = moment(message["timestamp"]), message["kind"].text()
    if kind == "response":
        model, ended = only_text(message["model_name"]), only_text(message["finish_reason"])
        usage = usage_of(message["usage"])
        told = _turn(message, steps.unread).answer() or [Said("assistant")]
        steps.tell(told, t=t, model=model, finish_reason=ended, usage=usage)
        return
    if kind != "request":
        steps.unread.kind("message", kind)
        return
    instructions = only_text(message["instructions"])
    if instructions and not any(getattr(step, "content", None) == instructions for step in steps.steps):
        steps.say(Said("system", instructions), t=t)
    for part in message["parts"].items():
        when, kind = moment(part["timestamp"]) or t, part["part_kind"].text()
        if kind in ("system-prompt", "user-prompt"):
            steps.say(Said("system" if kind == "system-prompt" else "user", _content(part["content"])), t=when)
        elif kind in ("tool-return", "retry-prompt"):
            steps.say(_result(part, kind == "retry-prompt"), t=when)
        else:
            steps.unread.kind("part", kind)


def _turn(message: Node, unread: Unread) -> Blocks:
    turn = Blocks()
    for part in message["parts"].items():
        kind = part["part_kind"].text()
        if kind == "text":
            turn.text(part["content"].text())
        elif kind == "thinking":
            turn.thoughts.append(part["content"].text_or_none() or "")
            unread.add("reasoning whose text is not recorded", not turn.thoughts[-1])
        elif kind in ("tool-call", "builtin-tool-call"):
            named, given = only_text(part["tool_call_id"]) or "", arguments_of(part["args"])
            turn.calls.append(ToolCall(id=named, name=part["tool_name"].text(), arguments=given))
        elif kind == "builtin-tool-return":
            turn.results.append(_result(part, False))
        else:
            unread.kind("part", kind)
    return turn


def _result(part: Node, retried: bool) -> Said:
    content, name = part["content"].value, only_text(part["tool_name"]) or ""
    text = as_text(content) if content is not None else ""
    if retried and not name:
        return Said("user", text)
    failed = retried or part["outcome"].value in ("failed", "denied")
    return result(text, only_text(part["tool_call_id"]) or "", name, failed=failed)


def _content(node: Node) -> Content:
    if not isinstance(node.value, list):
        return node.text_or_none() or ""
    return sorted_blocks(node.made(_block(item)) for item in node.value).content


def _block(item: Any) -> dict[str, Any]:
    if isinstance(item, str):
        return {"type": "text", "text": item}
    held = item if isinstance(item, dict) else {"value": item}
    kind, media = str(held.get("kind") or "part"), str(held.get("media_type") or "")
    if kind == "image-url" and isinstance(held.get("url"), str):
        return {"type": "image", "url": held["url"]}
    if kind == "binary" and media.startswith("image/") and isinstance(held.get("data"), str):
        return {"type": "blob", "modality": "image", "mime_type": media, "content": held["data"]}
    return {"type": kind, "held": compact_json(held)}
