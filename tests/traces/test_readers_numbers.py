"""Times and counts of tokens that files write in more than one way: milliseconds, and two names for one count."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from reread import document

from bench.traces.documents import Node
from bench.traces.nodes import moment

START = 1767225600


def time(folder: Path, value: Any) -> float | None:
    return moment(Node(document(folder, {}), None, "$", value))


@pytest.mark.parametrize(
    ("value", "seconds"),
    [(START, START), (START * 1000 + 500, START + 0.5), ("2026-01-01T00:00:00Z", START), (0, 0), (-5.5, -5.5), (None, None)],
)  # fmt: skip
def test_a_number_too_large_for_seconds_is_milliseconds(tmp_path: Path, value: Any, seconds: float | None) -> None:
    assert time(tmp_path, value) == seconds
