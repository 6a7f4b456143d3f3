"""Chat messages in OpenAI's form: a list, an object that holds one, or JSON Lines of messages or of whole conversations."""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest
from typing import Any

from ...model import ToolCall
from .. import Confidence, Document, Keeps, Near, Node, Traces, by_marks, dicts, register
from ..chat import Form, is_anthropic, said_of_message
from ..commands import calls_in, is_observation, observation
from ..conversations import chats, sample
from ..parts import CHAT_ROLES
from ..steps import Steps

_SAYS = {"content", "tool_calls", "function_call", "refusal"}
_KNOWN = _SAYS | {"role", "name", "tool_call_id", "reasoning_content", "reasoning", "thinking_blocks", "usage", "finish_reason", "model",
                  "id", "index", "tool_plan"}  # fmt: skip
_FORM = Form(_KNOWN, CHAT_ROLES, keep_parts=True, answers=True)
_CONVERSATION = {"messages", "tools", "functions", "tool_choice", "parallel_tool_calls", "model", "id", "metadata", "usage",
                 "temperature", "top_p", "max_tokens", "max_completion_tokens", "response_format", "seed"}  # fmt: skip
_CALL = {"id", "type", "index", "function", "custom"}
_LOG = {"request", "response", "choices", "output", "completion", "proxy_server_request", "system"}
"""Keys beside the messages of what is no conversation: a log of one call, or a request in another provider's form."""


@register("reader", "openai")
class OpenAI:
    """Conversations as OpenAI's chat interface takes them, one trace each.

    A file is a list of messages, `{"messages": […]}` with `tools`, `model`, `id`, `metadata`, a list of those, or JSON Lines of either.
    Tool definitions become a step before the first message; indices count the steps so made. A tool message must answer a call
    made before it.

    Source: OpenAI API reference, "Create chat completion" (messages, tool_calls, legacy function_call)
    """

    keeps = Keeps(
        results="as shown",
        also=("usage", "reasoning", "tools", "model"),
        never="times, errors of tools, the untruncated result, how the run ended: a conversation has none of these",
        tested="Chat Completions API, written by hand after the reference",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        frame, messages = sample(document) or (set(), [])
        spoken = any(item.keys() & {"role", "content"} for item in dicts(messages))
        marks = {"a list of messages": spoken}
        marks["a known role and something said in each message"] = bool(messages) and all(map(_is_message, messages))
        if all(marks.values()):
            marks["messages in OpenAI's form, not Anthropic's"] = not is_anthropic(messages)
            marks["a conversation by itself, not a log of calls"] = not frame & _LOG
        looks = by_marks(marks)
        if looks is not Confidence.CERTAIN:
            return looks
        called = any(item.get("tool_calls") or item.get("function_call") or item["role"] == "tool" for item in messages)
        keys = {key for item in messages for key in item}
        foreign = not frame <= _CONVERSATION or not keys <= _KNOWN | {"audio", "annotations"}
        texts = (item.get("content") for item in messages if item["role"] == "user")
        in_text = any(isinstance(text, str) and is_observation(text) for text in texts)
        return Confidence.CERTAIN if called and not foreign and not in_text else Confidence.POSSIBLE

    def read(self, document: Document) -> Traces:
        """Each conversation of the file as a trace; its id is the conversation's own, or empty."""
        return chats(document, "openai", _begin, _say)


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and str(value.get("role")) in CHAT_ROLES and not _SAYS.isdisjoint(value)


def _begin(steps: Steps, frame: Node) -> None:
    steps.unread.keys(frame, _CONVERSATION, "a conversation")
    steps.tools([tool.value for tool in frame["tools"].items() or frame["functions"].items()])


def _say(steps: Steps, messages: list[Node], model: str | None) -> None:
    waiting: list[ToolCall] = []  # commands, written in text, that still wait for their output
    for message, answer in zip_longest(messages, messages[1:]):
        said = said_of_message(message, steps.unread, _FORM, steps.index)
        if said.role == "user" and waiting and is_observation(said.text):
            steps.say(observation(waiting.pop(0), said.text))
            continue
        if said.role == "tool":
            legacy = message["role"].value == "function"
            call = steps.require_call_of(message["name"]) if legacy else steps.require_call(message["tool_call_id"])
            said = replace(said, call_id=call)
        for call_node in message["tool_calls"].items() if said.role == "assistant" else ():
            steps.unread.keys(call_node, _CALL, "a tool call")
        if said.role == "assistant" and not said.calls and answer is not None and answer["role"].value == "user":
            # a command block is a call only if its output follows: a chat may merely show one
            reply = answer["content"].value
            shown = isinstance(reply, str) and is_observation(reply)
            said = replace(said, calls=calls_in(said.text, steps.index, str(reply)) if shown else ())
        steps.say(said, model=said.model or model)
        waiting = [call for call in said.calls if call.in_text]
