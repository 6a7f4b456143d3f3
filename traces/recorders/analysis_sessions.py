"""The analysis sessions: plans in the shape of document 004, run for real, with the routes taken and the routes that must be taken.

Two harnesses are recorded. `cut` is the current system of document 004: the model is shown `str(result)[:500]`, "Success" for an empty result.
`whole` is the repaired one: the model is shown the whole result. The agent's sentences are scripted, the values in them are taken from what it was
shown: a sentence whose values it could not see is not said.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bench.model import (
    AnyStep,
    ModelTurn,
    RouteDecision,
    Source,
    SystemTurn,
    ToolCall,
    ToolResult,
    Trace,
    UserTurn,
    as_text,
)

from .analysis_functions import Analysis
from .analysis_simulation import SEED, simulate

BASE_T = 1_789_459_200.0
CUT_CHARS = 500
CRITICAL = ("ImportError", "ModuleNotFoundError", "AttributeError", "FileNotFoundError", "PermissionError")
METHODS = ("go", "kegg", "reactome", "gsea")

SYSTEM = (
    "You analyse single-cell data by calling the functions of an analysis, one planned step at a time. Report counts, terms and p-values exactly as "
    "the results give them, and say so where a result did not show you what was asked."
)


@dataclass(frozen=True)
class Planned:
    """One step of a plan, with the route that must follow it: known to whoever laid out the session, not computed by a rule."""

    function_name: str
    parameters: dict[str, Any]
    expected_route: str = "continue"


class Memory:
    """Everything the agent was shown. A value may be quoted only in a form that stands there."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def quoted(self, value: Any) -> str | None:
        """The value as it was shown: itself, or for a number its Python or its JSON form; None where it was not shown."""
        forms = [value] if isinstance(value, str) else [repr(value), as_text(value)]
        return next((form for form in forms if any(_stands_in(text, form) for text in self.texts)), None)

    def sentence(self, template: str, *values: Any) -> str:
        """The template with its values, `""` where one of them was never shown."""
        found = [self.quoted(value) for value in values]
        return "" if None in found else template.format(*found)


def _stands_in(text: str, form: str) -> bool:
    """Whether a form occurs in a text, not inside a longer word or number."""
    return re.search(rf"(?<![\w.]){re.escape(form)}(?!\w|\.\d)", text) is not None


Remark = Callable[[Memory, dict[int, Any]], list[str]]


class Session:
    """One session being recorded: executes the plan, decides the routes as document 004 does, labels what must be taken."""

    def __init__(
        self,
        name: str,
        question: str,
        plan: list[Planned],
        remarks: dict[int, Remark],
        final: Remark,
        whole: bool,
        seed: int = SEED,
        folder: str = "analysis",
    ) -> None:
        self.name, self.plan, self.remarks, self.final, self.whole = name, plan, remarks, final, whole
        self.folder = folder
        self.analysis = Analysis(simulate(seed))
        self.memory = Memory()
        self.results: dict[int, Any] = {}
        self.steps: list[AnyStep] = []
        self.expected: dict[str, str] = {}
        self._add(SystemTurn, content=SYSTEM)
        self._add(UserTurn, content=question)
        self._run()

    def _add(self, kind: Any, **values: Any) -> int:
        index = len(self.steps)
        self.steps.append(kind(index=index, t=BASE_T + 11.0 * index, **values))
        return index

    def _run(self) -> None:
        names = ", ".join(step.function_name for step in self.plan) or "nothing, the question needs no analysis"
        self._add(ModelTurn, content=f"The plan: {names}.")
        if not self.plan:
            self._route("executor", "after_result", 0, executed=False, evaluation=None, expected="complete")
        for number, step in enumerate(self.plan):
            evaluation = self._execute(number, step)
            self._route(
                "executor", "after_result", number + 1, executed=True, evaluation=None, expected="step_evaluate"
            )
            route = self._route("step_evaluator", "after_evaluation", number + 1, True, evaluation, step.expected_route)
            if route == "abort":
                break
        sentences = [sentence for sentence in self.final(self.memory, self.results) if sentence]
        self._add(ModelTurn, content=" ".join(sentences))

    def _execute(self, number: int, step: Planned) -> dict[str, Any]:
        said = self.remarks[number](self.memory, self.results) if number in self.remarks else []
        thought = " ".join(filter(None, said)) or f"Step {number + 1}."
        call = ToolCall(id=f"step_{number}", name=step.function_name, arguments=step.parameters)
        self._add(ModelTurn, content=thought, tool_calls=(call,))
        value, error, critical = None, None, False
        try:
            value = getattr(self.analysis, step.function_name)(**step.parameters)
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}"
            critical = type(raised).__name__ in CRITICAL
        self.results[number] = value
        untruncated = error or ("" if value is None else as_text(value) if self.whole else str(value))
        seen = untruncated if self.whole or error else untruncated[:CUT_CHARS] or "Success"
        self.memory.texts.append(seen)
        self._add(
            ToolResult,
            call_id=call.id,
            function=call.name,
            arguments=call.arguments,
            success=error is None,
            seen=seen,
            full=None if seen == untruncated else untruncated,
            data=None if isinstance(value, str) else value,
            error=error,
        )
        return {
            "step_index": number,
            "function_name": step.function_name,
            "success": error is None,
            "critical_failure": critical,
        }

    def _route(
        self, router: str, at: str, done: int, executed: bool, evaluation: dict[str, Any] | None, expected: str
    ) -> str:
        """Record one decision by the rules of document 004 §4.2; `done` is the step index as advanced after the execution."""
        total = len(self.plan)
        state: dict[str, Any] = {
            "current_step_index": done,
            "execution_plan": {
                "steps": [{"step_index": n, "function_name": s.function_name} for n, s in enumerate(self.plan)]
            },
        }
        if evaluation is None:
            taken = "step_evaluate" if executed and done <= total else "complete"
        else:
            state["last_step_evaluation"] = evaluation
            taken = "abort" if evaluation["critical_failure"] else "complete" if done >= total else "continue"
        index = self._add(RouteDecision, at=at, router=router, taken=taken, state=state)
        self.expected[str(index)] = expected
        return taken

    def trace(self) -> Trace:
        plan = [
            {"step_index": n, "function_name": s.function_name, "parameters": s.parameters}
            for n, s in enumerate(self.plan)
        ]
        return Trace(
            id=self.name,
            source=Source(format="native", path=f"traces/{self.folder}/{self.name}.jsonl"),
            steps=tuple(self.steps),
            labels={"routes": self.expected, **({"task": self.name} if self.folder == "studies" else {})},
            meta={
                "recorder": "traces/record_analysis.py",
                "simulated": "counts and gene sets are simulated (seeded); statistics, errors and figures are computed; the sentences are scripted",
                "shown": "the whole result" if self.whole else "str(result)[:500], 'Success' for an empty result",
                "execution_plan": {"steps": plan},
            },
        )


def after_cells(memory: Memory, results: dict[int, Any]) -> list[str]:
    lines = results[0].splitlines()
    return [
        memory.sentence("{}.", lines[1]),
        memory.sentence("The processing says: {}", lines[-2]),
        "Do the shares of the types change?",
    ]


def _after_counts(step: int, *names: str) -> Remark:
    def remark(memory: Memory, results: dict[int, Any]) -> list[str]:
        types = results[step]["cell_types"]
        said = [
            memory.sentence(
                f"{name}: {{}} of the control cells and {{}} of the treated ones, p = {{}}.",
                *types[name]["fractions"].values(),
                types[name]["p_value"],
            )
            for name in names
        ]
        return [*said, "Which genes differ?"]

    return remark


def after_dea(step: int) -> Remark:
    def remark(memory: Memory, results: dict[int, Any]) -> list[str]:
        found = results[step]
        rows = [*found["upregulated"][:2], *found["downregulated"][:2]]
        said = [memory.sentence("{} genes are significant in {}.", found["total_significant"], found["cell_type"])]
        said += [
            memory.sentence(
                "{} changes by {} (adjusted p = {}).", r["gene"], r["log2_fold_change"], r["adjusted_p_value"]
            )
            for r in rows
        ]
        return [*said, "What are they enriched for?"]

    return remark


def after_enrichment(step: int, question: str) -> Remark:
    def remark(memory: Memory, results: dict[int, Any]) -> list[str]:
        return [*leading(memory, results[step], ("go", "gsea"), 2), question]

    return remark


def leading(memory: Memory, result: dict[str, Any], methods: tuple[str, ...], terms: int) -> list[str]:
    return [
        memory.sentence(
            f"{method.upper()}: {{}} (p = {{}}).",
            result[method]["top_terms"][rank],
            result[method]["top_pvalues"][rank],
        )
        for method in methods
        for rank in range(terms)
    ]


def totals(memory: Memory, result: dict[str, Any], cell_type: str) -> list[str]:
    """The number of significant terms per method, where the key and its value were shown together."""
    said = []
    for method in METHODS:
        count, keyed = result[method]["total_significant"], memory.texts
        shown = any(as_text(result[method]) in text or str(result[method]) in text for text in keyed)
        said.append(
            f"{cell_type}, {method.upper()}: {count} significant terms."
            if shown
            else f"{cell_type}, {method.upper()}: the result I was shown ends before the total."
        )
    return said


def _after_error(memory: Memory, results: dict[int, Any]) -> list[str]:
    return [
        f"The step failed ({memory.texts[-1].split(' under ')[0]}), which concerns one type only, so I go on.",
        "Which terms speak of antiviral signalling?",
    ]


def _after_search(memory: Memory, results: dict[int, Any]) -> list[str]:
    lines = results[8].splitlines()
    return [
        memory.sentence("{}", lines[0]),
        memory.sentence("Best: {}.", lines[1]),
        "A figure of the leading genes comes next.",
    ]


def _final_completed(memory: Memory, results: dict[int, Any]) -> list[str]:
    cells = results[0].splitlines()[2:6]
    said = ["Answer:", *(memory.sentence("{};", line.split(", median")[0].removeprefix("- ")) for line in cells)]
    for dea, enrichment in ((2, 3), (5, 6)):
        found, name = results[dea], results[dea]["cell_type"]
        said.append(memory.sentence("in {} {} genes are significant,", name, found["total_significant"]))
        for row in (
            found["upregulated"][0],
            found["upregulated"][9],
            found["downregulated"][0],
            found["downregulated"][7],
        ):
            said.append(memory.sentence("{} by {},", row["gene"], row["log2_fold_change"]))
        said += totals(memory, results[enrichment], name)
        said += leading(memory, results[enrichment], METHODS, 3)
    return [*said, "The type 'Plasma cell' could not be tested because no such cells were found."]


def _final_aborted(memory: Memory, results: dict[int, Any]) -> list[str]:
    return [
        f"The analysis was stopped: {memory.texts[-1]}.",
        memory.sentence(
            "Until then {} genes were found significant in {}.",
            results[1]["total_significant"],
            results[1]["cell_type"],
        ),
        memory.sentence(
            "The leading gene is {} with {}.",
            results[1]["upregulated"][0]["gene"],
            results[1]["upregulated"][0]["log2_fold_change"],
        ),
        *totals(memory, results[2], "NK cell"),
        *leading(memory, results[2], ("go",), 2),
    ]


QUESTION = (
    "How do the cells respond to the treatment: which types change in number, "
    "which genes and which processes respond in T cells and monocytes?"
)
COMPLETED = [
    Planned("process_cells", {"cell_type": "all"}),
    Planned("compare_cell_counts", {"cell_types": ["T cell", "B cell", "NK cell", "Monocyte"]}),
    Planned("dea_split_by_condition", {"cell_type": "T cell"}),
    Planned("perform_enrichment_analyses", {"cell_type": "T cell"}),
    Planned("display_enrichment_barplot", {"cell_type": "T cell", "analysis": "go"}),
    Planned("dea_split_by_condition", {"cell_type": "Monocyte"}),
    Planned("perform_enrichment_analyses", {"cell_type": "Monocyte"}),
    Planned("dea_split_by_condition", {"cell_type": "Plasma cell"}, "continue"),
    Planned("search_enrichment_semantic", {"query": "antiviral interferon signalling"}),
    Planned("display_dotplot", {"genes": ["SG0009", "SG0015", "SG0029", "SG0039", "SG0061", "SG0096"]}),
    Planned("save_session", {"name": "treatment-response"}, "complete"),
]
ABORTED = [
    Planned("process_cells", {"cell_type": "all"}),
    Planned("dea_split_by_condition", {"cell_type": "NK cell"}),
    Planned("perform_enrichment_analyses", {"cell_type": "NK cell"}),
    Planned("dea_split_by_condition", {"cell_type": "B cell"}),
    Planned("perform_enrichment_analyses", {"cell_type": "B cell"}),
    Planned("display_umap", {"cell_type": "NK cell"}, "abort"),
    Planned("display_enrichment_barplot", {"cell_type": "NK cell", "analysis": "go"}),
    Planned("save_session", {"name": "nk-response"}, "complete"),
]


def completed(whole: bool) -> Trace:
    """The long session, on whole results (`completed`) or on cut ones (`completed_cut`): the same plan and the same values."""
    remarks: dict[int, Remark] = {
        1: after_cells,
        2: _after_counts(1, "T cell", "Monocyte"),
        3: after_dea(2),
        4: after_enrichment(3, "A figure of the GO terms shows how they rank."),
        5: lambda memory, results: ["The figure is drawn. Monocytes next."],
        6: after_dea(5),
        7: after_enrichment(6, "Are there plasma cells that respond as well?"),
        8: _after_error,
        9: _after_search,
        10: lambda memory, results: [memory.sentence("The figure shows {}.", "SG0061 T cell"), "I save the session."],
    }
    name = "completed" if whole else "completed_cut"
    return Session(name, QUESTION, COMPLETED, remarks, _final_completed, whole).trace()


def aborted() -> Trace:
    """A session that meets a module that is not installed and is stopped, on cut results."""
    remarks: dict[int, Remark] = {
        1: after_cells,
        2: after_dea(1),
        3: after_enrichment(2, "B cells next, as a control."),
        4: lambda memory, results: [
            memory.sentence(
                "{} of {} tested genes are significant in B cells.",
                results[3]["total_significant"],
                results[3]["tested_genes"],
            )
        ],
        5: after_enrichment(4, "An embedding would show where the responding cells lie."),
    }
    return Session(
        "aborted", "Do NK cells and B cells respond to the treatment?", ABORTED, remarks, _final_aborted, whole=False
    ).trace()


def empty_plan() -> Trace:
    """A question that needs no analysis: nothing is executed, so the executor completes at once."""

    def final(memory: Memory, results: dict[int, Any]) -> list[str]:
        return ["Differential expression compares the mean of a gene between two conditions within one cell type."]

    return Session("empty_plan", "What does differential expression mean?", [], {}, final, whole=False).trace()
