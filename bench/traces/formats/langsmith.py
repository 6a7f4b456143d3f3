"""Run exports of LangSmith: a tree of runs, of which the model calls, the tools and the decisions
of a graph make a trace."""

from __future__ import annotations

from collections.abc import Iterator

from .. import Document, Fields, register
from ..intakes.tree import Span, Tree, inherited, langchain_in, span_of, trees_of
from ..intakes.usage import usage_in
from ..values import Unread, as_dict, as_id, dicts, first_of, text
from . import Format

_KINDS = {"llm": "call", "tool": "tool", "chain": "chain", "prompt": "", "parser": ""}


@register("reader", "langsmith")
class LangSmith(Format):
    """One trace per root run: a list or lines of runs with `trace_id` and `parent_run_id`, runs
    with `child_runs` inside, or batches (`post`, `patch`).

    Each model call (`llm`) is read with its whole prompt, as LangChain messages, as OpenAI's or as
    a text. Tool runs give outputs, errors and times to the results. A sub-agent has a thread of its
    own. A run that returned the name of a node is a RouteDecision.

    Not kept: retrievals and other runs that are neither model, tool nor chain.

    Source: LangSmith documentation "Run (span) data format"
    (docs.langchain.com/langsmith/run-data-format). Tested: langsmith 0.15.0, recorded
    """

    def marked(self, document: Document) -> object:
        run = document.first
        run = next(iter(dicts(run.get("post") or run.get("patch"))), run)
        typed = isinstance(run.get("run_type"), str) and isinstance(run.get("inputs"), dict)
        return typed and run.keys() & {"dotted_order", "child_runs", "trace_id"}

    def runs(self, document: Document, unread: Unread) -> list[Tree]:
        runs = list(_flat(_merged_runs(document.objects(unread)), ""))
        records = {as_id(run.get("id")): run for run, _ in runs}
        spans = [_span(run, parent, unread) for run, parent in runs]
        parents = {span.id: span.parent for span in spans}
        top: dict[str, str] = inherited(parents, lambda name, above: above or name)
        named = [(as_id(records[span.id].get("trace_id")) or top[span.id], span) for span in spans]
        return trees_of(named)


def _merged_runs(values: list[Fields]) -> list[Fields]:
    merged: dict[str, Fields] = {}
    for value in values:
        batch = [*dicts(value.get("post")), *dicts(value.get("patch"))]
        for run in batch or [value]:
            ordered = as_id(run.get("dotted_order")).rpartition("Z")[2]
            name = as_id(run.get("id")) or ordered or str(len(merged))
            known = {key: item for key, item in run.items() if item is not None}
            merged[name] = merged.get(name, {}) | known | {"id": name}
    return list(merged.values())


def _flat(runs: list[Fields], parent: str) -> Iterator[tuple[Fields, str]]:
    for run in runs:
        yield run, as_id(run.get("parent_run_id")) or parent
        yield from _flat(dicts(run.get("child_runs")), as_id(run.get("id")))


def _span(run: Fields, parent: str, unread: Unread) -> Span:
    invoked, metadata = (as_dict(run, "extra", key) for key in ("invocation_params", "metadata"))
    kind, error = text(run.get("run_type")) or "", run.get("error")
    offered = first_of(invoked or as_dict(run, "inputs"), ("tools", "functions"))
    model = text(first_of(invoked, ("model_name", "model")))
    return span_of(
        run,
        _KINDS.get(kind, kind or "unknown"),
        run.get("inputs"),
        run.get("outputs"),
        unread,
        parent=parent,
        error=None if error is None else text(error) or "",
        usage=usage_in(run, unread) if kind == "llm" else None,
        model=text(metadata.get("ls_model_name")) or model,
        tools=offered if isinstance(offered, list) else None,
        call_id=text(as_dict(run, "extra").get("tool_call_id")) or "",
        **langchain_in(metadata),
    )
