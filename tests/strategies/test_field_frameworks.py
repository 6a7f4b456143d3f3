"""The policies of Agent Framework and Inspect: against the package where it is installed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from field import answer, histories, prompts, session, spied_writer, steps  # noqa: F401
from hypothesis import given, strategies as st

from bench.model import Message
from bench.plugins.registry import build
from bench.strategies.policies.agent_framework import agent_framework_tokens as json_tokens

# ---------------------------------------------------------------- agent framework, against the package


def original(told: Sequence[Message]) -> list[Any]:
    from agent_framework import Content, Message as Original

    found: list[Any] = []
    for message in told:
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


def after_original(strategy: Any, told: Sequence[Message]) -> list[tuple[str, Any]]:
    """What the package leaves: a message by its step, one that it wrote by its text."""
    from agent_framework import _compaction as package

    theirs = original(told)
    package.annotate_message_groups(theirs)
    package.annotate_token_counts(theirs, tokenizer=package.CharacterEstimatorTokenizer())
    asyncio.run(strategy(theirs))
    return [
        (message.role, int(message.message_id[4:]) if message.message_id.startswith("msg_") else message.text)
        for message in package.project_included_messages(theirs)
    ]


def ours(spec: str, told: Sequence[Message], max_tokens: int = 128_000) -> list[tuple[str, Any]]:
    return [
        (message.role, message.text if message.step is None else message.step)
        for message in answer(spec, told, max_tokens)
    ]


HISTORIES = histories(max_turns=8)


@given(HISTORIES)
def test_tokens_as_agent_framework_counts_them(told: list[Message]) -> None:
    package = pytest.importorskip("agent_framework._compaction", reason="agent-framework-core is not installed")
    counter = package.CharacterEstimatorTokenizer()
    assert len(package.DEFAULT_SUMMARIZATION_PROMPT) // 4 == 148
    for message, theirs in zip(told, original(told), strict=True):
        assert json_tokens(message) == counter.count_tokens(package._serialize_message(theirs))


@given(
    told=HISTORIES,
    limit=st.integers(1, 400),
    share=st.floats(0.1, 1),
    unit=st.sampled_from(["tokens", "messages"]),
    first=st.booleans(),
)
def test_truncates_as_agent_framework_does(
    told: list[Message], limit: int, share: float, unit: str, first: bool
) -> None:
    package = pytest.importorskip("agent_framework._compaction", reason="agent-framework-core is not installed")
    limit = limit if unit == "tokens" else limit % 20 + 1
    target = max(1, int(limit * share))
    strategy = package.TruncationStrategy(
        max_n=limit,
        compact_to=target,
        tokenizer=package.CharacterEstimatorTokenizer() if unit == "tokens" else None,
        preserve_first_user_group=first,
    )
    spec = f"agent_framework.truncation:max_n={limit},compact_to={target},unit={unit},preserve_first_user_group={str(first).lower()}"
    assert ours(spec, told) == after_original(strategy, told)


@given(told=HISTORIES, keep=st.integers(0, 6), rule=st.sampled_from(["sliding_window", "selective", "tool_result"]))
def test_takes_out_groups_as_agent_framework_does(told: list[Message], keep: int, rule: str) -> None:
    package = pytest.importorskip("agent_framework._compaction", reason="agent-framework-core is not installed")
    strategies = {
        "sliding_window": lambda: package.SlidingWindowStrategy(keep_last_groups=max(1, keep)),
        "selective": lambda: package.SelectiveToolCallCompactionStrategy(keep_last_tool_call_groups=keep),
        "tool_result": lambda: package.ToolResultCompactionStrategy(keep_last_tool_call_groups=keep),
    }
    setting = f"keep_last_groups={max(1, keep)}" if rule == "sliding_window" else f"keep_last_tool_call_groups={keep}"
    assert ours(f"agent_framework.{rule}:{setting}", told) == after_original(strategies[rule](), told)


@given(told=HISTORIES, target=st.integers(1, 6), threshold=st.integers(0, 3))
def test_summarizes_as_agent_framework_does(told: list[Message], target: int, threshold: int) -> None:
    package = pytest.importorskip("agent_framework._compaction", reason="agent-framework-core is not installed")

    class Client:
        async def get_response(self, messages: list[Any], stream: bool = False) -> Any:
            return type("Response", (), {"text": str(messages[1].text.count("\n") + 1)})()

    strategy = package.SummarizationStrategy(
        client=Client(), target_count=target, threshold=threshold, max_summary_input_tokens=None
    )
    got = ours(
        f"agent_framework.summarization:target_count={target},threshold={threshold},max_summary_input_tokens=null", told
    )
    wanted = after_original(strategy, told)
    assert [item[1] for item in got if isinstance(item[1], int)] == [
        item[1] for item in wanted if isinstance(item[1], int)
    ]
    places = [[number for number, item in enumerate(found) if isinstance(item[1], str)] for found in (got, wanted)]
    assert places[0] == places[1]


# ---------------------------------------------------------------- inspect, against the package


def of_inspect(told: Sequence[Message]) -> list[Any]:
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageTool, ChatMessageUser
    from inspect_ai.tool import ToolCall as Call

    found: list[Any] = []
    for message in told:
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


def told_by(messages: Sequence[Any]) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(m.role, m.text, tuple(call.id for call in getattr(m, "tool_calls", None) or ())) for m in messages]


def told_here(messages: Sequence[Message]) -> list[tuple[str, str, tuple[str, ...]]]:
    return [
        ("tool" if m.kind == "result" else m.role, m.text, tuple(call.id for call in m.tool_calls)) for m in messages
    ]


@given(told=histories(max_turns=8, system=True), keep=st.integers(0, 4), exclude=st.sampled_from([[], ["read"]]))
def test_edits_as_inspect_does(told: list[Message], keep: int, exclude: list[str]) -> None:
    module = pytest.importorskip("inspect_ai.model._compaction.edit", reason="inspect-ai is not installed")
    strategy = module.CompactionEdit(
        keep_tool_uses=keep, exclude_tools=exclude, keep_thinking_turns="all", memory=False
    )
    theirs, _ = asyncio.run(strategy.compact(None, of_inspect(told), []))
    compactor = build("compactor", f"inspect.edit:keep_tool_uses={keep},exclude_tools=[{','.join(exclude)}]").start()[0]
    assert told_here(compactor.once(list(told))) == told_by(theirs)


@given(told=histories(max_turns=8), preserve=st.sampled_from([0.0, 0.3, 0.5, 0.8, 1.0]))
def test_trims_as_inspect_does(told: list[Message], preserve: float) -> None:
    module = pytest.importorskip("inspect_ai.model._trim", reason="inspect-ai is not installed")
    theirs = asyncio.run(module.trim_messages(of_inspect(told), preserve=preserve))
    compactor = build("compactor", f"inspect.trim:preserve={preserve}").start()[0]
    assert told_here(compactor.once(list(told))) == told_by(theirs)
