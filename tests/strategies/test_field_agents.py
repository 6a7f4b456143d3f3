"""The policies of single agents and of Pydantic AI: call by call against the package where it is installed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from field import answer, histories, prompts, session, spied_writer, steps  # noqa: F401  # noqa: F401
from hypothesis import given, strategies as st

from bench.model import Message

# ---------------------------------------------------------------- pydantic ai, against the package


def of_pydantic_ai(history: Sequence[Message]) -> tuple[list[Any], list[list[Message]]]:
    """The package's messages, and ours that each stands for."""
    from pydantic_ai import messages as package

    from bench.strategies.policies.pydantic_ai import requests_of

    runs = requests_of(history)
    found: list[Any] = []
    names = {call.id: call.name for message in history for call in message.tool_calls}
    for run in runs:
        parts: list[Any] = []
        for message in run:
            if message.kind == "model":
                parts += [package.TextPart(message.text)] if message.text else []
                parts += [
                    package.ToolCallPart(call.name, call.arguments, tool_call_id=call.id) for call in message.tool_calls
                ]
            elif message.kind == "system":
                parts.append(package.SystemPromptPart(message.text))
            elif message.kind == "result":
                parts.append(
                    package.ToolReturnPart(
                        names[message.call_id or ""], message.text, tool_call_id=message.call_id or ""
                    )
                )
            else:
                parts.append(package.UserPromptPart(message.text))
        made = package.ModelResponse if run[0].kind == "model" else package.ModelRequest
        found.append(made(parts=parts))
    return found, runs


def context() -> Any:
    from pydantic_ai import RunContext
    from pydantic_ai.models.test import TestModel
    from pydantic_ai.usage import RunUsage

    return RunContext(deps=None, model=TestModel(), usage=RunUsage())


@given(history=histories(max_turns=9, orphans=False), keep=st.integers(1, 12))
def test_summarizes_as_pydantic_ai_does(history: list[Message], keep: int) -> None:
    package = pytest.importorskip("pydantic_ai_harness.compaction", reason="pydantic-ai-harness is not installed")
    history = [message for message in history if message.kind != "system"]
    strategy = package.SummarizingCompaction(model="test", max_messages=1, keep_messages=keep)
    theirs, runs = of_pydantic_ai(history)
    read: list[int] = []

    async def summarize(messages: list[Any], *rest: Any, **more: Any) -> str:
        read.append(len(messages))
        return "notes"

    strategy._summarize = summarize
    after = asyncio.run(strategy.compact(theirs, context()))
    got = answer(f"pydantic_ai.summarize:max_messages=1,keep_messages={keep}", history)
    if after is theirs or len(runs) <= 1:
        assert steps(got) == steps(history)
        return
    texts = [
        getattr(part, "content", None) for message in after for part in message.parts if part.part_kind != "tool-call"
    ]
    assert [
        m.text if m.kind != "made" else "notes" for m in got if m.text or m.kind in ("result", "user", "made")
    ] == texts
