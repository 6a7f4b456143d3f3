"""The conformance of every kind of plug-in that one file adds: a newcomer's, and all that are registered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from handmade import LOG, SMALL, TABLE, compose, conversation_of, result
from measured import MeasuredReplay, replayed_or_failed

import bench
from bench.metrics import example, metrics
from bench.model import Message, ModelTurn, ToolResult
from bench.model.errors import StrategyError
from bench.plugins import registry
from bench.plugins.registry import KINDS, build, entries
from bench.strategies import Execution, untruncated_record
from bench.traces.formats.native import encode_trace

# ---------------------------------------------------------------- a newcomer's file

REGISTER = "from bench.plugins.registry import register\n@register"
FILES: dict[str, str] = {
    "summarizer": REGISTER + "('summarizer', 'new')\ndef f(result, *, chars: int = 4):\n    return result.text[:chars]",
    "compactor": REGISTER + "('compactor', 'new')\ndef f(window):\n    return list(window.messages[-1:])",
    "writer": REGISTER + "('writer', 'new')\ndef f(messages):\n    return 'in short'",
    "store": REGISTER + "('store', 'new')\ndef f(result):\n    return result.text[:4]",
    "evaluator": REGISTER + "('evaluator', 'new')\ndef f(record, history):\n    return {'before': len(history)}",
    "router": REGISTER + "('router', 'new', at='after_result')\ndef f(state):\n    return 'on'",
    "consumer": REGISTER + "('consumer', 'new')\ndef f(execution):\n    return Reply('read', 'new', {}, 'END')",
    "reader": REGISTER + "('reader', 'new')\nclass New(Native):\n    pass",
    "number": "@metric('new', unit='prompts', better='lower', aggregate='total')\n"
    "def f(evidence):\n    'Prompts sent.'\n    return Number(float(len(evidence.replay.calls)))",
}
IMPORTS = "from bench.metrics import Number, metric\nfrom bench.model import Reply\n"
IMPORTS += "from bench.traces.formats.native import Native\n"
USES: dict[str, tuple[dict[str, Any], Callable[[MeasuredReplay], Any], Any]] = {
    "summarizer": ({"summarizer": "new"}, lambda run: run.messages[run.results[0].message].text, "a lo"),
    "compactor": ({"compactor": "new"}, lambda run: {len(prompt.messages) for prompt in run.prompts}, {1}),
    "writer": (
        {"compactor": "summarize_old:max_tokens=9,keep_last=1,writer=new"},
        lambda run: {message.text for message in run.messages if message.kind == "made"},
        {"in short"},
    ),
    "store": ({"store": "new"}, lambda run: run.results[0].record.value, "a lo"),
    "evaluator": ({"evaluator": "new"}, lambda run: [item.evaluation["before"] for item in run.results], [0, 1]),
    "router": ({"routers": ["new"]}, lambda run: {decision.route for decision in run.decisions}, {"on"}),
    "consumer": ({"consumer": "new"}, lambda run: run.results[0].reply.text, "read"),
}
"""By kind the slots of a strategy that uses the file, and an effect of it on a replay."""


def forget() -> None:
    """Let the metrics be looked for again."""
    metrics.cache_clear()


@pytest.fixture
def newcomer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """A function that puts the file of a kind into a folder that is scanned for it."""
    for kind in KINDS:
        entries(kind)
    monkeypatch.setattr(registry, "_entries", {kind: dict(known) for kind, known in registry._entries.items()})
    monkeypatch.syspath_prepend(tmp_path)

    def put(kind: str) -> None:
        package = tmp_path / f"newcomers_{kind}"
        package.mkdir()
        (package / "__init__.py").touch()
        (package / "anything.py").write_text(IMPORTS + FILES[kind])
        packages = (*KINDS[kind].packages, package.name)
        monkeypatch.setitem(KINDS, kind, KINDS[kind]._replace(packages=packages))
        forget()

    yield put
    forget()


@pytest.mark.parametrize("kind", FILES)
def test_one_new_file_adds_one_thing(kind: str, newcomer: Callable[[str], None], tmp_path: Path) -> None:
    results = result("a long result", index=2), result("b", index=4)
    answers = ModelTurn(index=3, content="So it is long."), ModelTurn(index=5, content="Done.")
    recording = conversation_of([results[0], answers[0], results[1], answers[1]])
    path = tmp_path / "run.jsonl"
    path.write_bytes(encode_trace(recording))
    newcomer(kind)
    assert "new" in entries(kind)
    if kind == "reader":
        assert bench.load(f"new:{path}").traces[0].steps == recording.steps
    elif kind == "number":
        compared = bench.compare(str(path), {"mine": "compactor=none"})
        assert compared.totals["mine"]["new"].value == 3.0
        assert compared.metrics["new"].label == "Prompts sent"
    else:
        slots, effect, wanted = USES[kind]
        run = replayed_or_failed(recording, compose("mine", slots))
        assert run.failure is None
        assert effect(run) == wanted


# ---------------------------------------------------------------- all that are registered

RESULTS = (
    result("", index=2),
    result("no end of text " * 3000, index=2),
    result(LOG, index=2),
    result("ok", index=2, success=False, error="ImportError: ✗ no umap"),
    result(None, index=2, data={"is_success": True, "output": LOG, "structured_output": [TABLE]}),
    result(None, index=2, data={"output": 7, "structuredOutput": [{"type": "table", "data": "[1,"}, 3]}),
    result(None, index=2, data=[[], {}, None, {"go": {"total_significant": None}}]),
    result(None, index=2, function="perform_enrichment_analyses", data={"go": {"top_terms": ["mitosis"]}}),
)
TEXTS = [Message(role="user", text=text, kind="user") for text in ("", "a\nb", "x" * 5000)]
STATES: list[dict[str, Any]] = [{}, {"manifest": []}, {"ledger": None, "prompt": TEXTS, "execution_history": [{}]}]
INPUTS: dict[str, list[tuple[Any, ...]]] = {
    "summarizer": [(item,) for item in RESULTS],
    "store": [(item,) for item in RESULTS],
    "consumer": [(Execution(item, summary),) for item in RESULTS for summary in (None, "short", {"type": "table"})],
    "evaluator": [(untruncated_record(item), ({"before": 1},)) for item in RESULTS],
    "router": [(state,) for state in STATES],
    "writer": [([],), (TEXTS,)],
}


def answers(kind: str, name: str) -> list[Any]:
    """The answers of a plug-in to each input in turn, or the name of the error that it gives."""
    call, found = build(kind, name).start()[1], list[Any]()
    for given in INPUTS[kind]:
        before = repr(given)
        try:
            found.append(call(*given))
        except StrategyError as error:
            found.append(type(error))
        assert repr(given) == before
    return found


CALLED = [(kind, name) for kind in INPUTS for name in entries(kind) if name != "langgraph"]  # it needs a graph


@pytest.mark.parametrize(("kind", "name"), CALLED, ids=lambda item: item)
def test_the_same_input_gives_the_same_answer_and_is_not_changed(kind: str, name: str) -> None:
    assert answers(kind, name) == answers(kind, name)


@pytest.mark.parametrize("name", entries("compactor"))
def test_a_compactor_gives_the_same_prompts_again(name: str) -> None:
    for recording in SMALL.values():
        first, again = (replayed_or_failed(recording, compose("s", {"compactor": name})).replay for _ in range(2))
        assert first.failure is None
        assert msgspec.json.encode(first) == msgspec.json.encode(again)


@pytest.mark.parametrize("name", metrics())
def test_a_metric_gives_the_same_number_again(name: str) -> None:
    assert metrics()[name].number(example()) == metrics()[name].number(example())


@pytest.mark.parametrize("kind", [*KINDS])
def test_a_plugin_has_a_description_an_example_and_a_source(kind: str) -> None:
    for name, entry in entries(kind).items():
        assert entry.doc[:1].isupper() or entry.doc[:1] in "`0", name
        assert entry.source, name
        assert kind in ("reader", "number") or ">>>" in entry.doc, name
        if name != "langgraph":  # it needs the graph of somebody
            assert all(
                item.annotation is not Any and item.default is not item.empty for item in entry.parameters.values()
            ), name


def test_the_table_of_kinds_is_complete() -> None:
    assert {*FILES} == {*KINDS}
    assert isinstance(RESULTS[0], ToolResult)
