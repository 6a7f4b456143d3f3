from __future__ import annotations

from typing import Any

import pytest
from handmade import SMALL, compose, conversation_of, prompts_of, result
from hypothesis import given, strategies as st
from measured import replayed, replayed_or_failed

from bench.model import Record, ToolResult
from bench.plugins.registry import build
from bench.strategies.offloading import offloaded_to

ENRICHED = {
    "reactome": {"total_significant": 3},
    "kegg": {"total_significant": 4, "top_terms": ["Cell cycle"]},
    "go": {"total_significant": 12},
    "note": "ranked by p-value",
}


def stored_record(spec: str, given: ToolResult) -> Record:
    """The record in which a store keeps a result."""
    record = build("store", spec).start()[1](given)
    assert isinstance(record, Record)
    return record


def result_of(function: str, value: Any, **fields: Any) -> ToolResult:
    """The result of one function: text, or data."""
    return result(value if isinstance(value, str) else None, function=function,
                  data=None if isinstance(value, str) else value, **fields)  # fmt: skip


def test_truncate_stores_the_start_of_the_value_as_text() -> None:
    record = stored_record("truncate", result_of("perform_enrichment_analyses", {"a": "x" * 600}))
    assert (record.value, record.result_type) == (str({"a": "x" * 600})[:500], "text")
    assert stored_record("truncate", result_of("f", "")).value == "Success"
    assert stored_record("truncate:limit=3", result_of("f", "abcdef")).value == "abc"


@pytest.mark.parametrize(
    ("function", "value", "summary"),
    [
        ("perform_enrichment_analyses", ENRICHED, "Enrichment: GO: 12 terms, KEGG: 4 terms, REACTOME: 3 terms"),
        ("perform_enrichment_analyses", {"go": {}, "gsea": None}, "Enrichment: GO: 0 terms, GSEA: 0 terms"),
        ("perform_enrichment_analyses", "GO: 12 terms", "GO: 12 terms"),
        ("dea_split_by_condition", {"upregulated": ["CD3E"]}, "DEA: Analysis completed"),
        ("process_cells", "Three types DISCOVERED", "Process cells: Discovery completed"),
        ("process_cells", {"discovered": 3}, "Process cells: {'discovered': 3}"),
        ("process_cells", "a" * 200, "Process cells: " + "a" * 100),
        ("compare_cell_counts", ["b" * 200], "['" + "b" * 98),
        ("compare_cell_counts", {}, "Success"),
    ],
)
def test_by_function_keeps_structure_with_a_summary(function: str, value: Any, summary: str) -> None:
    record = stored_record("by_function", result_of(function, value))
    assert (record.value, record.result_type, record.summary) == (value, "structured", summary)


def test_by_function_keeps_visualizations_and_gives_them_a_summary() -> None:
    html = "<div>" + "x" * 700 + "</div>"
    record = stored_record("by_function", result_of("display_umap", html))
    assert (record.value, record.result_type) == (html, "visualization")
    assert record.summary == "Visualization generated: display_umap"


@pytest.mark.parametrize("function", ["perform_enrichment_analyses", "display_umap", "search_web"])
def test_by_function_cuts_failures_and_other_functions(function: str) -> None:
    success = function == "search_web"
    record = stored_record(
        "by_function", result_of(function, "e" * 700, success=success, error=None if success else "ValueError: no")
    )
    assert (record.value, record.result_type, record.summary) == ("e" * 500, "text", "e" * 100)
    assert record.error == (None if success else "ValueError: no")
    assert stored_record("by_function", result_of(function, "", success=success)).value == (
        "" if function == "display_umap" and success else "Success"
    )


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def same(left: Any, right: Any) -> bool:
    """Equal, type by type: NaN is NaN, 1 is not 1.0, -0.0 is not 0.0."""
    return repr(left) == repr(right)


@given(st.lists(VALUES, max_size=5))
def test_external_returns_the_stored_values_unchanged(values: list[Any]) -> None:
    _, keep = build("store", "external").start()
    results = [result(None, data=value) for value in values]
    kept: dict[str, Any] = {}
    with offloaded_to(kept.__setitem__):
        records = [keep(item) for item in results]
    assert all(same(kept[record.handle], item.value) for record, item in zip(records, results, strict=True))
    handles = {record.handle for record in records}
    assert len(handles) == len({repr(item.value) for item in results})


def test_external_shows_a_handle_and_a_preview() -> None:
    record = stored_record("external", result_of("f", "y" * 12345))
    assert record.value == f"[stored as {record.handle}: 12345 characters] " + "y" * 200
    assert str(record.handle).startswith("mem://")
    assert stored_record("external", result_of("f", "")).value.endswith(": 0 characters]")
    assert stored_record("external:preview_chars=0", result_of("f", "abc")).value.endswith(": 3 characters]")


def test_the_stored_value_is_shown_without_a_summary() -> None:
    recording = conversation_of([result("abc", index=2)])
    assert prompts_of(replayed(recording, "s=store=truncate:limit=2"))[0][-1].text == "ab"
    run = replayed(recording, "s=store=external")
    assert prompts_of(run)[0][-1].text == run.results[0].record.value
    assert run.results[0].stored == "abc"


@pytest.mark.parametrize("store", ["full", "truncate", "by_function", "external"])
def test_every_record_has_a_summary(store: str) -> None:
    for recording in SMALL.values():
        for outcome in replayed(recording, f"s=store={store}").results:
            assert outcome.record.summary, (recording.results, outcome)


# ---------------------------------------------------------------- a store that describes a record


@pytest.mark.parametrize("other", [{"result_type": "rows"}, {"result_summary": None}])
def test_any_other_mapping_is_the_value_itself(other: dict[str, Any]) -> None:
    kept = {"result_type": "text", "result": 1, "result_summary": "one", **other}
    run = replayed_or_failed(conversation_of([result("a", index=2)]), compose("s", {"store": lambda raw: kept}))
    assert run.results[0].record.value == kept
