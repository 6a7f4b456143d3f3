"""The adapters in docs/examples/libraries: each gives a history back as it was, and runs code of its library where that is installed."""

from __future__ import annotations

import asyncio
import importlib
from pathlib import Path
from typing import Any

import pytest
from field import answer, histories
from hypothesis import assume, given, strategies as st

from bench.model import Message, ToolCall
from bench.strategies.user_code.libraries import LangChainMessages
from bench.strategies.user_code.messages import OpenAIMessages, openai_message

FOLDER = Path(__file__).parents[2] / "docs" / "examples" / "libraries"
FILES = {path.stem.removeprefix("with_"): path.read_text(encoding="utf-8") for path in FOLDER.glob("*.py")}
LIBRARIES = {
    "pydantic_ai": ("pydantic_ai", "processor"),
    "openai_agents": ("agents", "input_filter"),
    "inspect": ("inspect_ai", "compaction"),
    "agent_framework": ("agent_framework", "strategy"),
    "llama_index": ("llama_index.core", "memory_of"),
    "haystack": ("haystack", "component"),
    "openhands": ("openhands.sdk", "condenser"),
    "langgraph": ("langgraph.graph.message", "node"),
}


def library(name: str) -> str:
    package, variable = LIBRARIES[name]
    pytest.importorskip(package, reason=f"{package} is not installed")
    return variable


def adapter(name: str, code: Any) -> Any:
    """The function of a file, with the code of the library in the place that it names."""
    agent = f"from agent import {library(name)}  # yours\n"
    assert agent in FILES[name]
    scope: dict[str, Any] = {library(name): code}
    exec(compile(FILES[name].replace(agent, ""), name, "exec"), scope)
    return scope[name]


def history() -> list[Message]:
    before = [
        Message(role="system", text="Help.", kind="system", step=0),
        Message(role="user", text="go", kind="user", step=1),
    ]
    for turn in range(6):
        call = ToolCall(id=f"c{turn}", name="read", arguments={"n": turn})
        turn_of_model = Message(
            role="assistant", text="so" * (turn % 2), kind="model", step=2 * turn + 2, tool_calls=(call,)
        )
        before += [
            turn_of_model,
            Message(role="tool", text=f"result {turn}", kind="result", step=2 * turn + 3, call_id=call.id),
        ]
    return before


def left_by(function: Any, messages: list[Message], form: type[OpenAIMessages] = OpenAIMessages) -> list[Message]:
    chat = form()
    given = function(chat.show(messages))
    return chat.back(asyncio.run(given) if asyncio.iscoroutine(given) else given)


class Nothing:
    """A strategy of Inspect or Agent Framework that leaves all as it is."""

    async def compact(self, model: Any, messages: Any, tools: Any) -> Any:
        return messages, None

    async def __call__(self, messages: Any) -> bool:
        return False


def condenser(max_size: int = 240, keep_first: int = 2) -> Any:
    """OpenHands' own, which asks no model for its summary."""
    pytest.importorskip("openhands.sdk", reason="openhands-sdk is not installed (it needs Python 3.12)")
    from openhands.sdk import LLM
    from openhands.sdk.context.condenser import LLMSummarizingCondenser
    from openhands.sdk.event import Condensation

    class Condenser(LLMSummarizingCondenser):
        def _generate_condensation(self, forgotten_events: Any, summary_offset: int, *length: Any) -> Any:
            ids = {event.id for event in forgotten_events}
            return Condensation(forgotten_event_ids=ids, summary="", summary_offset=summary_offset, llm_response_id="r")

    return Condenser(llm=LLM(model="gpt-4o"), max_size=max_size, keep_first=keep_first)


SAME = {
    "inspect": Nothing,
    "agent_framework": Nothing,
    "openai_agents": lambda: lambda data: data.model_data,
    "openhands": condenser,
}


def test_each_library_has_an_adapter() -> None:
    assert {*FILES} == {*LIBRARIES, "langchain"}
    assert all(len(text.splitlines()) <= 50 for text in FILES.values())


@pytest.mark.parametrize("name", LIBRARIES)
def test_an_adapter_that_changes_nothing_returns_the_same_history(name: str) -> None:
    before, form = history(), LangChainMessages if name == "langgraph" else OpenAIMessages
    assert left_by(adapter(name, SAME[name]() if name in SAME else lambda messages: messages), before, form) == before


@pytest.mark.parametrize("name", ["pydantic_ai", "llama_index", "haystack"])
def test_messages_that_an_adapter_leaves_out_are_gone(name: str) -> None:
    before = history()
    assert left_by(adapter(name, lambda messages: messages[-4:]), before) == before[-4:]


def test_the_adapter_for_openai_agents_gives_the_filtered_messages() -> None:
    library("openai_agents")
    run = importlib.import_module("agents.run")
    before = history()
    last = left_by(
        adapter("openai_agents", lambda data: run.ModelInputData(input=data.model_data.input[-5:], instructions=None)),
        before,
    )
    assert last == before[-4:]


def with_old_results_as(before: list[Message], keep: int, text: str) -> list[tuple[int | None, str]]:
    """The steps and texts of a history whose results but the last ones show a text."""
    old = [m.step for m in before if m.kind == "result"][:-keep]
    return [(m.step, text if m.step in old else m.text) for m in before]


def test_the_adapter_for_inspect_gives_the_edited_messages() -> None:
    library("inspect")
    model = importlib.import_module("inspect_ai.model")
    before = history()
    edit = model.CompactionEdit(keep_tool_uses=2, keep_thinking_turns="all", memory=False)
    after = left_by(adapter("inspect", edit), before)
    assert [(m.step, m.text) for m in after] == with_old_results_as(before, 2, "(Tool result removed)")


def test_the_adapter_for_agent_framework_gives_the_last_messages() -> None:
    library("agent_framework")
    package = importlib.import_module("agent_framework._compaction")
    before = history()
    strategy = package.SlidingWindowStrategy(keep_last_groups=2)
    assert left_by(adapter("agent_framework", strategy), before) == [before[0], *before[-4:]]


def test_the_adapter_for_langchain_gives_the_edited_messages() -> None:
    pytest.importorskip("langchain", reason="langchain is not installed")
    scope: dict[str, Any] = {}
    exec(compile(FILES["langchain"].replace("trigger=1000", "trigger=60"), "langchain", "exec"), scope)
    before = history()[1:]
    after = left_by(scope["langchain"], before, LangChainMessages)
    assert [(m.step, m.text) for m in after] == with_old_results_as(before, 2, "[cleared]")


@given(
    before=histories(max_turns=9, orphans=False, system=True, opens=True),
    max_size=st.integers(8, 30),
    keep=st.integers(0, 3),
)
def test_openhands_condenser_is_the_native_policy(before: list[Message], max_size: int, keep: int) -> None:
    assume(max_size // 2 - keep > 1)
    prompt = left_by(adapter("openhands", condenser(max_size, keep)), before)
    ours = answer(f"openhands.summarize:max_size={max_size},keep_first={keep}", before)
    assert [m.step for m in prompt] == [m.step for m in ours]


@given(before=histories(), keep=st.integers(0, 6))
def test_agent_frameworks_strategy_is_the_native_policy(before: list[Message], keep: int) -> None:
    library("agent_framework")
    package = importlib.import_module("agent_framework._compaction")
    strategy = package.ToolResultCompactionStrategy(keep_last_tool_call_groups=keep)
    ours = answer(f"agent_framework.tool_result:keep_last_tool_call_groups={keep}", before)
    left = left_by(adapter("agent_framework", strategy), before)
    assert [(m.step, m.role, m.text) for m in left] == [(m.step, m.role, m.text) for m in ours]


@given(before=histories(max_turns=10, system=False), trigger=st.integers(1, 20), keep=st.integers(1, 12))
def test_langchains_middleware_is_the_native_policy(before: list[Message], trigger: int, keep: int) -> None:
    module = pytest.importorskip("langchain.agents.middleware.summarization", reason="langchain is not installed")
    chat = importlib.import_module("langchain_core.language_models.fake_chat_models").FakeListChatModel(responses=["x"])
    middleware = module.SummarizationMiddleware(model=chat, trigger=("messages", trigger), keep=("messages", keep))
    sent = importlib.import_module("langchain_core.messages").convert_to_messages(list(map(openai_message, before)))
    for step, message in enumerate(sent):
        message.id = f"message-{step}"
    theirs = middleware.before_model({"messages": sent}, runtime=None)
    ours = answer(f"langchain.summarize:trigger_messages={trigger},keep_messages={keep}", before)
    if theirs is None:
        assert ours == before
    else:
        assert [f"message-{m.step}" for m in ours[1:]] == [m.id for m in theirs["messages"][2:]]
