"""What a replay keeps while it judges: the two sides that are judged alike, and the error of a strategy that broke."""

from __future__ import annotations

from typing import Any

from ..errors import BenchError, debugged, one_line
from ..model import Record
from ..strategies.functions import told_of


class Broken(Exception):
    """A strategy raised, or returned what its slot does not allow."""

    def __init__(self, slot: str, error: Exception) -> None:
        self.slot = slot
        self.text = one_line(error) if isinstance(error, BenchError) else told_of(error)
        debugged(error)


class Side:
    """One of the two sides that are judged alike: the stored records and the untruncated ones."""

    def __init__(self, evaluate: Any) -> None:
        self.evaluate = evaluate
        self.results = 0
        self.records: list[Record] = []
        self.evaluations: list[dict[str, Any]] = []
