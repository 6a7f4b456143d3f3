"""The scores as CSV: the rows of the JSON report that say something, for a spreadsheet or a frame."""

from __future__ import annotations

from collections.abc import Sequence

from . import Section, renderer, scores_frame


@renderer("csv", endings=(".csv",))
def csv_rows(sections: Sequence[Section]) -> str:
    """One line per metric, strategy and case, after a header line; `status` says what the value is.

    `low` and `high` are the value itself where it is exact; all three are empty where nothing was measured, and `status` says why.
    """
    text: str = scores_frame(sections).to_csv(index=False, lineterminator="\n", float_format=_number)
    return text


def _number(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
