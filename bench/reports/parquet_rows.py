"""The scores as Parquet: the rows of the JSON report, typed and compressed, for whoever keeps many runs."""

from __future__ import annotations

import io
from collections.abc import Sequence

from . import Section, renderer


@renderer("parquet", endings=(".parquet",), extra=("pyarrow", "parquet"))
def parquet_rows(sections: Sequence[Section]) -> bytes:
    """One row per metric, strategy and case: scenario, strategy, metric, case, value, unit, n, reason; a null value was not measured.

    The same rows give the same bytes with one version of pyarrow.

    Source: issue 4
    """
    import pyarrow
    from pyarrow import parquet

    schema = pyarrow.schema(
        [(name, pyarrow.string()) for name in ("scenario", "strategy", "metric", "case")]
        + [
            ("value", pyarrow.float64()),
            ("unit", pyarrow.string()),
            ("n", pyarrow.float64()),
            ("reason", pyarrow.string()),
        ]
    )
    rows = [
        {"scenario": section.name, "strategy": row.strategy, "metric": row.metric, "case": row.case,
         "value": row.value, "unit": row.unit, "n": row.n, "reason": row.reason}
        for section in sections
        for row in section.comparison.rows
    ]  # fmt: skip
    written = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(rows, schema=schema), written, compression="zstd")
    return written.getvalue()
