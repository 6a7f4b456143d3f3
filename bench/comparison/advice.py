"""From measured runs to a decision: gates, a verdict for each strategy, their order, the sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from msgspec.structs import replace

from ..model.advice import TODAY, Advice, Answers, Mark, Price, Ranked, RuleResult, Verdict
from ..model.base import grouped
from ..model.compared import Compared
from ..text.wording import listed
from .against import Against, moves
from .baseline import ScoreFile, score_file_of
from .certainty import EQUAL
from .gains import gains_of
from .gates import judge
from .prices import (
    Economy,
    economies_of,
    honest_ratio,
    leave_one_out_ratio,
    preference,
    prices_of,
    with_leave_one_out_price,
)
from .rules import Rates, finite, merit, results_of, slots_in_spec, unchecked_words, verdict_of
from .sentence import with_sentence
from .totals import Runs, totals


def answers_of(specs: Iterable[str]) -> Answers:
    """The question that a comparison answers: savings, if some strategy shapes prompts.

    Otherwise it follows from the first of store, evaluator, routers and consumer that differs among
    the strategies, or that any of them fills.

    >>> answers_of(["a=store=full+evaluator=one", "b=store=full+evaluator=other"])
    'judged'
    >>> answers_of(["a=summarizer=truncate+store=truncate"]), answers_of(["a=routers=[x]", "b=routers=[y]"])
    ('savings', 'routed')
    >>> answers_of(["a=store=full+evaluator=one"]), answers_of(["a=evaluator=one"])
    ('stored', 'judged')
    """
    filled = [slots_in_spec(spec) for spec in specs]
    if not filled or any(
        not slots or {"summarizer", "compactor"} & slots.keys() for slots in filled
    ):
        return "savings"
    names: dict[str, Answers] = {
        "store": "stored",
        "evaluator": "judged",
        "routers": "routed",
        "consumer": "routed",
    }
    differing = [name for name in names if len({slots.get(name) for slots in filled}) > 1]
    present = [name for name in names if any(name in slots for slots in filled)]
    first, *_ = differing or present or ["store"]
    return names[first]


def with_decision(
    measured: Compared,
    base: ScoreFile | None = None,
    *,
    rates: Rates | None = None,
    portfolio: bool = False,
    required: bool = False,
    accepting: bool = False,
) -> Compared:
    """A comparison of measured runs, completed with totals, gates, advice and moves.

    `base` is the baseline. If `required`, a missing baseline fails, and so does a strategy that was
    replaced since. If `accepting`, these runs are the new baseline, so they are judged against
    themselves.
    """
    compared = replace(
        measured,
        totals=totals(Runs(measured.runs), measured.everyone, measured.metrics),
        specs_before={} if base is None else dict(base.specs),
    )
    judged_by = score_file_of(compared) if accepting else base
    gates = judge(Against(compared, judged_by), required=required)
    against = Against(compared, base)
    shared = {run.id for run in against.now.all}
    new = [run.id for run in against.all.all if run.id not in shared] if base else []
    notes = (*compared.notes, *(["new since the baseline: " + listed(new, 3)] if new else []))
    compared = replace(compared, gates=gates, moves=moves(against), new_runs=len(new), notes=notes)
    return advised(compared, rates=rates, portfolio=portfolio)


def advised(compared: Compared, *, rates: Rates | None = None, portfolio: bool = False) -> Compared:
    """A comparison with the decision among its strategies, against what runs today; one whose gate
    failed is invalid.

    With `portfolio` the best strategy was chosen among many, so its stated price is the
    leave-one-task-out price. The result does not depend on the order of strategies and runs.
    """
    runs, specs = Runs(compared.runs), compared.specs
    failed = grouped((it.strategy, it.rule.metric) for it in compared.gates if it.outcome == "fail")
    names = sorted({*compared.strategies} - {TODAY})
    answers = answers_of(specs.get(name, "") for name in names)
    rules = {
        name: results_of(
            runs, name, spec=specs.get(name, ""), rates=rates, failed_gates=failed.get(name, ())
        )
        for name in [TODAY, *names]
    }
    economies = economies_of(runs)
    assumed = any(run.facts.cache_shares == "assumed" for run in runs.all)
    question = _Question(
        runs=runs,
        answers=answers,
        deciding=economies[0],
        assumed=assumed and economies[0] != "tokens",
        prices={economy: prices_of(runs, names, economy) for economy in economies},
    )
    if verdict_of(rules[TODAY]) != "invalid":
        better = {} if answers == "savings" else gains_of(runs, answers, rules, specs)
        gains = {name: _gain(question, name, better.get(name)) for name in names}
        rules |= {name: (*rules[name], gain) for name, gain in gains.items()}
    ranked = [_ranked_strategy(question, name, specs.get(name, ""), rules[name]) for name in rules]
    ordered = tuple(sorted(ranked, key=lambda item: _place(item, question)))
    among_many = portfolio and answers == "savings"
    honest = leave_one_out_ratio(ordered, runs, economies[0]) if among_many else None
    best = _strategy_to_advise(ordered, question, honest)
    ordered = tuple(sorted(ordered, key=lambda item: item.strategy != best))
    if among_many and best is not None:
        ordered = with_leave_one_out_price(ordered, best, runs)
    advice = Advice(
        advised=best,
        sentence="",
        answers=answers,
        basis=question.deciding,
        tasks=len(runs.tasks),
        runs=len(runs.all),
        ranked=ordered,
        assumed=question.assumed,
    )
    advice = with_sentence(advice, compared.asks)
    return replace(compared, advice=advice)


@dataclass(frozen=True)
class _Question:
    """A decision to make: the runs, the prices and the price that decides.

    `assumed` is True if the shares of the provider's cache are not recorded, so that a saving must
    be certain with and without the cache.
    """

    runs: Runs
    answers: Answers
    deciding: Economy
    assumed: bool
    prices: Mapping[Economy, Mapping[str, Price]]

    def prices_of(self, name: str) -> dict[Economy, Price | None]:
        """The prices of a strategy by economy; None where it has none."""
        return {economy: by_name.get(name) for economy, by_name in self.prices.items()}


# ---------------------------------------------------------------- one strategy


def _ranked_strategy(
    question: _Question, name: str, spec: str, rules: tuple[RuleResult, ...]
) -> Ranked:
    """One strategy with its prices, marks and verdict; one that failed on some runs has no
    shares, which would be of the others."""
    runs, is_today = question.runs, name == TODAY
    prices = question.prices_of(name)
    words = None if is_today else unchecked_words(runs, name)
    marks: list[Mark] = [] if words is None else ["not checked"]
    acted = any(score.acted for run in runs.all if (score := runs.score(run, name)))
    if not is_today and not acted:
        marks.append("inactive")
    todays = verdict_of(rules) or "keep"
    failed = any(rule.rule == "ran" and rule.findings for rule in rules)
    shares = "needed.missed_turn_rate", "needed.recall.far"
    missed, old = (None if failed else runs.share(name, metric).value for metric in shares)
    return Ranked(
        strategy=name,
        verdict=todays if is_today else _verdict(rules, prices[question.deciding], marks),
        marks=tuple(marks),
        unchecked_text=words or "",
        cached=prices.get("cached") or prices.get("tokens"),
        uncached=prices.get("uncached"),
        missed_turns=missed,
        far_recall=old,
        handle_turns=runs.counts(name, "needed.handle_turns")[0],
        rules=rules,
        spec=spec,
    )


def _gain(question: _Question, name: str, better: RuleResult | None) -> RuleResult:
    """The result of the last rule: the figure that answers the question is certainly better than
    today's; or it is today's and the saving is certain, if the cache is assumed also without it."""
    own = question.prices_of(name).items()
    asked = [price for it, price in own if it == question.deciding or question.assumed]
    worst = max(asked, key=lambda price: finite(price.high if price else None))
    passed = all(price is not None and price.certain for price in asked)
    if better is not None and not (passed and not better.passed and not better.findings):
        return better
    return RuleResult(rule="cheaper", passed=passed, value=worst.high if worst else None, limit=1.0)


def _verdict(rules: tuple[RuleResult, ...], price: Price | None, marks: Sequence[Mark]) -> Verdict:
    """The verdict of the first rule that refuses; if only the gain is left, the verdict by the
    gain.

    A strategy that changed nothing loses nothing, even if it could not be measured.
    """
    refused = verdict_of(rules)
    if "inactive" in marks and refused != "invalid":
        return "no gain"
    if refused not in ("not certain", None):
        return refused
    saves = price is not None and price.saves
    if refused and not saves and rules[-1].rule == "cheaper":
        return "no gain"
    return "not certain" if refused or "not checked" in marks else "ship"


# ---------------------------------------------------------------- all strategies


def _strategy_to_advise(
    ordered: Sequence[Ranked], question: _Question, honest: float | None
) -> str | None:
    """The first strategy that may be shipped; the preferred one where several are equally cheap.

    The first of many looks too good: what costs no more than its `honest` price and misses less is
    preferred.
    """
    ships = [item for item in ordered if item.verdict == "ship"]
    prices = ((item.strategy, item.price(question.deciding)) for item in ships)
    ratios = {name: price.ratio for name, price in prices if price is not None}
    least = ratios.get(ships[0].strategy) if ships else None
    if question.answers != "savings" or least is None:
        return ships[0].strategy if ships else None
    cheap = [item for item in ships if finite(ratios.get(item.strategy)) <= least + EQUAL]
    best = min(cheap, key=preference)
    price = best.price(question.deciding)
    limit = least if honest is None or price is None else honest_ratio(price, honest)
    as_cheap = (item for item in ships if finite(ratios.get(item.strategy)) <= limit + EQUAL)
    safer = [it for it in as_cheap if (it.missed_turns or 0.0) < (best.missed_turns or 0.0)]
    return min(safer or [best], key=preference).strategy


def _place(item: Ranked, question: _Question) -> tuple[float | str, ...]:
    """The sort key of a strategy in the table: verdict, then quality where that is asked, then
    price."""
    price = item.price(question.deciding)
    return (
        get_args(Verdict).index(item.verdict),
        0.0 if question.answers == "savings" else -merit(item.rules, question.answers),
        float(f"{finite(price.per_run if price else None):.9g}"),
        *preference(item),
    )
