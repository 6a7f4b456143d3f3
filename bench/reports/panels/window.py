"""How the window moved: prompt tokens call by call, with what was taken out and what was missed."""

from __future__ import annotations

from ...model import Comparison
from .. import brackets, contenders, panel
from ..blocks import NOT_MEASURED, Beside, Block, Cell, Column, Prose, Table, counted, measured, quantity
from ..windows import calls, window_chart

MAX_CASES = 4
SHOWN = ("keep_all", "recorded", "floor")


@panel("window", order=40, title="How did the window move?")
def window(comparison: Comparison) -> list[Block]:
    """Prompt tokens of every model call by strategy, with what was compacted, what was evicted, and which turns leaned on something gone.

    Source: design §6
    """
    shown = (*contenders(comparison), *(name for name in brackets(comparison) if name in SHOWN))
    if not any(run.prompts for run in comparison.runs.values()):
        return [Prose("The traces hold no model call, so there is no prompt to follow.", "muted")]
    blocks: list[Block] = [_table(comparison, shown)]
    by_size = sorted(comparison.cases, key=lambda case: (-_size(comparison, case), case))[:MAX_CASES]
    drawn = (window_chart(comparison, case, shown, contenders(comparison)) for case in by_size)
    charts: list[Block] = [chart for chart in drawn if chart is not None]
    if charts:
        blocks.append(Beside(tuple(charts)))
    if len(comparison.cases) > len(by_size):
        blocks.append(Prose(f"Charts: the {len(by_size)} cases of most tokens, of {len(comparison.cases)}.", "muted"))
    return blocks


def _size(comparison: Comparison, case: str) -> int:
    everyone = (*comparison.strategies, *comparison.references)
    runs = (comparison.runs[name, case] for name in everyone if (name, case) in comparison.runs)
    return max((sum(prompt.tokens for prompt in run.prompts) for run in runs), default=0)


def _evicted(comparison: Comparison, name: str) -> int:
    return sum(len(call.evicted) for case in comparison.cases for call in calls(comparison, name, case))


def _table(comparison: Comparison, shown: tuple[str, ...]) -> Table:
    rows = []
    for name in shown:
        runs = [comparison.runs[name, case] for case in comparison.cases]
        prompts = [prompt for run in runs for prompt in run.prompts]
        windows = any(prompt.window_tokens is not None for prompt in prompts)
        over = sum(prompt.window_tokens is not None and prompt.tokens > prompt.window_tokens for prompt in prompts)
        rows.append(
            (
                Cell(name, strategy=name),
                Cell(quantity(len(prompts), "calls")),
                Cell(quantity(max((prompt.tokens for prompt in prompts), default=None), "tokens")),
                Cell(quantity(sum(prompt.compacted for prompt in prompts), "calls")),
                Cell(quantity(_evicted(comparison, name), "results")),
                measured(comparison.row(name, "needed.dangling_steps")),
                Cell(str(over), "bad" if over else "plain") if windows else Cell(NOT_MEASURED, "muted"),
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
    known = sum(any(p.window_tokens for p in comparison.runs[shown[0], case].prompts) for case in comparison.cases)
    caption = f"The model's window is known in {known} of {counted(len(comparison.cases), 'case')}."
    return Table((Column("strategy"), *(Column(title, align="right") for title in titles)), tuple(rows), caption)
