"""The scores as CSV: the rows of the JSON report that say something, for a spreadsheet or a frame."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import Any

from . import Section, renderer, scores_frame

_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")
_IS_NUMBER = re.compile(r"\s*[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\s*", re.ASCII)


@renderer("csv", endings=(".csv",))
def csv_rows(sections: Sequence[Section]) -> str:
    """One line per metric, strategy and case, after a header line; `status` says what the value is.

    `low` and `high` are the value itself where it is exact; all three are empty where nothing was measured, and `status` says why. A text that a
    spreadsheet would run as a formula (it begins with =, +, - or @ and is no number) has an apostrophe before it.
    """
    frame = scores_frame(sections)
    written = io.StringIO()
    write = csv.writer(written, lineterminator="\r\n").writerow  # so that a cell with either is quoted
    lines = []
    for row in [tuple(frame.columns), *frame.itertuples(index=False, name=None)]:
        write([_cell(value) for value in row])
        lines.append(written.getvalue().removesuffix("\r\n"))
        written.seek(0)
        written.truncate()
    return "".join(f"{line}\n" for line in lines)


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
