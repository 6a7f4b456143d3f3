"""From measured runs to a decision: gates, a verdict for each strategy, their order, the sentence.
The other modules of this room do one step of `with_decision` each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import get_args

from msgspec.structs import replace

from ..model.advice import TODAY, Advice, Answers, Mark, Ranked, RuleResult, Verdict
from ..model.base import grouped
from ..model.compared import Compared
from ..text.wording import listed
from .against import Against, moves, not_compared
from .baseline import ScoreFile, score_file_of
from .gains import with_gains
from .gates import judge
from .prices import (
    PRICES,
    UNCACHED,
    as_best_of_many,
    burden,
    expected_ratio,
    preference,
    prices_of,
    unit_of,
    unpriced_in_words,
)
from .rules import (
    Rates,
    finite,
    merit,
    place_of,
    results_of,
    slots_in_spec,
    unchecked_words,
    verdict_of,
)
from .sentence import with_sentence
from .totals import Runs, totals


def answers_of(specs: Iterable[str]) -> Answers:
    """The question that a comparison answers: savings, if some strategy shapes prompts. To show
    what the tool returned (`untruncated`) beside another slot does not count as that.

    Otherwise it follows from the first of the slots store, evaluator, routers and consumer that
    differs among the strategies; if none differs, from the first that any of them fills.

    >>> answers_of(["a=store=full+evaluator=one", "b=store=full+evaluator=other"])
    'judged'
    >>> answers_of(["a=summarizer=truncate+store=truncate"]), answers_of(["a=routers=[x]", "b=routers=[y]"])
    ('savings', 'routed')
    >>> answers_of(["a=store=full+evaluator=one"]), answers_of(["a=evaluator=one"])
    ('stored', 'judged')
    >>> answers_of(["a=store=full+summarizer=untruncated", "whole=summarizer=untruncated"])
    'stored'
    """
    specs = [*specs]
    filled = [slots_in_spec(spec) for spec in specs]
    differing = [slot for slot in _ABOUT if len({slots.get(slot) for slots in filled}) > 1]
    present = [slot for slot in _ABOUT if any(slot in slots for slots in filled)]
    if not present or any(map(_shapes_prompts, specs)):
        return "savings"
    return _ABOUT[(differing or present)[0]]


_ABOUT: dict[str, Answers] = {
    "store": "stored",
    "evaluator": "judged",
    "routers": "routed",
    "consumer": "routed",
}
"""What the slots that leave prompts as they are can answer."""


def _shapes_prompts(spec: str) -> bool:
    """True if a strategy changes prompts, or its spec is not known."""
    slots = slots_in_spec(spec)
    is_whole = slots.get("summarizer") == "untruncated"
    return not slots or "compactor" in slots or ("summarizer" in slots and not is_whole)


def _questions(specs: Mapping[str, str]) -> dict[str, Answers]:
    """The question that each strategy is judged by: that of all, else that of those whose slots
    have nothing to do with it. A store may save too, as the model sees what it keeps.

    >>> _questions({"kept": "store=full", "sent": "routers=[a]", "both": "store=b+routers=[b]"})
    {'kept': 'stored', 'both': 'stored', 'sent': 'routed'}
    """
    answers = answers_of(specs.values())
    slots = {slot for slot, question in _ABOUT.items() if question == answers} or {"store"}
    answering = {
        name: answers
        for name, spec in specs.items()
        if slots & slots_in_spec(spec).keys() or _shapes_prompts(spec)
    }
    others = {name: spec for name, spec in specs.items() if name not in answering}
    return answering | (
        _questions(others) if answering and others else dict.fromkeys(others, answers)
    )


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
    gate_base = score_file_of(compared) if accepting else base
    gates = judge(Against(compared, gate_base), required=required)
    against = Against(compared, base)
    known = {*against.lost, *(run.id for run in against.now.all)}
    new_runs = [run.id for run in against.all.all if run.id not in known] if base else []
    notes = ["new since the baseline: " + listed(new_runs, 3)] if new_runs else []
    notes += [
        f"not compared with the baseline: {listed(names, 3)} ({why})"
        for why, names in not_compared(against).items()
        if not any(why in gate.reason for gate in gates)
    ]
    compared = replace(compared, gates=gates, moves=moves(against), new_runs=len(new_runs))
    compared = replace(compared, notes=(*compared.notes, *notes))
    return advised(compared, rates=rates, portfolio=portfolio)


def advised(compared: Compared, *, rates: Rates | None = None, portfolio: bool = False) -> Compared:
    """A comparison with the decision among its strategies, against what runs today. A strategy with
    a failed gate is invalid.

    With `portfolio` the best strategy was chosen among many, so beside its price stands the
    leave-one-task-out price, which is what to expect. The result does not depend on the order of
    strategies and runs.
    """
    runs = Runs(compared.runs)
    tried = sorted({*compared.strategies} - {TODAY})
    unit = unit_of(runs)
    prices = prices_of(runs, tried, unit, PRICES[unit])
    uncached = prices_of(runs, tried, unit, UNCACHED) if unit == "usd" else {}
    advice = Advice(
        advised=None,
        sentence="",
        answers=answers_of(compared.specs.get(name, "") for name in tried),
        unit=unit,
        unpriced=unpriced_in_words(runs) if unit == "tokens" else "",
        tasks=len(runs.tasks),
        runs=len(runs.all),
        assumed=unit == "usd" and any(run.facts.cache_shares == "assumed" for run in runs.all),
    )
    questions = _questions({name: compared.specs.get(name, "") for name in tried})
    failed_gates = (gate for gate in compared.gates if gate.outcome == "fail")
    failed = grouped((gate.strategy, gate.rule.metric) for gate in failed_gates)

    def measured(name: str) -> Ranked:
        """A strategy with its prices and the results of all rules but the last."""
        spec, gates = compared.specs.get(name, ""), failed.get(name, ())
        rules = results_of(runs, name, spec=spec, rates=rates, failed_gates=gates)
        item = _measured_strategy(runs, name, spec, rules)
        answers, price = questions.get(name, advice.answers), prices.get(name)
        return replace(item, answers=answers, price=price, uncached=uncached.get(name))

    today, *others = map(measured, (TODAY, *tried))
    if verdict_of(today.rules) != "invalid":
        others = with_gains(others, runs, advice)
    judged = (replace(item, verdict=_verdict(item, advice)) for item in (today, *others))
    ranked = sorted(judged, key=lambda item: _place(item, advice))
    many = portfolio and advice.answers == "savings"
    expected = expected_ratio(ranked, runs, unit) if many else None
    best = _strategy_to_advise(ranked, advice, expected)
    ranked.sort(key=lambda item: item is not best)
    if best is not None and best.price is not None:
        ranked[0] = replace(best, price=as_best_of_many(best.price, expected))
    advice = replace(advice, advised=best.strategy if best else None, ranked=tuple(ranked))
    return replace(compared, advice=with_sentence(advice, compared.asks))


# ---------------------------------------------------------------- one strategy


def _measured_strategy(runs: Runs, name: str, spec: str, rules: tuple[RuleResult, ...]) -> Ranked:
    """One strategy with its marks and shares. If it failed on some runs it has no shares, which
    would be those of the other runs."""
    is_today = name == TODAY
    words = None if is_today else unchecked_words(runs, name)
    marks: list[Mark] = [] if words is None else ["not checked"]
    acted = any(score.acted for run in runs.all if (score := runs.score(run, name)))
    if not is_today and not acted:
        marks.append("inactive")
    failed = any(rule.rule == "ran" and rule.findings for rule in rules)
    metrics = "needed.missed_turn_rate", "needed.recall.far"
    missed, far = (None if failed else runs.share(name, metric).value for metric in metrics)
    return Ranked(
        strategy=name,
        verdict="keep",
        marks=tuple(marks),
        unchecked_text=words or "",
        missed_turns=missed,
        far_recall=far,
        handle_turns=runs.counts(name, "needed.handle_turns")[0],
        rules=rules,
        spec=spec,
    )


def _verdict(item: Ranked, advice: Advice) -> Verdict:
    """The verdict of the first rule that refuses a strategy; if only the gain is uncertain, whether
    it gains anything. A strategy that changed nothing loses nothing, measured or not."""
    refused = verdict_of(item.rules)
    if item.strategy == TODAY:
        return refused or "keep"
    if "inactive" in item.marks and refused != "invalid":
        return "no gain"
    if refused not in ("not certain", None):
        return refused
    if refused and not item.saves and item.rules[-1].rule == "cheaper":
        return "no gain"
    return "not certain" if refused or "not checked" in item.marks else "ship"


# ---------------------------------------------------------------- all strategies


def _strategy_to_advise(
    ordered: Sequence[Ranked], advice: Advice, expected: float | None
) -> Ranked | None:
    """The strategy to ship: the cheapest, with its burden as a part of its price. So no other one
    decides between two.

    The best of many looks cheaper than it is. So a strategy that misses less is advised if it costs
    no more than what is `expected` of the best.
    """
    ships = [item for item in ordered if item.verdict == "ship"]
    if advice.answers != "savings" or not ships or not math.isfinite(_ratio(ships[0])):
        return ships[0] if ships else None
    best = min(ships, key=lambda item: (_ratio(item) + burden(item), preference(item)))
    price, missed = best.price, best.missed_turns or 0.0
    if price is None:
        return best
    most = as_best_of_many(price, expected).expected or 0.0
    as_cheap = (item for item in ships if _ratio(item) <= most)
    safer = [item for item in as_cheap if (item.missed_turns or 0.0) < missed]
    return min(safer or [best], key=preference)


def _ratio(item: Ranked) -> float:
    """The price of a strategy against today's; infinite where it is not known."""
    price = item.price
    return finite(price.ratio if price else None)


def _place(item: Ranked, advice: Advice) -> tuple[float | str, ...]:
    """The sort key of a strategy in the table: verdict, those that answer the question of all, then
    the rule and value of the figure that answers it if that is not savings, then price."""
    price = item.price
    return (
        get_args(Verdict).index(item.verdict),
        item.answers != advice.answers,
        place_of(item.figure.metric if item.figure else ""),
        -merit(item.figure),
        float(f"{finite(price.per_run if price else None):.9g}"),
        *preference(item),
    )
