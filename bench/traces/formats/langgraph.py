"""States of LangGraph runs: checkpoints, histories of a thread, and a thread as its server gives it; what was said and where the graph went."""

from __future__ import annotations

from typing import Any

from ...model import compact_json
from .. import Confidence, Document, Keeps, Near, Node, Traces, as_dict, by_marks, dicts, register, values_of
from ..langchain import fields_of, is_message, said_of
from ..nodes import at, first_of, members, moment
from ..prompts import Prompts
from ..steps import point_after

_STATE = {"values", "next", "config", "metadata", "created_at", "parent_config", "parent_checkpoint", "tasks", "interrupts", "checkpoint",
          "checkpoint_id", "checkpoint_map", "parent_checkpoint_id", "channel_values", "channel_versions", "versions_seen", "v", "ts", "id",
          "pending_writes", "pending_sends", "updated_channels", "thread_id", "updated_at", "status", "type"}  # fmt: skip
_INNER = ("__", "branch:", "start:", "lc_")
"""Beginnings of the names of the graph's own channels and nodes."""


@register("reader", "langgraph")
class LangGraph:
    """One trace a thread of a graph, from its states: `StateSnapshot` (`values`, `next`), checkpoints (`channel_values`), or tuples of those.

    A file holds one state, a list or lines of them, in any order: they are sorted by their time, else by their step. New messages of a
    state become steps; messages taken away make a ContextReset. What runs next (`next`, or the nodes that the following checkpoint has
    seen run) is a RouteDecision of `langgraph` with the other values as its state; at the end it is `__end__`. A subgraph's states
    (`checkpoint_ns`) are a thread of the trace. Interrupts are counted: what was answered to them is not recorded.

    Source: LangGraph reference, `langgraph.types.StateSnapshot`, `langgraph.checkpoint.base.Checkpoint`
    """

    keeps = Keeps(
        results="untruncated",
        also=("usage", "times", "errors", "routes", "reasoning", "model"),
        never="tool definitions, what was answered to an interrupt",
        tested="langgraph 1.2.22, recorded",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        states = dicts(document.head if isinstance(document.head, list) else [document.head])
        held = [values for state in states if (values := _held(state))]
        messages = any(map(_speaks, (value for values in held for value in values.values())))
        return by_marks({"values of a graph's state": bool(held), "LangChain messages among them": messages})

    def read(self, document: Document) -> Traces:
        """The file's threads in the order in which they begin; a thread's id is in `meta`."""
        threads: dict[str, list[Node]] = {}
        for state in sorted(values_of(document), key=_order):
            threads.setdefault(str(_configured(state, "thread_id")), []).append(state)
        for name, mine in threads.items():
            meta = {"thread_id": name} if name else {}
            yield _Graph(mine).trace(document, "langgraph", mine[0], meta=meta)


def _held(state: dict[str, Any]) -> dict[str, Any]:
    """The values of a state before it is read; `{}` where it is none."""
    held = as_dict(state.get("checkpoint")).get("channel_values") or state.get("channel_values")
    if not held and state.keys() & {"next", "thread_id", "config", "checkpoint"}:
        held = state.get("values")
    return as_dict(held)


def _values(state: Node) -> Node:
    inner = at(state, "checkpoint", "channel_values")
    return inner if inner.value is not None else first_of(state, "values", "channel_values")


def _configured(state: Node, key: str) -> Any:
    """A key of the configuration that a state was saved under; `""` where it is not recorded."""
    places = (at(state, "config", "configurable", key), at(state, "checkpoint", key), at(state, key))
    return next((place.value for place in places if place.value is not None), "")


def _time(state: Node) -> float | None:
    saved = first_of(state, "created_at", "ts", "updated_at")
    return moment(saved if saved.value is not None else at(state, "checkpoint", "ts"))


def _order(state: Node) -> tuple[float, float]:
    return _time(state) or 0.0, at(state, "metadata", "step").seconds() or 0.0


def _spoken(state: Node) -> list[Node]:
    """The messages of a state: those of the channel `messages`, else of the first channel that holds some."""
    held = {key: value for key, value in members(_values(state)) if isinstance(value.value, list) and value.value}
    found = held.get("messages") or next((value for value in held.values() if _speaks(value.value)), None)
    return [] if found is None else found.items()


def _speaks(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and is_message(value[0])


def _identity(message: Node) -> str:
    """The key of a message in the states of graph and subgraph: its id, else all of it."""
    _, fields = fields_of(message)
    return fields["id"].value if isinstance(fields["id"].value, str) else compact_json(fields.value)


class _Graph(Prompts):
    """The states of a thread on their way to a trace. What a subgraph says and hands on is told once, by the graph."""

    def __init__(self, states: list[Node]) -> None:
        super().__init__()
        placed = [(state, str(_configured(state, "checkpoint_ns"))) for state in states]
        outer = {_identity(message) for state, space in placed if not space for message in _spoken(state)}
        following: dict[str, Node] = {}
        after: list[Node | None] = []  # the next state of the same graph
        for state, space in reversed(placed):
            after.append(following.get(space))
            following[space] = state
        for state in states:
            self.unread.keys(state, _STATE, "a state")
        self.ran_last: dict[str, str | None] = {}  # the node that ran before, by graph
        for (state, space), later in zip(placed, reversed(after), strict=True):
            messages = [message for message in _spoken(state) if not space or _identity(message) not in outer]
            self._state(state, space, messages, later)

    def _state(self, state: Node, space: str, messages: list[Node], following: Node | None) -> None:
        """Tell what is new in a state, and where the graph goes from it."""
        said = [told for message in messages if (told := said_of(message, self.unread)) is not None]
        group, before, t, thread = space.split("|")[-1].split(":")[0] or "agent", self.index, _time(state), "main"
        if said or group == "agent":
            thread = self.hold(said, group=group, agent=self.ran_last.get(space), t=t)
        self.unread.add("interrupt of the graph", _interrupts(state))
        taken = _taken(state, following)
        if taken is None:
            return
        self.ran_last[space] = taken[0] if len(taken) == 1 else None
        where = point_after(self.steps[-1] if self.index > before else None) if taken else "end"
        values = {key: node.value for key, node in members(_values(state)) if not key.startswith(_INNER)}
        others = {key: value for key, value in values.items() if not _speaks(value)}
        self.route("+".join(taken) or "__end__", "langgraph", group, thread, t, at=where, state=others)


def _interrupts(state: Node) -> int:
    """The number of interrupts that a state waits at; a task is an object, or the list of its fields, of which the fifth are its interrupts."""
    tasks = state["tasks"].value if isinstance(state["tasks"].value, list) else []
    asked = [
        task.get("interrupts") if isinstance(task, dict) else task[4:5]
        for task in tasks
        if isinstance(task, dict | list)
    ]
    lists = [found if isinstance(found, list) else [found] for found in [*asked, state["interrupts"].value]]
    return sum(bool(item) for found in lists for item in found)


def _taken(state: Node, following: Node | None) -> list[str] | None:
    """The nodes that run after a state; none at the end; None where it is not recorded, or where the graph only begins."""
    if state.has("next"):
        names = [name.text() for name in state["next"].items()]
        chosen = [name for name in names if not name.startswith(_INNER)]
        return None if names and not chosen else chosen
    if following is None:
        return None
    before, since = _seen(state), _seen(following)
    ran = [name for name, version in since.items() if version != before.get(name) and not name.startswith(_INNER)]
    return sorted(ran) or None


def _seen(state: Node) -> dict[str, Any]:
    seen = at(state, "checkpoint", "versions_seen")
    return {name: node.value for name, node in members(seen if seen.value is not None else state["versions_seen"])}
