"""A streamed answer is read as the one that was sent at once, and one that broke off as far as it came."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from bench.traces.intakes.exchange import answers_of
from bench.traces.intakes.streams import assembled, events_of
from bench.traces.values import Unread

USAGE = {"prompt_tokens": 9, "completion_tokens": 4}
CALLS = [{"index": at, "id": f"c{at}", "type": "function", "function": {"name": "f", "arguments": text}} for at, text in enumerate(('{"a": 1}', "{}"))]  # fmt: skip
CHAT = [
    {"role": "assistant", "content": ""},
    {"content": "36 "},
    {"content": "walls"},
    {"tool_calls": [{**CALLS[0], "function": {"name": "f", "arguments": '{"a"'}}]},
    {"tool_calls": [{"index": 0, "function": {"arguments": ": 1}"}}]},
    {"tool_calls": [CALLS[1]]},
]
ANTHROPIC: list[dict[str, Any]] = [
    {"type": "message_start", "message": {"role": "assistant", "content": [], "usage": {"input_tokens": 9}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Count."}},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "36 "}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "walls"}},
    {
        "type": "content_block_start",
        "index": 2,
        "content_block": {"type": "tool_use", "id": "c0", "name": "f", "input": {}},
    },
    {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": '{"a"'}},
    {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": ": 1}"}},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 4}},
]
PARTS: list[list[dict[str, Any]]] = [
    [{"text": "Count.", "thought": True}],
    [{"text": "36 "}],
    [{"text": "walls"}, {"functionCall": {"name": "f", "args": {"a": 1}}}],
    [{"functionCall": {"name": "f", "args": {}}}],
]
ITEM = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "36 walls"}]}
WHOLE: dict[str, dict[str, Any]] = {
    "chat": {"choices": [{"finish_reason": "tool_calls", "message": {"role": "assistant", "content": "36 walls", "tool_calls": CALLS}}], "usage": USAGE},
    "anthropic": {"role": "assistant", "stop_reason": "tool_use", "usage": {"input_tokens": 9, "output_tokens": 4},
                  "content": [{"type": "thinking", "thinking": "Count."}, {"type": "text", "text": "36 walls"},
                              {"type": "tool_use", "id": "c0", "name": "f", "input": {"a": 1}}]},
    "gemini": {"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [PARTS[0][0], {"text": "36 walls"}, PARTS[2][1], *PARTS[3]]}}]},
    "responses": {"status": "completed", "output": [ITEM], "usage": {"input_tokens": 9, "output_tokens": 4}},
}  # fmt: skip
EVENTS: dict[str, list[Any]] = {
    "chat": [*({"choices": [{"index": 0, "delta": delta}]} for delta in CHAT),
             {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}, {"choices": [], "usage": USAGE}],
    "anthropic": [*ANTHROPIC, {"type": "message_stop"}],
    "gemini": [*({"candidates": [{"content": {"role": "model", "parts": parts}}]} for parts in PARTS), {"candidates": [{"finishReason": "STOP"}]}],
    "responses": [{"type": "response.created", "response": {"status": "in_progress", "output": []}},
                  {"type": "response.output_item.done", "item": ITEM}, {"type": "response.completed", "response": WHOLE["responses"]}],
}  # fmt: skip
each = pytest.mark.parametrize("form", EVENTS)


@each
def test_a_streamed_answer_equals_the_same_answer_sent_at_once(form: str) -> None:
    assert answers_of(assembled(EVENTS[form]), unread := Unread()) == answers_of(WHOLE[form], Unread())
    assert unread.counts == {}


@each
def test_an_interrupted_answer_is_read_as_far_as_it_was_sent(form: str) -> None:
    texts = []
    for size in range(1, len(EVENTS[form]) - 2):
        turn = next(iter(answers_of(assembled(EVENTS[form][:size]), Unread())), None)
        if turn is not None:
            texts.append(turn.content)
    assert all(later.startswith(text) for text, later in itertools.pairwise(texts))


@pytest.mark.parametrize("odd", [[], [{"choices": [5]}], [{"type": "message_start"}], [{"type": "content_block_delta"}],
                                 [{"choices": [{"delta": {"content": [1]}}]}, "x"], ["x", None]])  # fmt: skip
def test_unusual_events_are_not_an_error(odd: list[Any]) -> None:
    assert assembled(odd) is None or answers_of(assembled(odd), Unread())


def test_data_lines_of_a_stream_are_its_events() -> None:
    assert events_of('event: a\r\ndata: {"a": 1}\r\n\r\ndata: {"b"\n\ndata: [DONE]\rdata:{"c": 2}') == [
        {"a": 1},
        {"c": 2},
    ]
    assert events_of("no events") == []
