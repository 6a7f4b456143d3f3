"""The leaves, rows, columns and keys that the prompts of a run still hold of each structured result, at its first prompt and at the last one.

Held is what the messages that show a result give when they are read back (JSON, a Python literal or CSV tables of `bench.text.lossless`, as far
as they go, then tables in text), and every value that stands beside its key on a line of any message of the prompt: an upper bound. Rows, columns and
keys are only what was read back: text about a row is no row.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..model import Prompt, ToolResult
from ..text.found_leaves import LabelsOf, by_label, match_read, with_labelled
from ..text.leaves import Leaf, Leaves, Match, Path, flatten
from ..text.texts import Texts
from .presence import PromptHeld


class HeldLeaves(NamedTuple):
    """The part of one structured result that one prompt still holds.

    `labelled` counts those of the kept leaves that were not read back, but stand beside their key: an upper bound.
    `rows`, `columns` (distinct paths within rows) and `paths` (of all leaves but those under no key): kept, of how many.
    """

    result: ToolResult
    match: Match
    labelled: int
    rows: tuple[int, int]
    columns: tuple[int, int]
    paths: tuple[int, int]


def is_structured(result: ToolResult) -> bool:
    """True if a result has leaves: its data is a mapping or a list."""
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
        self.labels = LabelsOf(self.leaves.values(), texts)
        """The values of every structured result that a text holds beside their key."""

        self._known: dict[tuple[int, tuple[str, ...]], tuple[HeldLeaves, dict[str, list[Leaf]]]] = {}

    def held(self, sightings: Iterable[tuple[str, ToolResult | Prompt, PromptHeld]]) -> dict[str, list[HeldLeaves]]:
        """Every structured result at its first prompt ("shown") and at the last one ("end"), in order."""
        found: dict[str, list[HeldLeaves]] = {"shown": [], "end": []}
        for place, subject, shown in sightings if self.leaves else ():
            if isinstance(subject, ToolResult) and subject.index in self.leaves:
                found[place].append(self._held(subject, shown))
        for of_place in found.values():
            of_place.sort(key=lambda held: held.result.index)
        return found

    def _held(self, result: ToolResult, shown: PromptHeld) -> HeldLeaves:
        leaves = self.leaves[result.index]
        texts = (result.text,) if shown.whole(result) else tuple(shown.texts_of(result.index))
        if (result.index, texts) not in self._known:
            held = self._read(result, leaves, texts)
            self._known[result.index, texts] = held, by_label(held.match.lost, self.labels.labels)
        held, lost = self._known[result.index, texts]
        if not lost:
            return held
        found, labelled = with_labelled(held.match, leaves, lost, shown.items())
        return held._replace(match=found, labelled=labelled) if labelled else held

    def _read(self, result: ToolResult, leaves: Leaves, texts: tuple[str, ...]) -> HeldLeaves:
        """The leaves that texts which show a result give when they are read back; the untruncated text gives everything."""
        rows, columns, paths = len(leaves.rows), self._columns[result.index], self._paths[result.index]
        if texts == (result.text,):
            everything = Match(leaves.total, leaves.total, [], rows)
            return HeldLeaves(result, everything, 0, (rows, rows), (len(columns),) * 2, (len(paths),) * 2)
        read, held = match_read(leaves, texts)
        in_rows = {path for row in held.rows for path, _ in row}
        return HeldLeaves(
            result,
            read,
            labelled=0,
            rows=(read.rows_kept, rows),
            columns=(len(columns & in_rows), len(columns)),
            paths=(_count_paths(paths, {path for path, _ in held}), len(paths)),
        )


def _count_paths(paths: frozenset[Path], held: set[Path]) -> int:
    """The number of paths held; one that is the end of the other counts, so that a value may be wrapped or unwrapped."""
    ends = {path[start:] for path in held for start in range(len(path))}
    return sum(path in ends or any(path[start:] in held for start in range(len(path))) for path in paths)
