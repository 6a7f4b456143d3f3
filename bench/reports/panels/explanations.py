"""What was lost, in words: the worst results of each strategy, with what became of their rows, columns and values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...model import Comparison, Run, Sample, ToolResult
from .. import panel
from ..blocks import Block, Cell, Column, Fold, Prose, Table, counted
from ..loss.explanations import explain

MAX_RESULTS = 4
MAX_RESULTS_A_CASE = 2
MAX_SENTENCES = 6
PLACES = (
    ("shown", "in the first prompt after it"),
    ("stored", "in the store"),
    ("end", "in the last prompt"),
)
LOSSES = ("loss.leaf_recall.", "loss.fact_recall.")
LIMITS = (
    "Rows are matched by their first column that names each of them, values by the path that leads to them. Where a strategy kept text alone, "
    "a value counts as there when it stands somewhere as a word: what is called gone is gone, what is not may be out of reach of a model."
)


@dataclass(frozen=True)
class _Loss:
    """What one strategy lost of one result at one place, as the metrics' samples say."""

    case: str
    step: int
    place: str
    lost: float
    total: float


@panel("explanations", order=41, title="What was lost, in words?")
def explanations(comparison: Comparison) -> list[Block]:
    """For the worst results of every declared strategy: sentences on the rows, columns and values that are gone or changed.

    Source: design §4 "loss"; issue 3
    """
    blocks: list[Block] = []
    for strategy in comparison.strategies:
        worst = _worst(comparison, strategy)
        if worst:
            rows = tuple(row for loss in worst for row in _rows(comparison, strategy, loss))
            columns = (Column("result"), Column("where"), Column("what became of it"))
            blocks.append(Fold(f"{strategy}: the worst {counted(len(worst), 'result')}", (Table(columns, rows),)))
    if not blocks:
        return [Prose("Nothing to explain: no declared strategy lost anything of any result.", "good")]
    return [Prose(LIMITS, "muted"), *blocks]


def _worst(comparison: Comparison, strategy: str) -> list[_Loss]:
    """The results of which most was lost where it can be told in words: as shown or as stored before what had left the last prompt."""
    found: dict[tuple[str, int], _Loss] = {}
    for case in comparison.cases:
        for place, _ in PLACES:
            for step, lost, total in _losses(comparison, strategy, case, place):
                known = found.get((case, step))
                if known is None or (place != "end" and lost > known.lost):
                    found[case, step] = _Loss(case, step, place, lost, total)
    ordered = sorted(found.values(), key=lambda loss: (loss.place == "end", -loss.lost, loss.case, loss.step))
    chosen: list[_Loss] = []
    for loss in ordered:
        if sum(item.case == loss.case for item in chosen) < max(
            MAX_RESULTS_A_CASE, MAX_RESULTS // len(comparison.cases)
        ):
            chosen.append(loss)
    return chosen[:MAX_RESULTS]


def _losses(comparison: Comparison, strategy: str, case: str, place: str) -> list[tuple[int, float, float]]:
    """(step, lost, of how many) of each result that lost something at a place: leaves where it has any, else facts."""
    found: dict[int, tuple[int, float, float]] = {}
    for metric in LOSSES:
        samples: tuple[Sample, ...] = comparison.samples.get((strategy, metric + place, case), ())
        for sample in samples:
            if sample.step is not None and sample.numerator is not None and sample.denominator is not None:
                found.setdefault(sample.step, (sample.step, sample.denominator - sample.numerator, sample.denominator))
    return [item for item in found.values() if item[1] > 0]


def _rows(comparison: Comparison, strategy: str, loss: _Loss) -> list[tuple[Cell, ...]]:
    run = comparison.runs[strategy, loss.case]
    result = next(item for item in comparison.traces[loss.case].results if item.index == loss.step)
    where, held = _held(run, result, loss.place)
    sentences = explain(result.value, held)
    if len(sentences) > MAX_SENTENCES:
        more = counted(len(sentences) - MAX_SENTENCES, "more sentence")
        sentences = [*sentences[:MAX_SENTENCES], f"And {more}."]
    title = f"{loss.case}, step {loss.step}: {result.function}"
    return [
        (Cell(title if number == 0 else ""), Cell(where if number == 0 else "", "muted"), Cell(sentence))
        for number, sentence in enumerate(sentences)
    ]


def _held(run: Run, result: ToolResult, place: str) -> tuple[str, Any]:
    """Where a result was looked for, and what was there: the text that shows it, or the stored value."""
    if place == "stored":
        return dict(PLACES)[place], next(outcome.stored for outcome in run.results if outcome.step == result.index)
    shown: list[str] = []
    left: int | None = None
    for prompt, keys in run.walk():
        if prompt.thread != result.thread or prompt.step < result.index:
            continue
        texts = [run.messages[key].text for key in keys if run.messages[key].step == result.index]
        if left is None and shown and texts != shown:
            left = prompt.step
        shown = texts
        if place == "shown":
            break
    where = dict(PLACES)[place] + (f" (changed at step {left})" if left is not None else "")
    return where, "\n".join(shown)
