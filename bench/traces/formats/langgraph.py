"""States of LangGraph runs: checkpoints (as JSON, or in SQLite), histories of a thread, and a
thread as its server gives it."""

from __future__ import annotations

import contextlib
import sqlite3
import tempfile
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from ...model import compact_json, grouped
from .. import Document, Fields, register
from ..intakes.messages import is_langchain, message, unwrapped
from ..intakes.prompts import Prompts
from ..steps import Steps, point_after
from ..values import Unread, as_dict, as_list, dicts, first_of, number, strict_json, text, time_of
from . import Format

_STATE = {"values", "next", "config", "metadata", "created_at", "parent_config", "parent_checkpoint", "tasks", "interrupts", "checkpoint",
          "checkpoint_id", "checkpoint_map", "parent_checkpoint_id", "channel_values", "channel_versions", "versions_seen", "v", "ts", "id",
          "pending_writes", "pending_sends", "updated_channels", "thread_id", "updated_at", "status", "type", "checkpoint_ns"}  # fmt: skip
_MARKS = {"next", "thread_id", "config", "checkpoint", "channel_values"}
"""Keys of which a state has one."""
_TIMES = ("created_at", "ts", "updated_at")
_INNER = ("__", "branch:", "start:", "lc_")
"""Beginnings of the names of the graph's own channels and nodes."""


@register("reader", "langgraph")
class LangGraph(Format):
    """One trace per thread of a graph, from its states: `StateSnapshot` (`values`, `next`),
    checkpoints (`channel_values`), tuples of those, or the SQLite file of `SqliteSaver`.

    States may come in any order: they are sorted by their time, else by their step. New messages of
    a state become steps; messages taken away make a ContextReset. What runs next (`next`, or the
    nodes that the following checkpoint has seen run) is a RouteDecision of `langgraph` with the
    other values as its state; at the end it is `__end__`. A subgraph's states (`checkpoint_ns`) are
    a thread of the trace. Interrupts are counted: what was answered to them is not recorded.

    Not kept: tool definitions, what was answered to an interrupt.

    Source: LangGraph reference, `langgraph.types.StateSnapshot`,
    `langgraph.checkpoint.base.Checkpoint`, `langgraph.checkpoint.sqlite.SqliteSaver`,
    `langgraph.checkpoint.serde.jsonplus`. Tested: langgraph 1.2.22 and langgraph-checkpoint-sqlite
    3, recorded; savers of 2024 to 2026, published files
    """

    def marked(self, document: Document) -> object:
        if document.opening(16) == _MAGIC:
            return _saved_states(document, Unread(), most=1)
        states = [state for state in document.first_objects if state.keys() & _MARKS]
        values = [value for state in states for value in _State(state).values.values()]
        return any(map(_has_messages, values))

    def runs(self, document: Document, unread: Unread) -> Iterable[Steps]:
        saved = _saved_states if document.opening(16) == _MAGIC else Document.objects
        states = sorted(map(_State, saved(document, unread)), key=lambda state: state.order)
        return map(_Graph, grouped((state.thread, state) for state in states).values())


class _State:
    """One saved state: its place and time, its channels, the nodes that run next or ran."""

    def __init__(self, saved: Fields) -> None:
        place = as_dict(saved, "config", "configurable")
        known = {**saved, **as_dict(saved, "checkpoint"), **place}
        self.saved = saved
        self.thread = str(known.get("thread_id") or "")
        self.space = str(known.get("checkpoint_ns") or "")
        self.time = time_of(first_of(known, _TIMES), Unread())
        step = number(as_dict(saved, "metadata").get("step"))
        self.order = (self.time or 0.0, step or 0.0)
        self.values = as_dict(first_of(known, ("channel_values", "values")))
        self.next: Any = saved.get("next")
        tasks = [*dicts(saved.get("tasks")), saved]
        self.interrupts = sum(len(as_list(one.get("interrupts"))) for one in tasks)
        self.seen = as_dict(known.get("versions_seen"))

    @property
    def messages(self) -> list[Fields]:
        """The messages in the channel of this name, else in the first channel with messages."""
        channel = self.values.get("messages")
        return dicts(channel or next(filter(_has_messages, self.values.values()), None))

    def next_nodes(self, following: _State | None) -> list[str] | None:
        """The nodes that run next, `[]` at the end; None if not recorded, or at the start."""
        ran = self.next
        if not isinstance(ran, list):
            since = following.seen if following else {}
            ran = sorted(name for name in since if since[name] != self.seen.get(name))
        own = [name for name in map(str, ran) if not name.startswith(_INNER)]
        return own if own or self.next == [] else None


def _has_messages(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and is_langchain(value[0])


def _identity(value: Fields) -> str:
    """The identity of a message across the states of graph and subgraph: its id, else all of it."""
    _, fields = unwrapped(value)
    return text(fields.get("id")) or compact_json(fields)


class _Graph(Prompts):
    """The steps of a thread; what a subgraph hands on belongs to the graph only."""

    def __init__(self, states: list[_State]) -> None:
        super().__init__()
        graphs = grouped((state.space, state) for state in states)
        following = {id(one): then for mine in graphs.values() for one, then in pairwise(mine)}
        outer = {_identity(value) for state in graphs.get("", ()) for value in state.messages}
        for state in states:
            self._state(state, outer, following.get(id(state)))

    def _state(self, state: _State, outer: set[str], following: _State | None) -> None:
        """Add what is new in a state, and its decision; `outer` are the outer graph's messages."""
        self.unread.extra_keys(state.saved, _STATE, "a state")
        self.unread.add("interrupt of the graph", state.interrupts)
        own = [one for one in state.messages if not (state.space and _identity(one) in outer)]
        messages = [read for one in own for read in message(one, self.unread)]
        group = state.space.split("|")[-1].split(":")[0] or "agent"
        before, self.thread, self.time = self.index, "main", state.time
        if messages or group == "agent":
            self.add_state(messages, group, state.time)
        nodes = state.next_nodes(following)
        if nodes is not None:
            last_step = self.steps[-1] if self.index > before else None
            values = {
                key: value
                for key, value in state.values.items()
                if not key.startswith(_INNER) and not _has_messages(value)
            }
            self.add_decision(
                "+".join(nodes) or "__end__",
                "langgraph",
                at=point_after(last_step) if nodes else "end",
                state=values,
            )


# ---------------------------------------------------------------- the file of SqliteSaver

# A row holds a checkpoint as msgpack or JSON, and metadata as JSON. Objects are extensions of
# msgpack (module, class, fields); they are read as LangChain dumps them, no code is imported.

_MAGIC = "SQLite format 3\x00"
_FIELDS = (2, 4, 5)
"""Codes of objects that were packed as their fields."""


def _saved_states(document: Document, unread: Unread, most: int = -1) -> list[Fields]:
    """The states of all threads, at most `most` (-1: all); `[]` if the file is damaged."""
    states = []
    for row in _rows(document, most):
        state = _unpacked(row.get("type"), row.get("checkpoint"))
        unread.add("checkpoint that cannot be read", not isinstance(state, dict))
        if isinstance(state, dict):
            configured = {key: row.get(key) or "" for key in ("thread_id", "checkpoint_ns")}
            details = as_dict(_unpacked("json", row.get("metadata")))
            config = {"configurable": configured}
            states.append({"config": config, "checkpoint": state, "metadata": details})
    return states


def _rows(document: Document, most: int) -> list[Fields]:
    """The checkpoints, from a copy with the log of writes (`-wal`) that a saver may leave."""
    damaged = contextlib.suppress(sqlite3.Error, UnicodeDecodeError)
    with tempfile.TemporaryDirectory() as folder, damaged:
        copy, log = Path(folder) / "saved", document.path.with_name(f"{document.path.name}-wal")
        copy.write_bytes(document.disk_bytes)
        if log.is_file():
            copy.with_name("saved-wal").write_bytes(Document(log).disk_bytes)
        with contextlib.closing(sqlite3.connect(copy)) as database:
            database.row_factory = sqlite3.Row
            rows = database.execute(f"SELECT * FROM checkpoints LIMIT {most:d}")
            return list(map(dict, rows))
    return []


def _unpacked(kind: Any, data: Any) -> Any:
    if kind == "msgpack" and isinstance(data, bytes):
        try:
            return msgspec.msgpack.decode(data, ext_hook=_object, strict=False)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return None
    written = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    return strict_json(written) if isinstance(written, str) else None


def _object(code: int, data: memoryview) -> Any:
    packed = msgspec.msgpack.decode(bytes(data), ext_hook=_object)
    if not isinstance(packed, list) or len(packed) < 3:
        return packed
    module, name, fields = packed[:3]
    if code not in _FIELDS or not isinstance(fields, dict):
        return fields  # the arguments that it is made of
    path = [*str(module).split("."), str(name)]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": fields}
