"""The folder that tests of the command line work in."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_folder import fill


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two traces, a scenario and a private strategy; the process works in it."""
    monkeypatch.chdir(tmp_path)
    fill(tmp_path)
    return tmp_path
