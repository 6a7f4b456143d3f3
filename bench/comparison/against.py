"""A comparison against its baseline: the runs that both have, what moved, what was replaced.

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
from .rules import filled
from .totals import Runs, value_of

_SETTINGS = re.compile(r":\w+=[^\]]*")


@dataclass(frozen=True)
class Against:
    """The runs of a comparison beside those of its baseline."""

    compared: Compared
    base: ScoreFile

    @cached_property
    def now(self) -> Runs:
        """The runs of the comparison."""
        return Runs(self.compared.runs)

    @cached_property
    def then(self) -> Runs:
        """The runs of the baseline."""
        return Runs(self.base.runs)

    @cached_property
    def both(self) -> set[str]:
        """The ids of the runs that both have: the same recording with the same labels."""
        known = {run.id: run.facts.sha256 for run in self.then.all}
        return {run.id for run in self.now.all if known.get(run.id) == run.facts.sha256}

    @cached_property
    def here(self) -> Runs:
        """The runs of now that both have."""
        return Runs(run for run in self.now.all if run.id in self.both)

    @cached_property
    def there(self) -> Runs:
        """The runs of then that both have."""
        return Runs(run for run in self.then.all if run.id in self.both)

    def moved_runs(self, name: str, info: MetricInfo) -> tuple[RunMove, ...]:
        """The runs in which a number of a strategy moved, the worst first."""
        moved = []
        for was, run in zip(self.there.all, self.here.all, strict=True):
            before = value_of(self.there.number(was, name, info.name))
            after = value_of(self.here.number(run, name, info.name))
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
            before = against.there.total(name, info).value
            after = against.here.total(name, info).value
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
    """Yields a clause on each strategy with gates in the baseline that is gone or runs other code."""
    for name, then in sorted(against.base.specs.items()):
        if any(fnmatchcase(name, rule.strategy) for rule in against.base.rules):
            now = against.compared.specs.get(name)
            if now is None:
                yield f"strategy {name}, which was judged, is gone"
            elif _code(then) != _code(now):
                yield f"strategy {name}, which was judged, was {then} and is {now}"


def _code(spec: str) -> dict[str, str]:
    """The slots of a spec without their settings, which may change; and the sentences it may say."""
    slots = filled(spec).items()
    return {slot: text if slot == "says" else _SETTINGS.sub("", text) for slot, text in slots}
