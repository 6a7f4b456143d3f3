"""Run exports of LangSmith: a tree of runs, of which the model calls, the tools and the decisions
of a graph make a trace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...model import Outcome
from .. import Confidence, Document, Traces, as_dict, certain_if, dicts, register
from ..content import first_of
from ..parts import Unread
from ..records import dict_in, filled, objects_of, text
from ..tree import Span, Tree, agent_in, as_id, in_order, inherited, span_of, traces_of
from ..usage import usage_in

_KINDS = {"llm": "call", "tool": "tool", "chain": "chain", "prompt": "", "parser": ""}


@register("reader", "langsmith")
class LangSmith:
    """One trace a root run: a list or lines of runs with `trace_id` and `parent_run_id`, runs with
    `child_runs` inside, or batches (`post`, `patch`).

    Each model call (`llm`) is read with its whole prompt, as LangChain messages, as OpenAI's or as
    a text. Tool runs give outputs, errors and times to the results. A sub-agent has a thread of its
    own. A run that returned the name of a node is a RouteDecision. Feedback is a label, its first
    score the outcome; a root run that ended in an error failed.

    Not kept: retrievals and other runs that are neither model, tool nor chain.

    Source: LangSmith documentation "Run (span) data format"
    (docs.langchain.com/langsmith/run-data-format). Tested: langsmith 0.15.0, recorded
    """

    def sniff(self, document: Document) -> Confidence:
        run = document.first
        run = next(iter(dicts(run.get("post") or run.get("patch"))), run)
        typed = isinstance(run.get("run_type"), str) and isinstance(run.get("inputs"), dict)
        own = {"dotted_order", "child_runs"}
        # Others have trace ids, too.
        placed = not run.keys().isdisjoint(own | {"trace_id"} if typed else own)
        return certain_if(typed and placed)

    def read(self, document: Document) -> Traces:
        """The file's trees in the order in which they began."""
        unread = Unread()
        runs = list(_flat(_merged(objects_of(document, unread)), ""))
        records = {as_id(run.get("id")): run for run, _ in runs}
        spans = [(run, _span(run, parent, unread)) for run, parent in runs]
        top: dict[str, str] = inherited(
            {span.id: span.parent for _, span in spans}, lambda name, above: above or name
        )
        grouped = in_order(
            (as_id(run.get("trace_id")) or top[span.id], span) for run, span in spans
        )
        trees = [
            _tree(mine, records.get(name) or records[mine[0].id], records)
            for name, mine in grouped.items()
        ]
        yield from traces_of(document, "langsmith", trees, unread)


def _tree(
    spans: list[Span], root: dict[str, Any], records: dict[str, Any]
) -> tuple[Tree, dict[str, Any]]:
    """The tree below a root run, and what the trace has beside its steps."""
    meta = filled(root, ("name", "tags", "error", "session_name"))
    labels = {"feedback": root["feedback_stats"]} if root.get("feedback_stats") else {}
    nodes = [node for span in spans if (node := _metadata(records[span.id]).get("langgraph_node"))]
    own = {"labels": labels, "meta": {**meta, "run_id": root.get("id")}, "outcome": _outcome(root)}
    return Tree(spans, nodes), own


def _merged(values: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Runs as they are, or put together from batches as clients send them: `post` begins runs,
    `patch` ends them."""
    merged: dict[str, dict[str, Any]] = {}
    for value in values:
        batch = "post" in value or "patch" in value
        for run in [*dicts(value.get("post")), *dicts(value.get("patch"))] if batch else [value]:
            name = (
                as_id(run.get("id"))
                or as_id(run.get("dotted_order")).rpartition("Z")[2]
                or str(len(merged))
            )
            merged[name] = {
                **merged.get(name, {}),
                **{key: item for key, item in run.items() if item is not None},
                "id": name,
            }
    return list(merged.values())


def _flat(runs: list[dict[str, Any]], parent: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield runs and the runs nested in them, each with the id of its parent."""
    for run in runs:
        yield run, as_id(run.get("parent_run_id")) or parent
        yield from _flat(dicts(run.get("child_runs")), as_id(run.get("id")))


def _outcome(root: dict[str, Any]) -> Outcome | None:
    if root.get("error"):
        return Outcome(success=False, said_by="LangSmith: the root run ended with an error")
    for key, score in as_dict(root.get("feedback_stats")).items():
        points: Any = as_dict(score).get("avg")
        if type(points) in (int, float):
            return Outcome(score=float(points), said_by=f"LangSmith feedback {key!r}")
    return None


def _metadata(run: dict[str, Any]) -> dict[str, Any]:
    return dict_in(run, "extra", "metadata")


def _span(run: dict[str, Any], parent: str, unread: Unread) -> Span:
    """A run of LangSmith as a run of the tree."""
    invoked = dict_in(run, "extra", "invocation_params")
    kind = text(run.get("run_type")) or ""
    error = run.get("error")
    offered = (
        first_of(invoked, ("tools", "functions"))
        if invoked
        else dict_in(run, "inputs").get("tools")
    )
    model = text(_metadata(run).get("ls_model_name")) or text(
        first_of(invoked, ("model_name", "model"))
    )
    return span_of(
        run,
        _KINDS.get(kind, kind or "unknown"),
        run.get("inputs"),
        run.get("outputs"),
        unread,
        parent=parent,
        error=None if error is None else text(error) or "",
        agent=agent_in(_metadata(run)),
        usage=usage_in(run, unread) if kind == "llm" else None,
        model=model,
        tools=offered if isinstance(offered, list) else None,
        call_id=text(dict_in(run, "extra").get("tool_call_id")) or "",
    )
