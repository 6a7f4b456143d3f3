"""One new file adds one thing: the files of CONTRIBUTING.md and docs/traces.md, put beside the bench's own, with nothing else edited."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench.plugins import registry

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
READER = (ROOT / "docs" / "traces.md").read_text(encoding="utf-8")
FILES = re.findall(
    r"^`(bench/[\w/]+)/(\w+\.py)`[^\n]*:\n\n```python\n(.*?)^```$", PAGE + READER, re.DOTALL | re.MULTILINE
)
(GATE,) = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)

RENDERER = '''
"""Values as lines with tabs."""

from collections.abc import Sequence

from bench.reports import Section, renderer


@renderer("tab", endings=(".tab",))
def tab(sections: Sequence[Section]) -> str:
    """A line a row: strategy, metric, case, value."""
    rows = (row for section in sections for row in section.comparison.rows)
    return "".join(f"{row.strategy}\\t{row.metric}\\t{row.case}\\t{row.value}\\n" for row in rows)
'''

LOG = [
    {"event": "start", "run": "r7", "by": "deskbot 1.4"},
    {"event": "ask", "text": "How many, and where?"},
    {"event": "reply", "text": "", "calls": [{"id": "a", "tool": "count", "input": {}}]},
    {"event": "tool", "call": "a", "shown": "one\ntwo of 471\nthree in /data/run_7.csv"},
    {"event": "reply", "text": "471, in /data/run_7.csv."},
    {"event": "end", "ok": True},
]

NEWCOMERS = """
import importlib, sys
for package in {packages!r}:
    importlib.import_module(package).__path__.append({folder!r} + package.replace(".", "/"))
"""

DOCS = """
import json, sys
sys.path.insert(0, {docs!r})
import newcomers, generate
pages = {{name: (generate.FOLDER / name).read_text() for name in generate.PAGES}}
print(json.dumps([[name, newer] for name, page in pages.items() for newer in (False, True) if generate.filled(page, newer) != page]))
"""


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    """A folder with recordings, a scenario, and a module `newcomers` that puts the new files beside the bench's own."""
    folder = tmp_path_factory.mktemp("newcomers")
    for package, name, source in (*FILES, ("bench/reports", "tab_rows.py", RENDERER)):
        assert not (ROOT / package / name).exists()
        (folder / package).mkdir(parents=True, exist_ok=True)
        (folder / package / name).write_text(source, encoding="utf-8")
    packages = [package.replace("/", ".") for package, _, _ in FILES] + ["bench.reports"]
    (folder / "newcomers.py").write_text(NEWCOMERS.format(packages=packages, folder=f"{folder}/"))
    (folder / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LOG), encoding="utf-8")
    (folder / "log.toml").write_text(f'traces = ["log.jsonl"]\n[strategies]\nmine = {{ summarizer = "first_lines:lines=1" }}\n{GATE}')  # fmt: skip
    return folder


def process(folder, *command, cwd=None):
    """Run Python in a process in which the new files are found; give its exit code, output and errors."""
    environment = {**os.environ, "PYTHONPATH": f"{folder}:{ROOT}"}
    done = subprocess.run(
        [sys.executable, *command], cwd=cwd or folder, capture_output=True, text=True, check=False, env=environment
    )
    return done.returncode, done.stdout, done.stderr


def bench(folder, *calls):
    """Run calls of `bench` in one process; give their exit codes, and what was printed."""
    code = f"""
import newcomers
from bench.cli import main
codes = []
for call in {calls!r}:
    try:
        main(list(call))
        codes.append(0)
    except SystemExit as done:
        codes.append(done.code or 0)
print("\\ncodes:", codes)
"""
    _, out, err = process(folder, "-c", code)
    return json.loads(out.rpartition("codes: ")[2]), out, err


@pytest.fixture(scope="module")
def ran(there):
    outputs = [word for ending in ("json", "md", "html", "tab") for word in ("-o", f"out.{ending}")]
    codes, out, err = bench(there, ("run", "log.toml", *outputs))
    assert (codes, err) == ([1], ""), out
    scores = json.loads((there / "out.json").read_text())
    return {(row["strategy"], row["metric"], row["case"]): row["value"] for row in scores["rows"]}, scores


def test_there_is_a_whole_file_for_each_kind_that_the_page_promises():
    assert [package for package, _, _ in FILES] == [
        "bench/strategies/documents", "bench/metrics", "bench/comparison/gates", "bench/reports/panels",
        "bench/traces/formats",
    ]  # fmt: skip
    folders = re.findall(r"`(bench/[\w/]+/)`", PAGE)
    assert all((ROOT / folder).is_dir() for folder in folders)
    assert {package + "/" for package, _, _ in FILES} <= set(folders)
    assert set(re.findall(r'@register\("(\w+)"', PAGE)) <= set(registry.KINDS)


@pytest.mark.slow
def test_a_new_reader_reads_and_a_new_metric_measures(ran):
    values, _ = ran
    both = ("cost.part_tokens.tools", "cost.part_tokens.messages")
    assert sum(values["mine", name, "r7"] for name in both) == values["mine", "cost.prompt_tokens", "r7"] > 0


@pytest.mark.slow
def test_a_new_strategy_and_its_setting_are_used(ran):
    values, scores = ran
    assert scores["signature"]["strategies"]["mine"] == "mine=summarizer=first_lines:lines=1"
    tokens = "cost.prompt_tokens"
    assert values["mine", tokens, "r7"] != values["keep_all", tokens, "r7"]


def test_a_new_gate_judges_by_a_setting_of_its_own(ran):
    (verdict,) = ran[1]["verdicts"]
    assert (verdict["gate"], verdict["outcome"]) == ("needed.recall beside recorded", "fail")


def test_a_new_panel_stands_in_every_report_and_a_new_renderer_writes_its_ending(there, ran):
    for name in ("out.md", "out.html"):
        assert "How large does a prompt get?" in (there / name).read_text()
    lines = (there / "out.tab").read_text().splitlines()
    assert {tuple(line.split("\t")[:3]) for line in lines} >= ran[0].keys()
    assert all(line.count("\t") == 3 for line in lines)


@pytest.mark.slow
def test_newcomers_are_listed_and_their_examples_run(there):
    kinds = ("traces", "strategies", "metrics", "gates", "panels")
    codes, out, _ = bench(there, *(("list", kind) for kind in kinds), ("show", "log.jsonl"))
    assert codes == [0] * 6
    for name in ("deskbot", "first_lines", "cost.part_tokens", "beside", "largest"):
        assert re.search(rf"^  {re.escape(name)}\b", out, re.MULTILINE), name
    assert "run_7" in out, "bench show printed the trace"
    names = [f"{package}/{name}".removesuffix(".py").replace("/", ".") for package, name, _ in FILES]
    code = "import newcomers, doctest, importlib, sys\n"
    code += f"sys.exit(sum(doctest.testmod(importlib.import_module(name)).failed for name in {names!r}))"
    assert process(there, "-c", code)[0] == 0


WRONG = {
    'not_worse_then = "keep_all"': "unknown key 'not_worse_then' — did you mean not_worse_than",
    "not_worse_than = 5": "not_worse_than = 5: Expected `str`",
    'not_worse_than = "keep_all"\nmin = 1': "not_worse_than and min in one gate — write one gate for each",
    'gate = "besides"\nnot_worse_than = "x"': "unknown gate 'besides' — did you mean beside",
    'gate = "limits"\nnot_worse_than = "x"': "unknown key 'not_worse_than' — known: gate, max, metric, min, over, strategy",
}


@pytest.mark.slow
def test_a_wrong_setting_of_a_new_gate_is_one_line_with_the_nearest(there):
    scenario = (there / "log.toml").read_text()
    for number, table in enumerate(WRONG):
        (there / f"{number}.toml").write_text(f'{scenario}\n[[gates]]\nmetric = "needed.recall"\n{table}\n')
    codes, _, err = bench(there, *(("run", f"{number}.toml") for number in range(len(WRONG))))
    assert codes == [2] * len(WRONG)
    for number, (line, says) in enumerate(zip(err.splitlines(), WRONG.values(), strict=True)):
        assert line.startswith(f"error: {number}.toml: gates[2] (needed.recall): ")
        assert says in line


@pytest.mark.slow
def test_no_gold_file_fails_for_a_newcomer_slow_because_every_report_is_written(there):
    options = ("-q", "-p", "newcomers", "-p", "no:cacheprovider")
    code, out, err = process(there, "-m", "pytest", *options, "tests/reports/test_reports_gold.py", cwd=ROOT)
    assert code == 0, out + err


@pytest.mark.slow
def test_a_newcomer_makes_no_page_old_and_is_on_the_next_one(there):
    code, out, err = process(there, "-c", DOCS.format(docs=str(ROOT / "docs")))
    assert code == 0, err
    pages = re.findall(r'"(\w+\.md)"', (ROOT / "docs/generate.py").read_text(encoding="utf-8"))
    assert json.loads(out) == [[name, True] for name in pages]
