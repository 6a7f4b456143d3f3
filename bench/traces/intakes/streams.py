"""Streamed answers, put together from their events as if the provider had sent them at once.

For each interface `_FORMS` has a test for its events, and a function that yields the pieces of the
answer in them. `grown` joins the pieces.
"""

from __future__ import annotations

import base64
import binascii
import functools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..values import Fields, dicts, strict_json

_GROWING = {"text", "content", "refusal", "reasoning_content", "reasoning", "thinking", "signature",
            "partial_json", "name", "arguments", "input"}  # fmt: skip
"""Members whose text comes in pieces; for any other member the last piece counts."""
_DONE = ("response.completed", "response.incomplete", "response.failed")


def events_of(text: str) -> list[Fields]:
    """The objects of a stream: in server-sent events, or one per line (Ollama); else `[]`."""
    lines = re.split(r"\r\n|\n|\r", text)  # not splitlines: JSON texts may contain other breaks
    data = (line.removeprefix("data:").strip() for line in lines if line.startswith(("data:", "{")))
    return dicts([strict_json(line) for line in data])


def unpacked(value: Any) -> str | None:
    """The decoded text of a base64 text; None for anything else."""
    try:
        return base64.b64decode(value, validate=True).decode()
    except (binascii.Error, TypeError, ValueError):
        return None


def assembled(events: Iterable[Any]) -> Fields | None:
    """The answer in the events of a stream of OpenAI's chat or Responses interface, Anthropic,
    Gemini or Ollama; None for other events. If the stream broke off, it is the part that arrived.

    >>> chunks = [{"choices": [{"delta": {"content": text}}]} for text in ("36 ", "walls")]
    >>> assembled(chunks)["choices"][0]["message"]
    {'content': '36 walls'}
    """
    objects = [event for event in events if isinstance(event, dict)]
    try:
        for is_event, pieces_of in _FORMS:
            if any(map(is_event, objects)):
                return functools.reduce(grown, pieces_of(objects), {})
    except (KeyError, TypeError, AttributeError, RecursionError):
        pass
    return None


def grown(before: Any, more: Any, key: str = "") -> Any:
    """A value with another piece added: objects are joined by member, lists of objects by their
    `index`, texts of `_GROWING` members are appended. Any other value is replaced unless the piece
    is empty.

    >>> grown([{"index": 0, "name": "f", "id": "c"}], [{"name": "g"}, {"index": 1}])
    [{'index': 0, 'name': 'fg', 'id': 'c'}, {'index': 1}]
    """
    if isinstance(before, dict) and isinstance(more, dict):
        return before | {name: grown(before.get(name), more[name], name) for name in more}
    if isinstance(before, list) and dicts(before) == before and dicts(more) == more:
        members = {member.get("index", 0): member for member in before}
        for piece in more:
            index = piece.get("index", 0)
            members[index] = grown(members.get(index), piece)
        return list(members.values())
    if isinstance(before, str) and isinstance(more, str) and key in _GROWING:
        return before + more
    return before if more in (None, "") else more


def _chat(chunks: list[Fields]) -> Iterator[Fields]:
    for chunk in chunks:
        choices = chunk.get("choices") or ()
        pieces = (choice.get("delta") or {"content": choice.get("text")} for choice in choices)
        answers = zip(choices, pieces, strict=True)
        yield {**chunk, "choices": [{**choice, "message": piece} for choice, piece in answers]}


def _responses(events: list[Fields]) -> Iterator[Fields]:
    done = [event["response"] for event in events if event.get("type") in _DONE]
    begun = [event["response"] for event in events if event.get("type") == "response.created"]
    items = [event["item"] for event in events if event.get("type") == "response.output_item.done"]
    yield from done[-1:] or (*begun, {"output": items})


def _anthropic(events: list[Fields]) -> Iterator[Fields]:
    for event in events:
        kind = event.get("type")
        if kind == "message_start":
            yield event["message"]
        elif kind == "content_block_start":
            yield {"content": [{"index": event["index"], **event["content_block"]}]}
        elif kind == "content_block_delta":
            delta = {key: part for key, part in event["delta"].items() if key in _GROWING}
            if "partial_json" in delta:
                delta = {"input": delta["partial_json"]}
            yield {"content": [{"index": event["index"], **delta}]}
        elif kind == "message_delta":
            yield {**event["delta"], "usage": event.get("usage")}


def _gemini(chunks: list[Fields]) -> Iterator[Fields]:
    number, last = 0, None
    for chunk in chunks:
        candidate: Fields = next(iter(chunk.get("candidates") or ()), {})
        parts = []
        for part in candidate.get("content", {}).get("parts") or ():
            kind = ("text", part.get("thought")) if "text" in part else None
            number += kind is None or kind != last
            last = kind
            parts.append({"index": number, **part})
        yield {**chunk, "candidates": [{**candidate, "content": {"role": "model", "parts": parts}}]}


def _is_chunk(event: Fields) -> bool:
    choices = event.get("choices")
    return any({"delta", "text"} & choice.keys() for choice in dicts(choices))


_Form = tuple[Callable[[Fields], bool], Callable[[list[Fields]], Iterator[Fields]]]
_FORMS: tuple[_Form, ...] = (
    (lambda event: str(event.get("type")).startswith("response."), _responses),
    (lambda event: event.get("type") == "message_start", _anthropic),
    (lambda event: "candidates" in event, _gemini),
    (lambda event: "done" in event and "message" in event, iter),
    (_is_chunk, _chat),
)
