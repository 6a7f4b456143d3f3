"""The changes since the baseline (a committed one, another revision of the code, another score file), and the runs before."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from ...comparison.baselines import shared_cases, stale_reasons
from ...comparison.history import moves
from ...comparison.intervals import change
from ...comparison.rows import combine
from ...model import Baseline, Comparison, Delta, MetricInfo, Moment
from ...text.wording import counted, quantity
from .. import panel
from ..answered import Answered
from ..blocks import MOST_ROWS, Block, Cell, Chart, Point, Prose, change as change_cell, number, strategy, table_of

CHARTED = ("cost.prompt_tokens", "needed.recall")  # metrics that are drawn beside those that gates judge


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
    """Every metric of every strategy that differs from the baseline, paired by case, with interval; then the runs that a history kept."""
    return [*_since(comparison), *_history(comparison)]


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


def _history(comparison: Comparison) -> Iterator[Block]:
    """Every kept run of this scenario, as lines of the gated metrics, and the commits that moved a value, the latest first."""
    kept = [moment for moment in comparison.history if moment.strategy in comparison.strategies]
    if not kept:
        return
    runs = {moment.run for moment in kept}
    metrics = dict.fromkeys([*(rule.metric for rule in comparison.rules), *CHARTED])
    moved = [move for move in moves(kept) if move.after.metric in metrics]
    yield Prose(f"{counted(len(runs), 'run')} kept; {counted(len(moved), 'value')} moved among {', '.join(metrics)}.")

    def commit(moment: Moment) -> Cell:
        named = moment.commit[:9] + "+" * moment.dirty if moment.commit else "none"
        return Cell(named, note=f"{', '.join(moment.changed)} changed too" if moment.changed else "")

    def value(moment: Moment) -> str:
        info = comparison.metrics.get(moment.metric)
        return quantity(moment.value, info.unit if info else "")

    if moved:
        yield table_of(
            reversed(moved),
            {
                number("run"): lambda move: str(move.after.run),
                "commit": lambda move: commit(move.after),
                "strategy": lambda move: strategy(move.after.strategy),
                "metric": lambda move: move.after.metric,
                number("before"): lambda move: value(move.before),
                number("after"): lambda move: value(move.after),
            },
            most=MOST_ROWS,
            more=f"The last {MOST_ROWS}; {{}} earlier ones.",
        )
    if len(runs) > 1:
        yield from (_chart(comparison, metric, kept) for metric in metrics if metric in comparison.metrics)


def _chart(comparison: Comparison, metric: str, kept: Sequence[Moment]) -> Chart:
    """One metric over the runs, a line a strategy."""
    known = [moment for moment in kept if moment.metric == metric]
    points = tuple(Point(item.strategy, float(item.run), item.value) for item in known if item.value is not None)
    text = f"{metric} of each strategy over the runs kept, oldest left."
    unit = comparison.metrics[metric].unit
    return Chart("line", f"{metric} over time", "run", metric, "count", unit, points, text)
