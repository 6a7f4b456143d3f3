"""The first line of every output: one sentence about an advice, in one template set."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from ..model.advice import TODAY, Advice, Price, Ranked, Verdict
from ..text.wording import count, dollars, listed, per_run, percent
from .certainty import FEWEST

Economy = Literal["cached", "uncached", "tokens"]
Answers = Literal["savings", "stored", "judged", "routed"]

NOISE = 0.001
"""A ratio that is nearer to 1 than this is no saving."""
_ECONOMY = {"cached": "with the provider's cache", "uncached": "without a cache", "tokens": ""}
_LOSES: dict[Verdict, tuple[str, str]] = {
    "invalid": ("is invalid", "are invalid"),
    "unfaithful": ("is unfaithful", "are unfaithful"),
    "loses too much": ("loses too much", "lose too much"),
}
_QUALITY = {
    "loss.leaf_recall.stored": "{name} stores {share} of the values",
    "loss.fact_recall.stored": "{name} stores {share} of the facts",
    "probes.recall": "{name} answers {share} of the questions",
    "findings.agreement": "{name} leads to the same judgement for {share} of the results",
    "routing.accuracy": "{name} takes the expected route in {share} of the decisions",
    "routing.selection_top1": "{name} ranks the expected script first for {share} of the requests",
}


def sentence_of(advice: Advice, answers: Answers, assumed: bool, asks: str = "") -> str:
    """The sentence. `assumed`: the shares of the provider's cache are not recorded.

    Where the question is about a strategy (`asks`) that the sentence does not name, it begins with
    the answer.
    """
    by_name = {item.strategy: item for item in advice.ranked}
    best, about = by_name.get(advice.advised or ""), by_name.get(asks)
    savings = _keep(advice, assumed) if best is None else _ship(advice, best, assumed)
    sentence = savings if answers == "savings" else _of_quality(advice, answers)
    if about is None or re.search(rf"(?<![\w-]){re.escape(asks)}(?![\w-])", sentence):
        return sentence
    return f"{_answer(about)} {sentence}"


def _answer(item: Ranked) -> str:
    """The answer to a question about one strategy."""
    name = item.strategy
    if item.verdict in _LOSES:
        return f"No: {name} {_LOSES[item.verdict][0]}."
    if "inactive" in item.marks:
        return f"No: {name} changed nothing."
    if item.verdict == "no saving":
        return f"No: {name} does not cost less."
    unsure = item.verdict == "not certain"
    return f"Not certain: {name} may cost less." if unsure else f"Yes: {name} is within all limits."


def price_of(item: Ranked, economy: str) -> Price | None:
    """The price of a ranked strategy in an economy."""
    return item.uncached if economy == "uncached" else item.cached


def is_saving(price: Price) -> bool:
    """True if a price is lower than today's by more than noise, certain or not."""
    return price.ratio is not None and price.ratio < 1 - NOISE


def money(price: Price, today: Price | None = None) -> str:
    """The price of a run; that of 1,000 runs where a run costs less than 10 cents `today`.

    >>> money(Price(unit="usd", per_run=0.25)), money(Price(unit="usd", per_run=0.0042))
    ('$0.25 a run', '$4.20 per 1,000 runs')
    >>> money(Price(unit="tokens", per_run=18250.4))
    '18,250 tokens a run'
    """
    if price.unit == "tokens":
        return f"{count(round(price.per_run))} tokens a run"
    runs, words = per_run((today or price).per_run)
    return f"{dollars(price.per_run * runs)} {words}"


def change(price: Price) -> str:
    """The change against today in words.

    >>> change(Price(unit="usd", per_run=1, ratio=0.64)), change(Price(unit="usd", per_run=1, ratio=1.03))
    ('36% less', '3% more')
    """
    ratio = 1.0 if price.ratio is None else price.ratio
    return (
        "as much"
        if abs(ratio - 1) < NOISE
        else f"{percent(abs(1 - ratio))} {'less' if ratio < 1 else 'more'}"
    )


def _ship(advice: Advice, best: Ranked, assumed: bool) -> str:
    """The sentence that advises a strategy, with its price."""
    price = price_of(best, advice.basis)
    if price is None or price.ratio is None:
        return f"Ship {best.strategy}: what runs today is not valid."
    how = _economy(advice, assumed)
    prices = {item.strategy: price_of(item, advice.basis) for item in advice.ranked}
    cost = f"a run costs {change(price)} ({money(price, prices.get(TODAY))}{how})"
    certain = f"certain on {advice.tasks} {_unit(advice)}{_missed(best)}"
    return f"Ship {best.strategy}: {cost}, {certain}.{_other(advice, best)}"


def _missed(best: Ranked) -> str:
    """The clause on the turns that would have missed something; "" where no turn was asked."""
    if best.missed_turns is None:
        return ""
    share = f"{percent(best.missed_turns)} of turns would have missed something they used"
    return f"; {share if best.missed_turns else 'no turn would have missed anything it used'}"


def _keep(advice: Advice, assumed: bool) -> str:
    """The sentence that advises none, with the reason: what runs today, or why nothing is better."""
    others = [item for item in advice.ranked if item.strategy != TODAY]
    if any(item.verdict == "invalid" for item in advice.ranked if item.strategy == TODAY):
        none = f"None of the {len(others)} strategies can be used, and what" if others else "What"
        return f"{none} runs today is not valid."
    if not others:
        return "Keep what runs today: nothing was tried."
    asked = [item for item in others if item.verdict in ("not certain", *_LOSES)]
    prices = {item.strategy: price_of(item, advice.basis) for item in asked}
    cheaper = [item for item in asked if (price := prices[item.strategy]) and is_saving(price)]
    why = _why_not_cheaper(advice, cheaper, assumed) if cheaper else _why_no_saving(advice, others)
    return f"Keep what runs today: {why}"


def _why_not_cheaper(advice: Advice, cheaper: Sequence[Ranked], assumed: bool) -> str:
    """The reason against cheaper strategies: one is not certain, or all are refused."""
    unsure = next((item for item in cheaper if item.verdict == "not certain"), None)
    price = None if unsure is None else price_of(unsure, advice.basis)
    if unsure is None or price is None:
        return f"{_all_refused(cheaper)}.{_other(advice, _dearer(advice.ranked))}"
    cost = f"{unsure.strategy} costs {change(price)}{_economy(advice, False)}"
    return f"{cost}, but {_why_unsure(advice, unsure, assumed)}.{_other(advice, unsure)}"


def _why_no_saving(advice: Advice, others: Sequence[Ranked]) -> str:
    """The reason where no strategy costs less: none changed anything, or all cost as much."""
    acting = [item for item in others if "inactive" not in item.marks]
    if not acting:
        return "no strategy changed anything."
    if all(item.verdict == "invalid" for item in acting):
        return "no strategy is valid."
    return f"no strategy costs less{_economy(advice, False)}.{_other(advice, _dearer(acting))}"


def _dearer(items: Iterable[Ranked]) -> Ranked | None:
    """The first strategy that changes something and does not cost less."""
    acting = (item for item in items if "inactive" not in item.marks)
    return next((item for item in acting if item.verdict == "no saving"), None)


def _all_refused(cheaper: Sequence[Ranked]) -> str:
    """The clause on cheaper strategies of which each is refused."""
    counts = Counter(item.verdict for item in cheaper)
    first = _LOSES[cheaper[0].verdict]
    if len(cheaper) == 1:
        return f"the only cheaper strategy, {cheaper[0].strategy}, {first[0]}"
    if len(counts) == 1:
        return f"{'both' if len(cheaper) == 2 else f'all {len(cheaper)}'} cheaper strategies {first[1]}"
    parts = [f"{many} {_LOSES[verdict][many > 1]}" for verdict, many in sorted(counts.items())]
    return f"of {len(cheaper)} cheaper strategies, {listed(parts)}"


def _why_unsure(advice: Advice, item: Ranked, assumed: bool) -> str:
    """The clause on why a saving is not certain."""
    if "not checked" in item.marks and all(rule.passed for rule in item.rules):
        return "some of its texts could not be checked"
    if advice.tasks < FEWEST:
        few = "is too few" if advice.tasks == 1 else "are too few"
        return f"{advice.tasks} {_unit(advice)} {few} to be certain ({FEWEST} are needed)"
    own = price_of(item, advice.basis)
    if assumed and own is not None and own.certain:
        return "that is certain only in one of the two, with or without a cache, and the cache is assumed"
    return f"that is not certain on {advice.tasks} {_unit(advice)}"


def _economy(advice: Advice, assumed: bool) -> str:
    """The words for the price that decides, with a blank before them."""
    if assumed and advice.basis == "cached":
        return " with an assumed cache"
    known = _ECONOMY.get(advice.basis, "")
    return f" {known}" if known else ""


def _other(advice: Advice, item: Ranked | None) -> str:
    """A second sentence where the other economy says the opposite."""
    other = "uncached" if advice.basis == "cached" else "cached"
    price = None if item is None or advice.basis == "tokens" else price_of(item, other)
    if not advice.disagree or price is None or item is None:
        return ""
    return f" {_ECONOMY[other].capitalize()} {item.strategy} costs {change(price)}."


def _unit(advice: Advice) -> str:
    word = "task" if advice.tasks != advice.runs else "run"
    return word if advice.tasks == 1 else f"{word}s"


def _of_quality(advice: Advice, answers: str) -> str:
    """The sentence where no strategy shapes prompts: the best one, then the worst."""
    parts = []
    for item in advice.ranked:
        rule = next(
            (rule for rule in item.rules if rule.rule == answers and rule.value is not None), None
        )
        if rule is not None and item.strategy != TODAY and rule.value is not None:
            parts.append(
                (
                    item,
                    rule.value,
                    _QUALITY[rule.metric].format(name=item.strategy, share=percent(rule.value)),
                )
            )
    if not parts:
        return "Nothing that these strategies fill could be measured."
    parts.sort(key=lambda one: (-one[1], one[0].strategy))
    passed = [one for one in parts if one[0].verdict == "ship"]
    best = next((one for one in passed if one[0].strategy == advice.advised), (passed or parts)[0])
    head = f"{best[2]}" if passed else f"Keep what runs today: {best[2]}, which is too little"
    worst = parts[-1]
    return f"{head}{'' if worst is best or worst[1] == best[1] else f'; {worst[2]}'}."
