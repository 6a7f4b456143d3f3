"""The content of messages, in the form of any provider or library, sorted by purpose: parts to
show, calls, reasoning, results of tools. What is of no known kind is kept as size and hash, and
counted where it becomes a step.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..model import Content, OtherPart, Part, TextPart, ToolCall, as_text, compact_json, text_of
from .decoded import as_dict, dicts
from .parts import Unread, picture
from .records import arguments, text
from .steps import ReadMessage

_TEXTS = {
    "text": "text",
    "input_text": "text",
    "output_text": "text",
    "summary_text": "text",
    "refusal": "refusal",
}
_CALLS = {"tool_use", "server_tool_use", "mcp_tool_use", "tool_call", "tool-call", "toolCall", "function_call",
          "custom_tool_call", "non_standard_tool_call"}  # fmt: skip
_THOUGHTS = {"thinking", "thought", "reasoning", "redacted_thinking", "redacted_reasoning"}
_RESULTS = ("tool_result", "tool-result", "tool_output", "tool_call_response", "_call_output")
"""Endings of the types of blocks that hold a tool's result."""
_NOTHING = {"input_json_delta", "cachePoint", "step-start", "step-finish"}
_IDS = ("call_id", "tool_use_id", "tool_call_id", "toolCallId", "toolUseId", "id")
_NAMES = ("name", "toolName", "tool_name", "function_name")
_GIVEN = ("arguments", "input", "args", "parameters", "action", "operation", "code", "queries")
_GAVE = ("output", "outputs", "result", "results", "response", "content", "tools")
_WRAPPED = {"output", "result", "content", "error"}
"""Keys under which Gemini's interface wants a tool's text, since it takes objects only."""
BLOCK_KEYS = {"type", "text", "cache_control", "citations", "annotations", "logprobs", "thinking", "signature", "data",
              "caller", "server_name", "is_error", "isError", "source", "title", "context", "refusal", "status", "error",
              "image_url", "detail", "redacted", "summary", "reasoning", "encrypted_content", "index", "extras",
              "phase", "providerMetadata", "providerOptions", "state", "internal", "mime_type", "modality", "thought",
              "role", "thoughtSignature", "thought_signature", "thinkingSignature", "server_label", "container_id", "namespace", "format",
              "kind", "mimeType", "dynamic", "providerExecuted", "created_by",
               "partialJson", "internal_chat_message_metadata_passthrough",
              *_IDS, *_NAMES, *_GIVEN, *_GAVE}  # fmt: skip


@dataclass
class Blocks:
    """The blocks of one content by their purpose."""

    parts: list[Part] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    results: list[ReadMessage] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.parts or self.calls or self.thoughts or self.results)

    @property
    def content(self) -> Content:
        """The texts as one, a line each, or the parts where some are no text."""
        parts = tuple(part for part in self.parts if part != TextPart(text=""))
        return text_of(parts) if all(isinstance(part, TextPart) for part in parts) else parts

    @property
    def reasoning(self) -> str | None:
        """The texts of reasoning, a line each; None without any."""
        return "\n".join(filter(None, self.thoughts)) or None

    def add_all(self, content: Any, unread: Unread) -> Blocks:
        """Sort a content: a text, a list of texts and blocks, or one block. Gives itself."""
        for block in (
            content if isinstance(content, list) else () if content is None else (content,)
        ):
            if isinstance(block, str):
                self.parts.append(TextPart(text=block))
            elif isinstance(block, dict):
                self.add(block, unread)
            else:
                unread.add("block that is no object")
        return self

    def add(self, block: dict[str, Any], unread: Unread) -> None:
        """Sort one block. One without a type is a part of Gemini's or Converse's."""
        kind = block.get("type")
        if not isinstance(kind, str):
            block = _with_type(block, unread)
            kind = block.get("type", "step-start")
        kind = kind.removeprefix("dynamic-")
        if kind in _CALLS:
            self.calls.append(call_in(block, unread, kind))
        elif kind.endswith(_RESULTS):
            self.results.append(result_of(block))
        elif kind in _THOUGHTS:
            self._think(block, unread)
        elif kind.endswith("_call"):
            self._add_served(block, kind, unread)
        elif kind not in _NOTHING:
            self.parts.append(part_of(block))
            return
        unread.extra_keys(block, BLOCK_KEYS, f"a block of type {kind!r}")

    def _think(self, block: dict[str, Any], unread: Unread) -> None:
        redacted = block.get("redacted") is True
        listed = [
            *_items(block.get("summary")),
            *_items(None if redacted else block.get("content")),
        ]
        texts = [text(as_dict(part).get("text")) or "" for part in listed]
        keys = ("summary",) if redacted else ("thinking", "reasoning", "text", "content", "summary")
        own = next((value for key in keys if (value := text(block.get(key)))), "")
        thoughts = [one for one in (own, *texts) if one]
        self.thoughts.extend(thoughts or [""])
        unread.add("reasoning whose text is not recorded", not thoughts)

    def _add_served(self, item: dict[str, Any], kind: str, unread: Unread) -> None:
        """Sort a call of a tool that the server runs: its result stands in the same item."""
        call = call_in(item, unread, kind)
        self.calls.append(call)
        given = next(
            (key for key in (*_GAVE, "error") if item.get(key) is not None and key != "content"),
            None,
        )
        if given is not None:
            self.results.append(result_of({**item, "id": call.id, "name": call.name}))
        elif item.get("call_id") is None:
            unread.add(f"result of {call.name}, which the server keeps to itself")


_KEYED = ("functionCall", "function_call", "toolUse", "functionResponse", "function_response", "toolResult",
          "reasoningContent", "inlineData", "inline_data", "image", "guardContent")  # fmt: skip
"""Keys that name the kind of a part of Gemini's or Converse's."""


def _with_type(part: dict[str, Any], unread: Unread) -> dict[str, Any]:
    """A part of Gemini's or Converse's, which names its kind by a key, as a block with a type; `{}`
    for none."""
    key = next((key for key in _KEYED if part.get(key) is not None), "")
    value = as_dict(part.get(key))
    match key:
        case "functionCall" | "function_call" | "toolUse":
            return {
                **value,
                "type": "tool_call",
                "arguments": value.get("args", value.get("input", {})),
            }
        case "functionResponse" | "function_response":
            content, failed = _unwrapped(value.get("response"))
            return {
                **value,
                "type": "tool_call_response",
                "output": as_text(content),
                "is_error": failed,
            }
        case "toolResult":
            texts = [
                item.get("text", item.get("json", item))
                for item in dicts(value.get("content"))
                if item
            ]
            return {**value, "type": "tool_call_response", "output": "\n".join(map(as_text, texts))}
        case "reasoningContent":
            return {"type": "thinking", "thinking": as_dict(value.get("reasoningText")).get("text")}
        case "inlineData" | "inline_data" | "image":
            media = (
                text(first_of(value, ("mimeType", "mime_type")))
                or f"image/{value.get('format') or '*'}"
            )
            data = text(value.get("data") or as_dict(value.get("source")).get("bytes"))
            if data is None or not media.startswith("image"):
                return {"type": key, key: part[key]}
            return {"type": "image", "source": {"media_type": media, "data": data}}
        case "guardContent":
            return {"type": "text", "text": as_dict(value.get("text")).get("text")}
    content = part.get("text")
    if isinstance(content, str) or part.get("thought") is True:
        return {"type": "thought" if part.get("thought") is True else "text", "text": content}
    unread.add("part of no known kind", not part.keys() <= BLOCK_KEYS | _NOTHING)
    return {}


def _unwrapped(response: Any) -> tuple[Any, bool]:
    """A tool's output out of the object that Gemini's interface wants around it, and True for an
    error."""
    if isinstance(response, dict) and len(response) == 1 and response.keys() <= _WRAPPED:
        ((key, value),) = response.items()
        if isinstance(value, str):
            return value, key == "error"
    return "" if response is None else response, bool(as_dict(response).get("error"))


def part_of(block: Any) -> Part:
    """One block as a part: text, a picture as size and hash, or anything else as its type, size and
    hash."""
    if isinstance(block, str):
        return TextPart(text=block)
    kind, source = as_text(block.get("type", "unknown")), as_dict(block.get("source"))
    content = block.get(_TEXTS[kind]) if kind in _TEXTS else None
    if kind == "text" and content is None:
        content = as_text(block.get("content") or "")
    if kind == "document" and source.get("type") == "text":
        content = source.get("data")
    if isinstance(content, str):
        return TextPart(text=content)
    if (address := _address(block, kind, source)) is not None:
        return picture(address)
    raw = compact_json(block).encode("utf-8", "replace")
    return OtherPart(media_type=kind, size_bytes=len(raw), sha256=hashlib.sha256(raw).hexdigest())


def _address(block: dict[str, Any], kind: str, source: dict[str, Any]) -> str | None:
    """The address of a picture, which may hold the picture itself; None for a block that is
    none."""
    if kind in ("image_url", "input_image", "computer_screenshot"):
        given = block.get("image_url")
        return text(given) or text(as_dict(given).get("url"))
    named = source.get("media_type") or first_of(block, ("mime_type", "mimeType", "mediaType"))
    media = text(named) or "image/*"
    modal = str(block.get("modality") or media).startswith("image")
    if kind != "image" and not (kind in ("blob", "uri", "file") and modal):
        return None
    given = (
        source.get("url"),
        source.get("path"),
        block.get("url"),
        block.get("uri"),
        block.get("image"),
    )
    held = (source.get("data"), block.get("base64"), block.get("data"), block.get("content"))
    data = next(filter(None, map(text, held)), None)
    return next(filter(None, map(text, given)), None) or (
        f"data:{media};base64,{data}" if data else None
    )


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def first_of(block: dict[str, Any], keys: Iterable[str]) -> Any:
    """The first of some members that is not null; None where all are."""
    return next((block[key] for key in keys if block.get(key) is not None), None)


def _id(block: dict[str, Any]) -> str:
    """The id of a call; some write a list of ids."""
    value = first_of(block, _IDS)
    return "" if value is None else as_text(value)


def call_in(block: dict[str, Any], unread: Unread, kind: str = "tool_call") -> ToolCall:
    """A call out of a block of a kind, or out of a message's list of calls. A call of a tool that
    the server runs is named by its kind."""
    inner = next(
        (block[key] for key in ("custom", "function") if isinstance(block.get(key), dict)), block
    )
    name = text(first_of(inner, _NAMES)) or text(block.get("function"))
    unread.add("call without a name", name is None and kind in _CALLS)
    name = name or ("unknown" if kind in _CALLS else kind.removesuffix("_call"))
    return ToolCall(id=_id(block), name=name, arguments=arguments(first_of(inner, _GIVEN)))


def result_of(block: dict[str, Any]) -> ReadMessage:
    """A block of a tool's result. It shows its text, its parts, or anything else as compact
    JSON."""
    kind, error = block.get("type"), block.get("error")
    output = first_of(block, (*_GAVE, "error"))
    value = as_dict(output)
    if value.keys() == {"type", "value"}:  # Vercel AI SDK
        output = value["value"]
    failed = (
        block.get("is_error") is True
        or block.get("isError") is True
        or error not in (None, False, "")
    )
    failed = failed or block.get("status") in ("failed", "incomplete", "error")
    failed = (
        failed
        or str(value.get("type")).startswith("error-")
        or str(value.get("type")).endswith("_error")
    )
    seen = (
        (picture(f"data:image/png;base64,{output}"),)
        if kind == "image_generation_call"
        else output_of(output)
    )
    stated = None if error in (None, False, "") else as_text(error)
    if kind == "tool_result":  # Anthropic's errors are texts of many lines
        stated = stated or next(iter(text_of(seen).strip().splitlines()), None)
    why = (stated or text_of(seen) or None) if failed else None
    return ReadMessage(
        "tool",
        seen,
        call_id=_id(block),
        name=text(first_of(block, _NAMES)) or "",
        failed=failed,
        error=why,
    )


_CONTENT_TYPES = {
    *_TEXTS,
    "image",
    "image_url",
    "input_image",
    "document",
    "audio",
    "container_upload",
    "input_file",
}


def output_of(value: Any) -> Content:
    """A tool's output: its text, its parts where each is of a kind that is shown, or anything else
    as compact JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    if (
        isinstance(value, dict)
        and value.get("type") == "computer_screenshot"
        and text(value.get("image_url"))
    ):
        return (picture(value["image_url"]),)
    if (
        isinstance(value, list)
        and value
        and all(isinstance(part, str) or _is_visible(part) for part in value)
    ):
        return Blocks(list(map(part_of, value))).content
    return "" if value == [] else compact_json(value)


def _is_visible(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") in _CONTENT_TYPES
