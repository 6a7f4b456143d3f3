"""The scores as CSV: the rows of the JSON report, for a spreadsheet or a frame."""

from __future__ import annotations

from collections.abc import Sequence

from . import Section, renderer, scores_frame


@renderer("csv", endings=(".csv",))
def csv_rows(sections: Sequence[Section]) -> str:
    """One line per metric, strategy and case, after a header line; an empty value is one that was not measured, for the reason given."""
    text: str = scores_frame(sections).to_csv(index=False, lineterminator="\n", float_format=_number)
    return text


def _number(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
