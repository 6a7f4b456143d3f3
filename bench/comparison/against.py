"""A comparison and its baseline: the runs that both have, the moves, the replaced strategies.

Differences of the same recordings under two versions are exact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property

from ..model.compared import Compared, Move, RunMove
from ..model.metric import MetricInfo
from .baseline import ScoreFile, stale
from .rules import slots_in_spec
from .totals import Runs, value_of

_SETTINGS = re.compile(r":\w+=[^\]]*")


@dataclass(frozen=True)
class Against:
    """The runs of a comparison and those of its baseline."""

    compared: Compared
    base: ScoreFile

    @cached_property
    def now(self) -> Runs:
        """The runs of the comparison."""
        return Runs(self.compared.runs)

    @cached_property
    def baseline(self) -> Runs:
        """The runs of the baseline."""
        return Runs(self.base.runs)

    @cached_property
    def shared(self) -> set[str]:
        """The ids of the runs that both have: the same recording with the same labels."""
        known = {run.id: run.facts.sha256 for run in self.baseline.all}
        return {run.id for run in self.now.all if known.get(run.id) == run.facts.sha256}

    @cached_property
    def shared_now(self) -> Runs:
        """The runs of the comparison that the baseline has too."""
        return Runs(run for run in self.now.all if run.id in self.shared)

    @cached_property
    def shared_before(self) -> Runs:
        """The runs of the baseline that the comparison has too."""
        return Runs(run for run in self.baseline.all if run.id in self.shared)

    def moved_runs(self, name: str, info: MetricInfo) -> tuple[RunMove, ...]:
        """The runs in which a number of a strategy moved, the worst first."""
        moved = []
        for was, run in zip(self.shared_before.all, self.shared_now.all, strict=True):
            before = value_of(self.shared_before.number(was, name, info.name))
            after = value_of(self.shared_now.number(run, name, info.name))
            if before is not None and after is not None and before != after:
                moved.append(RunMove(run.id, before, after))
        sign = 1 if info.better == "higher" else -1
        return tuple(sorted(moved, key=lambda move: (sign * (move.after - move.before), move.run)))


def moves(against: Against) -> tuple[Move, ...]:
    """Every number of a declared strategy that differs from the baseline, on the shared runs."""
    moved = []
    for name in against.compared.strategies:
        for metric, info in against.compared.metrics.items():
            if stale(against.compared.signature, against.base.signature, info):
                continue
            before = against.shared_before.total(name, info).value
            after = against.shared_now.total(name, info).value
            runs = against.moved_runs(name, info)
            if before is None or after is None or (before == after and not runs):
                continue
            worse = sum((run.after > run.before) == (info.better == "lower") for run in runs)
            better = None if before == after else (after < before) == (info.better == "lower")
            moved.append(
                Move(
                    strategy=name, metric=metric, before=before, after=after, better=better,
                    improved_runs=len(runs) - worse, regressed_runs=worse, runs=runs,
                )
            )  # fmt: skip
    return tuple(moved)


def replaced(against: Against) -> Iterator[str]:
    """Yield a clause on each strategy that had gates in the baseline and is gone or runs other
    code."""
    for name, then in sorted(against.base.specs.items()):
        if any(fnmatchcase(name, rule.strategy) for rule in against.base.rules):
            now = against.compared.specs.get(name)
            if now is None:
                yield f"strategy {name}, which was judged, is gone"
            elif _code(then) != _code(now):
                yield f"strategy {name}, which was judged, was {then} and is {now}"


def _code(spec: str) -> dict[str, str]:
    """The slots of a spec without their settings, which may change, and its `says`."""
    slots = slots_in_spec(spec).items()
    return {slot: text if slot == "says" else _SETTINGS.sub("", text) for slot, text in slots}
