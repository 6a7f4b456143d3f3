"""The table of strategies: a row for each, with its sign, its spec, its numbers and its verdict."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ..comparison.certainty import EQUAL, FEWEST
from ..comparison.rules import filled
from ..comparison.sentence import change as change_in_words, is_saving
from ..model.advice import Ranked, RuleResult
from ..model.errors import SpecError
from .blocks import TONE_OF, Cell, Cells, Column, Heads, Span, Table, table
from .numbers import change, count, listed, of
from .reading import Reading
from .rule_words import quoted, rule_failed


def strategies(reading: Reading, heads: Heads, cells: Callable[[Ranked], Sequence[Cell]]) -> Table:
    """The table, with columns of numbers between the name and the verdict of each strategy.

    Where many strategies changed nothing, its caption names them.
    """
    shown = [item for item in reading.ranked if item.strategy not in reading.inactive]
    rows = [_row(reading, item, cells(item)) for item in shown]
    note = ""
    if names := reading.inactive:
        many = of(len(names), "more strategy", "more strategies")
        note = f"{many} changed nothing on these runs: {listed(names)}."
    heads = ["strategy", *heads, Column("verdict", card=" ")]
    return table("All strategies", heads, rows, note=note)


def _row(reading: Reading, item: Ranked, cells: Sequence[Cell]) -> Cells:
    mark, place = reading.mark(item.strategy), reading.rows.get(item.strategy)
    about = "what runs today" if mark == "today" else spec_in_words(reading.spec(item.strategy))
    name = f"{place} {reading.title(item.strategy)}" if place else reading.title(item.strategy)
    verdict = (Span(item.verdict, TONE_OF[mark], strong=True),)
    return Cell(name, about, mark=mark), *cells, Cell(verdict, reason(reading, item))


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
        others = (
            [_why_second(reading, item, advised)] if reading.compared.answers == "savings" else []
        )
    example = f": {quoted(item.unchecked_text)}" if item.unchecked_text else ""
    marks = [] if others else [f"{mark}{example}" for mark in item.marks]
    return "; ".join([*others, *marks])


def _why_second(reading: Reading, item: Ranked, advised: str) -> str:
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
