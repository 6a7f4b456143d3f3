"""The scores as CSV: the rows of the JSON report in which something was measured, for a spreadsheet or a data frame."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from ..comparison.rows import NOTHING
from . import Section, renderer

_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")
_IS_NUMBER = re.compile(r"\s*[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\s*", re.ASCII)

COLUMNS = ("scenario", "strategy", "metric", "case", "value", "low", "high", "unit", "n", "status")


def scores(sections: Sequence[Section]) -> Iterator[tuple[Any, ...]]:
    """The rows of every comparison, as `COLUMNS`.

    A metric for which a comparison had nothing to measure, under any strategy on any case, has no rows: they would be empty.
    """
    for section in sections:
        rows = section.comparison.rows
        something = {row.metric for row in rows if row.status != NOTHING}
        for row in rows:
            if row.metric in something:
                yield (section.name, row.strategy, row.metric, row.case, row.finite, row.least, row.most, row.unit, row.n,
                       row.status)  # fmt: skip


@renderer("csv", endings=(".csv",), panels=False)
def csv_rows(sections: Sequence[Section]) -> Iterator[str]:
    """One line per metric, strategy and case, after a header line; `status` says what the value is.

    `low` and `high` are the value itself where it is exact; all three are empty where nothing was measured, and `status` says why. A text that a
    spreadsheet would run as a formula (it begins with =, +, - or @ and is no number) has an apostrophe before it.
    """
    written = io.StringIO()
    write = csv.writer(written, lineterminator="\r\n").writerow  # so that a cell with either is quoted
    for row in chain([COLUMNS], scores(sections)):
        write([_cell(value) for value in row])
        yield written.getvalue().removesuffix("\r\n") + "\n"
        written.seek(0)
        written.truncate()


def _cell(value: Any) -> str:
    """A value as it is written.

    >>> [_cell(value) for value in (3.0, 0.5, float("nan"), None, "=cmd|'/C calc'!A0", "-5", "a=b")]
    ['3', '0.5', '', '', "'=cmd|'/C calc'!A0", '-5', 'a=b']
    """
    if isinstance(value, str):
        return f"'{value}" if _FORMULA.match(value) and not _IS_NUMBER.fullmatch(value) else value
    if value is None or value != value:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
