"""The parser of OpenAI's Responses interface: messages, reasoning, calls and their outputs, and the calls of tools that the server itself runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..model import Content, TextPart, ToolCall, as_text, compact_json
from .blocks import Blocks
from .decoded import dicts
from .documents import Node
from .nodes import inside
from .parts import CHAT_ROLES, Unread, arguments_of, content_of, picture, role_of, simple
from .steps import Said

_PARTS = {"text", "input_text", "output_text", "refusal", "input_image", "input_file", "input_audio", "summary_text",
          "reasoning_text"}  # fmt: skip
_INPUTS = ("arguments", "input", "action", "operation", "code", "queries")
_OUTPUTS = ("output", "outputs", "results", "result", "tools")
_KNOWN = {"type", "id", "role", "content", "status", "name", "call_id", "summary", "encrypted_content", "namespace", "phase", "execution",
          "server_label", "container_id", "error", "revised_prompt", "created_by", "internal_chat_message_metadata_passthrough", "author",
          "recipient", "max_output_length", "approval_request_id", "max_output_tokens", "environment", "pending_safety_checks",
          "acknowledged_safety_checks", "size", "quality", "background", "output_format", *_INPUTS, *_OUTPUTS}  # fmt: skip


def is_item(value: Any) -> bool:
    """True for an item that only this interface has: a call, an output, reasoning, or a message of its own kind of parts."""
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    if kind == "message" or kind is None:
        parts = {str(part.get("type")) for part in dicts(value.get("content"))}
        own = not parts.isdisjoint({"input_text", "output_text", "input_image"})
        return "role" in value and (own or (kind == "message" and "usage" not in value))
    called = isinstance(kind, str) and kind.endswith(("_call", "_call_output"))
    return called or (kind == "reasoning" and "summary" in value)


class AnswerItems(Blocks):
    """One answer of the model in the making: what its items say, think and call, and what tools on the server gave back meanwhile."""

    def __init__(self, unread: Unread) -> None:
        super().__init__()
        self.unread = unread

    def takes(self, item: Node) -> bool:
        """Add an item of the model's; False for one that is somebody else's, or of a type that is not known."""
        kind = kind_of_item(item)
        if kind == "message" and item["role"].value in (None, "assistant"):
            told = content_of(item["content"])
            self.parts.extend([TextPart(text=told)] if isinstance(told, str) else told)
        elif kind == "reasoning":
            parts = (*item["summary"].items(), *item["content"].items())
            thoughts = [part["text"].text() for part in parts if part.has("text")]
            self.thoughts.extend(thoughts or [""])
            self.unread.add("reasoning whose text is not recorded", not any(thoughts))
        elif kind.endswith("_call"):
            self._call(item, kind)
        else:
            return False
        self.unread.keys(item, _KNOWN, "an item")
        return True

    def _call(self, item: Node, kind: str) -> None:
        told = item["call_id"].text() if kind == "function_call" else item["call_id"].text_or_none()
        call_id = told or item["id"].text_or_none() or ""
        name = item["name"].text_or_none() or kind.removesuffix("_call")
        arguments = next((arguments_of(item[key]) for key in _INPUTS if item[key].value is not None), None)
        self.calls.append(ToolCall(id=call_id, name=name, arguments=arguments))
        if any(item[key].value is not None for key in (*_OUTPUTS, "error")):
            self.results.append(_result(item, call_id, name))
        elif item["call_id"].value is None:
            self.unread.add(f"result of {name}, which the server keeps to itself")


def kind_of_item(item: Node) -> str:
    """The type of an item; a message may leave it out."""
    return item["type"].text_or_none() or ("message" if item.has("role") else item["type"].text())


def answer_of_items(response: Node, unread: Unread) -> list[Said]:
    """The `output` of a response as its turn, then the results of tools that the server ran; items of an unknown type are counted."""
    answer = AnswerItems(unread)
    for item in response["output"].items():
        if not answer.takes(item):
            unread.kind("item", kind_of_item(item))
    return answer.answer()


def said_of_items(items: Iterable[Node], unread: Unread) -> list[list[Said]]:
    """Items as what they say, in groups: a message or a result is one, all items of one answer of the model are one.

    TraceError for an item without a type, or a message of a role that is none.
    """
    groups: list[list[Said]] = []
    answer = AnswerItems(unread)
    for item in items:
        if not answer.takes(item):
            groups += [answer.answer(), _other(item, unread)]
            answer = AnswerItems(unread)
    return [group for group in (*groups, answer.answer()) if group]


def _other(item: Node, unread: Unread) -> list[Said]:
    kind = kind_of_item(item)
    if kind not in ("message", "agent_message") and not kind.endswith("_output"):
        unread.kind("item", kind)
        return []
    unread.keys(item, _KNOWN, "an item")
    if kind.endswith("_output"):
        return [_result(item, item["call_id"].text_or_none() or "", item["name"].text_or_none() or "")]
    content = simple(content_of(item["content"]))
    if kind == "agent_message":
        return [Said("user", content, name=item["author"].text_or_none() or "")]
    return [Said(role_of(item, CHAT_ROLES), content)]


def _result(item: Node, call_id: str, name: str) -> Said:
    """A call's output, handed in by the client or made by the server within the call's own item."""
    error = None if item["error"].value is None else as_text(item["error"].value)
    failed = error is not None or item["status"].value in ("failed", "incomplete")
    told = next((item[key] for key in _OUTPUTS if item[key].value is not None), item["error"])
    drawn = item["type"].value == "image_generation_call"
    content = (picture(f"data:image/png;base64,{told.text()}"),) if drawn else _output(told)
    return Said("tool", content, call_id=call_id, name=name, failed=failed, error=error)


def _output(node: Node) -> Content:
    """An output: its text, its parts, or anything else as compact JSON."""
    value, url = node.value, inside(node, "image_url").value
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(url, str) and value.get("type") == "computer_screenshot":
        return (picture(url),)
    if dicts(value) == value and all(str(part.get("type")) in _PARTS for part in value):
        return simple(content_of(node))
    return compact_json(value)


def finish_of(response: Node) -> str | None:
    """Why an answer ended: what kept it incomplete, else its status."""
    incomplete = response["incomplete_details"]
    reason = incomplete["reason"].text_or_none() if incomplete.value is not None else None
    return reason or response["status"].text_or_none()
