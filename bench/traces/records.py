"""Reading the objects of a file. An odd value is skipped, counted and named in `left_out`; it never
makes the whole file unreadable.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from datetime import UTC, datetime
from typing import Any

from ..model.errors import TraceError, one_line
from .documents import Document
from .values import dicts

_MILLISECONDS = 1e11  # seconds of the year 5138, milliseconds of 1973


class Unread:
    """Counts of what a reader did not understand in a file, by a few words each; they become
    `Trace.left_out`."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def add(self, what: str, count: int = 1) -> None:
        """Count something that was left out; a count of 0 adds nothing."""
        if count:
            self.counts[what] = self.counts.get(what, 0) + count

    def kind(self, what: str, kind: object) -> None:
        """Count something of a type that the reader does not know: `event of type 'x'`."""
        self.add(f"{what} of type {one_line(kind)[:40]!r}")

    def extra_keys(self, value: Mapping[str, Any], known: Set[str], where: str) -> None:
        """Count the members of an object that have a value but are not in `known`."""
        if value.keys() <= known:
            return
        for key, member in value.items():
            if key not in known and member not in (None, False, "", [], {}):
                self.add(f"{one_line(key)[:40]!r} of {where}")


def objects_of(document: Document, unread: Unread) -> list[dict[str, Any]]:
    """The objects of a file: its lines, the members of its list, or the file as one object.
    Anything else is counted. Raises TraceError for a file without an object."""
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
"""The names of an object's members, each with the type that it should have; `float` is any
number."""


def fields_of(value: Any, kinds: Kinds, unread: Unread, where: str = "") -> dict[str, Any]:
    """The members of an object that have the types in `kinds`. Members of another type are left out
    and counted. If `where` (the name of the object in counts) is given, so are members that `kinds`
    does not have.

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
    """A time in seconds since the epoch, from seconds, milliseconds, or a text in ISO 8601 (UTC
    without a zone). None for null; None and counted for anything else."""
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
