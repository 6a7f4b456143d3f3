"""States of LangGraph runs: checkpoints (as JSON, or in SQLite), histories of a thread, and a
thread as its server gives it."""

from __future__ import annotations

import contextlib
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from ...model import compact_json
from ...model.errors import TraceError
from .. import Confidence, Document, Traces, as_dict, certain_if, dicts, register, strict_json
from ..content import first_of
from ..messages import is_langchain, message, unwrapped
from ..parts import Unread
from ..prompts import Prompts
from ..records import dict_in, objects_of, time_of
from ..steps import point_after

State = dict[str, Any]

_STATE = {"values", "next", "config", "metadata", "created_at", "parent_config", "parent_checkpoint", "tasks", "interrupts", "checkpoint",
          "checkpoint_id", "checkpoint_map", "parent_checkpoint_id", "channel_values", "channel_versions", "versions_seen", "v", "ts", "id",
          "pending_writes", "pending_sends", "updated_channels", "thread_id", "updated_at", "status", "type", "checkpoint_ns"}  # fmt: skip
_MARKS = {"next", "thread_id", "config", "checkpoint", "channel_values"}
"""Keys of which a state has one."""
_INNER = ("__", "branch:", "start:", "lc_")
"""Beginnings of the names of the graph's own channels and nodes."""


@register("reader", "langgraph")
class LangGraph:
    """One trace a thread of a graph, from its states: `StateSnapshot` (`values`, `next`),
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

    def sniff(self, document: Document) -> Confidence:
        if _is_sqlite(document):
            return Confidence.CERTAIN if _states_in(document, Unread(), most=1) else Confidence.NO
        states = [state for state in document.first_objects if state.keys() & _MARKS]
        values = [value for state in states for value in _values(state).values()]
        return certain_if(any(map(_has_messages, values)))

    def read(self, document: Document) -> Traces:
        """The file's threads in the order in which they begin; a thread's id is in `meta`."""
        unread = Unread()
        states = (
            _states_in(document, unread) if _is_sqlite(document) else objects_of(document, unread)
        )
        threads: dict[str, list[State]] = {}
        for state in sorted(states, key=_order):
            threads.setdefault(str(_configured(state, "thread_id")), []).append(state)
        graphs = [
            (name, _Graph(mine, unread if not number else Unread()))
            for number, (name, mine) in enumerate(threads.items())
        ]
        for name, graph in [(name, graph) for name, graph in graphs if graph.spoke] or graphs:
            yield graph.trace(document, "langgraph", meta={"thread_id": name} if name else {})


def _values(state: State) -> State:
    """The values of a state, by the names of its channels."""
    saved = dict_in(state, "checkpoint").get("channel_values")
    return as_dict(saved or first_of(state, ("channel_values", "values")))


def _configured(state: State, key: str) -> Any:
    """A key of the configuration that a state was saved under; `""` where it is not recorded."""
    places = (dict_in(state, "config", "configurable"), dict_in(state, "checkpoint"), state)
    return next((place[key] for place in places if place.get(key) is not None), "")


def _time(state: State) -> float | None:
    saved = first_of(state, ("created_at", "ts", "updated_at"))
    return time_of(saved if saved is not None else dict_in(state, "checkpoint").get("ts"), Unread())


def _order(state: State) -> tuple[float, float]:
    step: Any = dict_in(state, "metadata").get("step")
    return _time(state) or 0.0, float(step) if type(step) in (int, float) else 0.0


def _messages_in(state: State) -> list[State]:
    """The messages of a state: those of the channel `messages`, else of the first channel that
    holds some."""
    values = _values(state)
    return dicts(values.get("messages") or next(filter(_has_messages, values.values()), None))


def _has_messages(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and is_langchain(value[0])


def _identity(value: State) -> str:
    """The key of a message in the states of graph and subgraph: its id, else all of it."""
    _, fields = unwrapped(value)
    return fields["id"] if isinstance(fields.get("id"), str) else compact_json(fields)


class _Graph(Prompts):
    """The states of a thread on their way to a trace. What a subgraph hands on is a message of the
    graph alone."""

    def __init__(self, states: list[State], unread: Unread) -> None:
        super().__init__()
        self.unread = unread
        placed = [(state, str(_configured(state, "checkpoint_ns"))) for state in states]
        outer = {
            _identity(value)
            for state, space in placed
            if not space
            for value in _messages_in(state)
        }
        self.ran_last: dict[str, str | None] = {}  # the node that ran before, by graph
        for (state, space), later in zip(placed, _following(placed), strict=True):
            unread.extra_keys(state, _STATE, "a state")
            own = [
                value for value in _messages_in(state) if not space or _identity(value) not in outer
            ]
            self._state(state, space, own, later)

    def _state(
        self, state: State, space: str, values: list[State], following: State | None
    ) -> None:
        """Add what is new in a state, and where the graph goes from it."""
        messages = [one for value in values for one in message(value, self.unread)]
        group = space.split("|")[-1].split(":")[0] or "agent"
        before = self.index
        t = _time(state)
        thread = "main"
        if messages or group == "agent":
            thread = self.hold(messages, group=group, agent=self.ran_last.get(space), t=t)
        self.unread.add("interrupt of the graph", _interrupts(state))
        taken = _taken(state, following)
        if taken is None:
            return
        self.ran_last[space] = taken[0] if len(taken) == 1 else None
        where = point_after(self.steps[-1] if self.index > before else None) if taken else "end"
        kept = {key: value for key, value in _values(state).items() if not key.startswith(_INNER)}
        kept = {key: value for key, value in kept.items() if not _has_messages(value)}
        self.route(
            "+".join(taken) or "__end__",
            "langgraph",
            group,
            at=where,
            thread=thread,
            t=t,
            state=kept,
        )


def _following(placed: list[tuple[State, str]]) -> list[State | None]:
    """The next state of the same graph after each state; None after its last."""
    latest: dict[str, State] = {}
    after: list[State | None] = []
    for state, space in reversed(placed):
        after.append(latest.get(space))
        latest[space] = state
    return after[::-1]


def _interrupts(state: State) -> int:
    """The number of interrupts that a state waits at; a task is an object, or the list of its
    fields, of which the fifth are its interrupts."""
    tasks = state.get("tasks") if isinstance(state.get("tasks"), list) else []
    waiting = [task.get("interrupts") for task in dicts(tasks)] + [state.get("interrupts")]
    waiting += [task[4] for task in tasks or () if isinstance(task, list) and len(task) > 4]
    lists = [item if isinstance(item, list) else [item] for item in waiting]
    return sum(bool(item) for items in lists for item in items)


def _taken(state: State, following: State | None) -> list[str] | None:
    """The nodes that run after a state; none at the end; None where it is not recorded, or where
    the graph only begins."""
    if isinstance(state.get("next"), list):
        names = [str(name) for name in state["next"]]
        chosen = [name for name in names if not name.startswith(_INNER)]
        return None if names and not chosen else chosen
    if following is None:
        return None
    before, since = _seen(state), _seen(following)
    ran = [
        name
        for name, version in since.items()
        if version != before.get(name) and not name.startswith(_INNER)
    ]
    return sorted(ran) or None


def _seen(state: State) -> State:
    return as_dict(dict_in(state, "checkpoint").get("versions_seen") or state.get("versions_seen"))


# ---------------------------------------------------------------- the file of SqliteSaver

# A row holds a checkpoint as msgpack or JSON, and metadata as JSON. Objects are extensions of
# msgpack (module, class, fields); they are read as LangChain dumps them, no code is imported.

_MAGIC = b"SQLite format 3\x00"
_POSITIONAL, _FIELDS, _TEXT = (0, 1), (2, 4, 5), 3


def _is_sqlite(document: Document) -> bool:
    """True if a file begins as SQLite's do. Never raises."""
    try:
        return document.disk_bytes.startswith(_MAGIC)
    except TraceError:
        return False


def _states_in(document: Document, unread: Unread, most: int = -1) -> list[State]:
    """The states of all threads; at most so many (-1: all).
    `[]` where the file has no such table, or is damaged. A checkpoint that cannot be read is
    counted."""
    states = []
    for row in _rows(document, most):
        state = _unpacked(row.get("type"), row.get("checkpoint"))
        if not isinstance(state, dict):
            unread.add("checkpoint that cannot be read")
            continue
        configured = {
            "thread_id": row.get("thread_id"),
            "checkpoint_ns": row.get("checkpoint_ns") or "",
        }
        details = as_dict(_json(row.get("metadata")))
        states.append(
            {"config": {"configurable": configured}, "checkpoint": state, "metadata": details}
        )
    return states


def _rows(document: Document, most: int) -> list[dict[str, Any]]:
    """The rows of the table of checkpoints by the names of its columns. They are read from a copy,
    with the log of writes (`-wal`) that a saver leaves beside its file where it was not closed."""
    rows: list[dict[str, Any]] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.suppress(sqlite3.Error, UnicodeDecodeError),
    ):
        copy, log = Path(folder) / "saved", document.path.with_name(f"{document.path.name}-wal")
        copy.write_bytes(document.disk_bytes)
        if log.is_file():
            copy.with_name("saved-wal").write_bytes(Document(log).disk_bytes)
        with contextlib.closing(sqlite3.connect(copy)) as database:
            found = database.execute(f"SELECT * FROM checkpoints LIMIT {most:d}")
            names = [column[0] for column in found.description]
            rows = [dict(zip(names, row, strict=True)) for row in found]
    return rows


def _unpacked(kind: Any, data: Any) -> Any:
    if kind == "msgpack" and isinstance(data, bytes):
        try:
            return msgspec.msgpack.decode(data, ext_hook=_object, strict=False)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return None
    return _json(data)


def _json(data: Any) -> Any:
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    return strict_json(text) if isinstance(text, str) else None


def _object(code: int, data: memoryview) -> Any:
    """An object that the serializer packed, as LangChain dumps it; one of a kind without fields as
    its arguments."""
    packed = msgspec.msgpack.decode(bytes(data), ext_hook=_object)
    if not isinstance(packed, list) or len(packed) < 3:
        return packed
    module, name, fields = packed[:3]
    if code in _FIELDS and isinstance(fields, dict):
        return {
            "lc": 1,
            "type": "constructor",
            "id": [*str(module).split("."), str(name)],
            "kwargs": fields,
        }
    if code in (*_POSITIONAL, _TEXT):
        return fields[0] if isinstance(fields, list) and len(fields) == 1 else fields
    return f"{module}.{name}"
