"""Messages, calls and spans, counted by one walk over all objects of a file that shares no code with the readers.

Model calls are the objects that a format's own mark names; tool calls and results are counted by their distinct ids, since prompts
repeat them; usage is the first count within each model call.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from bench.traces import load

FORMATS = Path(__file__).parents[1] / "data" / "formats"
Mark = Callable[[dict[str, Any]], Any]
RESULTS = ("tool_result", "tool_output", "tool-result", "tool_call_response", "_call_output")
SENT = ("prompt_tokens", "input_tokens", "inputTokens", "input", "promptTokens", "gen_ai.usage.input_tokens",
        "llm.token_count.prompt", "ai.usage.promptTokens")  # fmt: skip
GIVEN = ("completion_tokens", "output_tokens", "outputTokens", "output", "completionTokens", "gen_ai.usage.output_tokens",
         "llm.token_count.completion", "ai.usage.completionTokens")  # fmt: skip


def objects(value: Any) -> Iterator[dict[str, Any]]:
    """Every object of a value, also within texts of JSON; lists of attributes as objects."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            value = json.loads(value)
        except ValueError:
            return
    if (
        isinstance(value, list)
        and value
        and all(isinstance(item, dict) and item.keys() == {"key", "value"} for item in value)
    ):
        value = {item["key"]: next(iter(item["value"].values()), None) for item in value}
        value = {key: int(item) if "token" in key and str(item).isdecimal() else item for key, item in value.items()}
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects(inner)


def call_id(value: dict[str, Any]) -> str | None:
    """The id of the call that an object is; None for any other object."""
    kind = str(value.get("type"))
    named = {"toolUseId", "name"} <= value.keys() or {"id", "name", "arguments"} <= value.keys()
    made = isinstance(value.get("function"), dict | str) and "id" in value and "tool_call_id" not in value
    if named or made or kind in ("tool_use", "tool_call", "tool-call") or kind.endswith("_call"):
        return first(value, "call_id", "toolCallId", "toolUseId", "id")
    return None


def result_id(value: dict[str, Any]) -> str | None:
    """The id of the call whose result an object is; None for any other object."""
    kind = str(value.get("kind") or value.get("type"))
    shown = value.get("role") == "tool" or {"toolUseId", "content"} <= value.keys() or kind.endswith(RESULTS)
    if shown or (
        "tool_call_id" in value
        and kind in ("tool", "ToolMessage", "ObservationEvent", "AgentErrorEvent", "UserRejectObservation")
    ):
        return first(value, "tool_use_id", "tool_call_id", "call_id", "toolCallId", "toolUseId", "id")
    return None


def first(value: dict[str, Any], *keys: str) -> Any:
    return next((value[key] for key in keys if value.get(key)), None)


def usage(call: dict[str, Any], keys: tuple[str, ...]) -> int:
    """The first of some counts within a model call."""
    return next((item[key] for item in objects(call) for key in keys if type(item.get(key)) is int), 0)


def counted(path: Path, is_call: Mark) -> tuple[int, int, int, int, int]:
    text = path.read_text(encoding="utf-8")
    value = [*map(json.loads, text.splitlines())] if path.suffix == ".jsonl" else yaml.safe_load(text)  # JSON is YAML
    found = list(objects(value))
    calls = list(
        {mark if isinstance(mark, str) else id(item): item for item in found if (mark := is_call(item))}.values()
    )
    asked, answered = ({own for item in found if (own := of(item))} for of in (call_id, result_id))
    return len(calls), len(asked), len(answered), *(sum(usage(item, keys) for item in calls) for keys in (SENT, GIVEN))


def roled(value: dict[str, Any]) -> bool:
    return value.get("role") in ("assistant", "ai")


MARKS: dict[str, tuple[Mark, int]] = {
    "messages/openai.counted.json": (roled, 5),
    "messages/tool_output.json": (roled, 5),
    "messages/langchain.dumpd.json": (
        lambda item: item.get("type") == "constructor" and item["id"][-1] == "AIMessage",
        5,
    ),
    "messages/langchain.messages_to_dict.json": (lambda item: item.get("type") == "ai" and "data" in item, 5),
    "request_log/litellm.jsonl": (lambda item: "call_type" in item and "choices" in (item.get("response") or {}), 5),
    "http/converse.yaml": (lambda item: "stopReason" in item, 3),
    "langsmith/runs.json": (lambda item: item.get("run_type") == "llm", 5),
    "langfuse/export.json": (lambda item: item.get("type") == "GENERATION", 2),
    "langgraph/history.json": (lambda item: item.get("type") == "ai" and item["id"], 5),
    "otel/semconv.json": (lambda item: item.get("gen_ai.operation.name") == "chat", 5),
    "otel/openinference.json": (lambda item: item.get("openinference.span.kind") == "LLM", 5),
    "inspect.json": (lambda item: roled(item) and item["content"] not in ("x", "yes") and str(item["content"]), 2),
    "swe/mini.chat.json": (roled, 5),
    "tau.json": (roled, 5),
    "openhands/events.json": (lambda item: item.get("kind") == "ActionEvent", 3),
    "copilot/chat.json": (lambda item: "toolCalls" in item or ("response" in item and not item.get("result")), 2),
}
"""The mark of a model call in each sample, and how many of the five counts its ids and numbers can tell. Inspect's `x` is a further
answer, `yes` the grader's."""


@pytest.mark.parametrize("name", MARKS)
def test_a_second_count_of_a_sample_agrees(name: str) -> None:
    path = FORMATS / name
    traces = load([str(path)]).traces
    turns = [turn for trace in traces for turn in trace.model_turns]
    usages = [turn.usage for turn in turns if turn.usage is not None]
    is_call, told = MARKS[name]
    own = (
        len(turns),
        sum(len(turn.tool_calls) for turn in turns),
        sum(len(trace.results) for trace in traces),
        sum(usage.prompt_tokens for usage in usages),
        sum(usage.completion_tokens for usage in usages),
    )
    assert counted(path, is_call)[:told] == own[:told]
