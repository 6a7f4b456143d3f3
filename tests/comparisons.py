"""Comparisons for the tests of reports.

Realistic ones of any size by seed, and any at all for properties.
"""

from __future__ import annotations

import random
from operator import attrgetter
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import strategies as st

from bench.comparison.reasons import reason_of
from bench.comparison.totals import Runs, totals as totals_of
from bench.metrics import metric_infos
from bench.model import GateRule, Signature
from bench.model.advice import Advice, Price, Ranked, RuleResult
from bench.model.compared import Compared, GateResult, Move
from bench.model.detail import ChangedMessage, Excerpt, MissedFact, ReplayDetail
from bench.model.scores import Check, Finding, MeasuredRun, Number, RunFacts, Score

POLICIES = (
    ("csv", "summarizer=csv_table", 0.92, 0.0, 1.0),
    ("compact", "summarizer=compact_json", 0.936, 0.0, 1.0),
    ("head_tail", "summarizer=head_tail:head=20,tail=20", 0.933, 0.025, 0.988),
    ("mask_8", "compactor=mask_observations:keep_last=8", 1.019, 0.013, 0.951),
    ("mask_5", "compactor=mask_observations:keep_last=5", 0.989, 0.035, 0.856),
    ("mask_3", "compactor=mask_observations:keep_last=3", 0.926, 0.069, 0.782),
    ("mask_2", "compactor=mask_observations:keep_last=2", 0.873, 0.108, 0.751),
    ("mask_1", "compactor=mask_observations:keep_last=1", 0.802, 0.148, 0.742),
)
HOSTILE = '"><img src=x onerror=alert(1)>|`*_\u202e\x1b[31m'
SIGNATURE = Signature(bench_version="1.0.0", facts_version="3", prices_date="2026-11-01", encodings={"a": "o200k_base"})


def policies(many: int) -> list[tuple[str, str, float, float, float]]:
    """So many strategies: the eight by hand, then cuts and windows of several sizes."""
    found = list(POLICIES[:many])
    for number in range(many - len(found)):
        kind, size = ("cut", "window", "summary")[number % 3], 100 * (number + 2)
        price, missed = 0.95 - 0.018 * number + 0.13 * (number % 3), (number % 7) * 0.03
        found.append((f"{kind}_{size}", f"summarizer={kind}:limit={size}", max(price, 0.3), missed, 1 - missed))
    return found


def numbers(rng: random.Random, turns: int, usd: float, price: float, missed: float, far: float) -> dict[str, Number]:
    """The metrics of one strategy on one run."""
    lost = min(turns, sum(rng.random() < missed for _ in range(turns)))
    cost, tokens = usd * price, 40_000 * price * turns / 14
    shares = {
        "needed.recall": 1 - missed / 2, "needed.recall.far": far, "loss.fact_recall.shown": far,
        "loss.fact_recall.end": far * 0.9, "loss.leaf_recall.end": far * 0.8, "loss.leaf_recall.shown": far,
    }  # fmt: skip
    found = {name: Number(value=round(min(1.0, value), 4), weight=turns * 3.0) for name, value in shares.items()}
    found |= {
        "cost.usd": Number(value=cost), "cost.usd_uncached": Number(value=cost * 1.68),
        "cost.prompt_tokens": Number(value=round(tokens)), "cost.cached_prompt_tokens": Number(value=round(tokens * 0.8)),
        "cost.peak_prompt_tokens": Number(value=round(9_502 * price)),
        "needed.missed_turns": Number(value=float(lost)),
        "needed.missed_turn_rate": Number(value=lost / turns if turns else None, weight=float(turns)),
        "faithful.changed": Number(value=0.0), "prompt.invalid": Number(value=0.0),
        "probes.recall": Number(value=None, weight=0.0, reason="no question is asked"),
    }  # fmt: skip
    return found


def comparison(
    strategies: int = 8,
    runs: int = 27,
    *,
    seed: int = 0,
    title: str = "How should the airline agent keep tool results?",
    gates: str = "",
    unit: str = "usd",
    usd: float = 0.0645,
    details: bool = True,
    hostile: bool = False,
) -> Compared:
    """A comparison as a scenario gives it.

    `gates`: "", "pass" or "fail" (with a baseline). Prices come from `usd` a run.
    """
    rng, chosen = random.Random(seed), policies(strategies)
    tasks = max(1, runs // 4) if runs > 12 else runs
    measured = []
    for number in range(runs):
        turns, cost = rng.randint(8, 30), usd * rng.uniform(0.5, 1.6)
        scores = [Score(strategy="recorded", numbers=numbers(rng, turns, cost, 1.0, 0.0, 1.0))]
        for name, _, price, missed, far in chosen:
            own = price + (rng.choice((0.0, rng.gauss(0, 0.05))) if price != 1 else 0.0)
            scores.append(Score(strategy=name, numbers=numbers(rng, turns, cost, own, missed, far)))
        facts = RunFacts(
            sha256=f"{number:064x}", format="tau-bench airline", task=f"task {number % tasks}", model="gpt-4o",
            turns=turns, results=turns // 2, shortened=int(number == 3), cache_shares="assumed", encoding="o200k_base", counted_tokens=40_000, reported_tokens=50_000,
        )  # fmt: skip
        measured.append(
            MeasuredRun(
                id=f"airline/task {number % tasks}, run {number // tasks + 1}", facts=facts, scores=tuple(scores)
            )
        )
    totals = totals_of(Runs(measured), ["recorded", *(name for name, *_ in chosen)], metric_infos())
    names = {name: f"{HOSTILE} {name}" if hostile else name for name, *_ in chosen}
    found = Compared(
        title=f"{HOSTILE} {title}" if hostile else title, signature=SIGNATURE, strategies=("recorded", *(name for name, *_ in chosen)),
        specs={name: spec for name, spec, *_ in chosen}, runs=tuple(measured), metrics=metric_infos(), totals=totals,
        advice=advice(chosen, totals, runs, tasks, unit, usd),
        details=(detail(measured[0].id, chosen[-1][0]),) if details and chosen and runs else (),
    )  # fmt: skip
    found = with_gates(found, gates) if gates and chosen else found
    return renamed(found, names) if hostile else found


def advice(chosen: Any, totals: Any, runs: int, tasks: int, unit: str, usd: float) -> Advice:
    """A decision as the table of rules would make it, near enough for a page."""
    certain = tasks >= 6
    per_run = usd if unit == "usd" else 40_000.0
    ranked = [
        Ranked(
            strategy="recorded",
            verdict="keep",
            price=Price(unit=unit, per_run=per_run),
            uncached=Price(unit=unit, per_run=per_run * 1.68) if unit == "usd" else None,
            missed_turns=0.0,
            far_recall=1.0,
        )
    ]  # type: ignore[arg-type]
    for name, spec, price, missed, far in chosen:
        rules = (
            RuleResult(rule="valid", passed=True, value=0), RuleResult(rule="changed", passed=True, value=0),
            RuleResult(rule="needed", metric="needed.missed_turn_rate", passed=missed <= 0.05, value=missed, limit=0.05, hits=missed * 15 * runs, of=15.0 * runs),
            RuleResult(rule="far", metric="needed.recall.far", passed=far >= 0.9, value=far, limit=0.9),
            RuleResult(rule="cheaper", passed=certain and price * 1.02 < 1, value=price * 1.02, limit=1.0),
        )  # fmt: skip
        lost = missed > 0.05 or far < 0.9
        verdict = "loses too much" if lost else "no gain" if price >= 1 else "not certain"
        cached, uncached = (
            Price(
                unit=unit,
                per_run=per_run * scale * price * less,
                ratio=price * less,
                high=price * less * 1.02,
                certain=certain,
            )
            for scale, less in ((1, 1), (1.68, 0.99))
        )  # type: ignore[arg-type]
        ranked.append(
            Ranked(
                strategy=name,
                verdict=verdict,
                price=cached,
                uncached=uncached if unit == "usd" else None,
                missed_turns=missed,
                far_recall=far,
                rules=rules,
                spec=spec,
            )
        )  # type: ignore[arg-type]
    best = next(
        (item for item in sorted(ranked, key=lambda item: item.price.per_run) if item.verdict == "not certain"), None
    )  # type: ignore[union-attr]
    ship = best if best is not None and certain else None
    if ship is not None:
        ranked = [msgspec.structs.replace(item, verdict="ship") if item is ship else item for item in ranked]
    order = {"ship": 0, "not certain": 1, "keep": 2, "no gain": 3}
    ranked.sort(key=lambda item: (order.get(item.verdict, 4), item.price.per_run if item.price else 0))
    sentence = (
        f"Ship `{ship.strategy}`. With the provider's cache a run costs {abs(ship.price.ratio - 1):.1%} less than today, certain over {tasks} tasks, and no turn would have missed anything it used."  # type: ignore[union-attr,operator]
        if ship is not None
        else "Keep what runs today. "
        + ("Needs at least 6 tasks to be certain." if not certain else "No strategy within the limits costs less.")
    )
    return reasoned(Advice(
        advised=ship.strategy if ship else None, subject=best.strategy if best else "", sentence=sentence, unit=unit,
        tasks=tasks, runs=runs,
        ranked=tuple(ranked),
    ))  # fmt: skip


def reasoned(advice: Advice) -> Advice:
    """The same with the reason of each verdict."""
    ranked = (msgspec.structs.replace(item, reason=reason_of(item, advice)) for item in advice.ranked)
    return msgspec.structs.replace(advice, ranked=tuple(ranked))


def with_gates(compared: Compared, kind: str) -> Compared:
    """The same with gates on each strategy, held against a baseline with a wider mask.

    "fail" lets the last strategy fail.
    """
    name = compared.strategies[-1]
    limits = (
        ("needed.missed_turn_rate", {"max": 0.05}),
        ("needed.recall.far", {"min": 0.9}),
        ("needed.missed_turn_rate", {"max_increase": 0.01}),
        ("cost.prompt_tokens", {"max_increase": "2%"}),
        ("faithful.changed", {"max": 0}),
    )
    results, rules = [], tuple(GateRule(metric=metric, settings=settings) for metric, settings in limits)
    for rule, (metric, settings) in zip(rules, limits, strict=True):
        for strategy in (*compared.strategies[1:3], name):
            value = compared.totals[strategy][metric].value
            before = None if value is None else 0.013 if metric.endswith("rate") else value * 1.15
            failing = kind == "fail" and strategy == name and metric.startswith("needed")
            results.append(
                GateResult(
                    rule=rule,
                    strategy=strategy,
                    outcome="fail" if failing else "pass",
                    before=before,
                    value=value,
                    limit={"max": 0.05, "min": 0.9}.get(
                        next(iter(settings)), 0.023 if metric.endswith("rate") else None
                    ),
                    basis="mean over tasks",
                )
            )
    moved = sum(bool(number % 7) for number in range(len(compared.runs)))
    moves = [
        Move(strategy=name, metric="needed.missed_turns", before=37, after=156, better=False, regressed_runs=moved),
        Move(strategy=name, metric="needed.missed_turn_rate", before=0.013, after=0.148, better=False, regressed_runs=moved),
        Move(strategy=name, metric="needed.recall.far", before=0.951, after=0.742, better=False, regressed_runs=moved),
        Move(strategy=name, metric="cost.usd", before=1.774, after=compared.totals[name]["cost.usd"].value, better=True, improved_runs=moved // 2, regressed_runs=2),
        Move(strategy=name, metric="cost.prompt_tokens", before=1_021_815, after=885_843, better=True, improved_runs=moved),
    ]  # fmt: skip
    before = {**compared.specs, name: compared.specs[name].replace("=1", "=8")}
    return msgspec.structs.replace(
        compared, rules=rules, gates=tuple(results), moves=tuple(moves), against="89c4df2", specs_before=before
    )


def detail(run: str, strategy: str) -> ReplayDetail:
    """One run of ten results under a mask that keeps the last one: the prompt of its eighth turn, and what turns miss."""
    missed = [
        MissedFact(turn=2 + at * 2, fact=f"HAT{at - back:03}", origin="result", origin_step=3 + (at - back) * 2, distance=back)
        for at in range(5, 10) for back in (3, 4)
    ]  # fmt: skip
    changed = []
    for at in range(3):
        text = f'{{"reservation_id": "JG7FM{at}", "cabin": "business", "flights": [{{"flight_number": "HAT{at:03}", "price": {1859 - at}}}]}}'
        before, after = (
            Excerpt(text=text, start=at * 20, left_out=at * 100),
            Excerpt(text="[tool result left out: 96 characters]"),
        )
        changed.append(
            ChangedMessage(
                role="tool", step=3 + at * 2, before=before, after=None if at == 2 else after, lost=(f"HAT{at:03}",)
            )
        )
    return ReplayDetail(
        run=run,
        strategy=strategy,
        missed=tuple(missed),
        step=12,
        changed=tuple(changed),
        more_changed=1,
        unchanged=8,
    )


def example_about(
    answers: str = "judged", runs: int = 10, title: str = "Which store keeps the evaluations?"
) -> Compared:
    """A scenario about evaluators, stores or routers: shares with counts, and what changed."""
    metric = {"judged": "findings.agreement", "stored": "loss.leaf_recall.stored", "routed": "routing.selection_top1"}[
        answers
    ]
    shares = {"recorded": 1.0, "by_function": 26 / 28, "truncate": 10 / 28, "external": 1.0}
    totals = {
        name: {metric: Number(value=share, weight=28.0), "routing.accuracy": Number(value=share, weight=28.0)}
        for name, share in shares.items()
    }
    finding = Finding(step=7, text='{"verdict": "fail"}', was='{"verdict": "pass"}')
    measured = tuple(
        MeasuredRun(id=f"analysis/{number}", facts=RunFacts(sha256=f"{number:064x}", task=f"t{number}", turns=9, results=3, skipped={"half-written last line": int(number == 1), "event of type 'x'": 2}), scores=tuple(
            Score(strategy=name, numbers=totals[name], checks={"judged": Check(hits=2, of=3, findings=(finding,))} if name == "truncate" else {})
            for name in shares))
        for number in range(runs)
    )  # fmt: skip
    ranked = tuple(
        Ranked(
            strategy=name,
            verdict={"recorded": "keep", "external": "ship"}.get(name, "loses too much"),
            answers=answers,
            rules=(RuleResult(rule=answers, passed=share == 1, metric=metric, value=share, limit=1.0),)
            if name != "recorded"
            else (),
        )
        for name, share in shares.items()
    )  # type: ignore[arg-type]
    sentence = "Ship `external`. All 28 evaluations stay the same; with `truncate` 18 change."
    of = {"answers": answers, "unit": "tokens", "tasks": runs, "runs": runs, "ranked": ranked}
    decided = reasoned(Advice(advised="external", subject="external", sentence=sentence, **of))  # type: ignore[arg-type]
    return Compared(
        title=title, signature=SIGNATURE, strategies=tuple(shares), runs=measured,
        metrics=metric_infos(), totals=totals, advice=decided,
    )  # type: ignore[arg-type]  # fmt: skip


def renamed(compared: Compared, names: dict[str, str]) -> Compared:
    """The same under other names of strategies."""

    def other(value: Any) -> Any:
        if isinstance(value, dict):
            return {names.get(key, key): other(item) for key, item in value.items()}
        if isinstance(value, list):
            return [other(item) for item in value]
        return names.get(value, value) if isinstance(value, str) else value

    return msgspec.convert(other(msgspec.to_builtins(compared)), Compared)


# ---------------------------------------------------------------- any at all

texts = st.text(max_size=12) | st.sampled_from(["a", "b", HOSTILE, "x" * 300, "", "=1+1"])
floats = st.one_of(st.floats(allow_nan=True, allow_infinity=True), st.floats(0, 1), st.just(0.0))
names = st.sampled_from(["recorded", "a", "b", HOSTILE])
metric_names = st.sampled_from([*metric_infos()])
PLAIN: dict[Any, Any] = {
    str: texts,
    bool: st.booleans(),
    int: st.integers(-3, 40),
    float: floats,
    type(None): st.none(),
}
SPECIAL = {
    (Compared, "signature"): st.just(SIGNATURE),
    (Compared, "metrics"): st.just(metric_infos()),
    (Compared, "strategies"): st.lists(names, unique=True).map(tuple),
    (Compared, "references"): st.just(()),
    (GateRule, "metric"): metric_names,
    (GateRule, "settings"): st.dictionaries(
        st.sampled_from(["min", "max", "max_drop", "max_increase"]), st.floats(0, 1) | st.just("5%"), max_size=2
    ),
    (Move, "metric"): metric_names,
    (Price, "per_run"): st.floats(0, 1e9),
    (Number, "weight"): st.floats(0, 1e6),
}
"""Fields that hold less than their type allows."""


def anything(kind: Any = Compared) -> Any:
    """A strategy of hypothesis: any value of a type, however odd; a comparison by default."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind in PLAIN:
        return PLAIN[kind]
    if origin is Literal:
        return st.sampled_from(inner)
    if origin is tuple and inner[-1] is not ...:
        return st.tuples(*map(anything, inner))
    if origin is tuple:
        named = next((name for name in ("id", "strategy") if hasattr(inner[0], name)), None)
        unique_by = attrgetter(named) if named else None
        return st.lists(anything(inner[0]), max_size=3, unique_by=unique_by).map(tuple)
    if origin is dict:
        return st.dictionaries(anything(inner[0]), anything(inner[1]), max_size=3)
    if inner:  # a union
        return st.one_of(*map(anything, inner))
    fields = get_type_hints(kind)
    given = {
        name: names if name in ("strategy", "advised") else anything(hint)
        for name, hint in fields.items()
        if (kind, name) not in SPECIAL
    }
    return st.builds(kind, **given, **{name: values for (of, name), values in SPECIAL.items() if of is kind})


PLAIN[dict[str, Number]] = st.dictionaries(
    st.sampled_from([*metric_infos(), "own.metric", ""]), anything(Number), max_size=5
)
SPECIAL[Compared, "totals"] = st.dictionaries(names, PLAIN[dict[str, Number]], max_size=3)
SPECIAL[Advice, "sentence"] = PLAIN[str].map("Keep {}.".format)
SPECIAL[Compared, "specs"] = st.dictionaries(names, st.sampled_from(["a=1", "a=2", "a=3", HOSTILE]), max_size=3)
