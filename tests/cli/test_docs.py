"""The examples of README.md and docs/python.md print what the pages say."""

from __future__ import annotations

import doctest
import os
from pathlib import Path

import pytest
import readme_gold

ROOT = Path(__file__).parents[2]


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
