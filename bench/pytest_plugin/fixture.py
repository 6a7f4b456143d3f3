"""The measures of one's own test: what the `bench` fixture of the pytest plugin is.

Modules of the bench are imported on use, so that loading the plugin costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ..model.errors import SpecError

if TYPE_CHECKING:
    from ..model import Trace
    from ..strategies import Strategy

    Traces = Trace | str | Path | Sequence[Trace]


class Measured(float):
    """A value of the fixture. An assertion on it that fails says what was measured."""

    lines: tuple[str, ...] = ()

    @classmethod
    def of(cls, value: float, *lines: str) -> Measured:
        """A value, and the lines that say what it is."""
        measured = cls(value)
        measured.lines = lines
        return measured


class Bench:
    """The measures of one's own test.

    Paths of recordings and strategies are relative to pytest's root folder.

    A recording is a path (`messages:runs/a.jsonl`; a folder stands for all of its recordings) or a
    Trace; a strategy is a spec string (`keep_all`, `mine=summarizer=summarizers.py:summarize`), a
    Strategy, or a function of one's own, which is a summarizer.
    """

    def __init__(self, base: Path) -> None:
        self._base = base

    def value(self, trace: Traces, strategy: Strategy | str | Callable[..., Any], metric: str) -> Measured:
        """One metric over all of the recordings.

        What was not measured, and a strategy that failed or is unstable, fails the test with the
        reason: that is never 0 or 1. Raises TraceError for a damaged file: it may have held the run
        that fails.
        """
        from .. import compare
        from ..metrics import metric_of
        from ..traces import load

        info = metric_of(metric).info
        traces = load([str(trace)], self._base, strict=True).traces if isinstance(trace, str | Path) else trace
        result = compare(traces, [strategy], base=self._base)
        name = (result.strategies or result.references)[0]
        if isinstance(strategy, str) and "=" not in strategy:
            name = strategy
        ran = [
            finding
            for run in result.runs
            for s in run.scores
            if s.strategy == name
            for finding in s.checks["ran"].findings
        ]
        if ran:
            pytest.fail(f"{metric} cannot be judged: {ran[0].text}", pytrace=False)
        number = result.number(name, metric)
        if number is None or number.value is None:
            reason = number.reason if number else "nothing to measure"
            pytest.fail(f"{metric} was not measured: {reason}", pytrace=False)
        each = [(run.id, result.number(name, metric, run.id)) for run in result.runs]
        values = [(n.value, run) for run, n in each if n is not None and n.value is not None]
        worst = (min if info.better == "higher" else max)(values) if values else None
        where = f", worst run {worst[1]}: {worst[0]:g}" if worst else ""
        return Measured.of(number.value, f"{metric} of {name} is {number.value:g}{where}")

    def loss(
        self, trace: Traces, strategy: Strategy | str | Callable[..., Any], metric: str = "loss.fact_recall.end"
    ) -> Measured:
        """The share that is lost, 0 to 1: one minus a recall, over all of the recordings.

        Raises SpecError for a metric that is no such share.
        """
        from ..metrics import metric_of

        info = metric_of(metric).info
        if info.unit != "share" or info.better != "higher":
            raise SpecError(f"{metric} is no share that is kept — use bench.value(trace, strategy, {metric!r})")
        kept = self.value(trace, strategy, metric)
        return Measured.of(1.0 - kept, *kept.lines)
