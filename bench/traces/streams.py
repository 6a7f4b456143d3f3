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
_GROWING = {"text", "content", "refusal", "reasoning_content", "reasoning", "thinking", "tool_plan", "signature",
            "partial_json", "name", "arguments", "input"}  # fmt: skip
"""Members whose text comes in pieces; of any other the last piece counts."""

Event = dict[str, Any]


def events_of(text: str) -> list[Event]:
    """The JSON objects of a stream of server-sent events; `[]` for any other text."""
    found: list[Event] = []
    for line in re.split(r"\r\n|\n|\r", text):  # as events are; a JSON text may hold other breaks
        data = line.removeprefix("data:").strip() if line.startswith("data:") else ""
        if data.startswith("{"):
            try:
                found.append(json.loads(data))
            except (ValueError, RecursionError):
                continue
    return found


def events_of_frames(data: bytes) -> list[Event]:
    """The JSON objects of a stream in the binary frames of AWS, each below the name of its event; `[]` for other bytes.

    A frame is its length and that of its headers (4 bytes each), a checksum, headers, payload, a checksum.
    Source: smithy.io, "Amazon Event Stream".
    """
    found: list[Event] = []
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


def assembled(events: Iterable[Any]) -> Event | None:
    """The answer that events make up, in the form of OpenAI's chat or Responses interface, Anthropic's, Cohere's,
    Gemini's or Converse's; None where they are none of these. An answer whose stream broke off ends with the reason
    `stream_cut`."""
    objects = [event for event in events if isinstance(event, dict)]
    try:
        return next((put(objects) for put, is_of in _FORMS if any(map(is_of, objects))), None)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, RecursionError):
        return None


def _grown(before: Any, more: Any, key: str = "") -> Any:
    """A value with a further piece of it.

    >>> _grown({"id": "c", "function": {"arguments": "[1"}}, {"id": "c", "function": {"arguments": "]"}})
    {'id': 'c', 'function': {'arguments': '[1]'}}
    """
    if isinstance(before, dict) and isinstance(more, dict):
        return {**before, **{name: _grown(before.get(name), piece, name) for name, piece in more.items()}}
    if isinstance(before, str) and isinstance(more, str) and key in _GROWING:
        return before + more
    return before if more in (None, "") else more


def _grow(parts: dict[int, Event], place: int, piece: Event) -> None:
    parts[place] = _grown(parts.get(place, {}), piece)


def _in_order(parts: dict[int, Event]) -> list[Event]:
    return [parts[place] for place in sorted(parts)]


def _arguments(text: str) -> Any:
    """The arguments of a call; as their text where the stream broke off within them."""
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text


def _responses(events: list[Event]) -> Event | None:
    """The finished response of OpenAI's Responses events, else the items that were done when it broke off."""
    done = next((event["response"] for event in reversed(events) if event.get("type") in _DONE), None)
    if done is not None:
        return dict(done)
    begun = next((event["response"] for event in events if event.get("type") == "response.created"), None)
    items = [event["item"] for event in events if event.get("type") == "response.output_item.done"]
    return None if begun is None else {**begun, "output": items, "status": CUT}


def _anthropic(events: list[Event]) -> Event:
    """The message of Anthropic's events, its blocks joined by their index."""
    message: Event = {}
    blocks: dict[int, Event] = {}
    for event in events:
        kind = event.get("type")
        if kind == "message_start":
            message = dict(event["message"])
        elif kind == "content_block_start":
            _grow(blocks, event["index"], event["content_block"])
        elif kind == "content_block_delta":
            _grow(blocks, event["index"], {key: part for key, part in event["delta"].items() if key in _GROWING})
        elif kind == "message_delta":
            message = {**message, **event["delta"], "usage": {**message.get("usage", {}), **event.get("usage", {})}}
    for block in blocks.values():
        if "partial_json" in block:
            block["input"] = _arguments(block.pop("partial_json"))
    return {**message, "stop_reason": message.get("stop_reason") or CUT, "content": _in_order(blocks)}


def _cohere(events: list[Event]) -> Event:
    """The answer of Cohere's events: pieces of blocks and calls are joined by their index."""
    message: Event = {}
    ended: Event = {"finish_reason": CUT}
    for event in events:
        delta = event.get("delta") or {}
        ended |= {key: value for key, value in delta.items() if key != "message"}
        for key, part in (delta.get("message") or {}).items():
            if isinstance(part, dict):  # of the block or the call at an index
                message[key] = message.get(key) or {}
                _grow(message[key], event["index"], part)
            else:
                message = _grown(message, {key: part})
    lists = {key: _in_order(parts) for key, parts in message.items() if isinstance(parts, dict)}
    return {"id": events[0].get("id"), **ended, "message": {**message, **lists}}


def _gemini(chunks: list[Event]) -> Event:
    parts: list[Event] = []
    answer: Event = {}
    reason = None
    for chunk in chunks:
        answer |= {key: value for key, value in chunk.items() if key != "candidates"}
        candidate: Event = next(iter(chunk.get("candidates") or ()), {})
        reason = candidate.get("finishReason") or candidate.get("finish_reason") or reason
        for part in candidate.get("content", {}).get("parts") or ():
            last = parts[-1] if parts else {}
            if "text" in part and "text" in last and part.get("thought") == last.get("thought"):
                parts[-1] = {**last, "text": last["text"] + part["text"]}
            else:
                parts.append(part)
    return {**answer, "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": reason or CUT}]}


def _converse(events: list[Event]) -> Event:
    blocks: dict[int, Event] = {}
    answer: Event = {"stopReason": CUT}
    for event in events:
        (kind, held), *_ = event.items()
        if kind in ("contentBlockStart", "contentBlockDelta"):
            part = held.get("start", {}) if kind == "contentBlockStart" else held["delta"]
            if "reasoningContent" in part:
                part = {"reasoningContent": {"reasoningText": {"text": part["reasoningContent"].get("text", "")}}}
            _grow(blocks, held["contentBlockIndex"], part)
        elif kind == "messageStop":
            answer["stopReason"] = held["stopReason"]
        elif kind == "metadata":
            answer["usage"] = held["usage"]
    for block in blocks.values():
        if "toolUse" in block:
            block["toolUse"]["input"] = _arguments(block["toolUse"].get("input", ""))
    return {**answer, "output": {"message": {"role": "assistant", "content": _in_order(blocks)}}}


def _chat(chunks: list[Event]) -> Event:
    message: Event = {"role": "assistant"}
    calls: dict[int, Event] = {}
    chunks = [chunk for chunk in chunks if isinstance(chunk.get("choices"), list)]
    answer: Event = {"id": chunks[0].get("id"), "model": chunks[0].get("model"), "usage": None}
    reason = None
    for chunk in chunks:
        answer["usage"] = chunk.get("usage") or answer["usage"]
        for choice in (choice for choice in chunk["choices"] if choice.get("index", 0) == 0):
            delta = choice.get("delta") or {"content": choice.get("text")}
            reason = choice.get("finish_reason") or reason
            message = _grown(message, {key: part for key, part in delta.items() if key in _GROWING and part})
            for part in delta.get("tool_calls") or ():
                _grow(calls, part.get("index", 0), part)
    message["tool_calls"] = _in_order(calls)
    return {**answer, "choices": [{"message": message, "finish_reason": reason or CUT}]}


def _is_chunk(event: Event) -> bool:
    choices = event.get("choices")
    return isinstance(choices, list) and any({"delta", "text"} & choice.keys() for choice in choices)


_FORMS: tuple[tuple[Callable[[list[Event]], Event | None], Callable[[Event], bool]], ...] = (
    (_responses, lambda event: str(event.get("type")).startswith("response.")),
    (_anthropic, lambda event: event.get("type") == "message_start"),
    (_cohere, lambda event: event.get("type") == "message-start"),
    (_gemini, lambda event: "candidates" in event),
    (_converse, lambda event: "messageStart" in event),
    (_chat, _is_chunk),
)
"""The functions that put the events of an interface together, each with the one that knows such an event; the first
that fits."""
