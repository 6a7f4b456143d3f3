"""The page where charts cannot be drawn: it says so, and has their numbers."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from compared import comparison

from bench.cli import main
from bench.reports import page_data, rendered
from bench.reports.blocks import Chart, Point
from bench.reports.charts import svg

SPEC = importlib.util.find_spec
BUNDLED = hashlib.sha256(b"bundled").hexdigest()


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
    figures = re.findall(r'(?s)<figure class="line">.*?</figure>', text)
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
    outputs = [part for name in ("x.html", "x.csv") for part in ("-o", str(tmp_path / name))]
    with pytest.raises(SystemExit):
        main(["run", "--traces", "traces/analysis/aborted.jsonl", "--strategy", "keep_all", *outputs])
    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith("wrote")]
    assert "its charts as tables" in said[0]
    assert "charts" not in said[1].replace(str(tmp_path), "")


@pytest.mark.slow
def test_where_addresses_are_few_charts_are_tables_and_the_run_ends_well(tmp_path: Path) -> None:
    line = f"ulimit -v 8000000; {sys.executable} -m bench run --traces traces/analysis/aborted.jsonl -o {tmp_path / 'x.html'}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "its charts as tables — raise `ulimit -v` above 80 GB" in done.stdout
    assert "Not drawn: raise `ulimit -v` above 80 GB" in (tmp_path / "x.html").read_text()


@pytest.mark.parametrize("odd", ["a pipe", "a device", "a folder"])
def test_what_is_no_file_in_the_cache_of_charts_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("vl_convert.javascript_bundle", lambda *given: "bundled")
    monkeypatch.setattr(page_data, "CHART_LIBRARIES", dict.fromkeys(page_data.CHART_LIBRARIES, BUNDLED))
    page_data.chart_library.cache_clear()
    try:
        assert page_data.chart_library() == "bundled"
        (kept,) = (tmp_path / "agent-memory-bench" / "charts").iterdir()
        kept.unlink()
        make = {"a pipe": os.mkfifo, "a device": lambda path: path.symlink_to("/dev/zero"), "a folder": Path.mkdir}
        make[odd](kept)
        page_data.chart_library.cache_clear()
        assert page_data.chart_library() == "bundled"
        assert [path.name for path in kept.parent.iterdir()] == [kept.name], "nothing half made stays"
    finally:
        page_data.chart_library.cache_clear()


def test_numbers_of_hundreds_of_digits_are_drawn() -> None:
    points = tuple(Point(f"s{at}", 10**300 * at, 10**300) for at in (1, 2))
    chart = Chart("scatter", "t", "prompt tokens", "tokens", "tokens", "tokens", points, "both are large")
    assert svg(chart, {}, "c").startswith("<svg")
