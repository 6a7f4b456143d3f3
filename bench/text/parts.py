"""Data that are a part of other data: each value at its own place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..model import as_text, grouped
from .quantities import same_value

_MOST_CONTAINERS = 1000
"""The most mappings and lists with which one of another structure is compared."""

Known = Callable[[str], bool]


def are_parts(shown: Any, full: Any, is_known: Known) -> bool:
    """True if each value of some data stands at its own place in other data: under its keys, and in
    lists in their order or its reverse. New keys, and texts that are not known, do not count.

    Data of another structure may have each of its mappings and lists anywhere under its key.

    >>> full = {"ok": True, "data": {"runs": [[1, "a"], [2, "b"], [3, "c"]]}}
    >>> texts = {"1", "2", "3", "a", "b", "c"}
    >>> [are_parts({"runs": runs}, full, texts.__contains__) for runs in (
    ...     [[1, "a"], "1 more", [3, "c"]], [[3, "c"], [1, "a"]], [[1, "b"], [2, "a"]])]
    [True, True, False]
    """
    if type(shown) is type(full) and (isinstance(full, list) or _shares_keys(shown, full)):
        return _is_part(shown, full, is_known)
    places = grouped(_containers(full))
    return all(
        any(_is_part(part, other, is_known) for other in places[key][:_MOST_CONTAINERS])
        for key, part in _containers(shown)
        if key in places
    )


def _shares_keys(shown: dict[Any, Any], full: dict[Any, Any]) -> bool:
    return 2 * len(shown.keys() & full.keys()) >= len(shown)


def _containers(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the mappings and lists under keys, each with its key, from the outside in."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield from ((key, item) for key, item in node.items() if isinstance(item, dict | list))
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


def _is_part(shown: Any, full: Any, is_known: Known) -> bool:
    if isinstance(shown, dict) and isinstance(full, dict):
        return all(_is_part(shown[key], full[key], is_known) for key in shown.keys() & full.keys())
    if isinstance(shown, list) and isinstance(full, list):
        return any(_in_order(shown, items, is_known) for items in (full, full[::-1]))
    if _is_container(shown) or _is_container(full):
        return True  # in another form, which other rules compare
    text = as_text(shown)
    return not is_known(text) or same_value(text, as_text(full))


def _in_order(shown: Iterable[Any], full: Iterable[Any], is_known: Known) -> bool:
    """True if all known items of a list are parts of items of another one, in its order."""
    rest = iter(full)
    return all(
        any(
            _is_container(item) == _is_container(other) and _is_part(item, other, is_known)
            for other in rest
        )
        for item in shown
        if _is_container(item) or is_known(as_text(item))
    )


def _is_container(value: Any) -> bool:
    return isinstance(value, dict | list)
