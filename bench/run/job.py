"""One comparison to make: a scenario with its strategies and gates, the settings of the run, and the values that it is held against."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from ..comparison.accepting import earlier_values
from ..comparison.baselines import read_baseline, stale_metrics
from ..comparison.judging import loosened, parse_rule, require_known, rules_on
from ..files.cache import Cache
from ..model import Against, Baseline, Comparison, GateRule, Signature
from ..model.comparison import KEPT
from ..model.errors import ResultsError, SpecError
from ..plugins.apart import Limits
from ..strategies import Strategy, strategy_of
from ..strategies.earlier import Earlier
from ..strategies.sweeps import Declared
from ..traces import Loaded, TraceSource
from .engines import Engine
from .scenario import Scenario, ScenarioTraces
from .since import JudgeThen, exchanged

REFERENCES = ("keep_all", "recorded", "drop_all", "clairvoyant", "floor")
"""The reference strategies that every comparison holds beside the declared ones, as brackets."""

Progress = Callable[[int, int | None], None]


_SLOW_S, _TIMES = 10.0, 10.0


class Times:
    """Seconds that each strategy took, by case. They depend on the machine, so they are no part of a comparison.

    >>> times = Times()
    >>> times.add("mine", 45.0), times.add("keep_all", 2.0), times.add("mine", 3.0)
    (None, None, None)
    >>> times.slow()
    ['mine is slow: 48 s of the 50 s that all strategies took (96 %), 45 s on one case']
    """

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {}

    def add(self, strategy: str, seconds: float) -> None:
        """A strategy was replayed on one more case."""
        self.seconds.setdefault(strategy, []).append(seconds)

    def slow(self) -> list[str]:
        """A line on each strategy that took ten seconds, and half of what each of two would have taken, or ten times what half of them took at most.

        >>> def found(*sums):
        ...     times = Times()
        ...     times.seconds = {f"{number}": [seconds] for number, seconds in enumerate(sums)}
        ...     return len(times.slow())
        >>> found(10.0), found(9.99), found(10.0, 30.0), found(10.0, 30.1)
        (1, 0, 2, 1)
        >>> found(12.0, *[1.2] * 50), found(11.9, *[1.2] * 50)
        (1, 0)
        """
        sums = [sum(found) for found in self.seconds.values()]
        total, middle = sum(sums), statistics.median_low(sums) if sums else 0.0
        return [
            f"{name} is slow: {sum(found):.0f} s of the {total:.0f} s that all strategies took ({sum(found) / total:.0%}), "
            f"{max(found):.0f} s on one case".replace("%", " %")
            for name, found in self.seconds.items()
            if sum(found) >= _SLOW_S and sum(found) >= min(total / 4, _TIMES * middle)
        ]


@dataclass(frozen=True)
class Running:
    """Settings of a run that change nothing of its result."""

    jobs: int
    progress: Progress | None
    limits: Limits
    times: Times
    cache: Cache | None = None
    engine: Engine | None = None


@dataclass(frozen=True)
class Job:
    """A scenario with its strategies and gates: everything of a comparison beside its traces. `source` knows what was left out of these once all
    have been seen.
    """

    plan: Scenario
    given: Declared
    rules: tuple[GateRule, ...]
    source: Loaded | TraceSource | ScenarioTraces
    running: Running
    allow_inconclusive: bool = False
    require_baseline: bool = False
    baseline: Baseline | None = None
    earlier: Earlier | None = None
    judge: JudgeThen = field(default_factory=JudgeThen)
    gone: tuple[str, ...] = ()
    name: str = KEPT

    @property
    def names(self) -> tuple[str, ...]:
        """The declared strategies."""
        return tuple(item.name for item in self.given.strategies)

    @property
    def everyone(self) -> tuple[Strategy, ...]:
        """The declared strategies, their earlier selves, and the references that are not declared. Raises SpecError for a name taken twice."""
        for name in self.names:
            if self.names.count(name) > 1:
                raise SpecError(f"two strategies are called {name!r} — give each its own name")
        for item in self.given.strategies:
            if item.name in REFERENCES and item != strategy_of(item.name):
                raise SpecError(f"strategy {item.name!r}: that name belongs to a reference strategy — choose another")
        then = () if self.earlier is None else tuple(self.earlier.strategies.values())
        references = (strategy_of(name) for name in REFERENCES if name not in self.names)
        return (*self.given.strategies, *then, *references)


def rules_of(plan: Scenario, given: Declared, where: str) -> tuple[GateRule, ...]:
    """The gates of a scenario, each at every setting of its strategies. Errors: as `parse_rule` and `require_known`."""
    head = f"{where}: " if where else ""
    rules = [parse_rule(table, f"{head}gates[{number}]", number) for number, table in enumerate(plan.gates, 1)]
    require_known(rules, [*given.names, *REFERENCES], where or "gates")
    return rules_on(rules, given.names)


def baseline_of(plan: Scenario, accepting: bool) -> Baseline | None:
    try:
        return read_baseline(plan.baseline_path) if plan.baseline_path else None
    except ResultsError:
        if accepting:
            return None
        raise


def against_of(comparison: Comparison, job: Job) -> Against:
    """The baseline that a comparison is held against: its scenario's, or the strategies' own earlier selves."""
    if job.earlier is not None:
        before = {name: strategy.name for name, strategy in job.earlier.strategies.items()}
        shas, known = job.source.sha256s, job.judge.recordings
        new = {case for case in comparison.case_ids if known is not None and shas.get(case, "") not in known}
        found = earlier_values(comparison, job.earlier.name, before, job.earlier.missing, new)
        return msgspec.structs.replace(found, required=job.require_baseline, rules=job.judge.rules, gone=job.gone)
    if job.baseline is None:
        return Against(required=job.require_baseline, gone=job.gone)
    stale = stale_metrics(comparison.signature, job.baseline, comparison.metrics)
    then, now = (_specs(found) for found in (job.baseline.signature, comparison.signature))
    others = exchanged(then, now, job.baseline.rules, {})
    gone = (*loosened(comparison.rules, job.baseline.rules, comparison.strategies), *others, *job.gone)
    return Against(baseline=job.baseline, name=job.name, stale=stale, required=job.require_baseline, gone=gone)


def _specs(signature: Signature) -> dict[str, str]:
    """The slots of each strategy, as written."""
    return {name: text.partition("=")[2] for name, text in signature.strategies.items()}
