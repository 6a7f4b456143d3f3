"""Trees of runs as services that watch agents keep them: each run with its kind, inputs and outputs, of which model calls and tools make a trace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from ..model import Outcome, Usage, grouped
from .decoded import as_dict, strict_json
from .documents import Node
from .langchain import tool_output
from .nodes import between, first_of, moment
from .parts import Unread, arguments_of
from .prompts import Prompts
from .requests import answers_of, offered_in, prompt_of
from .steps import Ran, Said

_T = TypeVar("_T")
_PARENTS = ("parentObservationId", "parent_observation_id", "parent_run_id", "parent_id", "parent_span_id")
_STARTS = ("startTime", "start_time", "started_at")
_ENDS = ("endTime", "end_time", "ended_at")
_MARKS = ("execute_tool ", "running tool: ", "tool.", "execute_task ")
"""Beginnings of names of runs, before the name of the function."""


def inherited(parents: Mapping[str, str], told: Callable[[str, _T | None], _T]) -> dict[str, _T]:
    """Return what each member of a tree makes of its parent's value; the top makes it of None. A circle of parents is gone around once.

    >>> inherited({"b": "a", "a": "", "c": "b"}, lambda name, above: (above or "") + name)
    {'a': 'a', 'b': 'ab', 'c': 'abc'}
    """
    found: dict[str, _T] = {}
    for name in parents:
        way: dict[str, None] = {}
        while name in parents and name not in found and name not in way:
            way[name] = None
            name = parents[name]
        path = list(way)
        if name in way:  # a circle: once more around it, for what comes before a member that the way began at
            path += [*path[path.index(name) :], name]
        above = found.get(name)
        for inner in reversed(path):
            above = found[inner] = told(inner, above)
    return found


@dataclass(frozen=True)
class Observed:
    """One run of a tree. `kind` is `call`, `tool`, `chain` (it holds others, or is some function), `route` (its output is who goes on), `""` for what
    only reshapes what calls show, or the service's own word, which is counted. `agent` is whose run it is, where that is known; runs below it
    are that agent's too. `spoken` gives the prompt and the answers of a call that are not written as inputs and outputs."""

    place: Node
    id: str
    parent: str
    kind: str
    name: str
    inputs: Node
    outputs: Node
    start: float | None = None
    end: float | None = None
    error: str | None = None
    agent: str = ""
    usage: Usage | None = None
    model: str | None = None
    tools: list[Any] | None = None
    call_id: str = ""
    finish_reason: str | None = None
    spoken: Callable[[Unread], tuple[list[Said], list[Said]]] | None = None


def observed(place: Node, kind: str, inputs: Node, outputs: Node, **own: Any) -> Observed:
    """A run whose id, name, parent and times are found by whichever of their usual names it has; `own` is what the service has elsewhere."""
    name, parent = place["name"].text_or_none() or "", text_in(first_of(place, *_PARENTS))
    found: dict[str, Any] = {"id": text_in(place["id"]), "parent": parent, "name": name}
    if "start" not in own:
        found |= {"start": moment(first_of(place, *_STARTS)), "end": moment(first_of(place, *_ENDS))}
    return Observed(place=place, kind=kind, inputs=inputs, outputs=outputs, **{**found, **own})


class ObservedRun(Prompts):
    """One tree on its way to a trace. A call under a call is the same one, told by a library below, and counted; a chain that bears the name of a
    function that the model called is the run of that tool; one that gave the name of a node, or of several, decided where the graph goes."""

    def __init__(self, runs: Iterable[Observed], nodes: Iterable[Any] = ()) -> None:
        super().__init__()
        self.nodes = {*map(str, nodes), "__end__"}
        tree = sorted(runs, key=lambda run: run.start or 0.0)
        by_id = {run.id: run for run in tree}

        def held(name: str, above: tuple[str, bool] | None) -> tuple[str, bool]:
            agent, called = above or ("", False)
            return by_id[name].agent or agent, called or by_id[name].kind == "call"

        self._held = inherited({name: run.parent for name, run in by_id.items()}, held)
        told = {run.id: self._spoken(run) for run in tree if run.kind == "call" and not self._above(run)[1]}
        named = {call.name for _, answers in told.values() for answer in answers for call in answer.calls}
        tools = [run for run in tree if run.kind == "tool" or _is_function(run, named)]
        for run in tools:
            self._tool(run)
        for run in tree:
            if run.id in told:
                self._call(run, *told[run.id])
            elif run.kind == "call":
                self.unread.add("model call told a second time, by the span of a library under it")
            elif run.kind == "chain" and run not in tools:
                outputs = run.outputs.value
                self._routed(run, outputs["output"] if as_dict(outputs).keys() == {"output"} else outputs)
            elif run.kind == "route" and isinstance(run.outputs.value, str):
                self.nodes.add(run.outputs.value)
                self._routed(run, run.outputs.value)
            elif run.kind == "other":
                self.unread.add("span of another instrumentation")
            elif run.kind not in ("tool", "chain", ""):
                self.unread.kind("run" if run.spoken is None else "span", run.kind)
        self.never_shown()
        if not self.spoke and told:  # no call has an answer: what the longest prompt holds was said all the same
            self.hold(max((prompt for prompt, _ in told.values()), key=len))

    def _spoken(self, run: Observed) -> tuple[list[Said], list[Said]]:
        if run.spoken is not None:
            return run.spoken(self.unread)
        return prompt_of(run.inputs, self.unread), answers_of(run.outputs, self.unread)

    def _above(self, run: Observed) -> tuple[str, bool]:
        """The agent that a run is within, and True if a model call is around it."""
        return self._held.get(run.parent, ("", False))

    def _agent(self, run: Observed) -> str:
        return run.agent or self._above(run)[0] or "agent"

    def _routed(self, run: Observed, outputs: Any) -> None:
        """Add a RouteDecision where a run gave the name of a node, or of several: the function of a conditional edge."""
        chosen = [str(name) for name in (outputs if isinstance(outputs, list) else [outputs])]
        if chosen and isinstance(outputs, str | list) and self.nodes.issuperset(chosen):
            thread = self.steps[-1].thread if self.steps else "main"
            self.route("+".join(chosen), function_name(run.name) or None, self._agent(run), thread, run.end)

    def _call(self, run: Observed, prompt: list[Said], answers: list[Said]) -> None:
        if not answers and (run.spoken is None or run.error is not None):
            self.unread.add("model call without an answer")
            return
        captured = run.spoken is None or (answers and prompt)
        self.unread.add("model call whose messages were not captured", not captured)
        answer, *more = answers or [Said("assistant")]
        self.ask(
            prompt,
            answer,
            results=more,
            group=self._agent(run),
            tools=run.tools or (offered_in(run.inputs) if isinstance(run.inputs.value, dict) else None),
            asked=run.start,
            answered=run.end,
            usage=answer.usage or run.usage,
            model=answer.model or run.model,
            finish_reason=run.finish_reason,
        )

    def _tool(self, run: Observed) -> None:
        """Note a tool's run, by the id of its call or else by name and arguments: it is known before the call that asked for it."""
        call_id, output, failed = tool_output(run.outputs)
        inputs = as_dict(run.inputs.value).get("input", run.inputs.value)
        failed, seconds = failed or run.error is not None, between(run.start, run.end)
        ran = Ran(output=output or None, failed=failed, error=run.error or None, t=run.end, duration_s=seconds)
        if named := run.call_id or call_id:
            self.ran[named] = ran
        else:
            self.ran_unnamed(function_name(run.name), arguments_of(run.place.made(inputs)), ran)


def _is_function(run: Observed, named: set[str]) -> bool:
    return run.kind == "chain" and run.spoken is None and function_name(run.name) in named


def function_name(name: str) -> str:
    """The name of a function out of the name of its run."""
    for start in _MARKS:
        name = name.removeprefix(start)
    return name


def text_in(node: Node) -> str:
    """A value as text; `""` for null."""
    return "" if node.value is None else str(node.value)


def decoded(node: Node) -> Node:
    """A value that services keep as JSON within a text, also twice over; any other as it is."""
    for _ in range(2):
        value = strict_json(node.value) if isinstance(node.value, str) and node.value[:1] in ("{", "[", '"') else None
        if value is None:
            break
        node = node.made(value)
    return node


def trees_of(runs: Iterable[tuple[str, Observed]]) -> dict[str, list[Observed]]:
    """Runs by the tree that each is of, trees in the order in which they began."""
    return grouped(sorted(runs, key=lambda item: item[1].start or 0.0))


def scored(label: str, values: dict[str, Any], by: str) -> dict[str, Any]:
    """The scores of a run as its label, and the first number or truth value among them as its outcome, by the name of what gives scores."""
    said: dict[str, Any] = {"labels": {label: values}} if values else {}
    for name, value in values.items():
        if type(value) in (bool, int, float):
            told = {"success": value} if isinstance(value, bool) else {"score": float(value)}
            return said | {"outcome": Outcome(**told, said_by=f"{by} {name!r}")}
    return said
