"""The scores as CSV: the rows of the JSON report, for a spreadsheet or a frame."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from . import Section, renderer

FIELDS = ("scenario", "strategy", "metric", "case", "value", "unit", "n", "reason")


@renderer("csv", endings=(".csv",))
def csv_rows(sections: Sequence[Section]) -> str:
    """One line per metric, strategy and case, after a header line; an empty value is one that was not measured, for the reason given.

    Source: issue 1
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(FIELDS)
    for section in sections:
        for row in section.comparison.rows:
            writer.writerow(
                (section.name, row.strategy, row.metric, row.case, _number(row.value), row.unit, _number(row.n), row.reason)
            )  # fmt: skip
    return out.getvalue()


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return str(int(value)) if float(value).is_integer() else repr(float(value))
