"""Values deep in a file, and times, read with a place to point at."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from .documents import Node

_TOO_LATE = 1e11
"""The year 5138 in seconds, and 1973 in milliseconds."""


def at(node: Node, *keys: str) -> Node:
    """The value below some keys; a node of null where one of them is absent or null. TraceError where something else than an object is on the way."""
    for key in keys:
        if node.value is None:
            return Node(node.document, node.line, f"{node.path}.{key}", None)
        node = node[key]
    return node


def inside(node: Node, *keys: str) -> Node:
    """The value below some keys; a node of null where one of them is absent, or something else than an object is on the way."""
    for key in keys:
        node = node[key] if isinstance(node.value, dict) else node.made(None, f".{key}")
    return node


def picked(node: Node, *keys: str) -> dict[str, Any]:
    """Those of some members that hold something; none of null."""
    found = {key: inside(node, key).value for key in keys}
    return {key: value for key, value in found.items() if value not in (None, "", {}, [])}


def filled(**values: Any) -> dict[str, Any]:
    """Those of some values that hold something."""
    return {name: value for name, value in values.items() if value}


def first_of(node: Node, *keys: str) -> Node:
    """The first of some members of an object that is not null; the last of them where all are."""
    found = [node[key] for key in keys]
    return next((member for member in found if member.value is not None), found[-1])


def members(node: Node) -> list[tuple[str, Node]]:
    """The members of an object, each with its name; `[]` for null."""
    return [] if node.value is None else [(key, node[key]) for key in node.object()]


def only_text(node: Node) -> str | None:
    """The value where it is a string with something in it; None for anything else, which is no error."""
    return node.value if isinstance(node.value, str) and node.value else None


def moment(node: Node) -> float | None:
    """A time as seconds since the epoch: a number of seconds, or of milliseconds where it is too large for seconds, or a text as ISO 8601 writes
    it (UTC where it names no zone); None for null.

    TraceError for a text that is no time.
    """
    if not isinstance(node.value, str):
        number = node.seconds()
        return number / 1000 if number is not None and number > _TOO_LATE else number
    try:
        read = datetime.fromisoformat(node.value)
    except ValueError:
        raise node.fail("expected a time such as 2025-05-12T20:27:36Z") from None
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()


def between(start: float | None, end: float | None) -> float | None:
    """The seconds from one time to another, to the microsecond; None where one is not known or they are the wrong way round."""
    return None if start is None or end is None or end < start else round(end - start, 6)
