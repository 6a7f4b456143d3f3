"""The scores as Parquet: the rows of the JSON report that say something, typed and compressed, for whoever keeps many runs."""

from __future__ import annotations

import io
from collections.abc import Sequence

from . import Section, renderer, scores_frame


@renderer("parquet", endings=(".parquet",), extra=("pyarrow", "parquet"))
def parquet_rows(sections: Sequence[Section]) -> bytes:
    """One row per metric, strategy and case: scenario, strategy, metric, case, value, low, high, unit, n, status.

    A null value was not measured, for the status given.

    The same rows give the same bytes with one version of pyarrow.
    """
    frame = scores_frame(sections)
    for name in frame.columns[frame.dtypes == "object"]:
        frame[name] = frame[name].map(_encodable, na_action="ignore").astype("string")
    written = io.BytesIO()
    frame.to_parquet(written, engine="pyarrow", compression="zstd", index=False)
    return written.getvalue()


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
