"""The policies of Agent Framework: against the package where it is installed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from field import answer, histories
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
    """The messages that the package leaves: a recorded one by its step, a new one by its text."""
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


@given(history=HISTORIES, keep=st.integers(0, 6))
def test_collapses_calls_as_agent_framework_does(history: list[Message], keep: int) -> None:
    package = pytest.importorskip("agent_framework._compaction", reason="agent-framework-core is not installed")
    strategy = package.ToolResultCompactionStrategy(keep_last_tool_call_groups=keep)
    setting = f"keep_last_tool_call_groups={keep}"
    assert ours(f"agent_framework.tool_result:{setting}", history) == after_original(strategy, history)
