"""The page where charts cannot be drawn: it says so, and has their numbers."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest
from compared import comparison

from bench.cli import main
from bench.reports import rendered

SPEC = importlib.util.find_spec


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "vl_convert" else SPEC(name))
    monkeypatch.setitem(sys.modules, "vl_convert", None)


@pytest.mark.usefixtures("undrawn")
def test_a_page_without_what_draws_charts_has_their_numbers_and_says_how_to_have_them() -> None:
    text = str(rendered([comparison()], "html"))
    assert "pip install 'agent-memory-bench[charts]'" in text.replace("&#39;", "'")
    assert 'id="library"' not in text
    assert 'class="spec"' not in text
    figures = re.findall(r'(?s)<figure class="(?:line|scatter)">.*?</figure>', text)
    assert figures
    assert all("<table" in figure for figure in figures)
    assert "Ship mask: " in text


def test_a_page_with_it_says_nothing_of_it() -> None:
    text = str(rendered([comparison()], "html"))
    assert "agent-memory-bench[charts]" not in text
    assert 'id="library"' in text


@pytest.mark.usefixtures("undrawn")
def test_the_command_line_says_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    outputs = [part for name in ("x.html", "x.csv") for part in ("-o", str(tmp_path / name))]
    with pytest.raises(SystemExit):
        main(["run", "--traces", "traces/analysis/aborted.jsonl", "--strategy", "keep_all", *outputs])
    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith("wrote")]
    assert "its charts as tables" in said[0]
    assert "charts" not in said[1].replace(str(tmp_path), "")
