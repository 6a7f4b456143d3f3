"""Recall by how far back the need lies and by who had said it, what a summary adds, and the turns that missed something."""

from __future__ import annotations

from ...model import Comparison
from .. import panel
from ..blocks import Block, Cell, Column, Prose, Table, measured

NEED = (
    ("needed.recall.near", "0–1 turns back"),
    ("needed.recall.mid", "2–5 turns back"),
    ("needed.recall.far", "6 and more"),
    ("needed.recall.user", "said by the user"),
    ("needed.recall.model", "said by the model"),
    ("needed.recall.result", "said by a result"),
)
SUMMARIES = (("needed.summary_adds", "all"), ("needed.summary_adds.far", "6 and more turns back"))
FAULTS = (
    ("needed.faults", "turns that missed something"),
    ("needed.fault_rate", "share of all turns"),
)
PRICES = (
    ("cost.with_refetches_usd", "dollars with refetches"),
    ("cost.with_refetches_tokens", "tokens with refetches"),
)
LIMITS = (
    "A turn is a turn of the model, counted back from the one that needs a fact to the last message that said it. Facts are looked for as they "
    "were written: what a model takes over in other words is not seen."
)


@panel("distance", order=25, title="How far back does each strategy remember?")
def distance(comparison: Comparison) -> list[Block]:
    """The share that was still there by distance and by who had said it, the turns that missed something, and what summaries add."""
    price = tuple(item for item in PRICES if _known(comparison, (item,)))[:1]
    need = _known(comparison, NEED)
    if not need:
        return [Prose("Nothing was needed: no turn took a fact from an earlier message.", "muted")]
    blocks: list[Block] = [
        _table(comparison, need, "Share of what later turns needed that their prompts still held."),
        _table(comparison, (*_known(comparison, FAULTS), *price), ""),
    ]
    adds = _known(comparison, SUMMARIES)
    if adds:
        caption = "What the words of a summary add to that share, over the same strategy with empty summaries; below 0 they do harm."
        blocks.append(_table(comparison, adds, caption, only_measured=True))
    return [*blocks, Prose(LIMITS, "muted")]


def _known(comparison: Comparison, columns: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """The columns that any strategy has a value in."""
    return tuple(
        item for item in columns if any(comparison.value(name, item[0]) is not None for name in comparison.everyone)
    )


def _table(
    comparison: Comparison, columns: tuple[tuple[str, str], ...], caption: str, *, only_measured: bool = False
) -> Table:
    names = [
        name
        for name in comparison.everyone
        if not only_measured or any(comparison.value(name, metric) is not None for metric, _ in columns)
    ]
    rows = tuple(
        (Cell(name, strategy=name), *(measured(comparison.row(name, metric)) for metric, _ in columns))
        for name in names
    )
    return Table((Column("strategy"), *(Column(title, align="right") for _, title in columns)), rows, caption)
