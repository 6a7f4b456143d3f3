"""Objects of a file, and their members of known kinds. An odd value costs itself: it is counted and
named in `left_out`, and never refuses the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from ..model.errors import TraceError
from .decoded import dicts, strict_json
from .documents import Document
from .parts import Unread

_MILLISECONDS = 1e11  # seconds of the year 5138, milliseconds of 1973


def objects_of(document: Document, unread: Unread) -> list[dict[str, Any]]:
    """The objects of a file: its lines, the members of its one list, or the one that it is. What is
    no object is counted. Raises TraceError where nothing in the file is one."""
    values = list(document.values())
    broken = [at for at, value in enumerate(values) if isinstance(value, TraceError)]
    if document.problem is not None and len(values) - len(broken) == 0:
        raise document.problem
    half = bool(broken) and broken[-1] == len(values) - 1
    unread.add("half-written last line", half)
    unread.add("line that is not JSON", len(broken) - half)
    objects = dicts(values)
    unread.add("line that is no object", len(values) - len(broken) - len(objects))
    return objects


Kinds = Mapping[str, type]
"""The names of the members of an object, each with the kind that it should be; `float` is any
number."""


def fields_of(value: Any, kinds: Kinds, unread: Unread, where: str = "") -> dict[str, Any]:
    """The members of an object that are of the kinds that they should be. Others are left out and
    counted; so are, where `where` says what the object is, members that `kinds` does not have.

    >>> unread = Unread()
    >>> fields_of({"name": "ls", "id": 5, "ms": 7}, {"id": str, "ms": float}, unread, "a call")
    {'ms': 7.0}
    >>> unread.counts
    {"odd value of 'id'": 1, "'name' of a call": 1}
    """
    given = value if isinstance(value, dict) else {}
    fields: dict[str, Any] = {}
    for key, kind in kinds.items():
        member = given.get(key)
        if kind is float and type(member) is int:
            member = float(member)
        if member is not None and isinstance(member, kind):
            fields[key] = member
        else:
            unread.add(f"odd value of {key!r}", member is not None)
    if where:
        unread.extra_keys(given, kinds.keys(), where)
    return fields


def time_of(value: Any, unread: Unread) -> float | None:
    """A time as seconds since the epoch: seconds, milliseconds, or a text in ISO 8601 (UTC where it
    names no zone). None for null; None and counted for anything else."""
    if value is None:
        return None
    if type(value) in (int, float):
        return float(value) / 1000 if value > _MILLISECONDS else float(value)
    try:
        read = datetime.fromisoformat(value)
    except (ValueError, TypeError):
        unread.add("time that cannot be read")
        return None
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()


def text(value: Any) -> str | None:
    """The value where it is a text with something in it; None for any other."""
    return value if isinstance(value, str) and value else None


def number(value: Any) -> float | None:
    """The value where it is a number; None for any other, a truth value too.

    >>> number(3), number(0.5), number(True), number("3")
    (3, 0.5, None, None)
    """
    return value if type(value) in (int, float) else None


def arguments(value: Any) -> Any:
    """A call's arguments: the decoded JSON, or the recorded text where it is none.

    >>> arguments('{"a": 1}'), arguments("ls"), arguments("null"), arguments([1])
    ({'a': 1}, 'ls', None, [1])
    """
    decoded = strict_json(value) if isinstance(value, str) else value
    return value if decoded is None and value != "null" else decoded


def dict_in(value: Any, *keys: str) -> dict[str, Any]:
    """The object below some keys; `{}` where there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def filled(value: dict[str, Any], keys: Iterable[str] | None = None) -> dict[str, Any]:
    """The members, all or of some keys, that hold something.

    >>> filled({"task": 7, "cost": 0, "note": "", "tags": []}, ("task", "cost", "note", "tags"))
    {'task': 7, 'cost': 0}
    """
    named = value if keys is None else keys
    return {key: value[key] for key in named if value.get(key) not in (None, "", {}, [])}
