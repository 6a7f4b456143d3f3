"""The script that writes docs/leaderboard.md."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow  # every policy on two recordings
def test_a_section_names_every_policy_and_what_the_portfolio_chooses() -> None:
    script = runpy.run_path(str(ROOT / "benchmarks" / "leaderboard.py"))
    lines = list(script["section"]("tau", str(ROOT / "traces" / "terminal_tickets"), 2))
    assert script["policies"]().keys() <= {*re.findall(r"`([\w.]+)`", "\n".join(lines))}
    rows = [line.split(" | ") for line in lines if line.startswith("| ")]
    assert sum("portfolio" in row[0] for row in rows) == 1
    assert {len(row) for row in rows} == {6}
