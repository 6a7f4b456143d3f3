"""Router `langgraph`: follows the edges of a compiled LangGraph graph along the recorded nodes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from ...model import RouteDecision
from ...model.errors import SpecError, StrategyError
from ...plugins.registry import OBJECT, OfKind, register
from .. import RECORDED
from ..user_code.libraries import LangChainMessages

START, NAME = "__start__", "langgraph"


@register("router", NAME, at=RECORDED)
class LangGraphRouter:
    """The routes of a compiled `StateGraph` from each recorded node, on the strategy's state.

    `graph` is `file.py:name` of the graph, or of a function that compiles it. No node runs. A plain
    edge is followed; at a conditional edge the graph's own function decides, given the recorded
    state with the strategy's records and the prompt as LangChain's `messages`. The recorded path is
    followed whatever they decide. A decision whose router is a node of the graph is answered with
    the edge's label, a decision of a LangGraph trace with the next node's name (`a+b` for several).
    Other decisions are not answered.

    Source: LangGraph reference, `langgraph.graph.StateGraph.add_conditional_edges`

    >>> from bench.plugins.registry import build
    >>> build("router", "langgraph:graph=no_agent")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    bench.model.errors.SpecError: module 'no_agent' cannot be imported: ModuleNotFoundError: ...
    """

    def __init__(self, *, graph: Annotated[Any, OfKind(OBJECT)]) -> None:
        given = graph.target
        compiled = given() if callable(given) else given
        if not hasattr(compiled, "builder"):
            what = f"{graph.spec}: is no compiled StateGraph"
            raise SpecError(f"{what} — name what .compile() gave, or a function that gives it")
        self.graph = compiled.builder

    def decide(self, state: Mapping[str, Any]) -> str | tuple[str, dict[str, Any]] | None:
        """The edge's label or the next nodes; None for a decision that is not this graph's."""
        step = state.get("step")
        if not isinstance(step, RouteDecision):
            return None
        labelled = step.router in self.graph.nodes
        if not labelled and step.router not in (None, NAME):
            return None
        node = step.router if labelled else self._node(state.get("recorded_route"))
        if node is None:
            return None
        routes = list(self._ways(node, state))
        if not routes:
            return None
        names = [label if labelled else way for label, way in routes]
        return "+".join(sorted(names)), {"node": node}

    def _node(self, route: str | None) -> str | None:
        """The node that the previous recorded route led to; None for several nodes and for another
        graph."""
        went = (
            [START]
            if route is None
            else [name for name in route.split("+") if name in self.graph.nodes]
        )
        return went[0] if len(went) == 1 else None

    def _ways(self, node: str, state: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield (label, next node) of each edge that leaves a node on this state."""
        yield from ((end, end) for start, end in self.graph.edges if start == node)
        for branch in self.graph.branches.get(node, {}).values():
            schema = branch.input_schema or self.graph.state_schema
            answer = branch.path.invoke(self._values(schema, state))
            for label in answer if isinstance(answer, list | tuple) else [answer]:
                yield str(label), str(_end(node, label, branch.ends or {label: label}))

    def _values(self, schema: Any, state: Mapping[str, Any]) -> Any:
        """The state in the graph's declared type, with only its keys."""
        is_dataclass = dataclasses.is_dataclass(schema)
        fields = getattr(schema, "model_fields", None) or getattr(schema, "__annotations__", {})
        if is_dataclass:
            fields = {item.name: item for item in dataclasses.fields(schema)}
        given = {key: state[key] for key in fields if key in state}
        if "messages" in fields:
            given["messages"] = LangChainMessages().show(state.get("prompt", ()))
        return schema(**given) if is_dataclass or hasattr(schema, "model_validate") else given


def _end(node: str, label: Any, ends: Mapping[Any, Any]) -> Any:
    """The node that a label leads to. Raises StrategyError for an unknown label."""
    if not isinstance(label, str | bool | int):
        what = f"node {node}: its edge gave {type(label).__name__}"
        raise StrategyError(f"{what}; a label of an edge is asked for")
    if label not in ends:
        what = f"node {node}: its edge gave {label!r}, which leads nowhere"
        raise StrategyError(f"{what} — known: {', '.join(map(str, ends))}")
    return ends[label]
