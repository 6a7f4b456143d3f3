"""Prompt tokens call by call, the turns that missed something, and the fewest tokens that would have done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...model import Comparison
from ...text.wording import NOT_MEASURED, counted, quantity
from .. import panel
from ..answered import Answered
from ..blocks import (
    MOST_ROWS,
    Beside,
    Block,
    Cell,
    Fold,
    Prose,
    Table,
    by_strategy,
    measured,
    number,
    strategy,
    table_of,
)
from ..charts import window_chart

MAX_CASES = 4
COST, RECALL, FAULTS = "cost.prompt_tokens", "needed.recall", "needed.faults"
OVER_ORACLE, OVER_CLAIRVOYANT = "needed.tokens_over_oracle", "needed.tokens_over_clairvoyant"
SHOWN = ("keep_all", "recorded", "floor")
LIMITS = (
    "A verbatim selection shows the system turns and the needed facts alone, each until its last use, and gives up first what costs most to keep "
    "(its tokens times the prompts it is in). It reads the future, so no strategy can be asked to reach it; it is a good selection and not a proven "
    "optimum; and it says nothing of strategies that rewrite, which may be below it. A fact in a prompt is no promise that a model can use it."
)


@panel("window", order=40, title="How did the window move?")
def window(comparison: Answered) -> list[Block]:
    """Prompt tokens of every model call by strategy, the turns that missed needed facts, and tokens beyond a perfect selection."""
    if not any(case.recording.calls for case in comparison.cases):
        return []
    shown = (*comparison.contenders, *(name for name in comparison.brackets if name in SHOWN))
    windows = {case.id: [run.window.total_tokens for run in case.runs.values()] for case in comparison.cases}
    sizes = {case: max(tokens, default=0) for case, tokens in windows.items()}
    by_size = sorted(comparison.cases, key=lambda case: (-sizes[case.id], case.id))[:MAX_CASES]
    drawn = (window_chart(case, shown, comparison.contenders) for case in by_size)
    charts = tuple(chart for chart in drawn if chart is not None)
    blocks: list[Block] = [_table(comparison, shown), *_missed(comparison), *([Beside(charts)] if charts else [])]
    if len(comparison.cases) > len(by_size):
        blocks.append(Prose(f"Charts: the {len(by_size)} cases of most tokens, of {len(comparison.cases)}.", "muted"))
    return [*blocks, *_beyond(comparison)]


def _missed(comparison: Answered) -> Iterator[Block]:
    """The turns that missed most under one strategy, ten of them, with what they needed."""
    found = [
        (case.id, call.step, name, call.missed)
        for name, case, run in comparison.runs(comparison.contenders)
        for call in run.window.curve
        if call.missed
    ]
    if found:
        faults = sum(comparison.value(name, FAULTS) or 0 for name in comparison.contenders)
        left = int(faults) - min(len(found), MOST_ROWS)
        yield table_of(
            sorted(found, key=lambda item: (-len(item[3]), *item[:3]))[:MOST_ROWS],
            {
                "turn": lambda item: Cell(f"{item[0]}, step {item[1]}", case=item[0], step=item[1]),
                "strategy": lambda item: strategy(item[2]),
                "needed, and no longer there": lambda item: ", ".join(item[3]),
            },
            f"The {MOST_ROWS} turns that missed most; {left} more." if left > 0 else "",
        )


def _table(comparison: Comparison, names: Sequence[str]) -> Table:
    windows = {name: [case.runs[name].window for case in comparison.cases] for name in names}

    def total(name: str, field: str, unit: str) -> str:
        return quantity(sum(getattr(item, field) for item in windows[name]), unit)

    def over(name: str) -> Cell:
        known = [item.over for item in windows[name] if item.over is not None]
        return Cell(str(sum(known)), "bad" if sum(known) else "plain") if known else Cell(NOT_MEASURED, "muted")

    known_cases = sum(item.over is not None for item in windows[names[0]])
    return table_of(
        names,
        {
            "strategy": strategy,
            number("model calls"): lambda name: total(name, "calls", "calls"),
            number("largest prompt"): lambda name: quantity(max(item.largest_tokens for item in windows[name]), "tokens"),
            number("calls compacted"): lambda name: total(name, "compacted", "calls"),
            number("results evicted"): lambda name: total(name, "evicted", "results"),
            number("calls missing needed data"): lambda name: measured(comparison.row(name, FAULTS)),
            number("over the window"): over,
        },
        f"The model's window is known in {known_cases} of {counted(len(comparison.cases), 'case')}.",
    )  # fmt: skip


def _beyond(comparison: Comparison) -> Iterator[Block]:
    """Each strategy's tokens, and how many of them a selection that keeps as much would not have needed; the fewest such tokens first."""
    if all(comparison.value(name, RECALL) is None for name in comparison.everyone):
        return
    beyond = {name: comparison.value(name, OVER_ORACLE) for name in comparison.everyone}
    columns = (
        (RECALL, RECALL),
        (COST, "prompt tokens"),
        (OVER_ORACLE, "beyond the selection that serves as much"),
        (OVER_CLAIRVOYANT, "beyond clairvoyant that serves as much"),
    )
    names = sorted(beyond, key=lambda name: (beyond[name] is None, beyond[name] or 0.0))
    table = by_strategy(comparison, names, columns)
    yield Fold("How few tokens would have done?", (Prose(LIMITS, "muted"), table))
