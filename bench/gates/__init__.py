"""Gates judge a Comparison and see nothing else; verdict text and exit code both come from here.

A gate is a function `(rule, comparison, strategy) → Verdict`, registered with the rule's fields that it reads: `handles=("min", "max")`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase

from ..errors import ScenarioError, nearest
from ..model import Comparison, GateRule, Row, Verdict
from ..registry import entries, register

GateFunction = Callable[[GateRule, Comparison, str], Verdict]


def gate(name: str, handles: tuple[str, ...]) -> Callable[[GateFunction], GateFunction]:
    """Decorator that registers a gate under a name, for the rule fields it handles."""
    return register("gate", name, handles=handles)


def check(comparison: Comparison) -> tuple[Verdict, ...]:
    """Every rule on every strategy it names; `*` means every declared strategy, not the references added as brackets."""
    verdicts = []
    for rule in comparison.rules:
        judge = next(
            entry.target
            for entry in entries("gate").values()
            if any(getattr(rule, field) is not None for field in entry.meta["handles"])
        )
        for strategy in _matching(rule.strategy, comparison):
            verdicts.append(judge(rule, comparison, strategy))
    return tuple(verdicts)


def _matching(pattern: str, comparison: Comparison) -> list[str]:
    if pattern in comparison.references:
        return [pattern]
    return [name for name in comparison.strategies if fnmatchcase(name, pattern)]


def require_known(rules: Sequence[GateRule], strategies: Sequence[str], where: str) -> None:
    """Raise ScenarioError for a gate on a metric or strategy that does not exist: a gate that matches nothing would always pass."""
    metrics = entries("metric")
    for number, rule in enumerate(rules, 1):
        if rule.metric not in metrics:
            raise ScenarioError(
                f"{where}: gates[{number}]: unknown metric {rule.metric!r}{nearest(rule.metric, metrics)}"
            )
        if not any(fnmatchcase(name, rule.strategy) for name in strategies):
            raise ScenarioError(
                f"{where}: gates[{number}]: no strategy is called {rule.strategy!r}{nearest(rule.strategy, strategies)}"
            )


def judged_rows(rule: GateRule, comparison: Comparison, strategy: str) -> list[Row]:
    """The rows a rule looks at: the one over all cases, or every case's."""
    if rule.over == "all":
        return [row for row in comparison.summary if row.strategy == strategy and row.metric == rule.metric]
    return [row for row in comparison.rows if row.strategy == strategy and row.metric == rule.metric]


def failed_case(comparison: Comparison, strategy: str) -> tuple[str, str] | None:
    """The first case on which a strategy raised, with what it raised; None where it finished everywhere."""
    for case in comparison.cases:
        failure = comparison.runs[strategy, case].failure
        if failure is not None:
            return case, f"{failure.slot} at step {failure.step}: {failure.error}"
    return None


def measured_anything(comparison: Comparison) -> bool:
    """Whether any declared strategy has any value at all."""
    return any(row.value is not None and row.strategy in comparison.strategies for row in comparison.summary)


def exit_code(comparisons: Sequence[Comparison], allow_inconclusive: bool = False) -> int:
    """The process's exit code: 1 a gate failed, 3 nothing measured or a gate inconclusive, else 0. Bad input (2) raises before.

    A strategy that raised fails its own gates; without gates its missing numbers are rows with a reason, and the report says so.
    """
    outcomes = {verdict.outcome for comparison in comparisons for verdict in comparison.verdicts}
    if "fail" in outcomes:
        return 1
    if not all(measured_anything(comparison) for comparison in comparisons):
        return 3
    return 3 if "inconclusive" in outcomes and not allow_inconclusive else 0


def closing_sentence(comparisons: Sequence[Comparison], allow_inconclusive: bool = False) -> str:
    """The one line that says what the exit code means."""
    counts: dict[str, int] = {}
    for comparison in comparisons:
        for verdict in comparison.verdicts:
            counts[verdict.outcome] = counts.get(verdict.outcome, 0) + 1
    code = exit_code(comparisons, allow_inconclusive)
    said = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())) or "no gates declared"
    meaning = {0: "nothing failed", 1: "a gate failed", 3: "not everything could be measured or judged"}[code]
    return f"gates: {said}: {meaning} (exit {code})"
