"""The rules of the documents beside what their owners deployed, wherever the documents say enough."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import deployed
from handmade import SMALL, result

from bench.model import Record, ToolResult
from bench.plugins.registry import build
from bench.strategies.user_code.forms import execution_mapping, raw_mapping
from bench.traces import load

TRACES = Path(__file__).parents[2] / "traces"


def outcome(call: Callable[[], Any]) -> Any:
    """The answer as JSON, or that it raised."""
    try:
        answer = call()
    except Exception:
        return "raised"
    return json.dumps(answer, sort_keys=True, default=str)


def agreement(pairs: Sequence[tuple[Any, Any]]) -> tuple[int, int]:
    """Calls equal, of calls."""
    return sum(ours == theirs for ours, theirs in pairs), len(pairs)


# ---------------------------------------------------------------- 000, 001, 003: a raw script result

ROWS = [
    [],
    [1, 2],
    [{"a": 1}],
    [{"a": n, "b": str(n)} for n in range(2)],
    [{"a": n} for n in range(9)],
    list(range(6)),
    ["é"] * 7,
]
DATA = [
    *map(json.dumps, ROWS),
    "[{", "", "null", "7", "NaN", '"text"', '{"a": 1}', "1" * 5000, None, 7, True, [], [1, 2, 3, 4, 5, 6], {"a": 1}, "\ufeff[]",
]  # fmt: skip
LOGS = [
    "", " \n", None, 7, ["a"], "one", "a\nb\nc", "\n".join("abcdefgh"), "a\r\n\r\nb\r\n\r\nc\r\nd\r\n",
    "✅ Code executed successfully | 12:03", "✅ Wall created.\n✅ Code executed", "a\nb\nc\nd\ne\n✅ Wall created.\nf",
    "one\nSUMMARY: 12 walls\n SUMMARY: 3 doors\n❌ Code execution failed | x", " ✅ not at the start", "❌ ✅ | both",
]  # fmt: skip
BESIDE: list[list[Any]] = [
    [],
    ["a text"],
    [None],
    [{"type": "text", "data": "[1]"}],
    [{"type": "table", "data": "[]"}],
    [{}],
]


def raw_results() -> Iterator[ToolResult]:
    """Every table beside two logs, every log beside two tables, odd items before and after a table, and the shipped results."""
    table = {"type": "table", "data": json.dumps(ROWS[4])}
    lists = [
        *([{"type": "table", "data": data}] for data in DATA),
        *([*items, table] for items in BESIDE),
        *([table, *items] for items in BESIDE),
    ]
    for (items, log), key in itertools.product(
        [
            *itertools.product(lists, (LOGS[7], "")),
            *itertools.product((None, "[]", [], {"type": "table"}, [table]), LOGS),
        ],
        ("structuredOutput", "structured_output"),
    ):
        yield result(None, data={"output": log, key: items})
    yield from (item for trace in SMALL.values() for item in trace.results)
    for path in sorted(TRACES.iterdir()):
        if path.is_dir() and path.name != "recorders":
            yield from (item for trace in load([str(path)]).traces for item in trace.results[:200])


def shaped(answer: Any) -> Any:
    """A summary of the document without its message, its rows as JSON, as the first deployment has them."""
    if not isinstance(answer, dict) or answer["type"] != "table" or "table" not in answer:
        return (
            {key: value for key, value in answer.items() if key != "message"}
            if answer and "console" in answer
            else answer
        )
    rows = list(map(json.dumps, answer["table"]["truncated_rows_json"]))
    return {"type": "table", "table": {**answer["table"], "truncated_rows_json": rows}}


def is_plain(given: ToolResult) -> bool:
    """True without what the documents leave open: blank lines, a `\\r`, two tables, an item or data of another kind."""
    raw = raw_mapping(given)
    log, items = raw.get("output"), raw.get("structured_output") or []
    if not isinstance(log, str) or not all(log.split("\n")) or "\r" in log or not isinstance(items, list):
        return False
    if not all(isinstance(item, dict) for item in items) or sum(item.get("type") == "table" for item in items) > 1:
        return False
    return all(str(item.get("data", "[]")) in map(json.dumps, ROWS) or item.get("type") != "table" for item in items)


def test_the_documented_summarizer_equals_the_deployed_one() -> None:
    summarize = build("summarizer", "table_console:noise=markers").start()[1]
    pairs = [(shaped(summarize(one)), deployed.first_five(raw_mapping(one))) for one in filter(is_plain, raw_results())]
    assert agreement(pairs) == (len(pairs), len(pairs))
    assert len(pairs) > 100


# ---------------------------------------------------------------- 004: storage and the step evaluator

FUNCTIONS = ("perform_enrichment_analyses", "process_cells", "dea_split_by_condition", "compare_cell_counts",
             "search_enrichment_semantic", "display_umap", "display_", "other")  # fmt: skip
GO = {"total_significant": 12, "top_terms": list("abcde")}
VALUES = [
    None, "", 0, 7, [], {}, "text", "x" * 499, "x" * 700, "<div>" + "x" * 600, "<html>", "<p>no</p>", "<DIV>", "Discovered: T cell",
    "nothing DISCOVERED", "## enrichment terms\na\n\nb", ["<div>"], [1, 2], {"go": GO}, {"go": GO, "kegg": {"total_significant": 0}},
    {"gsea": None}, {"go": "not run", "reactome": GO}, {"go": {"total_significant": "12"}}, {"go": {"total_significant": None}},
    {"go": {"total_significant": 101}}, {"go": {"total_significant": 1, "top_terms": None}}, {"go": {"total_significant": 2.5, "top_terms": "abcd"}},
    {"go": {"total_significant": 1, "top_terms": {}}}, {"discovered_cell_types": ["T"]}, str({"discovered_cell_types": ["T"]}),
]  # fmt: skip
ERRORS = [None, "", "ValueError: no", "ImportError: x", "ZipImportError: bad", "PermissionError", "file not found"]


def records() -> list[Record]:
    kinds = ("structured", "text", "visualization")
    return [
        Record(step=1, call_id="c", function=function, success=True, value=value, result_type=kind, summary=summary)
        for function, value, kind, summary in itertools.product(FUNCTIONS, VALUES, kinds, ("", "Success"))
    ] + [
        Record(step=1, call_id="c", function=function, success=False, value="", error=error)
        for function, error in itertools.product(FUNCTIONS, ERRORS)
    ]


def test_the_documented_store_keeps_the_values_of_the_deployed_one() -> None:
    put = build("store", "by_function").start()[1]
    for function, value, success in itertools.product(FUNCTIONS, VALUES, (True, False)):
        given = result(
            value if isinstance(value, str) else None,
            function=function,
            data=None if isinstance(value, str) else value,
            success=success,
        )
        kept = json.loads(
            outcome(lambda f=function, v=value, s=success: deployed.stored(f, v, s)).replace("raised", "null")
        )
        if kept is not None and function != "search_enrichment_semantic":  # which the document stores as text
            assert (kept["result_type"], kept["result"] or None) == (put(given).result_type, put(given).value or None)


def test_the_documented_evaluator_aborts_on_the_same_results_as_the_deployed_one() -> None:
    judge = build("evaluator", "step_v1").start()[1]
    for record in records():
        theirs = outcome(lambda record=record: deployed.evaluated(execution_mapping(record))["critical_failure"])
        assert theirs in ("raised", outcome(lambda record=record: judge(record, ())["critical_failure"]))
