"""JSON values as a reader wants them: an object, a list, a text or a number, else an empty
value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .decoded import strict_json


def as_dict(value: Any) -> dict[str, Any]:
    """The value if it is an object, else `{}`."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """The value if it is a list, else `[]`."""
    return value if isinstance(value, list) else []


def dicts(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; `[]` for anything else."""
    return [item for item in as_list(value) if isinstance(item, dict)]


def dict_in(value: Any, *keys: str) -> dict[str, Any]:
    """The object under nested keys; `{}` without one."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def first_of(block: dict[str, Any], keys: Iterable[str]) -> Any:
    """The first member, among `keys`, that is not null; None if all are null."""
    return next((block[key] for key in keys if block.get(key) is not None), None)


def without_empty(value: dict[str, Any], keys: Iterable[str] | None = None) -> dict[str, Any]:
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


def data_of(text: str) -> Any:
    """The structured value of a text that is a JSON object or array as a whole; None for any other
    text.

    >>> data_of('{"count": 36}'), data_of("36"), data_of("36 walls")
    ({'count': 36}, None, None)
    """
    value = strict_json(text) if text.lstrip()[:1] in ("{", "[") else None
    return value if isinstance(value, dict | list) else None


def arguments(value: Any) -> Any:
    """A call's arguments: the decoded JSON, or the recorded text where it is not JSON.

    >>> arguments('{"a": 1}'), arguments("ls"), arguments("null"), arguments([1])
    ({'a': 1}, 'ls', None, [1])
    """
    decoded = strict_json(value) if isinstance(value, str) else value
    return value if decoded is None and value != "null" else decoded


def from_json_text(value: Any) -> Any:
    """A value decoded from JSON within a text, up to twice; any other value as it is."""
    for _ in range(2):
        if not isinstance(value, str) or value[:1] not in ("{", "[", '"'):
            return value
        inner = strict_json(value)
        value = value if inner is None else inner
    return value
