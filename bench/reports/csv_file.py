"""Every number as CSV: a row per strategy, metric and run; rows without a run are over all runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..model.compared import Compared
from ..model.errors import visible


def render(comparisons: Sequence[Compared]) -> Iterator[str]:
    """The CSV of some comparisons, one below the other.

    A text that a spreadsheet would read as a formula begins with an apostrophe.
    """
    import pandas as pd

    frames = []
    for compared in comparisons:
        for rows in ("totals", "runs"):
            frame = compared.to_frame(rows)
            frame.insert(0, "scenario", compared.title)
            frames.append(frame)
    joined = pd.concat(frames, ignore_index=True)
    texts = [name for name in joined.columns if name not in ("value", "weight")]
    joined[texts] = joined[texts].map(
        lambda text: visible(f"'{text}" if text[:1] in "=+-@" and text else text)
    )
    yield joined.to_csv(index=False, lineterminator="\n")
