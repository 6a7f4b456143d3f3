"""The reasons of verdicts in words."""

from __future__ import annotations

from msgspec.structs import replace

from ..model.advice import MAY_LOSE, Advice, Ranked, RuleResult
from ..model.scores import Rule
from ..text.wording import count, counted, percent, quoted
from .certainty import EQUAL, FEWEST
from .rules import GAINS, ROUNDING, asked_by, is_sure, measure_of
from .wording import costs, sample

FIGURES = {
    "needed.missed_turn_rate": ("{} of turns miss something", "turns"),
    "needed.recall.far": ("{} of old facts are kept", "facts"),
    "loss.leaf_recall.stored": ("keeps {} of the fields in the store", "results"),
    "loss.fact_recall.stored": ("keeps {} of the facts in the store", "results"),
    "probes.recall": ("answers {} of the questions", "questions"),
    "findings.agreement": ("changes {} of the evaluator's judgements", "judgements"),
    "routing.accuracy": ("takes the expected route in {} of the decisions", "decisions"),
    "routing.selection_top1": ("finds the right script first for {} of the requests", "requests"),
    "routing.unreset_states": ("leaves the state uncleared after {} of the replies", "replies"),
}
"""The words for the figures of rules on shares, and what a share is of."""

_LOSSES: dict[Rule, str] = {"needed": "missed turns", "far": "old facts"}
"""The short names of what a strategy may lose of the prompts."""
_CHANGES = "findings.agreement"
"""The metric whose complement is stated: the share that changes."""

_NONE = {
    "needed.missed_turn_rate": "nothing that a turn used would be missing",
    "findings.agreement": "changes no judgement of the evaluator",
    "routing.unreset_states": "leaves no state uncleared",
}
"""The words for a figure of 0 where that is best."""


_TEXT_CHARS, _ERROR_CHARS = 60, 200
"""The most characters to quote of a text, and of an error, whose reader has to know what to
repair."""
_POINTS = 0.005
"""A share of all turns that differs this much from the mean over tasks is explained."""


def rule_failed(result: RuleResult, *, quoting: bool = True) -> str:
    """The reason of a refusal in a few words; if `quoting`, with the first text that failed. Of a
    share it says where the refusal is certain.

    >>> rule_failed(RuleResult(rule="needed", passed=False, value=0.0503, limit=0.05, metric="needed.missed_turn_rate"))
    '5.030% of turns miss something, above 5%'
    >>> rule_failed(RuleResult(rule="judged", passed=False, value=.8, limit=1, metric="findings.agreement"))
    "changes 20% of the evaluator's judgements, today none"
    >>> old = RuleResult(rule="far", passed=False, value=.88, limit=.9, metric="needed.recall.far", tasks=8)
    >>> rule_failed(replace(old, interval=(.86, .89))), rule_failed(replace(old, interval=(.8, .96)))
    ('88% of old facts are kept, certainly below 90%', '88% of old facts are kept, below 90%')
    """
    words, result = asked_by(result), as_shown(result)
    value, limit = percent(result.value), percent(result.limit)
    texts = ((item.was, item.text.partition(" — ")[0]) for item in result.findings)
    was, text = next((pair for pair in texts if "".join(pair).strip()), ("", ""))
    most = _ERROR_CHARS if result.rule == "ran" else _TEXT_CHARS
    quotes = quoted(text, most), quoted(was, most)
    example = f", {words.example.format(*quotes)}" if (was or text) and quoting else ""
    if words.noun:
        first = "the first on" if (result.value or 0) > 1 else "on"
        example = f", {first} `{result.metric}`" if result.metric else example  # of a gate
        return f"{_counted(result)} {words.refusal.format(count(result.of))}{example}"
    if words.refusal:
        return f"{value} {words.refusal}{example}"
    if result.value is None:
        why = "; ".join(item.text for item in result.findings) or "no reason is known"
        return f"{measure_of(result)} not measured ({why})"
    if value == limit:  # as far as it was rounded
        value = f"{result.value:.3%}"
    beyond = "above" if (result.value or 0) > (result.limit or 0) else "below"
    todays = "today's " if words.slot and result.limit else ""
    sure = is_sure(result)
    against = f"{'certainly ' if sure else ''}{beyond} {todays}{limit}"
    if result.metric == _CHANGES and not result.limit:
        against = "certainly more than today's none" if sure else "today none"
    return f"{_figure(result)[0].format(value)}, {against}{rest_in_words(result)}"


def refused_by(
    item: Ranked, advice: Advice, *rules: RuleResult, quoting: bool = False, counting: bool = False
) -> str:
    """Why some rules refuse a strategy, if `counting` with what they were measured on; and if more
    runs could decide otherwise."""
    words = [rule_failed(rule, quoting=quoting) for rule in rules]
    if counting:
        on = sample(advice)
        bases = [basis_in_words(as_shown(rule), advice) or f"measured on {on}" for rule in rules]
        bases = [basis if on in basis else f"{basis}; on {on}" for basis in bases]
        words = [f"{text} ({basis})" for text, basis in zip(words, bases, strict=True)]
    if item.verdict == MAY_LOSE:
        words.append("more runs could decide")
    elif advice.tasks < FEWEST and all(is_sure(rule) is None for rule in rules):
        words.append(f"{too_few(advice)} to be sure of that")
    return "; ".join(words)


def as_shown(result: RuleResult) -> RuleResult:
    """The result of a rule as it is stated: of judgements what changes, which is the loss."""
    if result.rule != "judged":
        return result
    low, high = result.interval or (0.0, 0.0)
    return replace(
        result,
        value=None if result.value is None else 1 - result.value,
        limit=1 - (result.limit or 0.0),
        interval=(1 - high, 1 - low) if result.interval else None,
        hits=(result.of or 0.0) - (result.hits or 0.0),
    )


def figure_in_words(result: RuleResult) -> str:
    """The figure of a rule on a share in words.

    >>> figure_in_words(RuleResult(rule="stored", passed=True, value=0.5, metric="probes.recall"))
    'answers 50% of the questions'
    """
    result = as_shown(result)
    if result.value == 0 and result.metric in _NONE:
        return _NONE[result.metric]
    return _figure(result)[0].format(percent(result.value))


def rest_in_words(result: RuleResult) -> str:
    """The clause on the requests whose script is not found first, to follow all that is said of
    the others; "" for none, and for any other figure."""
    value, nearly = result.value or 0.0, result.nearly or 0.0
    parts = {"second or third": nearly - value, "not among the first three": 1 - nearly}
    some = {where: part for where, part in parts.items() if part > ROUNDING}
    words = [f", {where} for {percent(part)}" for where, part in some.items()]
    return "" if result.nearly is None else "".join(words)


def basis_in_words(result: RuleResult, advice: Advice) -> str:
    """The number of turns (or results, requests) behind a share in all runs, and how many of them
    have what it counts; "" where that is not known. The share itself is a mean over tasks."""
    noun = _figure(result)[1]
    hits, of = result.hits or 0.0, f"{count(result.of)} {noun}"
    if not (noun and result.of):
        return ""
    tasks = sample(advice, result.tasks or advice.tasks)
    if abs(hits - round(hits)) > 1e-6:
        return f"mean over {tasks}, {of}"
    differs = abs(hits / result.of - (result.value or 0.0)) >= _POINTS
    return f"{count(round(hits))} of {of}{f'; the {tasks} count equally' if differs else ''}"


def others(advice: Advice) -> str:
    """What was not measured: "other tasks"."""
    return f"other {sample(advice, 2).partition(' ')[2]}"


def too_few(advice: Advice) -> str:
    """The words for fewer tasks than are ever certain: "5 tasks are too few"."""
    return f"{sample(advice)} {'is' if advice.tasks == 1 else 'are'} too few"


def doubt_in_words(result: RuleResult | None, advice: Advice) -> str:
    """What a share may be at worst: "on other tasks the mean is perhaps up to 2%"; "" for one that
    loses nothing, and if all tasks together are too few. Few tasks have old facts: "only 3 of the 9
    tasks have any, too few to tell if others stay above 90%"."""
    if result is None or is_best(result):
        return ""
    is_lower = asked_by(result).better == "lower"
    if 0 < result.tasks < min(FEWEST, advice.tasks):
        have = "has" if result.tasks == 1 else "have"
        stay = f"{'below' if is_lower else 'above'} {percent(result.limit)}"
        few = f"only {result.tasks} of the {sample(advice)} {have} any"
        return f"{few}, too few to tell if others stay {stay}"
    if result.tasks < FEWEST:
        return ""
    if result.interval is None:
        return f"on {others(advice)} not known"
    low, high = result.interval
    words = f"up to {percent(high)}" if is_lower else f"down to {percent(low)}"
    beyond = f", {'above' if is_lower else 'below'} the limit" if is_doubtful(result) else ""
    return f"on {others(advice)} the mean is perhaps {words}{beyond}"


def is_best(result: RuleResult) -> bool:
    """True if a share has the best value there is: nothing is lost, all is right."""
    return result.value == (0 if asked_by(result).better == "lower" else 1)


def is_doubtful(result: RuleResult) -> bool:
    """True if a share that is within its limit may be beyond it on other tasks."""
    is_lower, limit = asked_by(result).better == "lower", result.limit or 0.0
    if result.value is None or is_best(result):
        return False
    low, high = result.interval or (limit, limit)
    return result.tasks < FEWEST or (high > limit if is_lower else low < limit)


def loss_in_words(result: RuleResult, advice: Advice, *, named: bool = True) -> str:
    """What a rule on the prompts says of a loss: the share, if `named`; of how many, the limit, and
    what it may be at worst."""
    limit = "" if result.limit is None else f"limit {percent(result.limit)}"
    doubt = doubt_in_words(result, advice)
    about = "; ".join(filter(None, [basis_in_words(result, advice), limit, doubt]))
    return f"{figure_in_words(result)} ({about})" if named else about


def losses_in_words(item: Ranked, advice: Advice) -> str:
    """What the prompts of a strategy would miss, and what would have to be fetched; "" if that was
    not measured."""
    losses = {it.rule: it for it in item.rules if it.rule in _LOSSES and it.value is not None}
    if "far" in losses and is_best(losses["far"]):
        del losses["far"]
    words = [
        figure_in_words(it) if is_best(it) else loss_in_words(it, advice) for it in losses.values()
    ]
    fetched = handles_in_words(item)
    return ", and ".join(words) + (f", but {fetched}" if words and fetched else "")


def handles_in_words(item: Ranked) -> str:
    """The turns that would have to fetch something by its handle, and that the price has these
    calls; "" for none."""
    turns = next((rule.of for rule in item.rules if rule.rule == "needed" and rule.of), None)
    of = f"{count(item.handle_turns)}{f' of {count(turns)}' if turns else ''} turns"
    price = "tokens count" if item.cached and item.cached.unit == "tokens" else "price counts"
    fetch = f"{of} would have to fetch some of it by a handle (no limit; the {price} these calls)"
    return fetch if item.handle_turns else ""


def interval_in_words(result: RuleResult) -> str:
    """The 95 % interval of a share in words, "" without one."""
    if result.interval is None:
        return ""
    low, high = result.interval
    return f"95% interval {percent(low)} to {percent(high)}"


def _figure(result: RuleResult) -> tuple[str, str]:
    """The words and the noun for the figure of a rule; of a metric without words, which may come
    from a file, only the figure."""
    return FIGURES.get(result.metric, ("{}", ""))


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
    asked, limit = asked_by(result), as_shown(result).limit
    if asked.noun:
        return count(result.limit)
    is_least = asked.better == "higher" and result.metric != _CHANGES
    if (is_least and asked.metrics and not result.limit) or (
        asked.rule == "better" and result.findings
    ):
        return "today's, not recorded"
    if not asked.metrics:
        return percent(result.limit)
    return f"at {'least' if is_least else 'most'} {percent(limit)}"


def reason_of(item: Ranked, advice: Advice) -> str:
    """The reason of a strategy's verdict; of one that may be shipped what of its losses is not
    certain, and why it is not advised."""
    if "inactive" in item.marks:
        return "changed nothing"
    failed = [rule for rule in item.rules if not rule.passed]
    if failed and failed[0].rule == "ran" and failed[0].findings:
        return rule_failed(failed[0])  # the others are of the runs that did not fail
    if refusals := [rule for rule in failed if rule.rule not in GAINS]:
        return refused_by(item, advice, *refusals, quoting=True)
    if not failed:
        words = f" ({item.unchecked_text})" if item.unchecked_text else ""
        unchecked = f"some texts could not be checked, so what they lose is unknown{words}"
        if item.marks or item.verdict != "ship":
            return unchecked if item.marks else ""
        doubtful = [it for it in item.rules if it.rule in _LOSSES and is_doubtful(it)]
        doubts = (f"{_LOSSES[it.rule]}: {doubt_in_words(it, advice)}" for it in doubtful)
        return "; ".join(filter(None, [_beside(item, advice), *doubts]))
    last, price = failed[0], item.price(advice.basis)
    if last.rule == "cheaper" and price is not None and price.ratio is not None and not price.saves:
        no_gain = "is no better than today, and " if advice.basis == "quality" else ""
        there = item.uncached if advice.basis == "cached" else None
        is_sure_there = "certainly" if there and there.certain else "perhaps"
        rest = f", {is_sure_there} {costs(there)} without a cache" if there and there.saves else ""
        return no_gain + costs(price) + rest
    if last.findings:
        return last.findings[0].text
    if advice.tasks < FEWEST:
        return f"{too_few(advice)}, at least {FEWEST} are needed"
    if last.value is None:
        few = f"measured on fewer than {sample(advice, FEWEST)}"
        return few if last.rule == "better" else "not priced"
    if last.rule == "better" and last.value <= 0:
        return "may be no better than today"
    if last.rule == "cheaper" and last.value > 1:
        most = costs(replace(price, ratio=last.value), "") if price else "cost more"
        return f"may {most.replace(' ', ' up to ', '%' in most)} on {others(advice)}"
    many = len(advice.ranked) - 1
    alone = f", as {count(many)} were tried; its interval does not count that" if many > 1 else ""
    return f"its lead on today may be chance{alone}"


def _beside(item: Ranked, advice: Advice) -> str:
    """The reason to prefer the advised strategy to another one that may be shipped."""
    best = next((other for other in advice.ranked if other.strategy == advice.advised), item)
    own, least = item.price(advice.basis), best.price(advice.basis)
    if item is best or advice.basis == "quality":
        return ""
    if not (own and least and own.ratio and least.ratio):
        return ""
    if own.ratio > least.ratio + EQUAL:
        return "saves less"
    misses_more = (item.missed_turns or 0) > (best.missed_turns or 0)
    worse = "misses more" if misses_more else "is no simpler"
    if own.ratio < least.ratio - EQUAL:
        return f"{worse}, and its larger saving may be luck"
    prices = "amounts of tokens" if own.unit == "tokens" else "prices"
    return f"{worse}, and {prices} within {percent(EQUAL)} count as equal"
