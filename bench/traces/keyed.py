"""Messages whose parts are named by a key, as Gemini, the Agent Development Kit and Bedrock's Converse write them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from ..model import as_text
from .blocks import sorted_blocks
from .documents import Node
from .nodes import first_of, inside
from .parts import Role, Unread, role_of
from .steps import Said

_CALLS, _RESPONSES = ("functionCall", "function_call", "toolUse"), ("functionResponse", "function_response")
_KEYS = {"text", *_CALLS, *_RESPONSES, "inlineData", "inline_data", "fileData", "file_data", "toolResult", "reasoningContent", "image",
         "document", "video", "guardContent", "cachePoint", "executableCode", "executable_code", "codeExecutionResult", "code_execution_result",
         "json", "searchResult", "citationsContent"}  # fmt: skip
_WRAPPED = {"output", "result", "content", "error"}
"""Keys under which these interfaces want a tool's text, since they take objects only."""
_SILENT = {"cachePoint", "thoughtSignature", "thought_signature"}


def is_keyed(message: Any) -> bool:
    """True for a message with `parts`, or a `content` of parts without a type, each named by a key."""
    if not isinstance(message, dict):
        return False
    parts = message.get("parts", message.get("content"))
    if not isinstance(parts, list) or (not parts and "parts" not in message):
        return False
    return all(isinstance(part, dict) and (_keyed(part) or ("parts" in message and "type" in part)) for part in parts)


def _keyed(part: dict[str, Any]) -> bool:
    return "type" not in part and (not _KEYS.isdisjoint(part) or not part)


def said_of_keyed(message: Node, unread: Unread, role: Role | None = None) -> list[Said]:
    """A message of keyed parts as what it says: results of tools one by one, then the rest. `role` stands for one that the message leaves out."""
    known = role_of(message) if message["role"].text_or_none() else role or "user"
    parts = first_of(message, "parts", "content")
    if not isinstance(parts.value, list):
        return [Said(known, parts.text_or_none() or "")]
    typed = [part if part.has("type") else typed_part(part, unread) for part in parts.items()]
    return sorted_blocks(part for part in typed if part.value is not None).said(known)


def typed_part(part: Node, unread: Unread) -> Node:
    """A keyed part as a block with a type, as the GenAI conventions write them; a node of null where it says nothing (a mark of a cache)."""
    value = part.object()
    key = next((key for key in value if key in _KEYS and key != "text" and value[key] is not None), "text")
    held = part[key]
    if key == "text":
        if value.get("thought") is True:
            return part.made({"type": "reasoning", "content": held.value})
        unread.add("part that says nothing of a known kind", held.value is None and not value.keys() <= _SILENT)
        return part.made(None if held.value is None else {"type": "text", "text": held.value})
    if key in _CALLS:
        given, named = first_of(held, "args", "input").value, first_of(held, "id", "toolUseId").value
        arguments = {} if given is None else given
        return held.made({"type": "tool_call", "id": named, "name": held["name"].text(), "arguments": arguments})
    if key in _RESPONSES:
        shown, failed = unwrapped(held["response"].value)
        return held.made(_response(held["id"].value, shown, failed, held["name"].value))
    if key == "toolResult":
        told = [item.object() for item in held["content"].items()]
        texts = [item.get("text", item.get("json", item)) for item in told if item]
        whole = texts[0] if len(texts) == 1 else "\n".join(map(as_text, texts))
        return held.made(_response(held["toolUseId"].value, whole, held["status"].value == "error"))
    if key == "reasoningContent":
        text = held["reasoningText"]
        unread.add("reasoning whose text is not recorded", text.value is None)
        return held.made({"type": "reasoning", "content": None if text.value is None else text["text"].value})
    if key == "guardContent":
        return held.made({"type": "text", "text": held["text"]["text"].text()})
    if key == "citationsContent":
        return held.made({"type": "text", "text": "".join(item["text"].text() for item in held["content"].items())})
    drawn = inside(held, "source", "bytes").value if isinstance(held.value, dict) else None
    if key == "image" and isinstance(drawn, str):
        return held.made(_picture(f"image/{held['format'].text_or_none() or '*'}", drawn))
    if key in ("inlineData", "inline_data"):
        media = first_of(held, "mimeType", "mime_type").text_or_none() or "image/*"
        return held.made(_picture(media, held["data"].value))
    return held.made(None) if key == "cachePoint" else part.made({"type": f"{key} part", key: held.value})


def _response(call_id: Any, shown: Any, failed: bool, name: Any = None) -> dict[str, Any]:
    return {"type": "tool_call_response", "id": call_id, "name": name, "response": shown, "is_error": failed}


def _picture(media: str, data: Any) -> dict[str, Any]:
    return {"type": "blob", "modality": media.split("/")[0], "mime_type": media, "content": data}


def unwrapped(response: Any) -> tuple[Any, bool]:
    """Return what a tool gave out of the object that these interfaces want around it, and True if it is an error."""
    if not isinstance(response, dict):
        return response, False
    text = next(iter(response.values())) if len(response) == 1 and response.keys() <= _WRAPPED else None
    return (text, "error" in response) if isinstance(text, str) else (response, bool(response.get("error")))


def keyed_answer(response: Node, unread: Unread) -> Said | None:
    """The answer of Gemini (`candidates`, or the kit's `content` of parts) or of Converse (`output.message`); None where it has none.

    Of several candidates the first, the others are counted.
    """
    candidates, output = response["candidates"], response["output"]
    first = response
    if candidates.value:
        unread.add("further answer of one model call", len(candidates.items()) - 1)
        first = candidates.items()[0]
    message = output["message"] if output.has("message") else first["content"]
    if not is_keyed(message.value) and not (candidates.value and isinstance(message.value, dict)):
        return None
    told = said_of_keyed(message, unread, "assistant")
    turn = next((said for said in told if said.role == "assistant"), None)
    unread.add("result of a tool that the server ran within an answer", len(told) - (turn is not None))
    return without_ids(turn) if turn is not None and candidates.value else turn


def without_ids(said: Said) -> Said:
    """A message without the ids of calls: Gemini gives none with its answers, and some clients make them up for its prompts. Calls are then found by
    name and order."""
    return replace(said, call_id="", calls=tuple(msgspec.structs.replace(call, id="") for call in said.calls))
