"""The policies of Agent Framework and Inspect: against the package where it is installed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from field import answer, histories, prompts, session, spied_writer, steps  # noqa: F401
from hypothesis import given, strategies as st

from bench.model import Message

# ---------------------------------------------------------------- agent framework, against the package


def original(history: Sequence[Message]) -> list[Any]:
    from agent_framework import Content, Message as Original

    found: list[Any] = []
    for message in history:
        contents: list[Any] = []
        if message.kind == "result":
            contents.append(Content.from_function_result(call_id=message.call_id or "", result=message.text))
        elif message.text or not message.tool_calls:
            contents.append(Content.from_text(message.text))
        for call in message.tool_calls:
            contents.append(Content.from_function_call(call_id=call.id, name=call.name, arguments=call.arguments))
        role = "tool" if message.kind == "result" else message.role
        found.append(Original(role=role, contents=contents, message_id=f"msg_{message.step}"))
    return found


def after_original(strategy: Any, history: Sequence[Message]) -> list[tuple[str, Any]]:
    """What the package leaves: a message by its step, one that it wrote by its text."""
    from agent_framework import _compaction as package

    theirs = original(history)
    package.annotate_message_groups(theirs)
    package.annotate_token_counts(theirs, tokenizer=package.CharacterEstimatorTokenizer())
    asyncio.run(strategy(theirs))
    return [
        (message.role, int(message.message_id[4:]) if message.message_id.startswith("msg_") else message.text)
        for message in package.project_included_messages(theirs)
    ]


def ours(spec: str, history: Sequence[Message], max_tokens: int = 128_000) -> list[tuple[str, Any]]:
    return [
        (message.role, message.text if message.step is None else message.step)
        for message in answer(spec, history, max_tokens)
    ]


HISTORIES = histories(max_turns=8)


@given(history=HISTORIES, keep=st.integers(0, 6), rule=st.sampled_from(["sliding_window", "tool_result"]))
def test_takes_out_groups_as_agent_framework_does(history: list[Message], keep: int, rule: str) -> None:
    package = pytest.importorskip("agent_framework._compaction", reason="agent-framework-core is not installed")
    strategies = {
        "sliding_window": lambda: package.SlidingWindowStrategy(keep_last_groups=max(1, keep)),
        "tool_result": lambda: package.ToolResultCompactionStrategy(keep_last_tool_call_groups=keep),
    }
    setting = f"keep_last_groups={max(1, keep)}" if rule == "sliding_window" else f"keep_last_tool_call_groups={keep}"
    assert ours(f"agent_framework.{rule}:{setting}", history) == after_original(strategies[rule](), history)


@given(history=HISTORIES, target=st.integers(1, 6), threshold=st.integers(0, 3))
def test_summarizes_as_agent_framework_does(history: list[Message], target: int, threshold: int) -> None:
    package = pytest.importorskip("agent_framework._compaction", reason="agent-framework-core is not installed")

    class Client:
        async def get_response(self, messages: list[Any], stream: bool = False) -> Any:
            return type("Response", (), {"text": str(messages[1].text.count("\n") + 1)})()

    strategy = package.SummarizationStrategy(
        client=Client(), target_count=target, threshold=threshold, max_summary_input_tokens=None
    )
    got = ours(
        f"agent_framework.summarization:target_count={target},threshold={threshold},max_summary_input_tokens=null",
        history,
    )
    wanted = after_original(strategy, history)
    by_step = [[(role, "made" if isinstance(item, str) else item) for role, item in found] for found in (got, wanted)]
    assert by_step[0] == by_step[1]


# ---------------------------------------------------------------- inspect, against the package


def of_inspect(history: Sequence[Message]) -> list[Any]:
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageTool, ChatMessageUser
    from inspect_ai.tool import ToolCall as Call

    found: list[Any] = []
    for message in history:
        shared: dict[str, Any] = {"content": message.text, "id": str(message.step)}
        if message.kind == "system":
            found.append(ChatMessageSystem(**shared))
        elif message.kind == "model":
            made = [Call(id=call.id, function=call.name, arguments=call.arguments) for call in message.tool_calls]
            found.append(ChatMessageAssistant(**shared, tool_calls=made or None))
        elif message.kind == "result":
            found.append(ChatMessageTool(**shared, tool_call_id=message.call_id))
        else:
            found.append(ChatMessageUser(**shared))
    return found


def words_of_theirs(messages: Sequence[Any]) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(m.role, m.text, tuple(call.id for call in getattr(m, "tool_calls", None) or ())) for m in messages]


def words_of_ours(messages: Sequence[Message]) -> list[tuple[str, str, tuple[str, ...]]]:
    return [
        ("tool" if m.kind == "result" else m.role, m.text, tuple(call.id for call in m.tool_calls)) for m in messages
    ]


@given(history=histories(max_turns=8, system=True), keep=st.integers(0, 4), exclude=st.sampled_from([[], ["read"]]))
def test_edits_as_inspect_does(history: list[Message], keep: int, exclude: list[str]) -> None:
    module = pytest.importorskip("inspect_ai.model._compaction.edit", reason="inspect-ai is not installed")
    strategy = module.CompactionEdit(
        keep_tool_uses=keep, exclude_tools=exclude, keep_thinking_turns="all", memory=False
    )
    theirs, _ = asyncio.run(strategy.compact(None, of_inspect(history), []))
    ours = answer(f"inspect.edit:keep_tool_uses={keep},exclude_tools=[{','.join(exclude)}],max_tokens=0", history)
    while ours and ours[-1].kind == "model":  # the original takes it off
        ours.pop()
    assert words_of_ours(ours) == words_of_theirs(theirs)
