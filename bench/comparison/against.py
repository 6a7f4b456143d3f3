"""A comparison and its baseline: the runs that both have, the moves, the replaced strategies.

Differences of the same recordings under two versions are exact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from ..model.compared import Compared, Move, RunMove
from ..model.metric import MetricInfo
from .baseline import ScoreFile, stale
from .rules import slots_in_spec
from .totals import Runs, value_of

_SETTINGS = re.compile(r":\w+=[^\]]*")


class Against:
    """A comparison and its baseline (None: there is none).

    `all` are the runs of the comparison; `now` and `before` those that both have: the same
    recordings with the same labels. `lost` are the ids of the other runs of the baseline.
    """

    def __init__(self, compared: Compared, base: ScoreFile | None) -> None:
        self.compared, self.base, self.all = compared, base, Runs(compared.runs)
        there = Runs(base.runs if base else ()).all
        known = {run.id: run.facts.sha256 for run in there}
        shared = {run.id for run in self.all.all if known.get(run.id) == run.facts.sha256}
        self.now = Runs(run for run in self.all.all if run.id in shared)
        self.before = Runs(run for run in there if run.id in shared)
        self.lost = [run.id for run in there if run.id not in shared]

    def moved_runs(self, name: str, info: MetricInfo) -> tuple[RunMove, ...]:
        """The runs in which a number of a strategy moved, the worst first."""
        moved = []
        for was, run in zip(self.before.all, self.now.all, strict=True):
            before = value_of(self.before.number(was, name, info.name))
            after = value_of(self.now.number(run, name, info.name))
            if before is not None and after is not None and before != after:
                moved.append(RunMove(run.id, before, after))
        sign = 1 if info.better == "higher" else -1
        return tuple(sorted(moved, key=lambda move: (sign * (move.after - move.before), move.run)))


def moves(against: Against) -> tuple[Move, ...]:
    """Every number of a declared strategy that differs from the baseline, on the shared runs."""
    moved: list[Move] = []
    compared, base = against.compared, against.base
    infos = [
        info
        for info in compared.metrics.values()
        if base and not stale(compared.signature, base.signature, info)
    ]
    for name, info in ((name, info) for name in compared.strategies for info in infos):
        before = against.before.total(name, info).value
        after = against.now.total(name, info).value
        runs = against.moved_runs(name, info)
        if before is None or after is None or (before == after and not runs):
            continue
        worse = sum((run.after > run.before) == (info.better == "lower") for run in runs)
        better = None if before == after else (after < before) == (info.better == "lower")
        moved.append(
            Move(
                strategy=name, metric=info.name, before=before, after=after, better=better,
                improved_runs=len(runs) - worse, regressed_runs=worse, runs=runs,
            )
        )  # fmt: skip
    return tuple(moved)


def replaced(against: Against) -> Iterator[str]:
    """Yield a clause on each strategy that had gates in the baseline and is gone or runs other
    code."""
    base = against.base
    for name, then in sorted(base.specs.items()) if base else ():
        if base and any(fnmatchcase(name, rule.strategy) for rule in base.rules):
            now = against.compared.specs.get(name)
            if now is None:
                yield f"strategy {name}, which was judged, is gone"
            elif _code(then) != _code(now):
                yield f"strategy {name}, which was judged, was {then} and is {now}"


def _code(spec: str) -> dict[str, str]:
    """The slots of a spec without their settings, which may change, and its `says`."""
    slots = slots_in_spec(spec).items()
    return {slot: text if slot == "says" else _SETTINGS.sub("", text) for slot, text in slots}
