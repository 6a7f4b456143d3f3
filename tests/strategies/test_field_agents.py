"""The policies of single agents and of Pydantic AI: call by call against the package where it is installed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from field import answer, histories, prompts, session, spied_writer, steps  # noqa: F401  # noqa: F401
from hypothesis import given, strategies as st

from bench.model import Message


def events(history: Sequence[Message]) -> list[Any]:
    """Messages as the events of openhands-sdk."""
    from openhands.sdk.event import ActionEvent, MessageEvent, ObservationEvent, SystemPromptEvent
    from openhands.sdk.llm import Message as LLMMessage, MessageToolCall, TextContent
    from openhands.sdk.tool.builtins.think import ThinkAction, ThinkObservation

    found: list[Any] = []
    actions: dict[str, str] = {}
    for place, message in enumerate(history):
        if message.kind == "system":
            found.append(SystemPromptEvent(id=f"{place}", system_prompt=TextContent(text=message.text), tools=[]))
        elif message.kind == "result":
            found.append(
                ObservationEvent(id=f"{place}", tool_name="think", tool_call_id=message.call_id, action_id=actions[message.call_id or ""],
                                 observation=ThinkObservation.from_text(message.text))
            )  # fmt: skip
        elif message.tool_calls:
            for number, call in enumerate(message.tool_calls):
                actions[call.id] = f"{place}.{number}"
                made = MessageToolCall(id=call.id, name="think", arguments="{}", origin="completion")
                found.append(
                    ActionEvent(id=f"{place}.{number}", thought=[], action=ThinkAction(thought="x"), tool_name="think",
                                tool_call_id=call.id, tool_call=made, llm_response_id=f"r{place}")
                )  # fmt: skip
        else:
            source: Any = "agent" if message.kind == "model" else "user"
            written = LLMMessage(
                role="assistant" if message.kind == "model" else "user", content=[TextContent(text=message.text)]
            )
            found.append(MessageEvent(id=f"{place}", source=source, llm_message=written))
    return found


@given(
    history=histories(max_turns=9, orphans=False, system=True, opens=True),
    max_size=st.integers(6, 30),
    keep=st.integers(0, 3),
)
def test_openhands_condenses_as_the_sdk_does(history: list[Message], max_size: int, keep: int) -> None:
    pytest.importorskip("openhands.sdk", reason="openhands-sdk is not installed (it needs Python 3.12)")
    from openhands.sdk import LLM
    from openhands.sdk.context.condenser import LLMSummarizingCondenser
    from openhands.sdk.context.condenser.base import NoCondensationAvailableException
    from openhands.sdk.context.view import View
    from pydantic import SecretStr

    if max_size // 2 - keep - 1 <= 0:
        return
    condenser = LLMSummarizingCondenser(
        llm=LLM(model="gpt-4o", api_key=SecretStr("x"), usage_id="t"), max_size=max_size, keep_first=keep
    )
    view = View.from_events(events(history))
    prompt = answer(f"openhands.summarize:max_size={max_size},keep_first={keep}", history)
    if len(view) <= max_size:
        assert prompt == history
        return
    try:
        forgotten, offset = condenser._get_forgotten_events(view)
    except (ValueError, NoCondensationAvailableException):
        assert prompt == history
        return
    gone = {int(event.id.partition(".")[0]) for event in forgotten}
    if not forgotten or len(forgotten) < len(view) * 0.1:
        assert prompt == history
        return
    assert [message.step for message in prompt if message.kind != "made"] == [
        message.step for place, message in enumerate(history) if place not in gone
    ]
    made = next(place for place, message in enumerate(prompt) if message.kind == "made")
    assert sum(max(1, len(message.tool_calls)) for message in prompt[:made]) == offset


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


@given(
    history=histories(max_turns=8),
    keep=st.integers(0, 4),
    least=st.sampled_from([None, 1, 20, 100]),
    inputs=st.booleans(),
)
def test_clears_as_pydantic_ai_does(history: list[Message], keep: int, least: int | None, inputs: bool) -> None:
    package = pytest.importorskip("pydantic_ai_harness.compaction", reason="pydantic-ai-harness is not installed")
    strategy = package.ClearToolResults(max_tokens=1, keep_pairs=keep, min_clear_tokens=least, clear_tool_inputs=inputs)
    theirs, _ = of_pydantic_ai(history)
    after = asyncio.run(strategy.compact(theirs, context()))
    wanted = [part.content for message in after for part in message.parts if part.part_kind == "tool-return"]
    arguments = [str(part.args) for message in after for part in message.parts if part.part_kind == "tool-call"]
    least_given = "" if least is None else f",min_clear_tokens={least}"
    got = answer(
        f"pydantic_ai.clear:max_tokens=0,keep_pairs={keep},clear_tool_inputs={str(inputs).lower()}{least_given}",
        history,
    )
    if sum(len(m.text) for m in history) < 4 and not any(m.tool_calls for m in history):
        return  # nothing to exceed
    assert [message.text for message in got if message.kind == "result"] == wanted
    assert [str(call.arguments) for message in got for call in message.tool_calls] == arguments


@given(history=histories(max_turns=9), keep=st.integers(0, 12), first=st.booleans())
def test_slides_as_pydantic_ai_does(history: list[Message], keep: int, first: bool) -> None:
    package = pytest.importorskip("pydantic_ai_harness.compaction", reason="pydantic-ai-harness is not installed")
    history = [message for message in history if message.kind != "system"]
    strategy = package.SlidingWindowCompaction(max_messages=1, keep_messages=keep, preserve_first_user_message=first)
    theirs, runs = of_pydantic_ai(history)
    after = asyncio.run(strategy.compact(theirs, context()))
    wanted = [step for message in after for step in steps(runs[[m is message for m in theirs].index(True)])]
    got = answer(
        f"pydantic_ai.sliding:max_messages=1,keep_messages={keep},preserve_first_user_message={str(first).lower()}",
        history,
    )
    assert steps(got) == wanted or len(runs) <= 1


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
