"""States of LangGraph runs: checkpoints, histories of a thread, and a thread as its server gives it; what was said and where the graph went."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..files.documents import Document, Node
from ..model import ModelTurn, RouteDecision, Trace, UserTurn
from ..plugins.registry import register
from . import Confidence
from .reading.langchain import is_message, said_of
from .reading.nodes import at, first_of, members, moment
from .reading.prompts import Prompts

_STATE = {"values", "next", "config", "metadata", "created_at", "parent_config", "parent_checkpoint", "tasks", "interrupts", "checkpoint",
          "checkpoint_id", "checkpoint_map", "parent_checkpoint_id", "channel_values", "channel_versions", "versions_seen", "v", "ts", "id",
          "pending_writes", "pending_sends", "updated_channels", "thread_id", "updated_at", "status", "type"}  # fmt: skip
_INNER = ("__", "branch:", "start:", "lc_")
"""How channels and nodes are named that are the graph's own."""


@register("reader", "langgraph")
class LangGraph:
    """One trace a thread of a graph, from its states: `StateSnapshot` (`values`, `next`), checkpoints (`channel_values`), or tuples of those.

    A file holds one state, a list or lines of them, in any order: they are sorted by their time, else by their step. New messages of a
    state become steps; messages taken away make a ContextReset. What runs next (`next`, or the nodes that the following checkpoint has
    seen run) is a RouteDecision of `langgraph` with the other values as its state; at the end it is `__end__`. A subgraph's states
    (`checkpoint_ns`) are a thread of the trace. Interrupts are counted: what was answered to them is not recorded.

    Source: LangGraph reference, `langgraph.types.StateSnapshot`, `langgraph.checkpoint.base.Checkpoint`
    """

    def sniff(self, document: Document) -> Confidence:
        """CERTAIN for states with LangChain messages among their values; else NO."""
        head = document.head
        states = head if isinstance(head, list) else [head]
        return Confidence.CERTAIN if any(map(_typical, states)) else Confidence.NO

    def read(self, document: Document) -> Iterator[Trace]:
        """The file's threads in the order in which they begin; a thread's id is in `meta`."""
        whole = list(document.line_nodes()) if document.is_json_lines else [document.node()]
        states = whole[0].items() if len(whole) == 1 and isinstance(whole[0].value, list) else whole
        threads: dict[str, list[Node]] = {}
        for state in sorted(states, key=_order):
            threads.setdefault(str(_configured(state, "thread_id")), []).append(state)
        for name, mine in threads.items():
            yield _trace(document, name, mine)


def _typical(state: Any) -> bool:
    if not isinstance(state, dict):
        return False
    checkpoint = state.get("checkpoint")
    held = checkpoint.get("channel_values") if isinstance(checkpoint, dict) else None
    held = (
        held
        or state.get("channel_values")
        or (state.get("values") if state.keys() & {"next", "thread_id", "config", "checkpoint"} else None)
    )
    lists = [value for value in held.values() if isinstance(value, list) and value] if isinstance(held, dict) else []
    return any(is_message(value[0]) for value in lists)


def _values(state: Node) -> Node:
    """The values of a state, whichever way it is written."""
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


def _seen(state: Node) -> dict[str, Any]:
    """Which version of its input each node had run with, by then."""
    seen = at(state, "checkpoint", "versions_seen")
    return {name: node.value for name, node in members(seen if seen.value is not None else state["versions_seen"])}


def _trace(document: Document, name: str, states: list[Node]) -> Trace:
    run = Prompts()
    for position, state in enumerate(states):
        run.unread.keys(state, _STATE, "a state")
        following = states[position + 1] if position + 1 < len(states) else None
        _state(run, state, following)
    meta = {"thread_id": name} if name else {}
    return run.trace(document, "langgraph", states[0], meta=meta)


def _state(run: Prompts, state: Node, following: Node | None) -> None:
    values = members(_values(state))
    space = str(_configured(state, "checkpoint_ns"))
    group = space.split("|")[-1].split(":")[0] or "agent"
    t = _time(state)
    spoken = next((value for key, value in values if key == "messages"), None)
    spoken = spoken or next(
        (value for _, value in values if isinstance(value.value, list) and value.value and is_message(value.value[0])),
        None,
    )
    said = [said_of(message, run.unread) for message in (spoken.items() if spoken is not None else [])]
    before = run.index
    thread = run.hold([message for message in said if message is not None], group=group, t=t)
    asked = [len(task["interrupts"].items()) for task in state["tasks"].items()]
    run.unread.add("interrupt of the graph", sum(asked) or _size(state["interrupts"].value))
    taken = _taken(state, following)
    if taken is None:
        return
    last = run.steps[-1] if run.index > before else None
    point = (
        "after_model"
        if isinstance(last, ModelTurn)
        else "user_turn"
        if isinstance(last, UserTurn)
        else "after_result"
        if last
        else "before_model"
    )
    others = {key: value.value for key, value in values if value is not spoken and not key.startswith(_INNER)}
    decision = RouteDecision(
        index=run.index,
        agent=group,
        thread=thread,
        t=t,
        at=point if taken else "end",
        taken="+".join(taken) or "__end__",
        router="langgraph",
        state=others,
    )
    run.add(decision)


def _size(value: Any) -> int:
    return len(value) if isinstance(value, list | dict) else 0


def _taken(state: Node, following: Node | None) -> list[str] | None:
    """The nodes that run after a state; none at the end; None where it is not recorded."""
    if state.has("next"):
        return [name.text() for name in state["next"].items()]
    if following is None:
        return None
    before = _seen(state)
    return (
        sorted(
            name
            for name, version in _seen(following).items()
            if version != before.get(name) and not name.startswith(_INNER)
        )
        or None
    )
