"""What was dropped: the worst tool results, untruncated beside what each strategy kept, and the steps that needed what is gone."""

from __future__ import annotations

from ...model import Comparison
from .. import contenders, panel
from ..blocks import Block, Prose, counted
from ..loss.side_by_side import LOST, MAX_STRATEGIES, badness, damages, side_by_side

MAX_RESULTS = 6
MAX_RESULTS_A_CASE = 2


@panel("dropped", order=30, title="What was dropped?")
def dropped(comparison: Comparison) -> list[Block]:
    """The worst tool results: untruncated with lost facts marked, what each strategy kept, and which later step needed what was lost.

    Source: design §6
    """
    found = damages(comparison, contenders(comparison), comparison.cases)
    if not found:
        looked_at = any(
            comparison.samples.get((strategy, metric, case))
            for strategy in contenders(comparison) for metric in LOST for case in comparison.cases
        )  # fmt: skip
        if not looked_at:
            return [Prose("Not measured: no tool result of a finished run holds a fact.", "warn")]
        return [Prose("Nothing: no declared strategy lost a fact of any tool result.", "good")]
    ordered = sorted(found, key=lambda place: (badness(found[place]), place))
    a_case = max(MAX_RESULTS_A_CASE, -(-MAX_RESULTS // len(comparison.cases)))
    chosen: list[tuple[str, int]] = []
    for place in ordered:
        if sum(case == place[0] for case, _ in chosen) < a_case and len(chosen) < MAX_RESULTS:
            chosen.append(place)
    results = sum(len(comparison.traces[case].results) for case in comparison.cases)
    needed = sum(any(damage.missed for damage in damaged) for damaged in found.values())
    said = (
        f"Some strategy lost something of {counted(len(found), 'tool result')} out of {results}; "
        f"of {needed} later turns needed what was lost. Shown: the worst {len(chosen)}, at most "
        f"{a_case} of a case and {MAX_STRATEGIES} strategies each, long texts in excerpts."
    )
    return [Prose(said), *(side_by_side(comparison, case, step, found[case, step]) for case, step in chosen)]
