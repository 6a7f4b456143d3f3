"""Data compared with other data: values that differ, and lists in another order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..model import as_text, grouped
from .columnar import is_container
from .keys import plain_key
from .quantities import kind_of, same_value, unit_of

_MOST_LISTS = 1000
"""The most lists with which one is compared that none of them is."""

Known = Callable[[str], bool]


def keep_order(shown: Any, full: Any, is_known: Known) -> bool:
    """True if the known items of each list of scalars in some data have the order of such a list
    under the same key in other data.

    >>> full = {"runs": [{"tags": ["a", "b", "c"]}, {"tags": ["d"]}]}
    >>> lists = ["a", "1 more", "c"], ["c", "a"], ["a", "d"]
    >>> [keep_order({"runs": [{"tags": tags}]}, full, {*"abcd"}.__contains__) for tags in lists]
    [True, False, False]
    """
    lists = grouped(_lists(full))
    complete = {key: {*map(tuple, items)} for key, items in lists.items()}
    return all(
        tuple(items) in complete[key]
        or (items and _are_in_one([*filter(is_known, items)], lists[key][:_MOST_LISTS]))
        for key, items in _lists(shown)
        if key in lists
    )


def _lists(value: Any, key: str = "") -> Iterator[tuple[str, list[str]]]:
    """Yield the lists of scalars in some data as texts, each with the key that leads to it."""
    waiting = [(key, value)]
    while waiting:
        key, item = waiting.pop()
        if isinstance(item, dict):
            waiting.extend((plain_key(str(name)), part) for name, part in item.items())
        elif isinstance(item, list) and any(map(is_container, item)):
            waiting.extend((key, part) for part in item)
        elif isinstance(item, list):
            yield key, [*map(as_text, item)]


def _are_in_one(items: Sequence[str], lists: Sequence[Sequence[str]]) -> bool:
    """True if some items stand in one of some lists in their order."""
    iterators = map(iter, lists)
    return any(all(any(same_value(it, of) for of in rest) for it in items) for rest in iterators)


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
