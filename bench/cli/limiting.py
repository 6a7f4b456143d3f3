"""The options that say what somebody's own code may take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click


def limited(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command with `--call-timeout` and `--memory`: its parameters `call_s` and `memory_mib`."""
    timeout = click.option("--call-timeout", "call_s", type=click.FloatRange(min=0, min_open=True), default=60.0,
                           show_default=True, metavar="SECONDS",
                           help="How long a strategy of your own may take for its calls at one step, and a reader for a file.")  # fmt: skip
    memory = click.option("--memory", "memory_mib", type=click.IntRange(min=1), default=4096, show_default=True,
                          metavar="MIB", help="How much memory a process may take in which code of your own runs.")  # fmt: skip
    return timeout(memory(command))
