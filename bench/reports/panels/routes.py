"""Where routes went wrong: what each router took against what was expected, and where it first went another way."""

from __future__ import annotations

from ...evidence.confusion import confusion
from ...model import Comparison, Decision
from .. import panel
from ..blocks import Block, Cell, Column, Fold, Prose, Table, counted, listed
from ..decision_path import path

MAX_DIVERGENCES = 20
MAX_PATHS = 3
ORIGIN = {
    "labelled": "labelled in the scenario or trace",
    "recorded": "recorded in the trace",
    "untruncated": "what the router decides on untruncated records",
}


@panel("routes", order=60, title="Where did routes go wrong?")
def routes(comparison: Comparison) -> list[Block]:
    """A confusion matrix per strategy and router, and each case's first divergence from the expected route.

    Source: design §4
    """
    decided = {
        (strategy, case): comparison.runs[strategy, case].decisions
        for strategy in (*comparison.strategies, *comparison.references)
        for case in comparison.cases
        if (strategy, case) in comparison.runs
    }
    everything = [decision for decisions in decided.values() for decision in decisions]
    if not everything:
        return [Prose("No strategy here has a router, so no route was decided.", "muted")]
    wrong = [decision for decision in everything if decision.route != decision.expected]
    origins = listed([f"{ORIGIN[name]} ({sum(d.expected_from == name for d in everything)})" for name in ORIGIN
                      if any(d.expected_from == name for d in everything)])  # fmt: skip
    said = f"{counted(len(wrong), 'decision')} of {len(everything)} went another way than expected. Expected means: {origins}."
    blocks: list[Block] = [Prose(said, "bad" if wrong else "good"), *_divergences(decided), *_paths(decided)]
    for strategy in (*comparison.strategies, *comparison.references):
        of_strategy = [d for (name, _), decisions in decided.items() if name == strategy for d in decisions]
        for router, counts in confusion(of_strategy).items():
            blocks.append(_matrix(strategy, router, counts))
    return blocks


def _matrix(strategy: str, router: str, counts: dict[str, dict[str, int]]) -> Block:
    """Expected routes down, taken routes across; the diagonal is right. The title of one with mistakes is marked."""
    total = sum(sum(taken.values()) for taken in counts.values())
    right = sum(taken.get(expected, 0) for expected, taken in counts.items())
    names = sorted({*counts, *(name for taken in counts.values() for name in taken)})
    rows = tuple(
        (Cell(expected), *(_count(taken.get(name, 0), expected == name) for name in names))
        for expected, taken in counts.items()
    )
    title = f"{strategy}, router {router}: {right} of {total} as expected"
    columns = (Column("expected ↓ taken →"), *(Column(name, align="right") for name in names))
    return Fold(title if right == total else f"✗ {title}", (Table(columns, rows),))


def _count(count: int, right: bool) -> Cell:
    return Cell(str(count), "good" if right else "bad") if count else Cell("·", "muted")


def _paths(decided: dict[tuple[str, str], tuple[Decision, ...]]) -> list[Block]:
    """The first runs with a wrong turn, decision by decision; where there is none, the first run with decisions."""
    wrong = [key for key, decisions in decided.items() if any(d.route != d.expected for d in decisions)]
    some = wrong[:MAX_PATHS] or [key for key, decisions in decided.items() if decisions][:1]
    paths = (path(f"{strategy} on {case}", decided[strategy, case]) for strategy, case in some)
    return [found for found in paths if found is not None]


def _divergences(decided: dict[tuple[str, str], tuple[Decision, ...]]) -> list[Block]:
    firsts = []
    for (strategy, case), decisions in decided.items():
        first = next((decision for decision in decisions if decision.route != decision.expected), None)
        if first is not None:
            firsts.append((strategy, case, first))
    if not firsts:
        return []
    rows = tuple(
        (
            Cell(strategy, strategy=strategy),
            Cell(case, case=case),
            Cell(str(first.step)),
            Cell(first.router),
            Cell(f"{first.expected} ({first.expected_from})"),
            Cell(first.route, "bad"),
        )
        for strategy, case, first in firsts[:MAX_DIVERGENCES]
    )
    left = len(firsts) - len(rows)
    caption = "First divergence of each case" + (f"; {left} more are left out here." if left else ".")
    columns = (Column("strategy"), Column("case"), Column("step", align="right"), Column("router"), Column("expected"), Column("taken"))  # fmt: skip
    return [Table(columns, rows, caption)]
