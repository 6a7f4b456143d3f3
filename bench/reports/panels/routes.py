"""Where routes went wrong: what each router took against what was expected, and where it first went another way."""

from __future__ import annotations

from ...blocks import Block, Cell, Column, Fold, Prose, Table, counted, listed
from ...model import Comparison, Decision
from .. import panel

MAX_DIVERGENCES = 20
ORIGIN = {
    "labelled": "labelled in the scenario or trace",
    "recorded": "recorded in the trace",
    "untruncated": "what the router decides on untruncated records",
}


@panel("routes", order=70, title="Where did routes go wrong?")
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
    blocks: list[Block] = [Prose(said, "bad" if wrong else "good"), *_divergences(comparison, decided)]
    for strategy in (*comparison.strategies, *comparison.references):
        of_strategy = [d for (name, _), decisions in decided.items() if name == strategy for d in decisions]
        for router in sorted({decision.router for decision in of_strategy}):
            chosen = [decision for decision in of_strategy if decision.router == router]
            right = sum(decision.route == decision.expected for decision in chosen)
            title = f"{strategy}, router {router}: {right} of {len(chosen)} as expected"
            matrix = _confusion(chosen)
            blocks.append(_matrix(title, matrix, right == len(chosen)))
    return blocks


def _matrix(title: str, matrix: Table, all_right: bool) -> Block:
    """A matrix folded away, named so that one without mistakes need not be opened."""
    return Fold(title if all_right else f"✗ {title}", (matrix,))


def _confusion(decisions: list[Decision]) -> Table:
    """Expected routes down, taken routes across; the diagonal is right."""
    names = sorted({name for decision in decisions for name in (decision.expected, decision.route)})
    counts: dict[tuple[str, str], int] = {}
    for decision in decisions:
        place = decision.expected, decision.route
        counts[place] = counts.get(place, 0) + 1
    rows = tuple(
        (
            Cell(expected),
            *(
                Cell(str(count), "good" if expected == taken else "bad") if (count := counts.get((expected, taken), 0)) else Cell("·", "muted")
                for taken in names
            ),
        )
        for expected in sorted({decision.expected for decision in decisions})
    )  # fmt: skip
    return Table((Column("expected ↓ taken →"), *(Column(name, align="right") for name in names)), rows)


def _divergences(comparison: Comparison, decided: dict[tuple[str, str], tuple[Decision, ...]]) -> list[Block]:
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
            Cell(case),
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
