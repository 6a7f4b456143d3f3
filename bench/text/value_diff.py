"""Differences between two structured values: values that differ, and lists in another order.
`same_data` tells whether whole texts are equal, `quantities` whether two scalars are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..model import as_text, grouped
from .columnar import is_container
from .keys import plain_key
from .quantities import kind_of, same_value, unit_of

_MOST_LISTS = 1000
"""The most lists with which a list is compared that is equal to none."""

Known = Callable[[str], bool]


def keep_order(shown: Any, full: Any, is_known: Known) -> bool:
    """True if the known items of each list of scalars have the order of a list under the same key in
    the full data.

    >>> full = {"runs": [{"tags": ["a", "b", "c"]}, {"tags": ["d"]}]}
    >>> lists = ["a", "1 more", "c"], ["c", "a"], ["a", "d"]
    >>> [keep_order({"runs": [{"tags": tags}]}, full, {*"abcd"}.__contains__) for tags in lists]
    [True, False, False]
    """
    lists = grouped(_lists(full))
    complete = {key: {*map(tuple, items)} for key, items in lists.items()}
    return all(
        tuple(items) in complete[key]
        or (items and _are_in_order([*filter(is_known, items)], lists[key][:_MOST_LISTS]))
        for key, items in _lists(shown)
        if key in lists
    )


def _lists(value: Any, key: str = "") -> Iterator[tuple[str, list[str]]]:
    """Yield the lists of scalars in a value, as (key, texts)."""
    waiting = [(key, value)]
    while waiting:
        key, item = waiting.pop()
        if isinstance(item, dict):
            waiting.extend((plain_key(str(name)), part) for name, part in item.items())
        elif isinstance(item, list) and any(map(is_container, item)):
            waiting.extend((key, part) for part in item)
        elif isinstance(item, list):
            yield key, [*map(as_text, item)]


def _are_in_order(items: Sequence[str], lists: Sequence[Sequence[str]]) -> bool:
    """True if one of the lists has all items in this order."""
    for texts in lists:
        rest = iter(texts)
        if all(any(same_value(item, text) for text in rest) for item in items):
            return True
    return False


def scalars_of(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the scalars in a value, each with the last key that leads to it, in order.

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
    """True if a text shows the value of a field. It does not if it is empty, if it ends early without
    a mark such as `…`, or if it adds a unit.

    >>> [is_same_field(text, "missing item") for text in ("Missing item", "missing it…", "missing", "")]
    [True, True, False, False]
    >>> is_same_field("22.01 lb", "22.01"), is_same_field("22.01", "22.01 lb"), is_same_field("-", "")
    (False, True, True)
    """
    if text.strip() == "":
        return kind_of(value) == "nothing"
    small_text, small_value = text.strip().casefold(), value.strip().casefold()
    is_cut = small_text != small_value and small_value.startswith(small_text)
    if is_cut and kind_of(text) == "a":
        return False
    return same_value(text, value) and not (unit_of(text) and not unit_of(value))


def differences(shown: Any, full: Any, key: str = "") -> list[tuple[str, str]] | None:
    """The values that differ between two values of the same structure, as (shown, full) texts with
    their key; None for another structure, an emptied value, or if more than half differ.

    >>> differences({"id": 7, "tags": ["a", "b"]}, {"id": 7, "tags": ["a", "c"]}), differences([1], [1, 2])
    ([('tags: b', 'tags: c')], None)
    """
    differing: list[tuple[str, str]] = []
    same = 0
    waiting = [(shown, full, key)]
    while waiting:
        shown, full, key = waiting.pop()
        if isinstance(shown, dict) and isinstance(full, dict) and shown.keys() == full.keys():
            waiting.extend((shown[name], full[name], str(name)) for name in reversed(shown))
        elif isinstance(shown, list) and isinstance(full, list) and len(shown) == len(full):
            waiting.extend(zip(reversed(shown), reversed(full), [key] * len(shown), strict=True))
        elif is_container(shown) or is_container(full):
            return None
        elif is_same_field(as_text(shown), as_text(full)):
            same += 1
        elif shown is None or same_value(as_text(shown), as_text(full)):
            return None
        else:
            differing.append((f"{key}: {as_text(shown)}", f"{key}: {as_text(full)}"))
    return differing if len(differing) <= same else None
