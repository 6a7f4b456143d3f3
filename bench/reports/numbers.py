"""Numbers as text for reports: changes, and values with their units."""

from __future__ import annotations

import math

from ..comparison.certainty import cannot_rule_out
from ..comparison.wording import change as change, sample
from ..model.advice import Advice
from ..text.wording import (
    MINUS as MINUS,
    count as count,
    counted as counted,
    dollars as dollars,
    listed as listed,
    percent as percent,
    sentence_case as sentence_case,
    shortened as shortened,
)


def quantity(value: float | None, unit: str) -> str:
    """A value with its unit: shares as percent, dollars, anything else as a count.

    >>> quantity(0.5, "share"), quantity(0.5, "usd"), quantity(1500, "tokens")
    ('50%', '$0.500', '1,500')
    """
    return percent(value) if unit == "share" else dollars(value) if unit == "usd" else count(value)


def difference(before: float | None, after: float | None, unit: str) -> str:
    """A change between two values: points for shares, percent for dollars and tokens, else a count.

    >>> difference(0.013, 0.069, "share"), difference(65.71, 59.73, "usd"), difference(37, 156, "turns")
    ('+5.6 points', '−9.1%', '+119')
    """
    if before is None or after is None or not (math.isfinite(before) and math.isfinite(after)):
        return ""
    if before == after:
        return "unchanged"
    sign = "+" if after > before else MINUS
    if unit == "share":
        moved = percent(abs(after - before)).removesuffix("%")
        return f"{sign}{moved} {'point' if moved == '1' else 'points'}"
    if before and unit in ("usd", "tokens"):
        return sign + percent(abs(after / before - 1))
    return sign + quantity(abs(after - before), unit)


def unseen(advice: Advice) -> str:
    """A clause that says which losses the tasks of an advice are too few to show; "" without tasks.

    >>> few = [Advice(advised=None, sentence="", basis="tokens", tasks=tasks, runs=12) for tasks in (12, 3)]
    >>> [unseen(advice) for advice in few]
    ['a problem in fewer than 1 of 4 runs may not show in 12 runs', '3 tasks say little about others']
    """
    size, share = sample(advice), cannot_rule_out(advice.tasks)
    if not share:
        return ""
    number, _, unit = size.partition(" ")
    one_in = math.floor(1 / share)  # down: 12 tasks miss a problem in 1 of 5 too often
    if one_in > 1:
        return f"a problem in fewer than 1 of {count(one_in)} {unit} may not show in {size}"
    return f"{size} {'says' if number == '1' else 'say'} little about others"
