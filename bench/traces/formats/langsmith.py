"""Run exports of LangSmith: a tree of runs, of which the model calls, the tools and the decisions of a graph make a trace."""

from __future__ import annotations

from collections.abc import Iterator

from ...model import Outcome
from .. import Confidence, Document, Keeps, Near, Node, Traces, as_dict, by_marks, dicts, register, values_of
from ..langchain import agent_of
from ..nodes import at, first_of, inside, members, only_text, picked
from ..observed import Observed, ObservedRun, inherited, observed, text_in, trees_of
from ..parts import usage_of

_KINDS = {"llm": "call", "tool": "tool", "chain": "chain", "prompt": "", "parser": ""}


@register("reader", "langsmith")
class LangSmith:
    """One trace a root run: a list or lines of runs with `trace_id` and `parent_run_id`, runs with `child_runs` inside, or batches (`post`, `patch`).

    Each model call (`llm`) is read with its whole prompt, as LangChain messages, as OpenAI's or as a text. Tool runs give outputs, errors
    and times to the results, by the id of the call or by name and arguments. A sub-agent (a nested checkpoint namespace, or `lc_agent_name`)
    has a thread of its own. A run that returned the name of a node, as the functions of conditional edges do, is a RouteDecision. Feedback
    is a label, its first score the outcome; a root run that ended in an error failed.

    Source: LangSmith documentation "Run (span) data format" (docs.langchain.com/langsmith/run-data-format)
    """

    keeps = Keeps(
        results="untruncated",
        also=("usage", "times", "errors", "outcome", "labels", "routes", "reasoning", "threads", "tools", "model"),
        never="retrievals and other runs that are neither model, tool nor chain",
        tested="langsmith 0.15.0, recorded",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        run = document.first
        run = next(iter(dicts(run.get("post") or run.get("patch"))), run)
        typed = isinstance(run.get("run_type"), str) and isinstance(run.get("inputs"), dict)
        own = {"dotted_order", "child_runs"}
        placed = not run.keys().isdisjoint(own | {"trace_id"} if typed else own)  # others have trace ids, too
        return by_marks({"a 'run_type' and 'inputs'": typed, "'trace_id', 'dotted_order' or 'child_runs'": placed})

    def read(self, document: Document) -> Traces:
        """The file's trees in the order in which they began."""
        runs = [_observed(run, parent) for run, parent in _flat(_merged(values_of(document)), "")]
        top: dict[str, str] = inherited({run.id: run.parent for run in runs}, lambda name, above: above or name)
        for name, tree in trees_of((text_in(run.place["trace_id"]) or top[run.id], run) for run in runs).items():
            root = next((run for run in tree if run.id == name), tree[0]).place
            meta = {**picked(root, "name", "tags", "error", "session_name"), "run_id": root["id"].value}
            labels = {"feedback": root["feedback_stats"].value} if root["feedback_stats"].value else {}
            nodes = [node for run in tree if (node := inside(run.place, "extra", "metadata", "langgraph_node").value)]
            run = ObservedRun(tree, nodes)
            yield run.trace(document, "langsmith", root, labels=labels, meta=meta, outcome=_outcome(root))


def _merged(values: list[Node]) -> list[Node]:
    """Runs as they are, or put together from batches as clients send them: `post` begins runs, `patch` ends them."""
    found: dict[str, Node] = {}
    for value in values:
        batch = value.has("post") or value.has("patch")
        for run in [*value["post"].items(), *value["patch"].items()] if batch else [value]:
            name = text_in(run["id"]) or text_in(run["dotted_order"]).rpartition("Z")[2] or str(len(found))
            known = {} if name not in found else found[name].value
            news = {key: item for key, item in run.object().items() if item is not None}
            found[name] = run.made({**known, **news, "id": name}) if known or not run.has("id") else run
    return list(found.values())


def _flat(runs: list[Node], parent: str) -> Iterator[tuple[Node, str]]:
    for run in runs:
        yield run, text_in(run["parent_run_id"]) or parent
        yield from _flat(run["child_runs"].items(), text_in(run["id"]))


def _outcome(root: Node) -> Outcome | None:
    scores = members(root["feedback_stats"])
    points = [(key, at(score, "avg").seconds()) for key, score in scores if isinstance(score.value, dict)]
    if root["error"].value:
        return Outcome(success=False, said_by="LangSmith: the root run ended with an error")
    told = (Outcome(score=score, said_by=f"LangSmith feedback {key!r}") for key, score in points if score is not None)
    return next(told, None)


def _observed(run: Node, parent: str) -> Observed:
    invoked, error, kind = inside(run, "extra", "invocation_params"), run["error"], run["run_type"].text()
    known = isinstance(invoked.value, dict)
    offered = first_of(invoked, "tools", "functions") if known else inside(run, "inputs", "tools")
    model = only_text(inside(run, "extra", "metadata", "ls_model_name"))
    return observed(
        run,
        _KINDS.get(kind, kind),
        run["inputs"],
        run["outputs"],
        parent=parent,
        error=None if error.value is None else only_text(error) or "",
        agent=agent_of(as_dict(inside(run, "extra", "metadata").value)),
        usage=usage_of(run),
        model=model or (only_text(first_of(invoked, "model_name", "model")) if known else None),
        tools=[tool.value for tool in offered.items()] if isinstance(offered.value, list) else None,
        call_id=only_text(inside(run, "extra", "tool_call_id")) or "",
    )
