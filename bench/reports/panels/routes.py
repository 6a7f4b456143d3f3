"""Where routes went wrong: what each router took against what was expected, and where it first went another way."""

from __future__ import annotations

from collections import Counter

from ...model import Comparison, RouteCount
from ...text.wording import counted, listed
from .. import panel
from ..blocks import Block, Cell, Column, Fold, Path, Prose, Table

MAX_DIVERGENCES = 10
MAX_PATHS = 3
MAX_ROUTES = 4
ORIGIN = {
    "labelled": "labelled in the scenario or trace",
    "recorded": "recorded in the trace",
    "untruncated": "what the router decides on untruncated records",
}
Matrix = dict[str, Counter[str]]
"""Expected route → taken route → how often."""


@panel("routes", order=60, title="Where did routes go wrong?")
def routes(comparison: Comparison) -> list[Block]:
    """A confusion matrix per strategy and router, and each case's first divergence from the expected route."""
    by_strategy = {
        name: [item for case in comparison.cases for item in case.runs[name].routes.counts]
        for name in comparison.everyone
    }
    everything = [item for counts in by_strategy.values() for item in counts]
    total = sum(item.count for item in everything)
    if not total:
        return [Prose("No strategy here has a router, so no route was decided.", "muted")]
    wrong = sum(item.count for item in everything if item.taken != item.expected)
    origins: Counter[str] = Counter()
    for item in everything:
        origins[item.expected_from] += item.count
    meant = listed([f"{ORIGIN[name]} ({origins[name]})" for name in ORIGIN if origins[name]])
    said = f"{counted(wrong, 'decision')} of {total} went another way than expected. Expected means: {meant}."
    blocks: list[Block] = [Prose(said, "bad" if wrong else "good"), _by_router(by_strategy)]
    blocks += [*_divergences(comparison), *_paths(comparison)]
    for strategy, counts in by_strategy.items():
        for router, matrix in _matrices(counts).items():
            blocks.append(_table(strategy, router, matrix))
    return blocks


def _by_router(by_strategy: dict[str, list[RouteCount]]) -> Table:
    """A row a strategy and router: how often it decided, how often as expected, and which routes it took, the most frequent first."""
    rows = []
    for strategy, counts in by_strategy.items():
        for router, matrix in _matrices(counts).items():
            taken = sum(matrix.values(), Counter[str]())
            right = sum(found[expected] for expected, found in matrix.items())
            routes = [f"{name} {count}" for name, count in sorted(taken.items(), key=lambda item: (-item[1], item[0]))]
            left = f" and {len(routes) - MAX_ROUTES} more" if len(routes) > MAX_ROUTES else ""
            share = Cell(f"{right} of {taken.total()}", "good" if right == taken.total() else "bad")
            rows.append(
                (Cell(strategy, strategy=strategy), Cell(router), share, Cell(", ".join(routes[:MAX_ROUTES]) + left))
            )
    columns = (Column("strategy"), Column("router"), Column("as expected", align="right"), Column("routes taken"))
    return Table(columns, tuple(rows))


def _matrices(counts: list[RouteCount]) -> dict[str, Matrix]:
    """The confusion matrix of every router, names sorted; only what happened is in it."""
    found: dict[str, Matrix] = {}
    for item in sorted(counts, key=lambda item: (item.router, item.expected, item.taken)):
        found.setdefault(item.router, {}).setdefault(item.expected, Counter())[item.taken] += item.count
    return found


def _table(strategy: str, router: str, matrix: Matrix) -> Block:
    """Expected routes down, taken routes across; the diagonal is right. The title of one with mistakes is marked."""
    total = sum(taken.total() for taken in matrix.values())
    right = sum(taken[expected] for expected, taken in matrix.items())
    names = sorted({*matrix, *(name for taken in matrix.values() for name in taken)})
    rows = tuple(
        (Cell(expected), *(_count(taken[name], expected == name) for name in names))
        for expected, taken in matrix.items()
    )
    title = f"{strategy}, router {router}: {right} of {total} as expected"
    columns = (Column("expected ↓ taken →"), *(Column(name, align="right") for name in names))
    return Fold(title if right == total else f"✗ {title}", (Table(columns, rows),))


def _count(count: int, right: bool) -> Cell:
    return Cell(str(count), "good" if right else "bad") if count else Cell("·", "muted")


def _paths(comparison: Comparison) -> list[Block]:
    """The first runs with a wrong turn, decision by decision; where there is none, the first run with decisions."""
    decided = [
        (name, case.id, case.runs[name].routes)
        for name in comparison.everyone for case in comparison.cases if case.runs[name].routes.path
    ]  # fmt: skip
    wrong = [item for item in decided if item[2].first_wrong is not None]
    return [Path.of(f"{name} on {case}", shown) for name, case, shown in wrong[:MAX_PATHS] or decided[:1]]


def _divergences(comparison: Comparison) -> list[Block]:
    firsts = [
        (name, case.id, case.runs[name].routes.first_wrong_step, first)
        for name in comparison.everyone
        for case in comparison.cases
        if (first := case.runs[name].routes.first_wrong) is not None
    ]
    if not firsts:
        return []
    rows = tuple(
        (
            Cell(strategy, strategy=strategy),
            Cell(case, case=case),
            Cell(str(step)),
            Cell(first.router),
            Cell(f"{first.expected} ({first.expected_from})"),
            Cell(first.taken, "bad"),
        )
        for strategy, case, step, first in firsts[:MAX_DIVERGENCES]
    )
    left = len(firsts) - len(rows)
    caption = "First divergence of each case" + (f"; {left} more." if left else ".")
    columns = (Column("strategy"), Column("case"), Column("step", align="right"), Column("router"), Column("expected"), Column("taken"))  # fmt: skip
    return [Table(columns, rows, caption)]
