"""The verdicts of the gates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...model import Verdict
from ...text.wording import counted, listed
from .. import panel
from ..answered import Answered
from ..blocks import MOST_ROWS, OUTCOMES, Block, Cell, Fold, Prose, Table, strategy, table_of
from ..words import told

SAID = {
    "fail": ("fails", "fail"),
    "inconclusive": ("cannot be judged", "cannot be judged"),
    "skipped": ("is skipped", "are skipped"),
    "pass": ("holds", "hold"),
}
SHOWN_PASSES = 4


@panel("gates", order=70, title="Do the gates hold?", detail=True)
def gates(comparison: Answered) -> list[Block]:
    """The verdict of every gate: failures first, then what could not be judged, then what passed."""
    ordered = sorted(comparison.verdicts, key=lambda verdict: list(OUTCOMES).index(verdict.outcome))
    if not ordered:
        return [Prose("Gates are declared, but none was judged.", "warn")] if comparison.rules else []
    head = Prose(_said(Counter(verdict.outcome for verdict in ordered)), OUTCOMES[ordered[0].outcome])
    others = [verdict for verdict in ordered if verdict.outcome != "pass"]
    passed = ordered[len(others) :]
    if len(passed) <= SHOWN_PASSES and len(ordered) <= MOST_ROWS:
        return [head, _table(ordered)]
    blocks: list[Block] = [head, *([_table(others[:MOST_ROWS])] if others else [])]
    if others[MOST_ROWS:]:
        blocks.append(Fold(f"{len(others) - MOST_ROWS} more that did not pass", (_table(others[MOST_ROWS:]),)))
    return [*blocks, Fold(f"{len(passed)} gates passed", (_table(passed),))]


def _said(counts: Counter[str]) -> str:
    """The number of gates by outcome: a gate on two strategies is two."""
    total = counts.total()
    if counts["pass"] == total:
        return "The one gate holds." if total == 1 else f"All {total} gates hold."
    said = [f"{counts[name]} {words[counts[name] > 1]}" for name, words in SAID.items() if counts[name]]
    return f"Of {counted(total, 'gate')}, {listed(said)}."


def _table(verdicts: Sequence[Verdict]) -> Table:
    return table_of(
        verdicts,
        {
            "outcome": lambda verdict: Cell(verdict.outcome, OUTCOMES[verdict.outcome]),
            "strategy": lambda verdict: strategy(verdict.strategy),
            "gate": lambda verdict: verdict.gate,
            "verdict": told,
        },
    )
