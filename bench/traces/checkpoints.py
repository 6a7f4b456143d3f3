"""Checkpoints of LangGraph in the SQLite file of its `SqliteSaver`, as the states that its other
savers give.

A row of `checkpoints` holds a checkpoint as msgpack (type `msgpack`) or JSON, and metadata as JSON.
Objects are msgpack extensions: module, class and fields, packed again. They are read as LangChain
dumps objects; no code is imported.
"""

from __future__ import annotations

import contextlib
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from ..model.errors import TraceError
from .decoded import as_dict, strict_json
from .documents import Document
from .parts import Unread

_MAGIC = b"SQLite format 3\x00"
_POSITIONAL, _FIELDS, _TEXT = (0, 1), (2, 4, 5), 3


def is_sqlite(document: Document) -> bool:
    """True if a file begins as SQLite's do. Never raises."""
    try:
        return document.disk_bytes.startswith(_MAGIC)
    except TraceError:
        return False


def states_in(document: Document, unread: Unread, most: int = -1) -> list[dict[str, Any]]:
    """The states of all threads; at most so many (-1: all).
    `[]` where the file has no such table, or is damaged. A checkpoint that cannot be read is
    counted."""
    states = []
    for row in _rows(document, most):
        state = _unpacked(row.get("type"), row.get("checkpoint"))
        if not isinstance(state, dict):
            unread.add("checkpoint that cannot be read")
            continue
        configured = {"thread_id": row.get("thread_id"), "checkpoint_ns": row.get("checkpoint_ns") or ""}
        details = as_dict(_json(row.get("metadata")))
        states.append({"config": {"configurable": configured}, "checkpoint": state, "metadata": details})
    return states


def _rows(document: Document, most: int) -> list[dict[str, Any]]:
    """The rows of the table of checkpoints by the names of its columns. They are read from a copy,
    with the log of writes (`-wal`) that a saver leaves beside its file where it was not closed."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(sqlite3.Error, UnicodeDecodeError):
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
        return {"lc": 1, "type": "constructor", "id": [*str(module).split("."), str(name)], "kwargs": fields}
    if code in (*_POSITIONAL, _TEXT):
        return fields[0] if isinstance(fields, list) and len(fields) == 1 else fields
    return f"{module}.{name}"
