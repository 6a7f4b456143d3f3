"""Readers of corpora that only tests and labels use, each named by its path: `tests/readers/building_agent.py:BuildingAgent:FILE`."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent
BUILDING_AGENT = f"{_HERE / 'building_agent.py'}:BuildingAgent"
WHO_AND_WHEN = f"{_HERE / 'who_and_when.py'}:WhoAndWhen"
