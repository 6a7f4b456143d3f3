"""The reasons of verdicts in words: what a rule measured, what it refuses, what is not certain.
`sentence` and the reports put them together."""

from __future__ import annotations

from msgspec.structs import replace

from ..model.advice import REFUSED, Advice, Ranked, RuleResult
from ..model.scores import Rule
from ..text.wording import at_difference, count, counted, percent, quoted, shortened
from .certainty import EQUAL, FEWEST
from .rules import GAINS, entry_of, is_certain
from .wording import costs, sample, tries_of

_NOTHING_MISSED = "nothing that a turn used would be missing"
_LOSSES: dict[Rule, str] = {"needed": "missed turns", "far": "old facts"}
"""The rules about what the prompts lose, with the short name of the loss."""

_TEXT_CHARS, _ERROR_CHARS = 60, 200
"""The most characters to quote of a text, and of an error, which must say what to repair."""
_DIFFERENCE = 0.005
"""If a share of all things differs this much from the mean over tasks, the mean is stated."""


# ---------------------------------------------------------------- one rule


def figure_in_words(result: RuleResult) -> str:
    """The figure of a rule on a share, in words.

    >>> figure_in_words(RuleResult(rule="stored", passed=True, value=0.5, metric="probes.recall"))
    'answers 50% of the questions'
    """
    if result.rule == "needed" and result.value == 0:
        return _NOTHING_MISSED
    words = entry_of(result).figures.get(result.metric, "{}")  # a file may have any metric
    return words.format(percent(result.value))


def basis_in_words(result: RuleResult, advice: Advice) -> str:
    """The counts behind a share, "6 of 204 turns", or what its mean is over, if that is not the
    share of all things; "" if they are not known."""
    things, hits = entry_of(result).things, result.hits or 0.0
    if not (things and result.of):
        return ""
    differs = abs(hits / result.of - (result.value or 0.0)) >= _DIFFERENCE
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
    entry = entry_of(result)
    if entry.noun or not entry.figures:
        return count(result.limit) if entry.noun else percent(result.limit)
    return f"at {'least' if entry.better == 'higher' else 'most'} {percent(result.limit)}"


def rule_failed(result: RuleResult) -> str:
    """The reason of a refusal in a few words, with the first text that failed; for a share it says
    if the refusal is certain.

    >>> rule_failed(RuleResult(rule="needed", passed=False, value=0.0503, limit=0.05, metric="needed.missed_turn_rate"))
    '5.030% of turns miss something, above 5%'
    >>> old = RuleResult(rule="far", passed=False, value=.88, limit=.9, metric="needed.recall.far", tasks=8)
    >>> rule_failed(replace(old, interval=(.86, .89))), rule_failed(replace(old, interval=(.8, .96)))
    ('88% of old facts are kept, certainly below 90%', '88% of old facts are kept, below 90%')
    """
    entry, limit = entry_of(result), percent(result.limit)
    if entry.noun:
        if result.rule == "ran" and not result.findings:
            first = "the first on" if (result.value or 0) > 1 else "on"
            return f"{counted(result.value or 0, 'gate')} failed, {first} `{result.metric}`"
        of = entry.refusal.format(count(result.of))
        return f"{counted(result.value or 0, entry.noun)} {of}{example_in_words(result)}"
    if entry.refusal:
        return f"{percent(result.value)} {entry.refusal}{example_in_words(result)}"
    if result.value is None:
        why = "; ".join(item.text for item in result.findings) or "no reason is known"
        return f"{entry.measure} were not measured ({why})"
    value = percent(result.value)
    if value == limit:  # when rounded
        value = f"{result.value:.3%}"
    return f"{entry.figures.get(result.metric, '{}').format(value)}, {_beyond(result)}"


def _beyond(result: RuleResult) -> str:
    """The limit that a share is beyond, in words: "certainly below today's 100%"."""
    certainly = "certainly " if is_certain(result) else ""
    side = "above" if (result.value or 0) > (result.limit or 0) else "below"
    todays = "today's " if entry_of(result).slot else ""
    return f"{certainly}{side} {todays}{percent(result.limit)}"


def example_in_words(result: RuleResult) -> str:
    """A clause with the first text that a rule found; "" without one. What to do against an error
    of user code is last."""
    most = _ERROR_CHARS if result.rule in ("ran", "valid") else _TEXT_CHARS
    found = next((it for it in result.findings if it.text), next(iter(result.findings), None))
    if found is None or not (found.text or found.was):
        return ""
    text, dash, hint = found.text.partition(" — ")
    advice = f"{dash}{shortened(hint, most)}" if result.rule == "ran" else ""
    example = entry_of(result).example.format(
        *(quoted(one, most) for one in at_difference(text, found.was, most))
    )
    step = f"step {found.step}" if found.step is not None and found.step >= 0 else ""
    place = ", ".join(filter(None, [shortened(found.run, _TEXT_CHARS), step]))
    return f", {example} ({place}){advice}" if place else f", {example}{advice}"


# ---------------------------------------------------------------- losses


def is_best(result: RuleResult) -> bool:
    """True if a share has the best possible value: nothing is lost, or all is right."""
    return result.value == (0 if entry_of(result).better == "lower" else 1)


def details_in_words(item: Ranked, result: RuleResult, advice: Advice) -> str:
    """The details of a share: its counts, its limit (or today's value), its interval."""
    limit = f"limit {percent(result.limit)}"
    if entry_of(result).slot:
        is_same = result.value == result.limit
        limit = "as today" if is_same else f"today {percent(result.limit)}"
    limit = "" if result.limit is None or is_unknown_today(item) else limit
    interval = "" if is_best(result) else interval_in_words(result)
    return "; ".join(filter(None, [basis_in_words(result, advice), limit, interval]))


def is_unknown_today(item: Ranked) -> bool:
    """True if a strategy can only be compared with others, since today's figure is not known."""
    return any(rule.rule == "better" and rule.findings for rule in item.rules)


def figure_and_basis(item: Ranked, result: RuleResult, advice: Advice) -> str:
    """The figure of a rule on a share in words, with its details in brackets."""
    details = details_in_words(item, result, advice)
    return figure_in_words(result) + (f" ({details})" if details else "")


def losses_in_words(item: Ranked, advice: Advice) -> str:
    """What the prompts of a strategy would miss, and what would have to be fetched; "" if that was
    not measured. That nothing is missing is not known of texts that could not be checked."""
    losses = []
    for rule in filter(_is_loss, item.rules):
        if not is_best(rule):
            losses.append(figure_and_basis(item, rule, advice))
        elif rule.rule == "needed" and not item.marks:
            losses.append(figure_in_words(rule))
    needed, fetched = item.result("needed"), ""
    if losses and item.handle_turns:
        of = f" of {count(needed.of)}" if needed and needed.of else ""
        turns = f"{count(item.handle_turns)}{of} turns"
        fetched = f", but {turns} would first fetch some of it by a handle"
    return ", and ".join(losses) + fetched


# ---------------------------------------------------------------- one strategy


def verdict_in_words(item: Ranked) -> str:
    """The verdict of a strategy, with "perhaps" if more runs could decide otherwise."""
    return f"perhaps {item.verdict}" if _is_open(item) else item.verdict


def _is_open(item: Ranked) -> bool:
    """True if rules refuse a strategy, and none of them certainly."""
    refusals = [rule for rule in item.broken if rule.rule not in GAINS]
    return item.verdict in REFUSED and bool(refusals) and not any(map(is_certain, refusals))


def refusal_in_words(item: Ranked, rule: RuleResult) -> str:
    """Why a rule refuses a strategy, as what follows its name: "loses too much: …"."""
    verdict = verdict_in_words(item)
    does = f"is {verdict}" if verdict in ("invalid", "unfaithful") else verdict
    return f"{does}: {rule_failed(rule)}{'; more runs could decide' if _is_open(item) else ''}"


def reason_of(item: Ranked, advice: Advice) -> str:
    """The reason of a strategy's verdict. For one that may be shipped: why another is advised, and
    which of its losses are not certain."""
    if "inactive" in item.marks:
        return "does the same as today"
    if refusals := [rule for rule in item.broken if rule.rule not in GAINS]:
        return "; ".join(map(_refusal, refusals))
    if item.marks and item.verdict == "not certain":  # whatever more runs decide
        words = f" ({item.unchecked_text})" if item.unchecked_text else ""
        return f"some texts could not be checked, so what they lose is unknown{words}"
    if item.failed:
        return _no_gain(item, item.failed, advice)
    if item.verdict != "ship":
        return ""
    doubts = [
        f"{_LOSSES[rule.rule]}: {interval_in_words(rule)}"
        for rule in item.rules
        if _is_loss(rule) and rule.interval and not is_certain(rule)
    ]
    return "; ".join(filter(None, [_why_not_advised(item, advice), *doubts]))


def _refusal(rule: RuleResult) -> str:
    """The reason of a refusal; a loss, whose value and certainty stand beside it, by its limit."""
    if not _is_loss(rule):
        return rule_failed(rule)
    sign = "<" if entry_of(rule).better == "higher" else ">"
    return f"{_LOSSES[rule.rule]} {sign}{percent(rule.limit)}"


def _is_loss(result: RuleResult) -> bool:
    """True for a measured loss of the prompts; tables show its value in its own column."""
    return result.rule in _LOSSES and result.value is not None


def _no_gain(item: Ranked, last: RuleResult, advice: Advice) -> str:
    """Why it is not certain that a strategy gains anything; `last` is the last rule's result."""
    price = item.price
    if last.rule == "cheaper" and price is not None and price.ratio is not None and not price.saves:
        return "is no better than today" if item.answers != "savings" else costs(price)
    if last.findings:
        return last.findings[0].text
    if advice.tasks < FEWEST:
        return f"at least {sample(advice, FEWEST)} are needed"
    if last.value is None:
        few = f"measured on fewer than {sample(advice, FEWEST)}"
        return few if last.rule == "better" else "not priced"
    if last.rule == "better" and last.value <= 0:
        return "may be no better than today"
    if price is not None and price.certain:  # so the price without the cache is not
        there = costs(item.uncached) if item.uncached else "not priced"
        return f"that is not certain without a cache, where it {there}"
    if last.rule == "cheaper" and last.value > 1:
        worst = costs(replace(price, ratio=last.value)) if price else "more"
        return f"perhaps {worst} on other runs"
    return f"that may be chance, as {count(tries_of(advice))} were tried"


def _why_not_advised(item: Ranked, advice: Advice) -> str:
    """Why the advised strategy is preferred to this one, which may be shipped too."""
    best = advice.item(advice.advised) or item
    price, best_price = item.price, best.price
    if item is best or item.answers != "savings":
        return ""
    if not (price and best_price and price.ratio and best_price.ratio):
        return ""
    more_missed = (item.missed_turns or 0) - (best.missed_turns or 0)
    if price.ratio > best_price.ratio + (EQUAL if more_missed >= 0 else 0):
        return "saves less"
    less = "more, perhaps by chance" if price.ratio < best_price.ratio - EQUAL else "about as much"
    return f"saves {less}, and {'misses more' if more_missed > 0 else 'is no simpler'}"
