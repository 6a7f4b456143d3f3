"""Objects of a file as typed records. An odd value costs itself: it is counted and named in `left_out`, and never
refuses the file."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec

from ..model.errors import TraceError
from .decoded import dicts, strict_json
from .documents import Document
from .parts import Unread

Record = TypeVar("Record", bound=msgspec.Struct)
_PATH = re.compile(r" - at `\$(.*)`$")
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")
_MOST_ODD = 1000
_MILLISECONDS = 1e11  # seconds of the year 5138, milliseconds of 1973


def objects_of(document: Document, unread: Unread) -> list[dict[str, Any]]:
    """The objects of a file: its lines, the members of its one list, or the one that it is. What is no
    object is counted. Raises TraceError where nothing in the file is one."""
    several = len(list(itertools.islice(document.lines(), 2))) > 1
    if several and (document.is_json_lines or document.problem is not None):
        values = _lines_of(document, unread)
    else:
        values = document.json if isinstance(document.json, list) else [document.json]
    objects = dicts(values)
    unread.add("line that is no object", len(values) - len(objects))
    if several and not objects and document.problem is not None:
        raise document.problem
    return objects


def _lines_of(document: Document, unread: Unread) -> list[Any]:
    values: list[Any] = []
    broken = 0
    for number, line in document.lines():
        unread.add("line that is not JSON", broken)
        broken = 0
        try:
            values.append(document.decode(line, number))
        except TraceError:
            broken = 1
    unread.add("half-written last line", broken)
    return values


def typed(value: dict[str, Any], kind: type[Record], unread: Unread, where: str = "") -> Record:
    """The record that an object is. A value of another type is left out and counted by its path; so are,
    where `where` says what the object is, keys that hold something and that the record does not have.

    >>> class Count(msgspec.Struct):
    ...     tokens: int | None = None
    >>> unread = Unread()
    >>> typed({"tokens": "12"}, Count, unread), typed({"tokens": 12.0}, Count, unread), unread.counts
    (Count(tokens=None), Count(tokens=12), {"odd value of 'tokens'": 1})
    """
    if where:
        count_unknown(value, kind, unread, where)
    for _ in range(_MOST_ODD):
        try:
            return msgspec.convert(value, kind)
        except UnicodeEncodeError:  # a lone surrogate where a number or a name belongs
            break
        except msgspec.ValidationError as error:
            place = _PATH.search(str(error))
            value = _repaired(value, place.group(1) if place else "", unread)
    unread.add("odd record")
    return kind()


def count_unknown(
    value: dict[str, Any], kind: type[msgspec.Struct], unread: Unread, where: str, ignored: Collection[str] = ()
) -> None:
    """Count the keys of an object that hold something and are neither a record's nor `ignored`."""
    unread.extra_keys(value, {*kind.__struct_encode_fields__, *ignored}, where)


def _repaired(value: dict[str, Any], path: str, unread: Unread) -> dict[str, Any]:
    """A copy of an object in which the value at a path fits, or is left out and counted."""
    steps = [name or (int(index) if index.isdigit() else None) for name, index in _STEP.findall(path)]
    steps = list(itertools.takewhile(lambda step: step is not None, steps))
    if not steps:
        unread.add("odd record")
        return {}
    copy: dict[str, Any] = dict(value)
    inner: Any = copy
    for step in steps[:-1]:
        inner[step] = inner[step].copy()
        inner = inner[step]
    odd = inner[steps[-1]]
    if type(odd) is float and odd.is_integer():
        inner[steps[-1]] = int(odd)
    else:
        del inner[steps[-1]]
        names = ".".join(step for step in steps if isinstance(step, str))
        unread.add(f"odd value of {names!r}", odd is not None)
    return copy


def time_of(value: Any, unread: Unread) -> float | None:
    """A time as seconds since the epoch: seconds, milliseconds, or a text in ISO 8601 (UTC where it names
    no zone). None for null; None and counted for anything else."""
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
