"""Structured values leaf by leaf, and how much of one value another still holds.

A leaf is a scalar or an empty container, at a path of mapping keys; positions in lists are not part of a path. JSON inside strings is decoded
first. A mapping inside a list is a row: its leaves belong together and their paths start at the row, wherever the row stands.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..model import compact_json, grouped
from .decode import NothingParsed, parse_json

Typed = tuple[type, Any]
"""A value with its type, so that 1, True, 1.0 and "1" are four values and NaN is equal to itself."""

Path = tuple[str, ...]
Leaf = tuple[Path, Typed]

CANDIDATES = 16
"""The most rows that a changed row is compared with."""


@dataclass(frozen=True)
class Leaves:
    """A value taken apart: the leaves of each row, and the others."""

    rows: list[list[Leaf]] = field(default_factory=list)
    others: list[Leaf] = field(default_factory=list)

    @functools.cached_property
    def total(self) -> int:
        """The number of leaves."""
        return len(self.others) + sum(map(len, self.rows))

    @functools.cached_property
    def sizes(self) -> Counter[Leaf]:
        """The distinct leaves, with how often each is there."""
        return Counter(self)

    def __iter__(self) -> Iterator[Leaf]:
        for row in self.rows:
            yield from row
        yield from self.others


@dataclass(frozen=True)
class Match:
    """The leaves of a value that are still held, out of all of them, and those that are lost.

    Of its rows, `rows_kept` were found again, recognised by at least one leaf.
    """

    kept: int
    total: int
    lost: list[Leaf]
    rows_kept: int = 0

    @functools.cached_property
    def missing(self) -> Counter[Leaf]:
        """The distinct lost leaves, with how often each is lost."""
        return Counter(self.lost)


def typed(value: Any) -> Typed:
    """A scalar with its type, to be compared and hashed; anything that cannot be hashed stands as its `repr`."""
    if isinstance(value, float) and value != value:
        return float, "NaN"
    if value is None or isinstance(value, str | int | float):
        return type(value), value
    return type(value), repr(value)


def same(one: Any, other: Any, equal: Callable[[Any, Any], bool] | None = None) -> bool:
    """True if two values are the same, types included; a tuple is a list, NaN equals itself, the order of keys does not matter.

    `equal` compares two scalars in another way.

    >>> same({"a": [1, None]}, {"a": (1, None)}), same(1, True), same(1, 1.0), same(float("nan"), float("nan"))
    (True, False, False, True)
    """
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(item, other[key], equal) for key, item in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(same(*pair, equal) for pair in zip(one, other, strict=True))
    return equal(one, other) if equal else typed(one) == typed(other)


def flatten(value: Any) -> Leaves:
    """The leaves of a value.

    >>> flatten({"n": 2, "table": '[{"id": 1, "tags": ["a", "b"]}, {"id": 2, "tags": []}]'}).rows[0]
    [(('id',), (<class 'int'>, 1)), (('tags',), (<class 'str'>, 'a')), (('tags',), (<class 'str'>, 'b'))]
    >>> flatten({"n": 2, "empty": {}}).others
    [(('n',), (<class 'int'>, 2)), (('empty',), (<class 'dict'>, None))]
    """
    rows: list[list[Leaf]] = []
    others: list[Leaf] = []
    waiting: list[tuple[Any, Path, list[Leaf]]] = [(_decoded(value), (), others)]
    while waiting:
        node, path, into = waiting.pop()
        nested: list[tuple[Any, Path, list[Leaf]]] = []
        listed = isinstance(node, list)
        if not node or not (listed or isinstance(node, dict)):
            into.append((path, (type(node), None) if isinstance(node, dict | list) else typed(node)))
            continue
        for key, item in (("", item) for item in node) if listed else node.items():
            item, below = _decoded(item), path if listed else (*path, str(key))
            if not isinstance(item, dict | list):
                into.append((below, typed(item)))
            elif listed and item and isinstance(item, dict):
                rows.append([])
                nested.append((item, (), rows[-1]))
            else:
                nested.append((item, below, into))
        waiting.extend(reversed(nested))
    return Leaves([row for row in rows if row], others)


def together(parts: Sequence[Leaves]) -> Leaves:
    """The leaves of several values as one."""
    return Leaves([row for part in parts for row in part.rows], [leaf for part in parts for leaf in part.others])


def _decoded(item: Any) -> Any:
    """Return the value inside a string that is itself a JSON container; a tuple becomes a list; anything else stays."""
    if isinstance(item, str):
        if not item or item[0] not in "{[ \t\r\n\ufeff":
            return item
        try:
            return parse_json(item)
        except NothingParsed:
            return item
    return list(item) if isinstance(item, tuple) else item


def match(untruncated: Leaves, held: Leaves) -> Match:
    """Match the leaves of a value with those another value still holds; each held leaf serves once.

    Rows first: equal ones as a multiset, then each remaining one with the row it shares most leaves with (of at most 16 candidates a row, so that
    the work stays bounded). Then the other leaves: equal value, and the longest common end of their paths, at least the last key. A leaf of no
    row may be found in a row; a leaf of a row counts outside rows only where the path there ends in its whole path.

    >>> table = flatten([{"id": 1, "level": "a"}, {"id": 2, "level": "b"}])
    >>> found = match(table, flatten({"shown": [{"id": 2}, {"id": 1, "level": "b"}]}))
    >>> found.kept, found.total, found.lost
    (2, 4, [(('level',), (<class 'str'>, 'a')), (('level',), (<class 'str'>, 'b'))])
    """
    row_lost, row_left, rows_kept = _match_rows(untruncated.rows, held.rows)
    lost, others_left = _match_others(untruncated.others, held.others)
    lost, _ = _match_others(lost, row_left)
    row_lost, _ = _match_where_path_ends(row_lost, others_left)
    lost = row_lost + lost
    return Match(untruncated.total - len(lost), untruncated.total, lost, rows_kept)


def tokens_of(leaf: Typed) -> tuple[str, ...]:
    """The ways in which a leaf may stand in a text: as JSON and as Python write it.

    >>> [tokens_of(leaf) for _, leaf in flatten([True, None, 1e-9, "a b", "", []]).others]
    [('true', 'True'), ('null', 'None'), ('1e-9', '1e-09'), ('a b',), ('""', "''"), ('[]',)]
    """
    kind, value = leaf
    if kind is dict:
        return ("{}",)
    if kind is list:
        return ("[]",)
    if kind is str:
        return (value,) if value else ('""', "''")
    if kind is float and value == "NaN":
        return "NaN", "nan", "null"
    if kind in (bool, float, type(None)):
        return tuple(dict.fromkeys((compact_json(value), str(value))))
    return (str(value),)


# ---------------------------------------------------------------- rows


class _Row:
    """One row to be paired: its leaves in order, those that repeat numbered, so that sets of them compare as multisets."""

    __slots__ = ("leaves", "set")

    def __init__(self, leaves: list[Leaf]) -> None:
        self.leaves: list[tuple[Any, ...]] = list(leaves)
        self.set = frozenset(self.leaves)
        if len(self.set) < len(leaves):
            seen: Counter[Leaf] = Counter()
            for place, leaf in enumerate(leaves):
                seen[leaf] += 1
                if seen[leaf] > 1:
                    self.leaves[place] = (*leaf, seen[leaf])
            self.set = frozenset(self.leaves)

    def without(self, other: frozenset[Any]) -> list[Leaf]:
        """Its leaves that are not among others."""
        return [(leaf[0], leaf[1]) for leaf in self.leaves if leaf not in other]


_Rows = dict[int, _Row]  # by place


def _match_rows(rows: list[list[Leaf]], held: list[list[Leaf]]) -> tuple[list[Leaf], list[Leaf], int]:
    """The leaves of rows that no held row gives, the leaves of held rows that are left, and how many rows were found again."""
    ours, theirs = dict(enumerate(map(_Row, rows))), dict(enumerate(map(_Row, held)))
    equal = _pair_equal(ours, theirs, lambda row: row.set)
    pairs: list[tuple[_Row, _Row]] = []
    columns = {frozenset(leaf[0] for leaf in row.leaves) for row in theirs.values()}
    if len(columns) == 1:  # one set of columns: a row that agrees in all of them cannot be paired better
        (kept,) = columns
        pairs += _pair_equal(ours, theirs, lambda row: frozenset(leaf for leaf in row.leaves if leaf[0] in kept))
    pairs += _pair_overlapping(ours, theirs)
    nothing: frozenset[Any] = frozenset()
    lost = [leaf for mine, other in pairs for leaf in mine.without(other.set)]
    left = [leaf for mine, other in pairs for leaf in other.without(mine.set)]
    lost += [leaf for row in ours.values() for leaf in row.without(nothing)]
    left += [leaf for row in theirs.values() for leaf in row.without(nothing)]
    return lost, left, len(equal) + len(pairs)


def _pair_equal(ours: _Rows, theirs: _Rows, shape: Callable[[_Row], frozenset[Any]]) -> list[tuple[_Row, _Row]]:
    """Take out of both every pair that is equal once ours is brought into shape."""
    pool = grouped((theirs[place].set, place) for place in reversed(theirs))
    pairs = []
    for place, row in list(ours.items()) if pool else ():
        same = pool.get(shape(row))
        if same:
            pairs.append((ours.pop(place), theirs.pop(same.pop())))
    return pairs


def _pair_overlapping(ours: _Rows, theirs: _Rows) -> list[tuple[_Row, _Row]]:
    """Take out pairs of rows that share leaves, those that share most first; first come first served where several share as many."""
    holders = grouped((leaf, place) for place, row in theirs.items() for leaf in row.leaves)
    pairs = []
    for _, mine, other in sorted(_candidates(ours, theirs, holders)):
        if mine in ours and other in theirs:
            pairs.append((ours.pop(mine), theirs.pop(other)))
    for places in holders.values():
        places.reverse()
    for mine in list(ours):  # whose candidates were all taken: the first row left that shares its rarest leaf
        for leaf in _rarest_first(ours[mine], holders):
            places = holders[leaf]
            while places and places[-1] not in theirs:
                places.pop()
            if places:
                pairs.append((ours.pop(mine), theirs.pop(places.pop())))
                break
    return pairs


def _rarest_first(row: _Row, holders: dict[tuple[Any, ...], list[int]]) -> list[tuple[Any, ...]]:
    return sorted((leaf for leaf in row.leaves if leaf in holders), key=lambda leaf: len(holders[leaf]))


def _candidates(
    ours: _Rows, theirs: _Rows, holders: dict[tuple[Any, ...], list[int]]
) -> Iterator[tuple[int, int, int]]:
    """(−shared leaves, our place, their place) of rows that may be the same: by their rarest leaves, near the same place among the holders.

    >>> rows = {place: _Row([(("a",), ("str", "x")), (("b",), ("int", place))]) for place in range(50)}
    >>> found = list(_candidates(rows, rows, grouped((rows[0].leaves[0], place) for place in rows)))
    >>> [[their for _, our, their in found if our == place] == [*range(*span)] for place, span in {0: (0, 16), 20: (12, 28), 49: (34, 50)}.items()]
    [True, True, True]
    """
    asked: Counter[tuple[Any, ...]] = Counter()
    for place, row in ours.items():
        found: dict[int, None] = {}
        for leaf in _rarest_first(row, holders):
            places = holders[leaf]
            start = max(0, min(asked[leaf] - CANDIDATES // 2, len(places) - CANDIDATES))
            asked[leaf] += 1
            found.update(dict.fromkeys(places[start : start + CANDIDATES - len(found)]))
            if len(found) >= CANDIDATES:
                break
        for other in found:
            yield -len(row.set & theirs[other].set), place, other


# ---------------------------------------------------------------- other leaves

_LEVELS = 8  # how many keys of a path are told apart where the whole paths differ


def _match_others(ours: list[Leaf], held: list[Leaf]) -> tuple[list[Leaf], list[Leaf]]:
    """Ours that no held leaf serves, and the held ones that are left: equal path first, then ever fewer of its last keys, then, for a leaf
    under no key at all, the value alone.
    """
    ours, held = _serve(ours, held, lambda leaf: leaf, lambda leaf: leaf)
    longest = min(max((len(path) for path, _ in leaves), default=0) for leaves in (ours, held))
    for keys in [*range(longest, 0, -1)][-_LEVELS:]:
        last = functools.partial(_end, keys=keys)
        ours, held = _serve(ours, held, last, last)
    return _serve(ours, held, lambda leaf: None if leaf[0] else leaf[1], lambda leaf: leaf[1])


def _end(leaf: Leaf, keys: int, whole: bool = False) -> Any:
    """A leaf under the last keys of its path; None where the path has fewer, or with `whole` any other number of keys."""
    path, typed = leaf
    return None if len(path) < keys or (whole and len(path) > keys) else (path[-keys:], typed)


def _match_where_path_ends(ours: list[Leaf], held: list[Leaf]) -> tuple[list[Leaf], list[Leaf]]:
    """As above for leaves of rows: the whole path of ours must be the end of the held one."""
    for keys in sorted({len(path) for path, _ in ours}, reverse=True):
        own, last = functools.partial(_end, keys=keys, whole=True), functools.partial(_end, keys=keys)
        ours, held = _serve(ours, held, own, last)
    return ours, held


def _serve(
    ours: list[Leaf], held: list[Leaf], our_key: Callable[[Leaf], Any], held_key: Callable[[Leaf], Any]
) -> tuple[list[Leaf], list[Leaf]]:
    """Match our leaves, in order, with held ones of the same key, each used once. A key of None matches nothing. Gives what is left of both."""
    if not ours or not held:
        return ours, held
    pool = grouped((held_key(held[place]), place) for place in range(len(held) - 1, -1, -1))
    pool.pop(None, None)
    taken: set[int] = set()
    lost = []
    for leaf in ours:
        if same := pool.get(our_key(leaf)):
            taken.add(same.pop())
        else:
            lost.append(leaf)
    return lost, [leaf for place, leaf in enumerate(held) if place not in taken]
