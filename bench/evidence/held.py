"""What the prompts of a run still hold of each structured result: leaves, rows, columns and keys, at its first prompt and at the last one.

Held is what the messages that show a result give when they are read back: JSON, a Python literal or CSV tables of `bench.text.lossless`, either as
far as it goes, then tables in text (`bench.text.tables`). Beside tables in text, the lines that belong to none may hold more: what is still
missing is looked for there as whole tokens. Where nothing at all can be read, values are looked for as whole tokens in the whole prompt. Both
are upper bounds. Rows, columns and keys are only what was read back: text about a row is no row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from ..model import Run, ToolResult, Trace
from ..text import lossless
from ..text.decode import NothingParsed, parse_json, parse_prefix
from ..text.labels import LabelsOf, count_labelled
from ..text.leaf_tokens import match_tokens, tokens_in
from ..text.leaves import Leaves, Match, Path, flatten, match, together
from ..text.tables import Names, find_tables
from .alike import alike
from .presence import Shown, sightings


@dataclass(frozen=True)
class Read:
    """What a text gives: leaves, None where nothing can be read; and the lines beside the tables that were read in it."""

    leaves: Leaves | None
    rest: str = ""


@dataclass(frozen=True)
class HeldLeaves:
    """How much of one structured result is still held in one prompt.

    `upper_bound`: some leaves were looked for as whole tokens. `labelled` counts leaves held together with their key.
    `rows`, `columns` (distinct paths within rows) and `paths` (of all leaves but those under no key): kept, of how many.
    """

    result: ToolResult
    match: Match
    upper_bound: bool
    labelled: int
    rows: tuple[int, int]
    columns: tuple[int, int]
    paths: tuple[int, int]


def is_structured(result: ToolResult) -> bool:
    """Whether a result has leaves: its data is a mapping or a list."""
    return isinstance(result.data, dict | list)


def leaves_of(trace: Trace, result: ToolResult) -> Leaves:
    """The leaves of a structured result, found once and kept with its trace."""
    known: dict[int, Leaves] = trace.__dict__.setdefault("_leaves", {})
    if result.index not in known:
        known[result.index] = flatten(result.data)
    return known[result.index]


def names_of(leaves: Leaves) -> Names:
    """The column names by which a table of these leaves is recognised: the keys of rows, joined by dots where they are nested, and of others.

    >>> names_of(flatten([{"id": 1, "size": {"x": 2}}]))
    {'id': ('id',), 'size.x': ('size', 'x'), 'x': ('size', 'x')}
    """
    paths = dict.fromkeys(path for path, _ in leaves if path)
    found = {".".join(path): path for path in paths}
    for path in paths:
        found.setdefault(path[-1], path)
    return found


def read_held(text: str, names: Names) -> Read:
    """What a text gives when it is read back.

    >>> names = names_of(flatten([{"id": 1}]))
    >>> read_held("id,level\\n7,L 1\\ndone", names)
    Read(leaves=Leaves(rows=[[(('id',), (<class 'int'>, 7)), (('level',), (<class 'str'>, 'L 1'))]], others=[]), rest='done')
    >>> read_held("nothing here", names).leaves is None
    True
    """
    if text.lstrip()[:1] in ("{", "["):
        try:
            return Read(flatten(parse_json(text)))
        except NothingParsed:
            pass
        if "@table" in text:
            try:
                return Read(flatten(lossless.read_tables(text)))
            except NothingParsed:
                pass
        try:
            value, end = parse_prefix(text)
        except NothingParsed:
            pass
        else:
            rows = find_tables(text[end:], names)[0]
            return Read(together([flatten(value), flatten(rows)]) if rows else flatten(value))
    rows, rest = find_tables(text, names)
    return Read(flatten(rows), rest) if rows else Read(None, text)


@dataclass(frozen=True)
class Found:
    """Some leaves matched with what texts hold: the match, what was read back, and how many leaves were found only beside tables, as whole
    tokens, and how many of these with their key.
    """

    match: Match
    held: Leaves
    beside: int = 0
    beside_labelled: int = 0


def match_read(leaves: Leaves, texts: Iterable[str]) -> Found | None:
    """Some leaves matched with what texts hold that can be read back; None where none can.

    >>> found = match_read(flatten({"total": 471, "rows": [{"id": 1}, {"id": 2}]}), ["id,x\\n2,y\\nof 471"])
    >>> found.match.kept, found.match.lost, found.beside, found.beside_labelled
    (2, [(('id',), (<class 'int'>, 1))], 1, 0)
    """
    names = names_of(leaves)
    read = [item for item in (read_held(text, names) for text in texts) if item.leaves is not None]
    if not read:
        return None
    held = together([item.leaves for item in read if item.leaves is not None])
    found = match(leaves, held)
    rest = [item.rest for item in read if item.rest.strip()]
    if not rest or not found.lost:
        return Found(found, held)
    lost = Leaves([], found.lost)
    tokens, labels = tokens_in([lost]), LabelsOf([lost])
    more = match_tokens(lost, Counter(item for text in rest for item in tokens(text)).__getitem__)
    labelled = count_labelled(lost, Counter(item for text in rest for item in labels(text)).__getitem__)
    counts = found.rows_kept, found.cells_compared, found.cells_changed
    matched = Match(found.kept + more.kept, found.total, more.lost, *counts)
    return Found(matched, held, more.kept, labelled)


def held_leaves(trace: Trace, run: Run) -> dict[str, list[HeldLeaves]]:
    """Every structured result at its first prompt ("shown") and at the last one ("end"), in order; found once for all runs that show the same."""
    kept = alike(trace, run)
    if "_held_leaves" not in kept:
        kept["_held_leaves"] = _find(trace, run)
    found: dict[str, list[HeldLeaves]] = kept["_held_leaves"]
    return found


def _find(trace: Trace, run: Run) -> dict[str, list[HeldLeaves]]:
    found: dict[str, list[HeldLeaves]] = {"shown": [], "end": []}
    if any(map(is_structured, trace.results)):
        for place, subject, prompt in sightings(trace, run, _items_of(trace)):
            if isinstance(subject, ToolResult) and is_structured(subject):
                found[place].append(_held(trace, subject, prompt))
    for of_place in found.values():
        of_place.sort(key=lambda held: held.result.index)
    return found


class _ItemsOf:
    """Both that is looked for where nothing can be read: every value of every structured result of a trace, alone and beside its key."""

    def __init__(self, parts: list[Leaves]) -> None:
        self._tokens, self._labels = tokens_in(parts), LabelsOf(parts)

    def __call__(self, text: str) -> tuple[str, ...]:
        return (*self._tokens(text), *self._labels(text))


def _items_of(trace: Trace) -> _ItemsOf:
    if "_leaf_items" not in trace.__dict__:
        structured = [result for result in trace.results if is_structured(result)]
        trace.__dict__["_leaf_items"] = _ItemsOf([leaves_of(trace, result) for result in structured])
    found: _ItemsOf = trace.__dict__["_leaf_items"]
    return found


def _held(trace: Trace, result: ToolResult, prompt: Shown) -> HeldLeaves:
    leaves = leaves_of(trace, result)
    columns, paths = _columns_and_paths(trace, result)
    rows = len(leaves.rows)
    if prompt.whole(result):
        everything = Match(leaves.total, leaves.total, [], rows, sum(map(len, leaves.rows)))
        of_columns, of_paths = (len(columns), len(columns)), (len(paths), len(paths))
        return HeldLeaves(result, everything, False, leaves.total, (rows, rows), of_columns, of_paths)
    known: dict[tuple[int, tuple[str, ...]], HeldLeaves | None] = trace.__dict__.setdefault("_leaf_matches", {})
    key = result.index, tuple(prompt.texts_of(result.index))
    if key not in known:
        known[key] = _read_back(result, leaves, columns, paths, key[1])
    read = known[key]
    if read is not None:
        return read
    count_of = prompt.items().__getitem__
    bound, labelled = match_tokens(leaves, count_of), count_labelled(leaves, count_of)
    return HeldLeaves(result, bound, True, labelled, (0, rows), (0, len(columns)), (0, len(paths)))


def _read_back(
    result: ToolResult, leaves: Leaves, columns: frozenset[Path], paths: frozenset[Path], texts: tuple[str, ...]
) -> HeldLeaves | None:
    """How much of a result the texts hold that show it; None where none of them can be read."""
    found = match_read(leaves, texts)
    if found is None:
        return None
    in_rows = {path for row in found.held.rows for path, _ in row}
    return HeldLeaves(
        result,
        found.match,
        upper_bound=found.beside > 0,
        labelled=found.match.kept - found.beside + found.beside_labelled,
        rows=(found.match.rows_kept, len(leaves.rows)),
        columns=(len(columns & in_rows), len(columns)),
        paths=(_count_paths(paths, {path for path, _ in found.held if path}), len(paths)),
    )


def _columns_and_paths(trace: Trace, result: ToolResult) -> tuple[frozenset[Path], frozenset[Path]]:
    known: dict[int, tuple[frozenset[Path], frozenset[Path]]] = trace.__dict__.setdefault("_leaf_paths", {})
    if result.index not in known:
        leaves = leaves_of(trace, result)
        in_rows = frozenset(path for row in leaves.rows for path, _ in row)
        known[result.index] = in_rows, in_rows.union(path for path, _ in leaves.others if path)
    return known[result.index]


def _count_paths(paths: frozenset[Path], held: set[Path]) -> int:
    """How many paths are held: one that is the end of the other, so that a value may be wrapped or unwrapped."""
    ends = {path[start:] for path in held for start in range(len(path))}
    return sum(path in ends or any(path[start:] in held for start in range(1, len(path))) for path in paths)
