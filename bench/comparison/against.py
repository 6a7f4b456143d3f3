"""A comparison against its baseline: the runs that both have, the numbers that moved, the replaced
strategies. Since both replayed the same recordings, every difference is exact."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase

from msgspec.structs import replace

from ..model.base import grouped
from ..model.compared import Compared, Move
from ..model.metric import MetricInfo
from .baseline import ScoreFile, stale
from .gate_rules import judged_strategies
from .rules import slots_in_spec
from .totals import Runs, value_of


class Against:
    """A comparison and its baseline, or None.

    `all` are the runs of the comparison. `now` and `before` are those that both have: the same
    recordings with the same labels, under any name. `lost` are the ids of the baseline's other
    runs, `unread` what cannot be read of these now and could be then, by kind.
    """

    def __init__(self, compared: Compared, base: ScoreFile | None) -> None:
        self.compared, self.base, self.all = compared, base, Runs(compared.runs)
        now = {run.facts.sha256: run for run in self.all.all}
        before = {run.facts.sha256: run for run in Runs(base.runs if base else ()).all}
        shared = now.keys() & before.keys()
        self.now = Runs(run for sha256, run in now.items() if sha256 in shared)
        self.before = Runs(replace(before[sha256], id=now[sha256].id) for sha256 in shared)
        lost = [run for sha256, run in before.items() if sha256 not in shared]
        self.lost = [run.id for run in lost]
        skipped = {run.id: Counter(run.facts.skipped) for run in self.all.all}
        more = (skipped.get(run.id, Counter()) - Counter(run.facts.skipped) for run in lost)
        self.unread = sum(more, Counter[str]())

    def gains(self, name: str, info: MetricInfo) -> list[tuple[float, str]]:
        """For each run in which a number of a strategy moved, how much better it is now, and the
        run's id; the worst first."""
        gains, sign = [], 1 if info.better == "higher" else -1
        for run_before, run in zip(self.before.all, self.now.all, strict=True):
            before = value_of(self.before.number(run_before, name, info.name))
            after = value_of(self.now.number(run, name, info.name))
            if before is not None and after is not None and before != after:
                gains.append((sign * (after - before), run.id))
        return sorted(gains)


def not_compared(against: Against) -> dict[str, list[str]]:
    """The names of the numbers that other things than strategies changed, such as a model's prices,
    by the reason."""
    now, base = against.compared, against.base
    if base is None:
        return {}
    infos = now.metrics.values()
    reasons = ((stale(now.signature, base.signature, info), info) for info in infos)
    return grouped((why, info.label or info.name) for why, info in reasons if why)


def moves(against: Against) -> tuple[Move, ...]:
    """Every number of a declared strategy that differs from the baseline, on the shared runs: first
    those that are worse, in the most runs, then those that are better."""
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
        gains = against.gains(name, info)
        if before is None or after is None or (before == after and not gains):
            continue
        worse = sum(gain < 0 for gain, _ in gains)
        better = None if before == after else (after < before) == (info.better == "lower")
        moved.append(
            Move(
                strategy=name, metric=info.name, before=before, after=after, better=better,
                improved_runs=len(gains) - worse, regressed_runs=worse,
            )
        )  # fmt: skip
    order = False, True, None  # None: the same over all runs
    return tuple(sorted(moved, key=lambda move: (order.index(move.better), -move.regressed_runs)))


def replaced(against: Against) -> Iterator[str]:
    """Yield a sentence about each strategy that had gates in the baseline and that is gone or runs
    other code."""
    compared, base = against.compared, against.base
    rules = base.rules if base else ()
    judged = {name for rule in rules for name in judged_strategies(rule, compared)}
    for name, then in sorted(base.specs.items()) if base else ():
        now = compared.specs.get(name)
        if now is None and any(fnmatchcase(name, rule.strategy) for rule in rules):
            yield f"strategy {name}, which was judged, is gone"
        elif now is not None and name in judged and _code(then) != _code(now):
            yield f"strategy {name}, which was judged, was {then} and is {now}"


def _code(spec: str) -> dict[str, list[str]]:
    """The words of each slot of a spec, without settings that are numbers: those may change.

    >>> _code("summarizer=mine.py:f:chars=3") == _code("summarizer=mine.py:f")
    True
    >>> _code('compactor=codex:writer="w.py:f:n=3",keep=2')
    {'compactor': ['codex', 'writer="w.py:f:n=3"']}
    """
    return {
        slot: [word for word in _WORD.findall(text) if not _NUMBER.fullmatch(word)]
        for slot, text in slots_in_spec(spec).items()
    }


_WORD = re.compile(r'(?:"[^"]*"|[^:,"])+')
_NUMBER = re.compile(r"\s*\w+=(?:[-+.\d]+|true|false)[\s\]]*")
