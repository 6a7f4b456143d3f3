"""Evaluation and extraction judged apart, and the evaluation log: by hand, on one result that 500 characters do not hold."""

from __future__ import annotations

import bench
from bench.model import ModelTurn, Source, ToolResult, Trace
from bench.reports import build_blocks, rendered
from bench.reports.blocks import Prose

RESULT = {
    "go": {"top_terms": [f"term {n} of a long name" for n in range(40)], "total_significant": 40},
    "kegg": {"total_significant": 47},
}
TRACE = Trace(
    id="t",
    source=Source(format="native"),
    steps=(
        ToolResult(index=0, call_id="a", function="perform_enrichment_analyses", data=RESULT),
        ToolResult(
            index=1, call_id="b", function="search", seen="nothing", success=False, error="ImportError: no scanpy"
        ),
        ModelTurn(index=2, content="47"),
    ),
)


def value(strategy: str, metric: str) -> float | None:
    found = bench.compare([TRACE], [strategy]).row("s", metric)
    assert found is not None
    return found.value


def test_what_is_cut_is_extracted_and_judged_otherwise():
    # Of two results the cut one is judged otherwise; the failure is judged by its error alone. Only the first is extracted from.
    cut = "s=store=truncate+evaluator=step_v1"
    assert value(cut, "findings.evaluation_agreement") == 0.5
    assert value(cut, "findings.extraction_agreement") == 0.0
    assert value("s=store=full+evaluator=step_v1", "findings.evaluation_agreement") == 1.0
    assert value("s=store=full+evaluator=step_v1", "findings.extraction_agreement") == 1.0


def test_without_an_evaluator_nothing_is_judged():
    assert value("s=store=truncate", "findings.evaluation_agreement") is None


def test_the_evaluation_log_says_each_step_and_its_conclusion():
    compared = bench.compare([TRACE], ["s=store=full+evaluator=step_v1"])
    text = rendered([compared], "text", ["judgements"])
    assert "2 steps evaluated" in text
    assert "critical failure" in text
    assert "perform_enrichment_analyses" in text


def test_a_strategy_without_evaluator_has_no_log():
    compared = bench.compare([TRACE], ["s=store=full"])
    (panel,) = build_blocks(compared, ["judgements"])
    assert [block.text for block in panel.blocks if isinstance(block, Prose)] == [
        "None: 1 judgement came out as from untruncated records."
    ]


def test_where_nothing_is_concluded_the_report_says_so():
    quiet = Trace(id="t", source=Source(format="native"), steps=(ModelTurn(index=0, content="47"),))
    (panel,) = build_blocks(bench.compare([quiet], ["s=store=truncate+evaluator=step_v1"]), ["judgements"])
    assert panel.blocks == ()
