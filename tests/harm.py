"""Every harmful and harmless strategy on some runs, judged by the rules of the decision.

As a script it prints what each is refused for, and how many were judged wrongly (`tests/data/adversarial/README.md`):

    PYTHONPATH=.:tests python tests/harm.py [RECORDINGS...] [--most N] [--only NAME]

Without recordings the runs of `tests/data/adversarial/service.py` are judged.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from data.adversarial.harmful import HARMFUL
from data.adversarial.harmless import HARMLESS
from handmade import compose

import bench
from bench.comparison.rules import results_of
from bench.comparison.totals import Runs
from bench.evidence.false_alarms import false_alarms
from bench.model import ToolResult, Trace
from bench.model.advice import TODAY, RuleResult
from bench.model.scores import MeasuredRun
from bench.run.measuring import Measuring, RunSession
from bench.strategies import Strategy, parse_strategy

SAME_TEXT, SAME_HISTORY = "same text", "same history"
"""Strategies of the user's own that change nothing: one whose numbers equal theirs did not act."""


def strategies(kinds: Mapping[str, Mapping[str, Any]]) -> tuple[Strategy, ...]:
    """The strategies of some slots by name, and what runs today."""
    found = [parse_strategy(TODAY), compose(SAME_TEXT, {"summarizer": on_text(str)})]
    found.append(compose(SAME_HISTORY, {"compactor": lambda messages: None}))
    for name, slots in kinds.items():
        if name != TODAY:
            write = slots.get("summarizer")
            found.append(compose(name, {"summarizer": on_text(write)} if callable(write) else slots))
    return tuple(found)


def on_text(write: Callable[[str], str]) -> Callable[[ToolResult], str]:
    """A summarizer that is given the untruncated text of a result."""
    return lambda result: write(result.text)


def measured_runs(traces: Iterable[Trace], kinds: Mapping[str, Mapping[str, Any]]) -> list[MeasuredRun]:
    """The runs of some traces under the strategies of some slots, and under those that change nothing."""
    measuring = Measuring(strategies(kinds))
    return [RunSession(trace, measuring).measured() for trace in traces]


def refusals(of: Iterable[MeasuredRun], kinds: Mapping[str, Mapping[str, Any]]) -> dict[str, list[RuleResult]]:
    """By strategy that acted at all the rules that refuse it on some runs; `[]` where all pass."""
    runs, rates = Runs(of), false_alarms()
    specs = {strategy.name: strategy.spec for strategy in strategies(kinds) if strategy.name in kinds}
    return {
        name: [result for result in results_of(runs, name, spec=spec, rates=rates) if not result.passed]
        for name, spec in specs.items()
        if all(_differs(runs, name, same) for same in (TODAY, SAME_TEXT, SAME_HISTORY))
    }


def _differs(runs: Runs, name: str, other: str) -> bool:
    """True if the numbers of two strategies differ on any run."""
    scores = ((runs.score(run, name), runs.score(run, other)) for run in runs.all)
    return any(
        not a or not b or (a.numbers, a.checks, a.failure) != (b.numbers, b.checks, b.failure) for a, b in scores
    )


def main() -> None:
    """Print what every strategy is refused for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recordings", nargs="*")
    parser.add_argument("--most", type=int, default=6)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    from data.adversarial.service import service

    traces = bench.load(asked.recordings).traces[: asked.most] if asked.recordings else [*map(service, range(6))]
    for title, kinds in (("harmful", HARMFUL), ("harmless", HARMLESS)):
        wanted = {name: slots for name, slots in kinds.items() if asked.only in name}
        judged = {
            name: found for name, found in refusals(measured_runs(traces, wanted), wanted).items() if name != TODAY
        }
        wrongly = [name for name, found in judged.items() if bool(found) != (title == "harmful")]
        for name, found in judged.items():
            wrong = name in wrongly
            rules = {item.rule: item.value for item in found}
            print(f"{'<<<' if wrong else '   '} {title:8} {name:32} {rules}")
            for item in found if wrong or asked.only else ():
                print(
                    f"        {item.rule} {item.value} {item.limit}: {[(f.step, f.text[:160], f.was[:100]) for f in item.findings[:2]]}"
                )
        verdict = "pass" if title == "harmful" else "are refused"
        rules = {name: " ".join(item.rule for item in judged[name]) for name in wrongly}
        names = ", ".join(f"{name} ({rule})" if rule else name for name, rule in rules.items())
        print(f"{title}: {len(judged)} act on {len(traces)} runs, {len(wrongly)} {verdict}{names and f': {names}'}")


if __name__ == "__main__":
    main()
