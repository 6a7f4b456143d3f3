"""How the window moved: prompt tokens call by call, with what was taken out and what was missed."""

from __future__ import annotations

from ...blocks import NOT_MEASURED, Beside, Block, Cell, Chart, Column, Point, Prose, Table, counted, measured, quantity
from ...model import Comparison, Prompt, Run
from .. import brackets, contenders, panel

MAX_CASES = 4
MAX_POINTS = 300
SHOWN = ("keep_all", "recorded", "floor")
EVICTED = "history cut"
DANGLING = "needs what is gone"


@panel("window", order=50, title="How did the window move?")
def window(comparison: Comparison) -> list[Block]:
    """Prompt tokens of every model call by strategy, with the calls where history shrank and where a turn leaned on something gone.

    Source: design §6
    """
    shown = (*contenders(comparison), *(name for name in brackets(comparison) if name in SHOWN))
    if not any(run.prompts for run in comparison.runs.values()):
        return [Prose("The traces hold no model call, so there is no prompt to follow.", "muted")]
    blocks: list[Block] = [_table(comparison, shown)]
    charts: list[Block] = []
    by_size = sorted(comparison.cases, key=lambda case: (-_size(comparison, case), case))[:MAX_CASES]
    for case in by_size:
        points = tuple(point for name in shown for point in _points(comparison, name, case))
        if not points:
            continue
        text = "Prompt tokens of each model call. Triangles: history was cut. Crosses: a turn leaned on something gone."
        charts.append(Chart("line", case, "model call", "prompt tokens", "calls", "tokens", points, text))
    if charts:
        blocks.append(Beside(tuple(charts)))
    if len(comparison.cases) > len(by_size):
        blocks.append(Prose(f"Charts: the {len(by_size)} cases of most tokens, of {len(comparison.cases)}.", "muted"))
    return blocks


def _size(comparison: Comparison, case: str) -> int:
    return max(
        (sum(p.tokens for p in run.prompts) for (_, name), run in comparison.runs.items() if name == case), default=0
    )


def _shrank(run: Run) -> list[Prompt]:
    """The prompts that are smaller than the one before in their thread."""
    last: dict[str, int] = {}
    found = []
    for prompt in run.prompts:
        if prompt.tokens < last.get(prompt.thread, 0):
            found.append(prompt)
        last[prompt.thread] = prompt.tokens
    return found


def _dangling(comparison: Comparison, strategy: str, case: str) -> set[int]:
    samples = comparison.samples.get((strategy, "needed.dangling_steps", case), ())
    return {sample.step for sample in samples if sample.numerator and sample.step is not None}


def _points(comparison: Comparison, strategy: str, case: str) -> list[Point]:
    """One line: every prompt, or every so many of a long run; only a declared strategy's marks, the brackets are there for scale."""
    run = comparison.runs[strategy, case]
    declared = strategy in contenders(comparison)
    dangling = _dangling(comparison, strategy, case) if declared else set()
    shrank = {id(prompt) for prompt in _shrank(run)} if declared else set()
    every = -(-len(run.prompts) // MAX_POINTS) or 1
    points: list[Point] = []
    for number, prompt in enumerate(run.prompts, 1):
        mark = DANGLING if prompt.step in dangling else EVICTED if id(prompt) in shrank else ""
        if mark or number == len(run.prompts) or (number - 1) % every == 0:
            points.append(Point(strategy, number, prompt.tokens, mark))
    return points


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
                Cell(quantity(sum(len(_shrank(run)) for run in runs), "calls")),
                measured(comparison.row(name, "needed.dangling_steps")),
                Cell(str(over), "bad" if over else "plain") if windows else Cell(NOT_MEASURED, "muted"),
            )
        )
    titles = (
        "model calls",
        "largest prompt",
        "history changed",
        "history cut",
        "calls that lean on something gone",
        "over the window",
    )
    known = sum(any(p.window_tokens for p in comparison.runs[shown[0], case].prompts) for case in comparison.cases)
    caption = f"The model's window is known in {known} of {counted(len(comparison.cases), 'case')}."
    return Table((Column("strategy"), *(Column(title, align="right") for title in titles)), tuple(rows), caption)
