"""The curve: the fewest tokens that reach a share of what was needed, and how far above it each strategy is."""

from __future__ import annotations

from ...model import Comparison, Row
from ...text.wording import counted, quantity
from .. import panel
from ..blocks import Block, Cell, Column, Prose, Table, measured

COST = "cost.prompt_tokens"
RECALL = "needed.recall"
OVER_ORACLE = "needed.tokens_over_oracle"
OVER_CLAIRVOYANT = "needed.tokens_over_clairvoyant"
LIMITS = (
    "A verbatim selection shows the system turns and the needed facts alone, each until its last use, and gives up first what costs most to keep "
    "(its tokens times the prompts it is in). It reads the future, so no strategy can be asked to reach it; it is a good selection and not a proven "
    "optimum; and it says nothing of strategies that rewrite, which may be below it. A fact in a prompt is no promise that a model can use it."
)


@panel("curve", order=37, title="How few tokens would have done?", detail=True)
def curve(comparison: Comparison) -> list[Block]:
    """The fewest tokens at 90, 95, 99 and 100 % of dependencies, then each strategy against the selection that serves as much as it does."""
    fewest = [dict(case.recording.fewest_tokens) for case in comparison.cases if case.recording.fewest_tokens]
    if not fewest:
        return [Prose("Nothing to select: no model turn used anything that a tool result had said.", "muted")]
    whole = comparison.value("keep_all", COST)
    totals = [(share, float(sum(of_case[share] for of_case in fewest))) for share in fewest[0]]
    rows = tuple(
        (Cell(quantity(share, "fraction")), Cell(quantity(tokens, "tokens")), Cell(_share(tokens, whole)))
        for share, tokens in totals
    )
    columns = (
        Column("of dependencies, in every case"),
        Column("fewest tokens", align="right"),
        Column("of keep_all", align="right"),
    )
    caption = f"Over {counted(len(fewest), 'case')} in which anything was used, of {len(comparison.cases)}."
    return [Prose(LIMITS, "muted"), Table(columns, rows, caption), _strategies(comparison, comparison.everyone)]


def _share(part: float | None, whole: float | None) -> str:
    return quantity(None, "fraction") if part is None or not whole else quantity(part / whole, "fraction")


def _strategies(comparison: Comparison, everyone: tuple[str, ...]) -> Table:
    """Each strategy's tokens, and how many of them a selection that serves as much would not have needed; the fewest such tokens first."""
    rows = [
        (name, [comparison.row(name, metric) for metric in (RECALL, COST, OVER_ORACLE, OVER_CLAIRVOYANT)])
        for name in everyone
    ]
    rows.sort(key=lambda item: _least(item[1][2]))
    columns = (
        Column("strategy"),
        Column(RECALL, align="right"),
        Column("prompt tokens", align="right"),
        Column("beyond the selection that serves as much", align="right"),
        Column("of its tokens", align="right"),
        Column("beyond clairvoyant that serves as much", align="right"),
    )
    return Table(
        columns,
        tuple(_cells(name, *found) for name, found in rows),
        "Below 0: the strategy cost less than the reference, by rewriting or by dropping what the reference keeps.",
    )


def _least(row: Row | None) -> tuple[bool, float]:
    value = None if row is None else row.value
    return value is None, value or 0.0


def _cells(
    name: str, recall: Row | None, cost: Row | None, over_oracle: Row | None, over_clairvoyant: Row | None
) -> tuple[Cell, ...]:
    beyond = _share(over_oracle.value if over_oracle else None, cost.value if cost else None)
    return (
        Cell(name, strategy=name),
        measured(recall),
        measured(cost),
        measured(over_oracle),
        Cell(beyond),
        measured(over_clairvoyant),
    )
