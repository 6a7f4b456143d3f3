"""A comparison against its baseline: the runs that both have, what moved, what was loosened.

Differences of the same recordings under two versions are exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

import msgspec

from ..model.compared import Compared, Move, RunMove
from ..model.metric import MetricInfo
from ..model.signature import GateRule
from ..plugins.spec import parse_spec, split_top
from .baseline import ScoreFile, stale
from .gate_rules import as_strict
from .rules import filled
from .totals import Runs


def shared_runs(now: Runs, then: Runs) -> set[str]:
    """The ids of the runs that both sides have: the same recording, asked the same questions."""
    known = {run.id: (run.facts.sha256, run.questions_sha256) for run in then.all}
    return {
        run.id for run in now.all if known.get(run.id) == (run.facts.sha256, run.questions_sha256)
    }


def as_then(now: Runs, then: Runs, both: set[str]) -> Runs:
    """The runs of now that both sides have, each with its task of then.

    Another label of a task must not change the weight of a run.
    """
    tasks = {run.id: run.facts.task for run in then.all}
    return Runs(
        msgspec.structs.replace(run, facts=msgspec.structs.replace(run.facts, task=tasks[run.id]))
        for run in now.all
        if run.id in both
    )


# ---------------------------------------------------------------- what moved


def moves(compared: Compared, base: ScoreFile) -> tuple[Move, ...]:
    """Every number of a declared strategy that differs from the baseline, on the shared runs."""
    now, then = Runs(compared.runs), Runs(base.runs)
    both = shared_runs(now, then)
    here, there = as_then(now, then, both), then.only(both)
    all_moves = []
    for name in compared.strategies:
        for metric, info in compared.metrics.items():
            if stale(compared.signature, base.signature, info):
                continue
            before, after = there.total(name, info).value, here.total(name, info).value
            runs = moved_runs(then, now, name, info, both)
            if before is None or after is None or (before == after and not runs):
                continue
            worse = sum((run.after > run.before) == (info.better == "lower") for run in runs)
            better = None if before == after else (after < before) == (info.better == "lower")
            all_moves.append(
                Move(
                    strategy=name, metric=metric, before=before, after=after, better=better,
                    improved_runs=len(runs) - worse, regressed_runs=worse, runs=runs,
                )
            )  # fmt: skip
    return tuple(all_moves)


def moved_runs(
    then: Runs, now: Runs, name: str, info: MetricInfo, both: set[str]
) -> tuple[RunMove, ...]:
    """The runs in which a number of a strategy moved, the worst first."""
    old = {run.id: then.number(run, name, info.name) for run in then.all if run.id in both}
    new = {run.id: now.number(run, name, info.name) for run in now.all if run.id in both}
    moved = [
        RunMove(run, before.value, after.value)
        for run in sorted(both)
        if (before := old[run]) and (after := new[run]) and before.value is not None and after.value is not None
        and before.value != after.value
    ]  # fmt: skip
    sign = 1 if info.better == "higher" else -1
    return tuple(sorted(moved, key=lambda move: (sign * (move.after - move.before), move.run)))


# ---------------------------------------------------------------- what was loosened


def loosened(base: ScoreFile, compared: Compared) -> Iterator[str]:
    """A clause on each gate, run and judged strategy that is gone or was loosened."""
    for rule in base.rules:
        for name in _judged(base, rule):
            yield from _loosened_gate(rule, name, compared)
    then = Runs(base.runs)
    both, here = shared_runs(Runs(compared.runs), then), {run.id for run in compared.runs}
    for run in (run.id for run in then.all if run.id not in both):
        yield f"run {run} of the baseline {'is another recording now' if run in here else 'is gone'}"
    for name in sorted(
        {name for rule in base.rules for name in _judged(base, rule)} & base.specs.keys()
    ):
        now = compared.specs.get(name)
        if now is None:
            yield f"strategy {name}, which was judged, is gone"
        elif _targets(base.specs[name]) != _targets(now):
            yield f"strategy {name}, which was judged, was {base.specs[name]} and is {now}"


def _judged(base: ScoreFile, rule: GateRule) -> list[str]:
    """The strategies of a baseline that a gate names; without any its own pattern."""
    return [name for name in base.specs if fnmatchcase(name, rule.strategy)] or [rule.strategy]


def _loosened_gate(rule: GateRule, name: str, compared: Compared) -> Iterator[str]:
    """Yields that no gate on a strategy is as strict as one of the baseline; nothing where one is."""
    known = [
        now.settings
        for now in compared.rules
        if (now.metric, now.over, now.gate) == (rule.metric, rule.over, rule.gate)
        and fnmatchcase(name, now.strategy)
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
        for part in map(parse_spec, split_top(value.strip("[]"), ","))
    ]
    return sorted([*targets, ("says", says, "")])
