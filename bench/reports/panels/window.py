"""How the window moved: prompt tokens call by call, with what was taken out and what was missed."""

from __future__ import annotations

from ...model import Case, Comparison
from ...text.wording import NOT_MEASURED, counted, quantity
from .. import brackets, contenders, panel
from ..blocks import Beside, Block, Cell, Column, Prose, Table, measured
from ..window_charts import window_chart

MAX_CASES = 4
MAX_TURNS = 10
FAULTS = "needed.faults"
SHOWN = ("keep_all", "recorded", "floor")


@panel("window", order=40, title="How did the window move?")
def window(comparison: Comparison) -> list[Block]:
    """Prompt tokens of every model call by strategy, with what was compacted, what was evicted, and which turns leaned on something gone."""
    shown = (*contenders(comparison), *(name for name in brackets(comparison) if name in SHOWN))
    if not any(case.recording.calls for case in comparison.cases):
        return [Prose("The traces hold no model call, so there is no prompt to follow.", "muted")]
    blocks: list[Block] = [_table(comparison, shown)]
    missed = _missed(comparison)
    if missed is not None:
        blocks.append(missed)
    by_size = sorted(comparison.cases, key=lambda case: (-_size(case), case.id))[:MAX_CASES]
    drawn = (window_chart(case, shown, contenders(comparison)) for case in by_size)
    charts: list[Block] = [chart for chart in drawn if chart is not None]
    if charts:
        blocks.append(Beside(tuple(charts)))
    if len(comparison.cases) > len(by_size):
        blocks.append(Prose(f"Charts: the {len(by_size)} cases of most tokens, of {len(comparison.cases)}.", "muted"))
    return blocks


def _missed(comparison: Comparison) -> Table | None:
    """The turns that missed most under one strategy, ten of them, with what they needed; None where no turn missed anything."""
    found = [
        (len(call.missed), case.id, call.step, name, call.missed)
        for case in comparison.cases
        for name in contenders(comparison)
        for call in case.runs[name].window.curve
        if call.missed
    ]
    if not found:
        return None
    worst = sorted(found, key=lambda item: (-item[0], *item[1:4]))[:MAX_TURNS]
    rows = tuple(
        (
            Cell(f"{case}, step {step}", case=case, step=step),
            Cell(name, strategy=name),
            Cell(", ".join(facts)),
        )
        for _, case, step, name, facts in worst
    )
    columns = (Column("turn"), Column("strategy"), Column("needed, and no longer there"))
    left = int(sum(comparison.value(name, FAULTS) or 0 for name in contenders(comparison))) - len(worst)
    return Table(columns, rows, f"The {MAX_TURNS} turns that missed most; {left} more." if left > 0 else "")


def _size(case: Case) -> int:
    return max((run.window.total_tokens for run in case.runs.values()), default=0)


def _table(comparison: Comparison, shown: tuple[str, ...]) -> Table:
    rows = []
    for name in shown:
        windows = [case.runs[name].window for case in comparison.cases]
        known = [item.over for item in windows if item.over is not None]
        rows.append(
            (
                Cell(name, strategy=name),
                Cell(quantity(sum(item.calls for item in windows), "calls")),
                Cell(quantity(max((item.largest_tokens for item in windows), default=None), "tokens")),
                Cell(quantity(sum(item.compacted for item in windows), "calls")),
                Cell(quantity(sum(item.evicted for item in windows), "results")),
                measured(comparison.row(name, FAULTS)),
                Cell(str(sum(known)), "bad" if sum(known) else "plain") if known else Cell(NOT_MEASURED, "muted"),
            )
        )
    titles = (
        "model calls",
        "largest prompt",
        "calls compacted",
        "results evicted",
        "calls that lean on something gone",
        "over the window",
    )
    known_cases = sum(case.runs[shown[0]].window.over is not None for case in comparison.cases)
    caption = f"The model's window is known in {known_cases} of {counted(len(comparison.cases), 'case')}."
    return Table((Column("strategy"), *(Column(title, align="right") for title in titles)), tuple(rows), caption)
