"""What the prompts of a run still hold of each structured result: leaves, rows, columns and keys, at its first prompt and at the last one.

Held is what the messages that show a result give when they are read back: JSON, a Python literal or CSV tables of `bench.text.lossless`, either as
far as it goes, then tables in text (`bench.text.tables`). Beside tables in text, the lines that belong to none may hold more: what is still
missing is looked for there as whole tokens. Where nothing at all can be read, values are looked for as whole tokens in the whole prompt. Both
are upper bounds. Rows, columns and keys are only what was read back: text about a row is no row.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..model import Prompt, ToolResult
from ..text.labels import LabelsOf, count_labelled
from ..text.leaf_tokens import match_tokens, tokens_in
from ..text.leaves import Leaves, Match, Path, flatten
from ..text.read_back import match_read
from ..text.texts import Texts
from .presence import Shown


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


class StructuredResults:
    """The structured results of one trace, taken apart once; and what prompts hold of them.

    What the same texts hold of the same result is found once, whichever strategy shows them.
    """

    def __init__(self, results: Iterable[ToolResult], texts: Texts) -> None:
        self._texts = texts
        self.leaves: dict[int, Leaves] = {item.index: flatten(item.data) for item in results if is_structured(item)}
        """The leaves of each structured result, by its step."""

        self._columns = {
            step: frozenset(path for row in found.rows for path, _ in row) for step, found in self.leaves.items()
        }
        self._paths = {
            step: self._columns[step].union(path for path, _ in found.others if path)
            for step, found in self.leaves.items()
        }
        self._tokens = tokens_in(self.leaves.values(), texts)
        self._labels = LabelsOf(self.leaves.values(), texts)
        self._known: dict[tuple[int, tuple[str, ...]], HeldLeaves | None] = {}

    def items_of(self, text: str) -> tuple[str, ...]:
        """What is looked for where nothing can be read: every value of every structured result that a text holds, alone and beside its key."""
        return (*self._tokens(text), *self._labels(text))

    def held(self, sightings: Iterable[tuple[str, ToolResult | Prompt, Shown]]) -> dict[str, list[HeldLeaves]]:
        """Every structured result at its first prompt ("shown") and at the last one ("end"), in order."""
        found: dict[str, list[HeldLeaves]] = {"shown": [], "end": []}
        for place, subject, shown in sightings if self.leaves else ():
            if isinstance(subject, ToolResult) and subject.index in self.leaves:
                found[place].append(self._held(subject, shown))
        for of_place in found.values():
            of_place.sort(key=lambda held: held.result.index)
        return found

    def _held(self, result: ToolResult, shown: Shown) -> HeldLeaves:
        leaves, rows = self.leaves[result.index], len(self.leaves[result.index].rows)
        columns, paths = len(self._columns[result.index]), len(self._paths[result.index])
        if shown.whole(result):
            everything = Match(leaves.total, leaves.total, [], rows, sum(map(len, leaves.rows)))
            return HeldLeaves(result, everything, False, leaves.total, (rows, rows), (columns, columns), (paths, paths))
        key = result.index, tuple(shown.texts_of(result.index))
        if key not in self._known:
            self._known[key] = self._read_back(result, key[1])
        read = self._known[key]
        if read is not None:
            return read
        count_of = shown.items().__getitem__
        bound, labelled = match_tokens(leaves, count_of), count_labelled(leaves, count_of)
        return HeldLeaves(result, bound, True, labelled, (0, rows), (0, columns), (0, paths))

    def _read_back(self, result: ToolResult, shown: tuple[str, ...]) -> HeldLeaves | None:
        """How much of a result the texts hold that show it; None where none of them can be read."""
        leaves, columns, paths = self.leaves[result.index], self._columns[result.index], self._paths[result.index]
        found = match_read(leaves, shown, self._texts)
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


def _count_paths(paths: frozenset[Path], held: set[Path]) -> int:
    """How many paths are held: one that is the end of the other, so that a value may be wrapped or unwrapped."""
    ends = {path[start:] for path in held for start in range(len(path))}
    return sum(path in ends or any(path[start:] in held for start in range(1, len(path))) for path in paths)
