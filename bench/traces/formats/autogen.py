"""Runs of AutoGen's AgentChat: the messages of a task's result, and saved states of agents and teams."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...model import ToolCall
from .. import Confidence, Document, Keeps, Near, Node, Traces, by_marks, dicts, register, values_of
from ..nodes import inside, members, moment, only_text, picked
from ..parts import arguments_of, simple_content, usage_of
from ..steps import Said, Steps, result

_TEXTS = {"TextMessage", "StopMessage", "HandoffMessage", "MultiModalMessage", "AssistantMessage", "UserMessage", "SystemMessage"}  # fmt: skip
_RESULTS = {"ToolCallExecutionEvent", "FunctionExecutionResultMessage"}
_READ = {*_TEXTS, *_RESULTS, "ToolCallRequestEvent", "ThoughtEvent", "SelectSpeakerEvent"}
_TYPES = {*_READ, "ToolCallSummaryMessage", "SelectorEvent", "MemoryQueryEvent", "UserInputRequestedEvent", "ModelClientStreamingChunkEvent",
          "StructuredMessage", "CodeGenerationEvent", "CodeExecutionEvent"}  # fmt: skip


@register("reader", "autogen")
class AutoGen:
    """One trace a result: `{messages, stop_reason}`, a list or lines of messages with a `source` each, or a saved state (`agent_states`,
    `llm_context`), whose agents have threads of their own.

    Messages of `user` are user turns, others turns of their source's; requests of tools and their executions are calls and results. A thought is
    the reasoning of the turn after it. A handoff or a selected speaker is a RouteDecision. Summaries that repeat results are counted: no model
    wrote them.

    Source: microsoft.github.io/autogen, `autogen_agentchat.messages`, `autogen_core.models`, "Managing State"
    """

    keeps = Keeps(
        results="as shown",
        also=("usage", "times", "errors", "routes", "reasoning", "threads"),
        never="tool definitions, the model's name; what an agent was shown of the others, except in states",
        tested="autogen-agentchat 0.4 to 0.7, by hand after the source",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        held = document.first
        if isinstance(held.get("agent_states"), dict) or isinstance(held.get("llm_context"), dict):
            return Confidence.CERTAIN
        listed = held["messages"] if isinstance(held.get("messages"), list) else [held]
        typed = [item for item in dicts(listed) if str(item.get("type")) in _TYPES]
        sourced = any("source" in item for item in typed)
        return by_marks({"messages of AutoGen's types": bool(typed), "a source in them": sourced})

    def read(self, document: Document) -> Traces:
        """The file's one run, or one a result."""
        values = values_of(document)
        if values and values[0].has("type") and values[0].has("source"):
            yield _told(values, Steps()).trace(document, "autogen", values[0])
            return
        for value in values:
            run = _told(value["messages"].items(), Steps()) if value.has("messages") else _state(value)
            yield run.trace(document, "autogen", value, meta=picked(value, "stop_reason"))


def _state(state: Node) -> Steps:
    """The conversations of a saved state: those that agents had with their models, else what was said in the team."""
    agents = [(name.split("/")[0], node) for name, node in members(state["agent_states"])] or [("main", state)]
    spoken = [(name, messages) for name, node in agents if (messages := _context(node))]
    threads = [thread.items() for _, node in agents if (thread := inside(node, "message_thread")).value is not None]
    steps = Steps()
    if not spoken:
        return _told(threads[0] if threads else [], steps)
    steps.unread.add("message of the team's thread, which its agents hold too", sum(map(len, threads)))
    for number, (name, messages) in enumerate(spoken):
        _told(messages, steps, "main" if not number else name)
    return steps


def _context(node: Node) -> list[Node]:
    inner = inside(node, "agent_state")
    return inside(inner if isinstance(inner.value, dict) else node, "llm_context", "messages").items()


def _told(messages: list[Node], steps: Steps, thread: str = "main") -> Steps:
    thoughts: list[str] = []
    for message in messages:
        kind, source, t = message["type"].text(), only_text(message["source"]) or "agent", moment(message["created_at"])
        if kind == "ThoughtEvent":
            thoughts.append(message["content"].text())
            continue
        usage = usage_of(message["models_usage"])
        for said in _said(message, kind, source):
            if said.role == "assistant" and thoughts:
                said, thoughts = replace(said, reasoning="\n".join(thoughts)), []
            steps.say(said, thread, source if said.role in ("assistant", "tool") else "agent", t, usage=usage)
        taken = message["target"].value if kind == "HandoffMessage" else None
        if kind == "SelectSpeakerEvent" and isinstance(message["content"].value, list):
            taken = "+".join(map(str, message["content"].value))
        if isinstance(taken, str) and taken:
            steps.route(taken, kind, source, thread, t)
        elif kind not in _READ:
            steps.unread.kind("message", kind)
    return steps


def _said(message: Node, kind: str, source: str) -> list[Said]:
    content, thought = message["content"], only_text(message["thought"])
    listed = isinstance(content.value, list)
    if kind in _RESULTS:
        return [_result(item) for item in content.items()]
    if kind == "ToolCallRequestEvent" or (kind == "AssistantMessage" and listed):
        calls = tuple(
            ToolCall(id=call["id"].text(), name=call["name"].text(), arguments=arguments_of(call["arguments"]))
            for call in content.items()
        )
        return [Said("assistant", calls=calls, reasoning=thought)]
    if kind not in _TEXTS:
        return []
    shown = simple_content(content.made(list(map(_part, content.value)))) if listed else content.text()
    if kind == "SystemMessage":
        return [Said("system", shown)]
    mine = kind == "AssistantMessage" or (kind != "UserMessage" and source != "user")
    return [Said("assistant", shown, reasoning=thought) if mine else Said("user", shown)]


def _part(item: Any) -> Any:
    data = item.get("data") if isinstance(item, dict) else None
    return {"type": "image_url", "image_url": f"data:image/png;base64,{data}"} if isinstance(data, str) else item


def _result(item: Node) -> Said:
    text, failed = item["content"].text_or_none() or "", item["is_error"].value is True
    return result(text, only_text(item["call_id"]) or "", only_text(item["name"]) or "", failed=failed)
