"""Data that are a part of other data: each value at its own place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..model import as_text, grouped
from .quantities import kind_of, same_value, unit_of
from .value_forms import is_container

_MOST_CONTAINERS = 1000
"""The most mappings and lists with which one of another structure is compared."""

_MOST_DEPTH = 60
"""The levels that are compared."""

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
    is_part = _Comparison(is_known).is_part
    if type(shown) is type(full) and (isinstance(full, list) or _shares_keys(shown, full)):
        return is_part(shown, full)
    places = grouped(_containers(full))
    return all(
        any(is_part(part, other) for other in places[key][:_MOST_CONTAINERS])
        for key, part in _containers(shown)
        if key in places
    )


def scalars_of(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the scalars in some data, each with the last key that leads to it, in order.

    >>> [*scalars_of({"a": [1, {"b": None}], "c": []})]
    [('a', 1), ('b', None)]
    """
    waiting = [(key, value)]
    while waiting:
        key, item = waiting.pop()
        if isinstance(item, dict):
            waiting.extend((str(name), item[name]) for name in reversed(item))
        elif isinstance(item, list):
            waiting.extend((key, part) for part in reversed(item))
        else:
            yield key, item


def is_same_field(text: str, value: str) -> bool:
    """True if a text shows the value of a field: not emptied, begun without a mark, or with a unit of
    its own.

    >>> [is_same_field(text, "missing item") for text in ("Missing item", "missing it…", "missing", "")]
    [True, True, False, False]
    >>> is_same_field("22.01 lb", "22.01"), is_same_field("22.01", "22.01 lb"), is_same_field("-", "")
    (False, True, True)
    """
    if text.strip() == "":
        return kind_of(value) == "nothing"
    one, other = text.strip().casefold(), value.strip().casefold()
    if one != other and other.startswith(one) and kind_of(text) == "a":
        return False
    return same_value(text, value) and not (unit_of(text) and not unit_of(value))


def differences(shown: Any, full: Any, key: str = "") -> list[tuple[str, str]] | None:
    """The values that differ between data of the same structure, each with its key, as texts; None
    for another structure, or if more than half differ.

    >>> differences({"id": 7, "tags": ["a", "b"]}, {"id": 7, "tags": ["a", "c"]}), differences([1], [1, 2])
    ([('tags: b', 'tags: c')], None)
    """
    found: list[tuple[str, str]] = []
    same = 0
    waiting = [(shown, full, key)]
    while waiting:
        one, other, key = waiting.pop()
        if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
            waiting.extend((one[name], other[name], str(name)) for name in reversed(one))
        elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
            waiting.extend(zip(reversed(one), reversed(other), [key] * len(one), strict=True))
        elif is_container(one) or is_container(other):
            return None
        elif is_same_field(as_text(one), as_text(other)):
            same += 1
        elif same_value(as_text(one), as_text(other)):
            return None
        else:
            found.append((f"{key}: {as_text(one)}", f"{key}: {as_text(other)}"))
    return found if len(found) <= same else None


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


class _Comparison:
    """The comparison of two values, in which each pair of parts is compared once."""

    def __init__(self, is_known: Known) -> None:
        self._is_known = is_known
        self._answers: dict[tuple[int, int], bool] = {}  # by the identities of two parts

    def is_part(self, shown: Any, full: Any, depth: int = 0) -> bool:
        """True if all known values of a part stand in another one; below the deepest level too."""
        if not (is_container(shown) and is_container(full)):
            return is_container(shown) or is_container(full) or self._is_same(shown, full)
        pair = id(shown), id(full)
        if pair not in self._answers:
            self._answers[pair] = depth == _MOST_DEPTH or self._is_within(shown, full, depth + 1)
        return self._answers[pair]

    def _is_within(self, shown: Any, full: Any, depth: int) -> bool:
        if isinstance(shown, dict) and isinstance(full, dict):
            keys = shown.keys() & full.keys()
            return all(self.is_part(shown[key], full[key], depth) for key in keys)
        if isinstance(shown, list) and isinstance(full, list):
            are_records = len(full) > 1 and any(map(is_container, full))
            orders = (full, full[::-1]) if are_records else (full,)
            if full and not shown:
                return False
            return any(self._is_in_order(shown, items, depth) for items in orders)
        return True  # in another form, which other rules compare

    def _is_in_order(self, shown: Iterable[Any], full: Iterable[Any], depth: int) -> bool:
        """True if all known items of a list are parts of items of another one, in its order."""
        rest = iter(full)
        return all(
            any(
                is_container(item) == is_container(other) and self.is_part(item, other, depth)
                for other in rest
            )
            for item in shown
            if is_container(item) or self._is_known(as_text(item))
        )

    def _is_same(self, shown: Any, full: Any) -> bool:
        text = as_text(shown)
        return not self._is_known(text) or same_value(text, as_text(full))
