"""Every number: all metrics of every strategy against today."""

from __future__ import annotations

from collections.abc import Iterator

from ..blocks import Section
from ..metric_table import metric_tables
from ..reading import Reading


def sections(reading: Reading) -> Iterator[Section]:
    """A row by metric that was measured, a column by strategy, today first."""
    if metrics := [name for name in reading.compared.metrics if reading.values(name)]:
        blocks = tuple(metric_tables(reading, "Every number", metrics))
        yield Section("numbers", "Every number", "Every number", blocks)
