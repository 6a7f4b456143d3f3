from __future__ import annotations

from typing import Any

import msgspec
import pytest
from handmade import conversation_of, result, trace
from measured import replayed

from bench.model import ModelTurn, Record, RouteDecision
from bench.plugins.registry import build
from bench.strategies import untruncated_record
from bench.strategies.documents.document_004 import enrichment

ENRICHED = {
    "go": {"total_significant": 12, "top_terms": [f"GO {n}" for n in range(9)], "top_pvalues": [n / 100 for n in range(9)]},
    "kegg": {"total_significant": 0, "top_terms": []},
    "reactome": {"total_significant": 4, "top_terms": ["Cell Cycle"], "top_pvalues": [0.001]},
    "gsea": "not run",
}  # fmt: skip


def record(function: str = "search", value: Any = "text", **fields: Any) -> Record:
    """A record of one execution, structured where the value is."""
    kind = "structured" if isinstance(value, dict | list) else "text"
    return Record(
        **{
            "step": 7,
            "call_id": "c",
            "function": function,
            "success": True,
            "value": value,
            "result_type": kind,
            **fields,
        }
    )


def judge(given: Record | None, spec: str = "step_v1") -> dict[str, Any]:
    findings: dict[str, Any] = build("evaluator", spec).start()[1](given, ())
    return findings


# ---------------------------------------------------------------- step_v1


@pytest.mark.parametrize(
    "name", ["ImportError", "ModuleNotFoundError", "AttributeError", "FileNotFoundError", "PermissionError"]
)
def test_a_system_error_aborts(name: str) -> None:
    for error in (f"{name}: no", f"Traceback …\nbuiltins.{name}: no"):
        findings = judge(record(success=False, error=error))
        assert findings["critical_failure"] is True
        assert findings["failure_evaluation"] == {
            "error_category": "system_error",
            "error_name": name,
            "recommendation": "abort_workflow",
        }
        assert "data_quality" not in findings


def test_critical_errors_can_be_set() -> None:
    failed = record(success=False, error="ValueError: no")
    assert judge(failed, "step_v1:critical_errors=[ValueError]")["critical_failure"] is True


def test_a_text_as_long_as_the_limit_counts_as_truncated() -> None:
    long, short = judge(record(value="x" * 500)), judge(record(value="x" * 499))
    assert (long["data_completeness"], long["truncation_likely"]) == ("limited", True)
    assert (short["data_completeness"], short["truncation_likely"]) == ("full", False)


def test_enrichment_gives_structured_findings() -> None:
    findings = judge(record("perform_enrichment_analyses", ENRICHED))
    assert (findings["data_quality"], findings["data_completeness"]) == ("high_structured_access", "full")
    assert findings["enrichment_evaluation"] == {
        "pathway_counts": {"go": 12, "kegg": 0, "reactome": 4},
        "total_significant_pathways": 16,
        "successful_methods": ["GO", "REACTOME"],
        "method_count": 2,
        "data_quality": "high_structured_access",
        "top_pathways": {"GO": ["GO 0", "GO 1", "GO 2"], "REACTOME": ["Cell Cycle"]},
    }


def test_enrichment_gives_concerns_and_highlights() -> None:
    none = judge(record("perform_enrichment_analyses", {"go": {"total_significant": 0}}))["enrichment_evaluation"]
    assert (len(none["concerns"]), "highlights" in none) == (2, False)
    rich = judge(record("perform_enrichment_analyses", {"go": {"total_significant": 101}}))["enrichment_evaluation"]
    assert rich["highlights"][0] == "Rich pathway enrichment found (101 total)"
    even = judge(record("perform_enrichment_analyses", {"go": {"total_significant": 100}}))["enrichment_evaluation"]
    assert not {"highlights", "concerns"} & even.keys()


def test_enrichment_that_is_not_a_mapping_counts_as_legacy_text() -> None:
    for value in (str(ENRICHED)[:500], [1, 2]):
        findings = judge(record("perform_enrichment_analyses", value))
        assert findings["enrichment_evaluation"] == {"data_quality": "legacy_text_parsing"}


@pytest.mark.parametrize(
    ("value", "types", "status"),
    [
        ("Discovered 3 cell types: T cell, NK cell.\nmore", ["T cell", "NK cell"], "discovered"),
        ({"discovered_cell_types": ["T cell"]}, ["T cell"], "discovered"),
        (str({"discovered_cell_types": ["T cell", "NK"], "n": 3}), ["T cell", "NK"], "discovered"),
        (str({"discovered_cell_types": ["T cell", "NK"], "n": 3})[:38], ["T cell"], "discovered"),
        ("Processed 400 cells", [], "none"),
        (None, [], "none"),
    ],
)
def test_process_cells_gives_the_documented_findings(value: Any, types: list[str], status: str) -> None:
    findings = judge(record("process_cells", value))["process_cells_evaluation"]
    assert findings == {"discovery_status": status, "discovered_cell_types": types}


def test_storage_changes_findings_and_never_an_abort() -> None:
    recording = conversation_of(
        [
            result(None, index=2, function="perform_enrichment_analyses", data=ENRICHED),
            result("ImportError: no module", index=3, success=False, error="ImportError: no module"),
        ]
    )
    run = replayed(recording, "s=store=truncate+evaluator=step_v1")
    enriched, failed = run.results
    assert enriched.evaluation != enriched.evaluation_untruncated
    assert failed.evaluation == failed.evaluation_untruncated
    kept = replayed(recording, "s=store=external+evaluator=step_v1").results[0]
    assert kept.evaluation == kept.evaluation_untruncated


# ---------------------------------------------------------------- findings read back


GO = {"top_terms": [f"GO {n}" for n in range(5)], "p_values": [n / 100 for n in range(5)], "total_significant": 12}


def test_extraction_reads_a_structured_record() -> None:
    found = enrichment(record("perform_enrichment_analyses", ENRICHED))
    assert list(found) == ["go", "kegg", "reactome"]
    assert found["go"] == GO
    assert found["kegg"] == {"top_terms": [], "p_values": [], "total_significant": 0}


def test_extraction_applies_to_successful_enrichment_alone() -> None:
    assert enrichment(record("process_cells", ENRICHED)) is None
    assert enrichment(record("perform_enrichment_analyses", ENRICHED, success=False)) is None
    assert enrichment(record("perform_enrichment_analyses", [1])) == {}
    assert enrichment(record("perform_enrichment_analyses", None)) == {}


def test_extraction_reads_a_truncated_text_up_to_the_cut() -> None:
    whole = enrichment(record("perform_enrichment_analyses", str(ENRICHED)))
    assert whole["go"] == GO
    cut = enrichment(record("perform_enrichment_analyses", str(ENRICHED)[:60]))
    assert cut == {"go": {"top_terms": ["GO 0", "GO 1"], "total_significant": 12}}
    as_json = msgspec.json.encode(ENRICHED).decode()
    assert enrichment(record("perform_enrichment_analyses", as_json)) == whole


def test_extraction_reads_counts_in_prose() -> None:
    text = "Enrichment: GO: 12 terms, KEGG: 4 significant terms; Reactome 0 pathways, gsea failed"
    assert enrichment(record("perform_enrichment_analyses", text)) == {
        "reactome": {"total_significant": 0},
        "go": {"total_significant": 12},
        "kegg": {"total_significant": 4},
    }


def test_extraction_shows_what_storage_did_to_the_findings() -> None:
    recording = conversation_of([result(None, index=2, function="perform_enrichment_analyses", data=ENRICHED)])
    outcome = replayed(recording, "s=store=truncate:limit=60").results[0]
    assert set(enrichment(untruncated_record(recording.results[0])) or ()) == {"reactome", "go", "kegg"}
    assert set(enrichment(outcome.record) or ()) == {"go"}


# ---------------------------------------------------------------- routers


def route(name: str, **state: Any) -> str:
    return str(build("router", name).start()[1](state))


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({}, "complete"),
        ({"execution_history": [], "current_step_index": 0, "total_steps": 3}, "complete"),
        ({"execution_history": [1], "current_step_index": 3, "total_steps": 3}, "step_evaluate"),
        ({"execution_history": [1], "current_step_index": 4, "total_steps": 3}, "complete"),
        ({"execution_history": [1], "execution_plan": {"steps": [1, 2]}, "current_step_index": 2}, "step_evaluate"),
        ({"execution_history": [1], "execution_plan": None}, "step_evaluate"),
        ({"execution_history": [1], "execution_plan": {}, "current_step_index": 1}, "complete"),
    ],
)
def test_executor_decides_by_history_and_plan(state: dict[str, Any], expected: str) -> None:
    assert route("executor", **state) == expected


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({"last_step_evaluation": {"critical_failure": True}, "current_step_index": 9, "total_steps": 3}, "abort"),
        ({"last_step_evaluation": {"critical_failure": False}, "current_step_index": 3, "total_steps": 3}, "complete"),
        ({"last_step_evaluation": {}, "current_step_index": 2, "total_steps": 3}, "continue"),
        ({"last_step_evaluation": None, "execution_plan": {"steps": [1]}}, "continue"),
        ({}, "complete"),
    ],
)
def test_step_evaluator_decides_by_failure_and_progress(state: dict[str, Any], expected: str) -> None:
    assert route("step_evaluator", **state) == expected


def test_routers_run_on_the_strategys_own_findings() -> None:
    recording = trace(
        ModelTurn(index=0),
        result("ok", index=1),
        result("ImportError: x", index=2, success=False, error="ImportError: x"),
        result("ok", index=3),
        meta={"execution_plan": {"steps": ["a", "b", "c"]}},
    )
    run = replayed(recording, "s=evaluator=step_v1+routers=[executor,step_evaluator]")
    assert [(decision.router, decision.route) for decision in run.decisions] == [
        ("executor", "step_evaluate"),
        ("step_evaluator", "continue"),
        ("executor", "step_evaluate"),
        ("step_evaluator", "abort"),
        ("executor", "step_evaluate"),
        ("step_evaluator", "complete"),
    ]


def test_routers_decide_at_the_recorded_points_whatever_their_name() -> None:
    state = {"current_step_index": 3, "execution_plan": {"steps": ["a.cs"] * 6}}
    named = RouteDecision(index=1, at="after_evaluation", taken="continue", router="step_evaluator", state=state)
    recording = trace(result("ok", index=0), named, result("ok", index=2))
    (alone,) = replayed(recording, "s=routers=plan").decisions
    assert (alone.step, alone.detail["number"]) == (1, 3)
    decided = replayed(recording, "s=routers=[plan,step_evaluator]").decisions
    both = [(d.step, d.router, d.detail.get("number")) for d in decided]
    assert both == [(0, "plan", None), (1, "step_evaluator", None), (2, "plan", 4)]
