"""The first line of every output: a sentence about an advice."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from ..model.advice import TODAY, Advice, Ranked
from ..model.compared import Answers
from ..text.wording import listed, percent
from .reasons import quality, reason_of, rule_failed
from .wording import less_or_more, pricing_of, sample

_ECONOMY = {"cached": " with the provider's cache", "uncached": " without a cache"}
_LOSES = {
    "invalid": "is invalid",
    "unfaithful": "is unfaithful",
    "loses too much": "loses too much",
}


def with_sentence(advice: Advice, answers: Answers, assumed: bool, asks: str = "") -> Advice:
    """The advice with its sentence, and the reason of each verdict.

    `assumed` is True if the shares of the provider's cache are not recorded. If the question is
    about a strategy (`asks`) that the sentence does not name, the answer comes first.
    """
    ranked = tuple(replace(item, reason=reason_of(item, advice)) for item in advice.ranked)
    advice = replace(advice, ranked=ranked)
    about = next((item for item in ranked if item.strategy == asks), None)
    sentence = _of_quality(advice, answers) if answers != "savings" else _savings(advice, assumed)
    if about and not re.search(rf"(?<![\w-]){re.escape(asks)}(?![\w-])", sentence):
        sentence = f"{_answer(about)} {sentence}"
    return replace(advice, sentence=sentence)


def _answer(item: Ranked) -> str:
    """The answer to a question about one strategy."""
    if item.verdict in _LOSES or item.verdict == "no saving":
        return f"No: {item.strategy} {_LOSES.get(item.verdict, item.reason)}."
    if item.verdict == "not certain":
        return f"Not certain: {item.strategy} may cost less."
    return f"Yes: {item.strategy} is within all limits."


def _savings(advice: Advice, assumed: bool) -> str:
    """The sentence that advises a strategy, with its price, or says why none is advised."""
    best = next((item for item in advice.ranked if item.strategy == advice.advised), None)
    if best is None:
        return _keep(advice, assumed)
    price, pricing = best.price(advice.basis), pricing_of(advice)
    if price is None or price.ratio is None:
        return f"Ship {best.strategy}: what runs today is not valid."
    missed = ""
    if best.missed_turns is not None:
        share = f"{percent(best.missed_turns)} of turns would have missed something they used"
        missed = f"; {share if best.missed_turns else 'no turn would have missed anything it used'}"
    economy = _ECONOMY.get(advice.basis, "")
    if assumed and advice.basis == "cached":
        economy = " with an assumed cache"
    today = next((item for item in advice.ranked if item.strategy == TODAY), None)
    before = pricing.in_words(today.price(advice.basis) if today else None)
    amounts = f"{pricing.money(price)} instead of {before}{economy}"
    cost = f"a run costs {less_or_more(price)} ({amounts})"
    rest = _other_economy(advice, [best])
    return f"Ship {best.strategy}: {cost}, certain on {sample(advice)}{missed}.{rest}"


def _keep(advice: Advice, assumed: bool) -> str:
    """The sentence that advises no strategy, with the reason against all that were tried."""
    others = [item for item in advice.ranked if item.strategy != TODAY]
    if any(item.verdict == "invalid" for item in advice.ranked if item.strategy == TODAY):
        return "What runs today is not valid, and no strategy can be used."
    acting = [item for item in others if "inactive" not in item.marks]
    prices = {item.strategy: price for item in acting if (price := item.price(advice.basis))}
    cheaper = sorted(
        (it for it in acting if it.strategy in prices and prices[it.strategy].saves),
        key=lambda item: (item.verdict in _LOSES, prices[item.strategy].per_run, item.strategy),
    )
    if cheaper:
        reason = _why_not(advice, cheaper, acting, assumed)
    elif not acting:
        names = listed([item.strategy for item in others])
        reason = f"{names} changed nothing." if others else "nothing was tried."
        if len(others) > 3:
            reason = f"none of {len(others)} strategies changed anything."
    elif all(item.verdict == "invalid" for item in acting):
        reason = "no strategy is valid."
    else:
        (first, *more), costs = acting, "no strategy costs less"
        if not more and (price := prices.get(first.strategy)) and price.ratio is not None:
            costs = f"{first.strategy} costs {less_or_more(price)}"
        reason = f"{costs}{_ECONOMY.get(advice.basis, '')}.{_other_economy(advice, acting)}"
    return f"Keep what runs today: {reason}"


def _why_not(
    advice: Advice, cheaper: Sequence[Ranked], acting: Sequence[Ranked], assumed: bool
) -> str:
    """The clauses on the cheapest strategy that costs less, and why it is not advised.

    One that is not certain to save comes before those that a rule refuses.
    """
    item, price = cheaper[0], cheaper[0].price(advice.basis)
    cost = f"costs {less_or_more(price) if price else 'less'}{_ECONOMY.get(advice.basis, '')}"
    failed = next((rule for rule in item.rules if not rule.passed), None)
    if item.verdict in _LOSES and failed:
        start = item.strategy
        if len(cheaper) > 1:
            every = "both" if len(cheaper) == 2 else f"all {len(cheaper)}"
            start = f"{every} cheaper strategies are rejected; the cheapest, {start},"
        why = f"{_LOSES[item.verdict]}: {rule_failed(failed, quoting=False)}"
        return f"{start} {cost}, but {why}.{_other_economy(advice, acting)}"
    if failed is None:
        why = "some of its texts could not be checked"
    elif assumed and price is not None and price.certain:
        why = "the cache is assumed, and without it that is not certain"
    else:
        why = f"that is not certain on {sample(advice)}: it {item.reason}"
    return f"{item.strategy} {cost}, but {why}.{_other_economy(advice, [item])}"


def _other_economy(advice: Advice, items: Sequence[Ranked]) -> str:
    """A second sentence if the price without (or with) the cache of the cheapest strategy there
    says the opposite; else "". One that a rule refuses counts only where all are refused."""
    other = "uncached" if advice.basis == "cached" else "cached"
    prices = {
        item.strategy: price
        for item in items
        if (price := item.price(other)) and price.ratio is not None
    }
    item = min(
        (item for item in items if item.strategy in prices),
        key=lambda item: (item.verdict in _LOSES, prices[item.strategy].ratio, item.strategy),
        default=None,
    )
    here = item.price(advice.basis) if item else None
    if item is None or here is None or prices[item.strategy].saves == here.saves:
        return ""
    price = prices[item.strategy]
    costs = "may cost" if price.saves and not price.certain else "costs"
    but = f", but {_LOSES[item.verdict]}" if item.verdict in _LOSES else ""
    economy = _ECONOMY[other].strip().capitalize()
    return f" {economy} {item.strategy} {costs} {less_or_more(price)}{but}."


def _of_quality(advice: Advice, answers: Answers) -> str:
    """The sentence on stores, evaluators or routers: the best strategy, then the worst."""
    measured = [
        (item, result)
        for item in advice.ranked
        for result in [result for result in item.rules if result.rule == answers][:1]
        if result.value is not None and item.strategy != TODAY
    ]
    if not measured:
        return "Nothing that these strategies fill could be measured."
    measured.sort(key=lambda it: (not it[1].passed, -(it[1].value or 0.0), it[0].strategy))
    passed = [pair for pair in measured if pair[0].verdict == "ship"]
    named = [pair for pair in passed if pair[0].strategy == advice.advised]
    (best, result), (worst, lowest) = (named or passed or measured)[0], measured[-1]
    head = f"Ship {best.strategy}: on {sample(advice)} it {quality(result)}"
    if not passed:
        why = f" ({best.reason})" if result.passed else ", which is too little"
        head = f"Keep what runs today: on {sample(advice)} {best.strategy} {quality(result)}{why}"
    tail = "" if lowest.value == result.value else f"; {worst.strategy} {quality(lowest)}"
    return f"{head}{tail}."
