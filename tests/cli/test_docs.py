"""The examples of the pages run, and print what the pages say."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import readme_gold

import bench

ROOT = Path(__file__).parents[2]
PAGES = {
    name: (ROOT / name).read_text(encoding="utf-8")
    for name in ("README.md", "docs/start.md", "docs/strategies.md", "docs/report.md", "docs/ci.md")
}
CODE = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"^bench (?:.*\\\n)*.*$", re.MULTILINE)
SLOTS = {"summarizer", "compactor", "store", "evaluator", "router", "consumer"}


def test_the_examples_of_the_python_page_run_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("traces", "scenarios"):
        os.symlink(ROOT / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8").replace("```python", "").replace("```", "")
    page = doctest.DocTestParser().get_doctest(text, {}, "python.md", "docs/python.md", 0)
    found = doctest.DocTestRunner().run(page)
    assert found.attempted > 20
    assert found.failed == 0


def test_the_answer_of_the_readme_is_what_the_command_prints() -> None:
    assert readme_gold.current() == readme_gold.README.read_text(encoding="utf-8")


def templates() -> dict[str, Callable[..., Any]]:
    """The function below each heading of docs/strategies.md that names a slot, and the one below "Values outside the prompt"."""
    found = {}
    for section in PAGES["docs/strategies.md"].split("\n## ")[1:]:
        heading, names = section.splitlines()[0], {}
        for block in CODE.findall(section):
            exec(block, names)
        functions = [value for value in names.values() if callable(value) and value.__name__ in section]
        slot = "summarizer" if heading == "Values outside the prompt" else heading.split()[-1]
        if functions and slot in SLOTS:
            found[f"{heading}: {slot}"] = functions[-1]
    return found


@pytest.mark.parametrize("name", templates())
def test_a_template_of_the_strategies_page_runs(name: str) -> None:
    slot = name.split()[-1].replace("router", "routers")
    compared = bench.compare(
        str(ROOT / "traces/analysis/completed.jsonl"), {"mine": {slot: templates()[name]}}, debug=True
    )
    (mine,) = (item for item in compared.advice.ranked if item.strategy == "mine")
    assert (mine.verdict != "invalid", compared.totals["mine"]["routing.accuracy"].value) == (True, 1.0), mine.reason


@pytest.mark.slow  # every command of five pages in a process of its own
@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_runs(page: str, tmp_path: Path) -> None:
    for folder in ("runs", ".claude/projects/my-project", "traces/building_model"):
        shutil.copytree(ROOT / "traces/building_model", tmp_path / folder)
    shutil.move(tmp_path / "runs/survey.jsonl", tmp_path / "runs/first.jsonl")
    shutil.copytree(
        ROOT / "scenarios", tmp_path / "scenarios", ignore=lambda _, names: {*names} - {"do_five_rows_suffice.toml"}
    )
    shutil.copytree(ROOT / "traces/inventories", tmp_path / "traces/inventories")
    for code in CODE.findall(PAGES[page]):
        named = re.search(r"^# (\w+\.py)", code)
        name = named[1] if named else "summary_utils.py" if "def generate_summary" in code else "unused.py"
        (tmp_path / name).write_text(code, encoding="utf-8")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    environment = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "BENCH_CACHE": "off"}
    commands = COMMAND.findall("\n".join(re.findall(r"```sh\n(.*?)```", PAGES[page], re.DOTALL)))
    for scenario in re.findall(r"```toml\n(.*?)```", PAGES[page], re.DOTALL):
        (tmp_path / "scenarios/page.toml").write_text(scenario, encoding="utf-8")
        commands.append("bench run scenarios/page.toml")
    assert commands
    for command in commands:
        line = f'bench() {{ "{sys.executable}" -m bench "$@"; }}; {command}'
        done = subprocess.run(["bash", "-c", line], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stdout[-600:]}{done.stderr[-600:]}"
