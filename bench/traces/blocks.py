"""The one parser of typed blocks of a message's content, in the forms of Anthropic, the GenAI conventions, LangChain and Inspect."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..model import Content, Part, TextPart, ToolCall, as_text, compact_json, text_of
from .decoded import dicts
from .documents import Node
from .nodes import first_of, inside, only_text
from .parts import Role, Unread, arguments_of, part_of, simple
from .steps import Said, result

ANTHROPIC = {"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use", "mcp_tool_result",
             "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result", "search_result"}  # fmt: skip
"""Types of blocks that only Anthropic's messages have."""
BLOCK = {"type", "text", "cache_control", "citations", "thinking", "signature", "data", "id", "name", "input", "caller", "server_name",
         "tool_use_id", "content", "is_error", "source", "title", "context"}  # fmt: skip
"""The keys of Anthropic's blocks."""
_SERVED = ("tool_use", "server_tool_use", "mcp_tool_use")
_SHOWN = ("text", "image", "document", "audio", "container_upload")
_OPAQUE = ("input_json_delta", "redacted_thinking")


@dataclass
class Blocks:
    """The blocks of one content by their purpose: parts to show, calls, texts of reasoning, and results of tools."""

    parts: list[Part] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    results: list[Said] = field(default_factory=list)

    @property
    def content(self) -> Content:
        """The parts to show, a single text as that text."""
        return simple(tuple(self.parts))

    @property
    def reasoning(self) -> str | None:
        """The reasoning as one text; None where there is none."""
        return "\n".join(filter(None, self.thoughts)) or None

    def said(self, role: Role) -> list[Said]:
        """The results of tools one by one, then the rest as one message."""
        rest = Said(role, self.content, tuple(self.calls), self.reasoning)
        return [*self.results, rest] if self.parts or self.calls or self.thoughts or not self.results else self.results

    def answer(self, **more: Any) -> list[Said]:
        """The pieces of an answer as one turn, then the results that came within it. Texts are a line each; other parts stay parts."""
        if not (self.parts or self.calls or self.thoughts):
            return self.results
        parts = tuple(self.parts)
        whole = text_of(parts) if all(isinstance(part, TextPart) for part in parts) else parts
        return [Said("assistant", whole, tuple(self.calls), self.reasoning, **more), *self.results]

    def text(self, text: str) -> None:
        """Add a text to show."""
        self.parts.append(TextPart(text=text))

    def add(self, block: Node, with_tools: bool) -> None:
        """Sort a block; what is neither call, thought nor result is a part to show, and so are these where tools are told elsewhere."""
        kind = block["type"].text_or_none() if isinstance(block.value, dict) else None
        if with_tools and kind in ("tool_call", "tool_use"):
            arguments = arguments_of(first_of(block, "input", "args", "arguments"))
            self.calls.append(ToolCall(id=_id(block), name=block["name"].text(), arguments=arguments))
        elif kind in ("thinking", "reasoning"):
            self.thoughts += _thoughts(block)
        elif with_tools and kind == "tool_call_response":
            held = as_text(first_of(block, "response", "result", "content").value or "")
            failed, name = block["is_error"].value is True, only_text(block["name"]) or ""
            self.results.append(result(held, _id(block), name, failed=failed))
        elif kind == "text" and not block.has("text"):
            self.parts.append(TextPart(text=as_text(block["content"].value or "")))
        elif kind not in _OPAQUE:
            url = _picture(block, kind)
            shown = block if url is None else block.made({"type": "image_url", "image_url": url})
            self.parts.append(part_of(shown))

    def add_anthropic(self, block: Node, answered: bool, unread: Unread) -> None:
        """Sort a block of a message of Anthropic's, an answer or a user's, in which each key is known."""
        kind = block["type"].text()
        if kind in ANTHROPIC or kind in ("text", "image", "document"):
            unread.keys(block, BLOCK, f"a block of type {kind!r}")
        if kind.endswith("tool_result"):
            self.results.append(_result(block))
        elif kind in _SERVED and answered:
            call = ToolCall(id=block["id"].text(), name=block["name"].text(), arguments=block["input"].value)
            self.calls.append(call)
        elif kind in ("thinking", "redacted_thinking"):
            self.thoughts.append((block["thinking"].text_or_none() or "") if kind == "thinking" else "")
            unread.add("thinking whose text is not recorded", not self.thoughts[-1])
        else:
            self.parts.append(_part(block))


def blocks_of(content: Node, *, with_tools: bool = True) -> Blocks:
    """Sort the blocks of a content, which may also be a text or null. TraceError for a block without a type."""
    if not isinstance(content.value, list):
        text = content.text_or_none() or ""
        return Blocks([TextPart(text=text)] if text else [])
    return sorted_blocks(content.items(), with_tools=with_tools)


def sorted_blocks(blocks: Iterable[Node], *, with_tools: bool = True) -> Blocks:
    """Sort blocks."""
    found = Blocks()
    for block in blocks:
        found.add(block, with_tools)
    return found


def of_anthropic(message: Any) -> bool:
    """True if a message has a block that only Anthropic's messages have: one of its own types, or a picture or document with a `source`."""
    found = dicts(message.get("content")) if isinstance(message, dict) else []
    return any(
        str(item.get("type")) in ANTHROPIC or (item.get("type") in ("image", "document") and "source" in item)
        for item in found
    )


def _id(block: Node) -> str:
    """The id of a call; some write a list of ids."""
    held = first_of(block, "id", "tool_call_id").value
    return "" if held is None else as_text(held)


def _thoughts(block: Node) -> list[str]:
    """The texts of reasoning; where it is redacted its summary."""
    if block["redacted"].value is True:
        return [only_text(block["summary"]) or ""]
    summary = block["summary"].items() if isinstance(block["summary"].value, list) else []
    told = [first_of(block, "thinking", "reasoning", "content"), *(part["text"] for part in summary)]
    return [text for node in told if (text := only_text(node))]


def _picture(block: Node, kind: str | None) -> str | None:
    """The address of a picture, which may hold the picture itself; None for a block that is none, or is in a form that every provider knows."""
    if kind == "image" and block.has("image"):
        return block["image"].text()
    modal = kind in ("blob", "uri") and str(block["modality"].value or block["mime_type"].value).startswith("image")
    if modal or (kind == "image" and (block.has("url") or block.has("base64"))):
        data = first_of(block, "content", "base64").text_or_none() or ""
        address = first_of(block, "uri", "url").text_or_none()
        return address or f"data:{block['mime_type'].text_or_none() or 'image/*'};base64,{data}"
    return None


def _result(block: Node) -> Said:
    """A result in Anthropic's form: its text, or its blocks; with blocks that only the server reads (search hits, files) the whole as JSON."""
    content = block["content"]
    seen: Content = "" if content.value is None else as_text(content.value)
    if isinstance(content.value, list):
        blocks = content.items()
        readable = all(part["type"].text() in _SHOWN for part in blocks)
        seen = simple(tuple(map(_part, blocks))) if readable else compact_json(content.value)
    failed = block["is_error"].value is True or str(inside(content, "type").value).endswith("_error")
    lines = text_of(seen).strip().splitlines()
    error = lines[0] if failed and lines else None
    return result(seen, block["tool_use_id"].text(), failed=failed, error=error)


def _part(block: Node) -> Part:
    if block["type"].value == "document" and inside(block, "source", "type").value == "text":
        return TextPart(text=block["source"]["data"].text())
    return part_of(block)
