"""A comparison against its baseline: the runs that both have, what moved, what was loosened.

Differences of the same recordings under two versions are exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property

from msgspec.structs import replace

from ..model.compared import Compared, Move, RunMove
from ..model.metric import MetricInfo
from ..model.signature import GateRule
from ..plugins.spec import parse_spec, split_top
from .baseline import ScoreFile, stale
from .gate_rules import as_strict
from .rules import filled
from .totals import Runs, value_of


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
        """The ids of the runs that both have: the same recording, asked the same questions."""
        known = {run.id: run.facts.sha256 for run in self.then.all}
        return {run.id for run in self.now.all if known.get(run.id) == run.facts.sha256}

    @cached_property
    def here(self) -> Runs:
        """The runs of now that both have, each with its task of then.

        Another label of a task must not change the weight of a run.
        """
        tasks = {run.id: run.facts.task for run in self.then.all}
        return Runs(
            replace(run, facts=replace(run.facts, task=tasks[run.id]))
            for run in self.now.all
            if run.id in self.both
        )

    @cached_property
    def there(self) -> Runs:
        """The runs of then that both have."""
        return Runs(run for run in self.then.all if run.id in self.both)

    def stale(self, info: MetricInfo) -> str:
        """The reason why a metric of the baseline does not compare with now; empty where it does."""
        return stale(self.compared.signature, self.base.signature, info)

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
            if against.stale(info):
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


# ---------------------------------------------------------------- what was loosened


def loosened(against: Against) -> Iterator[str]:
    """A clause on each gate, run and judged strategy that is gone or was loosened."""
    compared, base = against.compared, against.base
    judged: set[str] = set()
    for rule in base.rules:
        names = [name for name in base.specs if fnmatchcase(name, rule.strategy)]
        judged.update(names)
        for name in names or [rule.strategy]:
            yield from _loosened_gate(rule, name, compared)
    here = {run.id for run in compared.runs}
    for run in against.then.all:
        if run.id not in against.both:
            gone = "is another recording now" if run.id in here else "is gone"
            yield f"run {run.id} of the baseline {gone}"
    for name in sorted(judged):
        now = compared.specs.get(name)
        if now is None:
            yield f"strategy {name}, which was judged, is gone"
        elif _targets(base.specs[name]) != _targets(now):
            yield f"strategy {name}, which was judged, was {base.specs[name]} and is {now}"


def _loosened_gate(rule: GateRule, name: str, compared: Compared) -> Iterator[str]:
    """Yields that no gate on a strategy is as strict as one of the baseline; nothing where one is."""
    known = [
        now.settings
        for now in compared.rules
        if now.metric == rule.metric and fnmatchcase(name, now.strategy)
    ]
    if not any(as_strict(settings, rule.settings) for settings in known):
        wanted = ", ".join(f"{key} = {value}" for key, value in rule.settings.items())
        yield f"the gate {rule.metric} ({wanted}) on {name} {'allows more' if known else 'is gone'}"


def _targets(spec: str) -> list[tuple[str, str, str]]:
    """The code in each slot of a spec, without its settings, which may change; and the sentences
    that it may say.
    """
    slots = filled(spec)
    says = slots.pop("says", "")
    targets = [
        (slot, part.target, part.attribute or "")
        for slot, value in slots.items()
        for part in map(parse_spec, _parts(value))
    ]
    return sorted([*targets, ("says", says, "")])


def _parts(value: str) -> list[str]:
    """The specs in a slot: those of a list, else its one, whose settings have commas too."""
    return split_top(value[1:-1], ",") if value.startswith("[") else [value]
