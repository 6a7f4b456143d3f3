"""Numbers within limits, and the options that say what somebody's own code may take."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import click

from ..plugins.apart import LEAST_MIB


class Within(click.FloatRange):
    """A number of a range; `nan`, which is in every range, is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number that a text says."""
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail("nan is no number", param, ctx)
        return number


SECONDS = Within(0, 31_536_000, min_open=True)


def limited(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command with `--call-timeout` and `--memory`: its parameters `call_s` and `memory_mib`."""
    timeout = click.option("--call-timeout", "call_s", type=SECONDS, default=60.0,
                           show_default=True, metavar="SECONDS",
                           help="How long a strategy of your own may take for its calls at one step, and a reader for a file.")  # fmt: skip
    memory = click.option("--memory", "memory_mib", type=click.IntRange(min=LEAST_MIB), default=4096, show_default=True,
                          metavar="MIB", help="How much memory a process may take in which code of your own runs.")  # fmt: skip
    return timeout(memory(command))
