"""The answer that README.md shows: what `bench run` prints."""

from __future__ import annotations

import contextlib
import io
import os
import re
from pathlib import Path
from unittest.mock import patch

from bench.cli import main

README = Path(__file__).parents[1] / "README.md"
SCENARIO = "scenarios/do_five_rows_suffice.toml"


def current() -> str:
    """README.md with what the command prints now."""
    printed = io.StringIO()
    wide = patch.dict(os.environ, COLUMNS="100")
    with wide, contextlib.chdir(README.parent), contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        main(["run", SCENARIO])
    block = re.compile(rf"(`bench run {SCENARIO}` answers:\n\n```text\n).*?(?=```)", re.DOTALL)
    text, blocks = block.subn(lambda found: found[1] + printed.getvalue(), README.read_text(encoding="utf-8"))
    assert blocks == 1
    return text
