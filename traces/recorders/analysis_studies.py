"""Short studies: one question each on data of its own, answered from the whole results of two cell types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bench.model import Trace

from .analysis_sessions import (
    Memory,
    Planned,
    Remark,
    Session,
    after_cells,
    after_dea,
    after_enrichment,
    leading,
    totals,
)

STUDIES = 10
"""The number of studies: enough for a difference in price to be certain."""

PAIRS = (
    ("T cell", "Monocyte"),
    ("Monocyte", "NK cell"),
    ("T cell", "NK cell"),
    ("NK cell", "B cell"),
    ("B cell", "T cell"),
)
FIRST_SEED = 20261001


def studies() -> Iterator[Trace]:
    """Every study, each on counts drawn from another seed."""
    for number in range(STUDIES):
        first, second = PAIRS[number % len(PAIRS)]
        yield _study(f"study_{number + 1:02d}", first, second, FIRST_SEED + number)


def _study(name: str, first: str, second: str, seed: int) -> Trace:
    plan = [
        Planned("process_cells", {"cell_type": "all"}),
        Planned("dea_split_by_condition", {"cell_type": first}),
        Planned("perform_enrichment_analyses", {"cell_type": first}),
        Planned("display_enrichment_barplot", {"cell_type": first, "analysis": "go"}),
        Planned("dea_split_by_condition", {"cell_type": second}),
        Planned("perform_enrichment_analyses", {"cell_type": second}),
        Planned("save_session", {"name": name}, "complete"),
    ]
    remarks: dict[int, Remark] = {
        1: after_cells,
        2: after_dea(1),
        3: after_enrichment(2, "A figure of the GO terms shows how they rank."),
        4: lambda memory, results: [f"The figure is drawn. Now the same for {second}."],
        5: after_dea(4),
        6: after_enrichment(5, "I save the session before I answer."),
    }
    question = (
        f"Compare how {first}s and {second}s respond to the treatment: leading genes, leading terms, how many terms."
    )
    return Session(name, question, plan, remarks, _answer, whole=True, seed=seed, folder="studies").trace()


def _answer(memory: Memory, results: dict[int, Any]) -> list[str]:
    """The answer: leading genes of both types, the two leading terms of two methods, totals."""
    said = []
    for tests, enrichment in ((1, 2), (4, 5)):
        found = results[tests]
        name = found["cell_type"]
        said.append(memory.sentence("In {} {} genes are significant.", name, found["total_significant"]))
        for row in (*found["upregulated"][:2], *found["downregulated"][:1]):
            said.append(memory.sentence("{} changes by {}.", row["gene"], row["log2_fold_change"]))
        said += totals(memory, results[enrichment], name)
        said += leading(memory, results[enrichment], ("go", "kegg"), 2)
    return said
