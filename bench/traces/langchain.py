"""Messages of LangChain in the forms they are written in, as what they say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..model import ToolCall
from .blocks import blocks_of
from .chat import calls_of
from .documents import Node
from .nodes import at, first_of, only_text
from .parts import ROLES, Role, Unread, arguments_of, usage_of
from .steps import Ran, Said, result

_TYPES: dict[str, Role] = {**{kind: role for kind, role in ROLES.items() if kind != "model"}, "chat": "user"}
_KNOWN = {"content", "additional_kwargs", "response_metadata", "type", "name", "id", "tool_calls", "invalid_tool_calls", "usage_metadata",
          "tool_call_id", "status", "artifact", "example", "role", "tool_call_chunks", "chunk_position"}  # fmt: skip
_ENDINGS = ("MessageChunk", "Message")


def is_message(value: Any) -> bool:
    """True if a value is a message: in LangChain's own serialization, as `{type, data}`, or flat with type and content."""
    if not isinstance(value, dict):
        return False
    if "lc" in value and isinstance(value.get("id"), list):
        return bool(value["id"]) and str(value["id"][-1]).endswith(_ENDINGS) and isinstance(value.get("kwargs"), dict)
    kind = value.get("type")
    if "additional_kwargs" in value and kind is None:
        return isinstance(value.get("role"), str) and "content" in value
    known = isinstance(kind, str) and (kind in _TYPES or kind.endswith("MessageChunk"))
    return known and ("content" in value or isinstance(value.get("data"), dict)) and "event" not in value


def fields_of(message: Node) -> tuple[str, Node]:
    """A message's type and the object that holds its fields, whatever form it is written in. TraceError for what is no message."""
    kind = message["type"].text_or_none() or ""
    if message.has("lc") and message["id"].items():
        kind, message = message["id"].items()[-1].text(), message["kwargs"]
    elif isinstance(message["data"].value, dict):
        message = message["data"]
    for ending in _ENDINGS:
        kind = kind.removesuffix(ending)
    message.object()
    return kind.lower().removesuffix("message") or message["role"].text(), message


def said_of(message: Node, unread: Unread) -> Said | None:
    """A message as what it says, with all that LangChain keeps of it; None, counted, for one that no prompt has (a removal)."""
    kind, fields = fields_of(message)
    role = _TYPES.get(kind)
    if kind == "chat":
        role = _TYPES.get(fields["role"].text().lower(), "user")
    if role is None:
        unread.kind("message", kind)
        return None
    unread.keys(fields, _KNOWN, "a message")
    blocks, name = blocks_of(fields["content"]), fields["name"].text_or_none() or ""
    if role == "tool":
        failed, artifact = fields["status"].value == "error", fields["artifact"].value
        ran = None if artifact is None else Ran(output=artifact)
        return result(blocks.content, fields["tool_call_id"].text_or_none() or "", name, failed=failed, ran=ran)
    said = Said(role, blocks.content, name=name)
    if role != "assistant":
        return said
    extra, told = fields["additional_kwargs"], fields["response_metadata"]
    summary = [only_text(part["text"]) for part in at(extra, "reasoning", "summary").items()]
    thoughts = [*blocks.thoughts, at(extra, "reasoning_content").text_or_none(), *summary]
    return replace(
        said,
        calls=_calls(fields) or tuple(blocks.calls),
        reasoning="\n".join(filter(None, thoughts)) or None,
        model=_first(told, "model_name", "model", "model_id"),
        finish_reason=_first(told, "finish_reason", "stop_reason", "done_reason"),
        usage=usage_of(_reported(fields)),
    )


def _first(node: Node, *keys: str) -> str | None:
    return None if node.value is None else first_of(node, *keys).text_or_none()


def _calls(fields: Node) -> tuple[ToolCall, ...]:
    made = []
    for call in [*fields["tool_calls"].items(), *fields["invalid_tool_calls"].items()]:
        named, name = call["id"].text_or_none() or "", call["name"].text_or_none() or ""
        made.append(ToolCall(id=named, name=name, arguments=arguments_of(call["args"])))
    extra = fields["additional_kwargs"]
    return tuple(made) or (calls_of(extra) if extra.value is not None else ())


def _reported(fields: Node) -> Node:
    """The usage of a message: LangChain's own, whose input counts cached tokens, else what the provider reported."""
    metadata, own = fields["response_metadata"], fields["usage_metadata"]
    return own if own.value is not None or metadata.value is None else first_of(metadata, "token_usage", "usage")


def agent_of(metadata: Mapping[str, Any]) -> str:
    """The agent that a run belongs to by LangChain's metadata: a nested graph, or the name of one of LangChain's own; `""` where it has none."""
    space = str(metadata.get("langgraph_checkpoint_ns") or metadata.get("checkpoint_ns") or "")
    nested = space.split("|")[-2].split(":")[0] if "|" in space else ""
    return nested or str(metadata.get("lc_agent_name") or "")


def tool_output(output: Node) -> tuple[str, Any, bool]:
    """Return the id of a tool's call (`""` if not recorded), its output and True if it failed, from `{output: …}` or a tool message."""
    while isinstance(output.value, dict) and "output" in output.value and output.value.keys() <= {"output", "kwargs"}:
        output = output["output"]
    if not is_message(output.value):
        return "", output.value, False
    _, fields = fields_of(output)
    artifact, call_id = fields["artifact"].value, fields["tool_call_id"].value
    shown = artifact if artifact is not None else fields["content"].value
    return call_id if isinstance(call_id, str) else "", shown, fields["status"].value == "error"
