"""The advice: a verdict for each strategy from the table of rules, both prices, the order of the
table, the sentence.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, get_args

import msgspec

from ..model.advice import Advice, Mark, Price, Ranked, RuleResult, Verdict
from ..model.scores import FalseAlarms, MeasuredRun, Rule
from .certainty import Ratio, cannot_rule_out, certain, holm, leave_one_out, ratio_of_totals
from .rules import filled, finite, results_of, unchecked, verdict_of
from .sentence import NOISE, Answers, Economy, is_saving, price_of, sentence_of
from .totals import Runs

METRICS: Mapping[Economy, str] = {"cached": "cost.usd", "uncached": "cost.usd_uncached", "tokens": "cost.prompt_tokens"}
_QUALITY: Mapping[str, Rule] = {"stored": "stored", "judged": "judged", "routed": "routed"}


def answers_of(specs: Iterable[str]) -> Answers:
    """The terms of an answer: savings, unless no strategy fills a slot that shapes prompts.

    Then the first of store, evaluator and routers that differs among the strategies, or that is
    filled at all.

    >>> answers_of(["a=store=truncate+evaluator=step_v1", "b=store=by_function+evaluator=step_v1"])
    'stored'
    >>> answers_of(["a=summarizer=truncate+store=truncate"]), answers_of(["a=routers=[x]", "b=routers=[y]"])
    ('savings', 'routed')
    """
    slots = [filled(spec) for spec in specs]
    if not slots or any(not slot or {"summarizer", "compactor"} & slot.keys() for slot in slots):
        return "savings"
    names: dict[str, Answers] = {"store": "stored", "evaluator": "judged", "extractors": "judged", "routers": "routed"}
    differing = [name for name in names if len({slot.get(name) for slot in slots}) > 1]
    present = [name for name in names if any(name in slot for slot in slots)]
    return names[(differing or present or ["store"])[0]]


def advise(
    measured: Iterable[MeasuredRun],
    strategies: Sequence[str],
    *,
    today: str = "recorded",
    floor: str = "floor",
    specs: Mapping[str, str] | None = None,
    basis: Literal["cached", "uncached"] = "cached",
    portfolio: bool = False,
    rates: Mapping[Rule, FalseAlarms] | None = None,
    limits: Mapping[Rule, float] | None = None,
    failed_gates: Mapping[str, int] | None = None,
) -> Advice:
    """The decision among strategies (without the references), against what runs `today`.

    `specs` are what the table shows of each. `portfolio`: one was chosen among these, so the price
    stated for it is the leave-one-task-out one. `rates`, `limits` as in `rules.results_of`;
    `failed_gates` counts them by strategy. The order of strategies and runs changes nothing.
    """
    runs, specs = Runs(measured), specs or {}
    names = sorted({*strategies} - {today})
    answers = answers_of(specs.get(name, "") for name in names)
    economies = _economies(runs, today)
    prices = {economy: _prices(runs, names, today, economy) for economy in economies}
    deciding: Economy = basis if basis in economies else economies[0]
    both = deciding != "tokens" and any(run.facts.cache_shares == "assumed" for run in runs.all)
    ranked = []
    for name in [today, *names]:
        rules = results_of(
            runs, name, today, spec=specs.get(name, ""), rates=rates, limits=limits,
            failed_gates=(failed_gates or {}).get(name, 0),
        )  # fmt: skip
        own = {economy: prices[economy].get(name) for economy in economies}
        marks: list[Mark] = []
        if name != today and unchecked(runs, name):
            marks.append("not checked")
        if name != today and not any(score.acted for run in runs.all if (score := runs.score(run, name))):
            marks.append("inactive")
        if name != today and answers == "savings":
            rules = (*rules, _cheaper(own, deciding, both))
        ranked.append(
            Ranked(
                strategy=name,
                verdict=_verdict(name == today, rules, own.get(deciding), marks, answers),
                marks=tuple(marks),
                cached=own.get("cached") or own.get("tokens"),
                uncached=own.get("uncached") or own.get("tokens"),
                missed_turns=runs.share(name, "needed.missed_turn_rate").value,
                far_recall=runs.share(name, "needed.recall.far").value,
                rules=rules,
                spec=specs.get(name, ""),
            )
        )
    here = next(item for item in ranked if item.strategy == today)
    if here.verdict == "invalid" and answers == "savings":  # nothing to be cheaper than
        ranked = [_without_today(item) if item is not here else item for item in ranked]
    ordered = tuple(sorted(ranked, key=lambda item: _place(item, deciding, answers)))
    advised = next((item.strategy for item in ordered if item.verdict == "ship"), None)
    if portfolio and advised is not None and answers == "savings":
        ordered = _stated_apart(ordered, advised, runs, today, economies)
    return _advice(ordered, advised, runs, today, floor, deciding, both, answers)


# ---------------------------------------------------------------- prices


def _economies(runs: Runs, today: str) -> tuple[Economy, ...]:
    """Dollars with and without cache, each where all runs of today have them; else tokens."""
    known: list[Economy] = [name for name in get_args(Economy)[:2] if _priced(runs, today, METRICS[name])]
    return tuple(known) or ("tokens",)


def _priced(runs: Runs, name: str, metric: str) -> bool:
    values = runs.by_task(name, metric)
    return bool(values) and math.fsum(values or ()) > 0


def _prices(runs: Runs, names: Sequence[str], today: str, economy: Economy) -> dict[str, Price]:
    """The price of each strategy; the p-values are corrected over all that were tried.

    Raised or unpriced: no price.
    """
    here, count = runs.by_task(today, METRICS[economy]), max(1, len(runs.all))
    unit: Literal["usd", "tokens"] = "tokens" if economy == "tokens" else "usd"
    prices: dict[str, Price] = {}
    if here is not None:
        prices[today] = Price(unit=unit, per_run=math.fsum(here) / count)
    costs = {name: values for name in names if (values := runs.by_task(name, METRICS[economy])) is not None}
    ratios = {name: None if here is None else ratio_of_totals(here, values) for name, values in costs.items()}
    p_values = {name: (ratios.get(name) or Ratio(1.0)).p for name in names}
    corrected = holm(p_values)
    for name, values in costs.items():
        ratio, per_run = ratios[name], math.fsum(values) / count
        if ratio is None:
            prices[name] = Price(unit=unit, per_run=per_run)
            continue
        sure = ratio.ratio < 1 - NOISE and certain(corrected[name], len(runs.tasks))
        high = ratio.high if math.isfinite(ratio.high) else None
        prices[name] = Price(unit=unit, per_run=per_run, ratio=ratio.ratio, high=high, p=corrected[name], certain=sure)
    return prices


def _stated_apart(
    ordered: tuple[Ranked, ...], advised: str, runs: Runs, today: str, economies: Sequence[Economy]
) -> tuple[Ranked, ...]:
    """The table with the leave-one-task-out price of the advised strategy: it was chosen among many
    on these tasks.
    """
    able = [item.strategy for item in ordered if item.strategy != today and all(r.passed for r in item.rules[:-1])]
    changes: dict[str, Price] = {}
    for economy in economies:
        here = runs.by_task(today, METRICS[economy])
        costs = {name: values for name in able if (values := runs.by_task(name, METRICS[economy])) is not None}
        ratio = None if here is None else leave_one_out(costs, here)
        item = next(item for item in ordered if item.strategy == advised)
        price, base = price_of(item, economy), next(item for item in ordered if item.strategy == today)
        today_price = price_of(base, economy)
        if ratio is None or price is None or not price.ratio or today_price is None:
            continue
        high = None if price.high is None else price.high * ratio / price.ratio
        stated = msgspec.structs.replace(price, ratio=ratio, high=high, per_run=today_price.per_run * ratio)
        changes |= dict.fromkeys(("cached", "uncached") if economy == "tokens" else (economy,), stated)
    return tuple(msgspec.structs.replace(item, **changes) if item.strategy == advised else item for item in ordered)


# ---------------------------------------------------------------- verdicts


def _cheaper(prices: Mapping[Economy, Price | None], deciding: Economy, both: bool) -> RuleResult:
    """The last rule.

    Where the cache shares are assumed, the saving must be certain with and without the cache.
    """
    asked = [price for economy, price in prices.items() if economy == deciding or both]
    worst = max(asked, key=lambda price: finite(price.high if price else None))
    passed = all(price is not None and price.certain for price in asked)
    return RuleResult(rule="cheaper", passed=passed, value=worst.high if worst else None, limit=1.0)


def _verdict(
    today: bool, rules: tuple[RuleResult, ...], price: Price | None, marks: Sequence[Mark], answers: Answers
) -> Verdict:
    refused = verdict_of(rules)
    if today:
        return "invalid" if refused == "invalid" else "keep"
    saves = answers != "savings" or (price is not None and price.ratio is not None and price.ratio < 1 - NOISE)
    if refused == "not certain" or refused is None:
        if not saves or "inactive" in marks:
            return "no saving"
        return "not certain" if refused or "not checked" in marks else "ship"
    return refused


def _without_today(item: Ranked) -> Ranked:
    """A strategy where today's is invalid: it need not be cheaper than what cannot run."""
    rules = tuple(rule for rule in item.rules if rule.rule != "cheaper")
    refused = verdict_of(rules)
    verdict: Verdict = refused or ("not certain" if "not checked" in item.marks else "ship")
    return msgspec.structs.replace(item, rules=rules, verdict=verdict)


def _place(item: Ranked, deciding: Economy, answers: Answers) -> tuple[int, float, float, float, int, str]:
    """The place in the table: by verdict, quality where that is asked, price; of equals what loses
    less, then the simpler.
    """
    price = price_of(item, deciding)
    quality = next((rule.value for rule in item.rules if rule.rule == _QUALITY.get(answers)), None)
    return (
        get_args(Verdict).index(item.verdict),
        0.0 if quality is None else -quality,
        float(f"{finite(price.per_run if price else None):.9g}"),
        item.missed_turns or 0.0,
        len(filled(item.spec)),
        item.strategy,
    )


def _advice(
    ordered: tuple[Ranked, ...],
    advised: str | None,
    runs: Runs,
    today: str,
    floor: str,
    deciding: Economy,
    both: bool,
    answers: Answers,
) -> Advice:
    tasks = len(runs.tasks)
    least = runs.by_task(floor, METRICS[deciding])
    advice = Advice(
        today=today,
        advised=advised,
        sentence="",
        basis="quality" if answers != "savings" else deciding,
        tasks=tasks,
        runs=len(runs.all),
        cannot_rule_out=cannot_rule_out(tasks) if answers == "savings" else None,
        cheapest_rejected=_cheapest_rejected(ordered, advised, today, deciding),
        disagree=_disagree(ordered, advised, today),
        theoretical_minimum=None if least is None or not runs.all else math.fsum(least) / len(runs.all),
        ranked=ordered,
    )
    return msgspec.structs.replace(advice, sentence=sentence_of(advice, answers, both))


def _cheapest_rejected(ordered: tuple[Ranked, ...], advised: str | None, today: str, deciding: Economy) -> str | None:
    """The cheapest strategy that saves, and that a rule other than the last refuses."""
    refused = [item for item in ordered if item.verdict in ("invalid", "unfaithful", "loses too much")]
    priced = [
        (price.per_run, item.strategy) for item in refused if (price := price_of(item, deciding)) and is_saving(price)
    ]
    best = min(priced, default=None)
    return None if best is None or best[1] in (advised, today) else best[1]


def _disagree(ordered: tuple[Ranked, ...], advised: str | None, today: str) -> bool:
    """True if the two economies point different ways: one saves where the other does not.

    Looked at is the advised strategy, else the first that passes every rule but the last.
    """
    about = advised or next(
        (
            item.strategy
            for item in ordered
            if item.verdict in ("not certain", "no saving") and "inactive" not in item.marks
        ),
        None,
    )
    item = next((item for item in ordered if item.strategy == about), None)
    prices = [] if item is None or about == today else [price for price in (item.cached, item.uncached) if price]
    return len({is_saving(price) for price in prices if price.ratio is not None}) > 1
