"""The reasons of verdicts in words: what a rule measured, what it refuses, what is not certain."""

from __future__ import annotations

from msgspec.structs import replace

from ..model.advice import Advice, Ranked, RuleResult
from ..model.scores import Rule
from ..text.wording import count, counted, percent, quoted, shortened
from .certainty import EQUAL, FEWEST
from .rules import GAINS, asked_by, is_sure
from .wording import costs, sample

_NOTHING_MISSED = "nothing that a turn used would be missing"
_LOSSES: dict[Rule, str] = {"needed": "missed turns", "far": "old facts"}
"""The short names of what a strategy may lose of the prompts."""

_TEXT_CHARS, _ERROR_CHARS = 60, 200
"""The most characters to quote of a text, and of an error, whose reader has to know what to
repair."""
_POINTS = 0.005
"""A share of all things that differs this much from the mean over tasks is not stated."""


# ---------------------------------------------------------------- one rule


def figure_in_words(result: RuleResult) -> str:
    """The figure of a rule on a share in words.

    >>> figure_in_words(RuleResult(rule="stored", passed=True, value=0.5, metric="probes.recall"))
    'answers 50% of the questions'
    """
    if result.rule == "needed" and result.value == 0:
        return _NOTHING_MISSED
    words = asked_by(result).figures.get(result.metric, "{}")  # a file may have any metric
    return words.format(percent(result.value))


def basis_in_words(result: RuleResult, advice: Advice) -> str:
    """What a share is of in all runs: "6 of 204 turns", or what the mean is over where that is
    another share; "" where it is not known."""
    things, hits = asked_by(result).things, result.hits or 0.0
    if not (things and result.of):
        return ""
    differs = abs(hits / result.of - (result.value or 0.0)) >= _POINTS
    if differs or abs(hits - round(hits)) > 1e-6:
        tasks = sample(advice, result.tasks or advice.tasks)
        return f"mean over {tasks}, {count(result.of)} {things}"
    return f"{count(round(hits))} of {count(result.of)} {things}"


def interval_in_words(result: RuleResult) -> str:
    """The 95 % interval of a share in words, "" without one."""
    return "95% interval {} to {}".format(*map(percent, result.interval)) if result.interval else ""


def limit_in_words(result: RuleResult) -> str:
    """The limit of a rule in words.

    >>> limit_in_words(RuleResult(rule="far", passed=True, limit=0.9)), limit_in_words(RuleResult(rule="valid", passed=True, limit=0))
    ('at least 90%', '0')
    """
    asked = asked_by(result)
    if asked.noun or not asked.figures:
        return count(result.limit) if asked.noun else percent(result.limit)
    return f"at {'least' if asked.better == 'higher' else 'most'} {percent(result.limit)}"


def rule_failed(result: RuleResult) -> str:
    """The reason of a refusal in a few words, with the first text that failed. Of a share it says
    where the refusal is certain.

    >>> rule_failed(RuleResult(rule="needed", passed=False, value=0.0503, limit=0.05, metric="needed.missed_turn_rate"))
    '5.030% of turns miss something, above 5%'
    >>> old = RuleResult(rule="far", passed=False, value=.88, limit=.9, metric="needed.recall.far", tasks=8)
    >>> rule_failed(replace(old, interval=(.86, .89))), rule_failed(replace(old, interval=(.8, .96)))
    ('88% of old facts are kept, certainly below 90%', '88% of old facts are kept, below 90%')
    """
    asked, limit = asked_by(result), percent(result.limit)
    if asked.noun:
        if result.rule == "ran" and not result.findings:
            first = "the first on" if (result.value or 0) > 1 else "on"
            return f"{counted(result.value or 0, 'gate')} failed, {first} `{result.metric}`"
        of = asked.refusal.format(count(result.of))
        return f"{counted(result.value or 0, asked.noun)} {of}{_example(result)}"
    if asked.refusal:
        return f"{percent(result.value)} {asked.refusal}{_example(result)}"
    if result.value is None:
        why = "; ".join(item.text for item in result.findings) or "no reason is known"
        return f"{asked.measure} not measured ({why})"
    value = percent(result.value)
    if value == limit:  # as far as it was rounded
        value = f"{result.value:.3%}"
    return f"{asked.figures.get(result.metric, '{}').format(value)}, {_beyond(result)}"


def _beyond(result: RuleResult) -> str:
    """The limit that a share is beyond in words: "certainly below today's 100%"."""
    beyond = "above" if (result.value or 0) > (result.limit or 0) else "below"
    todays = "today's " if asked_by(result).slot else ""
    return f"{'certainly ' if is_sure(result) else ''}{beyond} {todays}{percent(result.limit)}"


def _example(result: RuleResult) -> str:
    """A clause with the first text that a rule found; "" without one."""
    most = _ERROR_CHARS if result.rule in ("ran", "valid") else _TEXT_CHARS
    for item in result.findings:
        if text := item.text.partition(" — ")[0]:
            words = asked_by(result).example
            place = f"step {item.step}" if item.step is not None and item.step >= 0 else ""
            where = ", ".join(filter(None, [shortened(item.run, _TEXT_CHARS), place]))
            example = words.format(quoted(text, most), quoted(item.was, most))
            return f", {example}{where and f' ({where})'}"
    return ""


# ---------------------------------------------------------------- losses


def is_best(result: RuleResult) -> bool:
    """True if a share has the best value there is: nothing is lost, all is right."""
    return result.value == (0 if asked_by(result).better == "lower" else 1)


def is_doubtful(result: RuleResult) -> bool:
    """True if a share that is within its limit may be beyond it on other tasks."""
    low, high = result.interval or (0.0, 0.0)
    limit, is_lower = result.limit or 0.0, asked_by(result).better == "lower"
    return result.interval is not None and (high > limit if is_lower else low < limit)


def behind_in_words(item: Ranked, result: RuleResult, advice: Advice) -> str:
    """What stands behind a share: of how many it is, its limit (or today's value), its interval."""
    limit = f"limit {percent(result.limit)}"
    if asked_by(result).slot:
        is_same = result.value == result.limit
        limit = "as today" if is_same else f"today {percent(result.limit)}"
    limit = "" if result.limit is None or is_unknown_today(item) else limit
    interval = "" if is_best(result) else interval_in_words(result)
    return "; ".join(filter(None, [basis_in_words(result, advice), limit, interval]))


def is_unknown_today(item: Ranked) -> bool:
    """True if a strategy can only be compared with others, since today's figure is not known."""
    return any(rule.rule == "better" and rule.findings for rule in item.rules)


def figure_and_basis(item: Ranked, result: RuleResult, advice: Advice) -> str:
    """The figure of a rule on a share in words, with what stands behind it."""
    about = behind_in_words(item, result, advice)
    return figure_in_words(result) + (f" ({about})" if about else "")


def losses_in_words(item: Ranked, advice: Advice) -> str:
    """What the prompts of a strategy would miss, and what would have to be fetched; "" if that was
    not measured."""
    words = [
        figure_in_words(it) if is_best(it) else figure_and_basis(item, it, advice)
        for it in item.rules
        if it.rule == "needed" or (it.rule == "far" and not is_best(it))
        if it.value is not None
    ]
    needed, fetched = item.result("needed"), ""
    if words and item.handle_turns:
        of = f" of {count(needed.of)}" if needed and needed.of else ""
        turns = f"{count(item.handle_turns)}{of} turns"
        fetched = f", but {turns} would first fetch some of it by a handle"
    return ", and ".join(words) + fetched


# ---------------------------------------------------------------- one strategy


def verdict_in_words(item: Ranked) -> str:
    """The verdict of a strategy, with "perhaps" where more runs could decide otherwise."""
    return f"perhaps {item.verdict}" if _is_open(item) else item.verdict


def _is_open(item: Ranked) -> bool:
    """True if rules refuse a strategy, and none of them certainly."""
    refusals = [rule for rule in item.rules if not rule.passed and rule.rule not in GAINS]
    return bool(refusals) and not any(map(is_sure, refusals)) and refusals[0].value is not None


def refusal_in_words(item: Ranked, rule: RuleResult) -> str:
    """What a strategy does that a rule refuses, and why; and if more runs could decide otherwise."""
    verdict = verdict_in_words(item)
    does = f"is {verdict}" if verdict in ("invalid", "unfaithful") else verdict
    return f"{does}: {rule_failed(rule)}{'; more runs could decide' if _is_open(item) else ''}"


def reason_of(item: Ranked, advice: Advice) -> str:
    """The reason of a strategy's verdict; of one that may be shipped what of its losses is not
    certain, and why it is not advised."""
    if "inactive" in item.marks:
        return "changed nothing"
    failed = [rule for rule in item.rules if not rule.passed]
    if failed and failed[0].rule == "ran" and failed[0].findings:
        return rule_failed(failed[0])  # the others are of the runs that did not fail
    if refusals := [rule for rule in failed if rule.rule not in GAINS]:
        losses = {it.rule: f"{_LOSSES[it.rule]} {_beyond(it)}" for it in refusals if _is_loss(it)}
        return "; ".join(losses.get(it.rule) or rule_failed(it) for it in refusals)
    if failed:
        return _no_gain(item, failed[0], advice)
    if item.marks:
        words = f" ({item.unchecked_text})" if item.unchecked_text else ""
        return f"some texts could not be checked, so what they lose is unknown{words}"
    if item.verdict != "ship":
        return ""
    doubtful = [it for it in item.rules if _is_loss(it) and is_doubtful(it)]
    doubts = [f"{_LOSSES[it.rule]}: {interval_in_words(it)}" for it in doubtful]
    return "; ".join(filter(None, [_beside(item, advice), *doubts]))


def _is_loss(result: RuleResult) -> bool:
    """True for a share whose value stands beside the reason, in a column of its own."""
    return result.rule in _LOSSES and result.value is not None


def _no_gain(item: Ranked, last: RuleResult, advice: Advice) -> str:
    """Why it is not certain that a strategy gains anything, by the result of the last rule."""
    price = item.price
    if last.rule == "cheaper" and price is not None and price.ratio is not None and not price.saves:
        return "is no better than today" if advice.answers != "savings" else costs(price)
    if last.findings:
        return last.findings[0].text
    if advice.tasks < FEWEST:
        return f"at least {sample(advice, FEWEST)} are needed"
    if last.value is None:
        few = f"measured on fewer than {sample(advice, FEWEST)}"
        return few if last.rule == "better" else "not priced"
    if last.rule == "better" and last.value <= 0:
        return "may be no better than today"
    if price is not None and price.certain:  # the rule also asks without the cache
        there = costs(item.uncached) if item.uncached else "not priced"
        return f"that is not certain without a cache, where it {there}"
    if last.rule == "cheaper" and last.value > 1:
        return (
            f"perhaps {costs(replace(price, ratio=last.value)) if price else 'more'} on other runs"
        )
    return f"that may be chance, as {count(len(advice.tried))} were tried"


def _beside(item: Ranked, advice: Advice) -> str:
    """The reason to prefer the advised strategy to another one that may be shipped."""
    best = advice.item(advice.advised) or item
    own, least = item.price, best.price
    if item is best or advice.answers != "savings":
        return ""
    if not (own and least and own.ratio and least.ratio):
        return ""
    if own.ratio > least.ratio + EQUAL:
        return "saves less"
    misses_more = (item.missed_turns or 0) > (best.missed_turns or 0)
    return f"saves about as much, and {'misses more' if misses_more else 'is no simpler'}"
