"""Gates judge a Comparison and see nothing else; verdict text and exit code both come from here.

A gate is a function `(rule, comparison, strategy) → Verdict`, registered with the rule's fields that it reads: `handles=("min", "max")`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from ..errors import ScenarioError, nearest
from ..metrics import measured
from ..model import Comparison, GateRule, Row, Verdict
from ..plugins.registry import entries, register
from ..reports.loss.dropped import Dropped, dropped

GateFunction = Callable[[GateRule, Comparison, str], Verdict]
RELATIVE = ("max_increase", "max_drop")
"""The fields of a rule that compare with a baseline."""


def gate(name: str, handles: tuple[str, ...]) -> Callable[[GateFunction], GateFunction]:
    """Decorator that registers a gate under a name, for the rule fields it handles."""
    return register("gate", name, handles=handles)


# ---------------------------------------------------------------- judging


def check(comparison: Comparison) -> tuple[Verdict, ...]:
    """Every rule on every strategy it names, in the order declared; `*` means every declared strategy, not the references.

    A strategy that the baseline knows and the scenario no longer declares is judged too, as inconclusive: nothing leaves silently.
    """
    return tuple(judge(rule, comparison, name) for rule in comparison.rules for name in judged(rule, comparison))


def judged(rule: GateRule, comparison: Comparison) -> list[str]:
    """The strategies a rule is about."""
    known = [name for name in comparison.strategies if fnmatchcase(name, rule.strategy)]
    if not known:  # `rec*` means the reference then: a gate that judges nothing would always pass
        known = [name for name in comparison.references if fnmatchcase(name, rule.strategy)]
    if comparison.baseline is not None and is_relative(rule):
        gone = comparison.baseline.values.keys() - {*comparison.strategies, *comparison.references}
        known += [name for name in sorted(gone) if fnmatchcase(name, rule.strategy)]
    return known


def judge(rule: GateRule, comparison: Comparison, strategy: str) -> Verdict:
    """What one rule says of one strategy."""
    function: GateFunction = next(
        entry.target
        for entry in entries("gate").values()
        if any(getattr(rule, field) is not None for field in entry.meta["handles"])
    )
    return function(rule, comparison, strategy)


def is_relative(rule: GateRule) -> bool:
    """Whether a rule compares with a baseline.

    >>> is_relative(GateRule(metric="needed.recall", max_drop=0.01)), is_relative(GateRule(metric="needed.recall", min=0.9))
    (True, False)
    """
    return any(getattr(rule, field) is not None for field in RELATIVE)


def require_known(rules: Sequence[GateRule], strategies: Sequence[str], where: str) -> None:
    """Raise ScenarioError for a gate on a metric or strategy that does not exist: a gate that matches nothing would always pass."""
    metrics = measured()
    for number, rule in enumerate(rules, 1):
        if rule.metric not in metrics:
            raise ScenarioError(
                f"{where}: gates[{number}]: unknown metric {rule.metric!r}{nearest(rule.metric, metrics)}"
            )
        if not any(fnmatchcase(name, rule.strategy) for name in strategies):
            raise ScenarioError(
                f"{where}: gates[{number}]: no strategy is called {rule.strategy!r}{nearest(rule.strategy, strategies)}"
            )


# ---------------------------------------------------------------- what gates share


def judged_rows(rule: GateRule, comparison: Comparison, strategy: str) -> list[Row]:
    """The rows a rule looks at: the one over all cases, or every case's."""
    pool = comparison.summary if rule.over == "all" else comparison.rows
    return [row for row in pool if row.strategy == strategy and row.metric == rule.metric]


def value_of(row: Row) -> float | None:
    """What was measured; None for nothing, and for what is no finite number, which no limit can judge."""
    return row.value if row.value is not None and math.isfinite(row.value) else None


def why_not(row: Row) -> str:
    """Why a row has no value to judge."""
    return row.reason or (f"{row.value} is no finite number" if row.value is not None else "no reason was given")


def failed_case(comparison: Comparison, strategy: str) -> tuple[str, str] | None:
    """The first case on which a strategy raised, with what it raised; None where it finished everywhere."""
    for case in comparison.cases:
        run = comparison.runs.get((strategy, case))
        if run is not None and run.failure is not None:
            return case, f"{run.failure.slot} at step {run.failure.step}: {run.failure.error}"
    return None


def number(value: float) -> str:
    """A value in a verdict: whole numbers whole, others to six digits.

    >>> number(1234567.0), number(0.98765432)
    ('1234567', '0.987654')
    """
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else f"{value:.6g}"


def cases(count: int) -> str:
    """How many cases a verdict rests on.

    >>> cases(1), cases(3)
    ('1 case', '3 cases')
    """
    return f"{count} case{'s' * (count != 1)}"


def dropped_on(comparison: Comparison, strategy: str, metric: str, case: str | None) -> Dropped:
    """What was dropped on a case, for a verdict to name; nothing for no case."""
    return dropped(comparison, strategy, metric, case) if case else Dropped()


# ---------------------------------------------------------------- the whole


@dataclass(frozen=True)
class Conclusion:
    """What several comparisons come to: the process's exit code, and the one line that says what it means."""

    exit_code: int
    sentence: str


def conclude(comparisons: Sequence[Comparison], allow_inconclusive: bool = False) -> Conclusion:
    """1 a gate failed, 3 nothing measured or a gate inconclusive, else 0. Bad input (2) raises before.

    A strategy that raised fails its own gates; without gates its missing numbers are rows with a reason, and the report says so. Nothing
    measured is never 0, whatever is allowed.
    """
    counts: dict[str, int] = {}
    undecided = False
    for comparison in comparisons:
        for verdict in comparison.verdicts:
            counts[verdict.outcome] = counts.get(verdict.outcome, 0) + 1
            allowed = allow_inconclusive or comparison.allow_inconclusive
            undecided = undecided or (verdict.outcome == "inconclusive" and not allowed)
    said = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())) or "no gates declared"
    if "fail" in counts:
        code, meaning = 1, "a gate failed"
    elif not comparisons or not all(map(measured_anything, comparisons)):
        code, meaning = 3, "nothing was measured"
    elif undecided:
        code, meaning = 3, "not everything could be judged"
    else:
        code, meaning = 0, "nothing failed"
    return Conclusion(code, f"gates: {said}: {meaning} (exit {code})")


def measured_anything(comparison: Comparison) -> bool:
    """Whether any declared strategy has any value at all."""
    return any(value_of(row) is not None and row.strategy in comparison.strategies for row in comparison.summary)


def exit_code(comparisons: Sequence[Comparison], allow_inconclusive: bool = False) -> int:
    """The exit code of `conclude`."""
    return conclude(comparisons, allow_inconclusive).exit_code


def closing_sentence(comparisons: Sequence[Comparison], allow_inconclusive: bool = False) -> str:
    """The sentence of `conclude`."""
    return conclude(comparisons, allow_inconclusive).sentence
