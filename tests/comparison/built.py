"""Measured runs by hand: one number a strategy and run, and checks that find nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.comparison.advice import advised
from bench.model.advice import Advice
from bench.model.compared import Compared
from bench.model.metric import MetricInfo
from bench.model.scores import Check, MeasuredRun, Number, RunFacts, Score
from bench.model.signature import Signature

CHECKED = ("valid", "instructed", "changed", "misattributed", "invented", "hidden")
CLEAN = {rule: Check(of=100) for rule in CHECKED}
INFOS = {
    name: MetricInfo(name=name, unit=unit, better=better, aggregate=aggregate)
    for name, unit, better, aggregate in (
        ("cost.usd", "usd", "lower", "total"),
        ("cost.prompt_tokens", "tokens", "lower", "total"),
        ("needed.recall", "share", "higher", "mean over tasks"),
        ("faithful.changed", "values", "lower", "total"),
    )
}


def score(strategy: str, usd: float | None = None, **more: Any) -> Score:
    """A score: price, `missed`, `far`, `own` tokens, `numbers`, `checks` (over clean ones), and fields of Score."""
    numbers = {
        "needed.missed_turn_rate": Number(more.pop("missed", 0.0), 10),
        "needed.recall.far": Number(more.pop("far", 1.0), 10),
        "cost.strategy_call_tokens": Number(more.pop("own", 0.0)),
    }
    if usd is not None:
        numbers |= {"cost.usd": Number(usd), "cost.usd_uncached": Number(more.pop("uncached", usd))}
    numbers |= more.pop("numbers", {})
    return Score(strategy=strategy, numbers=numbers, checks={**CLEAN, **more.pop("checks", {})}, **more)


def run(name: str, scores: Sequence[Score], *, task: str = "", shares: Any = "recorded", sha: str = "") -> MeasuredRun:
    return MeasuredRun(
        id=name, facts=RunFacts(sha256=sha or name, task=task, cache_shares=shares), scores=tuple(scores)
    )


def runs_with_prices(today: Sequence[float], shares: Any = "recorded", **others: Sequence[Any]) -> list[MeasuredRun]:
    """Runs with the prices of today and of some strategies, each a number, or keywords of `score`."""
    runs = []
    for at, cost in enumerate(today):
        scores = [score("recorded", cost)]
        for name, given in others.items():
            scores.append(score(name, **(given[at] if isinstance(given[at], Mapping) else {"usd": given[at]})))
        runs.append(run(f"r{at:03}", scores, shares=shares))
    return runs


SIGNED = Signature(bench_version="1", facts_version="1", prices_date="2026-01-01")


def comparison_of(runs: Sequence[MeasuredRun], **more: Any) -> Compared:
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


def advice_on(
    runs: Sequence[MeasuredRun],
    names: Sequence[str],
    specs: Mapping[str, str] | None = None,
    asks: str = "",
    **more: Any,
) -> Advice:
    compared = comparison_of(runs, strategies=tuple(names), specs=dict(specs or {}), asks=asks)
    return advised(compared, **more).advice


def situations() -> dict[str, list[MeasuredRun]]:
    """Runs by what there is to say about them: every kind of answer once."""
    today = [10.0, 20.0, 15.0, 30.0, 12.0, 9.0, 14.0, 11.0]
    less, little = [cost * 0.7 + at % 3 / 10 for at, cost in enumerate(today)], [cost * 0.97 for cost in today]
    mixed = [cost * (0.3 if at else 3) for at, cost in enumerate(today)]

    def each(prices: Sequence[float], **more: Any) -> list[dict[str, Any]]:
        return [{"usd": cost, **more} for cost in prices]

    broken = each(less, checks={"valid": Check(hits=1, of=50)})
    changed = each(less, checks={"changed": Check(hits=80, of=50)})
    losing, unread = each(less, missed=0.2), each(less, checks={"changed": Check(of=50, unchecked=1)})
    stored = [{"numbers": {"loss.leaf_recall.stored": Number(0.4, 9)}} for _ in today]
    dearer = [{"usd": cost, "uncached": 2 * old} for cost, old in zip(less, today, strict=True)]
    uncached = [{"usd": 2 * cost, "uncached": cost / 2} for cost in today]
    return {
        "nothing tried": runs_with_prices(today),
        "one that saves": runs_with_prices(today, mine=less),
        "one that saves and loses a little": runs_with_prices(today, mine=each(less, missed=0.04)),
        "one that saves with a cache alone": runs_with_prices(today, mine=dearer),
        "the same, its cache assumed": runs_with_prices(today, shares="assumed", mine=dearer),
        "one run": runs_with_prices(today[:1], mine=less[:1]),
        "five runs": runs_with_prices(today[:5], mine=less[:5]),
        "prices far apart": runs_with_prices(today, mine=mixed),
        "texts that were not read": runs_with_prices(today, mine=unread),
        "one run, the cheapest not read": runs_with_prices(today[:1], mine=unread[:1], other=little[:1]),
        "no cheaper one": runs_with_prices(today, mine=today),
        "two that are dearer": runs_with_prices(less, mine=today, other=today),
        "a little cheaper": runs_with_prices(today, mine=little),
        "an invalid one": runs_with_prices(today, mine=broken),
        "an unfaithful one that is dearer": runs_with_prices([cost / 2 for cost in today], mine=changed),
        "two that lose": runs_with_prices(today, mine=losing, other=losing),
        "three that lose": runs_with_prices(today, mine=losing, other=losing, third=losing),
        "losing and unfaithful": runs_with_prices(today, mine=losing, other=changed, third=changed),
        "one that loses, one that saves without a cache alone": runs_with_prices(today, mine=losing, other=uncached),
        "two that change nothing": runs_with_prices(
            today, mine=each(today, acted=False), other=each(today, acted=False)
        ),
        "a store": runs_with_prices(today, mine=stored),
    }


def sentences() -> str:
    """The sentence about each of them."""
    lines = []
    for about, runs in situations().items():
        names = sorted({item.strategy for one in runs for item in one.scores} - {"recorded"})
        specs = {"mine": "mine=store=truncate"} if about == "a store" else {}
        lines += [about, f"    {advice_on(runs, names, specs).sentence}"]
    return "\n".join(lines) + "\n"
