"""The grid of cases with everything about each, the worst results beside what was kept of them, and where facts are lost."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from ...comparison.decision import able, price_metric
from ...model import Case, Comparison, ResultShown, grouped
from ...text.prompts_shown import unpacked
from ...text.wording import counted, listed, quantity, rough
from .. import panel
from ..answered import Answered
from ..blocks import (
    MOST_ROWS,
    Block,
    Cases,
    Cell,
    Chart,
    Column,
    Detail,
    Fold,
    Path,
    Point,
    PromptBrowser,
    Prose,
    SideBySide,
    Table,
    by_metric,
    by_strategy,
    measured,
    number,
    table_of,
)
from ..charts import window_chart
from ..words import CALL, FAULTS, LOST, NEEDED

KEPT = {
    "needed.recall": "still there when a later turn needed it",
    "loss.fact_recall.end": "still there at the end",
    "loss.leaf_recall.end": "still there at the end",
}
"""The shares that a case can be coloured by, the first that was measured, each in words."""

MISSED = "needed.faults"
MAX_CASES, MAX_CELLS = 5_000, 600_000
AROUND = ("keep_all", "recorded", "floor")
SORTS = ("kept", "cost", "turns that missed something")
MAX_RESULTS, MAX_RESULTS_A_CASE, MAX_COMPACTIONS = 6, 2, 20
ORIGINS = {"user": "the user", "model": "the model", "": "somebody"}
USES = "How often a later turn used such a thing and its prompt no longer held it, over all strategies."
DISTANCES = (
    ("needed.recall.near", "0–1 turns back"),
    ("needed.recall.mid", "2–5 turns back"),
    ("needed.recall.far", "6 and more"),
)
DISTANCE = "Share of what later turns needed that their prompts still held, by how far back it was said."
TIERS = (
    ("loss.fact_recall.end", "still in the prompt"),
    ("loss.retrievable.end", "behind a handle"),
    ("loss.lost.end", "lost"),
    ("loss.lost.needed", "lost when needed"),
    ("loss.silent_truncation", "cut in silence"),
    ("loss.false_notices", "false notices"),
    ("needed.refetches", "asked again"),
)
FOLDED = {
    "Still there when needed, by who had said it; what the words of a summary add to it": (
        ("needed.recall.user", "said by the user"),
        ("needed.recall.model", "said by the model"),
        ("needed.recall.result", "said by a result"),
        ("needed.summary_adds", "what the summary adds"),
        ("needed.summary_adds.far", "to what was said 6 and more turns back"),
    ),
    "Facts kept to the end, by kind": tuple(
        (f"loss.fact_recall.{kind}.end", kind.replace("_", " "))
        for kind in ("number", "measure", "name", "path", "url", "quoted", "error", "exit_code")
    ),
    "Structure kept to the end": (
        ("loss.leaf_recall.end", "values"),
        ("loss.rows_kept.end", "rows"),
        ("loss.columns_kept.end", "columns"),
        ("loss.schema_kept.end", "keys"),
    ),
}
"""Tables of those who want to know it exactly: a row a strategy, a column a metric."""

LIMITS = (
    "Facts of results, looked for in the last prompt of their thread. Presence in the prompt is an upper bound of what a model can use, and a "
    "handle helps only an agent that resolves it. Rows, columns and keys are what can be read back; prose about a row is no row. A turn is one of "
    "the model, counted back from the one that needs a fact to the last message that said it, as it was written: other words are not seen."
)


@panel("losses", order=22, title="What was lost, and on which cases?")
def losses(comparison: Answered) -> list[Block]:
    """A row a case, coloured by what each strategy lost there; the worst results side by side; losses by distance, place and kind."""
    everyone = comparison.everyone
    found = [(case.id, result) for case in comparison.cases for result in case.results]
    if not comparison.cases:
        return []
    if not found and all(comparison.value(name, "loss.fact_recall.end") is None for name in everyone):
        return [Prose("Not measured: no tool result of a finished run holds a fact.", "warn"), *_grid(comparison)]
    return [
        *_grid(comparison),
        *_worst(comparison, found),
        *(Prose(text, "warn") for name in everyone for text in _seen_through(comparison, name)),
        *_known(by_strategy(comparison, able(comparison), DISTANCES, DISTANCE)),
        by_strategy(comparison, everyone, TIERS),
        Prose(LIMITS, "muted"),
        *(
            Fold(title, tables)
            for title, columns in FOLDED.items()
            if (tables := _known(by_strategy(comparison, everyone, columns)))
        ),
        *_compactions(comparison),
    ]


def _known(table: Table) -> tuple[Table, ...]:
    """A table by strategy; none where no metric of it has a value."""
    return (table,) if len(table.columns) > 1 else ()


def _grid(comparison: Answered) -> Iterator[Block]:
    """A row a case, a column a strategy: what it kept there, with its cost and the turns that missed something; the worst case first."""
    everyone, price = comparison.contenders, price_metric(comparison)
    kept = next((name for name in KEPT if any(comparison.value(one, name) is not None for one in everyone)), "")
    shown = comparison.cases[:MAX_CASES]
    left = len(comparison.cases) - len(shown)
    usd = price in comparison.metrics and comparison.metrics[price].unit == "usd"
    said = (
        f"{counted(len(shown), 'case')}, the worst first. In each field: the share that was {KEPT.get(kept, 'kept')}; below it the "
        f"{'cost' if usd else 'tokens'} of the run, and how many turns missed something. The darker, the more was lost."
    )
    if left:
        said += f" {left} more are left out of this page: the CSV and JSON reports hold their numbers."
    abridged = sum(case.abridged for case in shown)
    if abridged:
        said += f" Prompts and results can be opened of {len(shown) - abridged}: those that failed, lost most or are largest, and a sample."
    terms = (
        ("cases" if len(shown) > 1 else "case", "One recorded run of the agent."),
        ("missed something", FAULTS),
        ("needed it", NEEDED),
    )
    titles = {"model calls": CALL, "least kept": LOST, "most turns that missed something": FAULTS}
    counts = (number(title, explained) for title, explained in titles.items())
    columns = (Column("case"), *counts, *(number(name, strategy=name) for name in everyone))
    rows = [_row(comparison, case, kept, price) for case in shown]
    rows.sort(key=lambda row: (row[2].lost is None, -(row[2].lost or 0.0)))
    details = tuple(Detail(case.id, functools.partial(_detail, comparison, case)) for case in shown)
    yield Prose(said, "warn" if left else "muted", terms)
    yield Cases(Table(columns, tuple(rows), sorts=SORTS), details)


def _row(comparison: Answered, case: Case, kept: str, price: str) -> tuple[Cell, ...]:
    cells = tuple(_field(comparison, case.id, name, kept, price) for name in comparison.contenders)
    worst = max((cell for cell in cells if cell.lost is not None), key=lambda cell: cell.lost or 0.0, default=Cell(""))
    missed = max((cell.sorts[2] for cell in cells if cell.sorts[2] is not None), default=None)
    return (
        Cell(case.id, case=case.id),
        Cell(str(case.recording.calls)),
        Cell(worst.text, lost=worst.lost),
        Cell("" if missed is None else f"{missed:.0f}"),
        *cells,
    )


def _field(comparison: Comparison, case: str, strategy: str, kept: str, price: str) -> Cell:
    """The share that one strategy kept of one case; beneath it the cost and the number of turns that missed something."""
    metrics = (kept, price, MISSED)
    rows = [comparison.row(strategy, name, case) if name in comparison.metrics else None for name in metrics]
    values = tuple(None if row is None else row.finite for row in rows)
    below = [rough(values[1], rows[1].unit)] if values[1] is not None and rows[1] is not None else []
    if values[2]:
        below.append(f"{values[2]:.0f} missed")
    lost = None if values[0] is None else 1 - values[0]
    return Cell("–" if lost is None else measured(rows[0]).text, detail=" · ".join(below), lost=lost, sorts=values)


def _detail(comparison: Answered, case: Case) -> tuple[Block, ...]:
    """Everything about one case: window, prompts, losses, routes (the wrong ones, else the first), numbers."""
    ours = comparison.contenders
    chart = window_chart(case, (*ours, *(name for name in comparison.brackets if name in AROUND)), ours)
    said = f"Something was lost of {counted(case.results_damaged, 'tool result')}."
    if case.abridged:
        said += " They are not in this report: run this case alone to see them."
    elif case.results_damaged > len(case.results):
        said += f" The worst {len(case.results)} follow."
    decided = [name for name in comparison.everyone if name in case.runs and case.runs[name].routes.path]
    wrong = [name for name in decided if case.runs[name].routes.first_wrong is not None]
    return (
        *([chart] if chart is not None else []),
        *([PromptBrowser(case.id, unpacked(case.prompts))] if case.prompts else []),
        Prose(said),
        *(SideBySide(case.id, result) for result in case.results),
        *(Path.of(name, case.runs[name].routes) for name in wrong or decided[:1]),
        _numbers(comparison, case),
    )


def _numbers(comparison: Comparison, case: Case) -> Block:
    if len(comparison.rows) > MAX_CELLS:
        return Prose("All numbers of this case are in the CSV and JSON reports.", "muted")
    heads = {metric: Cell(metric) for metric in sorted(comparison.metrics)}
    return Fold("Every number of this case", (by_metric(comparison, heads, case.id),))


def _worst(comparison: Comparison, found: list[tuple[str, ResultShown]]) -> Iterator[Block]:
    """The worst results, those that later turns missed most first; no case takes all the room."""
    damaged = sum(case.results_damaged for case in comparison.cases)
    if not damaged:
        yield Prose("Nothing: no declared strategy lost a fact of any tool result.", "good")
        return
    a_case = max(MAX_RESULTS_A_CASE, -(-MAX_RESULTS // len(comparison.cases)))
    chosen: list[tuple[str, ResultShown]] = []
    for item in sorted(found, key=lambda item: (-item[1].missed, -item[1].lost, item[0], item[1].step)):
        if sum(case == item[0] for case, _ in chosen) < a_case and len(chosen) < MAX_RESULTS:
            chosen.append(item)
    results = sum(case.recording.results for case in comparison.cases)
    needed = sum(case.results_needed for case in comparison.cases)
    missed = f"{needed} of them something" if needed else "but nothing"
    follow = "Here is the worst" if len(chosen) == 1 else f"Here are the worst {len(chosen)}"
    yield Prose(f"{damaged} of {counted(results, 'tool result')} lost something, {missed} that a later turn needed. {follow}.")  # fmt: skip
    yield from _causes(comparison)
    yield from (SideBySide(case, result) for case, result in chosen)


def _causes(comparison: Comparison) -> Iterator[Block]:
    """Losses by cause over all cases, those that later turns missed most first; the ten worst."""
    causes = ((case.id, item) for case in comparison.cases for item in case.causes)
    groups = grouped(((item.what, item.function, item.origin), (case, item)) for case, item in causes)
    missed = {key: sum(item.missed for _, item in found) for key, found in groups.items()}
    if not groups:
        return

    def lost(key: tuple[str, str, str]) -> str:
        what, function, origin = key
        return f"{what} in results of {function}" if function else f"{what} that {ORIGINS.get(origin, origin)} had said"

    def place(key: tuple[str, str, str]) -> Cell:
        case, worst = max(groups[key], key=lambda pair: (pair[1].missed, pair[1].results))
        return Cell(f"{case}, step {worst.step}", case=case, step=worst.step)

    left = len(groups) - MOST_ROWS
    yield table_of(
        sorted(groups, key=lambda key: (-missed[key], -len(groups[key]), key))[:MOST_ROWS],
        {
            "what was lost": lost,
            number("cases"): lambda key: quantity(len({case for case, _ in groups[key]}), "cases"),
            number("messages"): lambda key: quantity(sum(item.results for _, item in groups[key]), "messages"),
            number("uses that missed it", USES): lambda key: Cell(quantity(missed[key], "uses"), "bad" if missed[key] else "muted"),
            "lost by": lambda key: ", ".join(dict.fromkeys(name for _, item in groups[key] for name in item.strategies)),
            "worst place": place,
        },
        f"The worst {MOST_ROWS}; {counted(left, 'more cause')}." if left > 0 else "",
    )  # fmt: skip


def _seen_through(comparison: Comparison, name: str) -> Iterator[str]:
    """Strategies that look well by one metric and are shown up by another."""
    false = comparison.value(name, "loss.false_notices")
    if false:
        yield f"{name} says that something was left out of {counted(false, 'result')} that lost nothing."
    runs = [case.runs[name] for case in comparison.cases]
    handles, empty = sum(run.handles for run in runs), sum(run.handles_empty for run in runs)
    if empty:
        yield f"{name} keeps {counted(empty, 'handle')} out of {handles} that resolve to nothing: their facts count as lost."


def _compactions(comparison: Answered) -> list[Block]:
    """The facts that survive each compaction, for the strategies that compact; folded where only references do."""
    points: list[Point] = []
    said: list[str] = []
    for name in comparison.everyone:
        curves = [curve for case in comparison.cases for curve in case.runs[name].compactions]
        length = min(max(map(len, curves), default=0), MAX_COMPACTIONS)
        for at in range(length):
            shares = [round(curve[at].recall, 4) for curve in curves if len(curve) > at]
            points.append(Point(name, float(at + 1), sum(shares) / len(shares)))
        collapsed = comparison.row(name, "loss.collapse_compaction") if curves else None
        if collapsed is not None and collapsed.value is not None:
            said.append(f"{name} in compaction {collapsed.value:.2g} ({counted(collapsed.n, 'thread')})")
    if not points:
        return []
    axes = ("compaction", "facts kept", "compactions", "fraction")
    text = f"Facts told so far that the prompt of each compaction still holds, the mean over threads; at most {MAX_COMPACTIONS} compactions."
    chart = Chart("line", "What survives each compaction", *axes, tuple(points), text)
    fell = f"Fell below half, on average: {listed(said)}." if said else "No strategy fell below half in any compaction."
    blocks = (Prose(fell), chart)
    return [*blocks] if set(comparison.contenders) & set(chart.series) else [Fold("Compactions", blocks)]
