"""The table of strategies: a row for each, with its sign, its spec, its numbers and its verdict."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from ..comparison.certainty import EQUAL, FEWEST
from ..comparison.rules import filled
from ..comparison.sentence import change as change_in_words, is_saving
from ..model.advice import Ranked, RuleResult
from ..model.errors import SpecError
from .blocks import TONE_OF, Cell, Cells, Column, Fold, Heads, Span, Table, number, table
from .charts import Range
from .numbers import change, count, of, quantity
from .reading import Reading
from .rule_words import quoted, rule_failed

Numbers = Sequence[tuple[Column, Callable[[Ranked], Cell]]]
"""The columns between the name and the verdict, each with its cell for a strategy."""


def strategies(reading: Reading, name: str, numbers: Numbers) -> Iterator[Table | Fold]:
    """The table; where many strategies changed nothing, they stand folded below it."""
    rows = {item.strategy: _row(reading, item, numbers) for item in reading.ranked}
    heads: Heads = ["strategy", *(column for column, _ in numbers), Column("verdict", card=" ")]
    yield table(
        name, heads, [row for strategy, row in rows.items() if strategy not in reading.folded]
    )
    if folded := reading.folded:
        title = f"{of(len(folded), 'strategy', 'strategies')} changed nothing on these runs"
        yield Fold(title, (table(title, heads, [rows[strategy] for strategy in folded]),))


def _row(reading: Reading, item: Ranked, numbers: Numbers) -> Cells:
    mark, place = reading.mark(item.strategy), reading.rows.get(item.strategy)
    about = "what runs today" if mark == "today" else spec_in_words(reading.spec(item.strategy))
    name = f"{place} {reading.title(item.strategy)}" if place else reading.title(item.strategy)
    verdict = (Span(item.verdict, TONE_OF[mark], strong=True),)
    cells = (Cell(name, about, mark=mark), *(cell_of(item) for _, cell_of in numbers))
    return *cells, Cell(verdict, reason(reading, item))


def spec_in_words(spec: str) -> str:
    """A spec to read: the plug-ins with their settings, and slots that a plug-in does not tell.

    >>> spec_in_words("summarizer=csv_table+compactor=mask_observations:keep_last=5,every=10")
    'csv_table + mask_observations keep_last=5, every=10'
    >>> spec_in_words("store=truncate:limit=5")
    'store: truncate limit=5'
    """
    try:
        slots = filled(f"x={spec}")
    except SpecError:
        return spec
    named = ("summarizer", "compactor")
    parts = [value if slot in named else f"{slot}: {value}" for slot, value in slots.items()]
    joined = " + ".join(parts) or spec
    return re.sub(r",(?=\w+=)", ", ", re.sub(r"(?<=\w):(?=\w+=)", " ", joined))


def reason(reading: Reading, item: Ranked) -> str:
    """The reasons of a verdict; a strategy that never acted has no other."""
    if "inactive" in item.marks:
        return "changed nothing"
    failed = [rule for rule in item.rules if not rule.passed]
    if failed and failed[0].rule == "ran" and failed[0].findings:
        return rule_failed(failed[0])  # the others are of the runs that did not fail
    others = [
        rule_failed(rule, reading.label(rule.metric)) for rule in failed if rule.rule != "cheaper"
    ]
    if not others and failed:
        others = [_too_dear(reading, item, failed[0])]
    advised = reading.advice.advised
    if item.verdict == "ship" and advised not in (None, item.strategy):
        others = [_beside(reading, item, advised)] if reading.compared.answers == "savings" else []
    example = f": {quoted(item.unchecked_text)}" if item.unchecked_text else ""
    return "; ".join([*others, *(f"{mark}{example}" for mark in item.marks)])


def _beside(reading: Reading, item: Ranked, advised: str) -> str:
    """The reason why a strategy that may be shipped is not the one that is advised."""
    best = next((reading.price(one) for one in reading.ranked if one.strategy == advised), None)
    price = reading.price(item)
    is_near = price and best and price.ratio and best.ratio and price.ratio <= best.ratio + EQUAL
    return f"about as cheap as {advised}" if is_near else f"saves less than {advised}"


def _too_dear(reading: Reading, item: Ranked, cheaper: RuleResult) -> str:
    """The reason why there is no saving, or why it is not certain."""
    price = reading.price(item)
    if price is not None and price.ratio is not None and not is_saving(price):
        return f"costs {change_in_words(price)}"
    if reading.tasks < FEWEST:
        return f"needs {of(FEWEST, reading.noun)}"
    if cheaper.value is None:
        return "not priced"
    if cheaper.value > 1:
        more = change(cheaper.value).lstrip("+")
        return "may cost as much" if more == "≈0%" else f"may cost up to {more} more"
    return f"may be chance: one of {count(len(reading.ranked) - 1)} tried"


def measured(reading: Reading, metrics: Sequence[str]) -> Numbers:
    """A column by metric: the value, and under a share its count over all runs.

    The first is drawn too.
    """
    pairs: list[tuple[Column, Callable[[Ranked], Cell]]] = []
    for metric in metrics:
        column = number(reading.label(metric))
        pairs.append((column, lambda item, metric=metric: _value(reading, item, metric)))  # type: ignore[misc]
    drawn = (Column("0 to 100%", card="-"), lambda item: _share(reading, item, metrics[0]))
    return (
        [*pairs[:1], drawn, *pairs[1:]]
        if metrics and reading.unit(metrics[0]) == "share"
        else pairs
    )


def _value(reading: Reading, item: Ranked, metric: str) -> Cell:
    value = reading.value(item.strategy, metric)
    if value is None:
        return Cell("–")
    return Cell(quantity(value, reading.unit(metric)), reading.counts(item.strategy, metric))


def _share(reading: Reading, item: Ranked, metric: str) -> Cell:
    """The value of a share as a bar from 0 to 100%."""
    value = reading.value(item.strategy, metric)
    if value is None:
        return Cell("")
    alt = f"{reading.title(item.strategy)}: {quantity(value, 'share')}"
    return Cell("", chart=Range(alt, value, (0.0, value), (0.0, 1.0), reading.mark(item.strategy)))
