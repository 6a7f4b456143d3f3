"""The first line of every output: a sentence about an advice."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from ..model.advice import TODAY, Advice, Ranked, RuleResult, Verdict
from ..model.compared import Answers
from ..text.wording import counted, listed, percent
from .prices import is_saving, price_of
from .reasons import quality, reason_of, rule_failed, unit_of
from .wording import less_or_more, money, price_basis

_ECONOMY = {"cached": " with the provider's cache", "uncached": " without a cache"}
_LOSES: dict[Verdict, tuple[str, str]] = {
    "invalid": ("is invalid", "are invalid"),
    "unfaithful": ("is unfaithful", "are unfaithful"),
    "loses too much": ("loses too much", "lose too much"),
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
    name = item.strategy
    if item.verdict in _LOSES:
        return f"No: {name} {_LOSES[item.verdict][0]}."
    if item.verdict == "no saving":
        return f"No: {name} {item.reason}."
    unsure = item.verdict == "not certain"
    return f"Not certain: {name} may cost less." if unsure else f"Yes: {name} is within all limits."


def _savings(advice: Advice, assumed: bool) -> str:
    """The sentence that advises a strategy, with its price, or says why none is advised."""
    by_name = {item.strategy: item for item in advice.ranked}
    best, today = by_name.get(advice.advised or ""), by_name.get(TODAY)
    if best is None:
        return _keep(advice, assumed)
    price = price_of(best, advice.basis)
    if price is None or price.ratio is None:
        return f"Ship {best.strategy}: what runs today is not valid."
    runs, unit = price_basis((price_of(today, advice.basis) if today else None) or price)
    certain = f"certain on {counted(advice.tasks, unit_of(advice))}{_missed_clause(best)}"
    cost = f"a run costs {less_or_more(price)} ({money(price, runs)} {unit}{_economy(advice, assumed)})"
    return f"Ship {best.strategy}: {cost}, {certain}.{_other_economy(advice, best)}"


def _missed_clause(best: Ranked) -> str:
    """The clause on the turns that would have missed something; "" where none was measured."""
    if best.missed_turns is None:
        return ""
    share = f"{percent(best.missed_turns)} of turns would have missed something they used"
    return f"; {share if best.missed_turns else 'no turn would have missed anything it used'}"


def _keep(advice: Advice, assumed: bool) -> str:
    """The sentence that advises no strategy, with the reason."""
    others = [item for item in advice.ranked if item.strategy != TODAY]
    if any(item.verdict == "invalid" for item in advice.ranked if item.strategy == TODAY):
        return "What runs today is not valid, and no strategy can be used."
    return f"Keep what runs today: {_why_none(advice, others, assumed)}"


def _why_none(advice: Advice, others: Sequence[Ranked], assumed: bool) -> str:
    """The reason against all strategies that were tried."""
    acting = [item for item in others if "inactive" not in item.marks]
    if not acting:
        names = listed([item.strategy for item in others], 3)
        return f"{names} changed nothing." if others else "nothing was tried."
    tried = [item for item in acting if item.verdict != "no saving"]
    cheaper = [it for it in tried if (price := price_of(it, advice.basis)) and is_saving(price)]
    unsure = next((item for item in cheaper if item.verdict == "not certain"), None)
    if unsure is not None:
        return _why_unsure(advice, unsure, assumed)
    other = _cheapest_in_other_economy(advice, acting)
    if cheaper:
        return f"{_all_refused(advice, cheaper)}.{other}"
    if all(item.verdict == "invalid" for item in acting):
        return "no strategy is valid."
    price = price_of(acting[0], advice.basis)
    if len(acting) > 1 or price is None or price.ratio is None:
        return f"no strategy costs less{_economy(advice, False)}.{other}"
    return f"{acting[0].strategy} costs {less_or_more(price)}{_economy(advice, False)}.{other}"


def _why_unsure(advice: Advice, item: Ranked, assumed: bool) -> str:
    """The clauses on a strategy that costs less, but not certainly so."""
    price = price_of(item, advice.basis)
    less = less_or_more(price) if price else "less"
    cost = f"{item.strategy} costs {less}{_economy(advice, False)}"
    other = _other_economy(advice, item)
    if all(rule.passed for rule in item.rules):
        return f"{cost}, but some of its texts could not be checked.{other}"
    if assumed and price is not None and price.certain:
        return f"{cost}, but the cache is assumed, and without it that is not certain.{other}"
    unsure = f"that is not certain on {counted(advice.tasks, unit_of(advice))}"
    return f"{cost}, but {unsure}: it {item.reason}.{other}"


def _all_refused(advice: Advice, cheaper: Sequence[Ranked]) -> str:
    """The clause on cheaper strategies that are all refused, with the saving and the loss of the
    cheapest."""
    prices = [(price, item) for item in cheaper if (price := price_of(item, advice.basis))]
    price, least = min(prices, key=lambda one: (one[0].per_run, one[1].strategy))
    failed = next(rule for rule in least.rules if not rule.passed)
    loss = f"{less_or_more(price)}; {rule_failed(failed, quoting=False)}"
    one, several = _LOSES[least.verdict]
    if len(cheaper) == 1:
        return f"the only cheaper strategy, {least.strategy}, {one} ({loss})"
    counts = Counter(item.verdict for item in cheaper)
    parts = [f"{many} {_LOSES[verdict][many > 1]}" for verdict, many in sorted(counts.items())]
    refused = f"of {len(cheaper)} cheaper strategies, {listed(parts)}"
    if len(counts) == 1:
        every = "both" if len(cheaper) == 2 else f"all {len(cheaper)}"
        refused = f"{every} cheaper strategies {several}"
    return f"{refused} (the cheapest: {loss})"


def _economy(advice: Advice, assumed: bool) -> str:
    """The words for the price that decides, with a blank before them."""
    if assumed and advice.basis == "cached":
        return " with an assumed cache"
    return _ECONOMY.get(advice.basis, "")


def _cheapest_in_other_economy(advice: Advice, items: Sequence[Ranked]) -> str:
    """The second sentence on the strategy that costs least with (or without) the cache; one that a
    rule refuses only where all are refused."""
    ratios = [
        (item.verdict in _LOSES, price.ratio, item.strategy, item)
        for item in items
        if (price := price_of(item, _other(advice))) and price.ratio is not None
    ]
    return _other_economy(advice, min(ratios)[-1]) if ratios else ""


def _other_economy(advice: Advice, item: Ranked) -> str:
    """A second sentence if the price with (or without) the cache says the opposite; else ""."""
    price, here = price_of(item, _other(advice)), price_of(item, advice.basis)
    if price is None or price.ratio is None or here is None or is_saving(price) == is_saving(here):
        return ""
    costs = "may cost" if is_saving(price) and not price.certain else "costs"
    but = f", but {_LOSES[item.verdict][0]}" if item.verdict in _LOSES else ""
    economy = _ECONOMY[_other(advice)].strip().capitalize()
    return f" {economy} {item.strategy} {costs} {less_or_more(price)}{but}."


def _other(advice: Advice) -> str:
    """The economy that does not decide."""
    return "uncached" if advice.basis == "cached" else "cached"


def _of_quality(advice: Advice, answers: str) -> str:
    """The sentence on stores, evaluators or routers: the best strategy, then the worst."""
    measured = []
    for item in advice.ranked:
        known = [rule for rule in item.rules if rule.rule == answers and rule.value is not None]
        if known and item.strategy != TODAY:
            measured.append(_Measured(item, known[0]))
    if not measured:
        return "Nothing that these strategies fill could be measured."
    measured.sort(key=_Measured.rank)
    passed = [one for one in measured if one.item.verdict == "ship"]
    named = [one for one in passed if one.item.strategy == advice.advised]
    best, worst = (named or passed or measured)[0], measured[-1]
    sample = f"on {counted(advice.tasks, unit_of(advice))}"
    head = f"Ship {best.item.strategy}: {sample} it {quality(best.result)}"
    if not passed:
        why = f" ({best.item.reason})" if best.result.passed else ", which is too little"
        head = f"Keep what runs today: {sample} {best.words}{why}"
    tail = "" if worst.result.value == best.result.value else f"; {worst.words}"
    return f"{head}{tail}."


class _Measured(NamedTuple):
    """A strategy with the result of the rule that answers the question."""

    item: Ranked
    result: RuleResult

    @property
    def words(self) -> str:
        return f"{self.item.strategy} {quality(self.result)}"

    def rank(self) -> tuple[bool, float, str]:
        return not self.result.passed, -(self.result.value or 0.0), self.item.strategy
