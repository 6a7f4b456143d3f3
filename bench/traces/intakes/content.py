"""The content of messages, in the format of any provider or library, sorted by purpose: texts and
other parts, calls, reasoning, results of tools. `messages` makes messages of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...model import ToolCall, as_text, compact_json
from ..steps import PICTURE, ReadMessage, Role
from ..values import Fields, Unread, as_dict, as_list, dicts, first_of, from_json_text, text

_TEXTS = {"text": "text", "input_text": "text", "output_text": "text", "summary_text": "text",
          "refusal": "refusal"}  # fmt: skip
_CALLS = {"tool_use", "server_tool_use", "mcp_tool_use", "tool_call", "tool-call", "toolCall", "function_call",
          "custom_tool_call", "non_standard_tool_call"}  # fmt: skip
_THOUGHTS = {"thinking", "thought", "reasoning", "redacted_thinking", "redacted_reasoning"}
ITEM_RESULTS = ("_call_output", "_search_output")
"""The endings of the types of items with a tool's result, in the Responses interface."""
_RESULTS = ("tool_result", "tool-result", "tool_output", "tool_call_response", *ITEM_RESULTS)
"""The endings of the types of blocks with a tool's result."""
_NOTHING = {"input_json_delta", "cachePoint", "step-start", "step-finish"}
_IDS = ("call_id", "tool_use_id", "tool_call_id", "toolCallId", "toolUseId", "id")
NAMES = ("name", "toolName", "tool_name", "function_name")
"""Keys with the name of the tool in a call or in its result."""
_ARGUMENTS = ("arguments", "input", "args", "parameters", "action", "operation", "code", "queries")
_OUTPUTS = ("output", "outputs", "result", "results", "response", "content", "tools")
_WRAPPED = {"output", "result", "content", "error"}
"""Keys of the object in which a text is wrapped for Gemini, whose interface takes objects only."""
BLOCK_KEYS = {"type", "text", "cache_control", "citations", "annotations", "logprobs", "thinking", "signature", "data",
              "caller", "server_name", "is_error", "isError", "source", "title", "context", "refusal", "status", "error",
              "image_url", "detail", "redacted", "summary", "reasoning", "encrypted_content", "index", "extras",
              "phase", "providerMetadata", "providerOptions", "state", "internal", "mime_type", "modality", "thought",
              "role", "thoughtSignature", "thought_signature", "thinkingSignature", "server_label", "container_id", "namespace", "format",
              "kind", "mimeType", "dynamic", "providerExecuted", "created_by", "execution",
               "partialJson", "internal_chat_message_metadata_passthrough",
              *_IDS, *NAMES, *_ARGUMENTS, *_OUTPUTS}  # fmt: skip
_PICTURES = {"image", "image_url", "input_image", "computer_screenshot"}
_SHOWN = {
    **dict.fromkeys((*_PICTURES, "document", "audio", "container_upload", "input_file"), "type"),
    **_TEXTS,
    "search_result": "content",
    "tool_reference": "tool_name",
}
"""The types of the parts of a tool's output, each with a key that such a part has, or `content`."""
_MEDIA_TYPES = ("media_type", "mime_type", "mimeType", "mediaType")
_FAILED = ("failed", "incomplete", "error")


@dataclass
class Blocks:
    """The blocks of a message's content, sorted by purpose; `other` are the kinds of parts that are
    not text."""

    texts: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    results: list[ReadMessage] = field(default_factory=list)

    @property
    def has_content(self) -> bool:
        """True if there is something to show, even an empty text."""
        return bool(self.texts or self.other)

    @property
    def content(self) -> str:
        """The texts to show, one per line."""
        return "\n".join(filter(None, self.texts))

    @property
    def reasoning(self) -> str | None:
        """The texts of reasoning, one per line; None without any."""
        return "\n".join(filter(None, self.thoughts)) or None

    def message(self, role: Role, **known: Any) -> ReadMessage:
        """The message that shows the texts and other parts; `known` are more of its fields."""
        return ReadMessage(role, self.content, other=tuple(self.other), **known)

    def answer(self, **known: Any) -> ReadMessage:
        """The model turn that the blocks make up; `known` are more of its fields."""
        calls = tuple(self.calls)
        return self.message("assistant", calls=calls, reasoning=self.reasoning, **known)

    def add_all(self, content: Any, unread: Unread) -> None:
        """Sort a content: a text, a list of texts and blocks, or one block."""
        if content is None:
            return
        for block in content if isinstance(content, list) else [content]:
            if isinstance(block, str):
                self.texts.append(block)
            elif isinstance(block, dict):
                self.add(block, unread)
            else:
                unread.add("block that is no object")

    def add(self, block: Fields, unread: Unread) -> None:
        """Sort one block. A block without a type comes from Gemini or Converse."""
        kind = block.get("type")
        if not isinstance(kind, str):
            block = _with_type(block, unread)
            kind = block.get("type", "step-start")
        if kind in _CALLS:
            self.calls.append(call_in(block, unread, kind))
        elif kind.endswith(_RESULTS):
            own = {"id": None} if kind.endswith(ITEM_RESULTS) else {}  # not the call's
            self.results.append(result_of(block | own, unread))
        elif kind in _THOUGHTS:
            self._think(block, unread)
        elif kind.endswith("_call"):
            self._add_served(block, kind, unread)
        elif kind == "message":  # an item of the Responses interface
            self.add_all(block.get("content"), unread)
        elif kind not in _NOTHING:
            self._add_part(block, kind, unread)
            return
        unread.extra_keys(block, BLOCK_KEYS, f"a block of type {kind!r}")

    def _add_part(self, block: Fields, kind: str, unread: Unread) -> None:
        source = as_dict(block.get("source"))
        if parts := as_list(block.get("content")) or as_list(source.get("content")):
            self.add_all(parts, unread)  # of a search result, or a document
            return
        content = block.get(_TEXTS[kind]) if kind in _TEXTS else None
        if kind == "text" and content is None:
            content = as_text(block.get("content") or "")
        if kind == "document" and source.get("type") == "text":
            content = source.get("data")
        media = block.get("modality") or first_of({**block, **source}, _MEDIA_TYPES)
        if isinstance(content, str):
            self.texts.append(content)
        else:
            is_picture = kind in _PICTURES or str(media).startswith("image")
            self.other.append(PICTURE if is_picture else kind)

    def _think(self, block: Fields, unread: Unread) -> None:
        if block.get("redacted") is True:
            block = {"summary": block.get("summary")}
        keys = ("thinking", "reasoning", "text", "content", "summary")
        first = next(filter(None, (text(block.get(key)) for key in keys)), None)
        listed = [*dicts(block.get("summary")), *dicts(block.get("content"))]
        thoughts = list(filter(None, [first, *(text(part.get("text")) for part in listed)]))
        self.thoughts += thoughts or [""]
        unread.add("reasoning whose text is not recorded", not thoughts)

    def _add_served(self, item: Fields, kind: str, unread: Unread) -> None:
        call = call_in(item, unread, kind)
        self.calls.append(call)
        if any(item.get(key) is not None for key in (*_OUTPUTS, "error") if key != "content"):
            self.results.append(result_of({**item, "id": call.id, "name": call.name}, unread))
        elif item.get("call_id") is None and "execution" not in item:
            unread.add(f"result of {call.name}, which the server keeps to itself")


def blocks_of(content: Any, unread: Unread) -> Blocks:
    """The blocks of a content, which is a text, a list of texts and blocks, or one block."""
    blocks = Blocks()
    blocks.add_all(content, unread)
    return blocks


# ---------------------------------------------------------------- parts of Gemini and Converse


def _with_type(part: Fields, unread: Unread) -> Fields:
    """A part without a type as a block with one; {} for an unknown kind, which is counted."""
    for key, block_of in _TYPED.items():
        if part.get(key) is not None:
            return block_of(as_dict(part[key]))
    if isinstance(part.get("text"), str) or part.get("thought") is True:
        return {**part, "type": "thought" if part.get("thought") is True else "text"}
    unread.add("part of no known kind", not part.keys() <= BLOCK_KEYS | _NOTHING)
    return {}


def _function_call(value: Fields) -> Fields:
    arguments = value.get("args", value.get("input", {}))
    return {**value, "type": "tool_call", "arguments": arguments, "id": None}


def _function_response(value: Fields) -> Fields:
    """A result from Gemini; its interface takes only objects, so a text is unwrapped from one."""
    response = value.get("response")
    fields = as_dict(response)
    failed, only = bool(fields.get("error")), next(iter(fields)) if len(fields) == 1 else ""
    if only in _WRAPPED and isinstance(fields[only], str):
        response = fields[only]
    output = "" if response is None else as_text(response)
    return {**value, "type": "tool_call_response", "output": output, "is_error": failed, "id": None}


def _tool_result(value: Fields) -> Fields:
    items = filter(None, dicts(value.get("content")))
    texts = [as_text(item.get("text", item.get("json", item))) for item in items]
    return {**value, "type": "tool_call_response", "output": "\n".join(texts)}


def _media(value: Fields) -> Fields:
    # Only Converse's pictures have a format.
    return {**value, "type": "image" if "format" in value else "media"}


_TYPED: dict[str, Callable[[Fields], Fields]] = {
    "functionCall": _function_call,
    "function_call": _function_call,
    "toolUse": _function_call,
    "functionResponse": _function_response,
    "function_response": _function_response,
    "toolResult": _tool_result,
    "reasoningContent": lambda value: {"type": "thinking", **as_dict(value.get("reasoningText"))},
    "inlineData": _media,
    "inline_data": _media,
    "image": _media,
    "guardContent": lambda value: {"type": "text", **as_dict(value.get("text"))},
}
"""Keys that tell the kind of a part, each with a function that makes a block of its value. Ids of
Gemini's calls are left out: its answers have none, and some clients invent ids for its prompts."""


def _id(block: Fields) -> str:
    value = first_of(block, _IDS)
    return "" if value is None else as_text(value)  # some write a list of ids


def call_in(block: Fields, unread: Unread, kind: str = "tool_call") -> ToolCall:
    """A call from a block or a list of calls; one that the server ran is named after its `kind`."""
    inner = as_dict(block.get("custom")) or as_dict(block.get("function")) or block
    name = text(first_of(inner, NAMES)) or text(block.get("function"))
    if name is None:
        unread.add("call without a name", kind in _CALLS)
        name = "unknown" if kind in _CALLS else kind.removesuffix("_call")
    arguments = first_of(inner, _ARGUMENTS)
    arguments = None if arguments == "null" else from_json_text(arguments)
    return ToolCall(id=_id(block), name=name, arguments=arguments)


def result_of(block: Fields, unread: Unread, shown: Blocks | None = None) -> ReadMessage:
    """The tool message in a block: its text, its parts, or anything else as compact JSON. If the
    content has been read, it is `shown`, and only call, name and failure are read."""
    output = first_of(block, (*_OUTPUTS, "error"))
    value = as_dict(output)
    if value.keys() == {"type", "value"}:  # Vercel AI SDK
        output = value["value"]
    if block.get("type") == "image_generation_call":
        output = [{"type": "image", "mime_type": "image/png", "data": output}]
    shown, kind = output_of(output, unread) if shown is None else shown, str(value.get("type"))
    failed, error = _failure_in(block)
    failed = failed or kind.startswith("error-") or kind.endswith("_error")
    if failed and error is None and block.get("type") == "tool_result":
        # Anthropic's errors are texts of many lines; the first tells the error.
        error = next(iter(shown.content.strip().splitlines()), None)
    if error and not (shown.content or shown.other):
        shown = Blocks([error])
    name = text(first_of(block, (*NAMES, "function"))) or ""
    return shown.message("tool", call_id=_id(block), name=name, failed=failed, error=error)


def _failure_in(fields: Fields) -> tuple[bool, str | None]:
    error = fields.get("error")
    is_marked = True in (fields.get("is_error"), fields.get("isError"), error)
    if error in (None, False, True, ""):
        return is_marked or fields.get("status") in _FAILED, None
    return True, text(as_dict(error).get("message")) or as_text(error)


def output_of(value: Any, unread: Unread) -> Blocks:
    """A tool's output: its text, its parts if one is of a known kind, or anything else as compact
    JSON.

    >>> unread = Unread()
    >>> parts = output_of([{"type": "input_text", "text": "a"}, {"type": "quantum"}, None], unread)
    >>> parts.content, parts.other, unread.counts
    ('a', ['quantum'], {'block that is no object': 1})
    >>> output_of([{"type": ["text"]}], unread).content
    '[{"type":["text"]}]'
    """
    if as_dict(value).get("type") == "computer_screenshot":
        value = [value]
    is_content = value is None or isinstance(value, str)
    if isinstance(value, list):
        is_content = all(isinstance(part, str) for part in value) or any(map(_is_part, value))
    return blocks_of(value if is_content else compact_json(value), unread)


def _is_part(value: Any) -> bool:
    fields = as_dict(value)
    key = _SHOWN.get(text(fields.get("type")) or "")
    return key is not None and first_of(fields, (key, "content")) is not None
