"""The reasons of verdicts in words."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.advice import Advice, Ranked, RuleResult
from ..text.wording import count, counted, percent, quoted
from .certainty import EQUAL, FEWEST
from .rules import GAINS, asked_by
from .wording import change, less_or_more, sample

FIGURES = {
    "loss.leaf_recall.stored": ("keeps {} of the fields in the store", "result"),
    "loss.fact_recall.stored": ("keeps {} of the facts in the store", "result"),
    "probes.recall": ("answers {} of the questions", "question"),
    "findings.agreement": ("judges {} of the results as if they were stored untruncated", "result"),
    "routing.accuracy": ("takes the expected route in {} of the decisions", "decision"),
    "routing.selection_top1": ("finds the expected script first for {} of the requests", "request"),
    "routing.unreset_states": ("leaves the task's state uncleared in {} replies a run", ""),
}
"""The words for the figures of stores, evaluators, routers and consumers, after a strategy's name, and
what a share is of."""


def rule_failed(result: RuleResult, *, quoting: bool = True) -> str:
    """The reason of a refusal in a few words; if `quoting`, with the first text that failed.

    >>> rule_failed(RuleResult(rule="needed", passed=False, value=0.148, limit=0.05))
    'missed turns 14.8%, above 5%'
    >>> rule_failed(RuleResult(rule="needed", passed=False, value=0.0503, limit=0.05))
    'missed turns 5.030%, above 5%'
    >>> rule_failed(RuleResult(rule="stored", passed=False, value=0.249, limit=1, metric="probes.recall"))
    "answers 24.9% of the questions, below today's 100%"
    >>> rule_failed(RuleResult(rule="routed", passed=False, value=2, limit=0, metric="routing.unreset_states"))
    "leaves the task's state uncleared in 2 replies a run, above today's 0"
    >>> rule_failed(RuleResult(rule="changed", passed=False, value=3))
    '3 values changed'
    >>> rule_failed(RuleResult(rule="ran", passed=False, value=1))
    '1 gate failed'
    >>> from bench.model.scores import Finding
    >>> rule_failed(RuleResult(rule="hidden", passed=False, value=2, findings=(Finding(4, "Success"),)))
    '2 errors hidden, shown as "Success"'
    """
    words = asked_by(result)
    value, limit = (amount(result, size) for size in (result.value, result.limit))
    texts = (item.text.partition(" — ")[0] for item in result.findings)
    text = next(filter(str.strip, texts), "")
    example = f", {words.example} {quoted(text)}" if text and quoting else ""
    if words.noun:
        return f"{_counted(result)} {words.refusal}{example}"
    if words.refusal:
        return f"{value} {words.refusal}{example}"
    if result.value is None:
        why = "; ".join(item.text for item in result.findings) or "not measured"
        return f"{words.measure}: {why}"
    if value == limit:  # as far as it was rounded
        value = f"{result.value:.3%}"
    shown = figure_in_words(result) if result.metric in FIGURES else f"{words.measure} {value}"
    beyond = "above" if (result.value or 0) > (result.limit or 0) else "below"
    todays = "today's " if words.slot else ""
    return f"{shown}, {beyond} {todays}{limit}"


def figure_in_words(result: RuleResult) -> str:
    """The figure of a store, an evaluator, routers or a consumer in words.

    >>> figure_in_words(RuleResult(rule="routed", passed=False, value=0.5, metric="routing.unreset_states"))
    "leaves the task's state uncleared in 0.5 replies a run"
    """
    words, _ = FIGURES[result.metric]
    return words.format(amount(result, result.value))


def basis_in_words(result: RuleResult, advice: Advice) -> str:
    """The number of decisions (or results, requests) behind a share in all runs; with the
    number that is right, where that is the same share as the mean over tasks. "" for no share.

    >>> advice = Advice(advised=None, sentence="", basis="quality", tasks=2, runs=2)
    >>> result = RuleResult(rule="routed", passed=True, value=0.5, hits=7, of=12, metric="routing.accuracy")
    >>> basis_in_words(result, advice)
    'mean over runs, 12 decisions'
    """
    words, noun = FIGURES[result.metric]
    if not noun:
        return ""
    hits, many = result.hits or 0.0, result.of or 0.0
    is_pooled = many and percent(hits / many) == percent(result.value)
    if is_pooled and abs(hits - round(hits)) < 1e-6:
        return f"{count(round(hits))} of {count(many)}{'' if noun in words else f' {noun}s'}"
    return f"mean over {sample(advice).partition(' ')[2]}, {counted(many, noun)}"


def value_of_failed(rules: Sequence[RuleResult]) -> str:
    """The value of the first rule that refuses, in words; "" if none does.

    >>> value_of_failed([RuleResult(rule="needed", passed=False, value=0.148, limit=0.05)])
    '14.8%'
    >>> value_of_failed([RuleResult(rule="changed", passed=False, value=1)]), value_of_failed([])
    ('1 value', '')
    """
    failed = next((rule for rule in rules if not rule.passed), None)
    if failed is None:
        return ""
    return _counted(failed) if asked_by(failed).noun else amount(failed, failed.value)


def _counted(result: RuleResult) -> str:
    """The findings of a rule that counts: "3 values". A failed run has a finding, else it is a
    gate."""
    noun = "gate" if result.rule == "ran" and not result.findings else asked_by(result).noun
    return counted(result.value or 0, noun)


def limit_in_words(result: RuleResult) -> str:
    """The limit of a rule in words.

    >>> limit_in_words(RuleResult(rule="far", passed=True, limit=0.9)), limit_in_words(RuleResult(rule="valid", passed=True, limit=0))
    ('at least 90%', '0')
    """
    asked = asked_by(result)
    if asked.noun:
        return count(result.limit)
    is_least = bool(asked.metrics) and asked.better == "higher"
    if is_least and not result.limit:
        return "no limit"  # today's value is not known
    return f"{'at least ' if is_least else ''}{amount(result, result.limit)}"


def amount(result: RuleResult, value: float | None) -> str:
    """A value of a rule in words: a share, or a number of replies."""
    return count(value) if result.metric == "routing.unreset_states" else percent(value)


def reason_of(item: Ranked, advice: Advice) -> str:
    """The reason of a strategy's verdict; "" for what runs today, and for the strategy to ship
    unless another one costs as little."""
    if "inactive" in item.marks:
        return "changed nothing"
    failed = [rule for rule in item.rules if not rule.passed]
    if failed and failed[0].rule == "ran" and failed[0].findings:
        return rule_failed(failed[0])  # the others are of the runs that did not fail
    if refusals := [rule_failed(rule) for rule in failed if rule.rule not in GAINS]:
        return "; ".join(refusals)
    if not failed:
        words = f": {item.unchecked_text}" if item.unchecked_text else ""
        return f"not checked{words}" if "not checked" in item.marks else _beside(item, advice)
    last, price = failed[0], item.price(advice.basis)
    if last.rule == "cheaper" and price is not None and price.ratio is not None and not price.saves:
        costs = f"costs {less_or_more(price)}"
        return f"is no better than today, and {costs}" if advice.basis == "quality" else costs
    if last.findings:
        return last.findings[0].text
    if advice.tasks < FEWEST:
        return f"needs {sample(advice, FEWEST)}"
    if last.value is None:
        few = f"measured on fewer than {sample(advice, FEWEST)}"
        return few if last.rule == "better" else "not priced"
    if last.rule == "better" and last.value <= 0:
        return "may be no better than today"
    if last.rule == "cheaper" and last.value > 1:
        more = change(last.value).lstrip("+")
        return "may cost as much" if more == "≈0%" else f"may cost up to {more} more"
    return f"may just be the luckiest of {count(len(advice.ranked) - 1)} tried"


def _beside(item: Ranked, advice: Advice) -> str:
    """The place of a strategy among all that may be shipped: "" for a single one."""
    if advice.basis == "quality":
        others = item.verdict == "ship" and item.strategy != advice.advised
        return "also acceptable" if others else ""
    prices = [
        (other, price.ratio)
        for other in advice.ranked
        if other.verdict == "ship" and (price := other.price(advice.basis)) and price.ratio
    ]
    least = next((ratio for other, ratio in prices if other.strategy == advice.advised), None)
    if item.verdict != "ship" or least is None:
        return ""
    cheap = [other for other, ratio in prices if ratio <= least + EQUAL]
    if item.strategy != advice.advised:
        own = next((ratio for other, ratio in prices if other is item), least)
        if own < least - EQUAL:
            return "also acceptable, misses more; its larger saving may be luck"
        return f"also acceptable, {'equally cheap' if item in cheap else 'saves less'}"
    if len(cheap) < 2:
        return ""
    best = "simplest" if len({other.missed_turns for other in cheap}) == 1 else "safest"
    return f"the {best} of the {count(len(cheap))} cheapest"
