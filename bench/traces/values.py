"""Values of recordings as a reader wants them: an object, a list, a text or a number, else an
empty value. An odd value is skipped, counted and named in `left_out`; it never makes the whole file
unreadable.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Set
from datetime import UTC, datetime
from typing import Any, NoReturn

import msgspec

from ..model import MAX_DEPTH, too_deep
from ..model.errors import one_line

Fields = dict[str, Any]
"""An object of JSON."""
_STARTS = ("startTimeUnixNano", "startTime", "start_time", "startedDateTime", "requestedAt", "started_at", "timestamp",
           "created_at", "recorded_at")  # fmt: skip
_ENDS = ("endTimeUnixNano", "endTime", "end_time", "receivedAt", "ended_at", "completed_at")
_MILLISECONDS = 1e11  # seconds of the year 5138, milliseconds of 1973
_NANOSECONDS = 1e17  # of 1973
_DIGITS = re.compile("[0-9]{18,25}")


def as_list(value: Any) -> list[Any]:
    """The value if it is a list, else `[]`."""
    return value if isinstance(value, list) else []


def dicts(value: Any) -> list[Fields]:
    """The objects of a list; `[]` for anything else."""
    return [item for item in as_list(value) if isinstance(item, dict)]


def as_dict(value: Any, *keys: str) -> Fields:
    """The value, or the member under nested keys, if it is an object, else `{}`."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def first_of(block: Fields, keys: Iterable[str]) -> Any:
    """The first member, among `keys`, that is not null; None if all are null."""
    return next((block[key] for key in keys if block.get(key) is not None), None)


def without_empty(value: Fields, keys: Iterable[str] | None = None) -> Fields:
    """The members that are not empty; with `keys` only these.

    >>> without_empty({"task": 7, "cost": 0, "note": "", "tags": []}, ("task", "cost", "note", "tags"))
    {'task': 7, 'cost': 0}
    """
    named = value if keys is None else keys
    return {key: value[key] for key in named if value.get(key) not in (None, "", {}, [])}


def text(value: Any) -> str | None:
    """The value if it is a text that is not empty, else None."""
    return value if isinstance(value, str) and value else None


def number(value: Any) -> float | None:
    """The value if it is a number (a truth value is not), else None.

    >>> number(3), number(0.5), number(True), number("3")
    (3, 0.5, None, None)
    """
    return value if type(value) in (int, float) else None


def as_id(value: Any) -> str:
    """A value as the id of a run; `""` for null."""
    return "" if value is None else str(value)


def refuse(name: str) -> NoReturn:
    """Raise ValueError for a number that is not JSON, or too large."""
    raise ValueError(f"{name[:30]} is not a JSON number — write null instead")


def strict_json(text: str) -> Any:
    """The JSON value of a text; None if it is not JSON, nested too deep, or contains NaN, which
    cannot be written again.

    >>> strict_json('{"a": [1]}'), strict_json("[1, NaN]"), strict_json("done")
    ({'a': [1]}, None, None)
    """
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        if "\\u" not in text:  # only escapes of lone surrogates are JSON that msgspec does not take
            return None
        try:
            value = json.loads(text, parse_constant=refuse)
        except (ValueError, RecursionError):
            return None
    deep = text.count("[") + text.count("{") > MAX_DEPTH and too_deep(value)
    return None if deep else value


def data_of(text: str) -> Any:
    """The structured value of a text that is a JSON object or array as a whole; None for any other
    text.

    >>> data_of('{"count": 36}'), data_of("36"), data_of("36 walls")
    ({'count': 36}, None, None)
    """
    value = strict_json(text) if text.lstrip()[:1] in ("{", "[") else None
    return value if isinstance(value, dict | list) else None


def from_json_text(value: Any) -> Any:
    """A value decoded from JSON within a text, up to twice; any other value as it is.

    >>> from_json_text('{"a": 1}'), from_json_text('"[1]"'), from_json_text("ls"), from_json_text(5)
    ({'a': 1}, [1], 'ls', 5)
    """
    for _ in range(2):
        if not isinstance(value, str) or value[:1] not in ("{", "[", '"'):
            return value
        inner = strict_json(value)
        value = value if inner is None else inner
    return value


class Unread:
    """Counts of what a reader did not understand, which become `Trace.left_out`."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def add(self, what: str, count: int = 1) -> None:
        """Count something that was left out; a count of 0 adds nothing."""
        if count:
            self.counts[what] = self.counts.get(what, 0) + count

    def add_all(self, counts: Mapping[str, int]) -> None:
        """Add other counts."""
        for what, count in counts.items():
            self.add(what, count)

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


Kinds = Mapping[str, type]
"""The names of an object's members, each with its type; `float` is any number."""


def fields_of(value: Any, kinds: Kinds, unread: Unread, where: str = "") -> Fields:
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
    fields: Fields = {}
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
    """A time in seconds since the epoch, from seconds, milliseconds, nanoseconds (also as a text),
    or a text in ISO 8601 (UTC without a zone). None for null; None and counted for others."""
    if value is None:
        return None
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        value = int(value)
    if type(value) in (int, float):
        parts = 1e9 if value > _NANOSECONDS else 1000 if value > _MILLISECONDS else 1
        return float(value) / parts
    try:
        read = datetime.fromisoformat(value)
    except (ValueError, TypeError):
        unread.add("time that cannot be read")
        return None
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()


def start_and_end(record: Fields, unread: Unread) -> tuple[float | None, float | None]:
    """The times at which a call or a run began and ended, under the usual names, in seconds."""
    start, end = (time_of(first_of(record, keys), unread) for keys in (_STARTS, _ENDS))
    return start, end
