"""docs/validity.md says what the bench measures: the findings on the five documents are measured again from the shipped scenarios."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "validity.md").read_text(encoding="utf-8")
sys.path.insert(0, str(ROOT / "docs"))

import validity  # noqa: E402


def test_there_are_findings_on_every_document_and_each_has_its_place():
    part = PAGE.partition("## Findings on the five documents")[2]
    assert all(
        re.search(rf"^\*\*[\d, and]*{document}", part, re.MULTILINE) for document in ("000", "001", "002", "003", "004")
    )
    assert re.findall(r"<!-- measured: (.*) -->", part) == list(validity.FINDINGS)


@pytest.mark.slow
@pytest.mark.parametrize("scenario", validity.FINDINGS)
def test_the_stated_figures_are_what_the_bench_measures_slow_because_a_scenario_runs(scenario):
    lines = list(validity.findings(scenario))
    assert not any("–" in line for line in lines)
    assert f"<!-- measured: {scenario} -->\n\n{chr(10).join(lines)}\n\n<!-- end" in PAGE, "python docs/validity.py"
