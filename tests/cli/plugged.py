"""pytest in a process of its own, with the plugin: what its tests run."""

from __future__ import annotations

import os
from collections.abc import Sequence

from warm import ROOT, run_warm


def run(*arguments: str, plugins: Sequence[str] = ()) -> tuple[int, str]:
    """The exit code and output of pytest in a process of its own, with this plugin, and no other but those named."""
    loaded = [part for name in ("bench.pytest_plugin", *plugins) for part in ("-p", name)]
    outside = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
    environment = {**outside, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    done = run_warm("pytest", *loaded, "-p", "no:cacheprovider", "--color=no", *arguments, environment=environment)
    assert "INTERNALERROR" not in done.stdout + done.stderr
    return done.returncode, done.stdout + done.stderr
