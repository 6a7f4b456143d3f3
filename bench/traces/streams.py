"""Answers that were streamed: the events of one put together to what the provider would have sent at once."""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Callable, Iterable
from typing import Any

CUT = "stream_cut"
"""The reason why an answer ended where its stream broke off before it said one."""

_DONE = ("response.completed", "response.incomplete", "response.failed")
_JOINED = {"text": "text", "thinking": "thinking", "partial_json": "json", "signature": "signature"}


def events_of(text: str) -> list[dict[str, Any]]:
    """The JSON objects of a stream of server-sent events; `[]` for any other text."""
    found: list[dict[str, Any]] = []
    for line in re.split(r"\r\n|\n|\r", text):  # as events are; a JSON text may hold other breaks
        data = line.removeprefix("data:").strip() if line.startswith("data:") else ""
        if data.startswith("{"):
            try:
                event = json.loads(data)
            except (ValueError, RecursionError):
                continue
            found.append(event)
    return found


def events_of_frames(data: bytes) -> list[dict[str, Any]]:
    """The JSON objects of a stream in the binary frames of AWS, each below the name of its event; `[]` for any other bytes.

    A frame is its length and that of its headers (4 bytes each), a checksum, headers, payload, a checksum. Source: smithy.io, "Amazon Event Stream".
    """
    found: list[dict[str, Any]] = []
    start = 0
    while start + 16 <= len(data):
        size, headers = struct.unpack_from(">II", data, start)
        if size < 16 + headers or start + size > len(data):
            break
        try:
            event = json.loads(data[start + 12 + headers : start + size - 4] or b"{}")
            name = data[start + 12 : start + 12 + headers].partition(b":event-type\x07")[2]
            kind = name[2 : 2 + int.from_bytes(name[:2])].decode()
            packed = event.get("bytes")
            found.append(json.loads(base64.b64decode(packed)) if isinstance(packed, str) else {kind: event})
        except (ValueError, RecursionError, AttributeError):
            return []
        start += size
    return found


def assembled(events: Iterable[Any]) -> dict[str, Any] | None:
    """The answer that events make up, in the form of OpenAI's chat or Responses interface, Anthropic's, Cohere's, Gemini's or Converse's; None where
    they are none of these. An answer whose stream broke off ends with the reason `stream_cut`."""
    told = [event for event in events if isinstance(event, dict)]
    try:
        return next((put(told) for put, is_of in _FORMS if any(map(is_of, told))), None)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, RecursionError):
        return None


def _responses(events: list[dict[str, Any]]) -> dict[str, Any] | None:
    whole = next((event["response"] for event in reversed(events) if event.get("type") in _DONE), None)
    if whole is not None:
        return dict(whole)
    begun = next((event["response"] for event in events if event.get("type") == "response.created"), None)
    items = [event["item"] for event in events if event.get("type") == "response.output_item.done"]
    return None if begun is None else {**begun, "output": items, "status": CUT}


def _anthropic(events: list[dict[str, Any]]) -> dict[str, Any]:
    message: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    for event in events:
        kind = event.get("type")
        if kind == "message_start":
            message = dict(event["message"])
        elif kind == "content_block_start":
            blocks[event["index"]] = dict(event["content_block"])
        elif kind == "content_block_delta":
            delta, block = event["delta"], blocks[event["index"]]
            for part, key in _JOINED.items():
                if part in delta:
                    block[key] = block.get(key, "") + delta[part]
        elif kind == "message_delta":
            message = {**message, **event["delta"], "usage": {**message.get("usage", {}), **event.get("usage", {})}}
    for block in blocks.values():
        if "json" in block:
            block["input"] = _arguments(block.pop("json"))
    reason = message.get("stop_reason") or CUT
    return {**message, "stop_reason": reason, "content": [blocks[at] for at in sorted(blocks)]}


def _cohere(events: list[dict[str, Any]]) -> dict[str, Any]:
    message: dict[str, Any] = {}
    ended: dict[str, Any] = {"finish_reason": CUT}
    for event in events:
        delta = event.get("delta") or {}
        ended |= {key: value for key, value in delta.items() if key != "message"}
        for key, part in (delta.get("message") or {}).items():
            if isinstance(part, dict):  # of the block or the call at an index
                message[key] = _grown(message.get(key) or {}, {event["index"]: part})
            else:
                message[key] = _grown(message.get(key), part)
    whole = {
        key: [part[at] for at in sorted(part)] if isinstance(part, dict) else part for key, part in message.items()
    }
    return {"id": events[0].get("id"), **ended, "message": whole}


def _grown(before: Any, more: Any) -> Any:
    """A value with a further piece of it: a text grows, the members of an object do, anything else is what was said first."""
    if isinstance(before, str) and isinstance(more, str):
        return before + more
    if isinstance(before, dict) and isinstance(more, dict):
        return {**before, **{key: _grown(before.get(key), part) for key, part in more.items()}}
    return before or more


def _arguments(text: str) -> Any:
    """The arguments of a call; as their text where the stream broke off within them."""
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text


def _gemini(chunks: list[dict[str, Any]]) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    whole: dict[str, Any] = {}
    reason = None
    for chunk in chunks:
        whole |= {key: value for key, value in chunk.items() if key != "candidates"}
        candidate: dict[str, Any] = next(iter(chunk.get("candidates") or ()), {})
        reason = candidate.get("finishReason") or candidate.get("finish_reason") or reason
        for part in candidate.get("content", {}).get("parts") or ():
            last = parts[-1] if parts else {}
            if "text" in part and "text" in last and part.get("thought") == last.get("thought"):
                parts[-1] = {**last, "text": last["text"] + part["text"]}
            else:
                parts.append(part)
    return {**whole, "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": reason or CUT}]}


def _converse(events: list[dict[str, Any]]) -> dict[str, Any]:
    blocks: dict[int, dict[str, Any]] = {}
    whole: dict[str, Any] = {"stopReason": CUT}
    for event in events:
        (kind, told), *_ = event.items()
        block = blocks.setdefault(told["contentBlockIndex"], {}) if "contentBlockIndex" in told else {}
        if kind == "contentBlockStart":
            block |= told.get("start", {})
        elif kind == "contentBlockDelta":
            delta = told["delta"]
            if "reasoningContent" in delta:
                delta = {"reasoningContent": {"reasoningText": {"text": delta["reasoningContent"].get("text", "")}}}
            block |= _grown(block, delta)
        elif kind == "messageStop":
            whole["stopReason"] = told["stopReason"]
        elif kind == "metadata":
            whole["usage"] = told["usage"]
    for block in blocks.values():
        if "toolUse" in block:
            block["toolUse"]["input"] = _arguments(block["toolUse"].get("input", ""))
    return {**whole, "output": {"message": {"role": "assistant", "content": [blocks[at] for at in sorted(blocks)]}}}


def _chat(chunks: list[dict[str, Any]]) -> dict[str, Any]:
    said: dict[str, str] = {}
    calls: dict[int, dict[str, Any]] = {}
    chunks = [chunk for chunk in chunks if isinstance(chunk.get("choices"), list)]
    whole: dict[str, Any] = {"id": chunks[0].get("id"), "model": chunks[0].get("model"), "usage": None}
    reason = None
    for chunk in chunks:
        whole["usage"] = chunk.get("usage") or whole["usage"]
        for choice in chunk["choices"]:
            if choice.get("index", 0) != 0:
                continue
            delta = choice.get("delta") or {"content": choice.get("text")}
            reason = choice.get("finish_reason") or reason
            for key in ("content", "refusal", "reasoning_content", "reasoning"):
                if delta.get(key):
                    said[key] = said.get(key, "") + delta[key]
            for part in delta.get("tool_calls") or ():
                call = calls.setdefault(part.get("index", 0), {"id": None, "function": {"name": "", "arguments": ""}})
                call["id"] = part.get("id") or call["id"]
                for key in ("name", "arguments"):
                    call["function"][key] += (part.get("function") or {}).get(key) or ""
    message = {"role": "assistant", **said, "tool_calls": [calls[index] for index in sorted(calls)]}
    return {**whole, "choices": [{"message": message, "finish_reason": reason or CUT}]}


def _is_chunk(event: dict[str, Any]) -> bool:
    choices = event.get("choices")
    return isinstance(choices, list) and any({"delta", "text"} & choice.keys() for choice in choices)


_FORMS: tuple[tuple[Callable[[list[dict[str, Any]]], dict[str, Any] | None], Callable[[dict[str, Any]], bool]], ...] = (
    (_responses, lambda event: str(event.get("type")).startswith("response.")),
    (_anthropic, lambda event: event.get("type") == "message_start"),
    (_cohere, lambda event: event.get("type") == "message-start"),
    (_gemini, lambda event: "candidates" in event),
    (_converse, lambda event: "messageStart" in event),
    (_chat, _is_chunk),
)
"""The functions that put the events of an interface together, each with the one that tells such an event; the first that fits."""
