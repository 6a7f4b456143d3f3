"""Functions written for the messages of other libraries: history processors and compaction strategies as they are, beside the native policies."""

from __future__ import annotations

import textwrap
from pathlib import Path

import msgspec
import pytest
from handmade import opened, shell, trace

import bench
from bench.model import ModelTurn, Run, SystemTurn, Trace, UserTurn
from bench.model.errors import SpecError
from bench.plugins import own_code
from bench.replayer.loop import replay
from bench.strategies import parse_strategy

ROOT = Path(__file__).parents[2]
RECORDED = ("traces/building_model/survey.jsonl", "traces/building_model/faults.jsonl", "traces/terminal/session.json")

PYDANTIC_AI = """
import copy
from pydantic_ai.messages import ModelMessage, ModelRequest


def same(messages: list[ModelMessage]) -> list[ModelMessage]:
    return copy.deepcopy(messages)

async def keep_recent(messages: list[ModelMessage]) -> list[ModelMessage]:
    return messages[:1] + messages[-4:] if len(messages) > 5 else messages

def cut(messages: list[ModelMessage]) -> list[ModelMessage]:
    for message in messages:
        for part in message.parts:
            if isinstance(message, ModelRequest) and part.part_kind == "tool-return":
                part.content = part.content[:20]
    return messages
"""
INSPECT = """
from inspect_ai.model import ChatMessage, CompactionEdit, get_model


def same(messages: list[ChatMessage]) -> list[ChatMessage]:
    return [message.model_copy(deep=True) for message in messages]

def keep_recent(messages: list[ChatMessage]) -> list[ChatMessage]:
    return messages[:2] + messages[-4:]

def cut(messages: list[ChatMessage]) -> list[ChatMessage]:
    return [message.model_copy(update={"content": message.text[:20]}) if message.role == "tool" else message for message in messages]

async def edit(messages: list[ChatMessage]) -> list[ChatMessage]:
    return await CompactionEdit(keep_tool_uses=2).compact(get_model("mockllm/model"), messages, [])
"""
LLAMA_INDEX = """
from llama_index.core.llms import ChatMessage


def same(messages: list[ChatMessage]) -> list[ChatMessage]:
    return [message.model_copy(deep=True) for message in messages]

def keep_recent(messages: list[ChatMessage]) -> list[ChatMessage]:
    return messages[:2] + messages[-4:]

def cut(messages: list[ChatMessage]) -> list[ChatMessage]:
    return [m.model_copy(update={"blocks": ChatMessage(content=m.content[:20]).blocks}) if m.role == "tool" else m for m in messages]
"""
AGENT_FRAMEWORK = """
from agent_framework import Content, Message, SlidingWindowStrategy, apply_compaction

keep_recent = SlidingWindowStrategy(keep_last_groups=2)


async def same(messages: list[Message]) -> list[Message]:
    return await apply_compaction(messages, strategy=SlidingWindowStrategy(keep_last_groups=1000))

def cut(messages: list[Message]) -> bool:
    for message in messages:
        for part in message.contents:
            if part.type == "function_result":
                message.contents = [Content.from_function_result(part.call_id, result=part.result[:20])]
    return True
"""
PEERS = {
    "pydantic_ai": PYDANTIC_AI,
    "inspect_ai": INSPECT,
    "llama_index": LLAMA_INDEX,
    "agent_framework": AGENT_FRAMEWORK,
}


def code_of(peer: str) -> str:
    pytest.importorskip(peer)
    return PEERS[peer]


def run_of(folder: Path, text: str, function: str, recorded: Trace) -> Run:
    (folder / "mine.py").write_text(text)
    own_code.load_file.cache_clear()
    run = replay(recorded, parse_strategy(f"m=compactor=mine.py:{function}", folder))
    assert run.failure is None, run.failure
    return run


def prompts(run: Run) -> list[list[str]]:
    return [[run.messages[key].text for key in keys] for _, keys in run.walk()]


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("path", RECORDED)
def test_a_history_comes_back_as_it_was_given(tmp_path: Path, peer: str, path: str) -> None:
    text = code_of(peer)
    (recorded,) = bench.load(str(ROOT / path)).traces
    run = run_of(tmp_path, text, "same", recorded)
    assert not any(prompt.compacted for prompt in run.prompts)
    assert prompts(run) == prompts(bench.replay(recorded, "n=compactor=none"))


@pytest.mark.parametrize("peer", PEERS)
def test_one_message_of_a_library_is_nothing_that_anybody_has(tmp_path: Path, peer: str) -> None:
    code_of(peer)
    name = {
        "pydantic_ai": "pydantic_ai.messages import ModelResponse",
        "inspect_ai": "inspect_ai.model import ChatMessageTool",
        "llama_index": "llama_index.core.llms import ChatMessage",
        "agent_framework": "agent_framework import Message",
    }[peer]
    (tmp_path / "mine.py").write_text(f"from {name} as M\n\n\ndef f(one: M):\n    return one\n")
    own_code.load_file.cache_clear()
    with pytest.raises(
        SpecError,
        match=r"'one' asks for one .*, which no form hands over — name a form=",
    ):
        parse_strategy("m=summarizer=mine.py:f", tmp_path)


@pytest.mark.parametrize("peer", PEERS)
def test_what_is_left_out_is_gone_and_what_is_cut_is_the_same_result(tmp_path: Path, peer: str) -> None:
    text = code_of(peer)
    recorded = opened(shell(6, start=2))
    recent = run_of(tmp_path, text, "keep_recent", recorded)
    assert len(prompts(recent)[-1]) < len(prompts(bench.replay(recorded, "keep_all"))[-1])
    run = run_of(tmp_path, text, "cut", bench.load(str(ROOT / RECORDED[0])).traces[0])
    *_, (_, keys) = run.walk()
    results = [run.messages[key] for key in keys if run.messages[key].kind == "result"]
    assert results
    assert {len(message.text) for message in results} == {20}
    assert all(message.step is not None for message in results)


BESIDE = """
from collections.abc import Callable


def of_langchain():
    from langchain.agents.middleware import ModelRequest, ModelResponse

    def recent(request: ModelRequest, handler: Callable[[ModelRequest], ModelResponse]) -> ModelResponse:
        return handler(request.override(messages=request.messages[-3:]))
    return recent

def of_pydantic_ai():
    from pydantic_ai import RunContext
    from pydantic_ai.messages import ModelMessage

    def recent(ctx: RunContext[None], messages: list[ModelMessage]) -> list[ModelMessage]:
        return messages[-3:] if ctx.usage.total_tokens > 10 else messages
    return recent
"""


@pytest.mark.parametrize("peer", ["langchain", "pydantic_ai"])
def test_what_a_library_hands_over_beside_the_messages_is_there(tmp_path: Path, peer: str) -> None:
    pytest.importorskip(peer)
    code = f"{BESIDE}\n\nrecent = of_{peer}()\n"
    run = run_of(tmp_path, code, "recent:mode=per_call", opened(shell(6, start=2)))
    assert max(map(len, prompts(run))) == 4  # the system prompt stands beside the messages, or is one with the task


SWE_AGENT = """
class LastNObservations:
    def __init__(self, n):
        self.n = n

    def __call__(self, history):
        seen = [number for number, item in enumerate(history) if item["message_type"] == "observation"]
        omitted = seen[1 : max(0, len(seen) - self.n)]
        told = "Old environment output: ({} lines omitted)"
        return [
            {**item, "content": told.format(len(item["content"].splitlines()))} if number in omitted else item
            for number, item in enumerate(history)
        ]
"""
"""What the class of that name in sweagent/agent/history_processors.py does, less what configures it: the package is not on PyPI."""

ADAPTERS = {
    "LangChain": ("langchain", "clear:mode=per_call", "langchain.clear_tool_uses:trigger=1000,keep=2"),
    "Inspect": ("inspect_ai", "edit", "inspect.edit:threshold=1,max_tokens=1,keep_tool_uses=2"),
    "SWE-agent": ("bench", "last_observations:mode=per_call", "swe_agent.last_n:n=3"),
}


@pytest.mark.parametrize("peer", ADAPTERS)
def test_the_adapters_of_the_page_do_what_the_native_policies_do(tmp_path: Path, peer: str) -> None:
    package, function, policy = ADAPTERS[peer]
    pytest.importorskip(package)
    page = (ROOT / "docs/strategies.md").read_text(encoding="utf-8").partition("### Code of other libraries")[2]
    code = textwrap.dedent(f"    #{page.partition(f'    # {peer}:')[2]}".partition("\n    # ")[0].partition("\n## ")[0])
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    for path in RECORDED[:2]:  # the third calls in its text, and has no message of a tool
        (recorded,) = bench.load(str(ROOT / path)).traces
        if peer == "LangChain":  # the middleware counts what is beside the system prompt
            recorded = msgspec.structs.replace(
                recorded, steps=tuple(step for step in recorded.steps if not isinstance(step, SystemTurn))
            )
        native = bench.replay(recorded, f"n=compactor={policy}")
        assert prompts(run_of(tmp_path, SWE_AGENT + code, function, recorded)) == prompts(native)


# ---------------------------------------------------------------- examples of the libraries' own documentation

JOKES = (
    ("system", "you're a good assistant, you always respond with a joke."),
    ("user", "i wonder why it's called langchain"),
    ("model", 'Well, I guess they thought "WordRope" and "SentenceString" just didn\'t have the same ring to it!'),
    ("user", "and who is harrison chasing anyways"),
    ("model", "Hmmm let me think.\n\nWhy, he's probably chasing after the last cup of coffee in the office!"),
    ("user", "what do you call a speechless parrot"),
)


@pytest.mark.parametrize(
    ("settings", "kept"),
    [("max_tokens=45", [0, 5]), ("max_tokens=45,count=model", [0, 5]), ("max_tokens=4,count=messages", [0, 3, 4, 5])],
)
def test_trim_messages_gives_what_its_reference_shows(settings: str, kept: list[int]) -> None:
    """The three examples in langchain_core/messages/utils.py that keep the end of the history."""
    kinds = {"system": SystemTurn, "user": UserTurn, "model": ModelTurn}
    steps = [kinds[kind](index=number, content=text) for number, (kind, text) in enumerate(JOKES)]
    recorded = trace(*steps, ModelTurn(index=len(steps), content="Polygon."))
    run = bench.replay(recorded, f"t=compactor=langchain.trim:{settings},start_on=human,include_system=true")
    assert prompts(run)[-1] == [JOKES[number][1] for number in kept]
