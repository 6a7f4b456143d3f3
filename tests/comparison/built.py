"""Measured runs by hand: one number a strategy and run, and checks that find nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.model.compared import Compared
from bench.model.metric import MetricInfo
from bench.model.scores import Check, MeasuredRun, Number, RunFacts, Score
from bench.model.signature import Signature

CHECKED = ("valid", "instructed", "changed", "misattributed", "invented", "hidden")
CLEAN = {rule: Check(of=100) for rule in CHECKED}
INFOS = {
    name: MetricInfo(name=name, unit=unit, better=better, aggregate=aggregate)
    for name, unit, better, aggregate in (
        ("cost.usd", "usd", "lower", "sum"),
        ("cost.prompt_tokens", "tokens", "lower", "sum"),
        ("cost.peak_prompt_tokens", "tokens", "lower", "max"),
        ("needed.recall", "fraction", "higher", "pooled"),
        ("faithful.changed", "values", "lower", "sum"),
    )
}


def score(strategy: str, usd: float | None = None, **more: Any) -> Score:
    """A score: price, `missed`, `far`, `numbers`, `checks` (over clean ones), and fields of Score."""
    numbers = {
        "needed.missed_turn_rate": Number(more.pop("missed", 0.0), 10),
        "needed.recall.far": Number(more.pop("far", 1.0), 10),
    }
    if usd is not None:
        numbers |= {"cost.usd": Number(usd), "cost.usd_uncached": Number(more.pop("uncached", usd))}
    numbers |= more.pop("numbers", {})
    return Score(strategy=strategy, numbers=numbers, checks={**CLEAN, **more.pop("checks", {})}, **more)


def run(name: str, scores: Sequence[Score], *, task: str = "", shares: Any = "recorded", sha: str = "") -> MeasuredRun:
    return MeasuredRun(
        id=name, facts=RunFacts(sha256=sha or name, task=task, cache_shares=shares), scores=tuple(scores)
    )


def priced(today: Sequence[float], shares: Any = "recorded", **others: Sequence[Any]) -> list[MeasuredRun]:
    """Runs with the prices of today and of some strategies, each a number, or keywords of `score`."""
    runs = []
    for at, cost in enumerate(today):
        scores = [score("recorded", cost)]
        for name, given in others.items():
            scores.append(score(name, **(given[at] if isinstance(given[at], Mapping) else {"usd": given[at]})))
        runs.append(run(f"r{at:03}", scores, shares=shares))
    return runs


SIGNED = Signature(
    bench_version="1", traces={}, strategies={}, encodings=("o200k_base",), facts_version="1", prices_date="2026-01-01",
    seed=0,
)  # fmt: skip


def compared(runs: Sequence[MeasuredRun], **more: Any) -> Compared:
    names = {item.strategy for one in runs for item in one.scores} - {"recorded"}
    given = {
        "title": "t",
        "signature": SIGNED,
        "strategies": tuple(sorted(names)),
        "references": ("recorded",),
        "metrics": INFOS,
    }
    given["specs"] = {name: f"{name}=summarizer=truncate:limit=5" for name in names}
    return Compared(runs=tuple(runs), **{**given, **more})
