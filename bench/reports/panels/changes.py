"""The changes since the baseline (a committed one, another revision of the code, another score file)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from ...comparison.baselines import shared_cases, stale_reasons
from ...comparison.intervals import change
from ...comparison.rows import combine
from ...model import Baseline, Comparison, Delta, MetricInfo
from ...text.wording import counted, quantity
from .. import panel
from ..answered import Answered
from ..blocks import MOST_ROWS, Block, Prose, change as change_cell, number, strategy, table_of


@dataclass(frozen=True)
class _Change:
    """One metric of one strategy on the cases that both sides have: its value now, and its difference to the baseline."""

    strategy: str
    info: MetricInfo
    now: float | None
    delta: Delta

    @property
    def before(self) -> float | None:
        return None if self.now is None or self.delta.delta is None else self.now - self.delta.delta

    @property
    def says(self) -> str:
        """The verdict in a word."""
        return "not sure" if self.delta.better is None else "better" if self.delta.better else "worse"

    def place(self, gated: Collection[str]) -> tuple[bool, int, float]:
        """The place in the table: what a gate judges, then surely worse before surely better, the largest change first of each."""
        order = ("worse", "not sure", "better").index(self.says)
        return self.info.name not in gated, order, -abs(self.delta.relative or 0.0)


@panel("changes", order=72, title="What changed?", detail=True)
def changes(comparison: Answered) -> list[Block]:
    """Every metric of every strategy that differs from the baseline, paired by case, with interval."""
    return [*_since(comparison)]


def _since(comparison: Answered) -> Iterator[Block]:
    against = comparison.against
    yield from (Prose(f"The baseline was refused for {reason}.", "warn") for reason in stale_reasons(against.stale))
    if against.baseline is None:
        return
    found = list(_changes(comparison, against.baseline))
    if not found:
        yield Prose(f"No case was measured both here and in {against.name}.", "warn")
        return
    moved = [item for item in found if item.delta.delta]
    gated = {rule.metric for rule in comparison.rules}
    said = f"Different from {against.name}: {len(moved) or 'none'} of {counted(len(found), 'value')}."
    yield Prose(said, "plain" if moved else "muted")
    if moved:
        yield table_of(
            sorted(moved, key=lambda item: item.place(gated)),
            {
                "strategy": lambda item: strategy(item.strategy),
                "metric": lambda item: item.info.name,
                number("before"): lambda item: quantity(item.before, item.info.unit),
                number("now"): lambda item: quantity(item.now, item.info.unit),
                number("change"): lambda item: change_cell(item.delta, item.info.unit),
                number("cases"): lambda item: str(item.delta.n),
                "says": lambda item: item.says,
            },
            most=MOST_ROWS,
            more=f"Those of gates and the worst, {MOST_ROWS} in all; {{}} more.",
        )
    yield from (Prose(text, "warn") for text in _unpaired(comparison, against.baseline))


def _changes(comparison: Comparison, baseline: Baseline) -> Iterator[_Change]:
    """Every metric of every strategy that both sides measured."""
    for name in comparison.strategies:
        for metric, info in comparison.metrics.items():
            if metric in comparison.against.stale:
                continue
            accepted = baseline.of(name, metric)
            shared = shared_cases(comparison, accepted).shared
            rows = [row for case in shared if (row := comparison.row(name, metric, case)) is not None]
            delta = change(info, rows, accepted, comparison.signature.seed, comparison.against.name)
            if delta is not None and delta.delta is not None:
                both = [row for row in rows if accepted[row.case or ""].value is not None]
                values = [(row.value, row.n) for row in both if row.value is not None]
                yield _Change(name, info, combine(info, values), delta)


def _unpaired(comparison: Comparison, baseline: Baseline) -> Iterator[str]:
    """The strategies and cases that only one side has."""
    cases = set(comparison.case_ids), set(baseline.signature.traces)
    strategies = set(comparison.strategies), set(baseline.rows) - {*comparison.references}
    for what, (ours, theirs) in (("case", cases), ("strategy", strategies)):
        for names, where in ((ours - theirs, "here"), (theirs - ours, f"in {comparison.against.name}")):
            if names:
                yield f"Only {where}: {what} {', '.join(sorted(names))}."
