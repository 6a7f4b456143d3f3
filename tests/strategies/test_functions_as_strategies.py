"""A plain function is a strategy: given what its parameters ask for, and nothing of ours to import."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import msgspec
import numpy as np
import pytest
from handmade import TABLE, compose, conversation_of, result, shell
from measured import replayed_or_failed
from theirs import write

from bench.model import ToolResult
from bench.model.errors import SpecError
from bench.strategies import parse_strategy, untruncated_record
from bench.strategies.declaring import declaration

GENERATE_SUMMARY = '''
import json


def generate_summary(raw_execution_result: dict):
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


def texts_shown(run) -> list[str]:
    """The text of each result that the model saw."""
    assert run.failure is None, run.failure
    return [run.messages[outcome.message].text for outcome in run.results]


def script(key: str = "structuredOutput") -> ToolResult:
    return result(None, index=2, data={"is_success": True, key: [TABLE], "output": ""})


# ---------------------------------------------------------------- summarizers


@pytest.mark.parametrize("recorded", SPELLINGS)
@pytest.mark.parametrize("read", SPELLINGS)
def test_the_function_of_document_000_runs_unchanged(tmp_path, recorded, read):
    write(tmp_path, GENERATE_SUMMARY % read)
    run = replayed_or_failed(
        conversation_of([script(recorded)]), parse_strategy("g=summarizer=mine.py:generate_summary", tmp_path)
    )
    (text,) = texts_shown(run)
    assert json.loads(text)["table"]["row_count"] == 36


CLASS = """
class f:
    def __init__(self, chars=2):
        self.chars = chars

    def summarize(self, text: str):
        return text[: self.chars]
"""
ASKS = {
    "": {
        "def f(result):\n    return result.function": "run_script",
        "def f(text):\n    return text.text[:3]": "a,b",
        "def f(anything: str):\n    return anything[:3]": "a,b",
        "def f(anything: 'str'):\n    return anything[:3]": "a,b",
        "def f(anything: 'str') -> 'TYPE_ONLY':\n    return anything[:3]": "a,b",
        "def f(anything: 'TYPE_ONLY'):\n    return anything.text[:3]": "a,b",
        "def f(raw: dict) -> dict:\n    raw.pop('address', None)\n    return raw": "a,b,c",
        "def f(raw: dict):\n    return {'a': raw, 'b': {**raw, 'output': 'a'}}": '{"a":"a,b,c","b":"a"}',
        "def f(result: 'dict[str, object] | None'):\n    return result['output'][:3]": "a,b",
        "def f(value: list):\n    return type(value).__name__": "str",
        "def f(text: str, *, chars=300):\n    return text[:chars]": "a,b,c",
        "def f(result, chars=300):\n    return result.text[:chars]": "a,b,c",
        "async def f(text: str):\n    return text[:1]": "a",
        "import asyncio\nasync def f(text: str):\n    await asyncio.sleep(0)\n    return text[:1]": "a",
        CLASS: "a,",
        "from typing import Any, TypedDict\nclass Raw(TypedDict):\n    output: str\ndef f(x: Raw):\n    return x['output'][:1]": "a",
        "def f(x):\n    return x[:3]\nf.form = 'str'": "a,b",
    },
    ":form=str": {"def f(x):\n    return x[:3]": "a,b", "def f(x: dict):\n    return x[:3]": "a,b"},
    ":chars=1": {
        "def f(result, chars=300):\n    return result.text[:chars]": "a",
        "def f(result, *, chars=300):\n    return result.text[:chars]": "a",
        "def f(result, *, chars: int = 300):\n    return result.text[:chars]": "a",
    },
    ":chars=2,form=str": {"def f(x, chars=9):\n    return x[:chars]": "a,"},
    ":form=st": {"def f(x, form=''):\n    return form": "st"},
}  # fmt: skip
"""Functions by the settings of their specs, with what the model sees."""


@pytest.mark.parametrize(
    ("settings", "code", "wanted"), [(item, *pair) for item, codes in ASKS.items() for pair in codes.items()]
)
def test_a_function_gets_its_input_in_the_named_form(tmp_path, settings, code, wanted):
    write(tmp_path, code)
    run = replayed_or_failed(
        conversation_of([result("a,b,c", index=2)]), compose("m", {"summarizer": f"mine.py:f{settings}"}, tmp_path)
    )
    assert texts_shown(run) == [wanted]


def test_a_function_without_a_slot_is_a_summarizer(tmp_path):
    write(tmp_path, "def f(messages):\n    return messages[-1:]\n")
    with pytest.raises(SpecError, match="names no slot"):
        parse_strategy("m=mine.py:f", tmp_path)
    with pytest.raises(SpecError, match="'sumarizer' names no slot — did you mean summarizer"):
        declaration("sumarizer=truncate", "m")
    assert list(declaration(lambda messages: None, "m").slots) == ["summarizer"]
    assert list(declaration({"compactor": lambda messages: None}, "m").slots) == ["compactor"]


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("summarizer=mine.py:f:form=text", "unknown form 'text'"),
        ("summarizer=mine.py:f:form=[str,dict]", "unknown form"),
        ("summarizer=mine.py:two", "it takes text, txt"),
        ("summarizer=mine.py:of_record", "unknown form .Record"),
        ("summarizer=mine.py:of_messages", "unknown form .Message"),
        ("compactor=mine.py:of_text", "unknown form .str. — known: Message, Window, anthropic, langchain, openai"),
    ],
)
def test_the_error_names_an_unknown_or_missing_form_before_the_replay(tmp_path, spec, says):
    ours = "from bench.model import Message, Record\ndef of_record(r: Record | None): ...\ndef of_messages(m: list[Message]): ...\n"
    write(
        tmp_path,
        f"{ours}def f(result):\n    return None\n\ndef two(text: str, txt):\n    return text\ndef of_text(x: str): ...\n",
    )
    with pytest.raises(SpecError, match=says):
        parse_strategy(f"m={spec}", tmp_path)


# ---------------------------------------------------------------- errors


def test_a_function_that_raises_names_file_and_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = "def f(raw: dict):\n    return deep(raw)\n\ndef deep(raw):\n    return raw['outptu']\n"
    write(tmp_path, code, "agent/mine.py")
    run = replayed_or_failed(conversation_of([result("y", index=2)]), parse_strategy("m=summarizer=agent/mine.py:f"))
    assert run.failure.error == "agent/mine.py:5: KeyError: 'outptu'"


def names(rows: list[dict]):
    return [row["name"] for row in rows]


FAILING = {
    "store": (names, "value, a str"),
    "summarizer": (lambda outcome: outcome["output"], "ToolResult"),
    "compactor": (lambda w: w.messages, "openai"),
    "evaluator": (lambda e, h: e["success"], "Record"),
    "routers": (lambda s: s.messages, "state"),
    "consumer": (lambda e: e.text, "Execution"),
}


@pytest.mark.parametrize("slot", FAILING)
def test_the_error_names_the_forms_of_the_input_which_is_no_answer(slot):
    function, form = FAILING[slot]
    recording = conversation_of(shell(1, start=2))
    assert f"form={form}" in replayed_or_failed(recording, compose("m", {slot: function})).failure.error
    same = replayed_or_failed(recording, compose("m", {slot: lambda given, *more: given}))
    assert ("return what it holds" in str(same.failure)) == (slot not in ("compactor", "routers"))


def test_an_unrelated_error_does_not_list_the_forms():
    for wrong in (lambda given: int("x"), lambda given: None + 1, lambda given: {}.text):
        run = replayed_or_failed(conversation_of(shell(1, start=2)), compose("m", {"summarizer": wrong}))
        assert "form=" not in run.failure.error


def test_a_function_changes_only_its_own_copy_of_what_it_was_given():
    def clear(raw):
        for part in (raw["structuredOutput"], raw):
            part.clear()
        return str(len(raw))

    clear.form = "dict"
    recording = conversation_of([script()])
    before = msgspec.json.encode(recording)
    assert texts_shown(replayed_or_failed(recording, clear)) == ["0"]
    assert msgspec.json.encode(recording) == before


def compose_of(**slots):
    return compose("m", slots)


# ---------------------------------------------------------------- stores, evaluators, routers, consumers


Point = dataclasses.make_dataclass("Point", ["x"])


@pytest.mark.parametrize(
    ("answer", "seen"),
    [
        (np.int64(3), "3"),
        (np.array([1, 2]), "[1,2]"),
        (Path("a/b"), "a/b"),
        ({1: Path("a"), np.int64(2): np.float32(0.5)}, '{"1":"a","2":0.5}'),
        ({None: 1, True: 2}, '{"null":1,"true":2}'),
        ([Point(np.bool_(True))], '[{"x":true}]'),
        (Point({3: Path("q")}), '{"x":{"3":"q"}}'),
    ],
)
def test_answers_are_written_as_json_as_far_as_possible(answer, seen):
    assert texts_shown(replayed_or_failed(conversation_of([result("x", index=2)]), lambda outcome: answer)) == [seen]


@pytest.mark.parametrize(
    ("kept", "kind"),
    [({"a": 1}, "structured"), ([1], "structured"), ({}, "structured"), ("a", "text"), (7, "text"), (None, "text")],
)
def test_the_plain_answer_of_a_store_is_judged_by_its_type(kept, kind):
    """A mapping that was stored raw is still one for the evaluator, whatever the result had been."""
    for full in ({"b": 2}, "text"):
        given = result(full if isinstance(full, str) else None, data=None if isinstance(full, str) else full, index=2)
        run = replayed_or_failed(
            conversation_of([given]),
            compose_of(store=lambda raw: kept, evaluator=lambda record: {"kind": record.result_type}),
        )
        assert (run.results[0].record.value, run.results[0].evaluation["kind"]) == (kept, kind)


def test_the_record_of_a_store_stays_a_record():
    record = untruncated_record(given := result(data={"b": 2}, index=2))
    kept = msgspec.structs.replace(record, value={"a": Path("p")}, summary="short")
    run = replayed_or_failed(conversation_of([given]), compose_of(store=lambda result: kept))
    assert (run.results[0].record.value, run.results[0].record.summary) == ({"a": "p"}, "short")


EVALUATORS = {
    "record: dict": ("", "record['function_name']"),
    "record": ("", "record.function"),
    "execution: dict, history": ("", "execution['function_name'] + str(len(history))"),
    "state": (":form=state", "state['execution_history'][-1]['function_name']"),
}


@pytest.mark.parametrize("asks", EVALUATORS)
def test_evaluators_take_records_mappings_and_states(tmp_path, asks):
    form, gives = EVALUATORS[asks]
    write(tmp_path, f"def f({asks}):\n    return {{'found': {gives}}}\n")
    run = replayed_or_failed(
        conversation_of([result("run_script", index=2)]), compose("m", {"evaluator": f"mine.py:f{form}"}, tmp_path)
    )
    assert run.failure is None
    assert run.results[0].evaluation["found"].startswith("run_script")


def test_a_router_decides_after_results_by_default(tmp_path):
    write(tmp_path, "def go(state):\n    return 'on'\n")
    once = conversation_of([result("x", index=2), result("y", index=3)])
    run = replayed_or_failed(once, parse_strategy("m=routers=mine.py:go", tmp_path))
    assert [(item.step, item.at) for item in run.decisions] == [(2, "after_result"), (3, "after_result")]
    run = replayed_or_failed(once, parse_strategy("m=routers=mine.py:go:at=user_turn", tmp_path))
    assert [item.at for item in run.decisions] == ["user_turn"]


def test_a_router_may_ask_for_messages(tmp_path):
    write(tmp_path, "def go(messages: list[dict]):\n    return messages[-1]['role']\n")
    run = replayed_or_failed(conversation_of(shell(1, start=2)), compose("m", {"routers": "mine.py:go"}, tmp_path))
    assert [item.route for item in run.decisions] == ["user"]


def test_a_consumer_may_answer_with_a_mapping():
    def reply(execution):
        return {"text": f"I saw {execution.summary}", "state": {}, "route": "END"}

    run = replayed_or_failed(conversation_of([script()]), compose_of(summarizer=lambda raw: "short", consumer=reply))
    assert run.results[0].reply.text == "I saw short"


OF_DOCUMENT_004 = """
from typing import Any, Dict, TypedDict
class ChatState(TypedDict):
    execution_history: list
class Nodes:
    def _store_execution_result(self, step_data: Dict, result: Any, success: bool, original_function_name: str = None) -> Dict[str, Any]:
        name = original_function_name or step_data.get("function_name", "")
        return {"result_type": "structured", "result": f"{name} {success} {len(str(result))}", "result_summary": "s"}
    def _evaluate_single_step_v1(self, execution: Dict[str, Any], state: ChatState) -> Dict[str, Any]:
        step = execution.get("step", {})
        return {"function": step["function_name"], "result": execution["result"], "steps": len(state.get("execution_history", []))}
    def step_evaluator_node(self, state: ChatState) -> ChatState:
        state["last_step_evaluation"] = {"steps": len(state["execution_history"])}
        return state
"""


@pytest.mark.parametrize("lazily", ["", "from __future__ import annotations\n"])
def test_the_store_and_the_evaluators_of_document_004_run_unchanged(tmp_path, lazily):
    write(tmp_path, lazily + OF_DOCUMENT_004)
    slots = {"store": "mine.py:Nodes._store_execution_result", "evaluator": "mine.py:Nodes._evaluate_single_step_v1"}
    recording = conversation_of(
        [result("abc", index=2, function="dea"), result("de", index=3, call_id="d", function="umap")]
    )
    run = replayed_or_failed(recording, compose("m", slots, tmp_path))
    records = [(item.record.value, item.record.result_type, item.record.summary) for item in run.results]
    assert records == [("dea True 3", "structured", "s"), ("umap True 2", "structured", "s")]
    kept = [
        {"function": "dea", "result": "dea True 3", "steps": 1},
        {"function": "umap", "result": "umap True 2", "steps": 2},
    ]
    assert [outcome.evaluation for outcome in run.results] == kept
    node = replayed_or_failed(recording, compose("m", {"evaluator": "mine.py:Nodes.step_evaluator_node"}, tmp_path))
    assert [outcome.evaluation for outcome in node.results] == [{"steps": 1}, {"steps": 2}]
