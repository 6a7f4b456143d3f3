"""The intake of spans: the model calls and tools in a tree of spans become a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from ...model import Usage, grouped
from ..steps import ReadMessage, ToolRun
from ..values import Fields, Unread, as_dict, as_id, first_of, from_json_text, start_and_end, text
from .exchange import answers_of, prompt_of, tools_in
from .messages import is_langchain, is_message, unwrapped
from .prompts import Prompts

_T = TypeVar("_T")
_PARENTS = ("parentObservationId", "parent_observation_id", "parent_run_id", "parent_id",
            "parent_span_id")  # fmt: skip
_PREFIXES = ("execute_tool ", "running tool: ", "tool.", "execute_task ", "ai.toolCall ")
"""What instrumentations write before the name of the function in the name of a span."""


def inherited(
    parents: Mapping[str, str], value_of: Callable[[str, _T | None], _T]
) -> dict[str, _T]:
    """A value for each member of a tree, `value_of(member, value of its parent)`. The parent's
    value is None at the top, and where the parents form a circle.

    >>> inherited({"b": "a", "a": "", "c": "b"}, lambda name, above: (above or "") + name)
    {'a': 'a', 'b': 'ab', 'c': 'abc'}
    >>> inherited({"a": "b", "b": "a"}, lambda name, above: (above or "") + name)
    {'b': 'b', 'a': 'ba'}
    """
    values: dict[str, _T] = {}
    for name in parents:
        path: dict[str, None] = {}
        while name in parents and name not in values and name not in path:
            path[name] = None
            name = parents[name]
        for inner in reversed(path):
            values[inner] = value_of(inner, values.get(parents[inner]))
    return values


@dataclass(frozen=True)
class Span:
    """One run of a tree. `kind` is `call`, `tool`, `chain` (it contains others, or is some
    function), `""` for a step that only reshapes the data of calls, or the service's own word,
    which is counted. `agent` is the agent of the run and of the runs below it, where known; `node`
    the graph node around it. The inputs of a call are a request, its outputs a response, in the
    format of any interface; both are None where its messages were not recorded."""

    id: str
    parent: str
    name: str
    kind: str = ""
    inputs: Any = None
    outputs: Any = None
    start: float | None = None
    end: float | None = None
    error: str | None = None
    agent: str = ""
    node: str = ""
    usage: Usage | None = None
    model: str | None = None
    tools: list[Any] | None = None
    call_id: str = ""


def span_of(
    record: Fields, kind: str, inputs: Any, outputs: Any, unread: Unread, **others: Any
) -> Span:
    """A span whose record has the usual names of id, parent, name and times; `others` are its other
    fields."""
    start, end = start_and_end(record, unread)
    common: Fields = {
        "id": as_id(record.get("id")),
        "parent": as_id(first_of(record, _PARENTS)),
        "name": text(record.get("name")) or "",
        "start": start,
        "end": end,
    }
    return Span(kind=kind, inputs=inputs, outputs=outputs, **{**common, **others})


class Tree(Prompts):
    """The steps of one tree. A call inside another is the same call, recorded by another library:
    the outermost with messages is read, others are counted. A chain with the name of a function
    that the model called is the run of that tool. A chain whose output is the name of a node, or of
    several, is a routing decision."""

    def __init__(self, tree: list[Span]) -> None:
        super().__init__()
        self.nodes = {span.node for span in tree if span.node} | {"__end__"}
        parents = {span.id: span.parent for span in tree}
        agents = {span.id: span.agent for span in tree}
        self._agents: dict[str, str]
        self._agents = inherited(parents, lambda own, above: agents[own] or above or "")
        read = _read_calls(tree, parents)
        calls = {span.id: answers_of(span.outputs, self.unread) for span in read}
        turns = [turn for answers in calls.values() for turn in answers]
        called = {call.name for turn in turns for call in turn.calls}
        named = [span for span in tree if function_name(span.name) in called]
        tools = {span.id for span in named if span.kind == "chain"}
        tools |= {span.id for span in tree if span.kind == "tool"}
        for span in tree:  # tools first, so that their runs are known when the calls are added
            if span.id in tools:
                self._note_tool(span)
        for span in tree:
            if span.id in calls:
                self._call(span, calls[span.id])
            elif span.id not in tools:
                self._other(span)
        self.add_unseen_results()

    def _other(self, span: Span) -> None:
        if span.kind == "call":
            self.unread.add("model call recorded a second time, or without messages")
        elif span.kind == "chain":
            only = as_dict(span.outputs).keys() == {"output"}
            self._route(span, span.outputs["output"] if only else span.outputs)
        elif span.kind == "other":
            self.unread.add("span of another instrumentation")
        elif span.kind:
            self.unread.kind("span", span.kind)

    def _route(self, span: Span, output: Any) -> None:
        """Add a decision if the output names a node, or several, as a conditional edge's does."""
        chosen = [str(name) for name in (output if isinstance(output, list) else [output])]
        if chosen and isinstance(output, str | list) and self.nodes.issuperset(chosen):
            self.time = span.end
            self.add_decision("+".join(chosen), function_name(span.name) or None)

    def _call(self, span: Span, answers: list[ReadMessage]) -> None:
        if not answers and (span.error is not None or span.outputs is not None):
            self.unread.add("model call without an answer")
            return
        prompt = prompt_of([span.inputs] if is_message(span.inputs) else span.inputs, self.unread)
        lost = not answers or span.inputs is None
        self.unread.add("model call whose messages were not captured", lost)
        unknown = not prompt and span.inputs not in (None, "", {}, [])
        self.unread.add("model call whose prompt is of no form that is read", unknown)
        answer, *more = answers or [ReadMessage("assistant")]
        usage, model = answer.usage or span.usage, answer.model or span.model
        self.add_model_call(
            prompt,
            answer.with_known(usage=usage, model=model),
            results=more,
            group=span.agent or self._agents.get(span.parent) or "agent",
            tools=span.tools or tools_in(span.inputs),
            asked=span.start,
            answered=span.end,
        )

    def _note_tool(self, span: Span) -> None:
        call_id, output, failed = tool_output(span.outputs)
        ran = ToolRun(
            output=output or None,
            failed=failed or span.error is not None,
            error=span.error or None,
            time=span.end,
        )
        if call_id := span.call_id or call_id:
            self.ran[call_id] = ran
        else:
            given = from_json_text(as_dict(span.inputs).get("input", span.inputs))
            self.note_unnamed_run(function_name(span.name), given, ran)


def _read_calls(tree: list[Span], parents: dict[str, str]) -> list[Span]:
    """The outermost of nested model calls with messages; if none has any, the outermost."""
    calls = [span for span in tree if span.kind == "call"]
    full = [span for span in calls if span.inputs is not None or span.outputs is not None] or calls
    names = {span.id for span in full}
    inside: dict[str, bool] = inherited(parents, lambda own, above: above is True or own in names)
    return [span for span in full if not inside.get(span.parent)]


def function_name(name: str) -> str:
    """The name of a function from the name of its run."""
    for start in _PREFIXES:
        name = name.removeprefix(start)
    return name


def tool_output(output: Any) -> tuple[str, Any, bool]:
    """The id of a tool's call (`""` if not recorded), its output, and True if it failed; from
    `{output: …}` or a message."""
    while isinstance(output, dict) and "output" in output and output.keys() <= {"output", "kwargs"}:
        output = output["output"]
    if not is_langchain(output):
        return "", output, False
    _, fields = unwrapped(output)
    call_id, failed = text(fields.get("tool_call_id")) or "", fields.get("status") == "error"
    return call_id, first_of(fields, ("artifact", "content")), failed


def langchain_in(metadata: Mapping[str, Any]) -> dict[str, str]:
    """The agent and the node of a run in LangChain's metadata, `""` where not recorded. The agent
    is a nested graph, or one of LangChain's named agents."""
    space = str(metadata.get("langgraph_checkpoint_ns") or metadata.get("checkpoint_ns") or "")
    nested = space.split("|")[-2].split(":")[0] if "|" in space else ""
    agent, node = nested or metadata.get("lc_agent_name"), metadata.get("langgraph_node")
    return {"agent": str(agent or ""), "node": str(node or "")}


def trees_of(spans: Iterable[tuple[str, Span]]) -> list[Tree]:
    """The runs of a file in order of start, from its spans, each with the name of its tree."""
    in_order = sorted(spans, key=lambda named: named[1].start or 0.0)
    return list(map(Tree, grouped(in_order).values()))
