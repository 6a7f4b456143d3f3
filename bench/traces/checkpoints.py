"""Checkpoints of LangGraph in the SQLite file of its `SqliteSaver`, as the states that its other
savers give.

A row of `checkpoints` holds a checkpoint as msgpack (type `msgpack`) or JSON, and metadata as JSON.
Objects are msgpack extensions: module, class and fields, packed again. They are read as LangChain
dumps objects; no code is imported.
"""

from __future__ import annotations

import contextlib
import sqlite3
from typing import Any

import msgspec

from ..model.errors import TraceError
from .decoded import as_dict, strict_json
from .documents import Document
from .parts import Unread

_MAGIC = b"SQLite format 3\x00"
_COLUMNS = "thread_id, checkpoint_ns, checkpoint_id, type, checkpoint, metadata"
_POSITIONAL, _FIELDS, _TEXT = (0, 1), (2, 4, 5), 3


def is_sqlite(document: Document) -> bool:
    """True if a file begins as SQLite's do. Never raises."""
    try:
        return document.disk_bytes.startswith(_MAGIC)
    except TraceError:
        return False


def states_in(document: Document, unread: Unread, most: int = -1) -> list[dict[str, Any]]:
    """The states of all threads in the order of their ids, which rise; at most so many (-1: all).
    `[]` where the file has no such table, or is damaged. A checkpoint that cannot be read is
    counted."""
    rows: list[tuple[Any, ...]] = []
    # from memory, so that the file beside which SQLite would write its journal is never touched
    with (
        contextlib.suppress(sqlite3.Error, UnicodeDecodeError),
        contextlib.closing(sqlite3.connect(":memory:")) as database,
    ):
        database.deserialize(document.disk_bytes)
        rows = database.execute(f"SELECT {_COLUMNS} FROM checkpoints ORDER BY checkpoint_id LIMIT {most:d}").fetchall()
    states = []
    for thread, space, own, kind, checkpoint, metadata in rows:
        state = _unpacked(kind, checkpoint)
        if not isinstance(state, dict):
            unread.add("checkpoint that cannot be read")
            continue
        configured = {"thread_id": thread, "checkpoint_ns": space or "", "checkpoint_id": own}
        details = _json(metadata)
        states.append({"config": {"configurable": configured}, "checkpoint": state, "metadata": as_dict(details)})
    return states


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
        return {"lc": 1, "type": "constructor", "id": [*str(module).split("."), str(name)], "kwargs": fields}
    if code in (*_POSITIONAL, _TEXT):
        return fields[0] if isinstance(fields, list) and len(fields) == 1 else fields
    return f"{module}.{name}"
