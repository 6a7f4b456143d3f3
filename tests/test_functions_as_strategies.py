"""A plain function is a strategy: given what its parameters ask for, and nothing of ours to import."""

from __future__ import annotations

import copy
import json
import os
import re
from pathlib import Path

import pytest
from handmade import LOG, TABLE, opened, result, shell, trace

import bench
from bench.cli import main
from bench.errors import SpecError
from bench.model import Message, ModelTurn, ToolCall, ToolResult, UserTurn
from bench.plugins import beside
from bench.replayer.loop import replay
from bench.strategies import compose, parse_strategy, strategy_of
from bench.strategies.dialects import Bridge
from bench.strategies.dialects.anthropic import Anthropic
from bench.strategies.dialects.langchain import LangChain
from bench.strategies.dialects.openai import OpenAI

GENERATE_SUMMARY = '''
import json


def generate_summary(raw_execution_result):
    """As the owners of document 000 have it: raw mapping in, mapping or None out."""
    structured = raw_execution_result.get("%s") or []
    for item in structured:
        if item.get("type") == "table":
            rows = json.loads(item["data"])
            if len(rows) > 5:
                return {"type": "table", "message": f"Table with {len(rows)} rows.",
                        "table": {"row_count": len(rows), "truncated_rows_json": rows[:5]}}
    lines = [line for line in raw_execution_result.get("output", "").splitlines() if line and not line.startswith("✅")]
    if len(lines) > 5:
        return {"type": "console", "console": {"line_count": len(lines), "truncated_lines": lines[:5]}}
    return None
'''
SPELLINGS = ("structured_output", "structuredOutput")


def write(folder: Path, text: str, name: str = "mine.py") -> str:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    beside.load_file.cache_clear()
    return name


def shown(run) -> list[str]:
    """What the model saw of each result."""
    assert run.failure is None, run.failure
    return [run.messages[outcome.shown].text for outcome in run.results]


def prompts(run) -> list[list[str]]:
    """The texts of each prompt."""
    assert run.failure is None, run.failure
    return [[run.messages[key].text for key in keys] for _, keys in run.walk() for keys in [list(keys)]]


def script(key: str = "structuredOutput") -> ToolResult:
    return result(None, index=2, data={"is_success": True, key: [TABLE], "output": ""})


# ---------------------------------------------------------------- summarizers


@pytest.mark.parametrize("recorded", SPELLINGS)
@pytest.mark.parametrize("read", SPELLINGS)
def test_the_function_of_document_000_runs_unchanged(tmp_path, recorded, read):
    write(tmp_path, GENERATE_SUMMARY % read)
    run = replay(opened([script(recorded)]), parse_strategy("g=summarizer=mine.py:generate_summary", tmp_path))
    (told,) = shown(run)
    assert json.loads(told)["table"]["row_count"] == 36


def test_a_log_is_summarised_and_a_short_one_left_as_it_is(tmp_path):
    write(tmp_path, GENERATE_SUMMARY % SPELLINGS[0])
    steps = [result(LOG, index=2), result("done", index=3)]
    long, short = shown(replay(opened(steps), parse_strategy("g=mine.py:generate_summary", tmp_path)))
    assert json.loads(long)["console"]["line_count"] == 12
    assert short == "done"


def test_keys_stay_spelled_as_they_were_recorded():
    seen = []
    bench.replay(opened([script()]), lambda raw: seen.append((list(raw), json.dumps(raw), isinstance(raw, dict))))
    assert seen[0][0] == ["is_success", "structuredOutput", "output"]
    assert "structured_output" not in seen[0][1]
    assert seen[0][2]


CLASS = """
class f:
    def __init__(self, chars=2):
        self.chars = chars

    def summarize(self, text: str):
        return text[: self.chars]
"""
ASKS = {
    "def f(result):\n    return result.function": "run_script",
    "def f(text):\n    return text[:3]": "a,b",
    "def f(output: str):\n    return output[:3]": "a,b",
    "def f(result: str):\n    return result[:3]": "a,b",
    "def f(result: dict):\n    return result['output'][:3]": "a,b",
    "def f(result: 'dict[str, object] | None'):\n    return result['output'][:3]": "a,b",
    "def f(value):\n    return type(value).__name__": "str",
    "def f(raw, tool_name):\n    return tool_name + str(len(raw))": "run_script5",
    "def f(text, *, chars=300):\n    return text[:chars]": "a,b,c",
    "def f(result, chars=300):\n    return result.text[:chars]": "a,b,c",
    "async def f(text):\n    return text[:1]": "a",
    "import asyncio\nasync def f(text):\n    await asyncio.sleep(0)\n    return text[:1]": "a",
    CLASS: "a,",
    "from typing import Any, TypedDict\nclass Raw(TypedDict):\n    output: str\ndef f(x: Raw):\n    return x['output'][:1]": "a",
}  # fmt: skip


@pytest.mark.parametrize(("code", "wanted"), ASKS.items())
def test_a_function_is_given_what_it_asks_for(tmp_path, code, wanted):
    write(tmp_path, code)
    run = replay(opened([result("a,b,c", index=2)]), compose("m", {"summarizer": "mine.py:f"}, tmp_path))
    assert shown(run) == [wanted]


@pytest.mark.parametrize(
    "code", ["def f(result, chars=300):", "def f(result, *, chars=300):", "def f(result, *, chars: int = 300):"]
)
def test_a_default_is_a_setting(tmp_path, code):
    write(tmp_path, code + "\n    return result.text[:chars]\n")
    run = replay(opened([result("x" * 500, index=2)]), parse_strategy("m=summarizer=mine.py:f:chars=100", tmp_path))
    assert shown(run) == ["x" * 100]


def test_a_setting_of_the_wrong_type_or_name_is_named(tmp_path):
    write(tmp_path, "def f(result, chars=300):\n    return result.text[:chars]\n")
    for text, says in (("chars=many", "chars=many"), ("char=3", "did you mean chars?")):
        with pytest.raises(SpecError, match=says.replace("?", r"\?")):
            parse_strategy(f"m=summarizer=mine.py:f:{text}", tmp_path)


def test_a_parameter_that_asks_for_nothing_is_named_before_the_replay(tmp_path):
    write(tmp_path, "def f(text, txt):\n    return text\n")
    with pytest.raises(SpecError, match="parameter 'txt' asks for nothing that this slot has — did you mean text"):
        parse_strategy("m=summarizer=mine.py:f", tmp_path)


def test_an_async_function_works_where_a_loop_runs_already():
    import asyncio

    async def brief(text):
        await asyncio.sleep(0)
        return text[:2]

    async def inside():
        return bench.replay(opened([result("abcdef", index=2)]), brief)

    assert shown(asyncio.run(inside())) == ["ab"]


# ---------------------------------------------------------------- what lies beside the file


def test_files_beside_it_are_found_and_two_folders_do_not_meet(tmp_path):
    for name in "ab":
        write(tmp_path / name, f"CUT = '{name}'\n", "rules.py")
        write(tmp_path / name, "from rules import CUT\ndef f(text):\n    import rules\n    return CUT + rules.CUT\n")
        write(tmp_path / name, "from .rules import CUT\ndef f(text):\n    return CUT\n", "inside.py")
    strategies = {name: compose(name, {"summarizer": f"{name}/mine.py:f"}, tmp_path) for name in "ab"}
    once = opened([result("x", index=2)])
    assert [shown(replay(once, strategies[name])) for name in "abab"] == [["aa"], ["bb"], ["aa"], ["bb"]]
    assert shown(replay(once, compose("r", {"summarizer": "b/inside.py:f"}, tmp_path))) == ["b"]
    assert "a/rules.py" in strategies["a"].code
    assert strategies["a"].code["a/rules.py"] != strategies["b"].code["b/rules.py"]


def test_a_file_that_cannot_be_imported_says_where_and_what_next(tmp_path):
    write(tmp_path, "import json\n\nimport nothing_like_it\n")
    with pytest.raises(SpecError, match=r"mine.py:3: cannot be imported: ModuleNotFoundError: .* — install it here"):
        parse_strategy("m=summarizer=mine.py:f", tmp_path)
    write(tmp_path, "import rules\n")
    write(tmp_path, "x = 1\n\ny = 1 / 0\n", "rules.py")
    with pytest.raises(SpecError, match=r"mine.py \(.*rules.py:3\): cannot be imported: ZeroDivisionError"):
        parse_strategy("m=summarizer=mine.py:f", tmp_path)


# ---------------------------------------------------------------- errors


def test_a_function_that_raises_names_file_and_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "def f(raw):\n    return deep(raw)\n\ndef deep(raw):\n    return raw['outptu']\n", "agent/mine.py")
    run = replay(opened([result("x", index=2)]), parse_strategy("m=agent/mine.py:f"))
    assert run.failure.error == "agent/mine.py:5: KeyError: 'outptu'"


def test_a_function_that_takes_ours_for_a_mapping_is_told_how_to_get_one():
    run = bench.replay(opened([result("x", index=2)]), lambda outcome: outcome["output"])
    assert "TypeError: 'ToolResult' object is not subscriptable — it was given our result; declare" in run.failure.error
    run = bench.replay(opened([]), compose_of(compactor=lambda w: len(list(iter(w)))))
    assert "call the parameter `messages`" in run.failure.error


def test_debug_shows_the_traceback(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("BENCH_DEBUG", raising=False)
    write(tmp_path, "def f(text):\n    return 1 / 0  # here\n")
    (tmp_path / "t.jsonl").write_text(json.dumps({"messages": MESSAGES}) + "\n")
    monkeypatch.chdir(tmp_path)
    for arguments, traced in (([], False), (["--debug"], True)):
        monkeypatch.setenv("BENCH_DEBUG", "")
        with pytest.raises(SystemExit):
            main(["run", "--traces", "openai:t.jsonl", "--strategy", "m=mine.py:f", "--jobs", "1", *arguments])
        told = capsys.readouterr()
        assert ("return 1 / 0  # here" in told.err) is traced
        assert "mine.py:2: ZeroDivisionError" in told.out
    assert os.environ["BENCH_DEBUG"]


MESSAGES = [
    {"role": "user", "content": "go"},
    {"role": "assistant", "content": "", "tool_calls": [
        {"id": "c", "type": "function", "function": {"name": "ls", "arguments": '{"path": "/"}'}}]},
    {"role": "tool", "tool_call_id": "c", "content": "a.csv b.csv"},
    {"role": "assistant", "content": "done"},
]  # fmt: skip


def test_a_function_that_changes_what_it_was_given_fails_alone():
    once = opened([script()])
    for change in (lambda raw: raw.clear(), lambda raw: raw["structuredOutput"].clear(), lambda raw: raw.update(x=1)):
        assert "changed" in bench.replay(once, change).failure.error
    assert shown(bench.replay(once, lambda raw: str(len(raw)))) == ["3"]


# ---------------------------------------------------------------- compactors


def compose_of(**slots):
    return compose("m", slots)


def conversation():
    """Calls as structured ones, two results to one turn."""
    calls = (ToolCall(id="a", name="read", arguments={"path": "x"}), ToolCall(id="b", name="ls"))
    return opened(
        [
            ModelTurn(index=2, content="I read.", tool_calls=calls),
            result("text of x", index=3, call_id="a", function="read"),
            result("x y z", index=4, call_id="b", function="ls"),
            UserTurn(index=5, content="And then?"),
            ModelTurn(index=6, content="Then this."),
        ]
    )


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "langchain"])
@pytest.mark.parametrize("copies", [False, True])
def test_messages_that_come_back_are_the_same_ones(dialect, copies):
    if dialect == "langchain":
        pytest.importorskip("langchain_core")

    def same(messages):
        return copy.deepcopy(messages) if copies else list(messages)

    for recorded in (conversation(), opened(shell(3, start=2))):
        same.dialect = dialect
        kept, plain = bench.replay(recorded, compose_of(compactor=same)), bench.replay(recorded, "keep_all")
        assert prompts(kept) == prompts(plain)
        assert kept.messages == plain.messages or set(kept.messages) == set(plain.messages)
        assert not any(prompt.compacted for prompt in kept.prompts)


def test_openai_messages():
    seen = []
    bench.replay(conversation(), compose_of(compactor=lambda messages: seen.append(copy.deepcopy(messages))))
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


def test_anthropic_messages_with_the_system_prompt_beside_them():
    seen = []

    def view(anthropic_messages, system):
        seen.append((anthropic_messages, system))

    bench.replay(conversation(), compose_of(compactor=view))
    messages, system = seen[1]
    assert system == "You run commands."
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "user"]
    assert messages[1]["content"][1] == {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "x"}}
    assert [block["tool_use_id"] for block in messages[2]["content"]] == ["a", "b"]


def clear_openai(messages):
    """In place, as clearing of tool results is often written."""
    for message in messages:
        if message["role"] == "tool":
            message["content"] = "[cleared]"


def clear_copies(messages):
    return [{**message, "content": "[cleared]"} if message["role"] == "tool" else dict(message) for message in messages]


def clear_anthropic(anthropic_messages):
    for message in anthropic_messages:
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block["type"] == "tool_result":
                block["content"] = "[cleared]"
    return anthropic_messages


def clear_langchain(langchain_messages):
    return [
        item.model_copy(update={"content": "[cleared]"}) if item.type == "tool" else item for item in langchain_messages
    ]


@pytest.mark.parametrize(
    "clear", [clear_openai, clear_copies, clear_anthropic, clear_langchain], ids=lambda item: item.__name__
)
def test_a_rewritten_result_is_still_the_result_of_its_step(clear):
    if clear is clear_langchain:
        pytest.importorskip("langchain_core")
    run = bench.replay(conversation(), clear)
    assert prompts(run)[-1][2:5] == ["I read.", "[cleared]", "[cleared]"]
    rewritten = [message for message in run.messages.values() if message.text == "[cleared]"]
    assert sorted((message.step, message.kind, message.call_id) for message in rewritten) == [
        (3, "result", "a"),
        (4, "result", "b"),
    ]


def test_a_summary_is_a_new_message_and_the_rest_stays_itself():
    def compact(messages, keep=2):
        return (
            [messages[0], {"role": "user", "content": "Summary."}, *messages[-keep:]] if len(messages) > 4 else messages
        )

    run = bench.replay(conversation(), compact)
    assert prompts(run)[-1] == ["You run commands.", "Summary.", "And then?", "Then this."]
    assert [message.kind for message in run.messages.values() if message.text == "Summary."] == ["made"]


def test_history_keeps_an_edit_and_per_call_starts_anew(tmp_path):
    write(tmp_path, "def last(messages):\n    return messages[-1:] if len(messages) % 2 else messages\n")
    texts = {}
    for mode in ("history", "per_call"):
        run = replay(opened(shell(3, start=2)), parse_strategy(f"m=compactor=mine.py:last:mode={mode}", tmp_path))
        texts[mode] = [len(texts) for texts in prompts(run)]
    assert texts["history"] == [2, 4, 6, 8] or texts["history"][0] == 2
    assert texts["per_call"] == [2, 4, 6, 8]
    write(tmp_path, "def last(messages):\n    return messages[-3:]\n")
    seen = {}
    for mode in ("history", "per_call"):
        write(tmp_path, "SEEN = []\ndef last(messages):\n    SEEN.append(len(messages))\n    return messages[-3:]\n")
        strategy = parse_strategy(f"m=compactor=mine.py:last:mode={mode}", tmp_path)
        assert [len(texts) for texts in prompts(replay(opened(shell(3, start=2)), strategy))] == [2, 3, 3, 3]
        seen[mode] = strategy.plugins["compactor"][0].entry.target.__globals__["SEEN"]
    assert seen == {"history": [2, 4, 5, 5], "per_call": [2, 4, 6, 8]}


def test_mode_may_stand_on_the_function_and_a_wrong_one_is_named(tmp_path):
    write(tmp_path, "def last(messages):\n    return messages[-3:]\nlast.mode = 'per_call'\n")
    strategy = parse_strategy("m=mine.py:last", tmp_path)
    assert strategy.plugins["compactor"][0].attribute("mode") == "per_call"
    with pytest.raises(SpecError, match="its `mode` must be one of history, per_call"):
        parse_strategy("m=mine.py:last:mode=always", tmp_path)
    with pytest.raises(SpecError, match="unknown dialect 'open' — did you mean openai"):
        parse_strategy("m=mine.py:last:dialect=open", tmp_path)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("text", "gives one back, or None; got str"),
        (3, "got int"),
        (["text"], r"messages\[0\] of the answer cannot be read: expected a mapping"),
        ([{"content": "x"}], "its role is None"),
        ([{"role": "user", "content": 3}], "its content is int"),
        ([{"role": "assistant", "content": "", "tool_calls": [{}]}], r"messages\[0\]"),
    ],
)
def test_an_answer_that_is_no_list_of_messages_says_so(answer, says):
    run = bench.replay(conversation(), lambda messages: answer)
    assert run.failure.slot == "compactor"
    assert re.search(says, run.failure.error)


def test_a_window_is_given_on_request_and_messages_of_ours_are_taken():
    assert prompts(bench.replay(opened([]), lambda window: list(window.messages)[-1:])) == [
        ["Follow the files to the end."]
    ]


def test_an_id_that_comes_again_is_matched_by_place():
    calls = [
        step
        for turn in range(3)
        for step in (
            ModelTurn(index=2 + 2 * turn, tool_calls=(ToolCall(id="c", name="ls", arguments={}),)),
            result(f"answer {turn}", index=3 + 2 * turn, call_id="c"),
        )
    ]
    run = bench.replay(opened(calls), clear_openai)
    assert {message.step for message in run.messages.values() if message.text == "[cleared]"} == {3, 5, 7}


def test_langchain_updates_are_merged_by_id():
    messages = pytest.importorskip("langchain_core.messages")
    told = [Message(role="user", text=text, kind="user") for text in ("a", "b", "c")]
    bridge = Bridge(LangChain(), told)
    update = {"messages": [messages.RemoveMessage(id=bridge.given[0].id), messages.HumanMessage("new")]}
    assert [message.text for message in bridge.back(update)] == ["b", "c", "new"]
    wiped = {"messages": [messages.RemoveMessage(id="__remove_all__"), messages.HumanMessage("new"), bridge.given[2]]}
    back = Bridge(LangChain(), told).back(wiped)
    assert [message.text for message in back] == ["new", "c"]
    assert back[1] is told[2]


def test_a_system_message_in_the_middle_keeps_its_place():
    told = [
        Message(role=role, text=text, kind=role)
        for role, text in (("system", "s"), ("user", "a"), ("system", "t"), ("user", "b"))
    ]
    bridge = Bridge(Anthropic(), told)
    assert bridge.given == [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]
    assert bridge.back(None) == told
    assert [message.text for message in Bridge(Anthropic(), told).back([{"role": "user", "content": "new"}])] == [
        "s",
        "new",
        "t",
    ]


def test_bridges_without_anything_are_empty():
    assert Bridge(OpenAI(), []).back([]) == Bridge(Anthropic(), []).back(None) == []


# ---------------------------------------------------------------- stores, evaluators, routers, consumers


def test_a_store_may_keep_any_value():
    run = bench.replay(opened([script()]), compose_of(store=lambda raw: raw.get("structured_output")))
    assert run.results[0].record.value == [TABLE]


EVALUATORS = {
    "record: dict": "record['function_name']",
    "record": "record.function",
    "execution, history": "execution['function_name'] + str(len(history))",
    "state": "state['execution_history'][-1]['function_name']",
    "value": "value",
}


@pytest.mark.parametrize(("asks", "gives"), EVALUATORS.items())
def test_evaluators_take_records_mappings_and_states(tmp_path, asks, gives):
    write(tmp_path, f"def f({asks}):\n    return {{'found': {gives}}}\n")
    run = replay(opened([result("run_script", index=2)]), compose("m", {"evaluator": "mine.py:f"}, tmp_path))
    assert run.failure is None
    assert run.results[0].evaluation["found"].startswith("run_script")


def test_a_router_decides_after_results_unless_it_says_otherwise(tmp_path):
    write(tmp_path, "def go(state):\n    return 'on'\n")
    once = opened([result("x", index=2), result("y", index=3)])
    run = replay(once, parse_strategy("m=mine.py:go", tmp_path))
    assert [(item.step, item.at, item.route) for item in run.decisions] == [
        (2, "after_result", "on"),
        (3, "after_result", "on"),
    ]
    run = replay(once, parse_strategy("m=routers=mine.py:go:at=user_turn", tmp_path))
    assert [item.at for item in run.decisions] == ["user_turn"]


def test_a_router_may_ask_for_messages(tmp_path):
    write(tmp_path, "def go(messages):\n    return messages[-1]['role']\n")
    run = replay(opened(shell(1, start=2)), compose("m", {"routers": "mine.py:go"}, tmp_path))
    assert [item.route for item in run.decisions] == ["user"]


def test_a_consumer_may_answer_with_text():
    run = bench.replay(
        opened([script()]), compose_of(summarizer=lambda raw: "short", consumer=lambda summary: f"I saw {summary}")
    )
    assert run.results[0].reply.text == "I saw short"


# ---------------------------------------------------------------- in comparisons


def test_five_revisions_in_one_comparison(shared_traces):
    """Each under its own name, on the recorded session whose keys are spelled `structuredOutput`."""
    scope: dict[str, dict] = {}
    for spelling in SPELLINGS:
        scope[spelling] = {}
        exec(GENERATE_SUMMARY % spelling, scope[spelling])
    functions = {spelling: space["generate_summary"] for spelling, space in scope.items()}
    found = bench.compare(str(shared_traces / "rap" / "session-2025-11-17.json"), functions)
    assert not any(found.failed(name) for name in functions)
    values = [found.value(name, "cost.prompt_tokens") for name in (*functions, "keep_all")]
    assert values[0] == values[1] < values[2]


def test_slots_may_hold_functions(tmp_path):
    made = strategy_of({"summarizer": lambda text: text[:1], "store": "truncate"}, "both")
    assert shown(replay(opened([result("xyz", index=2)]), made)) == ["x"]
    assert trace().steps == ()
