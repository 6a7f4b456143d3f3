"""The pieces of chat messages, in every provider's spelling: roles, content, arguments, reasoning, usage; and the count of what is left out."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Collection, Mapping, Set
from typing import Any, Literal

from ..model import Content, ImagePart, OtherPart, Part, TextPart, Usage, compact_json
from ..model.errors import nearest, one_line
from .decoded import strict_json
from .documents import Node

Role = Literal["system", "user", "assistant", "tool"]
CHAT_ROLES: dict[str, Role] = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool",
                               "function": "tool"}  # fmt: skip
"""The roles of OpenAI's interfaces, and which of ours they are."""

ROLES: dict[str, Role] = {**CHAT_ROLES, "human": "user", "ai": "assistant", "model": "assistant"}
"""The roles of any chat, and which of ours they are."""

_THOUGHTS = ("reasoning_content", "reasoning", "tool_plan", "thinking")
_TEXT_PARTS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}


class Unread:
    """The count of what a file holds and its reader did not understand: a few words each, and how many. It becomes `Trace.left_out`."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def add(self, what: str, count: int = 1) -> None:
        """Count something that was left out; nothing for a count of 0."""
        if count:
            self.counts[what] = self.counts.get(what, 0) + count

    def kind(self, what: str, kind: object) -> None:
        """Count a thing of a kind that the reader does not know: `event of type 'x'`."""
        self.add(f"{what} of type {one_line(kind)[:40]!r}")

    def keys(self, node: Node, known: Collection[str], where: str) -> None:
        """Count the members of an object that hold something and that the reader does not know."""
        for key, value in node.object().items():
            if key not in known and value not in (None, False, "", [], {}):
                self.add(f"{one_line(key)[:40]!r} of {where}")

    def extra_keys(self, value: Mapping[str, Any], known: Set[str], where: str) -> None:
        """Count the members of an object that hold something and are not known."""
        if value.keys() <= known:
            return
        for key in value.keys() - known:
            if value[key] not in (None, False, "", [], {}):
                self.add(f"{one_line(key)[:40]!r} of {where}")

    def parts(self, content: Content) -> None:
        """Count the parts of a content that are neither text nor a picture: they are kept as size and hash only."""
        for part in () if isinstance(content, str) else content:
            if isinstance(part, OtherPart):
                self.kind("block", part.media_type)


def role_of(message: Node, roles: Mapping[str, Role] = ROLES) -> Role:
    """The role of a message, as one of ours. TraceError for one that is none of these."""
    role = message["role"].text()
    if role not in roles:
        raise message["role"].fail(f"unknown role {one_line(role)[:60]!r}{nearest(role, CHAT_ROLES)}")
    return roles[role]


def content_of(node: Node) -> Content:
    """A message's content: its text, or its typed parts; `""` for null. TraceError for anything else than text or parts."""
    if node.value is None or isinstance(node.value, str):
        return node.value or ""
    if not isinstance(node.value, list):
        raise node.expected("string or array of parts")
    return tuple(part_of(item) for item in node.items())


def simple(content: Content) -> Content:
    """A content of one text part as that text; any other as it is."""
    if isinstance(content, tuple) and len(content) == 1 and isinstance(content[0], TextPart):
        return content[0].text
    return "" if content == () else content


def simple_content(node: Node) -> Content:
    """A message's content, a single text part as its text."""
    return simple(content_of(node))


def part_of(node: Node) -> Part:
    """One part of a content: text, or a picture or anything else as size and hash."""
    if isinstance(node.value, str):
        return TextPart(text=node.value)
    kind = node["type"].text()
    if kind in _TEXT_PARTS:
        return TextPart(text=node[_TEXT_PARTS[kind]].text())
    document, source = node["document"], node["source"]
    if kind == "document" and isinstance(document.value, dict):  # Cohere's result of a tool
        data = document["data"].value
        return TextPart(text=data if isinstance(data, str) else compact_json(document.value))
    if kind in ("image_url", "input_image") and node.has("image_url"):
        image = node["image_url"]
        return picture(image.text() if isinstance(image.value, str) else image["url"].text())
    if kind == "image" and source.has("data"):
        return picture(f"data:{source['media_type'].text()};base64,{source['data'].text()}")
    if kind == "image" and source.has("url"):
        return picture(source["url"].text())
    raw = compact_json(node.value).encode("utf-8", "replace")
    return OtherPart(media_type=kind, size_bytes=len(raw), sha256=hashlib.sha256(raw).hexdigest())


def picture(url: str) -> ImagePart:
    """A picture by its address: its size and hash where the address carries it (`data:…`), else the hash of the address and no size."""
    head, comma, body = url.partition(",")
    if not comma or not head.startswith("data:"):
        digest = hashlib.sha256(url.encode("utf-8", "replace")).hexdigest()
        return ImagePart(media_type="image/*", size_bytes=0, sha256=digest)
    try:
        raw = base64.b64decode(body, validate=True) if head.endswith(";base64") else body.encode()
    except ValueError:  # no base64, or letters that no bytes are
        raw = body.encode("utf-8", "replace")
    media_type = head[5:].split(";")[0] or "image/*"
    return ImagePart(media_type=media_type, size_bytes=len(raw), sha256=hashlib.sha256(raw).hexdigest())


def arguments_of(node: Node) -> Any:
    """A call's arguments: the decoded JSON, or the recorded string where it is none."""
    if not isinstance(node.value, str):
        return node.value
    value = strict_json(node.value)
    return node.value if value is None and node.value.strip() != "null" else value


def reasoning_of(message: Node, unread: Unread) -> str | None:
    """The model's reasoning as text, by any of the names that servers give it; never the signatures, which are opaque.

    Counted are thoughts of which only a signature is recorded, and thinking blocks of a kind that is not known.
    """
    told = next(filter(None, (message[key].text_or_none() for key in _THOUGHTS)), None)
    texts = []
    for block in message["thinking_blocks"].items():
        texts.append(block["thinking"].text_or_none())
        if block["type"].value not in (None, "thinking", "redacted_thinking"):
            unread.kind("thinking block", block["type"].value)
        elif not (texts[-1] or told):
            unread.add("reasoning whose text is not recorded")
    return told or "\n".join(filter(None, texts)) or None


_INPUT = ("prompt_tokens_details", "input_tokens_details", "input_token_details")
_OUTPUT = ("completion_tokens_details", "output_tokens_details", "output_token_details", "details")
_ANTHROPIC = ("cache_read_input_tokens", "cache_creation_input_tokens")
_SPELLED = {
    "prompt": ("prompt_tokens", "input_tokens", "promptTokenCount", "prompt_token_count", "inputTokens", "inputTokenCount", "request_tokens",
               "promptTokens", "inputTextTokenCount", "prompt_eval_count", "input", "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens",
               "llm.token_count.prompt"),
    "completion": ("completion_tokens", "output_tokens", "candidatesTokenCount", "candidates_token_count", "outputTokens", "outputTokenCount",
                   "response_tokens", "completionTokens", "generation_token_count", "eval_count", "output", "gen_ai.usage.output_tokens",
                   "gen_ai.usage.completion_tokens", "llm.token_count.completion"),
    "total": ("total_tokens", "totalTokenCount", "total_token_count", "totalTokens", "total", "gen_ai.usage.total_tokens",
              "llm.usage.total_tokens", "llm.token_count.total"),
    "read": (_ANTHROPIC[0], "cached_input_tokens", "cache_read_tokens", "cached_tokens", "cachedContentTokenCount", "cached_content_token_count",
             "cacheReadInputTokens", "cacheReadInputTokenCount", "cachedInputTokens", "input_cache_read", "input_cached_tokens",
             "input_tokens_cache_read", "cached", "gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens",
             "llm.token_count.prompt_details.cache_read"),
    "written": (_ANTHROPIC[1], "cacheWriteInputTokens", "cacheWriteInputTokenCount", "input_cache_creation", "cache_write_tokens",
                "input_tokens_cache_write", "gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens",
                "llm.token_count.prompt_details.cache_write"),
    "reasoning": ("reasoning_tokens", "reasoning", "reasoning_output_tokens", "thoughtsTokenCount", "thoughts_token_count", "reasoningTokens",
                  "output_reasoning", "output_reasoning_tokens", "thoughts", "gen_ai.usage.reasoning.output_tokens",
                  "gen_ai.usage.reasoning_tokens", "llm.usage.reasoning_tokens", "llm.token_count.completion_details.reasoning"),
    "tools": ("toolUsePromptTokenCount", "tool_use_prompt_token_count", "tool"),
}  # fmt: skip
"""Names of counts by what they count, in every provider's and every recorder's spelling."""


def usage_of(node: Node) -> Usage | None:
    """The usage that a provider reported: `prompt_tokens` with cached ones, `completion_tokens` with reasoning. None where no prompt size is given.

    The total tells whether the prompt holds the cached tokens and the completion the reasoning. Anthropic tells no total, and counts cached tokens
    beside the input.

    >>> node = Node(None, None, "$", {"input": 100, "output": 10, "total": 150, "cached": 40})
    >>> usage_of(node).prompt_tokens, usage_of(node.made({**node.value, "input": 140})).prompt_tokens
    (140, 140)
    """
    if node.value is None:
        return None
    counts = {name: _count(node, *keys) for name, keys in _SPELLED.items()}
    prompt, completion, total, tools = (counts.pop(name) for name in ("prompt", "completion", "total", "tools"))
    if prompt is None:
        return None
    details, made, own = _details(node, _INPUT), _details(node, _OUTPUT), node["prompt_tokens"].count()
    beside = details is None and (own is None or own < prompt)
    prompt, completion = prompt + (tools or 0), completion or 0
    if beside:
        prompt += sum(node[key].count() or 0 for key in _ANTHROPIC)
    for name, inner, keys in (("read", details, ("cached_tokens", "cache_read")), ("reasoning", made, _SPELLED["reasoning"][:3]),
                              ("written", details if counts["written"] is None else None, ("cache_creation_tokens", "cache_creation"))):  # fmt: skip
        if inner is not None and (told := _count(inner, *keys)) is not None:
            counts[name] = told
    read, written, reasoning = (counts[name] or 0 for name in ("read", "written", "reasoning"))
    more = ((held, thought) for thought in (0, reasoning) for held in (0, read, written, read + written))
    held, thought = next((pair for pair in more if sum(pair) == (total or 0) - prompt - completion), (0, 0))
    return Usage(
        prompt_tokens=prompt + held,
        completion_tokens=completion + thought,
        cached_prompt_tokens=counts["read"],
        cache_write_tokens=counts["written"],
        reasoning_tokens=counts["reasoning"],
    )


def _count(node: Node, *names: str) -> int | None:
    """The first of some counts that is above 0, else the first that is there."""
    first = None
    held = node.object()
    for name in names:
        if held.get(name) is None:
            continue
        if count := node[name].count():
            return count
        first = count if first is None else first
    return first


def _details(node: Node, names: tuple[str, ...]) -> Node | None:
    return next(
        (node[name] for name in names if node[name].value is not None and not isinstance(node[name].value, list)), None
    )
