"""`list -> list` compactors: plain message dicts in and out, in the dialect a function asks for, matched back to our messages."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence

import msgspec
import pytest
from handmade import compose, conversation_of, result, shell
from measured import replayed_or_failed, value
from theirs import write

from bench.comparison.rules import slots_in_spec
from bench.model import AnyStep, Message, ModelTurn, ToolCall, UserTurn
from bench.model.errors import SpecError
from bench.strategies import Window, parse_strategy
from bench.strategies.agent_code import code_lines
from bench.strategies.portfolio import PORTFOLIO
from bench.strategies.user_code.messages import openai_message


def prompts(run) -> list[list[str]]:
    """The texts of each prompt."""
    assert run.failure is None, run.failure
    return [[message.text for message in prompt.messages] for prompt in run.prompts]


def compose_of(**slots):
    return compose("m", slots)


# ---------------------------------------------------------------- compactors


def conversation():
    """Calls as structured ones, two results to one turn."""
    calls = (ToolCall(id="a", name="read", arguments={"path": "x"}), ToolCall(id="b", name="ls"))
    return conversation_of(
        [
            ModelTurn(index=2, content="I read.", tool_calls=calls),
            result("text of x", index=3, call_id="a", function="read"),
            result("x y z", index=4, call_id="b", function="ls"),
            UserTurn(index=5, content="And then?"),
            ModelTurn(index=6, content="Then this."),
        ]
    )


@pytest.mark.parametrize("form", ["openai", "anthropic", "langchain"])
@pytest.mark.parametrize("copies", [False, True])
def test_returned_messages_are_recognised(copies, form):
    if form == "langchain":
        pytest.importorskip("langchain_core")

    def same(messages):
        return copy.deepcopy(messages) if copies else messages

    same.form = form
    for recorded in (conversation(), conversation_of(shell(3, start=2))):
        kept, plain = replayed_or_failed(recorded, compose_of(compactor=same)), replayed_or_failed(recorded, "keep_all")
        assert prompts(kept) == prompts(plain)
        assert not kept.written
        assert not any(prompt.cut for prompt in kept.prompts)


@pytest.mark.parametrize("copies", [False, True])
def test_calls_with_new_ids_are_recognised_if_calls_and_results_agree(copies):
    """A provider takes any ids that pair a call with its result; one that was renamed on one side alone it refuses."""

    def renamed(messages, calls=True):
        history = copy.deepcopy(messages) if copies else messages
        for message in history:
            for call in message.get("tool_calls", ()) if calls else ():
                call["id"] = f"call_{call['id']}"
            if "tool_call_id" in message:
                message["tool_call_id"] = f"call_{message['tool_call_id']}"
        return history

    def half(messages):
        return renamed(messages, calls=False)

    recording = conversation()
    whole, half_found = value(recording, "keep_all", "needed.recall"), compose_of(compactor=half)
    assert value(recording, half_found, "prompt.invalid") == 2
    assert value(recording, compose_of(compactor=renamed), "prompt.invalid") == 0
    assert value(recording, compose_of(compactor=renamed), "needed.recall") == whole
    run = replayed_or_failed(recording, compose_of(compactor=renamed))
    assert {message.step for message in run.messages if message.role == "tool"} == {3, 4}


def test_a_result_that_a_strategy_wrote_needs_a_call_before_it_that_stands_once():
    def with_an_orphan(messages):
        return [*messages, {"role": "tool", "content": "36", "tool_call_id": "never"}]

    def with_a_repetition(messages):
        return [*messages, *messages[-2:]]

    with_an_orphan.mode = with_a_repetition.mode = "per_call"
    assert value(conversation(), compose_of(compactor=with_an_orphan), "prompt.invalid") == 3
    assert value(conversation(), compose_of(compactor=with_a_repetition), "prompt.invalid") == 1


def test_a_compactor_may_take_openai_messages():
    seen = []
    replayed_or_failed(conversation(), compose_of(compactor=lambda messages: seen.append(copy.deepcopy(messages))))
    assert seen[1] == [
        {"role": "system", "content": "You run commands."},
        {"role": "user", "content": "Follow the files to the end."},
        {"role": "assistant", "content": "I read.", "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "read", "arguments": '{"path":"x"}'}},
            {"id": "b", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]},
        {"role": "tool", "content": "text of x", "tool_call_id": "a"},
        {"role": "tool", "content": "x y z", "tool_call_id": "b"},
        {"role": "user", "content": "And then?"},
    ]  # fmt: skip


def clear_openai(messages):
    """In place, as clearing of tool results is often written."""
    for message in messages:
        if message["role"] == "tool":
            message["content"] = "[cleared]"


def clear_copies(messages):
    return [{**message, "content": "[cleared]"} if message["role"] == "tool" else dict(message) for message in messages]


def clear_anthropic(messages):
    for message in messages:
        assert message["role"] in ("user", "assistant")  # the system prompt is beside the list
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block["type"] == "tool_result":
                block["content"] = "[cleared]"


def clear_langchain(messages):
    return [one.model_copy(update={"content": "[cleared]"}) if one.type == "tool" else one for one in messages]


clear_anthropic.form, clear_langchain.form = "anthropic", "langchain"
CLEAR = [clear_openai, clear_copies, clear_anthropic, clear_langchain]


@pytest.mark.parametrize("clear", CLEAR, ids=lambda item: item.__name__)
def test_a_rewritten_result_is_still_the_result_of_its_step(clear):
    if clear is clear_langchain:
        pytest.importorskip("langchain_core")
    run = replayed_or_failed(conversation(), compose_of(compactor=clear))
    assert prompts(run)[-1][2:5] == ["I read.", "[cleared]", "[cleared]"]
    rewritten = [message for message in run.messages if message.text == "[cleared]"]
    assert {(it.step, it.kind, it.call_id) for it in rewritten} == {(3, "result", "a"), (4, "result", "b")}


ANNOTATED = """from __future__ import annotations
from typing import TYPE_CHECKING
if {}:
    from {} import {name}
def f(messages: list[{name}]): raise ValueError(f"{{len(messages)}} {{type(messages[0])}}")
"""


@pytest.mark.parametrize(
    ("known", "module", "name", "shows"),
    [
        ("True", "langchain_core.messages", "BaseMessage", "2 .*SystemMessage"),
        ("TYPE_CHECKING", "langchain_core.messages", "AnyMessage", "2 .*SystemMessage"),
        ("TYPE_CHECKING", "anthropic.types", "MessageParam", "1 .*dict"),
    ],
)
def test_the_annotation_of_a_list_names_the_interface(tmp_path, known, module, name, shows):
    if "langchain" in module:
        pytest.importorskip("langchain_core")
    write(tmp_path, ANNOTATED.format(known, module, name=name))
    run = replayed_or_failed(conversation(), parse_strategy("m=compactor=mine.py:f", tmp_path))
    assert re.search(shows, run.failure.error)


def test_a_summary_is_a_new_message_and_the_others_keep_their_steps():
    def compact(messages, keep=2):
        summary = [messages[0], {"role": "user", "content": "Summary."}]
        return [*summary, *messages[-keep:]] if len(messages) > 4 else messages

    run = replayed_or_failed(conversation(), compose_of(compactor=compact))
    assert prompts(run)[-1] == ["You run commands.", "Summary.", "And then?", "Then this."]
    assert [message.kind for message in run.messages if message.text == "Summary."] == ["made"]


def test_an_edit_persists_in_mode_history_and_not_in_mode_per_call(tmp_path):
    seen = {}
    for mode in ("history", "per_call"):
        write(tmp_path, "SEEN = []\ndef last(messages):\n    SEEN.append(len(messages))\n    return messages[-3:]\n")
        strategy = parse_strategy(f"m=compactor=mine.py:last:mode={mode}", tmp_path)
        run = replayed_or_failed(conversation_of(shell(3, start=2)), strategy)
        assert [*map(len, prompts(run))] == [2, 3, 3, 3]
        seen[mode] = strategy.plugins["compactor"][0].target.__globals__["SEEN"][:4]  # a replay is made twice
    assert seen == {"history": [2, 4, 5, 5], "per_call": [2, 4, 6, 8]}


def test_a_function_may_set_its_mode_and_a_wrong_one_is_an_error(tmp_path):
    write(tmp_path, "def last(messages):\n    return messages[-3:]\nlast.mode = 'per_call'\n")
    strategy = parse_strategy("m=compactor=mine.py:last", tmp_path)
    assert strategy.plugins["compactor"][0].attribute("mode") == "per_call"
    with pytest.raises(SpecError):
        parse_strategy("m=compactor=mine.py:last:mode=always", tmp_path)
    with pytest.raises(SpecError):
        parse_strategy("m=compactor=mine.py:last:form=open", tmp_path)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("text", "gives one back, or None; got str"),
        (3, "got int"),
        ([{"role": "user", "content": "x"}] * 200, "its history has 200 messages for 2 recorded ones"),
        (["text"], r"messages\[0\] of the answer cannot be read: expected a message"),
        ([{"content": "x"}], "its role is None"),
        ([{"role": "user", "content": 3}], "its content is int"),
        ([{"role": "assistant", "content": "", "tool_calls": [{}]}], r"messages\[0\]"),
    ],
)
def test_an_answer_that_is_not_a_list_of_messages_is_an_error(answer, says):
    run = replayed_or_failed(conversation(), compose_of(compactor=lambda messages: answer))
    assert run.failure.slot == "compactor"
    assert re.search(says, run.failure.error)


def test_a_compactor_may_ask_for_a_window_and_return_its_messages():
    def newest(window: Window) -> list[Message]:
        return list(window.messages)[-1:]

    def ours(messages: Sequence[Message]) -> list[Message]:
        return messages[-1:]

    for function in (newest, ours):
        run = replayed_or_failed(conversation_of([]), compose_of(compactor=function))
        assert prompts(run) == [["Follow the files to the end."]]


def test_a_repeated_id_is_matched_by_position():
    calls = [
        step
        for turn in range(3)
        for step in (
            ModelTurn(index=2 + 2 * turn, tool_calls=(ToolCall(id="c", name="ls", arguments={}),)),
            result(f"answer {turn}", index=3 + 2 * turn, call_id="c"),
        )
    ]
    run = replayed_or_failed(conversation_of(calls), compose_of(compactor=clear_openai))
    assert {message.step for message in run.messages if message.text == "[cleared]"} == {3, 5, 7}


@pytest.mark.parametrize("slots", PORTFOLIO.values())
def test_the_lines_for_an_agent_do_what_a_replay_measured(slots: str) -> None:
    steps: list[AnyStep] = []
    for at in range(2, 52, 2):
        steps.append(ModelTurn(index=at, content="On.", tool_calls=(ToolCall(id=f"c{at}", name="ls"),)))
        steps.append(result(f"{at % 7} a line of a log\n" * 900, index=at + 1, call_id=f"c{at}", function="ls"))
    recorded = conversation_of(steps)
    measured, plain = (replayed_or_failed(recorded, spec) for spec in (f"m={slots}", "keep_all"))
    names = {"store": lambda name, value: None, "compact": list, "rewrite": lambda text, **about: text}
    exec("\n".join(line for line in code_lines(slots_in_spec(slots)) if "bench" in line), names)
    messages: list[dict] = []
    for full, prompt in zip(plain.prompts, prompts(measured), strict=True):
        for one in full.messages[len(messages) :]:
            text = names["rewrite"](one.text, call_id=one.call_id, function="ls") if one.kind == "result" else one.text
            messages.append(openai_message(msgspec.structs.replace(one, text=text)))
        assert [one["content"] for one in names["compact"](messages)] == prompt
